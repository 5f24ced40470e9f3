-- What is known of images from their pixels, once for the same bytes. The ads that show them have a copy in image_refs.
CREATE TABLE photos (
    checksum TEXT PRIMARY KEY, -- SHA-256 in hex
    facts TEXT NOT NULL -- JSON object
) WITHOUT ROWID;

-- When the images of an ad are to be examined, or the claim of who examines them ends. The largest number there is: when the request
-- that changed them has ended. Images of before the upgrade are examined by the command `images renditions`.
ALTER TABLE ads ADD COLUMN photos_due INTEGER;
CREATE INDEX ads_photos_due ON ads (dealer_code, photos_due) WHERE photos_due IS NOT NULL;
