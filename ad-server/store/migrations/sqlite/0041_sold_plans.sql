-- Stock plans of the console whose ads are sold: those that they hide are deleted later.
CREATE TABLE sold_plans (
    plan TEXT PRIMARY KEY, -- id of the stock plan
    at INTEGER NOT NULL, -- milliseconds since 1970
    settled INTEGER NOT NULL -- whether all that it has hidden is noted
) STRICT, WITHOUT ROWID;

CREATE INDEX sold_plans_open ON sold_plans (plan) WHERE NOT settled;
