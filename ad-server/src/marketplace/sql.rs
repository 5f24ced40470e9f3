//! The statements of the local marketplaces, in both dialects: see [`store::sql`](crate::store::sql).
//!
//! A call changes a listing only if its key is not among those of the latest calls that did. The latest alone would not do:
//! a call that was given up may arrive long after the one that came in its place, when the next is done already. Whether
//! there is such a listing, and which, is told in any case.

use crate::store::{
    Sql,
    sql::{both, both_for_many, each, inputs, value},
};

/// The first place of the marketplace in value 1. PostgreSQL counts places for all marketplaces together, so that calls
/// need not wait for each other.
macro_rules! first_place {
    (sqlite) => {
        "(SELECT coalesce(max(place), 0) + 1 FROM listings AS other WHERE other.market = $1 AND other.place IS NOT NULL)"
    };
    (postgres) => {
        "nextval('listing_places')"
    };
}

/// Whether a key is none of those of a listing: about ten, the latest first, divided by spaces.
macro_rules! is_new {
    ($listing:literal) => {
        is_new!($listing, "$3")
    };
    ($listing:literal, $key:literal) => {
        concat!(
            "replace(' ' || coalesce(",
            $listing,
            ".last_key, '') || ' ', ' ' || ",
            $key,
            " || ' ', '') = ' ' || coalesce(",
            $listing,
            ".last_key, '') || ' '"
        )
    };
}

/// What a call that was not made before leaves behind.
macro_rules! applied {
    () => {
        applied!("$2", "$3")
    };
    ($now:literal, $key:literal) => {
        concat!(
            "changed = ",
            $now,
            ", last_key = substr(",
            $key,
            " || ' ' || coalesce(listings.last_key, ''), 1, 600), changes = listings.changes + 1"
        )
    };
}

/// A change, and then the listing whether it was changed or not.
macro_rules! changed_or_not {
    (sqlite, $change:expr, $which:literal) => {
        concat!($change, "; SELECT seq FROM listings WHERE ", $which)
    };
    (postgres, $change:expr, $which:literal) => {
        concat!(
            "WITH change AS (",
            $change,
            " RETURNING seq) SELECT seq FROM change \
             UNION ALL SELECT seq FROM listings WHERE NOT EXISTS (SELECT 1 FROM change) AND ",
            $which
        )
    };
}

macro_rules! insert_listing {
    ($dialect:ident, $from:literal) => {
        concat!(
            "INSERT INTO listings (market, changed, last_key, reference, source_id, dealer_code, registration_number, title, \
                 content, place, state, changes) SELECT ",
            value!($dialect, 1), ", ", value!($dialect, 2), ", ", value!($dialect, 3), ", ", value!($dialect, 4), ", ",
            value!($dialect, 5), ", ", value!($dialect, 6), ", ", value!($dialect, 7), ", ", value!($dialect, 8), ", ",
            value!($dialect, 9), ", ",
            first_place!($dialect),
            ", 'active', 1",
            $from,
            " ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET \
                 source_id = excluded.source_id, dealer_code = excluded.dealer_code, \
                 registration_number = excluded.registration_number, title = excluded.title, \
                 content = excluded.content, place = coalesce(listings.place, excluded.place), state = 'active', ",
            applied!("excluded.changed", "excluded.last_key"),
            " WHERE ",
            is_new!("listings", "excluded.last_key")
        )
    };
}

macro_rules! publish {
    (sqlite) => {
        changed_or_not!(sqlite, insert_listing!(sqlite, " WHERE true"), "market = $1 AND reference = $4")
    };
    (postgres) => {
        concat!(
            inputs!(1, 2, 3, 4, 5, 6, 7, 8, 9),
            ", change AS (",
            insert_listing!(postgres, " FROM inputs"),
            " RETURNING seq, market, reference) \
             SELECT seq, input FROM change JOIN inputs ON v1 = market AND v4 = reference \
             UNION ALL SELECT seq, input FROM inputs JOIN listings ON market = v1 AND reference = v4 \
                 WHERE NOT EXISTS (SELECT 1 FROM change WHERE change.market = v1 AND change.reference = v4)"
        )
    };
}

/// 1 marketplace, 2 now, 3 key, 4 ad, 5 source id, 6 dealer code, 7 plate, 8 title, 9 content. An update does not make
/// a listing appear as new: one that is shown keeps its place.
pub(super) const PUBLISH: Sql = both_for_many!(publish);

macro_rules! take_off_others {
    () => {
        concat!(
            "UPDATE listings SET reference = NULL, place = NULL, state = 'removed', ",
            applied!(),
            " WHERE market = $1 AND reference = $4 AND seq <> $10 \
                 AND EXISTS (SELECT 1 FROM listings AS this WHERE this.seq = $10 AND this.market = $1 AND ",
            is_new!("this"),
            ")"
        )
    };
}

macro_rules! update_this {
    ($dialect:ident, $after:literal) => {
        concat!(
            "UPDATE listings SET reference = $4, source_id = $5, dealer_code = $6, registration_number = $7, title = $8, \
                 content = $9, place = coalesce(place, ",
            first_place!($dialect),
            "), state = 'active', ",
            applied!(),
            " WHERE seq = $10 AND market = $1 AND ",
            is_new!("listings"),
            $after
        )
    };
}

macro_rules! update {
    (sqlite) => {
        concat!(
            take_off_others!(),
            "; ",
            changed_or_not!(sqlite, update_this!(sqlite, ""), "seq = $10 AND market = $1")
        )
    };
    // The others are counted so that they are off before this one is theirs.
    (postgres) => {
        concat!(
            "WITH others AS (",
            take_off_others!(),
            " RETURNING seq), change AS (",
            update_this!(postgres, " AND (SELECT count(*) FROM others) >= 0"),
            " RETURNING seq) SELECT seq FROM change \
              UNION ALL SELECT seq FROM listings WHERE NOT EXISTS (SELECT 1 FROM change) AND seq = $10 AND market = $1"
        )
    };
}

/// The same, and 10 the number of the listing. Another listing of the ad is taken off, since an ad has at most one.
pub(super) const UPDATE: Sql = both!(update);

/// 1 marketplace, 2 now, 3 key, 4 number of the listing.
pub(super) const UNPUBLISH: Sql = Sql::plain(concat!(
    "UPDATE listings SET place = NULL, pole_until = NULL, state = 'removed', ",
    applied!(),
    " WHERE seq = $4 AND market = $1 AND ",
    is_new!("listings")
));

/// Changes a listing that is shown, unless the call was made before; then tells whether there is one.
macro_rules! change_shown {
    ($dialect:ident, $change:expr) => {
        changed_or_not!(
            $dialect,
            concat!(
                "UPDATE listings SET ",
                $change,
                ", ",
                applied!(),
                " WHERE seq = $4 AND market = $1 AND state = 'active' AND ",
                is_new!("listings")
            ),
            "seq = $4 AND market = $1 AND state = 'active'"
        )
    };
}

macro_rules! bump {
    ($dialect:ident) => {
        change_shown!($dialect, concat!("place = ", first_place!($dialect)))
    };
}

/// 1 marketplace, 2 now, 3 key, 4 number of the listing.
pub(super) const BUMP: Sql = both!(bump);

/// The same, and 5 the end of pole position.
pub(super) const BOOST: Sql = both!(change_shown, "pole_until = $5");

/// 1 marketplace, 2 number of the listing.
pub(super) const ABOUT: Sql =
    Sql::plain("SELECT dealer_code, source_id, registration_number FROM listings WHERE market = $1 AND seq = $2");

macro_rules! find_by_plate {
    (sqlite) => {
        find_by_plate!("$1", "$2", "$3")
    };
    (postgres) => {
        concat!(
            inputs!(1, 2, 3),
            " SELECT found.*, input FROM inputs CROSS JOIN LATERAL (",
            find_by_plate!("v1", "v2", "v3"),
            ") AS found"
        )
    };
    ($market:literal, $dealer_code:literal, $plate:literal) => {
        concat!(
            "SELECT seq, reference FROM listings WHERE market = ",
            $market,
            " AND dealer_code = ",
            $dealer_code,
            " AND registration_number = ",
            $plate,
            " AND state = 'active' ORDER BY reference IS NOT NULL, seq LIMIT 1"
        )
    };
}

/// 1 marketplace, 2 dealer code, 3 plate. One that no ad has comes before one that may be refused.
pub(super) const FIND_BY_PLATE: Sql = both_for_many!(find_by_plate);

macro_rules! listed {
    ($dialect:ident) => {
        concat!(
            "SELECT CAST(line.value ->> 'number' AS BIGINT), listings.market, listings.seq FROM ",
            each!($dialect, "$1", "line"),
            " JOIN listings ON listings.market = line.value ->> 'marketplace' \
                 AND listings.dealer_code = line.value ->> 'dealer_code' \
                 AND listings.registration_number = line.value ->> 'registration_number' AND listings.state = 'active'"
        )
    };
}

/// 1 lines as a JSON array. Those whose plate is listed already.
pub(super) const LISTED: Sql = both!(listed);

/// The place of a line.
macro_rules! next_place {
    (sqlite) => {
        "(SELECT coalesce(max(place), 0) FROM listings AS other \
          WHERE other.market = value ->> 'marketplace' AND other.place IS NOT NULL) + key + 1"
    };
    (postgres) => {
        first_place!(postgres)
    };
}

macro_rules! import {
    ($dialect:ident) => {
        concat!(
            "INSERT INTO listings (market, dealer_code, registration_number, title, place, state, changed) \
             SELECT value ->> 'marketplace', value ->> 'dealer_code', value ->> 'registration_number', \
                 value ->> 'title', ",
            next_place!($dialect),
            ", 'active', $2 FROM ",
            each!($dialect, "$1", "line"),
            " ORDER BY key"
        )
    };
}

/// 1 lines as a JSON array, 2 now.
pub(super) const IMPORT: Sql = both!(import);

/// 1 marketplace, 2 dealer code, 3 plate; each may be null. A position counts all listings that are shown, not only
/// those that are asked for.
pub(super) const LIST: Sql = Sql::plain(
    "\
SELECT market, seq, dealer_code, registration_number, title, source_id, position, pole_until, state, changed, changes \
FROM (SELECT market, seq, dealer_code, registration_number, title, source_id, pole_until, state, changed, changes, \
          place, CASE WHEN place IS NOT NULL \
          THEN row_number() OVER (PARTITION BY market ORDER BY place DESC NULLS LAST) END AS position FROM listings) AS placed \
WHERE ($1 IS NULL OR market = $1) AND ($2 IS NULL OR dealer_code = $2) AND ($3 IS NULL OR registration_number = $3) \
ORDER BY market, place DESC NULLS LAST, seq DESC",
);
