-- Answers to requests with an Idempotency-Key, for when the client sends the same request again. They are removed after some days,
-- the oldest first, which are those with the lowest seq.
CREATE TABLE kept_answers (
    seq INTEGER PRIMARY KEY,
    holder TEXT NOT NULL, -- the dealer or group of the token
    digest TEXT NOT NULL, -- of method, path and key
    fingerprint TEXT NOT NULL, -- of query and body
    request_id TEXT NOT NULL,
    accepted INTEGER NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL, -- JSON
    body TEXT NOT NULL,
    UNIQUE (holder, digest)
) STRICT;
