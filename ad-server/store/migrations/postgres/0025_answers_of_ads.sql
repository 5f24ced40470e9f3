-- The ad of a request that did nothing, and so has no log entry.
ALTER TABLE kept_answers ADD COLUMN ad BIGINT;
CREATE INDEX kept_answers_ad ON kept_answers (ad) WHERE ad IS NOT NULL;
