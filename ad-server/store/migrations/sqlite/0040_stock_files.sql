-- Stock files that somebody has sent to the console, until a day has passed.
CREATE TABLE stock_files (
    id TEXT PRIMARY KEY,
    dealer_code TEXT NOT NULL,
    name TEXT NOT NULL, -- as the file was called
    content TEXT NOT NULL, -- base64
    plan TEXT, -- the latest stock plan of it
    at INTEGER NOT NULL -- milliseconds since 1970
) STRICT;

CREATE INDEX stock_files_of_dealer ON stock_files (dealer_code, at);
CREATE INDEX stock_files_at ON stock_files (at);

-- What a dealer's people have said about the columns of a stock file, for the next file with the same columns.
CREATE TABLE column_choices (
    dealer_code TEXT NOT NULL,
    header TEXT NOT NULL, -- checksum of the names of the columns
    choices TEXT NOT NULL, -- JSON
    at INTEGER NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (dealer_code, header)
) STRICT, WITHOUT ROWID;
