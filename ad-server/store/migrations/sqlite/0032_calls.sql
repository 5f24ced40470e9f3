-- Calls of marketplaces about ads, in the order of the commits that recorded them. The numbers of all are in the order of time, by which
-- the oldest ones are removed.
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    ad INTEGER NOT NULL REFERENCES ads (seq),
    at INTEGER NOT NULL, -- when it began
    request_id TEXT NOT NULL,
    marketplace TEXT NOT NULL,
    action TEXT NOT NULL,
    revision INTEGER NOT NULL, -- of the content then
    latency INTEGER NOT NULL, -- in milliseconds
    status INTEGER, -- NULL if no answer came
    code TEXT, -- why it failed
    listing_id TEXT,
    content_sha256 TEXT -- of the listing as it was sent
) STRICT;

CREATE INDEX calls_of_ad ON calls (ad, seq);
