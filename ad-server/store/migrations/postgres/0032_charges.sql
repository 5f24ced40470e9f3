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

-- The sums of the charges, kept by the triggers below.
CREATE TABLE accounts (
    dealer_code TEXT COLLATE "C" NOT NULL,
    month TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    reserved BIGINT NOT NULL DEFAULT 0,
    spent BIGINT NOT NULL DEFAULT 0,
    bumps BIGINT NOT NULL DEFAULT 0,
    pole_positions BIGINT NOT NULL DEFAULT 0,
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
    INSERT INTO accounts (dealer_code, month, currency, reserved) VALUES (NEW.dealer_code, NEW.month, NEW.currency, NEW.amount)
    ON CONFLICT (dealer_code, month, currency) DO UPDATE SET reserved = accounts.reserved + excluded.reserved;
    RETURN NULL;
END
$$;

CREATE FUNCTION settle_charge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounts SET reserved = reserved - NEW.amount,
        spent = spent + CASE WHEN NEW.state = 'charged' THEN NEW.amount ELSE 0 END,
        bumps = bumps + CASE WHEN NEW.state = 'charged' AND NEW.kind = 'bump' THEN 1 ELSE 0 END,
        pole_positions = pole_positions + CASE WHEN NEW.state = 'charged' AND NEW.kind = 'pole_position' THEN 1 ELSE 0 END
    WHERE dealer_code = NEW.dealer_code AND month = NEW.month AND currency = NEW.currency;
    RETURN NULL;
END
$$;

CREATE TRIGGER charges_insert AFTER INSERT ON charges FOR EACH ROW EXECUTE FUNCTION reserve_charge();
CREATE TRIGGER charges_update AFTER UPDATE OF state ON charges FOR EACH ROW
    WHEN (OLD.state = 'reserved' AND NEW.state <> 'reserved') EXECUTE FUNCTION settle_charge();
