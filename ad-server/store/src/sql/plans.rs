//! Stock plans and their changes.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Makes others who count the plans of these dealers, or of a holder, wait until the end of the transaction.
    LockPlansOf { keys: Vec<String> }
    sqlite "SELECT :keys"
    postgres "
        SELECT count(*) FROM (
            SELECT pg_advisory_xact_lock(hashtextextended(key, 31)) FROM (SELECT unnest(:keys) AS key ORDER BY 1) AS sorted
        ) AS locked";

    /// Adds a plan that is to be computed, unless its dealer has as many unfinished ones as it may have; without a dealer, its holder.
    AddPlan<'a> {
        id: Uuid, holder: &'a str, dealer_code: Option<&'a str>, options: String, created: Timestamp, due: Timestamp, at_most: u32,
    }
    both "
        INSERT INTO stock_plans (id, holder, dealer_code, state, options, errors, created, due, lease)
        SELECT :id, :holder, :dealer_code, 'computing', :options, '[]', :created, :due, 1
        WHERE :at_most > (
            SELECT count(*) FROM stock_plan_dealers AS own JOIN stock_plans AS other ON other.seq = own.plan
            WHERE own.dealer_code = :dealer_code AND other.state IN ('computing', 'ready', 'applying')
        ) + (
            SELECT count(*) FROM stock_plans AS other
            WHERE :dealer_code IS NULL AND other.holder = :holder AND other.dealer_code IS NULL
                AND other.state IN ('computing', 'ready', 'applying')
        )";

    /// Adds a dealer to a plan that is computed, unless it has as many unfinished ones as it may have.
    AddPlanDealer<'a> { id: Uuid, lease: i64, dealer_code: &'a str, at_most: u32 }
    both "
        INSERT INTO stock_plan_dealers (plan, dealer_code)
        SELECT seq, :dealer_code FROM stock_plans
        WHERE id = :id AND lease = :lease AND state = 'computing' AND :at_most > (
            SELECT count(*) FROM stock_plan_dealers AS own JOIN stock_plans AS other ON other.seq = own.plan
            WHERE own.dealer_code = :dealer_code AND other.state IN ('computing', 'ready', 'applying')
        )";

    /// Whether a plan is still computed by the one with this lease.
    IsComputedBy { id: Uuid, lease: i64 }
    both "SELECT EXISTS (SELECT 1 FROM stock_plans WHERE id = :id AND lease = :lease AND state = 'computing')";

    /// Adds changes to a plan that is computed, given as JSON arrays of their columns, and makes it due later. Source ids, which may have
    /// any character, are texts of their own; empty ones are none. With JSON, PostgreSQL would parse a change for each of its columns.
    AppendChanges { id: Uuid, lease: i64, changes: String, source_ids: Vec<String>, due: Timestamp }
    sqlite "
        INSERT INTO stock_changes (plan, n, line, dealer_code, source_id, kind, phase, revision, request_id, details, body)
        SELECT seq, change.value ->> 0, change.value ->> 1, change.value ->> 2, nullif(:source_ids ->> change.key, ''),
            change.value ->> 3, change.value ->> 4, change.value ->> 5, change.value ->> 6, change.value ->> 7, change.value ->> 8
        FROM stock_plans CROSS JOIN json_each(:changes) AS change
        WHERE stock_plans.id = :id AND lease = :lease AND state = 'computing';

        UPDATE stock_plans SET due = :due WHERE id = :id AND lease = :lease AND state = 'computing'"
    postgres "
        WITH computed AS (
            UPDATE stock_plans SET due = :due WHERE id = :id AND lease = :lease AND state = 'computing' RETURNING seq
        ), added AS (
            INSERT INTO stock_changes (plan, n, line, dealer_code, source_id, kind, phase, revision, request_id, details, body)
            SELECT seq, CAST(change.value ->> 0 AS BIGINT), CAST(change.value ->> 1 AS BIGINT), change.value ->> 2,
                nullif((:source_ids)[change.number], ''), change.value ->> 3, CAST(change.value ->> 4 AS BIGINT),
                CAST(change.value ->> 5 AS BIGINT), CAST(change.value ->> 6 AS UUID), change.value ->> 7, change.value ->> 8
            FROM computed CROSS JOIN jsonb_array_elements(CAST(:changes AS JSONB)) WITH ORDINALITY AS change (value, number)
        )
        SELECT seq FROM computed";

    /// Moves a plan that was computed, or was ready for too long, to its next state. Dealers are given as JSON arrays of code and counts.
    FinishPlan<'a> {
        id: Uuid, lease: i64, state: &'a str, dealers: String, guard: String, errors: String, expires: Timestamp,
    }
    sqlite "
        UPDATE stock_plan_dealers SET counts = counted.value ->> 1
        FROM json_each(:dealers) AS counted
        WHERE stock_plan_dealers.dealer_code = counted.value ->> 0 AND plan = (
            SELECT seq FROM stock_plans WHERE id = :id AND lease = :lease AND state IN ('computing', 'ready'));

        UPDATE stock_plans
        SET state = :state, guard = :guard, errors = :errors, expires = :expires, due = :expires, lease = lease + 1
        WHERE id = :id AND lease = :lease AND state IN ('computing', 'ready') RETURNING seq"
    postgres "
        WITH finished AS (
            UPDATE stock_plans
            SET state = :state, guard = :guard, errors = :errors, expires = :expires, due = :expires, lease = lease + 1
            WHERE id = :id AND lease = :lease AND state IN ('computing', 'ready') RETURNING seq
        ), counted AS (
            UPDATE stock_plan_dealers SET counts = counted.value ->> 1
            FROM finished CROSS JOIN json_array_elements(CAST(:dealers AS JSON)) AS counted (value)
            WHERE stock_plan_dealers.plan = finished.seq AND stock_plan_dealers.dealer_code = counted.value ->> 0
        )
        SELECT seq FROM finished";

    /// The plan of an id.
    FindPlan { id: Uuid }
    sqlite "
        SELECT id, state, created, expires,
            (SELECT json_group_array(json_object('dealer_code', dealer_code, 'counts', json(counts),
                'outcomes', json_object('accepted', accepted, 'done', done, 'failed', failed, 'conflict', conflict)) ORDER BY dealer_code)
             FROM stock_plan_dealers WHERE plan = stock_plans.seq),
            guard, errors, holder, options, origin, lease
        FROM stock_plans WHERE id = :id"
    postgres "
        SELECT id, state, created, expires,
            (SELECT CAST(json_agg(json_build_object('dealer_code', dealer_code, 'counts', CAST(counts AS JSON), 'outcomes',
                json_build_object('accepted', accepted, 'done', done, 'failed', failed, 'conflict', conflict)) ORDER BY dealer_code) AS TEXT)
             FROM stock_plan_dealers WHERE plan = stock_plans.seq),
            guard, errors, holder, options, origin, lease
        FROM stock_plans WHERE id = :id";

    /// A page of the plans whose dealers are all in a scope, and of those without dealers that its holder made, newest first: the number
    /// of all, the place in the page, and the plan.
    PlansOfScope<'a> { holder: &'a str, dealer_codes: Vec<String>, limit: u32, offset: u64 }
    sqlite "
        WITH visible AS MATERIALIZED (
            SELECT plan AS seq FROM stock_plan_dealers WHERE dealer_code IN (SELECT value FROM json_each(:dealer_codes))
            UNION
            SELECT seq FROM stock_plans
            WHERE holder = :holder AND NOT EXISTS (SELECT 1 FROM stock_plan_dealers WHERE plan = stock_plans.seq)
            EXCEPT
            SELECT other.plan FROM stock_plan_dealers AS own JOIN stock_plan_dealers AS other ON other.plan = own.plan
            WHERE own.dealer_code IN (SELECT value FROM json_each(:dealer_codes))
                AND other.dealer_code NOT IN (SELECT value FROM json_each(:dealer_codes))
        ), page AS (
            SELECT seq FROM visible ORDER BY seq DESC LIMIT :limit OFFSET :offset
        )
        SELECT (SELECT count(*) FROM visible), -page.seq, id, state, created, expires,
            (SELECT json_group_array(json_object('dealer_code', dealer_code, 'counts', json(counts),
                'outcomes', json_object('accepted', accepted, 'done', done, 'failed', failed, 'conflict', conflict)) ORDER BY dealer_code)
             FROM stock_plan_dealers WHERE plan = stock_plans.seq),
            guard, errors, holder, options
        FROM (SELECT 1) AS one LEFT JOIN page ON true LEFT JOIN stock_plans ON stock_plans.seq = page.seq"
    postgres "
        WITH visible AS MATERIALIZED (
            SELECT plan AS seq FROM stock_plan_dealers WHERE dealer_code = ANY (:dealer_codes)
            UNION
            SELECT seq FROM stock_plans
            WHERE holder = :holder AND NOT EXISTS (SELECT 1 FROM stock_plan_dealers WHERE plan = stock_plans.seq)
            EXCEPT
            SELECT other.plan FROM stock_plan_dealers AS own JOIN stock_plan_dealers AS other ON other.plan = own.plan
            WHERE own.dealer_code = ANY (:dealer_codes) AND other.dealer_code <> ALL (:dealer_codes)
        ), page AS (
            SELECT seq FROM visible ORDER BY seq DESC LIMIT :limit OFFSET :offset
        )
        SELECT (SELECT count(*) FROM visible), -page.seq, id, state, created, expires,
            (SELECT CAST(json_agg(json_build_object('dealer_code', dealer_code, 'counts', CAST(counts AS JSON), 'outcomes',
                json_build_object('accepted', accepted, 'done', done, 'failed', failed, 'conflict', conflict)) ORDER BY dealer_code) AS TEXT)
             FROM stock_plan_dealers WHERE plan = stock_plans.seq),
            guard, errors, holder, options
        FROM (SELECT 1) AS one LEFT JOIN page ON true LEFT JOIN stock_plans ON stock_plans.seq = page.seq";

    /// A page of the changes of a plan: the number of all that pass the filters, the place, and the change. The sum of their lengths is at
    /// most so many bytes, unless the first one alone has more.
    ChangesOfPlan<'a> {
        id: Uuid, kind: Option<&'a str>, outcome: Option<&'a str>, source_id: Option<&'a str>, limit: u32, offset: u64, most_bytes: u64,
    }
    both "
        WITH plan AS MATERIALIZED (
            SELECT seq FROM stock_plans WHERE id = :id
        ), matching AS NOT MATERIALIZED (
            SELECT n FROM stock_changes
            WHERE plan = (SELECT seq FROM plan) AND (:kind IS NULL OR kind = :kind) AND (:outcome IS NULL OR outcome = :outcome)
                AND (:source_id IS NULL OR source_id = :source_id)
        ), page AS (
            SELECT n FROM matching ORDER BY n LIMIT :limit OFFSET :offset
        ), cut AS (
            SELECT n FROM (
                SELECT page.n, min(page.n) OVER () AS first,
                    sum(coalesce(octet_length(details), 0) + 300) OVER (ORDER BY page.n) AS bytes
                FROM page JOIN stock_changes AS sized ON sized.plan = (SELECT seq FROM plan) AND sized.n = page.n
            ) AS summed
            WHERE n = first OR bytes <= :most_bytes
        )
        SELECT (SELECT count(*) FROM matching), cut.n, cut.n, line, dealer_code, source_id, kind, revision, details, outcome, code,
            CASE WHEN outcome IS NOT NULL THEN request_id END
        FROM (SELECT 1) AS one LEFT JOIN cut ON true
            LEFT JOIN stock_changes AS change ON change.plan = (SELECT seq FROM plan) AND change.n = cut.n";

    /// The dealers of a plan.
    DealersOfPlan { id: Uuid }
    both "SELECT dealer_code FROM stock_plan_dealers WHERE plan = (SELECT seq FROM stock_plans WHERE id = :id)";

    /// Starts to apply a plan that is ready and has not expired, unless another one of its dealers is being applied.
    StartApplying { id: Uuid, origin: String, now: Timestamp }
    both "
        UPDATE stock_plans SET state = 'applying', origin = :origin, due = :now, expires = NULL, lease = lease + 1
        WHERE id = :id AND state = 'ready' AND expires > :now AND NOT EXISTS (
            SELECT 1 FROM stock_plan_dealers AS own
            JOIN stock_plan_dealers AS other ON other.dealer_code = own.dealer_code
            JOIN stock_plans AS busy ON busy.seq = other.plan AND busy.state = 'applying'
            WHERE own.plan = stock_plans.seq)";

    /// The state of a plan, and another one that is being applied for one of its dealers. A plan that is ready for too long is expired.
    WhyNotApplied { id: Uuid, now: Timestamp }
    both "
        SELECT CASE WHEN state = 'ready' AND expires <= :now THEN 'expired' ELSE state END, (
            SELECT busy.id FROM stock_plan_dealers AS own
            JOIN stock_plan_dealers AS other ON other.dealer_code = own.dealer_code
            JOIN stock_plans AS busy ON busy.seq = other.plan AND busy.state = 'applying'
            WHERE own.plan = stock_plans.seq LIMIT 1)
        FROM stock_plans WHERE id = :id";

    /// Cancels a plan that has not ended. Whoever applies it keeps the lease.
    CancelPlan { id: Uuid, expires: Timestamp }
    both "
        UPDATE stock_plans SET state = 'cancelled', expires = :expires,
            due = CASE WHEN state = 'applying' THEN due ELSE :expires END,
            lease = CASE WHEN state = 'applying' THEN lease ELSE lease + 1 END
        WHERE id = :id AND state IN ('computing', 'ready', 'applying')";

    /// Whether a plan is due.
    ArePlansDue { now: Timestamp }
    both "SELECT EXISTS (SELECT 1 FROM stock_plans WHERE due <= :now)";

    /// Claims the plan that has been due for longest. PostgreSQL skips what another process is claiming.
    ClaimPlan { now: Timestamp, until: Timestamp }
    sqlite "
        UPDATE stock_plans SET due = :until, lease = lease + 1
        WHERE seq = (SELECT seq FROM stock_plans WHERE due <= :now ORDER BY due LIMIT 1)
        RETURNING id"
    postgres "
        UPDATE stock_plans SET due = :until, lease = lease + 1
        WHERE seq = (SELECT seq FROM stock_plans WHERE due <= :now ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id";

    /// Ends a claim.
    ReleasePlan { id: Uuid, lease: i64, due: Timestamp }
    both "UPDATE stock_plans SET due = :due, lease = lease + 1 WHERE id = :id AND lease = :lease";

    /// The next changes to be made of a plan, of its first phase that has some.
    OpenChanges { id: Uuid, limit: u32 }
    both "
        SELECT n, dealer_code, source_id, kind, revision, body FROM stock_changes
        WHERE plan = (SELECT seq FROM stock_plans WHERE id = :id) AND phase = (
            SELECT phase FROM stock_changes
            WHERE plan = (SELECT seq FROM stock_plans WHERE id = :id) AND phase < 3 ORDER BY phase LIMIT 1)
        ORDER BY n LIMIT :limit";

    /// Locks a plan that is or was applied, for whoever has the lease: its number and state.
    HoldPlan { id: Uuid, lease: i64 }
    both "
        UPDATE stock_plans SET lease = lease
        WHERE id = :id AND lease = :lease AND state IN ('applying', 'applied', 'cancelled')
        RETURNING seq, state";

    /// Those of some changes that have no final outcome: number, dealer and outcome.
    UnsettledChanges { plan: i64, numbers: Vec<i64> }
    sqlite "
        SELECT n, dealer_code, outcome FROM stock_changes
        WHERE plan = :plan AND n IN (SELECT value FROM json_each(:numbers)) AND phase IS NOT NULL"
    postgres "
        SELECT n, dealer_code, outcome FROM stock_changes
        WHERE plan = :plan AND n = ANY (:numbers) AND phase IS NOT NULL";

    /// Sets outcomes of changes, given as JSON arrays of number, outcome, code, and whether there is a request.
    SetOutcomes { plan: i64, outcomes: String }
    sqlite "
        UPDATE stock_changes SET outcome = new.value ->> 1, code = new.value ->> 2,
            request_id = CASE WHEN new.value ->> 3 THEN request_id END,
            phase = CASE WHEN new.value ->> 1 = 'accepted' THEN 3 END
        FROM json_each(:outcomes) AS new
        WHERE stock_changes.plan = :plan AND stock_changes.n = new.value ->> 0
            -- Without it, all changes of the plan are compared with each outcome.
            AND stock_changes.n IN (SELECT value ->> 0 FROM json_each(:outcomes))"
    postgres "
        UPDATE stock_changes SET outcome = new.value ->> 1, code = new.value ->> 2,
            request_id = CASE WHEN CAST(new.value ->> 3 AS BOOLEAN) THEN request_id END,
            phase = CASE WHEN new.value ->> 1 = 'accepted' THEN 3 END
        FROM json_array_elements(CAST(:outcomes AS JSON)) AS new (value)
        WHERE stock_changes.plan = :plan AND stock_changes.n = CAST(new.value ->> 0 AS BIGINT)";

    /// Counts outcomes, given as JSON arrays of dealer and what is added to each number.
    CountOutcomes { plan: i64, dealers: String }
    sqlite "
        UPDATE stock_plan_dealers SET accepted = accepted + (more.value ->> 1), done = done + (more.value ->> 2),
            failed = failed + (more.value ->> 3), conflict = conflict + (more.value ->> 4)
        FROM json_each(:dealers) AS more
        WHERE stock_plan_dealers.plan = :plan AND stock_plan_dealers.dealer_code = more.value ->> 0"
    postgres "
        UPDATE stock_plan_dealers SET accepted = accepted + CAST(more.value ->> 1 AS BIGINT),
            done = done + CAST(more.value ->> 2 AS BIGINT), failed = failed + CAST(more.value ->> 3 AS BIGINT),
            conflict = conflict + CAST(more.value ->> 4 AS BIGINT)
        FROM json_array_elements(CAST(:dealers AS JSON)) AS more (value)
        WHERE stock_plan_dealers.plan = :plan AND stock_plan_dealers.dealer_code = more.value ->> 0";

    /// Ends a plan that is being applied and has no open change.
    EndApplied { plan: i64, expires: Timestamp }
    both "
        UPDATE stock_plans SET state = 'applied', expires = :expires
        WHERE seq = :plan AND state = 'applying'
            AND NOT EXISTS (SELECT 1 FROM stock_changes WHERE stock_changes.plan = :plan AND phase < 3)";

    /// The requests of changes whose numbers are after a given one: of those that were accepted, or of all without a final outcome. The
    /// number, the outcome by now, and why it failed. A request's log entries stand one behind the other in the ad's log; 20 is
    /// `ad_core::model::REQUEST_ENTRIES`. The accepted ones, which are few, are found by their phase.
    RequestsOfChanges { id: Uuid, open: bool, after: i64, limit: u32 }
    sqlite "
        WITH plan AS MATERIALIZED (
            SELECT seq FROM stock_plans WHERE id = :id
        ), changes AS MATERIALIZED (
            SELECT n, request_id FROM (
                SELECT n, request_id FROM stock_changes
                WHERE NOT :open AND plan = (SELECT seq FROM plan) AND phase = 3 AND n > :after ORDER BY n LIMIT :limit
            ) AS accepted
            UNION ALL
            SELECT n, request_id FROM (
                SELECT n, request_id FROM stock_changes
                WHERE :open AND plan = (SELECT seq FROM plan) AND phase IS NOT NULL AND n > :after ORDER BY n LIMIT :limit
            ) AS unsettled
        ), found AS (
            SELECT changes.n, EXISTS (SELECT 1 FROM requests WHERE requests.id = changes.request_id) AS is_queued, last.ad,
                (SELECT min(coalesce(entry.code, '')) FROM log AS entry
                 WHERE entry.ad = last.ad AND entry.n > last.n - 20 AND entry.n <= last.n AND entry.request_id = changes.request_id
                    AND entry.state = 'error') AS code
            FROM changes LEFT JOIN log AS last ON last.request_id = changes.request_id AND last.accepted IS NOT NULL
        )
        SELECT n, CASE WHEN is_queued THEN 'accepted' WHEN ad IS NULL THEN NULL WHEN code IS NULL THEN 'done' ELSE 'failed' END,
            nullif(code, '')
        FROM found ORDER BY n"
    postgres "
        WITH plan AS MATERIALIZED (
            SELECT seq FROM stock_plans WHERE id = :id
        ), changes AS MATERIALIZED (
            SELECT n, request_id FROM (
                SELECT n, request_id FROM stock_changes
                WHERE NOT :open AND plan = (SELECT seq FROM plan) AND phase = 3 AND n > :after ORDER BY n LIMIT :limit
            ) AS accepted
            UNION ALL
            SELECT n, request_id FROM (
                SELECT n, request_id FROM stock_changes
                WHERE :open AND plan = (SELECT seq FROM plan) AND phase IS NOT NULL AND n > :after ORDER BY n LIMIT :limit
            ) AS unsettled
        ), found AS (
            SELECT changes.n, EXISTS (SELECT 1 FROM requests WHERE requests.id = changes.request_id) AS is_queued, last.ad,
                (SELECT min(coalesce(entry.code, '')) FROM log AS entry
                 WHERE entry.ad = last.ad AND entry.n > last.n - 20 AND entry.n <= last.n AND entry.request_id = changes.request_id
                    AND entry.state = 'error') AS code
            FROM changes LEFT JOIN LATERAL (
                SELECT ad, n FROM log WHERE log.request_id = changes.request_id AND log.accepted IS NOT NULL LIMIT 1
            ) AS last ON true
        )
        SELECT n, CASE WHEN is_queued THEN 'accepted' WHEN ad IS NULL THEN NULL WHEN code IS NULL THEN 'done' ELSE 'failed' END,
            nullif(code, '')
        FROM found ORDER BY n";

    /// Removes some changes of a plan.
    RemoveChanges { id: Uuid, lease: i64, at_most: u32 }
    sqlite "
        DELETE FROM stock_changes WHERE rowid IN (
            SELECT stock_changes.rowid FROM stock_plans JOIN stock_changes ON stock_changes.plan = stock_plans.seq
            WHERE id = :id AND lease = :lease LIMIT :at_most)"
    postgres "
        DELETE FROM stock_changes WHERE (plan, n) IN (
            SELECT plan, n FROM stock_plans JOIN stock_changes ON stock_changes.plan = stock_plans.seq
            WHERE id = :id AND lease = :lease LIMIT :at_most)";

    /// Removes the dealers of a plan.
    RemovePlanDealers { id: Uuid, lease: i64 }
    both "DELETE FROM stock_plan_dealers WHERE plan = (SELECT seq FROM stock_plans WHERE id = :id AND lease = :lease)";

    /// Removes a plan without dealers and changes.
    RemovePlan { id: Uuid, lease: i64 }
    both "DELETE FROM stock_plans WHERE id = :id AND lease = :lease";

    /// Whether somebody has this lease of a plan.
    HasLease { id: Uuid, lease: i64 }
    both "SELECT EXISTS (SELECT 1 FROM stock_plans WHERE id = :id AND lease = :lease)";

    /// The next ads of a dealer behind a source id.
    StockBehind<'a> { dealer_code: &'a str, behind: &'a str, limit: u32 }
    both "
        SELECT source_id, category_id, intent = 'deleted' FROM ads
        WHERE dealer_code = :dealer_code AND source_id > :behind ORDER BY source_id LIMIT :limit";

    /// Ads of a dealer that are not deleted and have one of these registration numbers: the number and the source id.
    AdsWithPlates<'a> { dealer_code: &'a str, plates: Vec<String>, plate_categories: Vec<i64> }
    sqlite "
        SELECT registration_number, source_id FROM json_each(:plates) AS wanted CROSS JOIN ads INDEXED BY ads_registration_number
        WHERE registration_number = wanted.value AND dealer_code = :dealer_code AND state = 'created'
            AND category_id IN (SELECT value FROM json_each(:plate_categories))"
    postgres "
        SELECT found.registration_number, found.source_id
        FROM unnest(:plates) AS wanted (plate) CROSS JOIN LATERAL (
            SELECT registration_number, source_id FROM ads
            WHERE registration_number = wanted.plate AND dealer_code = :dealer_code AND state = 'created'
                AND category_id = ANY (:plate_categories)
            LIMIT 10
        ) AS found";

    /// Requests of a dealer that are due and not claimed, counted up to a limit.
    DueRequests<'a> { dealer_code: &'a str, now: Timestamp, at_most: u32 }
    both "
        SELECT count(*) FROM (
            SELECT 1 FROM requests WHERE dealer_code = :dealer_code AND claimable <= :now LIMIT :at_most
        ) AS due";
}
