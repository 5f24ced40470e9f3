-- How many slots of a dealer are free. The row is locked while a slot is taken, so that processes take them one after the other.
CREATE TABLE slot_counts (
    dealer_code TEXT COLLATE "C" PRIMARY KEY,
    most BIGINT NOT NULL,
    free BIGINT NOT NULL, -- at least; grows only when they are counted
    counted BIGINT NOT NULL
);

-- Requests that have taken a slot, until they are finished, and ads that wait for one. Ads that are live have no row.
CREATE TABLE slots (
    ad BIGINT PRIMARY KEY,
    dealer_code TEXT COLLATE "C" NOT NULL,
    request UUID, -- NULL: the ad waits
    since BIGINT NOT NULL -- when the request was accepted that waits, or has waited
);

CREATE INDEX slots_taken ON slots (dealer_code) WHERE request IS NOT NULL;
CREATE INDEX slots_waiting ON slots (dealer_code, since, ad) WHERE request IS NULL;
