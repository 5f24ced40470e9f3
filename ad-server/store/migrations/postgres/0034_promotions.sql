-- Promotions by the clock: schedules, and what their runs did.
CREATE TABLE promotions (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    dealer_code TEXT COLLATE "C" NOT NULL,
    rules TEXT NOT NULL, -- JSON
    paused BOOLEAN NOT NULL,
    revision BIGINT NOT NULL, -- number of changes
    origin TEXT NOT NULL, -- JSON: who made or changed it last
    asked_by TEXT, -- the token of that
    created BIGINT NOT NULL,
    next_run BIGINT, -- NULL: it is paused, or its last day is over
    last_run BIGINT,
    run_due BIGINT, -- the time of the run that is under way
    due BIGINT, -- when a worker claims it
    lease BIGINT NOT NULL
);

CREATE INDEX promotions_due ON promotions (due) WHERE due IS NOT NULL;
CREATE INDEX promotions_dealer ON promotions (dealer_code, seq);

CREATE TABLE promotion_runs (
    promotion BIGINT NOT NULL,
    due BIGINT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT,
    month TEXT NOT NULL, -- whose budget it counts against
    cost BIGINT, -- hundredths; NULL: nothing of it has a price
    currency TEXT NOT NULL,
    PRIMARY KEY (promotion, due)
);

CREATE TABLE promotion_ads (
    promotion BIGINT NOT NULL,
    due BIGINT NOT NULL,
    n BIGINT NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL,
    request_id UUID, -- it is promoted
    code TEXT, -- why it is skipped; both NULL: it has not been its turn
    cost BIGINT, -- hundredths
    PRIMARY KEY (promotion, due, n)
);
