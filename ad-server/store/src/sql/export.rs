//! All data of a dealer, as JSON objects. What may be much is read in pages.

use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Exports the data of a dealer as JSON.
    ExportDealer<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'dealer', 'dealer', json(dealer))
        FROM dealers
        WHERE code = :dealer_code"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'dealer', 'dealer', CAST(dealer AS JSON)) AS TEXT)
        FROM dealers
        WHERE code = :dealer_code";

    /// Exports the suspension of a dealer as JSON.
    ExportHolds<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'suspension', 'since', since, 'reason', reason)
        FROM holds
        WHERE kind = 'dealer' AND name = :dealer_code"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'suspension', 'since', since, 'reason', reason) AS TEXT)
        FROM holds
        WHERE kind = 'dealer' AND name = :dealer_code";

    /// Tokens that were issued for it, without the tokens themselves, which are not stored.
    ExportTokens<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'token', 'jti', jti, 'permissions', json(permissions), 'issued', issued, 'expires', expires,
            'revoked', revoked, 'last_used', last_used, 'label', label, 'issued_by', issued_by, 'kid', kid)
        FROM tokens
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY jti"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'token', 'jti', jti, 'permissions', CAST(permissions AS JSON), 'issued', issued, 'expires', expires,
            'revoked', revoked, 'last_used', last_used, 'label', label, 'issued_by', issued_by, 'kid', kid) AS TEXT)
        FROM tokens
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY jti";

    /// Exports the links that sign in to the console and its sessions, without their secrets, which are not stored.
    ExportConsoleAccess { scope: String }
    sqlite "
        SELECT json_object(
            'kind', 'console_access', 'id', id, 'permissions', json(permissions), 'label', label, 'token', token, 'made_by', made_by,
            'is_session', json(iif(session_hash IS NULL, 'false', 'true')), 'created', created, 'signed_in', signed_in,
            'last_used', last_used, 'expires', expires, 'ended', ended)
        FROM console_access
        WHERE scope = :scope ORDER BY created, id"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'console_access', 'id', id, 'permissions', CAST(permissions AS JSON), 'label', label, 'token', token,
            'made_by', made_by, 'is_session', session_hash IS NOT NULL, 'created', created, 'signed_in', signed_in,
            'last_used', last_used, 'expires', expires, 'ended', ended) AS TEXT)
        FROM console_access
        WHERE scope = :scope ORDER BY created, id";

    /// Some of its ads, by source id, those after a given one: source id, number and the ad.
    ExportAds<'a> { dealer_code: &'a str, after: &'a str, limit: u32 }
    sqlite "
        SELECT source_id, seq, json_object(
            'kind', 'ad', 'id', id, 'source_id', source_id, 'category_id', category_id, 'state', state,
            'api_version', api_version, 'status', status, 'status_since', status_since, 'created', created,
            'updated', updated, 'erased', erased, 'registration_number', registration_number, 'vin', vin,
            'marketplace_ad_id', marketplace_ad_id, 'offer_id', offer_id, 'pole_position_until', pole_position_until,
            'quality_score', quality_score, 'content', json(content), 'image_refs', json(image_refs),
            'image_sources', json(image_sources), 'publication', json(publication), 'leftover', json(leftover))
        FROM ads
        WHERE dealer_code = :dealer_code AND source_id > :after ORDER BY source_id LIMIT :limit"
    postgres "
        SELECT source_id, seq, CAST(json_build_object(
            'kind', 'ad', 'id', id, 'source_id', source_id, 'category_id', category_id, 'state', state,
            'api_version', api_version, 'status', status, 'status_since', status_since, 'created', created,
            'updated', updated, 'erased', erased, 'registration_number', registration_number, 'vin', vin,
            'marketplace_ad_id', marketplace_ad_id, 'offer_id', offer_id, 'pole_position_until', pole_position_until,
            'quality_score', quality_score, 'content', CAST(content AS JSON), 'image_refs', CAST(image_refs AS JSON),
            'image_sources', CAST(image_sources AS JSON), 'publication', CAST(publication AS JSON),
            'leftover', CAST(leftover AS JSON)) AS TEXT)
        FROM ads
        WHERE dealer_code = :dealer_code AND source_id > :after ORDER BY source_id LIMIT :limit";

    ExportLog { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'log_entry', 'source_id', ads.source_id, 'n', log.n, 'request_id', log.request_id, 'created', log.created,
            'action', log.action, 'state', log.state, 'code', log.code, 'message', json(log.message),
            'content_changes', json(log.content_changes), 'accepted', log.accepted, 'asked_by', log.asked_by,
            'plan_id', log.plan_id)
        FROM log
        JOIN ads ON ads.seq = log.ad
        WHERE log.ad IN (SELECT value FROM json_each(:ads)) ORDER BY log.ad, log.n"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'log_entry', 'source_id', ads.source_id, 'n', log.n, 'request_id', log.request_id, 'created', log.created,
            'action', log.action, 'state', log.state, 'code', log.code, 'message', CAST(log.message AS JSON),
            'content_changes', CAST(log.content_changes AS JSON), 'accepted', log.accepted, 'asked_by', log.asked_by,
            'plan_id', log.plan_id) AS TEXT)
        FROM log
        JOIN ads ON ads.seq = log.ad
        WHERE log.ad = ANY (:ads) ORDER BY log.ad, log.n";

    ExportPrices { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'earlier_price', 'source_id', ads.source_id, 'until', prices.until, 'price', json(prices.price))
        FROM prices
        JOIN ads ON ads.seq = prices.ad
        WHERE prices.ad IN (SELECT value FROM json_each(:ads)) ORDER BY prices.ad, prices.revision"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'earlier_price', 'source_id', ads.source_id, 'until', prices.until, 'price', CAST(prices.price AS JSON)) AS TEXT)
        FROM prices
        JOIN ads ON ads.seq = prices.ad
        WHERE prices.ad = ANY (:ads) ORDER BY prices.ad, prices.revision";

    /// Changes of their contents, each with the difference back to the content before.
    ExportRevisions { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'revision', 'source_id', ads.source_id, 'revision', revisions.revision, 'replaced', revisions.replaced,
            'created', revisions.created, 'request_id', revisions.request_id, 'asked_by', revisions.asked_by, 'via', revisions.via,
            'plan_id', revisions.plan_id,
            'api_version_before', revisions.api_version, 'category_id_before', revisions.category_id,
            'difference', json(revisions.difference))
        FROM revisions
        JOIN ads ON ads.seq = revisions.ad
        WHERE revisions.ad IN (SELECT value FROM json_each(:ads)) ORDER BY revisions.ad, revisions.n"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'revision', 'source_id', ads.source_id, 'revision', revisions.revision, 'replaced', revisions.replaced,
            'created', revisions.created, 'request_id', revisions.request_id, 'asked_by', revisions.asked_by, 'via', revisions.via,
            'plan_id', revisions.plan_id,
            'api_version_before', revisions.api_version, 'category_id_before', revisions.category_id,
            'difference', CAST(revisions.difference AS JSON)) AS TEXT)
        FROM revisions
        JOIN ads ON ads.seq = revisions.ad
        WHERE revisions.ad = ANY (:ads) ORDER BY revisions.ad, revisions.n";

    ExportCalls { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'call', 'source_id', ads.source_id, 'at', calls.at, 'request_id', calls.request_id,
            'marketplace', calls.marketplace, 'action', calls.action, 'revision', calls.revision, 'latency', calls.latency,
            'status', calls.status, 'code', calls.code, 'listing_id', calls.listing_id, 'content_sha256', calls.content_sha256)
        FROM calls
        JOIN ads ON ads.seq = calls.ad
        WHERE calls.ad IN (SELECT value FROM json_each(:ads)) ORDER BY calls.ad, calls.seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'call', 'source_id', ads.source_id, 'at', calls.at, 'request_id', calls.request_id,
            'marketplace', calls.marketplace, 'action', calls.action, 'revision', calls.revision, 'latency', calls.latency,
            'status', calls.status, 'code', calls.code, 'listing_id', calls.listing_id, 'content_sha256', calls.content_sha256) AS TEXT)
        FROM calls
        JOIN ads ON ads.seq = calls.ad
        WHERE calls.ad = ANY (:ads) ORDER BY calls.ad, calls.seq";

    ExportPhotos { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'photo_hash', 'source_id', ads.source_id, 'hash', photo_looks.hash, 'color', photo_looks.color)
        FROM photo_looks
        JOIN ads ON ads.seq = photo_looks.ad
        WHERE photo_looks.ad IN (SELECT value FROM json_each(:ads)) ORDER BY photo_looks.ad, photo_looks.hash"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'photo_hash', 'source_id', ads.source_id, 'hash', photo_looks.hash, 'color', photo_looks.color) AS TEXT)
        FROM photo_looks
        JOIN ads ON ads.seq = photo_looks.ad
        WHERE photo_looks.ad = ANY (:ads) ORDER BY photo_looks.ad, photo_looks.hash";

    /// Accepted requests of some ads that are not finished.
    ExportRequests { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'unfinished_request', 'request_id', requests.id, 'source_id', ads.source_id,
            'accepted', requests.accepted, 'plan', json(requests.plan), 'progress', json(requests.progress))
        FROM requests
        JOIN ads ON ads.seq = requests.ad
        WHERE requests.ad IN (SELECT value FROM json_each(:ads)) ORDER BY requests.seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'unfinished_request', 'request_id', requests.id, 'source_id', ads.source_id,
            'accepted', requests.accepted, 'plan', CAST(requests.plan AS JSON), 'progress', CAST(requests.progress AS JSON)) AS TEXT)
        FROM requests
        JOIN ads ON ads.seq = requests.ad
        WHERE requests.ad = ANY (:ads) ORDER BY requests.seq";

    /// Some listings of local marketplaces, those after a given one: number, and the listing if it is of the dealer.
    ExportListings<'a> { dealer_code: &'a str, after: i64, limit: u32 }
    sqlite "
        SELECT seq, CASE WHEN dealer_code = :dealer_code THEN json_object(
            'kind', 'local_listing', 'marketplace', market, 'source_id', source_id,
            'registration_number', registration_number, 'title', title, 'state', state, 'changed', changed,
            'pole_until', pole_until, 'content', json(content)) END
        FROM listings
        WHERE seq > :after ORDER BY seq LIMIT :limit"
    postgres "
        SELECT seq, CASE WHEN dealer_code = :dealer_code THEN CAST(json_build_object(
            'kind', 'local_listing', 'marketplace', market, 'source_id', source_id,
            'registration_number', registration_number, 'title', title, 'state', state, 'changed', changed,
            'pole_until', pole_until, 'content', CAST(content AS JSON)) AS TEXT) END
        FROM listings
        WHERE seq > :after ORDER BY seq LIMIT :limit";

    /// Its webhooks, without their secrets: id and the webhook.
    ExportWebhooks<'a> { dealer_code: &'a str }
    sqlite "
        SELECT id, json_object(
            'kind', 'webhook', 'id', id, 'url', url, 'types', json(types), 'description', description, 'created', created,
            'updated', updated, 'deleted', deleted, 'disabled', disabled, 'last_success', last_success,
            'last_failure', last_failure)
        FROM webhooks
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY id"
    postgres "
        SELECT id, CAST(json_build_object(
            'kind', 'webhook', 'id', id, 'url', url, 'types', CAST(types AS JSON), 'description', description,
            'created', created, 'updated', updated, 'deleted', deleted, 'disabled', disabled, 'last_success', last_success,
            'last_failure', last_failure) AS TEXT)
        FROM webhooks
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY id";

    /// Some deliveries to one of its webhooks, those after a given one: number and the delivery.
    ExportDeliveries { webhook: Uuid, after: i64, limit: u32 }
    sqlite "
        SELECT seq, json_object(
            'kind', 'delivery', 'webhook', webhook, 'event_id', event_id, 'type', type,
            'state', state, 'created', created, 'attempts', json(attempts))
        FROM deliveries
        WHERE webhook = :webhook AND seq > :after ORDER BY seq LIMIT :limit"
    postgres "
        SELECT seq, CAST(json_build_object(
            'kind', 'delivery', 'webhook', webhook, 'event_id', event_id, 'type', type,
            'state', state, 'created', created, 'attempts', CAST(attempts AS JSON)) AS TEXT)
        FROM deliveries
        WHERE webhook = :webhook AND seq > :after ORDER BY seq LIMIT :limit";

    /// Stock plans about it, oldest first: number and the plan.
    ExportPlans<'a> { dealer_code: &'a str }
    sqlite "
        SELECT stock_plans.seq, json_object(
            'kind', 'stock_plan', 'id', id, 'state', state, 'created', created, 'expires', expires, 'options', json(options),
            'guard', json(guard), 'counts', json(counts), 'accepted', accepted, 'done', done, 'failed', failed, 'conflict', conflict)
        FROM stock_plan_dealers AS own JOIN stock_plans ON stock_plans.seq = own.plan
        WHERE own.dealer_code = :dealer_code ORDER BY stock_plans.seq"
    postgres "
        SELECT stock_plans.seq, CAST(json_build_object(
            'kind', 'stock_plan', 'id', id, 'state', state, 'created', created, 'expires', expires, 'options', CAST(options AS JSON),
            'guard', CAST(guard AS JSON), 'counts', CAST(counts AS JSON), 'accepted', accepted, 'done', done, 'failed', failed,
            'conflict', conflict) AS TEXT)
        FROM stock_plan_dealers AS own JOIN stock_plans ON stock_plans.seq = own.plan
        WHERE own.dealer_code = :dealer_code ORDER BY stock_plans.seq";

    /// Some changes of one of these plans, those whose numbers from 1 are after a given one: number, and the change if it is about the
    /// dealer.
    ExportPlannedChanges<'a> { plan: i64, dealer_code: &'a str, after: i64, limit: u32 }
    sqlite "
        SELECT n + 1, CASE WHEN dealer_code = :dealer_code THEN json_object(
            'kind', 'stock_change', 'plan', (SELECT id FROM stock_plans WHERE seq = :plan), 'line', line, 'source_id', source_id,
            'change', stock_changes.kind, 'revision', revision, 'outcome', outcome, 'code', code, 'details', json(details),
            'body', json(body)) END
        FROM stock_changes WHERE plan = :plan AND n >= :after ORDER BY n LIMIT :limit"
    postgres "
        SELECT n + 1, CASE WHEN dealer_code = :dealer_code THEN CAST(json_build_object(
            'kind', 'stock_change', 'plan', (SELECT id FROM stock_plans WHERE seq = :plan), 'line', line, 'source_id', source_id,
            'change', stock_changes.kind, 'revision', revision, 'outcome', outcome, 'code', code, 'details', CAST(details AS JSON),
            'body', CAST(body AS JSON)) AS TEXT) END
        FROM stock_changes WHERE plan = :plan AND n >= :after ORDER BY n LIMIT :limit";

    /// The limit that it has set itself, in hundredths.
    ExportOwnBudget<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object('kind', 'own_budget', 'own', own, 'changed', changed)
        FROM own_budgets WHERE dealer_code = :dealer_code"
    postgres "
        SELECT CAST(json_build_object('kind', 'own_budget', 'own', own, 'changed', changed) AS TEXT)
        FROM own_budgets WHERE dealer_code = :dealer_code";

    /// What its promotions cost, oldest first: number and the charge, with its amount in hundredths.
    ExportCharges<'a> { dealer_code: &'a str, after: i64, limit: u32 }
    sqlite "
        SELECT seq, json_object(
            'kind', 'charge', 'request_id', request_id, 'marketplace', marketplace, 'source_id', source_id, 'promotion', kind,
            'amount', amount, 'currency', currency, 'month', month, 'at', at, 'state', state, 'asked_by', asked_by)
        FROM charges WHERE dealer_code = :dealer_code AND seq > :after ORDER BY seq LIMIT :limit"
    postgres "
        SELECT seq, CAST(json_build_object(
            'kind', 'charge', 'request_id', request_id, 'marketplace', marketplace, 'source_id', source_id, 'promotion', kind,
            'amount', amount, 'currency', currency, 'month', month, 'at', at, 'state', state, 'asked_by', asked_by) AS TEXT)
        FROM charges WHERE dealer_code = :dealer_code AND seq > :after ORDER BY seq LIMIT :limit";

    /// Its promotion schedules, oldest first: number and the schedule.
    ExportPromotions<'a> { dealer_code: &'a str }
    sqlite "
        SELECT seq, json_object(
            'kind', 'promotion', 'id', id, 'rules', json(rules), 'paused', json(iif(paused, 'true', 'false')), 'created', created,
            'asked_by', asked_by, 'next_run', next_run, 'last_run', last_run)
        FROM promotions WHERE dealer_code = :dealer_code ORDER BY seq"
    postgres "
        SELECT seq, CAST(json_build_object(
            'kind', 'promotion', 'id', id, 'rules', CAST(rules AS JSON), 'paused', paused, 'created', created,
            'asked_by', asked_by, 'next_run', next_run, 'last_run', last_run) AS TEXT)
        FROM promotions WHERE dealer_code = :dealer_code ORDER BY seq";

    /// The runs of one of these schedules, oldest first: the time and the run with its ads, each as number, source id, request, code and
    /// cost in hundredths.
    ExportPromotionRuns { promotion: i64, after: i64, limit: u32 }
    sqlite "
        SELECT due, json_object(
            'kind', 'promotion_run', 'promotion', (SELECT id FROM promotions WHERE seq = :promotion), 'due', due, 'started', started,
            'ended', ended, 'cost', cost, 'currency', currency, 'ads', json((
                SELECT json_group_array(json_array(n, source_id, request_id, code, ad.cost) ORDER BY n) FROM promotion_ads AS ad
                WHERE ad.promotion = run.promotion AND ad.due = run.due)))
        FROM promotion_runs AS run WHERE promotion = :promotion AND due > :after ORDER BY due LIMIT :limit"
    postgres "
        SELECT due, CAST(json_build_object(
            'kind', 'promotion_run', 'promotion', (SELECT id FROM promotions WHERE seq = :promotion), 'due', due, 'started', started,
            'ended', ended, 'cost', cost, 'currency', currency, 'ads', coalesce((
                SELECT json_agg(json_build_array(n, source_id, request_id, code, ad.cost) ORDER BY n) FROM promotion_ads AS ad
                WHERE ad.promotion = run.promotion AND ad.due = run.due), '[]')) AS TEXT)
        FROM promotion_runs AS run WHERE promotion = :promotion AND due > :after ORDER BY due LIMIT :limit";

    /// Answers about some ads that are kept for idempotency keys.
    ExportAnswers { ads: Vec<i64> }
    sqlite "
        SELECT json_object(
            'kind', 'kept_answer', 'source_id', ads.source_id, 'request_id', kept.request_id,
            'accepted', kept.accepted, 'status', kept.status, 'body', kept.body)
        FROM answers_of_ads AS found JOIN kept_answers AS kept ON kept.seq = found.answer JOIN ads ON ads.seq = found.ad
        WHERE found.ad IN (SELECT value FROM json_each(:ads))
        ORDER BY kept.seq"
    postgres "
        WITH found AS (
            SELECT ad, request_id FROM kept_answers WHERE ad = ANY (:ads)
            UNION ALL
            SELECT ad, request_id FROM log WHERE ad = ANY (:ads) AND accepted IS NOT NULL
            UNION ALL
            SELECT ad, id FROM requests WHERE ad = ANY (:ads)
        )
        SELECT CAST(json_build_object(
            'kind', 'kept_answer', 'source_id', ads.source_id, 'request_id', kept.request_id,
            'accepted', kept.accepted, 'status', kept.status, 'body', kept.body) AS TEXT)
        FROM found JOIN kept_answers AS kept USING (request_id) JOIN ads ON ads.seq = found.ad
        ORDER BY kept.request_id";
}
