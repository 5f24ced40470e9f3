//! The statements of the local marketplaces.
//!
//! A call changes a listing only if its key is another one than that of the call before; whether there is such a
//! listing, and which, is told by the `SELECT` after it. Both go to the database together.

/// The first place of the marketplace in value 1.
macro_rules! first_place {
    () => {
        "(SELECT coalesce(max(place), 0) + 1 FROM listings AS other WHERE other.market = $1 AND other.place IS NOT NULL)"
    };
}

/// What a call that was not made before leaves behind.
macro_rules! applied {
    () => {
        "changed = $2, last_key = $3, changes = changes + 1"
    };
}

/// Changes a listing that is shown, unless the call was made before; then tells whether there is one.
macro_rules! shown {
    () => {
        " WHERE seq = $4 AND market = $1 AND state = 'active' AND last_key IS DISTINCT FROM $3; \
         SELECT seq FROM listings WHERE seq = $4 AND market = $1 AND state = 'active'"
    };
}

/// 1 marketplace, 2 now, 3 key, 4 ad, 5 source id, 6 dealer code, 7 plate, 8 title, 9 content. An update does not make
/// a listing appear as new: one that is shown keeps its place.
pub(super) const PUBLISH: &str = concat!(
    "INSERT INTO listings (market, changed, last_key, reference, source_id, dealer_code, registration_number, title, \
         content, place, state, changes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, ",
    first_place!(),
    ", 'active', 1) ON CONFLICT (market, reference) WHERE reference IS NOT NULL DO UPDATE SET \
         source_id = excluded.source_id, dealer_code = excluded.dealer_code, \
         registration_number = excluded.registration_number, title = excluded.title, content = excluded.content, \
         place = coalesce(place, excluded.place), state = 'active', ",
    applied!(),
    " WHERE last_key IS DISTINCT FROM excluded.last_key; \
     SELECT seq FROM listings WHERE market = $1 AND reference = $4"
);

/// The same, and 10 the number of the listing. Another listing of the ad is taken off, since an ad has at most one.
pub(super) const UPDATE: &str = concat!(
    "UPDATE listings SET reference = NULL, place = NULL, state = 'removed', ",
    applied!(),
    " WHERE market = $1 AND reference = $4 AND seq <> $10 \
         AND EXISTS (SELECT 1 FROM listings AS this WHERE this.seq = $10 AND this.market = $1); \
     UPDATE listings SET reference = $4, source_id = $5, dealer_code = $6, registration_number = $7, title = $8, \
         content = $9, place = coalesce(place, ",
    first_place!(),
    "), state = 'active', ",
    applied!(),
    " WHERE seq = $10 AND market = $1 AND last_key IS DISTINCT FROM $3; \
     SELECT seq FROM listings WHERE seq = $10 AND market = $1"
);

/// 1 marketplace, 2 now, 3 key, 4 number of the listing.
pub(super) const UNPUBLISH: &str = concat!(
    "UPDATE listings SET place = NULL, pole_until = NULL, state = 'removed', ",
    applied!(),
    " WHERE seq = $4 AND market = $1 AND last_key IS DISTINCT FROM $3"
);

/// 1 marketplace, 2 now, 3 key, 4 number of the listing.
pub(super) const BUMP: &str = concat!("UPDATE listings SET place = ", first_place!(), ", ", applied!(), shown!());

/// The same, and 5 the end of pole position.
pub(super) const BOOST: &str = concat!("UPDATE listings SET pole_until = $5, ", applied!(), shown!());

/// 1 marketplace, 2 dealer code, 3 plate. One that no ad has comes before one that may be refused.
pub(super) const FIND_BY_PLATE: &str = "\
SELECT seq, reference FROM listings \
WHERE market = $1 AND dealer_code = $2 AND registration_number = $3 AND state = 'active' \
ORDER BY reference IS NOT NULL, seq LIMIT 1";

/// 1 lines as a JSON array. Those whose plate is listed already.
pub(super) const LISTED: &str = "\
SELECT line.value ->> 'number', listings.market, listings.seq FROM json_each($1) AS line \
JOIN listings ON listings.market = line.value ->> 'marketplace' AND listings.dealer_code = line.value ->> 'dealer_code' \
    AND listings.registration_number = line.value ->> 'registration_number' AND listings.state = 'active'";

/// 1 lines as a JSON array, 2 now.
pub(super) const IMPORT: &str = "\
INSERT INTO listings (market, dealer_code, registration_number, title, place, state, changed) \
SELECT value ->> 'marketplace', value ->> 'dealer_code', value ->> 'registration_number', value ->> 'title', \
    (SELECT coalesce(max(place), 0) FROM listings AS other \
     WHERE other.market = value ->> 'marketplace' AND other.place IS NOT NULL) + key + 1, 'active', $2 \
FROM json_each($1)";

/// 1 marketplace, 2 dealer code, 3 plate; each may be null. A position counts all listings that are shown, not only
/// those that are asked for.
pub(super) const LIST: &str = "\
SELECT market, seq, dealer_code, registration_number, title, source_id, position, pole_until, state, changed, changes \
FROM (SELECT market, seq, dealer_code, registration_number, title, source_id, pole_until, state, changed, changes, \
          place, CASE WHEN place IS NOT NULL \
          THEN row_number() OVER (PARTITION BY market ORDER BY place DESC NULLS LAST) END AS position FROM listings) \
WHERE ($1 IS NULL OR market = $1) AND ($2 IS NULL OR dealer_code = $2) AND ($3 IS NULL OR registration_number = $3) \
ORDER BY market, place DESC NULLS LAST, seq DESC";
