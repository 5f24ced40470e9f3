-- The log as one sequence of events: by the transaction that wrote an entry, ad and n. SQLite has one writer, so the number of a
-- transaction is that of the last one and 1.
ALTER TABLE log ADD COLUMN dealer_code TEXT NOT NULL DEFAULT '';
ALTER TABLE log ADD COLUMN transaction_id INTEGER NOT NULL DEFAULT 0;

-- Entries of before the upgrade are numbered one by one in the order of their times; those of an ad keep their order, whatever its
-- clock did.
UPDATE log SET dealer_code = ads.dealer_code, transaction_id = numbered.number
FROM (
    SELECT ad, n, row_number() OVER (ORDER BY latest, ad, n) AS number
    FROM (SELECT ad, n, max(created) OVER (PARTITION BY ad ORDER BY n) AS latest FROM log)
) AS numbered JOIN ads ON ads.seq = numbered.ad
WHERE log.ad = numbered.ad AND log.n = numbered.n;

-- The events of a dealer, and the newest events of all.
CREATE INDEX log_events ON log (dealer_code, transaction_id, ad, n);
CREATE INDEX log_transaction ON log (transaction_id);
