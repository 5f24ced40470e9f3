-- What promotions cost. Amounts are hundredths of the currency.
CREATE TABLE charges (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id UUID NOT NULL,
    marketplace TEXT NOT NULL,
    ad BIGINT NOT NULL,
    dealer_code TEXT COLLATE "C" NOT NULL,
    source_id TEXT COLLATE "C", -- NULL when the ad is erased
    kind TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    month TEXT COLLATE "C" NOT NULL, -- in which the promotion was accepted, in the dealer's time zone
    at BIGINT NOT NULL,
    state TEXT NOT NULL,
    asked_by TEXT,
    UNIQUE (request_id, marketplace)
);

CREATE INDEX charges_of_dealer ON charges (dealer_code, seq);
CREATE INDEX charges_of_ad ON charges (ad);
CREATE INDEX charges_of_month ON charges (month, dealer_code, seq);

-- The sums of all charges, whatever became of them. Statements that add charges add to them. Those that are settled have a table of
-- their own, so that requests that end do not conflict with promotions that are accepted.
CREATE TABLE accounts (
    dealer_code TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    part INTEGER NOT NULL, -- -1 where a limit holds; elsewhere each connection adds to a row of its own
    PRIMARY KEY (dealer_code, month, currency, part)
);

CREATE TABLE settled_accounts (
    dealer_code TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    spent BIGINT NOT NULL,
    released BIGINT NOT NULL,
    bumps BIGINT NOT NULL,
    pole_positions BIGINT NOT NULL,
    part INTEGER NOT NULL, -- each connection adds to a row of its own
    PRIMARY KEY (dealer_code, month, currency, part)
);

-- The limits that dealers set themselves for each month.
CREATE TABLE own_budgets (
    dealer_code TEXT COLLATE "C" PRIMARY KEY,
    own BIGINT NOT NULL,
    changed BIGINT NOT NULL
);
