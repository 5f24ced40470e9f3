-- Finds deleted ads that still have content by the time of their deletion, to erase them after `deleted_ads_kept`.
CREATE INDEX ads_erasable ON ads (updated) WHERE state = 'deleted' AND content <> '{}';

-- Log entries up to this transaction have no messages any more (`log_messages_kept`).
CREATE TABLE log_retention (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    transaction_id INTEGER NOT NULL
) STRICT;

INSERT INTO log_retention VALUES (1, 0);

-- Find what belongs to ads that are erased or exported.
CREATE INDEX kept_answers_request ON kept_answers (request_id);
CREATE INDEX deliveries_of_ad ON deliveries (ad) WHERE state <> 'pending';
