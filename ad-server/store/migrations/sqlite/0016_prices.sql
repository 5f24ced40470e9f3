-- Prices that an ad has had, each with the time at which it was replaced; the present ones are in the content of the ad. The revision is
-- that on which the change was based, so that changes within a millisecond stay apart.
CREATE TABLE prices (
    ad INTEGER NOT NULL REFERENCES ads (seq),
    revision INTEGER NOT NULL,
    until INTEGER NOT NULL,
    price TEXT, -- JSON array; NULL if it is not known
    PRIMARY KEY (ad, revision)
) STRICT, WITHOUT ROWID;

-- Every accepted write moves `updated`: ads of before the upgrade have had their prices since then at least.
INSERT INTO prices (ad, revision, until, price) SELECT seq, revision - 1, updated, NULL FROM ads;

-- The VIN as it is compared: 17 capital letters and digits.
ALTER TABLE ads ADD COLUMN vin TEXT;

UPDATE ads SET vin = plain.vin
FROM (
    SELECT seq, upper(replace(replace(content ->> '$.category_fields.vin', ' ', ''), '-', '')) AS vin FROM ads
) AS plain
WHERE plain.seq = ads.seq AND length(plain.vin) = 17 AND plain.vin NOT GLOB '*[^A-Z0-9]*';

CREATE INDEX ads_vin ON ads (vin, dealer_code) WHERE vin IS NOT NULL;
