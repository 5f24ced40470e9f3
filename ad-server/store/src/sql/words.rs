//! The index of the words by which ads are found.

use crate::statement::statements;

statements! {
    /// Whether there are ads whose words are not indexed.
    AreWordsDue {}
    both "SELECT EXISTS (SELECT 1 FROM words_due)";

    /// The number of entries about such ads.
    CountWordsDue {}
    both "SELECT count(*) FROM words_due";

    /// Keeps other processes from indexing words until the end of the transaction; false if one of them does it already. SQLite has one writer.
    LockWords {}
    sqlite "SELECT true"
    postgres "SELECT pg_try_advisory_xact_lock(hashtext('ad-server words'), hashtext(current_schema()))";

    /// Ads whose words are not indexed, each with the number of the entry that says so: the latest, because the entries of an upgrade or
    /// import can be many.
    WordsDue { limit: u32 }
    both "
        SELECT n, seq, id, source_id, dealer_code, category_id, state, api_version, content, image_refs, marketplace_ad_id, offer_id,
            created, updated
        FROM words_due JOIN ads ON ads.seq = words_due.ad
        ORDER BY n DESC LIMIT :limit";

    /// Stores the words of ads, given as a JSON array of the ad's number, its dealer, its words and the number of the entry that says that they are
    /// due, and removes the entries that were read. On SQLite, words whose entry is gone are not stored: the ad was erased meanwhile.
    ///
    /// The savepoint makes the index write to its tables now. Otherwise it would do so at the beginning of a later statement of another
    /// operation in the same commit, whose `changes()` would count it, and a write on an old revision would be accepted.
    IndexWords { words: String, done: Vec<i64> }
    sqlite "
        INSERT OR REPLACE INTO word_index (rowid, words)
        SELECT value ->> 0, replace(value ->> 2, ' ', ' ' || number || '_')
        FROM json_each(:words) JOIN dealer_numbers ON dealer_code = value ->> 1
        WHERE EXISTS (SELECT 1 FROM words_due WHERE n = value ->> 3)
            AND NOT EXISTS (SELECT 1 FROM words WHERE ad = value ->> 0 AND words = value ->> 2);

        SAVEPOINT indexed; RELEASE indexed;

        INSERT OR REPLACE INTO words (ad, words)
        SELECT value ->> 0, value ->> 2 FROM json_each(:words) WHERE EXISTS (SELECT 1 FROM words_due WHERE n = value ->> 3);

        DELETE FROM words_due WHERE n IN (SELECT value FROM json_each(:done))"
    postgres "
        WITH done AS (
            DELETE FROM words_due WHERE n = ANY (:done)
        )
        INSERT INTO words (ad, words)
        SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 2 AS TSVECTOR) FROM json_array_elements(CAST(:words AS JSON)) AS found (value)
        ON CONFLICT (ad) DO UPDATE SET words = excluded.words WHERE words.words <> excluded.words";

    /// Removes the words of these ads. Those of their ids come back.
    EraseWords { ads: Vec<i64> }
    sqlite "
        DELETE FROM words_due WHERE ad IN (SELECT value FROM json_each(:ads));

        DELETE FROM words WHERE ad IN (SELECT value FROM json_each(:ads));

        DELETE FROM word_index WHERE rowid IN (SELECT value FROM json_each(:ads));

        SAVEPOINT indexed; RELEASE indexed"
    postgres "DELETE FROM words WHERE ad = ANY (:ads)";
}
