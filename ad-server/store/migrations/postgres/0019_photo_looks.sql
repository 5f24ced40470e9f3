-- The perceptual hash and the mean colour of each photo that an ad shows, by which photos of other ads of the dealer are found that look
-- the same.
CREATE TABLE photo_looks (
    ad BIGINT NOT NULL REFERENCES ads (seq),
    hash BIGINT NOT NULL, -- 64 bits
    color INTEGER NOT NULL, -- 8 bits each of red, green and blue
    dealer_code TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (ad, hash, color)
);
CREATE INDEX photo_looks_hash ON photo_looks (dealer_code, hash, ad) INCLUDE (color);
