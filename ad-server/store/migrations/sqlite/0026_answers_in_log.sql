-- The first log entry of an ad has the number of the answer to the request that created the ad. So the index of answers by request,
-- with which the answers about an ad are found, need not have it.
ALTER TABLE log ADD COLUMN answer INTEGER;
ALTER TABLE kept_answers ADD COLUMN is_in_log INTEGER; -- 1 if a log entry has its number

DROP INDEX kept_answers_request;
CREATE INDEX kept_answers_request ON kept_answers (request_id) WHERE is_in_log IS NULL;
