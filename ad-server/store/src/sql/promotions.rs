//! Schedules of promotions, and their runs.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Makes others who count the schedules of a dealer wait until the end of the transaction.
    LockPromotionsOf<'a> { dealer_code: &'a str }
    sqlite "SELECT :dealer_code"
    postgres "SELECT pg_advisory_xact_lock(hashtextextended(:dealer_code, 33))";

    /// Adds a schedule, unless its dealer has as many as it may have.
    AddPromotion<'a> {
        id: Uuid, dealer_code: &'a str, rules: String, paused: bool, origin: String, asked_by: Option<&'a str>, created: Timestamp,
        next_run: Option<Timestamp>, at_most: u32,
    }
    both "
        INSERT INTO promotions (id, dealer_code, rules, paused, revision, origin, asked_by, created, next_run, due, lease)
        SELECT :id, :dealer_code, :rules, :paused, 0, :origin, :asked_by, :created, :next_run, :next_run, 0
        WHERE :at_most > (SELECT count(*) FROM promotions WHERE dealer_code = :dealer_code)";

    /// The schedule of an id.
    FindPromotion { id: Uuid }
    both "
        SELECT id, dealer_code, rules, paused, next_run, last_run, created, asked_by, tokens.label, revision, origin, lease
        FROM promotions LEFT JOIN tokens ON tokens.jti = asked_by
        WHERE id = :id";

    /// A page of the schedules of a scope, newest first: the number of all, the place in the page, and the schedule.
    PromotionsOfScope { dealer_codes: Vec<String>, limit: u32, offset: u64 }
    sqlite "
        WITH page AS (
            SELECT seq FROM promotions WHERE dealer_code IN (SELECT value FROM json_each(:dealer_codes))
            ORDER BY seq DESC LIMIT :limit OFFSET :offset
        )
        SELECT (SELECT count(*) FROM promotions WHERE dealer_code IN (SELECT value FROM json_each(:dealer_codes))), -page.seq,
            id, dealer_code, rules, paused, next_run, last_run, created, asked_by, tokens.label, revision, origin
        FROM (SELECT 1) AS one LEFT JOIN page ON true LEFT JOIN promotions ON promotions.seq = page.seq
            LEFT JOIN tokens ON tokens.jti = asked_by"
    postgres "
        WITH page AS (
            SELECT seq FROM promotions WHERE dealer_code = ANY (:dealer_codes) ORDER BY seq DESC LIMIT :limit OFFSET :offset
        )
        SELECT (SELECT count(*) FROM promotions WHERE dealer_code = ANY (:dealer_codes)), -page.seq,
            id, dealer_code, rules, paused, next_run, last_run, created, asked_by, tokens.label, revision, origin
        FROM (SELECT 1) AS one LEFT JOIN page ON true LEFT JOIN promotions ON promotions.seq = page.seq
            LEFT JOIN tokens ON tokens.jti = asked_by";

    /// Changes a schedule that still has a revision. While a run is under way, the time of the next run stays.
    ChangePromotion<'a> {
        id: Uuid, revision: i64, rules: String, paused: bool, origin: String, asked_by: Option<&'a str>, next_run: Option<Timestamp>,
    }
    both "
        UPDATE promotions SET rules = :rules, paused = :paused, origin = :origin, asked_by = :asked_by, revision = revision + 1,
            next_run = CASE WHEN run_due IS NULL THEN :next_run ELSE next_run END,
            due = CASE WHEN run_due IS NULL THEN :next_run ELSE due END
        WHERE id = :id AND revision = :revision";

    /// Removes a schedule with its runs.
    RemovePromotion { id: Uuid }
    sqlite "
        DELETE FROM promotion_ads WHERE promotion = (SELECT seq FROM promotions WHERE id = :id);
        DELETE FROM promotion_runs WHERE promotion = (SELECT seq FROM promotions WHERE id = :id);
        DELETE FROM promotions WHERE id = :id RETURNING seq"
    postgres "
        WITH gone AS (
            DELETE FROM promotions WHERE id = :id RETURNING seq
        ), ads AS (
            DELETE FROM promotion_ads WHERE promotion = (SELECT seq FROM gone)
        ), runs AS (
            DELETE FROM promotion_runs WHERE promotion = (SELECT seq FROM gone)
        )
        SELECT seq FROM gone";

    /// Whether a schedule is due.
    ArePromotionsDue { now: Timestamp }
    both "SELECT EXISTS (SELECT 1 FROM promotions WHERE due <= :now)";

    /// Claims the schedules that have been due for longest. PostgreSQL skips what another process is claiming.
    ClaimPromotions { now: Timestamp, until: Timestamp, at_most: u32 }
    sqlite "
        UPDATE promotions SET run_due = coalesce(run_due, next_run, due), due = :until, lease = lease + 1
        WHERE seq IN (SELECT seq FROM promotions WHERE due <= :now ORDER BY due LIMIT :at_most)
        RETURNING seq"
    postgres "
        UPDATE promotions SET run_due = coalesce(run_due, next_run, due), due = :until, lease = lease + 1
        WHERE seq IN (SELECT seq FROM promotions WHERE due <= :now ORDER BY due LIMIT :at_most FOR UPDATE SKIP LOCKED)
        RETURNING seq";

    /// Claimed schedules with their leases, and with what was recorded of their runs.
    ClaimedPromotions { promotions: Vec<i64> }
    sqlite "
        SELECT id, dealer_code, rules, paused, next_run, last_run, promotions.created, asked_by, NULL, revision, origin,
            lease, run_due, run.started, run.month,
            (SELECT json_group_array(json_array(n, source_id, request_id, code, cost) ORDER BY n) FROM promotion_ads AS ad
             WHERE ad.promotion = run.promotion AND ad.due = run.due)
        FROM promotions LEFT JOIN promotion_runs AS run ON run.promotion = promotions.seq AND run.due = run_due
        WHERE seq IN (SELECT value FROM json_each(:promotions))"
    postgres "
        SELECT id, dealer_code, rules, paused, next_run, last_run, promotions.created, asked_by, CAST(NULL AS TEXT), revision, origin,
            lease, run_due, run.started, run.month,
            (SELECT CAST(json_agg(json_build_array(n, source_id, request_id, code, cost) ORDER BY n) AS TEXT) FROM promotion_ads AS ad
             WHERE ad.promotion = run.promotion AND ad.due = run.due)
        FROM promotions LEFT JOIN promotion_runs AS run ON run.promotion = promotions.seq AND run.due = run_due
        WHERE seq = ANY (:promotions)";

    /// Records a part of a run for whoever has the lease. Ads are given as JSON arrays of number, request, code and cost, beside their
    /// source ids. A run that has ended loses its ads after the last one, and the schedule its oldest runs beyond a number.
    RecordRun<'a> {
        id: Uuid, lease: i64, revision: i64, run_due: Timestamp, started: Timestamp, ended: Option<Timestamp>, month: String,
        cost: Option<i64>, currency: &'a str, ads: String, source_ids: Vec<String>, last: i64, due: Option<Timestamp>, step: i64,
        kept: u32,
    }
    sqlite "
        INSERT INTO promotion_runs (promotion, due, started, ended, month, cost, currency)
        SELECT seq, :run_due, :started, :ended, :month, :cost, :currency FROM promotions
        WHERE id = :id AND lease = :lease AND (:ended IS NULL OR revision = :revision)
        ON CONFLICT (promotion, due) DO UPDATE SET ended = excluded.ended, cost = excluded.cost;

        INSERT INTO promotion_ads (promotion, due, n, source_id, request_id, code, cost)
        SELECT seq, :run_due, ad.value ->> 0, :source_ids ->> ad.key, ad.value ->> 1, ad.value ->> 2, ad.value ->> 3
        FROM promotions CROSS JOIN json_each(:ads) AS ad
        WHERE promotions.id = :id AND lease = :lease AND (:ended IS NULL OR revision = :revision)
        ON CONFLICT (promotion, due, n) DO UPDATE
        SET request_id = excluded.request_id, code = excluded.code, cost = excluded.cost;

        DELETE FROM promotion_ads WHERE :ended IS NOT NULL AND n > :last AND due = :run_due AND promotion = (
            SELECT seq FROM promotions WHERE id = :id AND lease = :lease AND revision = :revision);

        DELETE FROM promotion_ads WHERE :ended IS NOT NULL AND (promotion, due) IN (
            SELECT promotion, old.due FROM promotions JOIN promotion_runs AS old ON promotion = seq
            WHERE id = :id AND lease = :lease AND revision = :revision AND old.due <> :run_due
            ORDER BY old.due DESC LIMIT -1 OFFSET :kept);

        DELETE FROM promotion_runs WHERE :ended IS NOT NULL AND (promotion, due) IN (
            SELECT promotion, old.due FROM promotions JOIN promotion_runs AS old ON promotion = seq
            WHERE id = :id AND lease = :lease AND revision = :revision AND old.due <> :run_due
            ORDER BY old.due DESC LIMIT -1 OFFSET :kept);

        UPDATE promotions SET due = :due, lease = lease + :step,
            run_due = CASE WHEN :ended IS NULL THEN run_due END,
            next_run = CASE WHEN :ended IS NULL THEN next_run ELSE :due END,
            last_run = CASE WHEN :ended IS NULL THEN last_run ELSE :run_due END
        WHERE id = :id AND lease = :lease AND (:ended IS NULL OR revision = :revision) RETURNING seq"
    postgres "
        WITH held AS (
            UPDATE promotions SET due = :due, lease = lease + :step,
                run_due = CASE WHEN :ended IS NULL THEN run_due END,
                next_run = CASE WHEN :ended IS NULL THEN next_run ELSE :due END,
                last_run = CASE WHEN :ended IS NULL THEN last_run ELSE :run_due END
            WHERE id = :id AND lease = :lease AND (:ended IS NULL OR revision = :revision) RETURNING seq
        ), run AS (
            INSERT INTO promotion_runs (promotion, due, started, ended, month, cost, currency)
            SELECT seq, :run_due, :started, :ended, :month, :cost, :currency FROM held
            ON CONFLICT (promotion, due) DO UPDATE SET ended = excluded.ended, cost = excluded.cost
        ), recorded AS (
            INSERT INTO promotion_ads (promotion, due, n, source_id, request_id, code, cost)
            SELECT seq, :run_due, CAST(ad.value ->> 0 AS BIGINT), (:source_ids)[ad.number], CAST(ad.value ->> 1 AS UUID),
                ad.value ->> 2, CAST(ad.value ->> 3 AS BIGINT)
            FROM held CROSS JOIN json_array_elements(CAST(:ads AS JSON)) WITH ORDINALITY AS ad (value, number)
            ON CONFLICT (promotion, due, n) DO UPDATE
            SET request_id = excluded.request_id, code = excluded.code, cost = excluded.cost
        ), open AS (
            DELETE FROM promotion_ads WHERE :ended IS NOT NULL AND n > :last AND due = :run_due AND promotion = (SELECT seq FROM held)
        ), old AS MATERIALIZED (
            SELECT promotion, due FROM promotion_runs
            WHERE :ended IS NOT NULL AND promotion = (SELECT seq FROM held) AND due <> :run_due
            ORDER BY due DESC OFFSET :kept
        ), old_ads AS (
            DELETE FROM promotion_ads USING old WHERE promotion_ads.promotion = old.promotion AND promotion_ads.due = old.due
        ), old_runs AS (
            DELETE FROM promotion_runs USING old WHERE promotion_runs.promotion = old.promotion AND promotion_runs.due = old.due
        )
        SELECT seq FROM held";

    /// Whether somebody has this lease of a schedule.
    HasPromotionLease { id: Uuid, lease: i64 }
    both "SELECT EXISTS (SELECT 1 FROM promotions WHERE id = :id AND lease = :lease)";

    /// What the runs of a schedule have cost in a month, except for that of one time.
    SpentByPromotion { id: Uuid, month: String, except: Timestamp }
    both "
        SELECT CAST(coalesce(sum(cost), 0) AS BIGINT) FROM promotion_runs
        WHERE promotion = (SELECT seq FROM promotions WHERE id = :id) AND month = :month AND due <> :except";

    /// A page of the runs of a schedule, latest first: the number of all, the place, and the run. The sum of their lengths is at most so
    /// many bytes, unless the first one alone has more.
    RunsOfPromotion { id: Uuid, limit: u32, offset: u64, most_bytes: u64 }
    sqlite "
        WITH promotion AS MATERIALIZED (
            SELECT seq FROM promotions WHERE id = :id
        ), page AS (
            SELECT due FROM promotion_runs WHERE promotion = (SELECT seq FROM promotion) ORDER BY due DESC LIMIT :limit OFFSET :offset
        ), sized AS (
            SELECT page.due, (
                SELECT coalesce(sum(octet_length(source_id) + 120), 0) + 200 FROM promotion_ads AS ad
                WHERE ad.promotion = (SELECT seq FROM promotion) AND ad.due = page.due) AS size
            FROM page
        ), cut AS (
            SELECT due FROM (
                SELECT due, max(due) OVER () AS first, sum(size) OVER (ORDER BY due DESC) AS bytes FROM sized
            ) AS summed
            WHERE due = first OR bytes <= :most_bytes
        )
        SELECT (SELECT count(*) FROM promotion_runs WHERE promotion = (SELECT seq FROM promotion)), -cut.due,
            run.due, run.started, run.ended, run.currency,
            (SELECT json_group_array(json_array(n, source_id, request_id, code, cost) ORDER BY n) FROM promotion_ads AS ad
             WHERE ad.promotion = run.promotion AND ad.due = run.due)
        FROM (SELECT 1) AS one LEFT JOIN cut ON true
            LEFT JOIN promotion_runs AS run ON run.promotion = (SELECT seq FROM promotion) AND run.due = cut.due"
    postgres "
        WITH promotion AS MATERIALIZED (
            SELECT seq FROM promotions WHERE id = :id
        ), page AS (
            SELECT due FROM promotion_runs WHERE promotion = (SELECT seq FROM promotion) ORDER BY due DESC LIMIT :limit OFFSET :offset
        ), sized AS (
            SELECT page.due, (
                SELECT coalesce(sum(octet_length(source_id) + 120), 0) + 200 FROM promotion_ads AS ad
                WHERE ad.promotion = (SELECT seq FROM promotion) AND ad.due = page.due) AS size
            FROM page
        ), cut AS (
            SELECT due FROM (
                SELECT due, max(due) OVER () AS first, sum(size) OVER (ORDER BY due DESC) AS bytes FROM sized
            ) AS summed
            WHERE due = first OR bytes <= :most_bytes
        )
        SELECT (SELECT count(*) FROM promotion_runs WHERE promotion = (SELECT seq FROM promotion)), -cut.due,
            run.due, run.started, run.ended, run.currency,
            (SELECT CAST(json_agg(json_build_array(n, source_id, request_id, code, cost) ORDER BY n) AS TEXT) FROM promotion_ads AS ad
             WHERE ad.promotion = run.promotion AND ad.due = run.due)
        FROM (SELECT 1) AS one LEFT JOIN cut ON true
            LEFT JOIN promotion_runs AS run ON run.promotion = (SELECT seq FROM promotion) AND run.due = cut.due";
}
