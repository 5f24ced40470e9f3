-- What promotions cost. Amounts are hundredths of the currency.
CREATE TABLE charges (
    seq INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    marketplace TEXT NOT NULL,
    ad INTEGER NOT NULL,
    dealer_code TEXT NOT NULL,
    source_id TEXT, -- NULL when the ad is erased
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    month TEXT NOT NULL, -- in which the promotion was accepted, in the dealer's time zone
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    asked_by TEXT,
    UNIQUE (request_id, marketplace)
) STRICT;

CREATE INDEX charges_of_dealer ON charges (dealer_code, seq);
CREATE INDEX charges_of_ad ON charges (ad);
CREATE INDEX charges_of_month ON charges (month, dealer_code, seq);

-- The sums of all charges, whatever became of them. Statements that add charges add to them.
CREATE TABLE accounts (
    dealer_code TEXT NOT NULL,
    month TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (dealer_code, month, currency)
) STRICT, WITHOUT ROWID;

-- The sums of those that are settled.
CREATE TABLE settled_accounts (
    dealer_code TEXT NOT NULL,
    month TEXT NOT NULL,
    currency TEXT NOT NULL,
    spent INTEGER NOT NULL,
    released INTEGER NOT NULL,
    bumps INTEGER NOT NULL,
    pole_positions INTEGER NOT NULL,
    PRIMARY KEY (dealer_code, month, currency)
) STRICT, WITHOUT ROWID;

-- The limits that dealers set themselves for each month.
CREATE TABLE own_budgets (
    dealer_code TEXT PRIMARY KEY,
    own INTEGER NOT NULL,
    changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
