-- An epoch is a history of the database without a loss. A restore begins another one, because what was written last is gone and its
-- numbers come again. Numbers of transactions begin with that of their epoch.
CREATE TABLE epoch (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    number INTEGER NOT NULL,
    -- What tells this history from others: the file. NULL: not known yet.
    place TEXT
);

INSERT INTO epoch (only_row, number) VALUES (1, 0);

-- The last transaction of each earlier epoch that is left of it.
CREATE TABLE past_epochs (
    number INTEGER PRIMARY KEY,
    last_transaction INTEGER NOT NULL
);
