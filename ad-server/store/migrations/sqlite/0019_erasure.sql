-- When the data of a deleted ad was erased; only its ids and times are left.
ALTER TABLE ads ADD COLUMN erased INTEGER;

-- Stored images of erased ads, until it is known whether another ad shows them: if not, they are removed.
CREATE TABLE erased_images (
    name TEXT PRIMARY KEY -- the name of the file
) STRICT, WITHOUT ROWID;
