-- The status of an ad, for lists and counts. `status` is the word for the ad, `channels` those for the primary and the secondary
-- marketplace and the code of a failure, each '-' if there is none: 'live failed marketplace_refused'. `publication` has what ended
-- requests left on the marketplaces (JSON); with the request under way, the words follow from it.
ALTER TABLE ads ADD COLUMN status TEXT NOT NULL DEFAULT 'processing';
ALTER TABLE ads ADD COLUMN channels TEXT NOT NULL DEFAULT '- - -';
ALTER TABLE ads ADD COLUMN status_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ads ADD COLUMN publication TEXT;

-- Ads of before the upgrade. A visible ad is listed where it has a listing, a hidden one where unpublishing it failed.
UPDATE ads SET status_since = updated, publication = (
    SELECT json_object(
        'channels', json_group_object(market, json(channel)),
        'failed_images', json(coalesce((
            SELECT CASE WHEN log.state = 'error' AND json_type(message) = 'object' THEN message -> '$.images' END
            FROM log WHERE log.ad = ads.seq AND action = 'handle_media' AND log.state <> 'processing' ORDER BY n DESC LIMIT 1
        ), '[]'))
    )
    FROM (
        SELECT market, json_patch(
            json_object(
                'listed', json(CASE WHEN listing IS NOT NULL AND ads.state = 'created' AND (is_visible OR failed IS NOT NULL) THEN 'true' ELSE 'false' END),
                'since', strftime('%Y-%m-%dT%H:%M:%fZ', ads.updated / 1000.0, 'unixepoch')
            ),
            coalesce(failed, '{}')
        ) AS channel
        FROM (
            SELECT market, listing, coalesce(ads.content ->> '$.visible', 1) AS is_visible, (
                SELECT json_object('failure', json_object(
                    'code', coalesce((
                        SELECT value ->> 'code' FROM json_each(CASE WHEN json_type(message) = 'object' THEN message -> '$.marketplaces' END)
                        WHERE value ->> 'marketplace' = market
                    ), code, 'given_up'),
                    'reason', coalesce((
                        SELECT value ->> 'error' FROM json_each(CASE WHEN json_type(message) = 'object' THEN message -> '$.marketplaces' END)
                        WHERE value ->> 'marketplace' = market
                    ), CASE WHEN json_type(message) = 'text' THEN message ->> '$' END, '')
                ))
                FROM log
                WHERE log.ad = ads.seq AND action IN ('publish', 'unpublish') AND log.state = 'error'
                    AND market IN (SELECT value FROM json_each(ads.leftover, '$.markets'))
                ORDER BY n DESC LIMIT 1
            ) AS failed
            FROM (
                SELECT 'primary' AS market, ads.marketplace_ad_id AS listing
                UNION ALL
                SELECT 'secondary', ads.offer_id WHERE ads.category_id IN (1020, 1021, 1045, 1101, 1102, 1121, 1140, 1143, 1180)
            )
        )
        WHERE listing IS NOT NULL OR failed IS NOT NULL
    )
);

UPDATE ads SET channels = (
    SELECT words.primary_word || ' ' || words.secondary_word || ' ' || CASE WHEN words.is_waiting = 0 THEN '-' ELSE coalesce(
        CASE WHEN words.is_waiting THEN words.code END,
        ads.publication ->> '$.channels.primary.failure.code', ads.publication ->> '$.channels.secondary.failure.code',
        (SELECT 'image_failed' FROM json_each(ads.publication, '$.failed_images') AS failed
         WHERE failed.value ->> 'url' IN (SELECT value FROM json_each(ads.content, '$.image_urls'))
            AND failed.value ->> 'url' NOT IN (SELECT value ->> 'url' FROM json_each(ads.image_refs)) LIMIT 1), '-') END
    FROM (
        SELECT is_waiting, code,
            max(CASE WHEN market = 'primary' THEN word END) AS primary_word,
            coalesce(max(CASE WHEN market = 'secondary' THEN word END), '-') AS secondary_word
        FROM (
            SELECT market, is_waiting, code, CASE
                WHEN is_waiting THEN 'waiting'
                WHEN is_waiting = 0 THEN 'processing'
                WHEN ads.publication ->> ('$.channels.' || market || '.listed') = 1
                THEN CASE WHEN ads.publication ->> ('$.channels.' || market || '.failure') IS NULL THEN 'live' ELSE 'outdated' END
                WHEN ads.publication ->> ('$.channels.' || market || '.failure') IS NOT NULL
                    AND ads.state = 'created' AND coalesce(ads.content ->> '$.visible', 1)
                THEN 'failed'
                ELSE 'not_listed'
            END AS word
            FROM (
                SELECT 'primary' AS market
                UNION ALL
                SELECT 'secondary' WHERE ads.category_id IN (1020, 1021, 1045, 1101, 1102, 1121, 1140, 1143, 1180)
            ) LEFT JOIN (
                SELECT progress ->> '$.reason' IS NOT NULL AS is_waiting, progress ->> '$.code' AS code
                FROM requests WHERE requests.ad = ads.seq ORDER BY seq LIMIT 1
            ) ON true
        )
    ) AS words
);

UPDATE ads SET status = CASE
    WHEN channels LIKE 'waiting %' THEN 'waiting'
    WHEN channels LIKE 'processing %' THEN 'processing'
    WHEN state = 'deleted' THEN 'deleted'
    WHEN coalesce(content ->> '$.visible', 1) = 0 THEN 'hidden'
    WHEN channels LIKE 'live live %' OR channels LIKE 'live - %' THEN 'live'
    WHEN channels LIKE '%live %' OR channels LIKE '%outdated %' THEN 'partly_live'
    ELSE 'failed'
END;

-- For counts: entries are short, so that there are few pages to read.
CREATE INDEX ads_status ON ads (dealer_code, status, channels, category_id);

-- Lists decide the condition on the status in the index that they walk, as every other.
DROP INDEX ads_created;
DROP INDEX ads_updated;
DROP INDEX ads_source_id;
CREATE INDEX ads_created ON ads (dealer_code, created, seq, state, category_id, status);
CREATE INDEX ads_updated ON ads (dealer_code, updated, seq, created, state, category_id, source_id, status);
CREATE INDEX ads_source_id ON ads (dealer_code, source_id, seq, created, state, category_id, status);
