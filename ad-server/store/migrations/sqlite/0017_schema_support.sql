-- The newest migration that a program must know to use this schema (docs/upgrades.md). A migration that earlier versions of the
-- program cannot work with sets it to its own number.
CREATE TABLE schema_support (
    needs INTEGER NOT NULL
) STRICT;
INSERT INTO schema_support (needs) VALUES (17);
