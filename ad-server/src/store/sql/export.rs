//! All data of a dealer, as JSON objects.

use crate::store::statement::statements;

statements! {
    /// The dealer.
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

    /// Its suspension.
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

    /// Its ads.
    ExportAds<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'ad', 'id', id, 'source_id', source_id, 'category_id', category_id, 'state', state,
            'api_version', api_version, 'status', status, 'status_since', status_since, 'created', created,
            'updated', updated, 'erased', erased, 'registration_number', registration_number, 'vin', vin,
            'marketplace_ad_id', marketplace_ad_id, 'offer_id', offer_id, 'pole_position_until', pole_position_until,
            'quality_score', quality_score, 'content', json(content), 'image_refs', json(image_refs),
            'image_sources', json(image_sources), 'publication', json(publication), 'leftover', json(leftover))
        FROM ads
        WHERE dealer_code = :dealer_code ORDER BY seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'ad', 'id', id, 'source_id', source_id, 'category_id', category_id, 'state', state,
            'api_version', api_version, 'status', status, 'status_since', status_since, 'created', created,
            'updated', updated, 'erased', erased, 'registration_number', registration_number, 'vin', vin,
            'marketplace_ad_id', marketplace_ad_id, 'offer_id', offer_id, 'pole_position_until', pole_position_until,
            'quality_score', quality_score, 'content', CAST(content AS JSON), 'image_refs', CAST(image_refs AS JSON),
            'image_sources', CAST(image_sources AS JSON), 'publication', CAST(publication AS JSON),
            'leftover', CAST(leftover AS JSON)) AS TEXT)
        FROM ads
        WHERE dealer_code = :dealer_code ORDER BY seq";

    /// The log of its ads.
    ExportLog<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'log_entry', 'source_id', ads.source_id, 'n', log.n, 'request_id', log.request_id, 'created', log.created,
            'action', log.action, 'state', log.state, 'code', log.code, 'message', json(log.message),
            'content_changes', json(log.content_changes), 'accepted', log.accepted, 'asked_by', log.asked_by)
        FROM log
        JOIN ads ON ads.seq = log.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY log.ad, log.n"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'log_entry', 'source_id', ads.source_id, 'n', log.n, 'request_id', log.request_id, 'created', log.created,
            'action', log.action, 'state', log.state, 'code', log.code, 'message', CAST(log.message AS JSON),
            'content_changes', CAST(log.content_changes AS JSON), 'accepted', log.accepted, 'asked_by', log.asked_by) AS TEXT)
        FROM log
        JOIN ads ON ads.seq = log.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY log.ad, log.n";

    /// Earlier prices of its ads.
    ExportPrices<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'earlier_price', 'source_id', ads.source_id, 'until', prices.until, 'price', json(prices.price))
        FROM prices
        JOIN ads ON ads.seq = prices.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY prices.ad, prices.revision"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'earlier_price', 'source_id', ads.source_id, 'until', prices.until, 'price', CAST(prices.price AS JSON)) AS TEXT)
        FROM prices
        JOIN ads ON ads.seq = prices.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY prices.ad, prices.revision";

    /// What is computed from photos of its ads.
    ExportPhotos<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'photo_hash', 'source_id', ads.source_id, 'hash', photo_looks.hash, 'color', photo_looks.color)
        FROM photo_looks
        JOIN ads ON ads.seq = photo_looks.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY photo_looks.ad, photo_looks.hash"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'photo_hash', 'source_id', ads.source_id, 'hash', photo_looks.hash, 'color', photo_looks.color) AS TEXT)
        FROM photo_looks
        JOIN ads ON ads.seq = photo_looks.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY photo_looks.ad, photo_looks.hash";

    /// Its accepted requests that are not finished.
    ExportRequests<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'unfinished_request', 'request_id', requests.id, 'source_id', ads.source_id,
            'accepted', requests.accepted, 'plan', json(requests.plan), 'progress', json(requests.progress))
        FROM requests
        JOIN ads ON ads.seq = requests.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY requests.seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'unfinished_request', 'request_id', requests.id, 'source_id', ads.source_id,
            'accepted', requests.accepted, 'plan', CAST(requests.plan AS JSON), 'progress', CAST(requests.progress AS JSON)) AS TEXT)
        FROM requests
        JOIN ads ON ads.seq = requests.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY requests.seq";

    /// Its listings on local marketplaces.
    ExportListings<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'local_listing', 'marketplace', market, 'source_id', source_id,
            'registration_number', registration_number, 'title', title, 'state', state, 'changed', changed,
            'pole_until', pole_until, 'content', json(content))
        FROM listings
        WHERE dealer_code = :dealer_code ORDER BY market, seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'local_listing', 'marketplace', market, 'source_id', source_id,
            'registration_number', registration_number, 'title', title, 'state', state, 'changed', changed,
            'pole_until', pole_until, 'content', CAST(content AS JSON)) AS TEXT)
        FROM listings
        WHERE dealer_code = :dealer_code ORDER BY market, seq";

    /// Its webhooks, without their secrets.
    ExportWebhooks<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'webhook', 'id', id, 'url', url, 'types', json(types), 'description', description, 'created', created,
            'updated', updated, 'deleted', deleted, 'disabled', disabled, 'last_success', last_success,
            'last_failure', last_failure)
        FROM webhooks
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY id"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'webhook', 'id', id, 'url', url, 'types', CAST(types AS JSON), 'description', description,
            'created', created, 'updated', updated, 'deleted', deleted, 'disabled', disabled, 'last_success', last_success,
            'last_failure', last_failure) AS TEXT)
        FROM webhooks
        WHERE scope_type = 'dealer_code' AND scope = :dealer_code ORDER BY id";

    /// Deliveries to its webhooks.
    ExportDeliveries<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'delivery', 'webhook', deliveries.webhook, 'event_id', deliveries.event_id, 'type', deliveries.type,
            'state', deliveries.state, 'created', deliveries.created, 'attempts', json(deliveries.attempts))
        FROM deliveries
        JOIN webhooks ON webhooks.id = deliveries.webhook
        WHERE webhooks.scope_type = 'dealer_code' AND webhooks.scope = :dealer_code ORDER BY deliveries.seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'delivery', 'webhook', deliveries.webhook, 'event_id', deliveries.event_id, 'type', deliveries.type,
            'state', deliveries.state, 'created', deliveries.created, 'attempts', CAST(deliveries.attempts AS JSON)) AS TEXT)
        FROM deliveries
        JOIN webhooks ON webhooks.id = deliveries.webhook
        WHERE webhooks.scope_type = 'dealer_code' AND webhooks.scope = :dealer_code ORDER BY deliveries.seq";

    /// Answers that are kept for idempotency keys.
    ExportAnswers<'a> { dealer_code: &'a str }
    sqlite "
        SELECT json_object(
            'kind', 'kept_answer', 'source_id', ads.source_id, 'request_id', kept_answers.request_id,
            'accepted', kept_answers.accepted, 'status', kept_answers.status, 'body', kept_answers.body)
        FROM kept_answers
        JOIN log ON log.request_id = kept_answers.request_id AND log.accepted IS NOT NULL
        JOIN ads ON ads.seq = log.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY kept_answers.seq"
    postgres "
        SELECT CAST(json_build_object(
            'kind', 'kept_answer', 'source_id', ads.source_id, 'request_id', kept_answers.request_id,
            'accepted', kept_answers.accepted, 'status', kept_answers.status, 'body', kept_answers.body) AS TEXT)
        FROM kept_answers
        JOIN log ON log.request_id = kept_answers.request_id AND log.accepted IS NOT NULL
        JOIN ads ON ads.seq = log.ad
        WHERE ads.dealer_code = :dealer_code ORDER BY kept_answers.seq";
}
