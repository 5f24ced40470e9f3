-- The calls that changed a listing of a local marketplace, by their idempotency keys: the same call again changes nothing and is
-- answered as it was then. Until now each listing had the keys of its latest calls in one text, divided by spaces.
CREATE TABLE listing_calls (
    market TEXT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    listing BIGINT NOT NULL,
    PRIMARY KEY (market, key)
);

-- A call that moved an ad to another listing is known at both; its answer is the one that shows the ad.
INSERT INTO listing_calls (market, key, listing)
SELECT market, key, seq
FROM listings CROSS JOIN regexp_split_to_table(last_key, ' ') AS key
WHERE last_key IS NOT NULL AND key <> ''
ORDER BY reference IS NULL
ON CONFLICT DO NOTHING;

ALTER TABLE listings DROP COLUMN last_key;
