//! The import of stored ads: their lines are collected in a temporary table, checked there, and copied.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// The temporary table; its columns are of the types that they have in the tables of ads and texts.
    CreateIncoming {}
    both "
        CREATE TEMP TABLE IF NOT EXISTS incoming AS
        SELECT seq AS line, id, source_id, source_id AS source_id_folded, dealer_code, category_id, state, api_version, created,
            updated, registration_number, vin, marketplace_ad_id, offer_id, leftover, status, channels, quality_score, publication,
            content, content AS search
        FROM ads WHERE false";

    IndexIncomingLine {}
    both "CREATE INDEX IF NOT EXISTS incoming_line ON incoming (line)";

    IndexIncomingSourceId {}
    both "CREATE INDEX IF NOT EXISTS incoming_source_id ON incoming (source_id, dealer_code)";

    IndexIncomingId {}
    both "CREATE INDEX IF NOT EXISTS incoming_id ON incoming (id)";

    IndexIncomingMarketplaceAdId {}
    both "CREATE INDEX IF NOT EXISTS incoming_marketplace_ad_id ON incoming (marketplace_ad_id)";

    IndexIncomingOfferId {}
    both "CREATE INDEX IF NOT EXISTS incoming_offer_id ON incoming (offer_id)";

    /// Removes what an import that was interrupted has left on the connection.
    EmptyIncoming {}
    both "DELETE FROM incoming";

    DropIncoming {}
    both "DROP TABLE incoming";

    /// Adds lines, given as a JSON array of objects.
    AddIncoming { lines: String }
    sqlite "
        INSERT INTO incoming (line, id, source_id, source_id_folded, dealer_code, category_id, state, api_version, created,
            updated, registration_number, vin, marketplace_ad_id, offer_id, leftover, status, channels, quality_score, publication,
            content, search)
        SELECT value ->> 'line', value ->> 'id', value ->> 'source_id', value ->> 'source_id_folded', value ->> 'dealer_code',
            value ->> 'category_id', value ->> 'state', value ->> 'api_version', value ->> 'created', value ->> 'updated',
            value ->> 'registration_number', value ->> 'vin', value ->> 'marketplace_ad_id', value ->> 'offer_id', value ->> 'leftover',
            value ->> 'status', value ->> 'channels', value ->> 'quality_score', value ->> 'publication', value ->> 'content',
            value ->> 'search'
        FROM json_each(:lines)"
    postgres "
        INSERT INTO incoming
        SELECT * FROM json_populate_recordset(CAST(NULL AS incoming), CAST(:lines AS JSON))";

    /// Lines in conflict with an ad in the database or with an earlier line: line, field, and the earlier line.
    IncomingConflicts {}
    both "
        SELECT incoming.line, 'source_id', CAST(NULL AS BIGINT) FROM incoming JOIN ads USING (source_id, dealer_code)
        UNION ALL
        SELECT incoming.line, 'id', NULL FROM incoming JOIN ads USING (id)
        UNION ALL
        SELECT incoming.line, 'marketplace_ad_id', NULL FROM incoming JOIN ads USING (marketplace_ad_id)
        WHERE ads.state = 'created' AND incoming.state = 'created'
        UNION ALL
        SELECT incoming.line, 'offer_id', NULL FROM incoming JOIN ads USING (offer_id)
        WHERE ads.state = 'created' AND incoming.state = 'created'
        UNION ALL
        SELECT incoming.line, 'source_id', min(earlier.line)
        FROM incoming JOIN incoming AS earlier USING (source_id, dealer_code)
        WHERE earlier.line < incoming.line GROUP BY incoming.line
        UNION ALL
        SELECT incoming.line, 'id', min(earlier.line) FROM incoming JOIN incoming AS earlier USING (id)
        WHERE earlier.line < incoming.line GROUP BY incoming.line
        UNION ALL
        SELECT incoming.line, 'marketplace_ad_id', min(earlier.line)
        FROM incoming JOIN incoming AS earlier USING (marketplace_ad_id)
        WHERE earlier.line < incoming.line AND earlier.state = 'created' AND incoming.state = 'created' GROUP BY incoming.line
        UNION ALL
        SELECT incoming.line, 'offer_id', min(earlier.line) FROM incoming JOIN incoming AS earlier USING (offer_id)
        WHERE earlier.line < incoming.line AND earlier.state = 'created' AND incoming.state = 'created' GROUP BY incoming.line
        ORDER BY 1";

    /// Copies the ads in the order of their lines.
    ImportAds {}
    both "
        INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated,
            registration_number, vin, marketplace_ad_id, offer_id, leftover, status, channels, status_since, quality_score, publication,
            image_refs, content, content_revision, visible_changes)
        SELECT id, source_id, dealer_code, category_id, state, api_version, 0, state, created, updated,
            registration_number, vin, marketplace_ad_id, offer_id, leftover, status, channels, updated, quality_score, publication, '[]',
            content, (SELECT number << 40 FROM epoch), (SELECT number << 40 FROM epoch)
        FROM incoming ORDER BY line";

    /// Adds the texts of the ads for searching.
    ImportTexts {}
    sqlite "
        INSERT INTO texts (place, search, source_id)
        SELECT (number << 40) + ads.seq, search, source_id_folded
        FROM incoming JOIN ads USING (id) JOIN dealer_numbers ON dealer_numbers.dealer_code = ads.dealer_code"
    postgres "
        INSERT INTO texts (ad, dealer_code, search, source_id)
        SELECT ads.seq, ads.dealer_code, search, source_id_folded FROM incoming JOIN ads USING (id)";

    /// Says of each ad that its prices before the import are not known.
    ImportPrices { now: Timestamp }
    both "
        INSERT INTO prices (ad, revision, until, price)
        SELECT ads.seq, -1, :now, NULL FROM incoming JOIN ads USING (id)";

    /// Adds the first log entry of each ad.
    ImportLog { import: Uuid, now: Timestamp }
    sqlite "
        INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code, transaction_id)
        SELECT ads.seq, 1, :import, :now, 'create', 'done', '\"Imported\"', ads.dealer_code,
            max(coalesce((SELECT max(transaction_id) FROM log), 0), (SELECT number << 40 FROM epoch)) + 1
        FROM incoming JOIN ads USING (id)"
    postgres "
        INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code)
        SELECT ads.seq, 1, :import, :now, 'create', 'done', '\"Imported\"', ads.dealer_code FROM incoming JOIN ads USING (id)";

    /// Ties the listings of the ads to them.
    ImportTies {}
    both "
        INSERT INTO ties (market, listing, ad)
        SELECT 'primary', ads.marketplace_ad_id, ads.seq FROM incoming JOIN ads USING (id)
        WHERE ads.marketplace_ad_id IS NOT NULL AND ads.state = 'created'
        UNION ALL
        SELECT 'secondary', ads.offer_id, ads.seq FROM incoming JOIN ads USING (id)
        WHERE ads.offer_id IS NOT NULL AND ads.state = 'created'
        ON CONFLICT (market, listing) DO UPDATE SET ad = excluded.ad";
}
