-- How many slots of a dealer are free. The row changes when a slot is taken.
CREATE TABLE slot_counts (
    dealer_code TEXT PRIMARY KEY,
    most INTEGER NOT NULL,
    free INTEGER NOT NULL, -- at least; grows only when they are counted
    counted INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Requests that have taken a slot, until they are finished, and ads that wait for one. Ads that are live have no row.
CREATE TABLE slots (
    ad INTEGER PRIMARY KEY REFERENCES ads (seq),
    dealer_code TEXT NOT NULL,
    request TEXT, -- NULL: the ad waits
    since INTEGER NOT NULL -- when the request was accepted that waits, or has waited
) STRICT;

CREATE INDEX slots_taken ON slots (dealer_code) WHERE request IS NOT NULL;
CREATE INDEX slots_waiting ON slots (dealer_code, since, ad) WHERE request IS NULL;
