//! Dealers and tokens. Whatever changes them counts up the version of the directory.

use ad_core::model::Timestamp;

use crate::statement::statements;

statements! {
    /// Adds or replaces dealers, given as a JSON array.
    ImportDealers { dealers: String }
    sqlite "
        INSERT INTO dealers (code, dealer)
        SELECT value ->> 'code', value FROM json_each(:dealers) WHERE true
        ON CONFLICT (code) DO UPDATE SET dealer = excluded.dealer;

        UPDATE directory_version SET version = version + 1 WHERE changes() > 0"
    postgres "
        WITH changed AS (
            INSERT INTO dealers (code, dealer)
            SELECT value ->> 'code', CAST(value AS TEXT) FROM json_array_elements(CAST(:dealers AS JSON)) AS dealer (value)
            ON CONFLICT (code) DO UPDATE SET dealer = excluded.dealer
            RETURNING code
        )
        UPDATE directory_version SET version = version + 1 WHERE EXISTS (SELECT 1 FROM changed)";

    /// Reads all dealers, in the order of their codes.
    AllDealers {}
    both "SELECT dealer FROM dealers ORDER BY code";

    /// Adds a token that was issued here.
    RecordToken<'a> {
        jti: &'a str, scope_type: Option<&'a str>, scope: Option<&'a str>, permissions: Option<String>,
        issued: Option<Timestamp>, expires: Option<Timestamp>, revoked: Option<Timestamp>,
        label: Option<&'a str>, issued_by: Option<&'a str>, kid: Option<&'a str>,
    }
    sqlite "
        INSERT INTO tokens (jti, scope_type, scope, permissions, issued, expires, revoked, label, issued_by, kid)
        VALUES (:jti, :scope_type, :scope, :permissions, :issued, :expires, :revoked, :label, :issued_by, :kid);

        UPDATE directory_version SET version = version + 1"
    postgres "
        WITH recorded AS (
            INSERT INTO tokens (jti, scope_type, scope, permissions, issued, expires, revoked, label, issued_by, kid)
            VALUES (:jti, :scope_type, :scope, :permissions, :issued, :expires, :revoked, :label, :issued_by, :kid)
        )
        UPDATE directory_version SET version = version + 1";

    /// All tokens, in the order in which they were issued or, where others issued them, revoked.
    AllTokens {}
    both "
        SELECT jti, scope_type, scope, permissions, issued, expires, revoked, label, issued_by, kid, last_used FROM tokens
        ORDER BY coalesce(issued, revoked), jti";

    /// Reads the record of a token.
    TokenOf<'a> { jti: &'a str }
    both "
        SELECT jti, scope_type, scope, permissions, issued, expires, revoked, label, issued_by, kid, last_used FROM tokens
        WHERE jti = :jti";

    /// Revokes a token; one that is revoked already stays revoked since then. Returns when it was issued.
    RevokeToken<'a> { jti: &'a str, now: Timestamp }
    sqlite "
        INSERT INTO tokens (jti, revoked) VALUES (:jti, :now)
        ON CONFLICT (jti) DO UPDATE SET revoked = coalesce(tokens.revoked, excluded.revoked)
        RETURNING issued;

        UPDATE directory_version SET version = version + 1"
    postgres "
        WITH revoked AS (
            INSERT INTO tokens (jti, revoked) VALUES (:jti, :now)
            ON CONFLICT (jti) DO UPDATE SET revoked = coalesce(tokens.revoked, excluded.revoked)
            RETURNING issued
        ), version AS (
            UPDATE directory_version SET version = version + 1
        )
        SELECT issued FROM revoked";

    RevokedTokens {}
    both "SELECT jti FROM tokens WHERE revoked IS NOT NULL";

    /// The version of dealers and tokens.
    ReadDirectoryVersion {}
    both "SELECT version FROM directory_version";
}
