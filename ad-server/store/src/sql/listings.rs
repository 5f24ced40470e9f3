//! The statements of the local marketplaces.
//!
//! A call is remembered by its key when it changed a listing. Made again, it changes nothing, and its answer is the listing that it
//! changed then: a call that was given up may arrive long after the one that replaced it, when the next is done already. Calls are
//! forgotten after a week.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Shows an ad, as a new listing or as the one that it has. An update does not make a listing appear as new: one that is shown
    /// keeps its place. In PostgreSQL places are counted for all marketplaces together, so that calls do not wait for each other.
    PublishListing<'a> {
        market: &'a str, key: String, now: Timestamp, reference: Uuid, source_id: &'a str, dealer_code: &'a str,
        registration_number: Option<&'a str>, title: Option<&'a str>, content: String,
    }
    sqlite "
        INSERT INTO listings (market, reference, source_id, dealer_code, registration_number, title, content, place, state,
            changed, changes)
        SELECT :market, :reference, :source_id, :dealer_code, :registration_number, :title, :content,
            (SELECT coalesce(max(place), 0) + 1 FROM listings AS other WHERE other.market = :market AND place IS NOT NULL),
            'active', :now, 1
        WHERE NOT EXISTS (SELECT 1 FROM listing_calls WHERE market = :market AND key = :key)
        ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET source_id = excluded.source_id,
            dealer_code = excluded.dealer_code, registration_number = excluded.registration_number, title = excluded.title,
            content = excluded.content, place = coalesce(listings.place, excluded.place), state = 'active',
            changed = excluded.changed, changes = listings.changes + 1;

        INSERT INTO listing_calls (market, key, listing)
        SELECT market, :key, seq FROM listings WHERE market = :market AND reference = :reference
        ON CONFLICT (market, key) DO UPDATE SET key = excluded.key
        RETURNING listing"
    postgres "
        WITH :input, new AS (
            INSERT INTO listings (market, reference, source_id, dealer_code, registration_number, title, content, place, state,
                changed, changes)
            SELECT market, reference, source_id, dealer_code, registration_number, title, content, nextval('listing_places'),
                'active', now, 1
            FROM input
            -- Not NOT EXISTS, which may be planned as one pass over all calls.
            WHERE (SELECT 1 FROM listing_calls AS call WHERE call.market = input.market AND call.key = input.key) IS NULL
            ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET source_id = excluded.source_id,
                dealer_code = excluded.dealer_code, registration_number = excluded.registration_number,
                title = excluded.title, content = excluded.content, place = coalesce(listings.place, excluded.place),
                state = 'active', changed = excluded.changed, changes = listings.changes + 1
            RETURNING seq, market, reference
        ), call AS (
            INSERT INTO listing_calls (market, key, listing)
            SELECT market, key, seq FROM input JOIN new USING (reference, market)
            ON CONFLICT DO NOTHING
        )
        SELECT seq, input_number FROM input JOIN new USING (reference, market)
        UNION ALL
        SELECT listing, input_number FROM input CROSS JOIN LATERAL (
            SELECT listing FROM listing_calls AS call WHERE call.market = input.market AND call.key = input.key LIMIT 1
        ) AS earlier";

    /// Shows an ad that has a plate: in the listing with this plate that shows no ad, which is linked to it, and else as
    /// [`PublishListing`] does. If a listing with the plate shows another ad, nothing is done, and the row names that ad. No row if another
    /// call of the same batch has linked the listing.
    PublishByPlate<'a> { plate: &'a str, ..shown: PublishListing<'a> }
    sqlite "
        -- An ad has at most one listing. The one that it had is removed if it gets another.
        UPDATE listings SET reference = NULL, place = NULL, state = 'removed', changed = :now, changes = changes + 1
        WHERE market = :market AND reference = :reference
            AND EXISTS (
                SELECT 1 FROM listings AS free
                WHERE free.market = :market AND free.dealer_code = :dealer_code AND free.registration_number = :plate
                    AND free.state = 'active' AND free.reference IS NULL)
            AND NOT EXISTS (SELECT 1 FROM listing_calls AS call WHERE call.market = :market AND call.key = :key);

        INSERT INTO listing_calls (market, key, listing, linked)
        SELECT market, :key, seq, TRUE FROM listings
        WHERE market = :market AND dealer_code = :dealer_code AND registration_number = :plate
            AND state = 'active' AND reference IS NULL
        ORDER BY seq LIMIT 1
        ON CONFLICT DO NOTHING;

        UPDATE listings SET reference = :reference, source_id = :source_id, title = :title, content = :content, changed = :now,
            changes = changes + 1
        WHERE seq = (SELECT listing FROM listing_calls AS call WHERE call.market = :market AND call.key = :key) AND changes() > 0;

        INSERT INTO listings (market, reference, source_id, dealer_code, registration_number, title, content, place, state,
            changed, changes)
        SELECT :market, :reference, :source_id, :dealer_code, :registration_number, :title, :content,
            (SELECT coalesce(max(place), 0) + 1 FROM listings AS other WHERE other.market = :market AND place IS NOT NULL),
            'active', :now, 1
        WHERE NOT EXISTS (SELECT 1 FROM listing_calls WHERE market = :market AND key = :key)
            AND coalesce((
                SELECT reference = :reference FROM listings AS shown
                WHERE shown.market = :market AND shown.dealer_code = :dealer_code
                    AND shown.registration_number = :plate AND shown.state = 'active'
                ORDER BY reference <> :reference LIMIT 1), TRUE)
        ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET source_id = excluded.source_id,
            dealer_code = excluded.dealer_code, registration_number = excluded.registration_number, title = excluded.title,
            content = excluded.content, place = coalesce(listings.place, excluded.place), state = 'active',
            changed = excluded.changed, changes = listings.changes + 1;

        INSERT INTO listing_calls (market, key, listing)
        SELECT market, :key, seq FROM listings WHERE market = :market AND reference = :reference AND changes() > 0
        ON CONFLICT DO NOTHING;

        SELECT listing, linked, NULL FROM listing_calls WHERE market = :market AND key = :key
        UNION ALL
        SELECT * FROM (
            SELECT seq, FALSE, reference FROM listings
            WHERE market = :market AND dealer_code = :dealer_code AND registration_number = :plate AND state = 'active'
            ORDER BY seq LIMIT 1
        )
        LIMIT 1"
    postgres "
        WITH :input, earlier AS (
            SELECT listing, linked, input_number FROM input CROSS JOIN LATERAL (
                SELECT listing, linked FROM listing_calls AS call
                WHERE call.market = input.market AND call.key = input.key LIMIT 1
            ) AS earlier
        ), found AS MATERIALIZED (
            SELECT input.*, of_plate.seq AS listing, of_plate.reference AS shows, own.seq AS own
            FROM input LEFT JOIN LATERAL (
                SELECT seq, reference FROM listings
                WHERE listings.market = input.market AND listings.dealer_code = input.dealer_code
                    AND listings.registration_number = input.plate AND state = 'active'
                ORDER BY listings.reference IS NOT NULL, listings.reference <> input.reference, seq LIMIT 1
            ) AS of_plate ON TRUE LEFT JOIN LATERAL (
                -- Looked up for each, because a join made while there are few listings would read all of them later.
                SELECT seq FROM listings
                WHERE listings.market = input.market AND listings.reference = input.reference
                    AND of_plate.seq IS NOT NULL AND of_plate.reference IS NULL LIMIT 1
            ) AS own ON TRUE
            WHERE input_number <> ALL (ARRAY(SELECT input_number FROM earlier))
        ), others AS (
            UPDATE listings SET reference = NULL, place = NULL, state = 'removed', changed = found.now, changes = changes + 1
            FROM found WHERE seq = ANY (ARRAY[own])
            RETURNING seq
        ), linked AS (
            UPDATE listings SET reference = found.reference, source_id = found.source_id, title = found.title,
                content = found.content, changed = found.now, changes = changes + 1
            -- The others are counted so that they are removed first; an ad is the reference of one listing at any moment.
            FROM found WHERE seq = ANY (ARRAY[listing]) AND shows IS NULL AND (SELECT count(*) FROM others) >= 0
            RETURNING seq, found.market, found.key, input_number
        ), new AS (
            INSERT INTO listings (market, reference, source_id, dealer_code, registration_number, title, content, place, state,
                changed, changes)
            SELECT market, reference, source_id, dealer_code, registration_number, title, content, nextval('listing_places'),
                'active', now, 1
            FROM found WHERE listing IS NULL OR shows = reference
            ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET source_id = excluded.source_id,
                dealer_code = excluded.dealer_code, registration_number = excluded.registration_number,
                title = excluded.title, content = excluded.content, place = coalesce(listings.place, excluded.place),
                state = 'active', changed = excluded.changed, changes = listings.changes + 1
            RETURNING seq, market, reference
        ), call AS (
            INSERT INTO listing_calls (market, key, listing, linked)
            SELECT market, key, seq, TRUE FROM linked
            UNION ALL
            SELECT market, key, seq, FALSE FROM found JOIN new USING (reference, market)
            ON CONFLICT DO NOTHING
        )
        SELECT seq, TRUE, CAST(NULL AS UUID), input_number FROM linked
        UNION ALL
        SELECT seq, FALSE, NULL, input_number FROM found JOIN new USING (reference, market)
        UNION ALL
        SELECT listing, linked, NULL, input_number FROM earlier
        UNION ALL
        SELECT listing, FALSE, shows, input_number FROM found WHERE shows <> reference";

    /// Shows an ad as this listing. An ad has at most one listing: another one is removed.
    UpdateListing<'a> { listing: i64, ..shown: PublishListing<'a> }
    sqlite "
        UPDATE listings SET reference = NULL, place = NULL, state = 'removed', changed = :now, changes = changes + 1
        WHERE market = :market AND reference = :reference AND seq <> :listing
            AND EXISTS (SELECT 1 FROM listings AS this WHERE this.seq = :listing AND this.market = :market)
            AND NOT EXISTS (SELECT 1 FROM listing_calls AS call WHERE call.market = :market AND call.key = :key);

        INSERT INTO listing_calls (market, key, listing)
        SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market
        ON CONFLICT DO NOTHING;

        UPDATE listings SET reference = :reference, source_id = :source_id, dealer_code = :dealer_code,
            registration_number = :registration_number, title = :title, content = :content,
            place = coalesce(place,
                (SELECT coalesce(max(place), 0) + 1 FROM listings AS other WHERE other.market = :market AND place IS NOT NULL)),
            state = 'active', changed = :now, changes = changes + 1
        WHERE seq = :listing AND changes() > 0;

        SELECT listing FROM listing_calls WHERE market = :market AND key = :key"
    postgres "
        WITH call AS (
            INSERT INTO listing_calls (market, key, listing)
            SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market
            ON CONFLICT DO NOTHING
            RETURNING listing
        ), others AS (
            UPDATE listings SET reference = NULL, place = NULL, state = 'removed', changed = :now, changes = changes + 1
            FROM call WHERE market = :market AND reference = :reference AND seq <> call.listing
            RETURNING seq
        ), change AS (
            UPDATE listings SET reference = :reference, source_id = :source_id, dealer_code = :dealer_code,
                registration_number = :registration_number, title = :title, content = :content,
                place = coalesce(place, nextval('listing_places')), state = 'active', changed = :now, changes = changes + 1
            -- The others are counted so that they are removed first; an ad is the reference of one listing at any moment.
            FROM call WHERE seq = call.listing AND (SELECT count(*) FROM others) >= 0
        )
        SELECT listing FROM call
        UNION ALL
        SELECT listing FROM listing_calls WHERE market = :market AND key = :key";

    /// Marks a listing as removed, and records the call.
    UnpublishListing<'a> { market: &'a str, key: String, now: Timestamp, listing: i64 }
    sqlite "
        INSERT INTO listing_calls (market, key, listing)
        SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market
        ON CONFLICT DO NOTHING;

        UPDATE listings SET place = NULL, pole_until = NULL, state = 'removed', changed = :now, changes = changes + 1
        WHERE seq = :listing AND changes() > 0"
    postgres "
        WITH call AS (
            INSERT INTO listing_calls (market, key, listing)
            SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market
            ON CONFLICT DO NOTHING
            RETURNING listing
        )
        UPDATE listings SET place = NULL, pole_until = NULL, state = 'removed', changed = :now, changes = changes + 1
        FROM call WHERE seq = call.listing";

    /// Promotes a listing that is shown: to pole position until a time, or else to the first place.
    PromoteListing<'a> {
        market: &'a str, key: String, now: Timestamp, listing: i64, pole_position_until: Option<Timestamp>,
    }
    sqlite "
        INSERT INTO listing_calls (market, key, listing)
        SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market AND state = 'active'
        ON CONFLICT DO NOTHING;

        UPDATE listings SET pole_until = coalesce(:pole_position_until, pole_until), changed = :now, changes = changes + 1,
            place = CASE WHEN :pole_position_until IS NOT NULL THEN place ELSE
                (SELECT max(place) + 1 FROM listings AS other WHERE other.market = :market AND place IS NOT NULL) END
        WHERE seq = :listing AND changes() > 0;

        SELECT listing FROM listing_calls WHERE market = :market AND key = :key"
    postgres "
        WITH call AS (
            INSERT INTO listing_calls (market, key, listing)
            SELECT market, :key, seq FROM listings WHERE seq = :listing AND market = :market AND state = 'active'
            ON CONFLICT DO NOTHING
            RETURNING listing
        ), change AS (
            UPDATE listings SET pole_until = coalesce(:pole_position_until, pole_until), changed = :now, changes = changes + 1,
                place = CASE WHEN :pole_position_until IS NOT NULL THEN place ELSE nextval('listing_places') END
            FROM call WHERE seq = call.listing
        )
        SELECT listing FROM call
        UNION ALL
        SELECT listing FROM listing_calls WHERE market = :market AND key = :key";

    /// Forgets calls whose keys come before one, some at a time. Keys begin with the id of a request, and ids are in the order of
    /// time. A request that is unfinished, and those after it, may repeat their calls however old they are. In PostgreSQL, `id` alone
    /// would be the text of the CAST, for which there is no index.
    ForgetCalls<'a> { market: &'a str, before: String, limit: u32 }
    both "
        DELETE FROM listing_calls WHERE market = :market AND key <= (
            SELECT max(key) FROM (
                SELECT key FROM listing_calls
                WHERE market = :market AND key < :before
                    AND key < coalesce((SELECT CAST(id AS TEXT) FROM requests ORDER BY requests.id LIMIT 1), :before)
                ORDER BY key LIMIT :limit
            ) AS oldest
        )";

    /// Dealer code, source id and plate of what a listing shows, or showed last.
    AboutListing<'a> { market: &'a str, listing: i64 }
    both "SELECT dealer_code, source_id, registration_number FROM listings WHERE market = :market AND seq = :listing";

    /// A listing of a plate that is shown. One that shows no ad comes before one that may be refused.
    FindListing<'a> { market: &'a str, dealer_code: &'a str, registration_number: &'a str }
    sqlite "
        SELECT seq, reference FROM listings
        WHERE market = :market AND dealer_code = :dealer_code AND registration_number = :registration_number
            AND state = 'active'
        ORDER BY reference IS NOT NULL, seq LIMIT 1"
    postgres "
        WITH :input
        SELECT found.seq, found.reference, input_number
        FROM input CROSS JOIN LATERAL (
            SELECT seq, reference FROM listings
            WHERE market = input.market AND dealer_code = input.dealer_code
                AND registration_number = input.registration_number AND state = 'active'
            ORDER BY reference IS NOT NULL, seq LIMIT 1
        ) AS found";

    /// Which of these lines, a JSON array, have a plate that is listed: number of the line, marketplace and listing.
    AlreadyListed<'a> { lines: &'a str }
    sqlite "
        SELECT line.value ->> 'number', market, seq
        FROM json_each(:lines) AS line JOIN listings ON market = line.value ->> 'marketplace'
            AND dealer_code = line.value ->> 'dealer_code' AND registration_number = line.value ->> 'registration_number'
            AND state = 'active'"
    postgres "
        SELECT line.number, market, seq
        FROM json_to_recordset(CAST(:lines AS JSON))
            AS line (number BIGINT, marketplace TEXT, dealer_code TEXT, registration_number TEXT)
            JOIN listings ON market = marketplace AND listings.dealer_code = line.dealer_code
            AND listings.registration_number = line.registration_number AND state = 'active'";

    /// Adds the listings of these lines, a JSON array. A later line comes before an earlier one.
    ImportListings<'a> { lines: &'a str, now: Timestamp }
    sqlite "
        INSERT INTO listings (market, dealer_code, registration_number, title, place, state, changed)
        SELECT value ->> 'marketplace', value ->> 'dealer_code', value ->> 'registration_number', value ->> 'title',
            (SELECT coalesce(max(place), 0) FROM listings AS other
                WHERE other.market = value ->> 'marketplace' AND place IS NOT NULL) + key + 1,
            'active', :now
        FROM json_each(:lines) ORDER BY key"
    postgres "
        INSERT INTO listings (market, dealer_code, registration_number, title, place, state, changed)
        SELECT marketplace, dealer_code, registration_number, title, nextval('listing_places'), 'active', :now
        FROM json_to_recordset(CAST(:lines AS JSON))
            AS line (number BIGINT, marketplace TEXT, dealer_code TEXT, registration_number TEXT, title TEXT)
        ORDER BY number";

    /// The listings of a marketplace, of a dealer, of a plate, each if it is given, in their order. A position counts all
    /// listings that are shown.
    ListListings<'a> { market: Option<&'a str>, dealer_code: Option<&'a str>, registration_number: Option<String> }
    both "
        SELECT market, seq, dealer_code, registration_number, title, source_id, position, pole_until, state, changed, changes
        FROM (
            SELECT market, seq, dealer_code, registration_number, title, source_id, pole_until, state, changed, changes, place,
                CASE WHEN place IS NOT NULL
                    THEN row_number() OVER (PARTITION BY market ORDER BY place DESC NULLS LAST) END AS position
            FROM listings
        ) AS placed
        WHERE (:market IS NULL OR market = :market) AND (:dealer_code IS NULL OR dealer_code = :dealer_code)
            AND (:registration_number IS NULL OR registration_number = :registration_number)
        ORDER BY market, place DESC NULLS LAST, seq DESC";
}
