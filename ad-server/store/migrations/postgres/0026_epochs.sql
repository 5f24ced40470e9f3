-- An epoch is a history of the database without a loss. A restore or the promotion of a standby begins another one, because what was
-- written last may be gone and its numbers come again. Numbers of transactions begin with that of their epoch.
CREATE TABLE epoch (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    number BIGINT NOT NULL,
    -- What tells this history from others: system identifier, timeline, and the table of the log. NULL: not known yet.
    place TEXT
);

INSERT INTO epoch (only_row, number) VALUES (1, 0);

-- The last transaction of each earlier epoch that is left of it.
CREATE TABLE past_epochs (
    number BIGINT PRIMARY KEY,
    last_transaction BIGINT NOT NULL
);
