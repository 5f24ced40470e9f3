//! Ads and what their dealers have.

use ad_core::model::{AdState, ApiVersion, Timestamp};
use uuid::Uuid;

use super::answers::AnswerValues;
use crate::statement::statements;

statements! {
    /// Stores an ad with its first log entry, its text for searching, its request and the answer to keep, unless its dealer has used
    /// the source id or an answer is kept under the key. It fails if another statement of PostgreSQL uses the key at the same moment.
    ///
    /// `OR FAIL`, here and in other statements that many requests run: SQLite would otherwise copy each page before it changes it, to undo
    /// a part of the statement if the rest fails. The writer rolls the whole transaction back.
    CreateAd<'a> {
        id: Uuid, source_id: &'a str, source_id_folded: String, dealer_code: &'a str, category_id: u16, state: &'a str,
        api_version: &'a str, created: Timestamp, updated: Timestamp, registration_number: Option<&'a str>, vin: Option<String>,
        marketplace_ad_id: Option<&'a str>, offer_id: Option<&'a str>, ad_status: &'a str, ad_channels: String,
        quality_score: u8, image_refs: String, content: String, first_checksum: i64, search: String,
        entry_request: Uuid, entry_created: Timestamp, entry_action: &'a str, entry_state: &'a str, entry_message: String,
        request: Uuid, plan: Option<String>, plan_id: Option<String>, progress: String, accepted: Timestamp,
        ..keep: AnswerValues<'a>
    }
    sqlite "
        INSERT OR FAIL INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated,
            registration_number, vin, marketplace_ad_id, offer_id, status, channels, status_since, quality_score, image_refs,
            content, first_checksum, content_revision, visible_changes)
        SELECT :id, :source_id, :dealer_code, :category_id, :state, :api_version, 0, :state, :created, :updated,
            :registration_number, :vin, :marketplace_ad_id, :offer_id, :ad_status, :ad_channels, :created, :quality_score, :image_refs,
            :content, :first_checksum, (SELECT number << 40 FROM epoch), (SELECT number << 40 FROM epoch)
        WHERE NOT EXISTS (SELECT 1 FROM kept_answers WHERE holder = :holder AND digest = :digest)
        ON CONFLICT (source_id, dealer_code) DO NOTHING;

        -- The answer is stored under the next number.
        INSERT OR FAIL INTO log (ad, n, request_id, created, action, state, message, plan_id, dealer_code, transaction_id, answer)
        SELECT last_insert_rowid(), 1, :entry_request, :entry_created, :entry_action, :entry_state, :entry_message,
            :plan_id, :dealer_code,
            max(coalesce((SELECT max(transaction_id) FROM log), 0), (SELECT number << 40 FROM epoch)) + 1,
            CASE WHEN :digest IS NOT NULL THEN coalesce((SELECT max(seq) FROM kept_answers), 0) + 1 END
        WHERE changes() > 0;

        INSERT OR FAIL INTO texts (place, search, source_id)
        SELECT (number << 40) + last_insert_rowid(), :search, :source_id_folded
        FROM dealer_numbers WHERE dealer_code = :dealer_code AND changes() > 0;

        -- The last row is that of the text, whose place ends with the number of the ad.
        INSERT OR FAIL INTO requests (id, ad, dealer_code, plan, plan_id, progress, accepted, claimable)
        SELECT :request, last_insert_rowid() & (1 << 40) - 1, :dealer_code, :plan, :plan_id, :progress, :accepted, :accepted
        WHERE changes() > 0;

        INSERT OR FAIL INTO kept_answers (holder, digest, fingerprint, request_id, accepted, status, headers, body, is_in_log)
        SELECT :holder, :digest, :fingerprint, :for_request, :kept, :status, :headers, :answer, 1
        WHERE changes() > 0 AND :digest IS NOT NULL"
    postgres "
        WITH :input, inserted AS (
            INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated,
                registration_number, vin, marketplace_ad_id, offer_id, status, channels, status_since, quality_score, image_refs,
                content, first_checksum, content_revision, visible_changes)
            SELECT id, source_id, dealer_code, category_id, state, api_version, 0, state, created, updated,
                registration_number, vin, marketplace_ad_id, offer_id, ad_status, ad_channels, created, quality_score, image_refs,
                (:content)[input_number], first_checksum, (SELECT number << 40 FROM epoch), (SELECT number << 40 FROM epoch)
            FROM input
            -- Not NOT EXISTS, which may be planned as one pass over all answers.
            WHERE (SELECT 1 FROM kept_answers AS kept WHERE kept.holder = input.holder AND kept.digest = input.digest) IS NULL
            ON CONFLICT (source_id, dealer_code) DO NOTHING
            RETURNING seq, id
        ), new AS (
            SELECT inserted.seq, input.* FROM inserted JOIN input USING (id)
        ), entry AS (
            INSERT INTO log (ad, n, request_id, created, action, state, message, plan_id, dealer_code)
            SELECT seq, 1, entry_request, entry_created, entry_action, entry_state, entry_message,
                CAST(plan_id AS UUID), dealer_code FROM new
        ), text AS (
            INSERT INTO texts (ad, dealer_code, search, source_id)
            SELECT seq, dealer_code, (:search)[input_number], source_id_folded FROM new
        ), request AS (
            INSERT INTO requests (id, ad, dealer_code, plan, plan_id, progress, accepted, claimable)
            SELECT request, seq, dealer_code, plan, CAST(plan_id AS UUID), progress, accepted, accepted FROM new
        ), kept_answer AS (
            INSERT INTO kept_answers (holder, digest, fingerprint, request_id, accepted, status, headers, body)
            SELECT holder, digest, fingerprint, for_request, kept, status, headers, (:answer)[input_number]
            FROM new WHERE digest IS NOT NULL
        )
        SELECT input_number FROM new";

    /// Changes an ad and adds the request of the change and the answer to keep. It does nothing if the ad has another revision or as
    /// many unfinished requests as it may have, if one of them has the same plan and this request coalesces with it, or if an answer is
    /// kept under the key. Every accepted write changes the revision, so requests of other processes are counted as well.
    ///
    /// Values that are null stay as they are; the registration number belongs to the content. The status stays while a request is
    /// unfinished; an ad that waits for a slot has none. A request that costs something is refused if `total` is more than what is left of the lower one of the operator's
    /// budget and the dealer's own. Prices that are replaced are kept, and so is the difference from the content before, if there is one; 500 is
    /// `ad_core::model::MOST_EARLIER_PRICES` and `MOST_REVISIONS`.
    ReviseAd<'a> {
        id: Uuid, revision: i64, content: Option<String>, quality_score: Option<u8>, search: Option<String>,
        registration_number: Option<&'a str>, vin: Option<String>, price_before: Option<String>,
        api_version: Option<ApiVersion>, category_id: Option<u16>, intent: Option<AdState>,
        pole_position_until: Option<Timestamp>, ad_status: &'a str, ad_channels: String, updated: Timestamp,
        most_unfinished: u32, coalesces: bool,
        difference: Option<String>, replaced: i64, version_before: Option<ApiVersion>, category_before: Option<u16>, checksum: i64,
        asked_by: Option<&'a str>, via: Option<&'a str>,
        charges: Option<String>, charge_kind: Option<&'a str>, price: i64, total: Option<i64>, currency: Option<&'a str>,
        month: Option<String>, budget: Option<i64>,
        request: Uuid, plan: Option<String>, plan_id: Option<String>, progress: String, accepted: Timestamp,
        ..keep: AnswerValues<'a>
    }
    sqlite "
        UPDATE ads SET content = coalesce(:content, content), quality_score = coalesce(:quality_score, quality_score),
            registration_number = CASE WHEN :content IS NULL THEN registration_number ELSE :registration_number END,
            vin = CASE WHEN :content IS NULL THEN vin ELSE :vin END,
            api_version = coalesce(:api_version, api_version), category_id = coalesce(:category_id, category_id),
            intent = coalesce(:intent, intent), pole_position_until = coalesce(:pole_position_until, pole_position_until),
            updated = :updated, revision = revision + 1,
            status = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN status ELSE :ad_status END,
            channels = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN channels ELSE :ad_channels END,
            status_since = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN status_since ELSE :updated END,
            content_revision = CASE WHEN :content IS NULL THEN content_revision
                ELSE ((SELECT number << 40 FROM epoch) | (content_revision & 1099511627775)) + 1 END,
            visible_changes = CASE WHEN :content IS NULL THEN ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
                ELSE visible_changes END
        WHERE id = :id AND revision = :revision
            AND (SELECT count(*) FROM requests WHERE requests.ad = ads.seq) < :most_unfinished
            AND NOT (:coalesces AND EXISTS (SELECT 1 FROM requests WHERE requests.ad = ads.seq AND plan IS :plan))
            AND NOT EXISTS (SELECT 1 FROM kept_answers WHERE holder = :holder AND digest = :digest)
            AND (:total IS NULL OR :total <= max(0, min(coalesce(:budget, 9223372036854775807),
                    coalesce((SELECT own FROM own_budgets WHERE dealer_code = ads.dealer_code), 9223372036854775807))
                - coalesce((SELECT amount FROM accounts
                    WHERE dealer_code = ads.dealer_code AND month = :month AND currency = :currency), 0)
                + coalesce((SELECT released FROM settled_accounts
                    WHERE dealer_code = ads.dealer_code AND month = :month AND currency = :currency), 0)));

        -- A request waits for those before it.
        INSERT OR FAIL INTO requests (id, ad, dealer_code, plan, plan_id, progress, accepted, claimable)
        SELECT :request, seq, dealer_code, :plan, :plan_id, :progress, :accepted,
            CASE WHEN EXISTS (SELECT 1 FROM requests AS earlier WHERE earlier.ad = ads.seq) THEN NULL ELSE :accepted END
        FROM ads WHERE id = :id AND changes() > 0;

        UPDATE texts SET search = :search
        WHERE changes() > 0 AND search <> :search
            AND place = (SELECT (number << 40) + seq FROM ads JOIN dealer_numbers USING (dealer_code) WHERE id = :id);

        INSERT OR FAIL INTO kept_answers (holder, digest, fingerprint, request_id, accepted, status, headers, body)
        SELECT :holder, :digest, :fingerprint, :for_request, :kept, :status, :headers, :answer
        WHERE :digest IS NOT NULL AND EXISTS (SELECT 1 FROM requests WHERE id = :request);

        INSERT OR FAIL INTO charges (request_id, marketplace, ad, dealer_code, source_id, kind, amount, currency, month, at, state, asked_by)
        SELECT :request, market.value, seq, dealer_code, source_id, :charge_kind, :price, :currency, :month, :accepted, 'reserved',
            :asked_by
        FROM json_each(:charges) AS market CROSS JOIN ads
        WHERE ads.id = :id AND EXISTS (SELECT 1 FROM requests WHERE id = :request);

        INSERT OR FAIL INTO accounts (dealer_code, month, currency, amount)
        SELECT dealer_code, :month, :currency, :total FROM requests WHERE :total IS NOT NULL AND id = :request
        ON CONFLICT (dealer_code, month, currency) DO UPDATE SET amount = amount + excluded.amount;

        INSERT OR FAIL INTO prices (ad, revision, until, price)
        SELECT ad, :revision, :updated, :price_before FROM requests WHERE :price_before IS NOT NULL AND id = :request;

        DELETE FROM prices
        WHERE :price_before IS NOT NULL AND ad = (SELECT ad FROM requests WHERE id = :request)
            AND revision <= (
                SELECT revision FROM prices WHERE ad = (SELECT ad FROM requests WHERE id = :request)
                ORDER BY revision DESC LIMIT 1 OFFSET 500);

        INSERT OR FAIL INTO revisions (ad, n, revision, replaced, created, checksum, request_id, asked_by, via, plan_id, api_version,
            category_id, difference)
        SELECT seq, coalesce((SELECT max(n) FROM revisions WHERE ad = seq), 0) + 1, content_revision, :replaced, :updated, :checksum,
            :request, :asked_by, :via, :plan_id, :version_before, :category_before, :difference
        FROM ads WHERE :difference IS NOT NULL AND id = :id AND EXISTS (SELECT 1 FROM requests WHERE id = :request);

        DELETE FROM revisions
        WHERE :difference IS NOT NULL AND ad = (SELECT ad FROM requests WHERE id = :request)
            AND n <= (SELECT max(n) FROM revisions WHERE ad = (SELECT ad FROM requests WHERE id = :request)) - 500"
    postgres "
        WITH revised AS (
            UPDATE ads SET content = coalesce(:content, content), quality_score = coalesce(:quality_score, quality_score),
                registration_number = CASE WHEN :content IS NULL THEN registration_number ELSE :registration_number END,
                vin = CASE WHEN :content IS NULL THEN vin ELSE :vin END,
                api_version = coalesce(:api_version, api_version), category_id = coalesce(:category_id, category_id),
                intent = coalesce(:intent, intent), pole_position_until = coalesce(:pole_position_until, pole_position_until),
                updated = :updated, revision = revision + 1,
                status = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN status ELSE :ad_status END,
                channels = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN channels ELSE :ad_channels END,
                status_since = CASE WHEN status = 'processing' OR status = 'waiting' AND channels NOT LIKE '% slots_exceeded' THEN status_since ELSE :updated END,
                content_revision = CASE WHEN :content IS NULL THEN content_revision
                    ELSE ((SELECT number << 40 FROM epoch) | (content_revision & 1099511627775)) + 1 END,
                visible_changes = CASE WHEN :content IS NULL THEN ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
                    ELSE visible_changes END
            WHERE id = :id AND revision = :revision
                AND (SELECT count(*) FROM requests WHERE requests.ad = ads.seq) < :most_unfinished
                AND NOT (:coalesces AND EXISTS (
                    SELECT 1 FROM requests WHERE requests.ad = ads.seq AND plan IS NOT DISTINCT FROM :plan))
                AND NOT EXISTS (SELECT 1 FROM kept_answers WHERE holder = :holder AND digest = :digest)
                AND (:total IS NULL OR :total <= greatest(0, least(coalesce(:budget, 9223372036854775807),
                        coalesce((SELECT own FROM own_budgets WHERE own_budgets.dealer_code = ads.dealer_code), 9223372036854775807))
                    - coalesce((SELECT sum(amount) FROM accounts
                        WHERE accounts.dealer_code = ads.dealer_code AND month = :month AND currency = :currency), 0)
                    + coalesce((SELECT sum(released) FROM settled_accounts AS settled
                        WHERE settled.dealer_code = ads.dealer_code AND month = :month AND currency = :currency), 0)))
            RETURNING seq, dealer_code, source_id, content_revision
        ), charge AS (
            INSERT INTO charges (request_id, marketplace, ad, dealer_code, source_id, kind, amount, currency, month, at, state, asked_by)
            SELECT :request, market, seq, dealer_code, source_id, :charge_kind, :price, :currency, :month, :accepted, 'reserved', :asked_by
            FROM revised CROSS JOIN json_array_elements_text(CAST(:charges AS JSON)) AS market
        ), account AS (
            -- Within a limit, it is a conflict if another transaction has added to the same row meanwhile.
            INSERT INTO accounts (dealer_code, month, currency, part, amount)
            SELECT dealer_code, :month, :currency,
                CASE WHEN :budget IS NULL AND NOT EXISTS (SELECT 1 FROM own_budgets WHERE own_budgets.dealer_code = revised.dealer_code)
                    THEN pg_backend_pid() % 64 ELSE -1 END,
                :total
            FROM revised WHERE :total IS NOT NULL
            ON CONFLICT (dealer_code, month, currency, part) DO UPDATE SET amount = accounts.amount + excluded.amount
        ), text AS (
            UPDATE texts SET search = :search FROM revised
            WHERE texts.dealer_code = revised.dealer_code AND texts.ad = revised.seq AND search <> :search
        ), kept_answer AS (
            INSERT INTO kept_answers (holder, digest, fingerprint, request_id, accepted, status, headers, body)
            SELECT :holder, :digest, :fingerprint, :for_request, :kept, :status, :headers, :answer
            FROM revised WHERE :digest IS NOT NULL
        ), price AS (
            INSERT INTO prices (ad, revision, until, price)
            SELECT seq, :revision, :updated, :price_before FROM revised WHERE :price_before IS NOT NULL
        ), old_price AS (
            -- The snapshot does not have the new one.
            DELETE FROM prices USING revised
            WHERE :price_before IS NOT NULL AND ad = revised.seq
                AND revision <= (
                    SELECT kept.revision FROM prices AS kept WHERE kept.ad = revised.seq ORDER BY revision DESC LIMIT 1 OFFSET 499)
        ), change AS (
            INSERT INTO revisions (ad, n, revision, replaced, created, checksum, request_id, asked_by, via, plan_id, api_version,
                category_id, difference)
            SELECT seq, coalesce((SELECT max(n) FROM revisions WHERE ad = seq), 0) + 1, content_revision, :replaced, :updated, :checksum,
                :request, :asked_by, :via, CAST(:plan_id AS UUID), :version_before,
                :category_before, :difference
            FROM revised WHERE :difference IS NOT NULL
        ), old_change AS (
            DELETE FROM revisions USING revised
            WHERE :difference IS NOT NULL AND ad = revised.seq
                AND n <= (SELECT max(n) FROM revisions AS latest WHERE latest.ad = revised.seq) - 499
        )
        INSERT INTO requests (id, ad, dealer_code, plan, plan_id, progress, accepted, claimable)
        SELECT :request, seq, dealer_code, :plan, CAST(:plan_id AS UUID), :progress, :accepted,
            CASE WHEN EXISTS (SELECT 1 FROM requests AS earlier WHERE earlier.ad = revised.seq) THEN NULL ELSE :accepted END
        FROM revised";

    /// The unfinished requests of an ad, if it still has this revision.
    UnfinishedOfRevision { id: Uuid, revision: i64 }
    both "SELECT (SELECT count(*) FROM requests WHERE requests.ad = ads.seq) FROM ads WHERE id = :id AND revision = :revision";

    IsSourceIdUsed<'a> { dealer_code: &'a str, source_id: &'a str }
    both "SELECT EXISTS (SELECT 1 FROM ads WHERE dealer_code = :dealer_code AND source_id = :source_id)";

    /// Other ads of a dealer that are not deleted, one with this registration number and one with this VIN: their source ids.
    SameVehicle<'a> {
        dealer_code: &'a str, source_id: Option<&'a str>, plate: Option<&'a str>, plate_categories: Vec<i64>, vin: Option<&'a str>,
    }
    sqlite "
        SELECT
            (SELECT source_id FROM ads INDEXED BY ads_registration_number
             WHERE registration_number = :plate AND dealer_code = :dealer_code AND state = 'created'
                AND category_id IN (SELECT value FROM json_each(:plate_categories)) AND source_id IS NOT :source_id LIMIT 1),
            (SELECT source_id FROM ads INDEXED BY ads_vin
             WHERE vin = :vin AND dealer_code = :dealer_code AND state = 'created' AND source_id IS NOT :source_id LIMIT 1)"
    postgres "
        SELECT
            (SELECT source_id FROM ads
             WHERE registration_number = :plate AND dealer_code = :dealer_code AND state = 'created'
                AND category_id = ANY (:plate_categories) AND source_id IS DISTINCT FROM :source_id LIMIT 1),
            (SELECT source_id FROM ads
             WHERE vin = :vin AND dealer_code = :dealer_code AND state = 'created' AND source_id IS DISTINCT FROM :source_id LIMIT 1)";

    /// Of these triples of a number, a hash and a colour, those for which another ad of the dealer that is not deleted has a photo: the
    /// number and the source id. Among ads with the same hash, the newest are looked at.
    SamePhotos<'a> { dealer_code: &'a str, source_id: &'a str, wanted: String, near_color: u8 }
    sqlite "
        WITH found (number, source_id) AS MATERIALIZED (
            SELECT wanted.value ->> 0, (
                SELECT ads.source_id
                FROM (
                    SELECT ad, color FROM photo_looks
                    WHERE dealer_code = :dealer_code AND hash = wanted.value ->> 1 ORDER BY ad DESC LIMIT 100
                ) AS look CROSS JOIN ads ON ads.seq = look.ad
                WHERE ads.state = 'created' AND ads.source_id <> :source_id
                    AND abs((look.color >> 16) - (wanted.value ->> 2 >> 16)) <= :near_color
                    AND abs((look.color >> 8 & 255) - (wanted.value ->> 2 >> 8 & 255)) <= :near_color
                    AND abs((look.color & 255) - (wanted.value ->> 2 & 255)) <= :near_color
                LIMIT 1
            )
            FROM json_each(:wanted) AS wanted
        )
        SELECT number, source_id FROM found WHERE source_id IS NOT NULL"
    postgres "
        WITH wanted AS MATERIALIZED (
            SELECT CAST(value ->> 0 AS BIGINT) AS number, CAST(value ->> 1 AS BIGINT) AS hash, CAST(value ->> 2 AS INTEGER) AS color
            FROM json_array_elements(CAST(:wanted AS JSON)) AS wanted (value)
        )
        SELECT wanted.number, found.source_id
        FROM wanted CROSS JOIN LATERAL (
            SELECT ads.source_id
            FROM (
                SELECT ad, color FROM photo_looks
                WHERE dealer_code = :dealer_code AND hash = wanted.hash ORDER BY ad DESC LIMIT 100
            ) AS look JOIN ads ON ads.seq = look.ad
            WHERE ads.state = 'created' AND ads.source_id <> :source_id
                AND abs((look.color >> 16) - (wanted.color >> 16)) <= :near_color
                AND abs((look.color >> 8 & 255) - (wanted.color >> 8 & 255)) <= :near_color
                AND abs((look.color & 255) - (wanted.color & 255)) <= :near_color
            LIMIT 1
        ) AS found";

    AdsWithoutScore { limit: u32 }
    both "
        SELECT seq, id, source_id, dealer_code, category_id, state, api_version, content, image_refs, marketplace_ad_id, offer_id,
            created, updated, publication
        FROM ads WHERE quality_score IS NULL ORDER BY seq LIMIT :limit";

    /// Sets the scores of ads that have none, given as a JSON array of pairs of the ad's number and its score.
    SetScores { scores: String }
    sqlite "
        UPDATE ads SET quality_score = scored.value ->> 1 FROM json_each(:scores) AS scored
        WHERE ads.seq = scored.value ->> 0 AND quality_score IS NULL"
    postgres "
        UPDATE ads SET quality_score = CAST(scored.value ->> 1 AS SMALLINT)
        FROM json_array_elements(CAST(:scores AS JSON)) AS scored (value)
        WHERE ads.seq = CAST(scored.value ->> 0 AS BIGINT) AND quality_score IS NULL";

    /// What requests have changed about the content of an ad, as far as its latest log entries say so; 100 is
    /// `ad_core::model::LATEST_ENTRIES`.
    ChangesOfAd { id: Uuid }
    both "
        SELECT request_id, content_changes FROM log
        WHERE ad = (SELECT seq FROM ads WHERE id = :id) AND content_changes IS NOT NULL
            AND n > (SELECT max(latest.n) - 100 FROM log AS latest JOIN ads ON ads.seq = latest.ad WHERE ads.id = :id)";

    /// The changes of the content of an ad up to a revision, newest first: those that have at most so many bytes, and at least one.
    ChangesUpTo { id: Uuid, up_to: i64, most_bytes: u64 }
    both "
        SELECT revision, created, request_id, asked_by, label, via, plan_id, replaced, api_version, category_id, difference, checksum
        FROM (
            SELECT revisions.*, tokens.label, max(n) OVER () AS last,
                sum(coalesce(octet_length(difference), 0)) OVER (ORDER BY n DESC) AS bytes
            FROM revisions LEFT JOIN tokens ON tokens.jti = revisions.asked_by
            WHERE ad = (SELECT seq FROM ads WHERE id = :id) AND revision <= :up_to
        ) AS change
        WHERE n = last OR bytes <= :most_bytes
        ORDER BY n DESC";

    /// How an ad was created or imported. Its first revision is of the epoch of its first log entry, as is the transaction of that. The token of the request is in its progress and, once it is finished, in its last log entry.
    CreationOf { id: Uuid }
    sqlite "
        SELECT (first.transaction_id >> 40) << 40, first.created, first.request_id, coalesce(last.asked_by, progress -> 'origin' ->> 'asked_by'), tokens.label, progress -> 'origin' ->> 'via',
            first.plan_id, ads.first_checksum
        FROM ads JOIN log AS first ON first.ad = ads.seq AND first.n = 1
        LEFT JOIN log AS last ON last.request_id = first.request_id AND last.accepted IS NOT NULL
        LEFT JOIN requests ON requests.id = first.request_id
        LEFT JOIN tokens ON tokens.jti = coalesce(last.asked_by, progress -> 'origin' ->> 'asked_by')
        WHERE ads.id = :id"
    postgres "
        SELECT (first.transaction_id >> 40) << 40, first.created, first.request_id, coalesce(last.asked_by, CAST(progress AS JSON) -> 'origin' ->> 'asked_by'), tokens.label, CAST(progress AS JSON) -> 'origin' ->> 'via',
            first.plan_id, ads.first_checksum
        FROM ads JOIN log AS first ON first.ad = ads.seq AND first.n = 1
        LEFT JOIN log AS last ON last.request_id = first.request_id AND last.accepted IS NOT NULL
        LEFT JOIN requests ON requests.id = first.request_id
        LEFT JOIN tokens ON tokens.jti = coalesce(last.asked_by, CAST(progress AS JSON) -> 'origin' ->> 'asked_by')
        WHERE ads.id = :id";

    /// A page of the calls of marketplaces about an ad, newest first, each with the number of all and its place.
    CallsOfAd { id: Uuid, limit: u32, offset: u64 }
    both "
        SELECT (SELECT count(*) FROM calls WHERE ad = (SELECT seq FROM ads WHERE id = :id)), -seq,
            at, marketplace, action, request_id, status, code, latency, listing_id, content_sha256, revision
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT * FROM calls WHERE ad = (SELECT seq FROM ads WHERE id = :id) ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS call ON true";

    /// Whether an ad exists and is not deleted.
    IsLive { id: Uuid }
    both "SELECT EXISTS (SELECT 1 FROM ads WHERE id = :id AND state = 'created')";

    /// Whether an ad has unfinished requests.
    HasUnfinished { id: Uuid }
    both "SELECT EXISTS (SELECT 1 FROM requests WHERE ad = (SELECT seq FROM ads WHERE id = :id))";

    /// Ties a listing to an ad, unless it is tied to another ad or is that of one that is not deleted.
    TieListing<'a> { id: Uuid, market: &'a str, listing: &'a str }
    both "
        INSERT INTO ties (market, listing, ad)
        SELECT :market, :listing, seq FROM ads
        WHERE id = :id
            AND NOT EXISTS (SELECT 1 FROM ads AS other WHERE :market = 'primary'
                AND other.marketplace_ad_id = :listing AND other.state = 'created' AND other.id <> :id)
            AND NOT EXISTS (SELECT 1 FROM ads AS other WHERE :market = 'secondary'
                AND other.offer_id = :listing AND other.state = 'created' AND other.id <> :id)
        ON CONFLICT (market, listing) DO UPDATE SET ad = excluded.ad
            WHERE ties.ad = excluded.ad OR EXISTS (SELECT 1 FROM ads WHERE ads.seq = ties.ad AND ads.state = 'deleted')";

    /// A dealer's unfinished requests, counted up to a limit. The first request of each ad is claimable and leads to those behind
    /// it, so that no index of all requests by dealer has to be written.
    RequestsOfDealer<'a> { dealer_code: &'a str, at_most: u64 }
    both "
        SELECT count(*) FROM (
            SELECT 1 FROM requests AS first JOIN requests AS unfinished ON unfinished.ad = first.ad
            WHERE first.dealer_code = :dealer_code AND first.claimable IS NOT NULL LIMIT :at_most
        ) AS counted";

    /// A dealer's ads that are not deleted, counted up to a limit.
    AdsOfDealer<'a> { dealer_code: &'a str, at_most: u64 }
    both "
        SELECT count(*) FROM (
            SELECT 1 FROM ads WHERE dealer_code = :dealer_code AND state = 'created' LIMIT :at_most
        ) AS counted";

    /// Number of ads that are not deleted, of each dealer that has some.
    AdsByDealer { dealer_codes: Vec<String> }
    sqlite "
        SELECT dealer_code, count(*) FROM ads
        WHERE dealer_code IN (SELECT value FROM json_each(:dealer_codes)) AND state = 'created' GROUP BY dealer_code"
    postgres "
        SELECT dealer_code, count(*) FROM ads
        WHERE dealer_code = ANY (:dealer_codes) AND state = 'created' GROUP BY dealer_code";

    /// Number of ads of each dealer by status and category. It goes from one group of like ads to the next without reading those
    /// between, and then counts each group: grouping the ads themselves takes twice as long.
    CountByStatus { dealer_codes: Vec<String> }
    sqlite "
        WITH RECURSIVE first_of_group (seq) AS (
            SELECT (SELECT seq FROM ads INDEXED BY ads_status WHERE dealer_code = value
                ORDER BY status, channels, category_id LIMIT 1)
            FROM json_each(:dealer_codes)
            UNION ALL
            -- Not a comparison of rows, of which only the first column is found by the index.
            SELECT coalesce(
                (SELECT next.seq FROM ads AS next INDEXED BY ads_status
                 WHERE next.dealer_code = ads.dealer_code AND next.status = ads.status AND next.channels = ads.channels
                    AND next.category_id > ads.category_id
                 ORDER BY next.category_id LIMIT 1),
                (SELECT next.seq FROM ads AS next INDEXED BY ads_status
                 WHERE next.dealer_code = ads.dealer_code AND next.status = ads.status AND next.channels > ads.channels
                 ORDER BY next.channels, next.category_id LIMIT 1),
                (SELECT next.seq FROM ads AS next INDEXED BY ads_status
                 WHERE next.dealer_code = ads.dealer_code AND next.status > ads.status
                 ORDER BY next.status, next.channels, next.category_id LIMIT 1))
            FROM first_of_group CROSS JOIN ads ON ads.seq = first_of_group.seq
        )
        SELECT ads.status, ads.channels, ads.category_id,
            (SELECT count(*) FROM ads AS alike INDEXED BY ads_status
             WHERE alike.dealer_code = ads.dealer_code AND alike.status = ads.status AND alike.channels = ads.channels
                AND alike.category_id = ads.category_id)
        FROM first_of_group CROSS JOIN ads ON ads.seq = first_of_group.seq"
    postgres "
        WITH RECURSIVE groups (dealer_code, status, channels, category_id) AS (
            SELECT dealers.code, first.* FROM unnest(:dealer_codes) AS dealers (code) CROSS JOIN LATERAL (
                SELECT status, channels, category_id FROM ads WHERE dealer_code = dealers.code
                ORDER BY status, channels, category_id LIMIT 1
            ) AS first
            UNION ALL
            SELECT groups.dealer_code, next.* FROM groups CROSS JOIN LATERAL (
                SELECT ads.status, ads.channels, ads.category_id FROM ads
                WHERE ads.dealer_code = groups.dealer_code
                    AND (ads.status, ads.channels, ads.category_id) > (groups.status, groups.channels, groups.category_id)
                ORDER BY ads.status, ads.channels, ads.category_id LIMIT 1
            ) AS next
        )
        SELECT status, channels, category_id,
            (SELECT count(*) FROM ads
             WHERE ads.dealer_code = groups.dealer_code AND ads.status = groups.status AND ads.channels = groups.channels
                AND ads.category_id = groups.category_id)
        FROM groups";

    /// Ads of all dealers, or of one, with a status among these, and with a code of failure if one is given, by dealer; those behind
    /// an ad of a dealer. It goes from one dealer to the next in the index.
    AdsByStatus<'a> {
        statuses: Vec<String>, dealer_code: Option<&'a str>, code: Option<&'a str>, live: Option<String>, unused: Option<String>,
        since_before: Option<Timestamp>, behind_dealer: &'a str, behind_seq: i64, limit: u32,
    }
    sqlite "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM ads WHERE dealer_code >= coalesce(:dealer_code, :behind_dealer)
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM ads WHERE dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL AND :dealer_code IS NULL
        )
        SELECT seq, ads.dealer_code, source_id, status, status_since, channels
        FROM dealers CROSS JOIN ads INDEXED BY ads_status ON ads.dealer_code = dealers.code
        WHERE status IN (SELECT value FROM json_each(:statuses)) AND (:dealer_code IS NULL OR ads.dealer_code = :dealer_code)
            AND (:code IS NULL OR channels LIKE '% % ' || :code)
            AND (:live IS NULL OR channels NOT LIKE :live AND channels NOT LIKE :unused)
            AND (:since_before IS NULL OR status_since <= :since_before)
            AND (ads.dealer_code, seq) > (:behind_dealer, :behind_seq)
        ORDER BY ads.dealer_code, seq LIMIT :limit"
    postgres "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM ads WHERE dealer_code >= coalesce(:dealer_code, :behind_dealer)
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM ads WHERE dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL AND :dealer_code IS NULL
        )
        SELECT seq, ads.dealer_code, source_id, status, status_since, channels
        FROM dealers JOIN ads ON ads.dealer_code = dealers.code
        WHERE status = ANY (:statuses) AND (:dealer_code IS NULL OR ads.dealer_code = :dealer_code)
            AND (:code IS NULL OR channels LIKE '% % ' || :code)
            AND (:live IS NULL OR channels NOT LIKE :live AND channels NOT LIKE :unused)
            AND (:since_before IS NULL OR status_since <= :since_before)
            AND (ads.dealer_code, seq) > (:behind_dealer, :behind_seq)
        ORDER BY ads.dealer_code, seq LIMIT :limit";

    ImageBytesOfDealer<'a> { dealer_code: &'a str }
    both "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM dealer_images WHERE dealer_code = :dealer_code";

    /// Adds an image of a dealer, unless it is known.
    AddDealerImage<'a> { dealer_code: &'a str, checksum: &'a str, bytes: u64 }
    both "
        INSERT INTO dealer_images (dealer_code, checksum, bytes) VALUES (:dealer_code, :checksum, :bytes)
        ON CONFLICT (dealer_code, checksum) DO NOTHING";

    HasDealerImage<'a> { dealer_code: &'a str, checksum: &'a str }
    both "SELECT EXISTS (SELECT 1 FROM dealer_images WHERE dealer_code = :dealer_code AND checksum = :checksum)";

    /// Changes nothing, in a transaction that writes: whether the database can be written.
    WriteNothing {}
    both "UPDATE directory_version SET version = version WHERE false";
}
