-- Photos that somebody has sent to the console, until an ad refers to them or a day has passed.
CREATE TABLE uploads (
    dealer_code TEXT NOT NULL,
    name TEXT NOT NULL, -- in the image store
    bytes INTEGER NOT NULL,
    at INTEGER NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (dealer_code, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX uploads_at ON uploads (at);

-- Ads that somebody has marked as sold, which are hidden and deleted later.
CREATE TABLE sales (
    dealer_code TEXT NOT NULL,
    source_id TEXT NOT NULL,
    due INTEGER NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (dealer_code, source_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sales_due ON sales (due);
