//! The queue of accepted requests.

use ad_core::model::{AdState, Timestamp};
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// When the first request can be claimed, which may be in the past, and when the next one after now.
    NextClaimable { now: Timestamp }
    both "
        SELECT (SELECT claimable FROM requests WHERE claimable IS NOT NULL ORDER BY claimable LIMIT 1),
            (SELECT claimable FROM requests WHERE claimable > :now ORDER BY claimable LIMIT 1)";

    /// Claims due requests, at most `per_dealer` of each dealer, of the dealers whose codes follow `behind`. The recursive part
    /// finds the next dealer with waiting requests by the index, without reading its requests. PostgreSQL skips rows that another
    /// process is claiming. ARRAY makes it look up the requests by id, even if the statement was planned while the queue was
    /// empty; by `seq`, it would scan another index from end to end.
    ClaimDue<'a> {
        now: Timestamp, lease_until: Timestamp, holder: Option<i64>, limit: usize, behind: &'a str, per_dealer: usize,
        full_dealers: &'a [String],
    }
    sqlite "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM requests WHERE claimable IS NOT NULL AND dealer_code > :behind
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM requests WHERE claimable IS NOT NULL AND dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL
        )
        UPDATE requests SET claimable = :lease_until, lease = lease + 1, holder = :holder
        WHERE seq IN (
            SELECT due.seq FROM dealers CROSS JOIN requests AS due
            WHERE due.seq IN (
                    SELECT seq FROM requests WHERE dealer_code = dealers.code AND claimable <= :now
                    ORDER BY claimable, seq LIMIT :per_dealer
                )
                AND dealers.code NOT IN (SELECT value FROM json_each(:full_dealers))
            LIMIT :limit
        )
        RETURNING id, dealer_code"
    postgres "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM requests WHERE claimable IS NOT NULL AND dealer_code > :behind
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM requests WHERE claimable IS NOT NULL AND dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL
        )
        UPDATE requests SET claimable = :lease_until, lease = lease + 1, holder = :holder
        WHERE id = ANY (ARRAY(
            SELECT due.id FROM dealers CROSS JOIN LATERAL (
                SELECT id FROM requests WHERE dealer_code = dealers.code AND claimable <= :now
                ORDER BY claimable, seq LIMIT :per_dealer FOR UPDATE SKIP LOCKED
            ) AS due
            WHERE dealers.code <> ALL (:full_dealers)
            LIMIT :limit
        ))
        RETURNING id, dealer_code";

    /// Claims one request out of turn, also from the worker that has it, but not one behind another of its ad.
    ClaimOne { id: Uuid, lease_until: Timestamp }
    both "
        UPDATE requests SET claimable = :lease_until, lease = lease + 1, holder = NULL WHERE id = :id AND claimable IS NOT NULL
        RETURNING id";

    /// Requests that were claimed, with their ads. PostgreSQL does not see the number of requests, so it keeps the plan: making one
    /// takes six times as long as running it. With LIMIT, that plan looks up each ad, and never reads all.
    ClaimedRequests { requests: Vec<Uuid> }
    sqlite "
        SELECT requests.id, requests.plan, requests.progress, requests.accepted, requests.lease,
            ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.state, ads.api_version, ads.content, ads.image_refs,
            ads.marketplace_ad_id, ads.offer_id, ads.created, ads.updated,
            ads.revision, ads.intent, ads.pole_position_until, ads.leftover, ads.content_revision,
            ads.visible_changes + (SELECT max(n) FROM log WHERE log.ad = ads.seq),
            ads.status, ads.channels, ads.status_since, ads.publication, ads.image_sources
        FROM requests JOIN ads ON ads.seq = requests.ad
        WHERE requests.id IN (SELECT value FROM json_each(:requests)) ORDER BY requests.seq"
    postgres "
        SELECT requests.id, requests.plan, requests.progress, requests.accepted, requests.lease,
            ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.state, ads.api_version, ads.content, ads.image_refs,
            ads.marketplace_ad_id, ads.offer_id, ads.created, ads.updated,
            ads.revision, ads.intent, ads.pole_position_until, ads.leftover, ads.content_revision,
            ads.visible_changes + (SELECT max(n) FROM log WHERE log.ad = ads.seq),
            ads.status, ads.channels, ads.status_since, ads.publication, ads.image_sources
        FROM requests CROSS JOIN LATERAL (SELECT * FROM ads WHERE ads.seq = requests.ad LIMIT 1) AS ads
        WHERE requests.id = ANY (ARRAY(SELECT unnest(:requests)))
        -- Not by the index of the numbers, which has the whole queue.
        ORDER BY requests.seq + 0";

    /// Makes a lease last until a later time, unless another worker has the request.
    ExtendLease { id: Uuid, lease: i64, until: Timestamp }
    both "UPDATE requests SET claimable = :until WHERE id = :id AND lease = :lease";

    /// Takes back the leases, and ends the waits, that end after a time.
    ReleaseAfter { now: Timestamp, after: Timestamp }
    both "UPDATE requests SET claimable = :now, lease = lease + 1 WHERE claimable > :after";

    /// Takes back the leases of processes that are not among these.
    ReleaseLeft { now: Timestamp, holders: Vec<i64> }
    sqlite "
        UPDATE requests SET claimable = :now, lease = lease + 1, holder = NULL
        WHERE claimable > :now AND holder NOT IN (SELECT value FROM json_each(:holders))"
    postgres "
        UPDATE requests SET claimable = :now, lease = lease + 1, holder = NULL
        WHERE claimable > :now AND holder <> ALL (:holders)";

    /// Records the progress of a request that is not finished, with the values of [`RecordEnd`]. With a time to wait for, the
    /// request is nobody's until then. In PostgreSQL, both statements compare keys with `= ANY (ARRAY[…])`, for which the only plan
    /// is to look up each. For a join with `=`, a plan made on an almost empty queue read the whole queue for each batch.
    RecordProgress<'a> {
        progress: String, wait_until: Option<Timestamp>, ..record: RecordEnd<'a>
    }
    sqlite "
        INSERT OR FAIL INTO log (ad, n, request_id, created, action, state, message, code, content_changes, plan_id, dealer_code, transaction_id)
        SELECT ad, coalesce((SELECT max(n) FROM log WHERE log.ad = requests.ad), 0) + entry.key + 1,
            entry.value ->> 0, entry.value ->> 1, entry.value ->> 2, entry.value ->> 3, entry.value -> 4, entry.value ->> 5,
            CASE WHEN entry.key = 0 THEN :content_changes END, plan_id,
            dealer_code, max(coalesce((SELECT max(transaction_id) FROM log), 0), (SELECT number << 40 FROM epoch)) + 1
        FROM requests CROSS JOIN json_each(:entries) AS entry
        WHERE requests.id = :request AND lease = :lease;

        INSERT OR FAIL INTO calls (ad, at, request_id, marketplace, action, revision, latency, status, code, listing_id, content_sha256)
        SELECT ad, call.value ->> 0, call.value ->> 1, call.value ->> 2, call.value ->> 3, call.value ->> 4, call.value ->> 5,
            call.value ->> 6, call.value ->> 7, call.value ->> 8, call.value ->> 9
        FROM requests CROSS JOIN json_each(:calls) AS call
        WHERE requests.id = :request AND lease = :lease;

        UPDATE ads SET state = coalesce(:state, state), intent = coalesce(:intent, intent),
            photos_due = CASE WHEN :image_refs <> image_refs OR photos_due = 9223372036854775807 THEN :photos_due ELSE photos_due END,
            image_refs = coalesce(:image_refs, image_refs), image_sources = coalesce(:image_sources, image_sources),
            marketplace_ad_id = coalesce(:marketplace_ad_id, marketplace_ad_id), offer_id = coalesce(:offer_id, offer_id),
            pole_position_until = CASE WHEN :changes_pole_position THEN :pole_position_until ELSE pole_position_until END,
            leftover = CASE WHEN :changes_leftover THEN :leftover ELSE leftover END,
            publication = coalesce(:publication, publication), status = :status, channels = :channels,
            quality_score = CASE WHEN content_revision = :of_revision THEN :quality_score ELSE quality_score END,
            status_since = CASE WHEN status = :status THEN status_since ELSE :now END,
            updated = CASE WHEN :changes THEN :now ELSE updated END,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775))
                + (:changes OR :entries = '[]' AND status <> :status)
        WHERE (:changes OR :publication IS NOT NULL OR status <> :status OR channels <> :channels
                OR photos_due = 9223372036854775807
                OR content_revision = :of_revision AND quality_score IS NOT :quality_score
                OR visible_changes < (SELECT number << 40 FROM epoch))
            AND seq = (SELECT ad FROM requests WHERE id = :request AND lease = :lease);

        UPDATE requests SET progress = :progress, claimable = coalesce(:wait_until, claimable),
            lease = CASE WHEN :wait_until IS NULL THEN lease ELSE lease + 1 END,
            holder = CASE WHEN :wait_until IS NULL THEN holder END
        WHERE id = :request AND lease = :lease"
    postgres "
        WITH :input, held AS (
            UPDATE requests SET progress = input.progress, claimable = coalesce(wait_until, claimable),
                lease = CASE WHEN wait_until IS NULL THEN requests.lease ELSE requests.lease + 1 END,
                holder = CASE WHEN wait_until IS NULL THEN requests.holder END
            FROM input
            WHERE requests.id = ANY (ARRAY[input.request]) AND requests.lease = input.lease
            RETURNING requests.ad, requests.dealer_code,
                requests.plan_id, input.*
        ), changed AS (
            UPDATE ads SET state = coalesce(held.state, ads.state), intent = coalesce(held.intent, ads.intent),
                photos_due = CASE WHEN held.image_refs <> ads.image_refs OR ads.photos_due = 9223372036854775807
                    THEN held.photos_due ELSE ads.photos_due END,
                image_refs = coalesce(held.image_refs, ads.image_refs),
                image_sources = coalesce(held.image_sources, ads.image_sources),
                marketplace_ad_id = coalesce(held.marketplace_ad_id, ads.marketplace_ad_id),
                offer_id = coalesce(held.offer_id, ads.offer_id),
                pole_position_until =
                    CASE WHEN changes_pole_position THEN held.pole_position_until ELSE ads.pole_position_until END,
                leftover = CASE WHEN changes_leftover THEN held.leftover ELSE ads.leftover END,
                publication = coalesce(held.publication, ads.publication), status = held.status, channels = held.channels,
                quality_score =
                    CASE WHEN ads.content_revision = held.of_revision THEN held.quality_score ELSE ads.quality_score END,
                status_since = CASE WHEN ads.status = held.status THEN ads.status_since ELSE held.now END,
                updated = CASE WHEN held.changes THEN held.now ELSE ads.updated END,
                visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775))
                    + CASE WHEN held.changes OR held.entries = '[]' AND ads.status <> held.status THEN 1 ELSE 0 END
            FROM held
            WHERE ads.seq = ANY (ARRAY[held.ad])
                AND (held.changes OR held.publication IS NOT NULL OR ads.status <> held.status OR ads.channels <> held.channels
                    OR ads.photos_due = 9223372036854775807
                    OR ads.content_revision = held.of_revision AND ads.quality_score IS DISTINCT FROM held.quality_score
                    OR ads.visible_changes < (SELECT number << 40 FROM epoch))
        ), logged AS (
            INSERT INTO log (ad, n, request_id, created, action, state, message, code, content_changes, plan_id, dealer_code)
            SELECT held.ad, coalesce((SELECT max(n) FROM log WHERE log.ad = held.ad), 0) + entry.number,
                CAST(entry.value ->> 0 AS UUID), CAST(entry.value ->> 1 AS BIGINT), entry.value ->> 2, entry.value ->> 3,
                CAST(entry.value -> 4 AS TEXT), entry.value ->> 5,
                CASE WHEN entry.number = 1 THEN held.content_changes END, held.plan_id, held.dealer_code
            FROM held CROSS JOIN json_array_elements(CAST(held.entries AS JSON)) WITH ORDINALITY AS entry (value, number)
        ), called AS (
            INSERT INTO calls (ad, at, request_id, marketplace, action, revision, latency, status, code, listing_id, content_sha256)
            SELECT held.ad, CAST(call.value ->> 0 AS BIGINT), CAST(call.value ->> 1 AS UUID), call.value ->> 2, call.value ->> 3,
                CAST(call.value ->> 4 AS BIGINT), CAST(call.value ->> 5 AS BIGINT), CAST(call.value ->> 6 AS BIGINT),
                call.value ->> 7, call.value ->> 8, call.value ->> 9
            -- Of JSON, each field of each call would be looked for from the beginning of its text.
            FROM held CROSS JOIN jsonb_array_elements(CAST(held.calls AS JSONB)) WITH ORDINALITY AS call (value, number)
            ORDER BY call.number
        )
        SELECT CAST(NULL AS BIGINT), input_number FROM held";

    /// Records the end of a request, log entries, and what `changes` about the ad, unless the lease was lost. Values of the ad that
    /// are null stay, but for the end of pole position and the leftover, which have flags of their own. The quality score is set if
    /// the ad still has the content that it is of. Images that change are due to be examined at `photos_due`, which is the largest number as
    /// long as the request is executed. The next request of the ad
    /// becomes claimable, and is returned. The last entry gets the time at which the request was accepted, by which it is found
    /// from now on, and who asked for it; the first one gets what the request has changed. Calls of marketplaces get rows of their own.
    /// With `confirmed`, what was reserved for the request is charged for these marketplaces, and released for the others.
    RecordEnd<'a> {
        request: Uuid, lease: i64, entries: String, calls: String, content_changes: Option<String>, now: Timestamp,
        changes: bool, state: Option<AdState>, intent: Option<AdState>, image_refs: Option<String>,
        photos_due: Timestamp, image_sources: Option<String>, marketplace_ad_id: Option<&'a str>, offer_id: Option<&'a str>,
        changes_pole_position: bool, pole_position_until: Option<Timestamp>, changes_leftover: bool, leftover: Option<String>,
        publication: Option<String>, quality_score: Option<u8>, of_revision: Option<i64>,
        status: &'a str, channels: String, channels_under_way: String, confirmed: Option<String>,
    }
    sqlite "
        INSERT OR FAIL INTO log (ad, n, request_id, created, action, state, message, code, content_changes, accepted, asked_by, plan_id,
            dealer_code, transaction_id)
        SELECT ad, coalesce((SELECT max(n) FROM log WHERE log.ad = requests.ad), 0) + entry.key + 1,
            entry.value ->> 0, entry.value ->> 1, entry.value ->> 2, entry.value ->> 3, entry.value -> 4, entry.value ->> 5,
            CASE WHEN entry.key = 0 THEN :content_changes END,
            CASE WHEN entry.key = json_array_length(:entries) - 1 THEN accepted END,
            CASE WHEN entry.key = json_array_length(:entries) - 1 THEN progress -> 'origin' ->> 'asked_by' END,
            plan_id, dealer_code, max(coalesce((SELECT max(transaction_id) FROM log), 0), (SELECT number << 40 FROM epoch)) + 1
        FROM requests CROSS JOIN json_each(:entries) AS entry
        WHERE requests.id = :request AND lease = :lease;

        INSERT OR FAIL INTO calls (ad, at, request_id, marketplace, action, revision, latency, status, code, listing_id, content_sha256)
        SELECT ad, call.value ->> 0, call.value ->> 1, call.value ->> 2, call.value ->> 3, call.value ->> 4, call.value ->> 5,
            call.value ->> 6, call.value ->> 7, call.value ->> 8, call.value ->> 9
        FROM requests CROSS JOIN json_each(:calls) AS call
        WHERE requests.id = :request AND lease = :lease;

        UPDATE ads SET state = coalesce(:state, state), intent = coalesce(:intent, intent),
            photos_due = CASE WHEN :image_refs <> image_refs OR photos_due = 9223372036854775807 THEN :photos_due ELSE photos_due END,
            image_refs = coalesce(:image_refs, image_refs), image_sources = coalesce(:image_sources, image_sources),
            marketplace_ad_id = coalesce(:marketplace_ad_id, marketplace_ad_id), offer_id = coalesce(:offer_id, offer_id),
            pole_position_until = CASE WHEN :changes_pole_position THEN :pole_position_until ELSE pole_position_until END,
            leftover = CASE WHEN :changes_leftover THEN :leftover ELSE leftover END,
            publication = coalesce(:publication, publication), status = new.status, channels = new.channels,
            quality_score = CASE WHEN content_revision = :of_revision THEN :quality_score ELSE quality_score END,
            status_since = CASE WHEN ads.status = new.status THEN status_since ELSE :now END,
            updated = CASE WHEN :changes THEN :now ELSE updated END,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775))
                + (:changes OR :entries = '[]' AND ads.status <> new.status)
        FROM (
            SELECT ad, CASE WHEN has_next THEN 'processing' ELSE :status END AS status,
                CASE WHEN has_next THEN :channels_under_way ELSE :channels END AS channels
            FROM (
                SELECT ad, EXISTS (SELECT 1 FROM requests AS next WHERE next.ad = this.ad AND next.seq > this.seq) AS has_next
                FROM requests AS this WHERE id = :request AND lease = :lease
            )
        ) AS new
        WHERE ads.seq = new.ad
            AND (:changes OR :publication IS NOT NULL OR ads.status <> new.status OR ads.channels <> new.channels
                OR photos_due = 9223372036854775807
                OR content_revision = :of_revision AND quality_score IS NOT :quality_score
                OR visible_changes < (SELECT number << 40 FROM epoch));

        UPDATE requests SET claimable = :now
        WHERE claimable IS NULL AND seq = (
            SELECT min(next.seq) FROM requests AS this JOIN requests AS next ON next.ad = this.ad AND next.seq > this.seq
            WHERE this.id = :request AND this.lease = :lease
        )
        RETURNING seq;

        UPDATE charges SET state = CASE WHEN marketplace IN (SELECT value FROM json_each(:confirmed)) THEN 'charged' ELSE 'released' END
        WHERE :confirmed IS NOT NULL AND request_id = :request AND state = 'reserved'
            AND EXISTS (SELECT 1 FROM requests WHERE id = :request AND lease = :lease);

        INSERT OR FAIL INTO settled_accounts (dealer_code, month, currency, spent, released, bumps, pole_positions)
        SELECT dealer_code, month, currency, sum(iif(state = 'charged', amount, 0)), sum(iif(state = 'released', amount, 0)),
            sum(state = 'charged' AND kind = 'bump'), sum(state = 'charged' AND kind = 'pole_position')
        FROM charges WHERE changes() > 0 AND :confirmed IS NOT NULL AND request_id = :request
        GROUP BY dealer_code, month, currency
        ON CONFLICT (dealer_code, month, currency) DO UPDATE SET spent = spent + excluded.spent, released = released + excluded.released,
            bumps = bumps + excluded.bumps, pole_positions = pole_positions + excluded.pole_positions;

        DELETE FROM requests WHERE id = :request AND lease = :lease"
    postgres "
        WITH :input, held AS (
            DELETE FROM requests USING input
            WHERE requests.id = ANY (ARRAY[input.request]) AND requests.lease = input.lease
            RETURNING requests.ad, requests.accepted, requests.dealer_code, CAST(requests.progress AS JSON) -> 'origin' ->> 'asked_by' AS asked_by,
                requests.plan_id,
                json_array_length(CAST(input.entries AS JSON)) AS last_number, input.*
        ), behind AS MATERIALIZED (
            -- The snapshot still has the request that ends.
            SELECT now, input_number, status, channels, channels_under_way,
                (SELECT id FROM requests WHERE requests.ad = held.ad AND requests.id <> held.request
                 ORDER BY requests.ad, seq LIMIT 1) AS next
            FROM held
        ), new AS (
            SELECT input_number, CASE WHEN next IS NULL THEN status ELSE 'processing' END AS status,
                CASE WHEN next IS NULL THEN channels ELSE channels_under_way END AS channels
            FROM behind
        ), changed AS (
            -- Without changes as well. A request that is accepted at the same moment changes the row too, so that the later of
            -- the two is run again and sees the other.
            UPDATE ads SET state = coalesce(held.state, ads.state), intent = coalesce(held.intent, ads.intent),
                photos_due = CASE WHEN held.image_refs <> ads.image_refs OR ads.photos_due = 9223372036854775807
                    THEN held.photos_due ELSE ads.photos_due END,
                image_refs = coalesce(held.image_refs, ads.image_refs),
                image_sources = coalesce(held.image_sources, ads.image_sources),
                marketplace_ad_id = coalesce(held.marketplace_ad_id, ads.marketplace_ad_id),
                offer_id = coalesce(held.offer_id, ads.offer_id),
                pole_position_until =
                    CASE WHEN changes_pole_position THEN held.pole_position_until ELSE ads.pole_position_until END,
                leftover = CASE WHEN changes_leftover THEN held.leftover ELSE ads.leftover END,
                publication = coalesce(held.publication, ads.publication), status = new.status, channels = new.channels,
                quality_score =
                    CASE WHEN ads.content_revision = held.of_revision THEN held.quality_score ELSE ads.quality_score END,
                status_since = CASE WHEN ads.status = new.status THEN ads.status_since ELSE held.now END,
                updated = CASE WHEN held.changes THEN held.now ELSE ads.updated END,
                visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775))
                    + CASE WHEN held.changes OR held.entries = '[]' AND ads.status <> new.status THEN 1 ELSE 0 END
            FROM held JOIN new USING (input_number) WHERE ads.seq = ANY (ARRAY[held.ad])
        ), logged AS (
            INSERT INTO log (ad, n, request_id, created, action, state, message, code, content_changes, accepted, asked_by, plan_id, dealer_code)
            SELECT held.ad, coalesce((SELECT max(n) FROM log WHERE log.ad = held.ad), 0) + entry.number,
                CAST(entry.value ->> 0 AS UUID), CAST(entry.value ->> 1 AS BIGINT), entry.value ->> 2, entry.value ->> 3,
                CAST(entry.value -> 4 AS TEXT), entry.value ->> 5, CASE WHEN entry.number = 1 THEN held.content_changes END,
                CASE WHEN entry.number = held.last_number THEN held.accepted END,
                CASE WHEN entry.number = held.last_number THEN held.asked_by END,
                held.plan_id, held.dealer_code
            FROM held CROSS JOIN json_array_elements(CAST(held.entries AS JSON)) WITH ORDINALITY AS entry (value, number)
        ), called AS (
            INSERT INTO calls (ad, at, request_id, marketplace, action, revision, latency, status, code, listing_id, content_sha256)
            SELECT held.ad, CAST(call.value ->> 0 AS BIGINT), CAST(call.value ->> 1 AS UUID), call.value ->> 2, call.value ->> 3,
                CAST(call.value ->> 4 AS BIGINT), CAST(call.value ->> 5 AS BIGINT), CAST(call.value ->> 6 AS BIGINT),
                call.value ->> 7, call.value ->> 8, call.value ->> 9
            -- Of JSON, each field of each call would be looked for from the beginning of its text.
            FROM held CROSS JOIN jsonb_array_elements(CAST(held.calls AS JSONB)) WITH ORDINALITY AS call (value, number)
            ORDER BY call.number
        ), forward AS (
            UPDATE requests SET claimable = behind.now FROM behind
            WHERE requests.id = ANY (ARRAY[behind.next]) AND claimable IS NULL
            RETURNING requests.seq, input_number
        ), settled AS (
            UPDATE charges
            SET state = CASE WHEN CAST(held.confirmed AS JSONB) ? charges.marketplace THEN 'charged' ELSE 'released' END
            FROM held
            WHERE held.confirmed IS NOT NULL AND charges.request_id = ANY (ARRAY[held.request]) AND charges.state = 'reserved'
            RETURNING charges.dealer_code, month, currency, amount, kind, charges.state
        ), account AS (
            INSERT INTO settled_accounts AS sums (dealer_code, month, currency, part, spent, released, bumps, pole_positions)
            SELECT dealer_code, month, currency, pg_backend_pid() % 64, coalesce(sum(amount) FILTER (WHERE state = 'charged'), 0),
                coalesce(sum(amount) FILTER (WHERE state = 'released'), 0), count(*) FILTER (WHERE state = 'charged' AND kind = 'bump'),
                count(*) FILTER (WHERE state = 'charged' AND kind = 'pole_position')
            FROM settled GROUP BY dealer_code, month, currency
            ON CONFLICT (dealer_code, month, currency, part) DO UPDATE SET spent = sums.spent + excluded.spent,
                released = sums.released + excluded.released, bumps = sums.bumps + excluded.bumps,
                pole_positions = sums.pole_positions + excluded.pole_positions
        )
        SELECT forward.seq, input_number FROM held LEFT JOIN forward USING (input_number)";

    /// The number of unfinished requests.
    QueueDepth {}
    both "SELECT count(*) FROM requests";

    /// Unfinished requests: all, those that are due, those behind another of their ad, and when the oldest of all and the oldest
    /// that is due were accepted.
    ReadQueueState { now: Timestamp }
    both "
        SELECT count(*), count(CASE WHEN claimable <= :now THEN 1 END), count(CASE WHEN claimable IS NULL THEN 1 END),
            min(accepted), (SELECT min(accepted) FROM requests WHERE claimable <= :now)
        FROM requests";

    /// Requests that failed and are to be retried, by reason.
    FailingByReason {}
    sqlite "
        SELECT reason, count(*), min(accepted), min(claimable)
        FROM (SELECT progress ->> 'reason' AS reason, accepted, claimable FROM requests WHERE claimable IS NOT NULL) AS failing
        WHERE reason IS NOT NULL GROUP BY reason ORDER BY count(*) DESC, reason"
    postgres "
        SELECT reason, count(*), min(accepted), min(claimable)
        FROM (
            SELECT CAST(progress AS JSON) ->> 'reason' AS reason, accepted, claimable FROM requests WHERE claimable IS NOT NULL
        ) AS failing
        WHERE reason IS NOT NULL GROUP BY reason ORDER BY count(*) DESC, reason";

    /// Unfinished requests, the oldest first: of a dealer, if one is given, and failed for a reason or with a code, if one is given.
    UnfinishedRequests<'a> { dealer_code: Option<&'a str>, reason: Option<&'a str>, code: Option<&'a str>, limit: u32 }
    sqlite "
        SELECT requests.id, ads.dealer_code, ads.source_id, accepted, claimable, progress, progress ->> 'reason'
        FROM requests JOIN ads ON ads.seq = requests.ad
        WHERE (:dealer_code IS NULL OR ads.dealer_code = :dealer_code) AND (:reason IS NULL OR progress ->> 'reason' = :reason)
            AND (:code IS NULL OR progress ->> 'code' = :code)
        ORDER BY requests.seq LIMIT :limit"
    postgres "
        SELECT requests.id, ads.dealer_code, ads.source_id, accepted, claimable, progress, CAST(progress AS JSON) ->> 'reason'
        FROM requests JOIN ads ON ads.seq = requests.ad
        WHERE (:dealer_code IS NULL OR ads.dealer_code = :dealer_code)
            AND (:reason IS NULL OR CAST(progress AS JSON) ->> 'reason' = :reason)
            AND (:code IS NULL OR CAST(progress AS JSON) ->> 'code' = :code)
        ORDER BY requests.seq LIMIT :limit";

    /// Makes failed requests that wait for their next attempt due now, likewise.
    RetryNow<'a> { now: Timestamp, dealer_code: Option<&'a str>, reason: Option<&'a str>, code: Option<&'a str> }
    sqlite "
        UPDATE requests SET claimable = :now, lease = lease + 1
        WHERE claimable > :now AND progress ->> 'reason' IS NOT NULL
            AND (:dealer_code IS NULL OR dealer_code = :dealer_code) AND (:reason IS NULL OR progress ->> 'reason' = :reason)
            AND (:code IS NULL OR progress ->> 'code' = :code)"
    postgres "
        UPDATE requests SET claimable = :now, lease = lease + 1
        WHERE claimable > :now AND CAST(progress AS JSON) ->> 'reason' IS NOT NULL
            AND (:dealer_code IS NULL OR dealer_code = :dealer_code)
            AND (:reason IS NULL OR CAST(progress AS JSON) ->> 'reason' = :reason)
            AND (:code IS NULL OR CAST(progress AS JSON) ->> 'code' = :code)";

    /// An accepted request with its ad and its log entries, from the queue or by its last entry. Its entries
    /// stand one behind the other in the ad's log; 20 is `ad_core::model::REQUEST_ENTRIES`.
    FindRequest { id: Uuid }
    sqlite "
        WITH found AS (
            SELECT ad, accepted, progress, claimable, (SELECT max(n) FROM log WHERE log.ad = requests.ad) AS last_n, NULL AS asked_by,
                plan_id
            FROM requests WHERE id = :id
            UNION ALL
            SELECT ad, accepted, NULL, NULL, n, asked_by, plan_id FROM log WHERE request_id = :id AND accepted IS NOT NULL
        )
        SELECT ads.dealer_code, ads.source_id, accepted, progress, claimable,
            (SELECT json_group_array(json_array(n, request_id, created, action, state, json(message), code))
             FROM log WHERE log.ad = found.ad AND n > last_n - 20 AND n <= last_n AND request_id = :id),
            found.asked_by, found.plan_id
        FROM found JOIN ads ON ads.seq = found.ad"
    postgres "
        WITH found AS (
            SELECT ad, accepted, progress, claimable, (SELECT max(n) FROM log WHERE log.ad = requests.ad) AS last_n, NULL AS asked_by,
                plan_id
            FROM requests WHERE id = :id
            UNION ALL
            SELECT ad, accepted, NULL, NULL, n, asked_by, plan_id FROM log WHERE request_id = :id AND accepted IS NOT NULL
        )
        SELECT ads.dealer_code, ads.source_id, accepted, progress, claimable,
            (SELECT CAST(json_agg(
                json_build_array(n, request_id, created, action, state, CAST(message AS JSON), code)) AS TEXT)
             FROM log WHERE log.ad = found.ad AND n > last_n - 20 AND n <= last_n AND request_id = :id),
            found.asked_by, found.plan_id
        FROM found JOIN ads ON ads.seq = found.ad";

    /// The oldest unfinished request of an ad with this plan.
    Underway { id: Uuid, plan: Option<String> }
    both "
        SELECT id FROM requests
        WHERE ad = (SELECT seq FROM ads WHERE ads.id = :id) AND plan IS NOT DISTINCT FROM :plan ORDER BY seq LIMIT 1";

    UnfinishedOf { ids: Vec<String> }
    sqlite "SELECT id FROM requests WHERE id IN (SELECT value FROM json_each(:ids))"
    postgres "SELECT id FROM requests WHERE id = ANY (CAST(:ids AS UUID[]))";

    IsUnfinished { id: Uuid }
    both "SELECT EXISTS (SELECT 1 FROM requests WHERE id = :id)";
}
