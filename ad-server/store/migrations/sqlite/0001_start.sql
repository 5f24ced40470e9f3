-- Times are milliseconds since 1970 in UTC. Names of states, actions and marketplaces are those of the API.
-- Migrations are append-only: what has been released is never edited.

CREATE TABLE ads (
    seq INTEGER PRIMARY KEY, -- the order of writing, on which every list breaks its ties
    id TEXT NOT NULL UNIQUE,
    source_id TEXT NOT NULL,
    dealer_code TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    api_version TEXT NOT NULL,
    revision INTEGER NOT NULL,
    intent TEXT NOT NULL, -- the state when every accepted request has run
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    pole_position_until INTEGER,
    registration_number TEXT,
    marketplace_ad_id TEXT,
    offer_id TEXT,
    leftover TEXT, -- JSON: the plan of what the last request left undone
    image_refs TEXT NOT NULL, -- JSON array
    content TEXT NOT NULL, -- JSON object: what the client wrote, normalised
    source_id_folded TEXT NOT NULL, -- lower case, for searching in any case
    search TEXT NOT NULL, -- title and body in lower case; last, so that other reads need not come by it
    UNIQUE (source_id, dealer_code) -- this way round it serves a dealer and a group of dealers alike
) STRICT;

CREATE INDEX ads_created ON ads (dealer_code, created);
CREATE INDEX ads_updated ON ads (dealer_code, updated);
CREATE INDEX ads_registration_number ON ads (registration_number, dealer_code) WHERE registration_number IS NOT NULL;
CREATE INDEX ads_marketplace_ad_id ON ads (marketplace_ad_id, dealer_code) WHERE marketplace_ad_id IS NOT NULL;
CREATE INDEX ads_offer_id ON ads (offer_id) WHERE offer_id IS NOT NULL;

-- An ad's entries lie side by side: one insert touches one page, and so does reading the latest.
CREATE TABLE log (
    ad INTEGER NOT NULL REFERENCES ads (seq),
    n INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    created INTEGER NOT NULL,
    action TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT NOT NULL, -- JSON
    PRIMARY KEY (ad, n)
) STRICT, WITHOUT ROWID;

-- Accepted requests that are not finished. The oldest of each ad has a time from which it may be claimed: when it is
-- due, or when the lease of the worker that has it ends. Those behind it have none, so that a claim never reads them.
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    ad INTEGER NOT NULL REFERENCES ads (seq),
    plan TEXT, -- JSON; none for a retry
    progress TEXT NOT NULL, -- JSON
    accepted INTEGER NOT NULL,
    claimable INTEGER,
    lease INTEGER NOT NULL DEFAULT 0 -- grows whenever the request changes hands, which fences off who had it before
) STRICT;

CREATE INDEX requests_ad ON requests (ad);
CREATE INDEX requests_claimable ON requests (claimable) WHERE claimable IS NOT NULL;

-- Which ad holds a listing of a marketplace. A deleted ad holds nothing.
CREATE TABLE ties (
    market TEXT NOT NULL,
    listing TEXT NOT NULL,
    ad INTEGER NOT NULL REFERENCES ads (seq),
    PRIMARY KEY (market, listing)
) STRICT, WITHOUT ROWID;

-- The local marketplaces. A listing's id there is made from its number here.
CREATE TABLE listings (
    seq INTEGER PRIMARY KEY,
    market TEXT NOT NULL,
    dealer_code TEXT NOT NULL,
    registration_number TEXT,
    title TEXT,
    reference TEXT, -- the ad; none for a listing that did not come through this service
    source_id TEXT,
    content TEXT, -- JSON: what is shown
    place INTEGER, -- the highest is first; none when removed
    pole_until INTEGER,
    state TEXT NOT NULL,
    changed INTEGER NOT NULL,
    last_key TEXT, -- of the last call; the same again changes nothing
    changes INTEGER NOT NULL DEFAULT 0 -- calls that changed it
) STRICT;

CREATE UNIQUE INDEX listings_reference ON listings (market, reference) WHERE reference IS NOT NULL;
CREATE INDEX listings_place ON listings (market, place) WHERE place IS NOT NULL;
CREATE INDEX listings_plate ON listings (market, dealer_code, registration_number)
    WHERE registration_number IS NOT NULL;

CREATE TABLE dealers (
    code TEXT PRIMARY KEY,
    dealer TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

-- Tokens that were issued here, and revoked ones of other issuers, of which nothing but that is known.
CREATE TABLE tokens (
    jti TEXT NOT NULL PRIMARY KEY,
    scope_type TEXT,
    scope TEXT,
    permissions TEXT, -- JSON array; none means all
    issued INTEGER,
    expires INTEGER,
    revoked INTEGER,
    CHECK ((issued IS NULL) = (scope_type IS NULL) AND (issued IS NULL) = (scope IS NULL)),
    CHECK (issued IS NOT NULL OR revoked IS NOT NULL)
) STRICT;

-- Grows with every change of dealers and tokens, so that a running server sees by one read whether there is any.
CREATE TABLE directory_version (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO directory_version VALUES (1, 1);
