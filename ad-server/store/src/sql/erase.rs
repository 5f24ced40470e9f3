//! Erasure of the data of deleted ads.

use ad_core::model::Timestamp;

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
            publication = NULL, photos_due = NULL, visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
        WHERE seq IN (SELECT value FROM json_each(:ads));

        UPDATE texts SET search = ''
        WHERE place IN (
            SELECT (number << 40) + seq FROM ads JOIN dealer_numbers USING (dealer_code)
            WHERE seq IN (SELECT value FROM json_each(:ads))
        )"
    postgres "
        WITH erased AS (
            UPDATE ads SET erased = :now, content = '{}', image_refs = '[]', image_sources = NULL, registration_number = NULL,
                vin = NULL, publication = NULL, photos_due = NULL, visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
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

    ErasedImages { limit: u32 }
    both "SELECT name FROM erased_images ORDER BY name LIMIT :limit";

    /// What names the images that are in use: those of ads, and those that requests have stored.
    ImagesInUse {}
    both "
        SELECT image_refs FROM ads WHERE image_refs <> '[]'
        UNION ALL
        SELECT progress FROM requests";

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
