-- Marketplaces that an operator has paused, and dealers that one has suspended. Changes count up the version of the directory.
CREATE TABLE holds (
    kind TEXT NOT NULL, -- marketplace or dealer
    name TEXT NOT NULL,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- What operators have done by commands.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    operator TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
) STRICT;

-- What a token is for, who has issued it, the key that signed it, and when it was last used, to the minute.
ALTER TABLE tokens ADD COLUMN label TEXT;
ALTER TABLE tokens ADD COLUMN issued_by TEXT;
ALTER TABLE tokens ADD COLUMN kid TEXT;
ALTER TABLE tokens ADD COLUMN last_used INTEGER;
