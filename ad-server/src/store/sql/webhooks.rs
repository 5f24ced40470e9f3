//! Webhook endpoints and the deliveries to them.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::store::statement::statements;

statements! {
    /// Makes others who add an endpoint to the same scope wait until the end of the transaction, so that all of them are counted.
    LockScope<'a> { scope: &'a str }
    sqlite "SELECT :scope"
    postgres "SELECT 1 FROM (SELECT pg_advisory_xact_lock(hashtextextended(:scope, 15))) AS locked";

    /// Adds an endpoint, unless its scope has as many as it may have.
    AddWebhook<'a> {
        id: Uuid, scope_type: &'a str, scope: &'a str, url: &'a str, types: String, dealer_code: Option<&'a str>,
        description: Option<&'a str>, secrets: String, now: Timestamp, transaction_id: i64, ad: i64, n: i64, at_most: u32,
    }
    both "
        INSERT INTO webhooks (id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated,
            transaction_id, ad, n, moves, owner, owned_until)
        SELECT :id, :scope_type, :scope, :url, :types, :dealer_code, :description, :secrets, :now, :now,
            :transaction_id, :ad, :n, 0, :id, 0
        WHERE :at_most > (
            SELECT count(*) FROM webhooks WHERE scope_type = :scope_type AND scope = :scope AND deleted IS NULL
        )";

    /// The endpoints of a scope, oldest first, each with the number of its pending deliveries.
    WebhooksOfScope<'a> { scope_type: &'a str, scope: &'a str }
    both "
        SELECT id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated, disabled, last_success,
            last_failure, failing_since, transaction_id, ad, n, moves, owner,
            (SELECT count(*) FROM deliveries WHERE webhook = webhooks.id AND state = 'pending')
        FROM webhooks WHERE scope_type = :scope_type AND scope = :scope AND deleted IS NULL ORDER BY created, id";

    /// The enabled endpoints that a process owns and those that it may claim, its own first; each with the time of its next attempt.
    /// Ownership until a time beyond `latest` is of a clock that was ahead.
    WebhooksToRun { owner: Uuid, now: Timestamp, latest: Timestamp, at_most: u32 }
    both "
        SELECT id, scope_type, scope, url, types, dealer_code, description, secrets, created, updated, disabled, last_success,
            last_failure, failing_since, transaction_id, ad, n, moves, owner,
            (SELECT min(next_attempt) FROM deliveries WHERE webhook = webhooks.id AND state = 'pending')
        FROM webhooks
        WHERE disabled IS NULL AND deleted IS NULL AND (owner = :owner OR owned_until <= :now OR owned_until > :latest)
        ORDER BY CASE WHEN owner = :owner THEN 0 ELSE 1 END, owned_until, id LIMIT :at_most";

    /// Claims endpoints, or goes on to own them.
    OwnWebhooks { ids: Vec<String>, owner: Uuid, now: Timestamp, latest: Timestamp, until: Timestamp }
    sqlite "
        UPDATE webhooks SET owner = :owner, owned_until = :until
        WHERE id IN (SELECT value FROM json_each(:ids))
            AND (owner = :owner OR owned_until <= :now OR owned_until > :latest)"
    postgres "
        UPDATE webhooks SET owner = :owner, owned_until = :until
        WHERE id = ANY (CAST(:ids AS UUID[])) AND (owner = :owner OR owned_until <= :now OR owned_until > :latest)";

    /// Lets other processes own the endpoints of this one.
    ReleaseWebhooks { owner: Uuid }
    both "UPDATE webhooks SET owned_until = 0 WHERE owner = :owner AND owned_until > 0";

    /// Changes what a client says about an endpoint.
    ChangeWebhook<'a> {
        id: Uuid, url: Option<&'a str>, types: Option<String>, sets_description: bool, description: Option<&'a str>, now: Timestamp,
    }
    both "
        UPDATE webhooks SET url = coalesce(:url, url), types = coalesce(:types, types),
            description = CASE WHEN :sets_description THEN :description ELSE description END, updated = :now
        WHERE id = :id AND deleted IS NULL";

    /// Disables an enabled endpoint.
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
        UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n, moves = moves + 1
        WHERE id = :id AND deleted IS NULL";

    /// Ends all pending deliveries of an endpoint.
    DropPending { id: Uuid }
    both "UPDATE deliveries SET state = 'failed' WHERE webhook = :id AND state = 'pending'";

    /// Replaces the secrets of an endpoint, unless they have changed.
    ReplaceSecrets<'a> { id: Uuid, before: &'a str, secrets: String, now: Timestamp }
    both "UPDATE webhooks SET secrets = :secrets, updated = :now WHERE id = :id AND secrets = :before AND deleted IS NULL";

    /// Deletes an endpoint; what belongs to it is removed in the background.
    DeleteWebhook { id: Uuid, now: Timestamp }
    both "UPDATE webhooks SET deleted = :now, secrets = '[]' WHERE id = :id AND deleted IS NULL";

    /// Adds deliveries, given as JSON, and moves the position behind their events, if the process still owns the endpoint and its
    /// position was not moved by a client. A delivery that is there becomes pending again: its events are replayed.
    AddDeliveries { webhook: Uuid, owner: Uuid, moves: i64, now: Timestamp, deliveries: String, transaction_id: i64, ad: i64, n: i64 }
    sqlite "
        INSERT INTO deliveries (webhook, event_id, type, ad, n, state, created, next_attempt, tries, attempts)
        SELECT webhooks.id, delivery.value ->> 0, delivery.value ->> 1, delivery.value ->> 2, delivery.value ->> 3,
            'pending', :now, :now, 0, '[]'
        FROM webhooks CROSS JOIN json_each(:deliveries) AS delivery
        WHERE webhooks.id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
        ORDER BY delivery.key
        ON CONFLICT (webhook, event_id) DO UPDATE SET state = 'pending', next_attempt = excluded.next_attempt, tries = 0;

        UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n
        WHERE id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
        RETURNING moves"
    postgres "
        WITH moved AS (
            UPDATE webhooks SET transaction_id = :transaction_id, ad = :ad, n = :n
            WHERE id = :webhook AND owner = :owner AND moves = :moves AND disabled IS NULL AND deleted IS NULL
            RETURNING id, moves
        ), added AS (
            INSERT INTO deliveries (webhook, event_id, type, ad, n, state, created, next_attempt, tries, attempts)
            SELECT moved.id, delivery.value ->> 0, delivery.value ->> 1, CAST(delivery.value ->> 2 AS BIGINT),
                CAST(delivery.value ->> 3 AS BIGINT), 'pending', :now, :now, 0, '[]'
            FROM moved CROSS JOIN json_array_elements(CAST(:deliveries AS JSON)) WITH ORDINALITY AS delivery (value, number)
            ORDER BY delivery.number
            ON CONFLICT (webhook, event_id) DO UPDATE SET state = 'pending', next_attempt = excluded.next_attempt, tries = 0
        )
        SELECT moves FROM moved";

    /// Pending deliveries that are due, the longest first, with their events. Those in flight are left out.
    DueDeliveries { webhook: Uuid, now: Timestamp, in_flight: Vec<i64>, limit: u32 }
    sqlite "
        SELECT deliveries.seq, deliveries.event_id, deliveries.created, deliveries.tries, deliveries.attempts, deliveries.ad,
            log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id,
            ads.offer_id, log.request_id, log.created, log.action, log.state, log.message, log.code
        FROM deliveries LEFT JOIN log ON log.ad = deliveries.ad AND log.n = deliveries.n LEFT JOIN ads ON ads.seq = deliveries.ad
        WHERE deliveries.webhook = :webhook AND deliveries.state = 'pending' AND deliveries.next_attempt <= :now
            AND deliveries.seq NOT IN (SELECT value FROM json_each(:in_flight))
        ORDER BY deliveries.next_attempt, deliveries.seq LIMIT :limit"
    postgres "
        SELECT deliveries.seq, deliveries.event_id, deliveries.created, deliveries.tries, deliveries.attempts, deliveries.ad,
            log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id,
            ads.offer_id, log.request_id, log.created, log.action, log.state, log.message, log.code
        FROM deliveries LEFT JOIN log ON log.ad = deliveries.ad AND log.n = deliveries.n LEFT JOIN ads ON ads.seq = deliveries.ad
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

    /// One delivery.
    FindDelivery<'a> { webhook: Uuid, event_id: &'a str }
    both "
        SELECT event_id, type, state, created, next_attempt, attempts FROM deliveries
        WHERE webhook = :webhook AND event_id = :event_id";

    /// Deliveries of an endpoint, newest first.
    ListDeliveries { webhook: Uuid, limit: u32, offset: u64 }
    both "
        SELECT event_id, type, state, created, next_attempt, attempts FROM deliveries
        WHERE webhook = :webhook ORDER BY seq DESC LIMIT :limit OFFSET :offset";

    /// Those in a state.
    ListDeliveriesIn<'a> { webhook: Uuid, state: &'a str, limit: u32, offset: u64 }
    both "
        SELECT event_id, type, state, created, next_attempt, attempts FROM deliveries
        WHERE webhook = :webhook AND state = :state ORDER BY seq DESC LIMIT :limit OFFSET :offset";

    /// How many deliveries an endpoint has.
    CountDeliveries { webhook: Uuid }
    both "SELECT count(*) FROM deliveries WHERE webhook = :webhook";

    /// How many it has in a state.
    CountDeliveriesIn<'a> { webhook: Uuid, state: &'a str }
    both "SELECT count(*) FROM deliveries WHERE webhook = :webhook AND state = :state";

    /// How many deliveries of all endpoints are pending.
    CountPending {}
    both "SELECT count(*) FROM deliveries WHERE state = 'pending'";

    /// Records attempts, given as JSON, and what they say about the endpoint, if the process still owns it.
    RecordAttempts<'a> {
        webhook: Uuid, owner: Uuid, attempts: String, last_success: Option<Timestamp>, last_failure: Option<Timestamp>,
        failing_since: Option<Timestamp>, disabled: Option<&'a str>,
    }
    sqlite "
        UPDATE deliveries SET state = attempt.value ->> 1, next_attempt = attempt.value ->> 2, tries = tries + 1,
            attempts = attempt.value ->> 3
        FROM json_each(:attempts) AS attempt
        WHERE deliveries.seq = attempt.value ->> 0 AND deliveries.state = 'pending'
            AND EXISTS (SELECT 1 FROM webhooks WHERE id = :webhook AND owner = :owner AND deleted IS NULL);

        UPDATE webhooks SET last_success = coalesce(:last_success, last_success),
            last_failure = coalesce(:last_failure, last_failure), failing_since = :failing_since,
            disabled = coalesce(disabled, :disabled)
        WHERE id = :webhook AND owner = :owner AND deleted IS NULL"
    postgres "
        WITH owned AS (
            UPDATE webhooks SET last_success = coalesce(:last_success, last_success),
                last_failure = coalesce(:last_failure, last_failure), failing_since = :failing_since,
                disabled = coalesce(disabled, :disabled)
            WHERE id = :webhook AND owner = :owner AND deleted IS NULL
            RETURNING id
        )
        UPDATE deliveries SET state = attempt.value ->> 1, next_attempt = CAST(attempt.value ->> 2 AS BIGINT), tries = tries + 1,
            attempts = attempt.value ->> 3
        FROM owned CROSS JOIN json_array_elements(CAST(:attempts AS JSON)) AS attempt (value)
        WHERE deliveries.seq = CAST(attempt.value ->> 0 AS BIGINT) AND deliveries.state = 'pending'";

    /// Removes deliveries that ended and were created before a time.
    RemoveDeliveries { before: Timestamp, at_most: u32 }
    both "
        DELETE FROM deliveries WHERE seq IN (
            SELECT seq FROM deliveries WHERE state <> 'pending' AND created < :before ORDER BY created LIMIT :at_most
        )";

    /// Removes deliveries of deleted endpoints.
    RemoveDeliveriesOfDeleted { at_most: u32 }
    both "
        DELETE FROM deliveries WHERE seq IN (
            SELECT deliveries.seq FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.id
            WHERE webhooks.deleted IS NOT NULL LIMIT :at_most
        )";

    /// Removes deleted endpoints that have no deliveries.
    RemoveDeleted {}
    both "
        DELETE FROM webhooks
        WHERE deleted IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.webhook = webhooks.id)";
}
