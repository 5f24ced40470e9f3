-- The tag of an ad (ETag) is its content_revision, a point, and the sum of its visible_changes and its log entries. Ads of before the
-- upgrade begin at 0: no client has a tag of them.
ALTER TABLE ads ADD COLUMN content_revision BIGINT NOT NULL DEFAULT 0; -- accepted changes of the content
ALTER TABLE ads ADD COLUMN visible_changes BIGINT NOT NULL DEFAULT 0; -- other changes of what the ad shows beside its log

-- Finished requests are found by the last log entry of each, which alone has the time at which the request was accepted. Entries of
-- imports are not of a request.
ALTER TABLE log ADD COLUMN accepted BIGINT;

UPDATE log SET accepted = (
    SELECT min(created) FROM log AS own WHERE own.ad = log.ad AND own.n BETWEEN log.n - 20 AND log.n AND own.request_id = log.request_id
)
WHERE NOT EXISTS (SELECT 1 FROM log AS next WHERE next.ad = log.ad AND next.n = log.n + 1 AND next.request_id = log.request_id)
    AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.id = log.request_id)
    AND NOT (n = 1 AND state = 'done');

CREATE INDEX log_request ON log (request_id) WHERE accepted IS NOT NULL;
