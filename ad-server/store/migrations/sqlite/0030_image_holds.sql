-- Images that are being stored for an ad, and those that are being removed because no ad shows them. Each excludes the other.
CREATE TABLE image_holds (
    checksum TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    request INTEGER, -- `seq` of the last request that stores it; NULL: it is being removed
    changes INTEGER NOT NULL
) STRICT;
