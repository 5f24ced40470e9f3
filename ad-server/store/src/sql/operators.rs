//! What operators do and look at: holds, the audit log, the use of tokens, and who has work in the queue.

use ad_core::model::Timestamp;

use crate::statement::statements;

statements! {
    /// Pauses a marketplace or suspends a dealer; one that is held already stays so since then, with the new reason.
    SetHold<'a> { kind: &'a str, name: &'a str, since: Timestamp, reason: &'a str }
    sqlite "
        INSERT INTO holds (kind, name, since, reason) VALUES (:kind, :name, :since, :reason)
        ON CONFLICT (kind, name) DO UPDATE SET reason = excluded.reason;

        UPDATE directory_version SET version = version + 1"
    postgres "
        WITH held AS (
            INSERT INTO holds (kind, name, since, reason) VALUES (:kind, :name, :since, :reason)
            ON CONFLICT (kind, name) DO UPDATE SET reason = excluded.reason
        )
        UPDATE directory_version SET version = version + 1";

    /// Ends a hold, and returns its name if there was one.
    RemoveHold<'a> { kind: &'a str, name: &'a str }
    sqlite "
        DELETE FROM holds WHERE kind = :kind AND name = :name RETURNING name;

        UPDATE directory_version SET version = version + 1"
    postgres "
        WITH removed AS (
            DELETE FROM holds WHERE kind = :kind AND name = :name RETURNING name
        ), version AS (
            UPDATE directory_version SET version = version + 1
        )
        SELECT name FROM removed";

    /// Reads all holds of marketplaces and dealers.
    AllHolds {}
    both "SELECT kind, name, since, reason FROM holds ORDER BY kind, name";

    /// The time of the database's clock.
    DatabaseTime {}
    sqlite "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    postgres "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

    AddAudit<'a> { at: Timestamp, operator: &'a str, act: &'a str, subject: &'a str, details: &'a str }
    both "INSERT INTO audit (at, operator, act, subject, details) VALUES (:at, :operator, :act, :subject, :details)";

    /// What operators have done, newest first.
    AuditEntries { limit: u32 }
    both "SELECT at, operator, act, subject, details FROM audit ORDER BY seq DESC LIMIT :limit";

    /// The time of the latest entry of an act.
    LastAct<'a> { act: &'a str }
    both "SELECT at FROM audit WHERE act = :act ORDER BY seq DESC LIMIT 1";

    /// Notes when tokens that were issued here were last used.
    TouchTokens { jtis: Vec<String>, now: Timestamp }
    sqlite "UPDATE tokens SET last_used = :now WHERE jti IN (SELECT value FROM json_each(:jtis))"
    postgres "UPDATE tokens SET last_used = :now WHERE jti = ANY (:jtis)";

    /// The latest bumps and pole positions of an ad that have ended, and the tokens with which they were requested.
    PromotionsOfAd<'a> { dealer_code: &'a str, source_id: &'a str, limit: u32 }
    both "
        SELECT log.action, log.state, log.accepted, log.request_id, log.asked_by, tokens.label
        FROM ads
        JOIN log ON log.ad = ads.seq AND log.action IN ('bump', 'boost') AND log.accepted IS NOT NULL
        LEFT JOIN tokens ON tokens.jti = log.asked_by
        WHERE ads.dealer_code = :dealer_code AND ads.source_id = :source_id
        ORDER BY log.n DESC LIMIT :limit";

    /// The dealers with most unfinished requests.
    QueueByDealer { now: Timestamp, limit: u32 }
    both "
        SELECT dealer_code, count(*), count(CASE WHEN claimable <= :now THEN 1 END), min(accepted) FROM requests
        GROUP BY dealer_code ORDER BY count(*) DESC, dealer_code LIMIT :limit";

    /// The number of unfinished requests that failed with a code.
    CountWithCode<'a> { code: &'a str }
    sqlite "SELECT count(*) FROM requests WHERE progress ->> 'code' = :code"
    postgres "SELECT count(*) FROM requests WHERE CAST(progress AS JSON) ->> 'code' = :code";

    /// Requests of a dealer that were finished since a time, among its newest log entries.
    FinishedOfDealer<'a> { dealer_code: &'a str, since: Timestamp, most: u32 }
    both "
        SELECT count(CASE WHEN accepted IS NOT NULL AND created >= :since THEN 1 END)
        FROM (
            SELECT accepted, created FROM log WHERE dealer_code = :dealer_code
            ORDER BY transaction_id DESC, ad DESC, n DESC LIMIT :most
        ) AS newest";
}
