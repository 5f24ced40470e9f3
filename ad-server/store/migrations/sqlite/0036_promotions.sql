-- Promotions by the clock: schedules, and what their runs did.
CREATE TABLE promotions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dealer_code TEXT NOT NULL,
    rules TEXT NOT NULL, -- JSON
    paused INTEGER NOT NULL,
    revision INTEGER NOT NULL, -- number of changes
    origin TEXT NOT NULL, -- JSON: who made or changed it last
    asked_by TEXT, -- the token of that
    created INTEGER NOT NULL,
    next_run INTEGER, -- NULL: it is paused, or its last day is over
    last_run INTEGER,
    run_due INTEGER, -- the time of the run that is under way
    due INTEGER, -- when a worker claims it
    lease INTEGER NOT NULL
) STRICT;

CREATE INDEX promotions_due ON promotions (due) WHERE due IS NOT NULL;
CREATE INDEX promotions_dealer ON promotions (dealer_code, seq);

CREATE TABLE promotion_runs (
    promotion INTEGER NOT NULL REFERENCES promotions (seq),
    due INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    month TEXT NOT NULL, -- whose budget it counts against
    cost INTEGER, -- hundredths; NULL: nothing of it has a price
    currency TEXT NOT NULL,
    PRIMARY KEY (promotion, due)
) STRICT, WITHOUT ROWID;

CREATE TABLE promotion_ads (
    promotion INTEGER NOT NULL REFERENCES promotions (seq),
    due INTEGER NOT NULL,
    n INTEGER NOT NULL,
    source_id TEXT NOT NULL,
    request_id TEXT, -- it is promoted
    code TEXT, -- why it is skipped; both NULL: it has not been its turn
    cost INTEGER, -- hundredths
    PRIMARY KEY (promotion, due, n)
) STRICT, WITHOUT ROWID;
