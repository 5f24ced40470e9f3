-- The calls that changed a listing of a local marketplace, by their idempotency keys: the same call again changes nothing and is
-- answered as it was then. Until now each listing had the keys of its latest calls in one text, divided by spaces.
CREATE TABLE listing_calls (
    market TEXT NOT NULL,
    key TEXT NOT NULL,
    listing INTEGER NOT NULL,
    PRIMARY KEY (market, key)
) STRICT, WITHOUT ROWID;

-- A call that moved an ad to another listing is known at both; its answer is the one that shows the ad.
INSERT INTO listing_calls (market, key, listing)
SELECT market, value, seq
FROM listings, json_each('["' || replace(last_key, ' ', '","') || '"]')
WHERE last_key IS NOT NULL AND value <> ''
ORDER BY reference IS NULL
ON CONFLICT DO NOTHING;

ALTER TABLE listings DROP COLUMN last_key;
