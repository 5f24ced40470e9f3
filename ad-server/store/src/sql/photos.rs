//! What is known of images, and the ads whose images are to be examined.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Whether the images of an ad are due.
    ArePhotosDue { now: Timestamp }
    both "SELECT EXISTS (SELECT 1 FROM ads WHERE photos_due <= :now)";

    /// Claims an ad whose images are due: that of the first dealer behind one that has some. While requests wait to be claimed, only
    /// ads that have been due for long. PostgreSQL skips what another process is claiming.
    ClaimPhotos<'a> { now: Timestamp, overdue: Timestamp, until: Timestamp, behind: &'a str }
    sqlite "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM ads INDEXED BY ads_photos_due WHERE photos_due IS NOT NULL AND dealer_code > :behind
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM ads INDEXED BY ads_photos_due
                WHERE photos_due IS NOT NULL AND dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL
        )
        UPDATE ads SET photos_due = :until
        WHERE seq = (
            SELECT due.seq FROM dealers CROSS JOIN ads AS due INDEXED BY ads_photos_due ON due.dealer_code = dealers.code
            WHERE due.photos_due <= CASE
                WHEN EXISTS (SELECT 1 FROM requests WHERE claimable <= :now) THEN :overdue ELSE :now END
            LIMIT 1
        )
        RETURNING id, dealer_code, image_refs"
    postgres "
        WITH RECURSIVE dealers (code) AS (
            SELECT min(dealer_code) FROM ads WHERE photos_due IS NOT NULL AND dealer_code > :behind
            UNION ALL
            SELECT (SELECT min(dealer_code) FROM ads WHERE photos_due IS NOT NULL AND dealer_code > dealers.code)
            FROM dealers WHERE code IS NOT NULL
        )
        UPDATE ads SET photos_due = :until
        WHERE seq = (
            SELECT due.seq FROM dealers CROSS JOIN LATERAL (
                SELECT seq FROM ads
                WHERE dealer_code = dealers.code AND photos_due <= CASE
                    WHEN EXISTS (SELECT 1 FROM requests WHERE claimable <= :now) THEN :overdue ELSE :now END
                ORDER BY photos_due LIMIT 1 FOR UPDATE SKIP LOCKED
            ) AS due
            LIMIT 1
        )
        RETURNING id, dealer_code, image_refs";

    /// Claims these ads, unless another worker examines their images or a request that changed them is being executed.
    ClaimPhotosOf { ads: Vec<i64>, now: Timestamp, until: Timestamp }
    sqlite "
        UPDATE ads SET photos_due = :until
        WHERE seq IN (SELECT value FROM json_each(:ads)) AND (photos_due IS NULL OR photos_due <= :now) RETURNING id, dealer_code, image_refs"
    postgres "
        UPDATE ads SET photos_due = :until
        WHERE seq = ANY (:ads) AND (photos_due IS NULL OR photos_due <= :now) RETURNING id, dealer_code, image_refs";

    /// The next ads with images, by their numbers.
    AdsWithImages { behind: i64, limit: u32 }
    both "SELECT seq FROM ads WHERE seq > :behind AND image_refs <> '[]' ORDER BY seq LIMIT :limit";

    /// Makes a claim last until a later time.
    ExtendPhotos { id: Uuid, until: Timestamp, later: Timestamp }
    both "UPDATE ads SET photos_due = :later WHERE id = :id AND photos_due = :until";

    /// Stores what was found of images, given as a JSON object by checksum, and ends the claim of the ad. What is known of an image stays,
    /// unless it could not be decoded. Images that are null stay. `looks` are pairs of the hashes and colours of all images, by which
    /// photos are found that look the same.
    RecordPhotos { id: Uuid, until: Timestamp, found: String, image_refs: Option<String>, looks: String, now: Timestamp }
    sqlite "
        INSERT INTO photos (checksum, facts) SELECT key, value FROM json_each(:found) WHERE true
        ON CONFLICT (checksum) DO UPDATE SET facts = excluded.facts
            WHERE photos.facts ->> 'undecodable' IS NOT NULL AND photos.facts <> excluded.facts;

        DELETE FROM photo_looks
        WHERE ad = (SELECT seq FROM ads WHERE id = :id AND photos_due = :until)
            AND NOT EXISTS (SELECT 1 FROM json_each(:looks) AS look WHERE look.value ->> 0 = hash AND look.value ->> 1 = color);

        INSERT INTO photo_looks (ad, hash, color, dealer_code)
        SELECT ads.seq, look.value ->> 0, look.value ->> 1, ads.dealer_code FROM ads CROSS JOIN json_each(:looks) AS look
        WHERE ads.id = :id AND ads.photos_due = :until
        ON CONFLICT DO NOTHING;

        UPDATE ads SET photos_due = NULL, image_refs = coalesce(:image_refs, image_refs),
            updated = CASE WHEN :image_refs IS NULL THEN updated ELSE :now END,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + (:image_refs IS NOT NULL)
        WHERE id = :id AND photos_due = :until"
    postgres "
        WITH known AS (
            INSERT INTO photos (checksum, facts)
            SELECT found.key, CAST(found.value AS TEXT) FROM json_each(CAST(:found AS JSON)) AS found
            ON CONFLICT (checksum) DO UPDATE SET facts = excluded.facts
                WHERE CAST(photos.facts AS JSON) ->> 'undecodable' IS NOT NULL AND photos.facts <> excluded.facts
        ), shown AS (
            SELECT DISTINCT seq, dealer_code, CAST(look.value ->> 0 AS BIGINT) AS hash, CAST(look.value ->> 1 AS INTEGER) AS color
            FROM ads CROSS JOIN json_array_elements(CAST(:looks AS JSON)) AS look (value)
            WHERE id = :id AND photos_due = :until
        ), no_longer_shown AS (
            DELETE FROM photo_looks USING ads
            WHERE ads.id = :id AND ads.photos_due = :until AND photo_looks.ad = ads.seq AND NOT EXISTS (
                SELECT 1 FROM shown WHERE shown.hash = photo_looks.hash AND shown.color = photo_looks.color)
        ), newly_shown AS (
            INSERT INTO photo_looks (ad, hash, color, dealer_code) SELECT seq, hash, color, dealer_code FROM shown
            ON CONFLICT DO NOTHING
        )
        UPDATE ads SET photos_due = NULL, image_refs = coalesce(:image_refs, image_refs),
            updated = CASE WHEN :image_refs IS NULL THEN updated ELSE :now END,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + CASE WHEN :image_refs IS NULL THEN 0 ELSE 1 END
        WHERE id = :id AND photos_due = :until";

    /// What is known of the image of a checksum.
    FindPhoto<'a> { checksum: &'a str }
    both "SELECT facts FROM photos WHERE checksum = :checksum";
}
