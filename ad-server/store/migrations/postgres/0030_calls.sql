-- Calls of marketplaces about ads, in the order of the commits that recorded them. The numbers of all are in the order of time, by which
-- the oldest ones are removed.
CREATE TABLE calls (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ad BIGINT NOT NULL,
    at BIGINT NOT NULL, -- when it began
    request_id UUID NOT NULL,
    marketplace TEXT NOT NULL,
    action TEXT NOT NULL,
    revision BIGINT NOT NULL, -- of the content then
    latency BIGINT NOT NULL, -- in milliseconds
    status BIGINT, -- NULL if no answer came
    code TEXT, -- why it failed
    listing_id TEXT,
    content_sha256 TEXT -- of the listing as it was sent
);

CREATE INDEX calls_of_ad ON calls (ad, seq);
