//! Photos that somebody has sent to the console.

use ad_core::model::Timestamp;

use crate::statement::statements;

statements! {
    /// Notes a photo of a dealer, unless the dealer has as many others, or bytes of them. Sent again, it is kept as long as a new one.
    AddUpload<'a> { dealer_code: &'a str, name: &'a str, bytes: u64, at: Timestamp, most: u32, most_bytes: u64 }
    both "
        INSERT INTO uploads (dealer_code, name, bytes, at)
        SELECT :dealer_code, :name, :bytes, :at
        WHERE (SELECT count(*) FROM uploads WHERE dealer_code = :dealer_code AND name <> :name) < :most
            AND (SELECT coalesce(sum(bytes), 0) FROM uploads WHERE dealer_code = :dealer_code AND name <> :name) + :bytes <= :most_bytes
        ON CONFLICT (dealer_code, name) DO UPDATE SET at = excluded.at";

    /// The names of photos that were sent before a time, those of the longest ago.
    UploadsBefore { before: Timestamp, limit: u32 }
    both "SELECT name FROM uploads WHERE at < :before ORDER BY at LIMIT :limit";

    /// Forgets photos that were sent before a time.
    ForgetUploads { names: Vec<String>, before: Timestamp }
    sqlite "DELETE FROM uploads WHERE name IN (SELECT value FROM json_each(:names)) AND at < :before"
    postgres "DELETE FROM uploads WHERE name = ANY (CAST(:names AS TEXT[])) AND at < :before";
}
