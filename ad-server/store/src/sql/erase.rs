//! Erasure of the data of deleted ads.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Deleted ads of a dealer, or one of them, that have data and no unfinished request.
    Erasable<'a> { dealer_code: &'a str, source_id: Option<&'a str>, limit: u32 }
    both "
        SELECT seq, image_refs FROM ads
        WHERE dealer_code = :dealer_code AND (:source_id IS NULL OR source_id = :source_id) AND state = 'deleted'
            AND (erased IS NULL OR content <> '{}') AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.ad = ads.seq)
        ORDER BY seq LIMIT :limit";

    /// Ads of a dealer, or one of them, that are to be deleted before they can be erased, behind one.
    ToBeDeleted<'a> { dealer_code: &'a str, source_id: Option<&'a str>, behind: i64, limit: u32 }
    both "
        SELECT seq, source_id FROM ads
        WHERE dealer_code = :dealer_code AND (:source_id IS NULL OR source_id = :source_id) AND intent <> 'deleted' AND seq > :behind
        ORDER BY seq LIMIT :limit";

    /// Ads of a dealer, or one of them, and those that are deleted without an unfinished request, those that are erased, and log entries.
    CountErasure<'a> { dealer_code: &'a str, source_id: Option<&'a str> }
    both "
        SELECT count(*),
            count(CASE WHEN state <> 'deleted' OR EXISTS (SELECT 1 FROM requests WHERE requests.ad = ads.seq) THEN 1 END),
            count(CASE WHEN erased IS NOT NULL AND content = '{}' THEN 1 END),
            CAST(coalesce(sum((SELECT count(*) FROM log WHERE log.ad = ads.seq)), 0) AS BIGINT),
            CAST(coalesce(sum((SELECT count(*) FROM listings WHERE listings.reference = ads.id)), 0) AS BIGINT)
        FROM ads WHERE dealer_code = :dealer_code AND (:source_id IS NULL OR source_id = :source_id)";

    /// Notes the stored images of ads that are erased.
    AddErasedImages { names: Vec<String> }
    sqlite "INSERT INTO erased_images (name) SELECT value FROM json_each(:names) WHERE true ON CONFLICT (name) DO NOTHING"
    postgres "INSERT INTO erased_images (name) SELECT unnest(CAST(:names AS TEXT[])) ON CONFLICT (name) DO NOTHING";

    /// Removes what clients wrote from ads. A search does not find their words any more.
    EraseAds { ads: Vec<i64>, now: Timestamp }
    sqlite "
        UPDATE ads SET erased = :now, content = '{}', image_refs = '[]', image_sources = NULL, registration_number = NULL, vin = NULL,
            first_checksum = NULL, publication = NULL, photos_due = NULL, visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
        WHERE seq IN (SELECT value FROM json_each(:ads));

        UPDATE texts SET search = ''
        WHERE place IN (
            SELECT (number << 40) + seq FROM ads JOIN dealer_numbers USING (dealer_code)
            WHERE seq IN (SELECT value FROM json_each(:ads))
        )"
    postgres "
        WITH erased AS (
            UPDATE ads SET erased = :now, content = '{}', image_refs = '[]', image_sources = NULL, registration_number = NULL,
                vin = NULL, first_checksum = NULL, publication = NULL, photos_due = NULL, visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
            WHERE seq = ANY (:ads) RETURNING seq, dealer_code
        )
        UPDATE texts SET search = '' FROM erased WHERE texts.dealer_code = erased.dealer_code AND texts.ad = erased.seq";

    /// Replaces the messages of log entries, and removes what requests have changed.
    EraseLog { ads: Vec<i64> }
    sqlite "UPDATE log SET message = '\"Erased\"', content_changes = NULL WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "UPDATE log SET message = '\"Erased\"', content_changes = NULL WHERE ad = ANY (:ads)";

    /// Deletes the earlier prices of these ads.
    ErasePrices { ads: Vec<i64> }
    sqlite "DELETE FROM prices WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "DELETE FROM prices WHERE ad = ANY (:ads)";

    /// Deletes the earlier contents of these ads.
    EraseRevisions { ads: Vec<i64> }
    sqlite "DELETE FROM revisions WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "DELETE FROM revisions WHERE ad = ANY (:ads)";

    /// Deletes the calls of marketplaces about these ads.
    EraseCalls { ads: Vec<i64> }
    sqlite "DELETE FROM calls WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "DELETE FROM calls WHERE ad = ANY (:ads)";

    /// Removes what says which ads these charges were for. The amounts stay, for invoices.
    EraseCharges { ads: Vec<i64> }
    sqlite "UPDATE charges SET source_id = NULL WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "UPDATE charges SET source_id = NULL WHERE ad = ANY (:ads)";

    /// Removes what stock plans say about these ads.
    ErasePlannedChanges { ads: Vec<i64> }
    sqlite "
        UPDATE stock_changes SET details = NULL, body = NULL
        WHERE (source_id, dealer_code) IN (
            SELECT source_id, dealer_code FROM ads WHERE seq IN (SELECT value FROM json_each(:ads)))"
    postgres "
        UPDATE stock_changes SET details = NULL, body = NULL FROM ads
        WHERE ads.seq = ANY (:ads) AND stock_changes.source_id = ads.source_id AND stock_changes.dealer_code = ads.dealer_code";

    /// Removes what photos look like.
    ErasePhotoLooks { ads: Vec<i64> }
    sqlite "DELETE FROM photo_looks WHERE ad IN (SELECT value FROM json_each(:ads))"
    postgres "DELETE FROM photo_looks WHERE ad = ANY (:ads)";

    /// Removes answers kept for idempotency keys, which show the ad.
    EraseAnswers { ads: Vec<i64> }
    sqlite "
        DELETE FROM kept_answers WHERE seq IN (
            SELECT answer FROM answers_of_ads WHERE ad IN (SELECT value FROM json_each(:ads))
        )"
    postgres "
        DELETE FROM kept_answers
        WHERE ad = ANY (:ads) OR request_id = ANY (ARRAY(SELECT request_id FROM log WHERE ad = ANY (:ads)))";

    /// Removes deliveries that have ended, with what receivers answered.
    EraseDeliveries { ads: Vec<i64> }
    sqlite "DELETE FROM deliveries WHERE ad IN (SELECT value FROM json_each(:ads)) AND state <> 'pending'"
    postgres "DELETE FROM deliveries WHERE ad = ANY (:ads) AND state <> 'pending'";

    /// Removes what the local marketplaces remember of calls.
    EraseListingCalls { ads: Vec<i64> }
    sqlite "
        DELETE FROM listing_calls WHERE (market, listing) IN (
            SELECT market, listings.seq FROM listings JOIN ads ON ads.id = reference
            WHERE ads.seq IN (SELECT value FROM json_each(:ads))
        )"
    postgres "
        DELETE FROM listing_calls WHERE (market, listing) IN (
            SELECT market, listings.seq FROM listings JOIN ads ON ads.id = reference WHERE ads.seq = ANY (:ads)
        )";

    /// Removes listings of the local marketplaces, also those that showed an ad before.
    EraseListings { ads: Vec<i64> }
    sqlite "
        DELETE FROM listings
        WHERE reference IN (SELECT id FROM ads WHERE seq IN (SELECT value FROM json_each(:ads)))
            OR (dealer_code, source_id) IN (
                SELECT dealer_code, source_id FROM ads WHERE seq IN (SELECT value FROM json_each(:ads)))"
    postgres "
        DELETE FROM listings
        WHERE reference IN (SELECT id FROM ads WHERE seq = ANY (:ads))
            OR (dealer_code, source_id) IN (SELECT dealer_code, source_id FROM ads WHERE seq = ANY (:ads))";

    /// Keeps an image from being removed, unless it is being removed.
    HoldImage<'a> { checksum: &'a str, request: Uuid, now: Timestamp, until: Timestamp }
    both "
        INSERT INTO image_holds (checksum, until, request, changes)
        VALUES (:checksum, :until, coalesce((SELECT seq FROM requests WHERE id = :request), 0), 1)
        ON CONFLICT (checksum) DO UPDATE SET until = excluded.until, changes = image_holds.changes + 1,
            request = CASE WHEN image_holds.request > excluded.request THEN image_holds.request ELSE excluded.request END
        WHERE image_holds.request IS NOT NULL OR image_holds.until <= :now";

    /// Images of erased ads that no unfinished request stores and nobody removes, each with the number of its changes.
    ErasedImages { now: Timestamp, limit: u32 }
    both "
        SELECT name, coalesce((SELECT changes FROM image_holds WHERE checksum = substr(name, 1, 64)), 0) FROM erased_images
        WHERE NOT EXISTS (
            SELECT 1 FROM image_holds
            WHERE checksum = substr(name, 1, 64) AND until > :now
                AND (request IS NULL OR EXISTS (SELECT 1 FROM requests WHERE seq <= image_holds.request))
        )
        ORDER BY name LIMIT :limit";

    /// Whether somebody removes images of erased ads, or was killed doing so.
    AreImagesRemoved { now: Timestamp }
    both "
        SELECT EXISTS (
            SELECT 1 FROM erased_images JOIN image_holds ON image_holds.checksum = substr(name, 1, 64)
            WHERE request IS NULL AND until > :now
        )";

    /// Keeps images from being stored, because they are about to be removed; but for those that have changed since. They are given as JSON,
    /// each with the number of its changes. Returns those that may be removed.
    BeginRemoval { images: String, until: Timestamp }
    sqlite "
        INSERT INTO image_holds (checksum, until, changes)
        SELECT value ->> 0, :until, (value ->> 1) + 1 FROM json_each(:images) WHERE TRUE
        ON CONFLICT (checksum) DO UPDATE SET until = excluded.until, request = NULL, changes = excluded.changes
        WHERE image_holds.changes = excluded.changes - 1
        RETURNING checksum"
    postgres "
        INSERT INTO image_holds (checksum, until, changes)
        SELECT value ->> 0, :until, CAST(value ->> 1 AS BIGINT) + 1 FROM json_array_elements(CAST(:images AS JSON)) AS image (value)
        ON CONFLICT (checksum) DO UPDATE SET until = excluded.until, request = NULL, changes = excluded.changes
        WHERE image_holds.changes = excluded.changes - 1
        RETURNING checksum";

    /// Lets images be stored that were to be removed.
    EndRemoval { checksums: Vec<String>, now: Timestamp }
    sqlite "
        UPDATE image_holds SET until = :now WHERE request IS NULL AND checksum IN (SELECT value FROM json_each(:checksums))"
    postgres "UPDATE image_holds SET until = :now WHERE request IS NULL AND checksum = ANY (:checksums)";

    /// Forgets images that were last stored or removed before a time.
    ForgetImageHolds { before: Timestamp, at_most: u32 }
    both "
        DELETE FROM image_holds
        WHERE checksum IN (SELECT checksum FROM image_holds WHERE until < :before ORDER BY checksum LIMIT :at_most)";

    /// What names the images that are in use: those of ads, those that requests have stored, and those that were sent to the console.
    ImagesInUse {}
    both "
        SELECT image_refs FROM ads WHERE image_refs <> '[]'
        UNION ALL
        SELECT progress FROM requests
        UNION ALL
        SELECT name FROM uploads";

    /// Forgets images of erased ads, which are removed or in use.
    ForgetErasedImages { names: Vec<String> }
    sqlite "DELETE FROM erased_images WHERE name IN (SELECT value FROM json_each(:names))"
    postgres "DELETE FROM erased_images WHERE name = ANY (CAST(:names AS TEXT[]))";

    /// Removes what is known of images.
    ErasePhotos { checksums: Vec<String> }
    sqlite "
        DELETE FROM photos WHERE checksum IN (SELECT value FROM json_each(:checksums));

        DELETE FROM dealer_images WHERE checksum IN (SELECT value FROM json_each(:checksums))"
    postgres "
        WITH removed AS (
            DELETE FROM photos WHERE checksum = ANY (:checksums)
        )
        DELETE FROM dealer_images WHERE checksum = ANY (:checksums)";
}
