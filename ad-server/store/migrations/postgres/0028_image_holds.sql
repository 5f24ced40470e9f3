-- Images that are being stored for an ad, and those that are being removed because no ad shows them. Each excludes the other.
CREATE TABLE image_holds (
    checksum TEXT COLLATE "C" PRIMARY KEY,
    until BIGINT NOT NULL,
    request BIGINT, -- `seq` of the last request that stores it; NULL: it is being removed
    changes BIGINT NOT NULL
);
