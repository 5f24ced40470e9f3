-- The status of an ad, for lists and counts. `status` is the word for the ad, `channels` those for the primary and the secondary
-- marketplace and the code of a failure, each '-' if there is none: 'live failed marketplace_refused'. `publication` has what ended
-- requests left on the marketplaces (JSON); with the request under way, the words follow from it.
ALTER TABLE ads
    ADD COLUMN status TEXT COLLATE "C" NOT NULL DEFAULT 'processing',
    ADD COLUMN channels TEXT COLLATE "C" NOT NULL DEFAULT '- - -',
    ADD COLUMN status_since BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN publication TEXT;

-- Ads of before the upgrade. A visible ad is listed where it has a listing, a hidden one where unpublishing it failed.
UPDATE ads SET status_since = updated, publication = (
    SELECT CAST(json_build_object(
        'channels', coalesce(json_object_agg(market, channel), '{}'),
        'failed_images', coalesce((
            SELECT CASE WHEN log.state = 'error' AND message LIKE '{%' THEN CAST(message AS JSON) -> 'images' END
            FROM log WHERE log.ad = ads.seq AND action = 'handle_media' AND log.state <> 'processing' ORDER BY n DESC LIMIT 1
        ), '[]')
    ) AS TEXT)
    FROM (
        SELECT market, json_build_object(
            'listed', listing IS NOT NULL AND ads.state = 'created' AND (is_visible OR failed IS NOT NULL),
            'since', to_char(to_timestamp(ads.updated / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'failure', failed
        ) AS channel
        FROM (
            SELECT market, listing, coalesce(CAST(ads.content AS JSON) ->> 'visible', 'true') = 'true' AS is_visible, (
                SELECT json_build_object(
                    'code', coalesce((
                        SELECT value ->> 'code'
                        FROM json_array_elements(CASE WHEN message LIKE '{%' THEN CAST(message AS JSON) -> 'marketplaces' END) AS told (value)
                        WHERE value ->> 'marketplace' = market
                    ), code, 'given_up'),
                    'reason', coalesce((
                        SELECT value -> 'error'
                        FROM json_array_elements(CASE WHEN message LIKE '{%' THEN CAST(message AS JSON) -> 'marketplaces' END) AS told (value)
                        WHERE value ->> 'marketplace' = market
                    ), CASE WHEN message LIKE '"%' THEN CAST(message AS JSON) END, '""')
                )
                FROM log
                WHERE log.ad = ads.seq AND action IN ('publish', 'unpublish') AND log.state = 'error'
                    AND market IN (SELECT json_array_elements_text(CAST(ads.leftover AS JSON) -> 'markets'))
                ORDER BY n DESC LIMIT 1
            ) AS failed
            FROM (
                SELECT 'primary' AS market, ads.marketplace_ad_id AS listing
                UNION ALL
                SELECT 'secondary', ads.offer_id WHERE ads.category_id IN (1020, 1021, 1045, 1101, 1102, 1121, 1140, 1143, 1180)
            ) AS market
        ) AS known
        WHERE listing IS NOT NULL OR failed IS NOT NULL
    ) AS channels
);

UPDATE ads SET channels = (
    SELECT words.primary_word || ' ' || words.secondary_word || ' ' || CASE WHEN words.is_waiting = false THEN '-' ELSE coalesce(
        CASE WHEN words.is_waiting THEN words.code END,
        CAST(ads.publication AS JSON) #>> '{channels,primary,failure,code}',
        CAST(ads.publication AS JSON) #>> '{channels,secondary,failure,code}',
        (SELECT 'image_failed' FROM json_array_elements(CAST(ads.publication AS JSON) -> 'failed_images') AS failed (value)
         WHERE CAST(failed.value -> 'url' AS TEXT) IN (
                SELECT CAST(url.value AS TEXT) FROM json_array_elements(CAST(ads.content AS JSON) -> 'image_urls') AS url (value))
            AND CAST(failed.value -> 'url' AS TEXT) NOT IN (
                SELECT CAST(image.value -> 'url' AS TEXT) FROM json_array_elements(CAST(ads.image_refs AS JSON)) AS image (value))
         LIMIT 1), '-') END
    FROM (
        SELECT is_waiting, code,
            max(CASE WHEN market = 'primary' THEN word END) AS primary_word,
            coalesce(max(CASE WHEN market = 'secondary' THEN word END), '-') AS secondary_word
        FROM (
            SELECT market, is_waiting, code, CASE
                WHEN is_waiting THEN 'waiting'
                WHEN NOT is_waiting THEN 'processing'
                WHEN CAST(ads.publication AS JSON) #>> ARRAY['channels', market, 'listed'] = 'true'
                THEN CASE WHEN CAST(ads.publication AS JSON) #>> ARRAY['channels', market, 'failure'] IS NULL THEN 'live' ELSE 'outdated' END
                WHEN CAST(ads.publication AS JSON) #>> ARRAY['channels', market, 'failure'] IS NOT NULL
                    AND ads.state = 'created' AND coalesce(CAST(ads.content AS JSON) ->> 'visible', 'true') = 'true'
                THEN 'failed'
                ELSE 'not_listed'
            END AS word
            FROM (
                SELECT 'primary' AS market
                UNION ALL
                SELECT 'secondary' WHERE ads.category_id IN (1020, 1021, 1045, 1101, 1102, 1121, 1140, 1143, 1180)
            ) AS market LEFT JOIN (
                SELECT CAST(progress AS JSON) -> 'reason' IS NOT NULL AS is_waiting, CAST(progress AS JSON) ->> 'code' AS code
                FROM requests WHERE requests.ad = ads.seq ORDER BY seq LIMIT 1
            ) AS oldest ON true
        ) AS channel
        GROUP BY is_waiting, code
    ) AS words
);

UPDATE ads SET status = CASE
    WHEN channels LIKE 'waiting %' THEN 'waiting'
    WHEN channels LIKE 'processing %' THEN 'processing'
    WHEN state = 'deleted' THEN 'deleted'
    WHEN CAST(content AS JSON) ->> 'visible' = 'false' THEN 'hidden'
    WHEN channels LIKE 'live live %' OR channels LIKE 'live - %' THEN 'live'
    WHEN channels LIKE '%live %' OR channels LIKE '%outdated %' THEN 'partly_live'
    ELSE 'failed'
END;

-- For counts: entries are short and mostly alike, so that there are few pages to read.
CREATE INDEX ads_status ON ads (dealer_code, status, channels, category_id);

-- Lists decide the condition on the status in the index that they walk, as every other.
DROP INDEX ads_created;
DROP INDEX ads_updated;
DROP INDEX ads_source_id;
CREATE INDEX ads_created ON ads (dealer_code, created, seq, updated, state, category_id, status);
CREATE INDEX ads_updated ON ads (dealer_code, updated, seq, created, state, category_id, source_id, status);
CREATE UNIQUE INDEX ads_source_id ON ads (dealer_code, source_id) INCLUDE (seq, created, updated, state, category_id, status);
