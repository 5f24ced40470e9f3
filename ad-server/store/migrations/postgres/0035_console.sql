-- Photos that somebody has sent to the console, until an ad refers to them or a day has passed.
CREATE TABLE uploads (
    dealer_code TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL, -- in the image store
    bytes BIGINT NOT NULL,
    at BIGINT NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (dealer_code, name)
);

CREATE INDEX uploads_at ON uploads (at);

-- Ads that somebody has marked as sold, which are hidden and deleted later.
CREATE TABLE sales (
    dealer_code TEXT COLLATE "C" NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL,
    due BIGINT NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (dealer_code, source_id)
);

CREATE INDEX sales_due ON sales (due);
