-- Prices that an ad has had, each with the time at which it was replaced; the present ones are in the content of the ad. The revision is
-- that on which the change was based, so that changes within a millisecond stay apart.
CREATE TABLE prices (
    ad BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    until BIGINT NOT NULL,
    price TEXT, -- JSON array; NULL if it is not known
    PRIMARY KEY (ad, revision)
);

-- Every accepted write moves `updated`: ads of before the upgrade have had their prices since then at least.
INSERT INTO prices (ad, revision, until, price) SELECT seq, revision - 1, updated, NULL FROM ads;

-- The VIN as it is compared: 17 capital letters and digits.
ALTER TABLE ads ADD COLUMN vin TEXT COLLATE "C";

-- Not by the operators of JSON, which fail where some text of the content has a NUL. Within a text, quotes have a backslash before them.
UPDATE ads SET vin = plain.vin
FROM (
    SELECT seq, upper(replace(replace(substring(content FROM '"vin": ?"([^"\\]+)"'), ' ', ''), '-', '')) AS vin FROM ads
) AS plain
WHERE plain.seq = ads.seq AND plain.vin ~ '^[A-Z0-9]{17}$';

CREATE INDEX ads_vin ON ads (vin, dealer_code) WHERE vin IS NOT NULL;
