//! Webhook endpoints and the deliveries to them.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Makes others who add an endpoint to the same scope wait until the end of the transaction, so that all of them are counted.
    LockScope<'a> { scope: &'a str }
    sqlite "SELECT :scope"
    postgres "SELECT 1 FROM (SELECT pg_advisory_xact_lock(hashtextextended(:scope, 15))) AS locked";

    /// Adds an endpoint, unless its scope has as many as it may have.
    AddWebhook<'a> {
        id: Uuid, scope_type: &'a str, scope: &'a str, url: &'a str, types: String, dealer_code: Option<&'a str>,
        description: Option<&'a str>, secrets: String, now: Timestamp, transaction_id: i64, ad: i64, n: i64, owner: Uuid,
        at_most: u32,
    }
    both "
        INSERT INTO webhooks (id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated,
            transaction_id, ad, n, moves, owner, changes)
        SELECT :id, :scope_type, :scope, :url, :types, :dealer_code, :description, :secrets, :now, :now,
            :transaction_id, :ad, :n, 0, :owner, 1
        WHERE :at_most > (
            SELECT count(*) FROM webhooks WHERE scope_type = :scope_type AND scope = :scope AND deleted IS NULL
        )";

    /// The endpoints of a scope, oldest first, each with the number of its pending deliveries, and whether a process owns it.
    WebhooksOfScope<'a> { scope_type: &'a str, scope: &'a str, now: Timestamp }
    both "
        SELECT id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated, disabled, last_success,
            last_failure, failing_since, transaction_id, ad, n, moves,
            (SELECT count(*) FROM deliveries WHERE webhook = webhooks.id AND state = 'pending'),
            EXISTS (SELECT 1 FROM webhook_owners WHERE webhook_owners.owner = webhooks.owner AND until > :now)
        FROM webhooks WHERE scope_type = :scope_type AND scope = :scope AND deleted IS NULL ORDER BY created, id";

    /// Enabled endpoints with their secrets, the newest first.
    NewestSecrets { limit: u32 }
    both "SELECT id, secrets FROM webhooks WHERE disabled IS NULL AND deleted IS NULL ORDER BY id DESC LIMIT :limit";

    /// Makes a process an owner of endpoints until a time, or extends its ownership.
    RenewOwner { owner: Uuid, until: Timestamp }
    both "
        INSERT INTO webhook_owners (owner, until) VALUES (:owner, :until)
        ON CONFLICT (owner) DO UPDATE SET until = excluded.until";

    /// Endpoints of owners whose time is over. A time beyond `latest` is of a clock that was ahead.
    ClaimableWebhooks { now: Timestamp, latest: Timestamp, except: Vec<String>, at_most: usize }
    sqlite "
        SELECT webhooks.id FROM webhook_owners CROSS JOIN webhooks ON webhooks.owner = webhook_owners.owner
        WHERE (webhook_owners.until <= :now OR webhook_owners.until > :latest) AND webhooks.deleted IS NULL
            AND webhooks.id NOT IN (SELECT value FROM json_each(:except))
        LIMIT :at_most"
    postgres "
        SELECT claimable.id FROM webhook_owners CROSS JOIN LATERAL (
            SELECT id FROM webhooks
            WHERE webhooks.owner = webhook_owners.owner AND deleted IS NULL AND id <> ALL (CAST(:except AS UUID[]))
            ORDER BY webhooks.owner, id LIMIT :at_most
        ) AS claimable
        WHERE webhook_owners.until <= :now OR webhook_owners.until > :latest LIMIT :at_most";

    /// Claims endpoints whose owners' time is still over.
    ClaimWebhooks { ids: Vec<String>, owner: Uuid, now: Timestamp, latest: Timestamp }
    sqlite "
        UPDATE webhooks SET owner = :owner, changes = coalesce(changes, 0) + 1
        WHERE id IN (SELECT value FROM json_each(:ids))
            AND owner IN (SELECT owner FROM webhook_owners WHERE until <= :now OR until > :latest)"
    postgres "
        UPDATE webhooks SET owner = :owner, changes = coalesce(changes, 0) + 1
        WHERE id = ANY (CAST(:ids AS UUID[]))
            AND owner IN (SELECT owner FROM webhook_owners WHERE until <= :now OR until > :latest)";

    /// Endpoints that have changed since their owner read them, with the number of changes; deleted and disabled ones too.
    ChangedWebhooks { owner: Uuid }
    both "
        SELECT id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated, disabled, last_success,
            last_failure, failing_since, transaction_id, ad, n, moves, deleted IS NOT NULL, changes
        FROM webhooks WHERE owner = :owner AND changes IS NOT NULL";

    /// The owner has read endpoints, given as JSON with the number of changes that it has seen.
    ChangesRead { owner: Uuid, read: String }
    sqlite "
        UPDATE webhooks SET changes = NULL FROM json_each(:read) AS read
        WHERE webhooks.id = read.value ->> 0 AND changes = read.value ->> 1 AND owner = :owner"
    postgres "
        UPDATE webhooks SET changes = NULL FROM json_array_elements(CAST(:read AS JSON)) AS read (value)
        WHERE webhooks.id = CAST(read.value ->> 0 AS UUID) AND changes = CAST(read.value ->> 1 AS BIGINT) AND owner = :owner";

    /// Has the owners of endpoints read them again.
    TouchWebhooks { ids: Vec<String> }
    sqlite "
        UPDATE webhooks SET changes = coalesce(changes, 0) + 1 WHERE id IN (SELECT value FROM json_each(:ids))"
    postgres "
        UPDATE webhooks SET changes = coalesce(changes, 0) + 1 WHERE id = ANY (CAST(:ids AS UUID[]))";

    /// Has a process read again all endpoints that it owns.
    TouchOwned { owner: Uuid }
    both "UPDATE webhooks SET changes = coalesce(changes, 0) + 1 WHERE owner = :owner";

    /// Gives an endpoint to another owner.
    PassOn { id: Uuid, owner: Uuid, to: Uuid }
    both "UPDATE webhooks SET owner = :to WHERE id = :id AND owner = :owner";

    /// Forgets owners whose time was over long ago, and whose endpoints have been claimed.
    ForgetOwners { nobody: Uuid, before: Timestamp }
    both "
        DELETE FROM webhook_owners
        WHERE until < :before AND owner <> :nobody
            AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.owner = webhook_owners.owner)";

    /// Changes what a client says about an endpoint.
    ChangeWebhook<'a> {
        id: Uuid, url: Option<&'a str>, types: Option<String>, sets_description: bool, description: Option<&'a str>, now: Timestamp,
    }
    both "
        UPDATE webhooks SET url = coalesce(:url, url), types = coalesce(:types, types),
            description = CASE WHEN :sets_description THEN :description ELSE description END, updated = :now,
            changes = coalesce(changes, 0) + 1
        WHERE id = :id AND deleted IS NULL";

    /// Disables an endpoint unless it is disabled already.
    DisableWebhook<'a> { id: Uuid, reason: &'a str }
    both "UPDATE webhooks SET disabled = :reason WHERE id = :id AND disabled IS NULL";

    /// Enables a disabled endpoint. What is pending is due.
    EnableWebhook { id: Uuid, now: Timestamp }
    sqlite "
        UPDATE deliveries SET next_attempt = :now
        WHERE webhook = :id AND state = 'pending' AND EXISTS (SELECT 1 FROM webhooks WHERE id = :id AND disabled IS NOT NULL);

        UPDATE webhooks SET disabled = NULL, failing_since = NULL WHERE id = :id AND disabled IS NOT NULL"
    postgres "
        WITH enabled AS (
            UPDATE webhooks SET disabled = NULL, failing_since = NULL WHERE id = :id AND disabled IS NOT NULL RETURNING id
        )
        UPDATE deliveries SET next_attempt = :now
        FROM enabled WHERE deliveries.webhook = enabled.id AND deliveries.state = 'pending'";

    /// Moves the position of an endpoint.
    MoveWebhook { id: Uuid, transaction_id: i64, ad: i64, n: i64 }
    both "
        UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n, moves = moves + 1, changes = coalesce(changes, 0) + 1
        WHERE id = :id AND deleted IS NULL";

    /// Ends all pending deliveries of an endpoint.
    DropPending { id: Uuid }
    both "UPDATE deliveries SET state = 'failed' WHERE webhook = :id AND state = 'pending'";

    /// Replaces the secrets of an endpoint, unless they have changed.
    ReplaceSecrets<'a> { id: Uuid, before: &'a str, secrets: String, now: Timestamp }
    both "
        UPDATE webhooks SET secrets = :secrets, updated = :now, changes = coalesce(changes, 0) + 1
        WHERE id = :id AND secrets = :before AND deleted IS NULL";

    /// Deletes an endpoint; what belongs to it is removed in the background.
    DeleteWebhook { id: Uuid, now: Timestamp }
    both "
        UPDATE webhooks SET deleted = :now, secrets = '[]', changes = coalesce(changes, 0) + 1
        WHERE id = :id AND deleted IS NULL";

    /// Adds deliveries, given as JSON, and moves the position behind their events, if the process still owns the endpoint and its
    /// position was not moved by a client. A delivery that is there becomes pending again: its events are replayed. Returns the
    /// deliveries, and a row without values for the endpoint.
    AddDeliveries { webhook: Uuid, owner: Uuid, moves: i64, now: Timestamp, deliveries: String, transaction_id: i64, ad: i64, n: i64 }
    sqlite "
        INSERT INTO deliveries (webhook, event_id, type, ad, n, state, created, next_attempt, tries, attempts)
        SELECT webhooks.id, delivery.value ->> 0, delivery.value ->> 1, delivery.value ->> 2, delivery.value ->> 3,
            'pending', :now, :now, 0, '[]'
        FROM webhooks CROSS JOIN json_each(:deliveries) AS delivery
        WHERE webhooks.id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
        ORDER BY delivery.key
        ON CONFLICT (webhook, event_id) DO UPDATE SET state = 'pending', next_attempt = excluded.next_attempt, tries = 0
        RETURNING event_id, seq, created, attempts;

        UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n
        WHERE id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
        RETURNING NULL, NULL, NULL, NULL"
    postgres "
        WITH moved AS (
            UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n
            WHERE id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
            RETURNING id
        ), added AS (
            INSERT INTO deliveries (webhook, event_id, type, ad, n, state, created, next_attempt, tries, attempts)
            SELECT moved.id, delivery.value ->> 0, delivery.value ->> 1, CAST(delivery.value ->> 2 AS BIGINT),
                CAST(delivery.value ->> 3 AS BIGINT), 'pending', :now, :now, 0, '[]'
            FROM moved CROSS JOIN json_array_elements(CAST(:deliveries AS JSON)) WITH ORDINALITY AS delivery (value, number)
            ORDER BY delivery.number
            ON CONFLICT (webhook, event_id) DO UPDATE SET state = 'pending', next_attempt = excluded.next_attempt, tries = 0
            RETURNING event_id, seq, created, attempts
        )
        SELECT event_id, seq, created, attempts FROM added UNION ALL SELECT NULL, NULL, NULL, NULL FROM moved";

    /// Pending deliveries that are due, the longest first, with their events. Those in flight are left out. With LIMIT, the plan of
    /// PostgreSQL looks up each event and ad.
    DueDeliveries { webhook: Uuid, now: Timestamp, in_flight: Vec<i64>, limit: u32 }
    sqlite "
        SELECT deliveries.seq, deliveries.event_id, deliveries.created, deliveries.tries, deliveries.attempts, deliveries.ad,
            log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id,
            ads.offer_id, log.plan_id,
            CASE WHEN log.state = 'done' AND log.action IN ('bump', 'boost') THEN (
                SELECT sum(amount) || ' ' || max(currency) FROM charges
                WHERE charges.request_id = log.request_id AND charges.state = 'charged') END,
            log.request_id, log.created, log.action, log.state, log.message, log.code
        FROM deliveries LEFT JOIN log ON log.ad = deliveries.ad AND log.n = deliveries.n LEFT JOIN ads ON ads.seq = deliveries.ad
        WHERE deliveries.webhook = :webhook AND deliveries.state = 'pending' AND deliveries.next_attempt <= :now
            AND deliveries.seq NOT IN (SELECT value FROM json_each(:in_flight))
        ORDER BY deliveries.next_attempt, deliveries.seq LIMIT :limit"
    postgres "
        SELECT deliveries.seq, deliveries.event_id, deliveries.created, deliveries.tries, deliveries.attempts, deliveries.ad,
            log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id,
            ads.offer_id, log.plan_id,
            CASE WHEN log.state = 'done' AND log.action IN ('bump', 'boost') THEN (
                SELECT sum(amount) || ' ' || max(currency) FROM charges
                WHERE charges.request_id = log.request_id AND charges.state = 'charged') END,
            log.request_id, log.created, log.action, log.state, log.message, log.code
        FROM deliveries
            LEFT JOIN LATERAL (SELECT * FROM log WHERE log.ad = deliveries.ad AND log.n = deliveries.n LIMIT 1) AS log ON TRUE
            LEFT JOIN LATERAL (SELECT * FROM ads WHERE ads.seq = deliveries.ad LIMIT 1) AS ads ON TRUE
        WHERE deliveries.webhook = :webhook AND deliveries.state = 'pending' AND deliveries.next_attempt <= :now
            AND deliveries.seq <> ALL (:in_flight)
        ORDER BY deliveries.next_attempt, deliveries.seq LIMIT :limit";

    /// Adds the delivery of a test event, unless too many deliveries are pending.
    AddTest<'a> { webhook: Uuid, event_id: &'a str, event_type: &'a str, now: Timestamp, at_most: u32 }
    both "
        INSERT INTO deliveries (webhook, event_id, type, state, created, next_attempt, tries, attempts)
        SELECT :webhook, :event_id, :event_type, 'pending', :now, :now, 0, '[]'
        WHERE :at_most > (SELECT count(*) FROM deliveries WHERE webhook = :webhook AND state = 'pending')";

    /// Makes a delivery pending again, and due.
    Resend<'a> { webhook: Uuid, event_id: &'a str, now: Timestamp }
    both "
        UPDATE deliveries SET state = 'pending', next_attempt = :now, tries = 0 WHERE webhook = :webhook AND event_id = :event_id";

    FindDelivery<'a> { webhook: Uuid, event_id: &'a str }
    both "
        SELECT event_id, type, state, created, next_attempt, attempts FROM deliveries
        WHERE webhook = :webhook AND event_id = :event_id";

    /// A page of the deliveries of an endpoint, newest first, each row with the number of all; of an empty page only that.
    ListDeliveries { webhook: Uuid, limit: u32, offset: u64 }
    both "
        SELECT counted.number, page.event_id, page.type, page.state, page.created, page.next_attempt, page.attempts
        FROM (SELECT count(*) AS number FROM deliveries WHERE webhook = :webhook) AS counted
        LEFT JOIN (
            SELECT seq, event_id, type, state, created, next_attempt, attempts FROM deliveries
            WHERE webhook = :webhook ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON TRUE
        ORDER BY page.seq DESC";

    /// The same of those in a state.
    ListDeliveriesIn<'a> { webhook: Uuid, state: &'a str, limit: u32, offset: u64 }
    both "
        SELECT counted.number, page.event_id, page.type, page.state, page.created, page.next_attempt, page.attempts
        FROM (SELECT count(*) AS number FROM deliveries WHERE webhook = :webhook AND state = :state) AS counted
        LEFT JOIN (
            SELECT seq, event_id, type, state, created, next_attempt, attempts FROM deliveries
            WHERE webhook = :webhook AND state = :state ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON TRUE
        ORDER BY page.seq DESC";

    /// How many are pending, and when the next one of those is due that are not due yet.
    PendingDeliveries { webhook: Uuid, now: Timestamp }
    both "
        SELECT count(*), min(CASE WHEN next_attempt > :now THEN next_attempt END) FROM deliveries
        WHERE webhook = :webhook AND state = 'pending'";

    /// How many deliveries of all endpoints are pending.
    CountPending {}
    both "SELECT count(*) FROM deliveries WHERE state = 'pending'";

    /// Records attempts, given as a JSON object by the numbers of their deliveries, and what they say about the endpoint, if the process
    /// still owns it; then returns a row. In PostgreSQL, `|| ''` rules out the index of all pending deliveries.
    RecordAttempts<'a> {
        webhook: Uuid, owner: Uuid, attempts: String, last_success: Option<Timestamp>, last_failure: Option<Timestamp>,
        failing_since: Option<Timestamp>, disabled: Option<&'a str>,
    }
    sqlite "
        UPDATE deliveries SET state = attempt.value ->> 0, next_attempt = attempt.value ->> 1, tries = tries + 1,
            attempts = attempt.value ->> 2
        FROM json_each(:attempts) AS attempt
        WHERE deliveries.seq = CAST(attempt.key AS INTEGER) AND deliveries.state = 'pending'
            AND EXISTS (SELECT 1 FROM webhooks WHERE id = :webhook AND owner = :owner AND deleted IS NULL);

        UPDATE webhooks SET last_success = coalesce(:last_success, last_success),
            last_failure = coalesce(:last_failure, last_failure), failing_since = :failing_since,
            disabled = coalesce(disabled, :disabled)
        WHERE id = :webhook AND owner = :owner AND deleted IS NULL
        RETURNING moves"
    postgres "
        WITH owned AS (
            UPDATE webhooks SET last_success = coalesce(:last_success, last_success),
                last_failure = coalesce(:last_failure, last_failure), failing_since = :failing_since,
                disabled = coalesce(disabled, :disabled)
            WHERE id = :webhook AND owner = :owner AND deleted IS NULL
            RETURNING moves, CAST(:attempts AS JSONB) AS attempts
        ), recorded AS (
            UPDATE deliveries SET state = owned.attempts -> CAST(seq AS TEXT) ->> 0,
                next_attempt = CAST(owned.attempts -> CAST(seq AS TEXT) ->> 1 AS BIGINT), tries = tries + 1,
                attempts = owned.attempts -> CAST(seq AS TEXT) ->> 2
            FROM owned
            WHERE seq = ANY (ARRAY(SELECT CAST(jsonb_object_keys(owned.attempts) AS BIGINT) FROM owned)) AND state || '' = 'pending'
        )
        SELECT moves FROM owned";

    /// Removes deliveries that ended and were created before a time.
    RemoveDeliveries { before: Timestamp, at_most: u32 }
    sqlite "
        DELETE FROM deliveries WHERE seq IN (
            SELECT seq FROM deliveries WHERE state <> 'pending' AND created < :before ORDER BY created LIMIT :at_most
        )"
    postgres "
        DELETE FROM deliveries WHERE seq = ANY (ARRAY(
            SELECT seq FROM deliveries WHERE state <> 'pending' AND created < :before ORDER BY created LIMIT :at_most
        ))";

    RemoveDeliveriesOfDeleted { at_most: u32 }
    sqlite "
        DELETE FROM deliveries WHERE seq IN (
            SELECT deliveries.seq FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.id
            WHERE webhooks.deleted IS NOT NULL LIMIT :at_most
        )"
    postgres "
        DELETE FROM deliveries WHERE seq = ANY (ARRAY(
            SELECT deliveries.seq FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.id
            WHERE webhooks.deleted IS NOT NULL LIMIT :at_most
        ))";

    /// Removes deleted endpoints that have no deliveries.
    RemoveDeleted {}
    both "
        DELETE FROM webhooks
        WHERE deleted IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.webhook = webhooks.id)";
}
