//! Links that sign in to the console once, and its sessions.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Makes others who count the links of a scope wait until the end of the transaction.
    LockAccessOf<'a> { scope: &'a str }
    sqlite "SELECT :scope"
    postgres "SELECT pg_advisory_xact_lock(hashtextextended(:scope, 38))";

    /// Adds a link that can be used, unless its scope has as many as it may have.
    AddSignInLink<'a> {
        id: Uuid, scope: &'a str, permissions: String, label: Option<&'a str>, root: Option<&'a str>, made_by: Option<&'a str>,
        link_hash: &'a str, now: Timestamp, expires: Timestamp, at_most: u32,
    }
    both "
        INSERT INTO console_access (id, scope, permissions, label, root, made_by, link_hash, trusted, created, expires)
        SELECT :id, :scope, :permissions, :label, :root, :made_by, :link_hash, false, :now, :expires
        WHERE :at_most > (
            SELECT count(*) FROM console_access
            WHERE scope = :scope AND session_hash IS NULL AND ended IS NULL AND expires > :now
        )";

    /// The link of a secret, if it can be used.
    FindSignInLink<'a> { link_hash: &'a str, now: Timestamp }
    both "
        SELECT id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires
        FROM console_access
        WHERE link_hash = :link_hash AND session_hash IS NULL AND ended IS NULL AND expires > :now";

    /// Makes a session of a link, which can be used once.
    UseSignInLink<'a> { link_hash: &'a str, session_hash: &'a str, trusted: bool, now: Timestamp, until: Timestamp }
    both "
        UPDATE console_access SET session_hash = :session_hash, trusted = :trusted, signed_in = :now, last_used = :now, expires = :until
        WHERE link_hash = :link_hash AND session_hash IS NULL AND ended IS NULL AND expires > :now
        RETURNING id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires";

    /// Adds a session that began with a token.
    AddConsoleSession<'a> {
        id: Uuid, scope: &'a str, permissions: String, label: Option<&'a str>, token: &'a str, session_hash: &'a str, trusted: bool,
        now: Timestamp, until: Timestamp,
    }
    both "
        INSERT INTO console_access (
            id, scope, permissions, label, token, session_hash, trusted, created, signed_in, last_used, expires
        )
        VALUES (:id, :scope, :permissions, :label, :token, :session_hash, :trusted, :now, :now, :now, :until)";

    /// Ends the sessions of a scope that were used least recently, beyond the number of those that it may have.
    EndSurplusSessions<'a> { scope: &'a str, now: Timestamp, kept: u32 }
    both "
        UPDATE console_access SET ended = :now WHERE id IN (
            SELECT id FROM console_access
            WHERE scope = :scope AND session_hash IS NOT NULL AND ended IS NULL AND expires > :now
            ORDER BY last_used DESC, id LIMIT 1000 OFFSET :kept
        )";

    /// The session of a secret, if it has not ended.
    FindConsoleSession<'a> { session_hash: &'a str, now: Timestamp }
    both "
        SELECT id, scope, permissions, label, token, root, made_by, true, trusted, created, signed_in, last_used, expires
        FROM console_access
        WHERE session_hash = :session_hash AND ended IS NULL AND expires > :now";

    /// Notes that a session is in use.
    TouchConsoleSession { id: Uuid, now: Timestamp }
    both "UPDATE console_access SET last_used = :now WHERE id = :id AND last_used < :now";

    /// A page of the links that can be used and of the sessions of scopes, newest first: the number of all, the place, and one of them.
    ConsoleAccessOf { scopes: Vec<String>, all: bool, now: Timestamp, limit: u32, offset: u64 }
    sqlite "
        WITH matching AS NOT MATERIALIZED (
            SELECT * FROM console_access
            WHERE (:all OR scope IN (SELECT value FROM json_each(:scopes))) AND ended IS NULL AND expires > :now
        )
        SELECT (SELECT count(*) FROM matching), place,
            id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT *, row_number() OVER (ORDER BY session_hash IS NOT NULL, coalesce(last_used, created) DESC, id) AS place
            FROM matching ORDER BY place LIMIT :limit OFFSET :offset
        ) AS page ON true"
    postgres "
        WITH matching AS NOT MATERIALIZED (
            SELECT * FROM console_access WHERE (:all OR scope = ANY (:scopes)) AND ended IS NULL AND expires > :now
        )
        SELECT (SELECT count(*) FROM matching), place,
            id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT *, row_number() OVER (ORDER BY session_hash IS NOT NULL, coalesce(last_used, created) DESC, id) AS place
            FROM matching ORDER BY place LIMIT :limit OFFSET :offset
        ) AS page ON true";

    /// Withdraws a link or ends a session of scopes.
    EndConsoleAccess { id: Uuid, scopes: Vec<String>, all: bool, now: Timestamp }
    sqlite "
        UPDATE console_access SET ended = :now
        WHERE id = :id AND (:all OR scope IN (SELECT value FROM json_each(:scopes))) AND ended IS NULL AND expires > :now
        RETURNING id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires"
    postgres "
        UPDATE console_access SET ended = :now
        WHERE id = :id AND (:all OR scope = ANY (:scopes)) AND ended IS NULL AND expires > :now
        RETURNING id, scope, permissions, label, token, root, made_by, session_hash IS NOT NULL, trusted, created, signed_in, last_used, expires";

    /// Removes what has expired before a time.
    RemoveConsoleAccess { before: Timestamp, limit: u32 }
    both "
        DELETE FROM console_access WHERE id IN (
            SELECT id FROM console_access WHERE expires < :before ORDER BY expires LIMIT :limit
        )";
}
