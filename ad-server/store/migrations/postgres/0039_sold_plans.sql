-- Stock plans of the console whose ads are sold: those that they hide are deleted later.
CREATE TABLE sold_plans (
    plan UUID PRIMARY KEY, -- id of the stock plan
    at BIGINT NOT NULL, -- milliseconds since 1970
    settled BOOLEAN NOT NULL -- whether all that it has hidden is noted
);

CREATE INDEX sold_plans_open ON sold_plans (plan) WHERE NOT settled;
