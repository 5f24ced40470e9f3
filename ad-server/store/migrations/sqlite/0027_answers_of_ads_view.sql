-- The kept answers about each ad: to requests that did nothing, that have a log entry, that created the ad, and that are unfinished.
CREATE VIEW answers_of_ads AS
SELECT ad, seq AS answer FROM kept_answers WHERE ad IS NOT NULL
UNION
SELECT log.ad, kept.seq FROM log JOIN kept_answers AS kept ON kept.request_id = log.request_id AND kept.is_in_log IS NULL
UNION
-- Another answer may have the number of one that was removed.
SELECT log.ad, kept.seq FROM log JOIN kept_answers AS kept ON kept.seq = log.answer AND kept.request_id = log.request_id
UNION
SELECT requests.ad, kept.seq FROM requests JOIN kept_answers AS kept ON kept.request_id = requests.id AND kept.is_in_log IS NULL;
