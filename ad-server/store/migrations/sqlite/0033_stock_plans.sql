-- Stock plans: the desired stock of dealers, compared with their ads before anything changes.
CREATE TABLE stock_plans (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL, -- the dealer or group of the token that made it
    dealer_code TEXT, -- of all payloads; NULL: each says whose ad it is
    state TEXT NOT NULL,
    options TEXT NOT NULL, -- JSON
    guard TEXT, -- JSON; NULL while it is computed
    errors TEXT NOT NULL, -- JSON
    origin TEXT, -- JSON: who asked for it to be applied
    created INTEGER NOT NULL,
    expires INTEGER,
    due INTEGER NOT NULL, -- when a worker claims it
    lease INTEGER NOT NULL
) STRICT;

CREATE INDEX stock_plans_due ON stock_plans (due);
CREATE INDEX stock_plans_holder ON stock_plans (holder);

CREATE TABLE stock_plan_dealers (
    plan INTEGER NOT NULL REFERENCES stock_plans (seq),
    dealer_code TEXT NOT NULL,
    counts TEXT NOT NULL DEFAULT '{}', -- JSON: how many changes of each kind
    accepted INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    conflict INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (plan, dealer_code)
) STRICT, WITHOUT ROWID;

CREATE INDEX stock_plan_dealers_code ON stock_plan_dealers (dealer_code, plan);

CREATE TABLE stock_changes (
    plan INTEGER NOT NULL REFERENCES stock_plans (seq),
    n INTEGER NOT NULL,
    line INTEGER,
    dealer_code TEXT,
    source_id TEXT,
    kind TEXT NOT NULL,
    -- 0 to 2: it is to be made, in this phase; 3: its request is not finished; NULL: nothing is to be done.
    phase INTEGER,
    revision INTEGER,
    outcome TEXT,
    code TEXT,
    request_id TEXT, -- that of the request that makes it, before it is made as well
    details TEXT, -- JSON; NULL when the ad is erased
    body TEXT, -- JSON
    PRIMARY KEY (plan, n)
) STRICT;

CREATE INDEX stock_changes_phase ON stock_changes (plan, phase, n) WHERE phase IS NOT NULL;
CREATE INDEX stock_changes_kind ON stock_changes (plan, kind, outcome, n);
CREATE INDEX stock_changes_source_id ON stock_changes (source_id, dealer_code);

-- The plan that a request is of.
ALTER TABLE requests ADD COLUMN plan_id TEXT;
ALTER TABLE log ADD COLUMN plan_id TEXT;
ALTER TABLE revisions ADD COLUMN plan_id TEXT;
