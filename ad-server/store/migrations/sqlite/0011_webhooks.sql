-- Addresses that events are sent to. A process owns the endpoints that it sends for, until a time that it moves on.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    scope_type TEXT NOT NULL, -- dealer_code or dealer_group, of the token
    scope TEXT NOT NULL,
    url TEXT NOT NULL,
    types TEXT NOT NULL, -- JSON array
    dealer_code TEXT,
    description TEXT,
    secrets TEXT NOT NULL, -- JSON array, newest first: each encrypted, with the time until which it signs
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    disabled TEXT, -- why it is disabled; NULL if it is not
    deleted INTEGER, -- its deliveries are removed in the background, then itself
    last_success INTEGER,
    last_failure INTEGER,
    failing_since INTEGER, -- the first failure after the last success
    transaction_id INTEGER NOT NULL, -- the position up to which events have become deliveries
    ad INTEGER NOT NULL,
    n INTEGER NOT NULL,
    moves INTEGER NOT NULL, -- how often a client has moved the position
    owner TEXT NOT NULL,
    owned_until INTEGER NOT NULL
) STRICT;

CREATE INDEX webhooks_scope ON webhooks (scope_type, scope);

-- Events to be sent to an endpoint, or sent. The event itself is in the log, by ad and n; that of a test is not.
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    webhook TEXT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    ad INTEGER,
    n INTEGER,
    state TEXT NOT NULL, -- pending, delivered or failed
    created INTEGER NOT NULL,
    next_attempt INTEGER NOT NULL,
    tries INTEGER NOT NULL, -- since it became pending
    attempts TEXT NOT NULL, -- JSON array
    UNIQUE (webhook, event_id)
) STRICT;

CREATE INDEX deliveries_of_webhook ON deliveries (webhook, seq);
CREATE INDEX deliveries_by_state ON deliveries (webhook, state, seq);
CREATE INDEX deliveries_pending ON deliveries (webhook, next_attempt) WHERE state = 'pending';
CREATE INDEX deliveries_ended ON deliveries (created) WHERE state <> 'pending';
