-- The log as one sequence of events: by the transaction that wrote an entry, ad and n. Transactions commit in another order than that of
-- their numbers, so only entries of transactions below the oldest one that is still running are read: what lies there is final.
ALTER TABLE log ADD COLUMN dealer_code TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE log ADD COLUMN transaction_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE log ALTER COLUMN dealer_code DROP DEFAULT;

-- Entries of before the upgrade are numbered one by one in the order of their times; those of an ad keep their order, whatever its
-- clock did.
UPDATE log SET dealer_code = ads.dealer_code, transaction_id = numbered.number
FROM (
    SELECT ad, n, row_number() OVER (ORDER BY latest, ad, n) AS number
    FROM (SELECT ad, n, max(created) OVER (PARTITION BY ad ORDER BY n) AS latest FROM log) AS timed
) AS numbered JOIN ads ON ads.seq = numbered.ad
WHERE log.ad = numbered.ad AND log.n = numbered.n;

-- What is added to the server's number of a transaction, so that new entries come after those that are there: they are from before
-- the upgrade or, in a database that was restored from a dump, from another server.
CREATE TABLE log_transactions (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    added BIGINT NOT NULL
);

INSERT INTO log_transactions SELECT 1, count(*) FROM log;

DO $$
BEGIN
    EXECUTE format('ALTER TABLE log ALTER COLUMN transaction_id SET DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + %s',
        (SELECT added FROM log_transactions));
END
$$;

-- The events of a dealer, and the newest events of all.
CREATE INDEX log_events ON log (dealer_code, transaction_id, ad, n);
CREATE INDEX log_transaction ON log (transaction_id);
