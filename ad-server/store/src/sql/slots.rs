//! Slots: how many ads of a dealer are live at once, and which wait.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Makes others who take slots of a dealer wait until the end of the transaction. Returns how many were free at least when they were
    /// last counted or taken, and when they were counted.
    LockSlots<'a> { dealer_code: &'a str, most: u32 }
    both "
        INSERT INTO slot_counts (dealer_code, most, free, counted) VALUES (:dealer_code, :most, 0, 0)
        ON CONFLICT (dealer_code) DO UPDATE SET most = excluded.most,
            free = CASE WHEN slot_counts.most = excluded.most THEN slot_counts.free ELSE 0 END
        RETURNING free, counted";

    /// Notes how many slots of a dealer are free.
    SetFreeSlots<'a> { dealer_code: &'a str, free: i64, counted: Timestamp }
    both "UPDATE slot_counts SET free = :free, counted = :counted WHERE dealer_code = :dealer_code";

    /// The request that has taken a slot for an ad, which may be finished, or since when the ad waits.
    SlotOf { ad: Uuid }
    both "SELECT request, since FROM slots WHERE ad = (SELECT seq FROM ads WHERE id = :ad)";

    /// Slots of a dealer that are in use, counted up to a limit. Ads without an unfinished request are counted by their status alone, in
    /// its index; of those that are under way, the request may have a slot. In patterns, `_` stands for the colon, which would begin the
    /// name of a value.
    CountSlots<'a> { dealer_code: &'a str, at_most: u32 }
    both r#"
        SELECT count(*) FROM (
            SELECT 1 FROM ads WHERE dealer_code = :dealer_code AND status IN ('live', 'partly_live')
            UNION ALL
            SELECT 1 FROM ads
            WHERE dealer_code = :dealer_code AND status = 'hidden' AND (channels LIKE '%live %' OR channels LIKE '%outdated %')
            UNION ALL
            SELECT 1 FROM ads
            WHERE dealer_code = :dealer_code AND status IN ('processing', 'waiting') AND channels NOT LIKE '% slots_exceeded' AND (
                replace(publication, ' ', '') LIKE '%"listed"_true%'
                OR EXISTS (SELECT 1 FROM slots JOIN requests ON requests.id = slots.request WHERE slots.ad = ads.seq)
            )
            LIMIT :at_most
        ) AS used"#;

    /// Forgets requests of a dealer that have taken a slot and are finished. If their ads are live, they use their slots as such.
    ForgetFinished<'a> { dealer_code: &'a str }
    both "
        DELETE FROM slots
        WHERE dealer_code = :dealer_code AND request IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.id = slots.request)";

    /// Ads of a dealer that wait for a slot and come before one, counted up to a limit. An ad waits while it is to be live, is not
    /// listed, and has a request under way or none that failed otherwise.
    CountSlotsAhead<'a> { dealer_code: &'a str, ad: Uuid, since: Timestamp, at_most: i64 }
    both r#"
        SELECT count(*) FROM (
            SELECT 1 FROM slots JOIN ads ON ads.seq = slots.ad
            WHERE slots.dealer_code = :dealer_code AND slots.request IS NULL
                AND (slots.since < :since OR slots.since = :since AND slots.ad < (SELECT seq FROM ads AS own WHERE own.id = :ad))
                AND ads.state = 'created' AND ads.intent = 'created' AND ads.status IN ('processing', 'waiting')
                AND coalesce(replace(ads.publication, ' ', ''), '') NOT LIKE '%"listed"_true%'
            LIMIT :at_most
        ) AS ahead"#;

    /// Notes the request that has taken a slot for an ad.
    TakeSlot { ad: Uuid, request: Uuid, since: Timestamp }
    both "
        INSERT INTO slots (ad, dealer_code, request, since)
        SELECT seq, dealer_code, :request, :since FROM ads WHERE id = :ad
        ON CONFLICT (ad) DO UPDATE SET request = excluded.request, since = excluded.since";

    /// Notes that an ad waits for a slot.
    WaitForSlot { ad: Uuid, since: Timestamp }
    both "
        INSERT INTO slots (ad, dealer_code, since) SELECT seq, dealer_code, :since FROM ads WHERE id = :ad
        ON CONFLICT (ad) DO UPDATE SET request = NULL, since = excluded.since";

    /// Dealers with ads that wait for a slot, or have waited.
    DealersWaiting {}
    both "SELECT DISTINCT dealer_code FROM slots WHERE request IS NULL ORDER BY dealer_code";

    /// Ads of a dealer that wait for a slot or have waited, those that have waited longest first: whether they still wait, and whether no
    /// request of theirs is unfinished.
    WaitingForSlots<'a> { dealer_code: &'a str, limit: u32 }
    both r#"
        SELECT ads.seq, ads.source_id,
            ads.state = 'created' AND ads.intent = 'created' AND ads.status IN ('processing', 'waiting')
                AND coalesce(replace(ads.publication, ' ', ''), '') NOT LIKE '%"listed"_true%',
            ads.status = 'waiting' AND ads.channels LIKE '% slots_exceeded'
        FROM slots JOIN ads ON ads.seq = slots.ad
        WHERE slots.dealer_code = :dealer_code AND slots.request IS NULL ORDER BY slots.since, slots.ad LIMIT :limit"#;

    /// Forgets those of these ads that do not wait for a slot any more.
    ForgetWaiting { ads: Vec<i64> }
    sqlite r#"
        DELETE FROM slots
        WHERE ad IN (SELECT value FROM json_each(:ads)) AND request IS NULL AND NOT EXISTS (
            SELECT 1 FROM ads
            WHERE ads.seq = slots.ad AND state = 'created' AND intent = 'created' AND status IN ('processing', 'waiting')
                AND coalesce(replace(publication, ' ', ''), '') NOT LIKE '%"listed"_true%'
        )"#
    postgres r#"
        DELETE FROM slots
        WHERE ad = ANY (:ads) AND request IS NULL AND NOT EXISTS (
            SELECT 1 FROM ads
            WHERE ads.seq = slots.ad AND state = 'created' AND intent = 'created' AND status IN ('processing', 'waiting')
                AND coalesce(replace(publication, ' ', ''), '') NOT LIKE '%"listed"_true%'
        )"#;
}
