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

-- The sums of all charges, whatever became of them, kept by a trigger below.
CREATE TABLE accounts (
    dealer_code TEXT NOT NULL,
    month TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (dealer_code, month, currency)
) STRICT, WITHOUT ROWID;

-- The sums of those that are settled, kept by the other one.
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

CREATE TRIGGER charges_insert AFTER INSERT ON charges
BEGIN
    INSERT INTO accounts (dealer_code, month, currency, amount) VALUES (new.dealer_code, new.month, new.currency, new.amount)
    ON CONFLICT (dealer_code, month, currency) DO UPDATE SET amount = amount + excluded.amount;
END;

CREATE TRIGGER charges_update AFTER UPDATE OF state ON charges WHEN old.state = 'reserved' AND new.state <> 'reserved'
BEGIN
    INSERT INTO settled_accounts (dealer_code, month, currency, spent, released, bumps, pole_positions)
    VALUES (new.dealer_code, new.month, new.currency, iif(new.state = 'charged', new.amount, 0), iif(new.state = 'charged', 0, new.amount),
        new.state = 'charged' AND new.kind = 'bump', new.state = 'charged' AND new.kind = 'pole_position')
    ON CONFLICT (dealer_code, month, currency) DO UPDATE SET spent = spent + excluded.spent, released = released + excluded.released,
        bumps = bumps + excluded.bumps, pole_positions = pole_positions + excluded.pole_positions;
END;
