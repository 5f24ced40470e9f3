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

-- The sums of all charges, whatever became of them, kept by a trigger below. Those that are settled have a table of their own, so that
-- requests that end do not conflict with promotions that are accepted.
CREATE TABLE accounts (
    dealer_code TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (dealer_code, month, currency)
);

CREATE TABLE settled_accounts (
    dealer_code TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    spent BIGINT NOT NULL,
    released BIGINT NOT NULL,
    bumps BIGINT NOT NULL,
    pole_positions BIGINT NOT NULL,
    PRIMARY KEY (dealer_code, month, currency)
);

-- The limits that dealers set themselves for each month.
CREATE TABLE own_budgets (
    dealer_code TEXT COLLATE "C" PRIMARY KEY,
    own BIGINT NOT NULL,
    changed BIGINT NOT NULL
);

CREATE FUNCTION reserve_charge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts (dealer_code, month, currency, amount) VALUES (NEW.dealer_code, NEW.month, NEW.currency, NEW.amount)
    ON CONFLICT (dealer_code, month, currency) DO UPDATE SET amount = accounts.amount + excluded.amount;
    RETURN NULL;
END
$$;

CREATE FUNCTION settle_charge() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_charged BOOLEAN := NEW.state = 'charged';
BEGIN
    INSERT INTO settled_accounts AS settled (dealer_code, month, currency, spent, released, bumps, pole_positions)
    VALUES (NEW.dealer_code, NEW.month, NEW.currency, CASE WHEN is_charged THEN NEW.amount ELSE 0 END,
        CASE WHEN is_charged THEN 0 ELSE NEW.amount END, CAST(is_charged AND NEW.kind = 'bump' AS INTEGER),
        CAST(is_charged AND NEW.kind = 'pole_position' AS INTEGER))
    ON CONFLICT (dealer_code, month, currency) DO UPDATE SET spent = settled.spent + excluded.spent,
        released = settled.released + excluded.released, bumps = settled.bumps + excluded.bumps,
        pole_positions = settled.pole_positions + excluded.pole_positions;
    RETURN NULL;
END
$$;

CREATE TRIGGER charges_insert AFTER INSERT ON charges FOR EACH ROW EXECUTE FUNCTION reserve_charge();
CREATE TRIGGER charges_update AFTER UPDATE OF state ON charges FOR EACH ROW
    WHEN (OLD.state = 'reserved' AND NEW.state <> 'reserved') EXECUTE FUNCTION settle_charge();
