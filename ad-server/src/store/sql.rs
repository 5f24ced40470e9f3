//! Every statement of the store but the lists, whose conditions vary ([`lists`](super::lists)).
//!
//! Those that write are made so that they write nothing when there is nothing to do: each statement after the first
//! asks by `changes()` whether the one before it changed a row. The texts are constant, so that each is compiled once.
//! What is particular to SQLite is `changes()` and `last_insert_rowid()`, the reading of JSON, and the index of texts; the
//! rest is what PostgreSQL understands too.

/// The columns of an ad, in the order in which [`rows`](super::rows) reads them.
macro_rules! ad_columns {
    () => {
        "ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.state, ads.api_version, ads.content, \
         ads.image_refs, ads.marketplace_ad_id, ads.offer_id, ads.created, ads.updated"
    };
}

/// What the service keeps about an ad and never shows, likewise.
macro_rules! kept_columns {
    () => {
        "ads.revision, ads.intent, ads.pole_position_until, ads.leftover"
    };
}

/// The latest log entries of an ad, oldest first, as one JSON text. 100 is `ad_core::log::LATEST`.
macro_rules! latest_log {
    () => {
        "(SELECT json_group_array(json_array(request_id, created, action, state, json(message)) ORDER BY n) \
          FROM (SELECT * FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100))"
    };
}
pub(super) use {ad_columns, latest_log};

/// Adds log entries, given as a JSON array in value 1, to the ad whose id is value 2.
macro_rules! insert_log {
    ($condition:literal) => {
        concat!(
            "INSERT INTO log (ad, n, request_id, created, action, state, message) \
             SELECT ads.seq, coalesce((SELECT max(n) FROM log WHERE log.ad = ads.seq), 0) + entry.key + 1, \
                 entry.value ->> 0, entry.value ->> 1, entry.value ->> 2, entry.value ->> 3, entry.value -> 4 \
             FROM ads, json_each($1) AS entry WHERE ads.id = $2",
            $condition,
            ";"
        )
    };
}

/// Three characters of a private-use plane, before every text of a dealer: what numbers them is in `dealer`.
macro_rules! mark {
    () => {
        "char(1048576 + (dealer.number >> 20), 1048576 + (dealer.number >> 10 & 1023), 1048576 + (dealer.number & 1023))"
    };
}
pub(super) use mark;

/// 1 ad id, 2 source id, 3 the same folded, 4 dealer code, 5 category, 6 state, 7 API version, 8 created, 9 updated,
/// 10 plate, 11 primary listing, 12 secondary listing, 13 images, 14 content, 15 search text; of the log entry 16 request
/// id, 17 created, 18 action, 19 state, 20 message; of the request 21 id, 22 plan, 23 progress, 24 accepted.
/// Every other statement finds the ad by its id; here it is the row that was inserted last, until its text is.
pub(super) const CREATE: &str = "\
INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, \
    registration_number, marketplace_ad_id, offer_id, image_refs, content) \
VALUES ($1, $2, $4, $5, $6, $7, 0, $6, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (source_id, dealer_code) DO NOTHING; \
INSERT INTO log (ad, n, request_id, created, action, state, message) \
SELECT last_insert_rowid(), 1, $16, $17, $18, $19, $20 WHERE changes() > 0; \
INSERT INTO texts (place, search, source_id) \
SELECT (number << 40) + last_insert_rowid(), $15, $3 FROM dealer_numbers WHERE dealer_code = $4 AND changes() > 0; \
INSERT INTO requests (id, ad, plan, progress, accepted, claimable) \
SELECT $21, last_insert_rowid() & (1 << 40) - 1, $22, $23, $24, $24 WHERE changes() > 0";

/// 1 ad id, 2 revision, 3 content, 4 search text, 5 plate, 6 API version, 7 category, 8 intent, 9 pole position,
/// 10 updated, 11 request id, 12 plan, 13 progress, 14 accepted.
pub(super) const REVISE: &str = "\
UPDATE ads SET content = $3, registration_number = $5, \
    api_version = coalesce($6, api_version), category_id = coalesce($7, category_id), intent = coalesce($8, intent), \
    pole_position_until = coalesce($9, pole_position_until), updated = $10, revision = revision + 1 \
WHERE id = $1 AND revision = $2; \
INSERT INTO requests (id, ad, plan, progress, accepted, claimable) \
SELECT $11, ads.seq, $12, $13, $14, \
    CASE WHEN EXISTS (SELECT 1 FROM requests AS earlier WHERE earlier.ad = ads.seq) THEN NULL ELSE $14 END \
FROM ads WHERE id = $1 AND changes() > 0; \
UPDATE texts SET search = $4 WHERE changes() > 0 AND search <> $4 AND place = (SELECT (number << 40) + seq \
    FROM ads JOIN dealer_numbers USING (dealer_code) WHERE id = $1)";

/// The same without content, which then need not be written again.
pub(super) const REVISE_KEEPING_CONTENT: &str = "\
UPDATE ads SET api_version = coalesce($6, api_version), category_id = coalesce($7, category_id), \
    intent = coalesce($8, intent), pole_position_until = coalesce($9, pole_position_until), updated = $10, \
    revision = revision + 1 \
WHERE id = $1 AND revision = $2; \
INSERT INTO requests (id, ad, plan, progress, accepted, claimable) \
SELECT $11, ads.seq, $12, $13, $14, \
    CASE WHEN EXISTS (SELECT 1 FROM requests AS earlier WHERE earlier.ad = ads.seq) THEN NULL ELSE $14 END \
FROM ads WHERE id = $1 AND changes() > 0";

macro_rules! find {
    ($dealers:literal) => {
        concat!(
            "SELECT ",
            ad_columns!(),
            ", ",
            kept_columns!(),
            ", CASE WHEN $3 THEN ",
            latest_log!(),
            " END FROM ads WHERE source_id = $1 AND dealer_code ",
            $dealers,
            " ORDER BY ads.seq"
        )
    };
}

/// 1 source id, 2 dealer code, 3 whether with the log.
pub(super) const FIND: &str = find!("= $2");
/// 1 source id, 2 dealer codes as a JSON array, 3 whether with the log.
pub(super) const FIND_IN_GROUP: &str = find!("IN (SELECT value FROM json_each($2))");

/// 1 dealer code, 2 source id.
pub(super) const IS_USED: &str = "SELECT EXISTS (SELECT 1 FROM ads WHERE dealer_code = $1 AND source_id = $2)";

/// 1 ad id.
pub(super) const IS_LIVE: &str = "SELECT EXISTS (SELECT 1 FROM ads WHERE id = $1 AND state = 'created')";

/// Accepted requests that are not finished.
pub(super) const QUEUE_DEPTH: &str = "SELECT count(*) FROM requests";

/// 1 how many. Brings texts into the index, those of a dealer together.
pub(super) const INDEX_TEXTS: &str = concat!(
    "INSERT OR REPLACE INTO trigrams (rowid, text) \
     SELECT place, ",
    mark!(),
    " || search || char(10) || texts.source_id \
     FROM (SELECT place FROM unindexed ORDER BY place LIMIT $1) JOIN texts USING (place) \
         JOIN dealer_numbers AS dealer ON dealer.number = place >> 40 ORDER BY place; \
     DELETE FROM unindexed WHERE place IN (SELECT place FROM unindexed ORDER BY place LIMIT $1)"
);

/// Texts that the index does not know as they are.
pub(super) const UNINDEXED: &str = "SELECT count(*) FROM unindexed";

/// What a check of the writer writes.
pub(super) const NOTHING: &str = "UPDATE directory_version SET version = version WHERE false";

/// 1 now. Whether there is anything to claim, and when there will be next.
pub(super) const LOOK: &str = "\
SELECT EXISTS (SELECT 1 FROM requests WHERE claimable <= $1), (SELECT min(claimable) FROM requests WHERE claimable > $1)";

/// 1 now, 2 end of the lease, 3 how many.
pub(super) const CLAIM: &str = "\
UPDATE requests SET claimable = $2, lease = lease + 1 \
WHERE seq IN (SELECT seq FROM requests WHERE claimable <= $1 ORDER BY claimable, seq LIMIT $3) RETURNING seq";

/// 1 numbers of requests as a JSON array.
pub(super) const CLAIMED: &str = concat!(
    "SELECT requests.id, requests.plan, requests.progress, requests.accepted, requests.lease, ",
    ad_columns!(),
    ", ",
    kept_columns!(),
    " FROM requests JOIN ads ON ads.seq = requests.ad \
      WHERE requests.seq IN (SELECT value FROM json_each($1)) ORDER BY requests.seq"
);

/// 1 request id, 2 lease, 3 end of the lease.
pub(super) const EXTEND: &str = "UPDATE requests SET claimable = $3 WHERE id = $1 AND lease = $2";

/// What becomes of a request under its lease. 3 request id, 4 lease, 5 progress, 6 when it is due if it waits: then it
/// changes hands, for nobody has it.
macro_rules! go_on {
    () => {
        "UPDATE requests SET progress = $5, claimable = coalesce($6, claimable), \
             lease = CASE WHEN $6 IS NULL THEN lease ELSE lease + 1 END WHERE id = $3 AND lease = $4;"
    };
}

/// The next request of the ad steps forward, if there is one; returned for whoever wakes the workers.
macro_rules! finish {
    () => {
        "DELETE FROM requests WHERE id = $3 AND lease = $4;"
    };
    (next) => {
        "UPDATE requests SET claimable = accepted \
         WHERE seq = (SELECT min(seq) FROM requests WHERE ad = (SELECT seq FROM ads WHERE id = $2)) \
             AND claimable IS NULL RETURNING seq"
    };
}

/// 7 state, 8 intent, 9 images, 10 primary listing, 11 secondary listing, 12 whether 13 is the new end of pole position,
/// 14 whether 15 is the new leftover, 16 when.
macro_rules! change_ad {
    () => {
        "UPDATE ads SET state = coalesce($7, state), intent = coalesce($8, intent), \
             image_refs = coalesce($9, image_refs), marketplace_ad_id = coalesce($10, marketplace_ad_id), \
             offer_id = coalesce($11, offer_id), \
             pole_position_until = CASE WHEN $12 THEN $13 ELSE pole_position_until END, \
             leftover = CASE WHEN $14 THEN $15 ELSE leftover END, updated = $16 \
         WHERE id = $2 AND changes() > 0;"
    };
}

/// 1 log entries, 2 ad id, 3 to 6 as above.
pub(super) const RECORD_PROGRESS: &str = concat!(go_on!(), insert_log!(" AND changes() > 0"));
/// The same, and what changes about the ad.
pub(super) const RECORD_PROGRESS_AND_CHANGE: &str = concat!(go_on!(), change_ad!(), insert_log!(" AND changes() > 0"));
/// 1 log entries, 2 ad id, 3 request id, 4 lease.
pub(super) const RECORD_END: &str = concat!(finish!(), insert_log!(" AND changes() > 0"), finish!(next));
/// The same, and what changes about the ad.
pub(super) const RECORD_END_AND_CHANGE: &str =
    concat!(finish!(), change_ad!(), insert_log!(" AND changes() > 0"), finish!(next));

macro_rules! tie {
    ($id:literal) => {
        concat!(
            "INSERT INTO ties (market, listing, ad) SELECT $2, $3, ads.seq FROM ads WHERE ads.id = $1 AND NOT EXISTS \
                 (SELECT 1 FROM ads AS other WHERE other.",
            $id,
            " = $3 AND other.state = 'created' AND other.id <> $1) \
             ON CONFLICT (market, listing) DO UPDATE SET ad = excluded.ad WHERE ties.ad = excluded.ad \
                 OR EXISTS (SELECT 1 FROM ads WHERE ads.seq = ties.ad AND ads.state = 'deleted')"
        )
    };
}

/// 1 ad id, 2 marketplace, 3 listing id.
pub(super) const TIE_PRIMARY: &str = tie!("marketplace_ad_id");
/// 1 ad id, 2 marketplace, 3 listing id.
pub(super) const TIE_SECONDARY: &str = tie!("offer_id");

/// Follows every change of dealers and tokens.
macro_rules! directory_changed {
    () => {
        "UPDATE directory_version SET version = version + 1 WHERE changes() > 0"
    };
}

/// 1 dealers as a JSON array.
pub(super) const IMPORT_DEALERS: &str = concat!(
    "INSERT INTO dealers (code, dealer) SELECT value ->> 'code', value FROM json_each($1) WHERE true \
     ON CONFLICT (code) DO UPDATE SET dealer = excluded.dealer;",
    directory_changed!()
);
pub(super) const DEALERS: &str = "SELECT dealer FROM dealers ORDER BY code";

/// 1 id, 2 scope type, 3 scope, 4 permissions, 5 issued, 6 expires, 7 revoked.
pub(super) const RECORD_TOKEN: &str = concat!(
    "INSERT INTO tokens (jti, scope_type, scope, permissions, issued, expires, revoked) \
     VALUES ($1, $2, $3, $4, $5, $6, $7);",
    directory_changed!()
);
pub(super) const TOKENS: &str = "SELECT jti, scope_type, scope, permissions, issued, expires, revoked FROM tokens \
     ORDER BY coalesce(issued, revoked), jti";
/// 1 id, 2 when. One that is revoked already stays revoked since then. Returns when it was issued.
pub(super) const REVOKE_TOKEN: &str = concat!(
    "INSERT INTO tokens (jti, revoked) VALUES ($1, $2) \
     ON CONFLICT (jti) DO UPDATE SET revoked = coalesce(revoked, excluded.revoked) RETURNING issued;",
    directory_changed!()
);
pub(super) const REVOKED_TOKENS: &str = "SELECT jti FROM tokens WHERE revoked IS NOT NULL";
pub(super) const DIRECTORY_VERSION: &str = "SELECT version FROM directory_version";
