//! Every statement of the store but the lists, whose conditions vary ([`lists`](super::lists)).
//!
//! A statement is written once, by a macro that takes the dialect where the two differ. They differ in how the steps of
//! a write hang together: each step after the first is done only if the first changed a row. SQLite is given them one
//! after the other, each asking `changes()` about the one before; PostgreSQL is given one statement whose steps read
//! from the first one's result. The other differences are how JSON is taken apart, and the names of types. The texts are
//! constant, so that each is compiled once.

use super::statement::Sql;

/// A statement in both dialects, by a macro that takes the dialect before its own arguments.
macro_rules! both {
    ($statement:ident $(, $argument:tt)*) => {
        $crate::store::Sql {
            sqlite: $statement!(sqlite $(, $argument)*),
            postgres: $statement!(postgres $(, $argument)*),
            is_for_many: false,
        }
    };
}

/// The same where PostgreSQL is given many inputs at once.
macro_rules! both_for_many {
    ($statement:ident $(, $argument:tt)*) => {
        $crate::store::Sql { is_for_many: true, ..$crate::store::sql::both!($statement $(, $argument)*) }
    };
}

/// Where many inputs are given to PostgreSQL: begins a statement with all of them, by these numbers of values. Their
/// columns are `v1`, `v2` and so on, and `input`, the number of the input.
macro_rules! inputs {
    ($first:literal $(, $value:literal)*) => {
        concat!(
            "WITH inputs AS MATERIALIZED (SELECT * FROM unnest($", $first $(, ", $", $value)*,
            ") WITH ORDINALITY AS given (v", $first $(, ", v", $value)*, ", input))"
        )
    };
}

/// A value by its number, where PostgreSQL is given many inputs at once.
macro_rules! value {
    (sqlite, $number:literal) => {
        concat!("$", $number)
    };
    (postgres, $number:literal) => {
        concat!("v", $number)
    };
}

/// The elements of a JSON array as rows of `key`, from 0, and `value`.
macro_rules! each {
    (sqlite, $json:expr, $name:literal) => {
        concat!("json_each(", $json, ") AS ", $name)
    };
    (postgres, $json:expr, $name:literal) => {
        concat!(
            "(SELECT value, place - 1 AS key FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) WITH ORDINALITY AS element (value, place)) AS ",
            $name
        )
    };
}

/// That a column has one of the values of a list.
macro_rules! one_of {
    (sqlite, $values:literal) => {
        concat!("IN (SELECT value FROM json_each(", $values, "))")
    };
    (postgres, $values:literal) => {
        concat!("= ANY (", $values, ")")
    };
}

/// That it has none of them.
macro_rules! none_of {
    (sqlite, $values:literal) => {
        concat!("NOT IN (SELECT value FROM json_each(", $values, "))")
    };
    (postgres, $values:literal) => {
        concat!("<> ALL (", $values, ")")
    };
}

/// A text as an id.
macro_rules! as_id {
    (sqlite, $text:literal) => {
        $text
    };
    (postgres, $text:literal) => {
        concat!("CAST(", $text, " AS UUID)")
    };
}
pub(crate) use {as_id, both, both_for_many, each, inputs, value};

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

/// The latest log entries of an ad, oldest first, as one JSON text. 100 is `ad_core::model::LATEST_ENTRIES`.
macro_rules! latest_log {
    (sqlite) => {
        "(SELECT json_group_array(json_array(request_id, created, action, state, json(message), code) ORDER BY n) \
          FROM (SELECT * FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest)"
    };
    (postgres) => {
        "(SELECT CAST(json_agg(json_build_array(request_id, created, action, state, CAST(message AS JSON), code) ORDER BY n) \
          AS TEXT) FROM (SELECT * FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest)"
    };
}
pub(super) use {ad_columns, latest_log};

/// Begins the row of an accepted request.
macro_rules! insert_request {
    () => {
        "INSERT INTO requests (id, ad, dealer_code, plan, progress, accepted, claimable) SELECT "
    };
}

macro_rules! insert_ad {
    ($dialect:ident, $from:literal) => {
        concat!(
            "INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, \
                 updated, registration_number, marketplace_ad_id, offer_id, image_refs, content) SELECT ",
            value!($dialect, 1),
            ", ",
            value!($dialect, 2),
            ", ",
            value!($dialect, 4),
            ", ",
            value!($dialect, 5),
            ", ",
            value!($dialect, 6),
            ", ",
            value!($dialect, 7),
            ", 0, ",
            value!($dialect, 6),
            ", ",
            value!($dialect, 8),
            ", ",
            value!($dialect, 9),
            ", ",
            value!($dialect, 10),
            ", ",
            value!($dialect, 11),
            ", ",
            value!($dialect, 12),
            ", ",
            value!($dialect, 13),
            ", ",
            value!($dialect, 14),
            $from,
            " ON CONFLICT (source_id, dealer_code) DO NOTHING"
        )
    };
}

macro_rules! insert_first_entry {
    ($dialect:ident, $ad:literal, $from:literal) => {
        concat!(
            "INSERT INTO log (ad, n, request_id, created, action, state, message) SELECT ",
            $ad,
            ", 1, ",
            value!($dialect, 16),
            ", ",
            value!($dialect, 17),
            ", ",
            value!($dialect, 18),
            ", ",
            value!($dialect, 19),
            ", ",
            value!($dialect, 20),
            $from
        )
    };
}

/// In SQLite the ad is the row that was inserted last, until its text is.
macro_rules! create {
    (sqlite) => {
        concat!(
            insert_ad!(sqlite, " WHERE true"),
            "; ",
            insert_first_entry!(sqlite, "last_insert_rowid()", " WHERE changes() > 0"),
            "; INSERT INTO texts (place, search, source_id) SELECT (number << 40) + last_insert_rowid(), $15, $3 \
               FROM dealer_numbers WHERE dealer_code = $4 AND changes() > 0; ",
            insert_request!(),
            "$21, last_insert_rowid() & (1 << 40) - 1, $4, $22, $23, $24, $24 WHERE changes() > 0"
        )
    };
    (postgres) => {
        concat!(
            inputs!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24),
            ", inserted AS (",
            insert_ad!(postgres, " FROM inputs"),
            " RETURNING seq, id), new AS (SELECT seq, inputs.* FROM inserted JOIN inputs ON v1 = id), entry AS (",
            insert_first_entry!(postgres, "seq", " FROM new"),
            "), text AS (INSERT INTO texts (ad, dealer_code, search, source_id) SELECT seq, v4, v15, v3 FROM new), \
             request AS (",
            insert_request!(),
            "v21, seq, v4, v22, v23, v24, v24 FROM new) SELECT input FROM new"
        )
    };
}

/// 1 ad id, 2 source id, 3 the same folded, 4 dealer code, 5 category, 6 state, 7 API version, 8 created, 9 updated,
/// 10 plate, 11 primary listing, 12 secondary listing, 13 images, 14 content, 15 search text; of the log entry 16 request
/// id, 17 created, 18 action, 19 state, 20 message; of the request 21 id, 22 plan, 23 progress, 24 accepted.
pub(super) const CREATE: Sql = both_for_many!(create);

/// Changes an ad whose revision is still the one that the change builds on, and whose queue has room. What other processes
/// accept for the same ad at the same moment changes its revision, so that the number of requests is exact.
macro_rules! revise_ad {
    ($content:literal) => {
        concat!(
            "UPDATE ads SET ",
            $content,
            "api_version = coalesce($6, api_version), category_id = coalesce($7, category_id), \
             intent = coalesce($8, intent), pole_position_until = coalesce($9, pole_position_until), updated = $10, \
             revision = revision + 1 WHERE id = $1 AND revision = $2 \
             AND (SELECT count(*) FROM requests WHERE requests.ad = ads.seq) < $15"
        )
    };
}

/// The request of a change, which waits for those before it.
macro_rules! insert_next_request {
    ($ad:literal, $from:literal) => {
        concat!(
            insert_request!(),
            "$11, ",
            $ad,
            ".seq, ",
            $ad,
            ".dealer_code, $12, $13, $14, \
             CASE WHEN EXISTS (SELECT 1 FROM requests AS earlier WHERE earlier.ad = ",
            $ad,
            ".seq) THEN NULL ELSE $14 END FROM ",
            $from
        )
    };
}

macro_rules! revise {
    (sqlite, content) => {
        concat!(
            revise!(sqlite, "content = $3, registration_number = $5, "),
            "; UPDATE texts SET search = $4 WHERE changes() > 0 AND search <> $4 AND place = \
               (SELECT (number << 40) + seq FROM ads JOIN dealer_numbers USING (dealer_code) WHERE id = $1)"
        )
    };
    (sqlite, $content:literal) => {
        concat!(revise_ad!($content), "; ", insert_next_request!("ads", "ads WHERE id = $1 AND changes() > 0"))
    };
    (postgres, content) => {
        concat!(
            "WITH revised AS (",
            revise_ad!("content = $3, registration_number = $5, "),
            " RETURNING seq, dealer_code), text AS (UPDATE texts SET search = $4 FROM revised \
               WHERE texts.dealer_code = revised.dealer_code AND texts.ad = revised.seq AND search <> $4) ",
            insert_next_request!("revised", "revised")
        )
    };
    (postgres, $content:literal) => {
        concat!(
            "WITH revised AS (",
            revise_ad!($content),
            " RETURNING seq, dealer_code) ",
            insert_next_request!("revised", "revised")
        )
    };
}

/// 1 ad id, 2 revision, 3 content, 4 search text, 5 plate, 6 API version, 7 category, 8 intent, 9 pole position,
/// 10 updated, 11 request id, 12 plan, 13 progress, 14 accepted, 15 most unfinished requests.
pub(super) const REVISE: Sql = both!(revise, content);
/// The same without content, which then need not be written again.
pub(super) const REVISE_KEEPING_CONTENT: Sql = both!(revise, "");

/// 1 ad id, 2 revision. Of an ad that was not revised: its unfinished requests, if its revision is still this one.
pub(super) const UNFINISHED_OF_AD: Sql = Sql::plain(
    "SELECT (SELECT count(*) FROM requests WHERE requests.ad = ads.seq) FROM ads WHERE id = $1 AND revision = $2",
);

/// 1 dealer code, 2 where counting ends. The first request of each ad is claimable, and leads to those behind it: so they are
/// found without an index that every request would have to be written to.
pub(super) const DEALER_REQUESTS: Sql = Sql::plain(
    "SELECT count(*) FROM (SELECT 1 FROM requests AS first JOIN requests AS unfinished ON unfinished.ad = first.ad \
         WHERE first.dealer_code = $1 AND first.claimable IS NOT NULL LIMIT $2) AS counted",
);

/// 1 dealer code, 2 where counting ends.
pub(super) const DEALER_ADS: Sql = Sql::plain(
    "SELECT count(*) FROM (SELECT 1 FROM ads WHERE dealer_code = $1 AND state = 'created' LIMIT $2) AS counted",
);

/// 1 dealer code.
pub(super) const DEALER_IMAGE_BYTES: Sql =
    Sql::plain("SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM dealer_images WHERE dealer_code = $1");

/// 1 dealer code, 2 checksum, 3 bytes.
pub(super) const ADD_DEALER_IMAGE: Sql = Sql::plain(
    "INSERT INTO dealer_images (dealer_code, checksum, bytes) VALUES ($1, $2, $3) \
     ON CONFLICT (dealer_code, checksum) DO NOTHING",
);

/// 1 dealer code, 2 checksum.
pub(super) const HAS_DEALER_IMAGE: Sql =
    Sql::plain("SELECT EXISTS (SELECT 1 FROM dealer_images WHERE dealer_code = $1 AND checksum = $2)");

macro_rules! find {
    ($dialect:ident, $dealers:tt) => {
        concat!(
            "SELECT ",
            ad_columns!(),
            ", ",
            kept_columns!(),
            ", CASE WHEN $3 THEN ",
            latest_log!($dialect),
            " END FROM ads WHERE source_id = $1 AND dealer_code ",
            find!($dialect of $dealers),
            " ORDER BY ads.seq"
        )
    };
    ($dialect:ident of dealer) => {
        "= $2"
    };
    ($dialect:ident of group) => {
        one_of!($dialect, "$2")
    };
}

/// 1 source id, 2 dealer code, 3 whether with the log.
pub(super) const FIND: Sql = both!(find, dealer);
/// 1 source id, 2 dealer codes, 3 whether with the log.
pub(super) const FIND_IN_GROUP: Sql = both!(find, group);

/// 1 dealer code, 2 source id.
pub(super) const IS_USED: Sql =
    Sql::plain("SELECT EXISTS (SELECT 1 FROM ads WHERE dealer_code = $1 AND source_id = $2)");

/// 1 ad id.
pub(super) const IS_LIVE: Sql = Sql::plain("SELECT EXISTS (SELECT 1 FROM ads WHERE id = $1 AND state = 'created')");

/// 1 ad id.
pub(super) const HAS_UNFINISHED: Sql =
    Sql::plain("SELECT EXISTS (SELECT 1 FROM requests JOIN ads ON ads.seq = requests.ad WHERE ads.id = $1)");

/// Accepted requests that are not finished.
pub(super) const QUEUE_DEPTH: Sql = Sql::plain("SELECT count(*) FROM requests");

/// The text of why a request failed last.
macro_rules! reason {
    (sqlite) => {
        "requests.progress ->> 'reason'"
    };
    (postgres) => {
        "CAST(requests.progress AS JSON) ->> 'reason'"
    };
}

/// 1 now. All, those that could be worked on now, those behind another of their ad, and when the oldest was accepted.
pub(super) const QUEUE_STATE: Sql = Sql::plain(
    "SELECT count(*), count(CASE WHEN claimable <= $1 THEN 1 END), count(CASE WHEN claimable IS NULL THEN 1 END), \
         min(accepted), (SELECT min(accepted) FROM requests WHERE claimable <= $1) FROM requests",
);

macro_rules! failing {
    ($dialect:ident) => {
        concat!(
            "SELECT reason, count(*), min(accepted), min(claimable) FROM (SELECT ",
            reason!($dialect),
            " AS reason, accepted, claimable FROM requests WHERE claimable IS NOT NULL) AS failing \
              WHERE reason IS NOT NULL GROUP BY reason ORDER BY count(*) DESC, reason"
        )
    };
}

/// Requests that failed and are to be tried again, by reason.
pub(super) const FAILING: Sql = both!(failing);

macro_rules! unfinished {
    ($dialect:ident) => {
        concat!(
            "SELECT requests.id, ads.dealer_code, ads.source_id, requests.accepted, requests.claimable, requests.progress, ",
            reason!($dialect),
            " FROM requests JOIN ads ON ads.seq = requests.ad \
              WHERE ($1 IS NULL OR ads.dealer_code = $1) AND ($2 IS NULL OR ",
            reason!($dialect),
            " = $2) ORDER BY requests.seq LIMIT $3"
        )
    };
}

/// 1 dealer code, 2 reason, each may be null, 3 how many. The oldest first.
pub(super) const UNFINISHED: Sql = both!(unfinished);

macro_rules! try_now {
    ($dialect:ident) => {
        concat!(
            "UPDATE requests SET claimable = $1, lease = lease + 1 WHERE claimable > $1 AND ",
            reason!($dialect),
            " IS NOT NULL AND ($2 IS NULL OR dealer_code = $2) AND ($3 IS NULL OR ",
            reason!($dialect),
            " = $3)"
        )
    };
}

/// 1 now, 2 dealer code, 3 reason, each of both may be null. Has what failed tried again now.
pub(super) const TRY_NOW: Sql = both!(try_now);

/// 1 request id, 2 end of the lease. Whoever has it loses it; one behind another of its ad is not taken.
pub(super) const TAKE: Sql = Sql::plain(
    "UPDATE requests SET claimable = $2, lease = lease + 1 WHERE id = $1 AND claimable IS NOT NULL RETURNING seq",
);

/// 1 request id.
pub(super) const IS_UNFINISHED: Sql = Sql::plain("SELECT EXISTS (SELECT 1 FROM requests WHERE id = $1)");

/// What a check of the writer writes.
pub(super) const NOTHING: Sql = Sql::plain("UPDATE directory_version SET version = version WHERE false");

/// 1 now. When the first request can be claimed, which may be long ago, and when the next one after now.
pub(super) const LOOK: Sql = Sql::plain(
    "SELECT (SELECT claimable FROM requests WHERE claimable IS NOT NULL ORDER BY claimable LIMIT 1), \
         (SELECT claimable FROM requests WHERE claimable > $1 ORDER BY claimable LIMIT 1)",
);

/// The numbers of requests that are due of every dealer behind one, some of each. What another process is just claiming is
/// left to it.
macro_rules! due {
    (sqlite) => {
        "SELECT due.seq FROM dealers CROSS JOIN requests AS due WHERE due.seq IN (SELECT seq FROM requests \
             WHERE dealer_code = dealers.code AND claimable <= $1 ORDER BY claimable, seq LIMIT $5)"
    };
    (postgres) => {
        "SELECT due.seq FROM dealers CROSS JOIN LATERAL (SELECT seq FROM requests \
             WHERE dealer_code = dealers.code AND claimable <= $1 ORDER BY claimable, seq LIMIT $5 \
             FOR UPDATE SKIP LOCKED) AS due WHERE true"
    };
}

/// From one dealer who has requests to the next, without reading the requests of any.
macro_rules! claim {
    ($dialect:ident) => {
        concat!(
            "WITH RECURSIVE dealers (code) AS (\
                 SELECT min(dealer_code) FROM requests WHERE claimable IS NOT NULL AND dealer_code > $4 \
                 UNION ALL SELECT (SELECT min(dealer_code) FROM requests \
                     WHERE claimable IS NOT NULL AND dealer_code > dealers.code) FROM dealers WHERE code IS NOT NULL) \
             UPDATE requests SET claimable = $2, lease = lease + 1 WHERE seq IN (",
            due!($dialect),
            " AND dealers.code ",
            none_of!($dialect, "$6"),
            " LIMIT $3) RETURNING seq, dealer_code"
        )
    };
}

/// 1 now, 2 end of the lease, 3 how many, 4 the dealer behind whom to begin, 5 how many of one dealer, 6 dealers who have
/// enough.
pub(super) const CLAIM: Sql = both!(claim);

macro_rules! claimed {
    ($dialect:ident) => {
        concat!(
            "SELECT requests.id, requests.plan, requests.progress, requests.accepted, requests.lease, ",
            ad_columns!(),
            ", ",
            kept_columns!(),
            ", ads.image_sources FROM requests JOIN ads ON ads.seq = requests.ad WHERE requests.seq ",
            one_of!($dialect, "$1"),
            " ORDER BY requests.seq"
        )
    };
}

/// 1 numbers of requests.
pub(super) const CLAIMED: Sql = both!(claimed);

/// 1 request id, 2 lease, 3 end of the lease.
pub(super) const EXTEND: Sql = Sql::plain("UPDATE requests SET claimable = $3 WHERE id = $1 AND lease = $2");

/// 1 now, 2 the time after which nothing is to be due.
pub(super) const RELEASE: Sql =
    Sql::plain("UPDATE requests SET claimable = $1, lease = lease + 1 WHERE claimable > $2");

/// What becomes of a request under its lease. 3 request id, 4 lease, 5 progress, 6 when it is due if it waits: then it
/// changes hands, for nobody has it.
macro_rules! go_on {
    ($dialect:ident) => {
        concat!(
            "UPDATE requests SET progress = ", value!($dialect, 5), ", claimable = coalesce(", value!($dialect, 6),
            ", claimable), lease = CASE WHEN ", value!($dialect, 6), " IS NULL THEN lease ELSE lease + 1 END",
            go_on!($dialect from), " WHERE id = ", value!($dialect, 3), " AND lease = ", value!($dialect, 4)
        )
    };
    (sqlite from) => {
        ""
    };
    (postgres from) => {
        " FROM inputs"
    };
}

macro_rules! finish {
    (sqlite) => {
        "DELETE FROM requests WHERE id = $3 AND lease = $4"
    };
    (postgres) => {
        "DELETE FROM requests USING inputs WHERE id = v3 AND lease = v4"
    };
}

/// 7 when, 8 state, 9 intent, 10 images, 11 primary listing, 12 secondary listing, 13 whether 14 is the new end of pole
/// position, 15 whether 16 is the new leftover, 17 where the images came from.
macro_rules! change_ad {
    ($dialect:ident) => {
        concat!(
            "UPDATE ads SET state = coalesce(",
            value!($dialect, 8),
            ", state), intent = coalesce(",
            value!($dialect, 9),
            ", intent), image_refs = coalesce(",
            value!($dialect, 10),
            ", image_refs), marketplace_ad_id = coalesce(",
            value!($dialect, 11),
            ", marketplace_ad_id), offer_id = coalesce(",
            value!($dialect, 12),
            ", offer_id), pole_position_until = CASE WHEN ",
            value!($dialect, 13),
            " THEN ",
            value!($dialect, 14),
            " ELSE pole_position_until END, leftover = CASE WHEN ",
            value!($dialect, 15),
            " THEN ",
            value!($dialect, 16),
            " ELSE leftover END, image_sources = coalesce(",
            value!($dialect, 17),
            ", image_sources), updated = ",
            value!($dialect, 7),
            " "
        )
    };
}

/// Adds log entries, given as a JSON array in value 1.
macro_rules! insert_log {
    ($dialect:ident, $ad:literal, $from:literal, $condition:literal) => {
        concat!(
            "INSERT INTO log (ad, n, request_id, created, action, state, message, code) SELECT ",
            $ad,
            ", coalesce((SELECT max(n) FROM log WHERE log.ad = ",
            $ad,
            "), 0) + entry.key + 1, ",
            as_id!($dialect, "entry.value ->> 0"),
            ", CAST(entry.value ->> 1 AS BIGINT), entry.value ->> 2, entry.value ->> 3, CAST(entry.value -> 4 AS TEXT), entry.value ->> 5 FROM ",
            $from,
            each!($dialect, value!($dialect, 1), "entry"),
            $condition
        )
    };
}

/// The next request of the ad steps forward to value 7, now, if there is one; returned for whoever wakes the workers.
///
/// PostgreSQL still sees the request that ends. There the end of a request changes the row of its ad in any case: a
/// request that comes in at the same moment changes it as well, and whichever of the two is later is run again, and sees
/// the other.
macro_rules! record {
    (sqlite, $outcome:ident, $change:ident) => {
        concat!(
            $outcome!(sqlite),
            "; ",
            record!(sqlite change $change),
            insert_log!(sqlite, "ads.seq", "ads, ", " WHERE ads.id = $2 AND changes() > 0"),
            record!(sqlite next $outcome)
        )
    };
    (sqlite change change_ad) => {
        concat!(change_ad!(sqlite), "WHERE id = $2 AND changes() > 0; ")
    };
    (sqlite change nothing) => {
        ""
    };
    (sqlite next go_on) => {
        ""
    };
    (sqlite next finish) => {
        "; UPDATE requests SET claimable = $7 WHERE seq = (SELECT min(seq) FROM requests \
             WHERE ad = (SELECT seq FROM ads WHERE id = $2)) AND claimable IS NULL RETURNING seq"
    };
    (postgres, $outcome:ident, $change:ident) => {
        concat!(
            record!(postgres inputs $change),
            ", held AS (",
            $outcome!(postgres),
            " RETURNING ad, inputs.*), ",
            record!(postgres change $outcome $change),
            "logged AS (",
            insert_log!(postgres, "held.ad", "held, LATERAL ", ""),
            ")",
            record!(postgres next $outcome)
        )
    };
    (postgres inputs nothing) => {
        inputs!(1, 2, 3, 4, 5, 6, 7)
    };
    (postgres inputs change_ad) => {
        inputs!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
    };
    (postgres change $outcome:ident change_ad) => {
        concat!("changed AS (", change_ad!(postgres), "FROM held WHERE ads.seq = held.ad), ")
    };
    (postgres change finish nothing) => {
        "touched AS (UPDATE ads SET revision = revision FROM held WHERE ads.seq = held.ad), "
    };
    (postgres change go_on nothing) => {
        ""
    };
    (postgres next go_on) => {
        " SELECT CAST(NULL AS BIGINT), input FROM held"
    };
    (postgres next finish) => {
        ", behind AS MATERIALIZED (SELECT v7, input, (SELECT min(seq) FROM requests WHERE requests.ad = held.ad AND requests.id <> v3) AS next \
             FROM held), \
         forward AS (UPDATE requests SET claimable = v7 FROM behind \
             WHERE seq = behind.next AND seq = ANY (ARRAY(SELECT next FROM behind)) AND claimable IS NULL RETURNING seq, input) \
         SELECT forward.seq, held.input FROM held LEFT JOIN forward ON forward.input = held.input"
    };
}

/// 1 log entries, 2 ad id, 3 to 7 as above. These change nothing if the lease was lost.
pub(super) const RECORD_PROGRESS: Sql = both_for_many!(record, go_on, nothing);
/// The same, and what changes about the ad.
pub(super) const RECORD_PROGRESS_AND_CHANGE: Sql = both_for_many!(record, go_on, change_ad);
/// The same, at its end. Returns the number of the ad's next request, if there is one.
pub(super) const RECORD_END: Sql = both_for_many!(record, finish, nothing);
/// The same, and what changes about the ad.
pub(super) const RECORD_END_AND_CHANGE: Sql = both_for_many!(record, finish, change_ad);

macro_rules! tie {
    ($id:literal) => {
        Sql::plain(concat!(
            "INSERT INTO ties (market, listing, ad) SELECT $2, $3, ads.seq FROM ads WHERE ads.id = $1 AND NOT EXISTS \
                 (SELECT 1 FROM ads AS other WHERE other.",
            $id,
            " = $3 AND other.state = 'created' AND other.id <> $1) \
             ON CONFLICT (market, listing) DO UPDATE SET ad = excluded.ad WHERE ties.ad = excluded.ad \
                 OR EXISTS (SELECT 1 FROM ads WHERE ads.seq = ties.ad AND ads.state = 'deleted')"
        ))
    };
}

/// 1 ad id, 2 marketplace, 3 listing id.
pub(super) const TIE_PRIMARY: Sql = tie!("marketplace_ad_id");
/// 1 ad id, 2 marketplace, 3 listing id.
pub(super) const TIE_SECONDARY: Sql = tie!("offer_id");

/// Something that changes dealers or tokens, and the version of the directory with it. Returns what the change returns.
macro_rules! directory_change {
    (sqlite, $change:ident, $returned:literal) => {
        concat!(
            $change!(sqlite),
            " RETURNING ",
            $returned,
            "; UPDATE directory_version SET version = version + 1 WHERE changes() > 0"
        )
    };
    (postgres, $change:ident, $returned:literal) => {
        concat!(
            "WITH change AS (",
            $change!(postgres),
            " RETURNING ",
            $returned,
            "), version AS (UPDATE directory_version SET version = version + 1 WHERE EXISTS (SELECT 1 FROM change)) \
             SELECT * FROM change"
        )
    };
}

macro_rules! import_dealers {
    ($dialect:ident) => {
        concat!(
            "INSERT INTO dealers (code, dealer) SELECT value ->> 'code', CAST(value AS TEXT) FROM ",
            each!($dialect, "$1", "dealer"),
            " WHERE true ON CONFLICT (code) DO UPDATE SET dealer = excluded.dealer"
        )
    };
}

/// 1 dealers as a JSON array.
pub(super) const IMPORT_DEALERS: Sql = both!(directory_change, import_dealers, "code");
pub(super) const DEALERS: Sql = Sql::plain("SELECT dealer FROM dealers ORDER BY code");

macro_rules! record_token {
    ($dialect:ident) => {
        "INSERT INTO tokens (jti, scope_type, scope, permissions, issued, expires, revoked) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)"
    };
}

/// 1 id, 2 scope type, 3 scope, 4 permissions, 5 issued, 6 expires, 7 revoked.
pub(super) const RECORD_TOKEN: Sql = both!(directory_change, record_token, "issued");
pub(super) const TOKENS: Sql = Sql::plain(
    "SELECT jti, scope_type, scope, permissions, issued, expires, revoked FROM tokens \
     ORDER BY coalesce(issued, revoked), jti",
);

macro_rules! revoke_token {
    ($dialect:ident) => {
        "INSERT INTO tokens (jti, revoked) VALUES ($1, $2) \
         ON CONFLICT (jti) DO UPDATE SET revoked = coalesce(tokens.revoked, excluded.revoked)"
    };
}

/// 1 id, 2 when. One that is revoked already stays revoked since then. Returns when it was issued.
pub(super) const REVOKE_TOKEN: Sql = both!(directory_change, revoke_token, "issued");
pub(super) const REVOKED_TOKENS: Sql = Sql::plain("SELECT jti FROM tokens WHERE revoked IS NOT NULL");
pub(super) const DIRECTORY_VERSION: Sql = Sql::plain("SELECT version FROM directory_version");
