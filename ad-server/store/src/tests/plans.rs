//! How the database goes about a list, whatever is asked for: it walks an index that has all it wants to know, of the
//! dealers in question only, and reads whole ads for the page alone.

use ad_core::{
    model::{AdFilter, AdOrder, AdQuery, AdStatus, Bound, EventQuery, Included, Page},
    ports::Scope,
};

use sqlx::{Executor, Row};

use super::{statements::types, *};
use crate::{
    by_status::in_scope,
    events,
    lists::{list, list_few, walk},
    newest,
    postgres::{SETTINGS, SETTINGS_BY_INDEX},
    sql::{
        self,
        listings::{ForgetCalls, PublishListing},
    },
};

/// Every filter; whether it names a few ads, which may then be looked at.
fn filters() -> Vec<(Option<AdFilter>, bool)> {
    let text = || "text".to_owned();
    let wide = [
        AdFilter::State(AdState::Deleted),
        AdFilter::Status(vec![AdStatus::Failed]),
        AdFilter::Status(vec![AdStatus::Live, AdStatus::PartlyLive]),
        AdFilter::QualityScore(Bound::Lt, 50),
        AdFilter::QualityScore(Bound::Gte, 50),
        AdFilter::DealerCode("d1".to_owned()),
        AdFilter::CategoryId(vec![1060]),
        AdFilter::CategoryId(vec![1060, 1061, 1062]),
        AdFilter::Search(text()),
        AdFilter::Search("xy".to_owned()),
        AdFilter::SourceIdContains(text()),
        AdFilter::SourceIdContains("x".to_owned()),
        AdFilter::Words("volvo v60/v90 abc".to_owned()),
    ];
    let times = [AdOrder::Created, AdOrder::Updated].into_iter().flat_map(|order| {
        [Bound::Gt, Bound::Gte, Bound::Lt, Bound::Lte].map(|bound| AdFilter::Time(order, bound, at(7)))
    });
    let few = [
        AdFilter::Id(Uuid::nil()),
        AdFilter::SourceId(vec![text(), text()]),
        AdFilter::MarketplaceAdId(vec![text()]),
        AdFilter::RegistrationNumber(text()),
    ];
    let wide = wide.into_iter().chain(times).map(|filter| (Some(filter), false));
    wide.chain(few.into_iter().map(|filter| (Some(filter), true))).chain([(None, false)]).collect()
}

/// The steps of the database for a list.
async fn plan(database: &Database, scope: Scope<'_>, query: &AdQuery) -> Vec<String> {
    explained(database, &list(database.dialect(), scope, query)).await
}

/// What is wrong with a step.
fn fault(step: &str, names_few: bool) -> Option<&'static str> {
    let reads = |table: &str| step.starts_with(&format!("SEARCH {table} "));
    // By its name, not by that of one of its indexes.
    let scans = |table: &str| step == format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} "));
    if ["ads", "texts", "log", "unindexed", "dealer"].into_iter().any(scans) {
        return Some("reads a whole table");
    }
    if reads("ads") && !step.contains("(rowid=?)") {
        if names_few {
            let names =
                ["(id=?", "(dealer_code=? AND source_id=?", "(marketplace_ad_id=? AND", "(registration_number=? AND"];
            return (!names.iter().any(|name| step.contains(name))).then_some("does not find the ads by their names");
        }
        if !step.contains("USING COVERING INDEX ads_") || !step.contains("(dealer_code=?") {
            return Some("does not keep to the dealers' part of an index");
        }
    }
    if (reads("texts") || reads("unindexed")) && !step.contains("rowid") {
        return Some("does not find texts by their places");
    }
    None
}

#[tokio::test]
async fn every_list_is_answered_from_an_index() {
    let temporary = TestDatabase::open().await;
    let group = ["d1".to_owned(), "d2".to_owned()];
    for scope in [Scope::Dealer("d1"), Scope::Dealers(&group)] {
        for (filter, names_few) in filters() {
            for order in [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId] {
                for (descending, log) in [(true, false), (false, true)] {
                    let page = Page { limit: 50, offset: 0 };
                    let filters = filter.iter().cloned().collect();
                    let query = AdQuery {
                        filters,
                        order,
                        descending,
                        page,
                        fields: None,
                        included: Included { log, status: true, quality: false, warnings: false },
                    };
                    let steps = plan(&temporary.database, scope, &query).await;
                    let faults: Vec<_> = steps.iter().filter_map(|step| fault(step, names_few)).collect();
                    assert!(faults.is_empty(), "{query:?} in {scope:?}: {faults:?}\n{steps:#?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn contents_are_read_of_the_ads_of_the_dealer_alone() {
    let temporary = TestDatabase::open().await;
    let contents = [
        (vec![AdFilter::Brand("volvo".to_owned())], AdOrder::Created),
        (vec![AdFilter::Price(Bound::Lt, 100_000), AdFilter::ImageCount(Bound::Lt, 1)], AdOrder::Updated),
        (vec![AdFilter::FailedImages(true), AdFilter::Status(vec![AdStatus::Live])], AdOrder::SourceId),
        (Vec::new(), AdOrder::Price),
        (Vec::new(), AdOrder::QualityScore),
    ];
    for (filters, order) in contents {
        let query = AdQuery { filters, order, ..AdQuery::default() };
        let steps = plan(&temporary.database, Scope::Dealer("d1"), &query).await;
        let of_ads = steps.iter().filter(|step| step.contains(" ads ") && !step.contains("(rowid=?)"));
        let of_ads: Vec<_> = of_ads.collect();
        let keeps = |step: &&String| step.starts_with("SEARCH ads USING") && step.contains("(dealer_code=?");
        assert!(of_ads.len() == 1 && of_ads.iter().all(keeps), "read once: {query:?} {steps:#?}");
    }
}

#[tokio::test]
async fn a_common_search_walks_the_order_and_finds_each_text_by_its_place() {
    let temporary = TestDatabase::open().await;
    for order in [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId] {
        for descending in [true, false] {
            let query = AdQuery {
                filters: vec![AdFilter::Search("text".to_owned()), AdFilter::Status(vec![AdStatus::Failed])],
                order,
                descending,
                ..AdQuery::default()
            };
            let steps = explained(&temporary.database, &walk(temporary.database.dialect(), "d1", &query)).await;
            let has = |start: &str, end: &str| steps.iter().any(|step| step.starts_with(start) && step.ends_with(end));
            assert!(has("SEARCH ads USING COVERING INDEX", "(dealer_code=?)"), "{steps:#?}");
            assert!(has("SEARCH texts", "USING INTEGER PRIMARY KEY (rowid=?)"), "{steps:#?}");
            let costs = ["trigrams", "TEMP B-TREE"];
            assert!(!steps.iter().any(|step| costs.iter().any(|cost| step.contains(cost))), "{steps:#?}");
        }
    }
}

#[tokio::test]
async fn few_ads_that_words_have_found_are_read_by_their_numbers() {
    let temporary = TestDatabase::open().await;
    let group = ["d1".to_owned(), "d2".to_owned()];
    for scope in [Scope::Dealer("d1"), Scope::Dealers(&group)] {
        for order in [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId] {
            let filters = vec![AdFilter::Words("volvo".to_owned()), AdFilter::Status(vec![AdStatus::Failed])];
            let query = AdQuery { filters, order, ..AdQuery::default() };
            let list = list_few(temporary.database.dialect(), scope, &query, vec![1, 2]);
            let steps = explained(&temporary.database, &list).await;
            let of_ads: Vec<_> = steps.iter().filter(|step| step.contains(" ads")).collect();
            assert!(!of_ads.is_empty() && of_ads.iter().all(|step| step.contains("(rowid=?)")), "{steps:#?}");
        }
    }
}

#[tokio::test]
async fn words_that_many_ads_have_are_read_by_the_number_of_each_ad() {
    let temporary = TestDatabase::open().await;
    let filters = vec![AdFilter::Words("volvo v60".to_owned())];
    let query = AdQuery { filters, ..AdQuery::default() };
    let steps = explained(&temporary.database, &walk(temporary.database.dialect(), "d1", &query)).await;
    let has = |start: &str, end: &str| steps.iter().any(|step| step.starts_with(start) && step.ends_with(end));
    assert!(has("SEARCH ads USING COVERING INDEX", "(dealer_code=?)"), "{steps:#?}");
    assert!(has("SEARCH words", "USING INTEGER PRIMARY KEY (rowid=?)"), "{steps:#?}");
    assert!(!steps.iter().any(|step| step.contains("word_index") || step.contains("TEMP B-TREE")), "{steps:#?}");
}

#[tokio::test]
async fn a_page_is_cut_out_of_the_order_without_sorting() {
    let temporary = TestDatabase::open().await;
    for order in [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId] {
        for descending in [true, false] {
            let page = Page { limit: 50, offset: 40_000 };
            let query = AdQuery {
                filters: Vec::new(),
                order,
                descending,
                page,
                fields: None,
                included: Included { log: false, status: true, quality: false, warnings: false },
            };
            let steps = plan(&temporary.database, Scope::Dealer("d1"), &query).await;
            // The one that is left puts the fifty of the page in order.
            let sorts = steps.iter().filter(|step| step.contains("TEMP B-TREE")).count();
            assert!(sorts <= 1, "{order:?}: {steps:#?}");
        }
    }
}

#[tokio::test]
async fn ads_are_counted_by_status_in_an_index() {
    let temporary = TestDatabase::open().await;
    let count = crate::sql::ads::CountByStatus { dealer_codes: vec!["d1".to_owned()] };
    let steps = explained(&temporary.database, &count.into()).await;
    let of_ads: Vec<_> = steps.iter().filter(|step| step.contains("ads") && !step.contains("(rowid=?)")).collect();
    assert!(of_ads.len() >= 3, "{steps:#?}");
    for step in of_ads {
        assert!(step.contains("USING COVERING INDEX ads_status (dealer_code=?"), "{steps:#?}");
    }
    let group = "(dealer_code=? AND status=? AND channels=? AND category_id>?)";
    assert!(steps.iter().any(|step| step.contains(group)), "{steps:#?}");
}

#[tokio::test]
async fn ads_without_a_score_are_found_by_an_index_of_them() {
    let temporary = TestDatabase::open().await;
    let steps = explained(&temporary.database, &sql::ads::AdsWithoutScore { limit: 10 }.into()).await;
    assert!(steps.len() == 1 && steps[0].contains("ads_without_score"), "{steps:#?}");
    let set = sql::ads::SetScores { scores: "[[1,50]]".to_owned() };
    let steps = explained(&temporary.database, &set.into()).await;
    assert!(steps.iter().any(|step| step.starts_with("SEARCH ads USING INTEGER PRIMARY KEY")), "{steps:#?}");
}

#[tokio::test]
async fn changes_are_read_from_the_latest_entries_of_the_ad() {
    let temporary = TestDatabase::open().await;
    let steps = explained(&temporary.database, &sql::ads::ChangesOfAd { id: Uuid::nil() }.into()).await;
    assert!(steps.iter().any(|step| step == "SEARCH log USING PRIMARY KEY (ad=? AND n>?)"), "{steps:#?}");
}

#[tokio::test]
async fn ads_of_the_same_vehicle_are_found_by_two_indexes() {
    let temporary = TestDatabase::open().await;
    let steps = explained(&temporary.database, &sql::ads::SameVehicle::default().into()).await;
    for index in
        ["ads_registration_number (registration_number=? AND dealer_code=?)", "ads_vin (vin=? AND dealer_code=?)"]
    {
        assert!(steps.iter().any(|step| step.starts_with("SEARCH ads") && step.contains(index)), "{index}: {steps:#?}");
    }
}

#[tokio::test]
async fn photos_of_other_ads_are_found_by_their_hashes() {
    let temporary = TestDatabase::open().await;
    let steps = explained(&temporary.database, &sql::ads::SamePhotos::default().into()).await;
    let index = "SEARCH photo_looks USING COVERING INDEX photo_looks_hash (dealer_code=? AND hash=?)";
    assert!(steps.iter().any(|step| step == index), "{steps:#?}");
    assert!(steps.iter().any(|step| step.starts_with("SEARCH ads USING INTEGER PRIMARY KEY")), "{steps:#?}");
    assert!(!steps.iter().any(|step| step.contains("B-TREE")), "the newest come first in the index: {steps:#?}");
}

/// Ads of many dealers, each with an entry in its log.
const ADS: &str = "\
INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, image_refs, content) \
SELECT CAST(lpad(to_hex(n), 32, '0') AS UUID), 'car-' || n, 'd' || n % 100, 1020, 'created', 'v4', 0, 'created', n, n, '[]', '{}' \
FROM generate_series(1, 5000) AS n; \
INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code) \
SELECT seq, 1, id, created, 'create', 'accepted', '{}', dealer_code FROM ads";

/// Their photos, many of which look the same, as pictures of the dealer's premises do.
const PHOTOS: &str = "\
INSERT INTO photo_looks (ad, hash, color, dealer_code) \
SELECT seq, CASE WHEN n = 1 THEN 7 ELSE seq * 10 + n END, 8421504, dealer_code FROM ads, generate_series(1, 10) AS n";

#[tokio::test]
async fn photos_of_other_ads_are_found_by_their_hashes_in_postgresql() {
    let Some(mut connection) = postgres_connection().await else { return };
    connection.execute(ADS).await.unwrap();
    connection.execute(PHOTOS).await.unwrap();
    connection.execute("VACUUM ANALYZE").await.unwrap();
    let find = sql::ads::SamePhotos::default().into();
    let steps = explained_in_postgresql(&mut connection, "same_photos", &find).await;
    let has = |part: &str| steps.iter().any(|step| step.contains(part));
    assert!(has("Index Only Scan Backward using photo_looks_hash on photo_looks"), "{steps:#?}");
    assert!(has("Index Scan using ads_pkey on ads"), "{steps:#?}");
    assert!(!has("Seq Scan on ") && !has("Sort"), "the newest come first in the index: {steps:#?}");
}

/// The steps of PostgreSQL for a statement with any values, as after many executions.
pub(super) async fn explained_in_postgresql(
    connection: &mut PgConnection,
    name: &str,
    statement: &Statement,
) -> Vec<String> {
    let types: Vec<_> = types(statement).iter().map(ToString::to_string).collect();
    let listed = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
    let nulls = if types.is_empty() { String::new() } else { format!("({})", vec!["NULL"; types.len()].join(", ")) };
    let text = statement.text(Dialect::Postgres);
    let plan = format!(
        "SET plan_cache_mode = force_generic_plan; PREPARE {name}{listed} AS {}; EXPLAIN EXECUTE {name}{nulls}; DEALLOCATE {name}",
        text.as_str()
    );
    let rows = connection.fetch_all(sqlx::raw_sql(sqlx::AssertSqlSafe(plan))).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The queue is often empty, and its table has no pages then. A plan that is made at that time is used for a long queue too.
#[tokio::test]
async fn statements_planned_on_an_empty_queue_look_up_keys_in_postgresql() {
    let Some(mut connection) = postgres_connection().await else { return };
    connection.execute(SETTINGS).await.unwrap();
    connection.execute(SETTINGS_BY_INDEX).await.unwrap();
    assert_keys_are_looked_up(&mut connection, "a new database").await;
    connection.execute(ADS).await.unwrap();
    connection.execute("VACUUM ANALYZE").await.unwrap();
    assert_keys_are_looked_up(&mut connection, "no request of any ad").await;
}

/// Checks that statements of the queue read each table by the first columns of an index.
async fn assert_keys_are_looked_up(connection: &mut PgConnection, state: &str) {
    let indexes = "SELECT indexrelid::regclass::text, indrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index";
    let indexes: Vec<(String, String, String)> = sqlx::query_as(indexes).fetch_all(&mut *connection).await.unwrap();
    let tables = ["requests", "ads", "log", "deliveries", "listing_calls"];
    let events = EventQuery { types: vec!["ad.publish.*".parse().unwrap()], limit: 10, ..EventQuery::default() };
    for (name, statement) in [
        ("claim_due", sql::queue::ClaimDue::default().into()),
        ("claimed", sql::queue::ClaimedRequests::default().into()),
        ("record_progress", sql::queue::RecordProgress::default().into()),
        ("record_end", sql::queue::RecordEnd::default().into()),
        ("underway", sql::queue::Underway::default().into()),
        ("has_unfinished", sql::ads::HasUnfinished::default().into()),
        ("due_deliveries", sql::webhooks::DueDeliveries::default().into()),
        ("events", events::after(Dialect::Postgres, Scope::Dealer("d1"), &events)),
        ("publish_listing", PublishListing::default().into()),
        ("forget_calls", ForgetCalls::default().into()),
    ] {
        let steps = explained_in_postgresql(connection, name, &statement).await;
        for (place, step) in steps.iter().enumerate() {
            let reads_all = tables.iter().any(|table| step.contains(&format!("Seq Scan on {table} ")));
            assert!(!reads_all, "{state}, {name}: {steps:#?}");
            let used = [" using ", "Bitmap Index Scan on "].iter().find_map(|before| step.split_once(before));
            let Some((index, _)) = used.and_then(|(_, rest)| rest.split_once(' ')) else { continue };
            let (_, table, first) = indexes.iter().find(|(name, ..)| name == index).expect("the index exists");
            let mut of_step = steps[place + 1..].iter().take_while(|line| !line.contains("->"));
            let by_key = of_step.any(|line| line.contains("Index Cond") && line.contains(&format!("({first} ")));
            // The oldest request is the first of its index.
            let is_first = name == "forget_calls" && index == "requests_id_key" && !steps[place - 1].contains("Sort");
            assert!(by_key || is_first || !tables.contains(&table.as_str()), "{state}, {name}: {steps:#?}");
        }
    }
}

#[tokio::test]
async fn a_request_is_found_by_index() {
    let temporary = TestDatabase::open().await;
    let find = crate::sql::queue::FindRequest { id: Uuid::nil() };
    let steps = explained(&temporary.database, &find.into()).await;
    assert!(steps.iter().any(|step| step.contains("USING INDEX log_request")), "{steps:#?}");
    let reads = |table: &str| steps.iter().any(|step| step.starts_with(&format!("SCAN {table}")));
    assert!(!["log", "requests", "ads"].into_iter().any(reads), "{steps:#?}");
}

#[tokio::test]
async fn events_are_read_from_their_position_on() {
    let temporary = TestDatabase::open().await;
    let group = ["d1".to_owned(), "d2".to_owned()];
    for scope in [Scope::Dealer("d1"), Scope::Dealers(&group)] {
        for (types, source_id) in [(Vec::new(), None), (vec!["ad.publish.*".parse().unwrap()], Some("a".to_owned()))] {
            let query = EventQuery { types, source_id, limit: 10, ..EventQuery::default() };
            let steps = explained(&temporary.database, &events::after(Dialect::Sqlite, scope, &query)).await;
            let is_scan = |step: &String| {
                ["log", "own", "first", "ads"].iter().any(|table| step.starts_with(&format!("SCAN {table}")))
            };
            assert!(!steps.iter().any(is_scan), "{query:?}: {steps:#?}");
            if query.source_id.is_none() {
                let ranges = steps
                    .iter()
                    .filter(|step| step.contains("log_events (dealer_code=? AND (transaction_id,ad,n)>(?,?,?))"));
                // Of several dealers, the first entry of each is read before.
                assert_eq!(ranges.count(), if matches!(scope, Scope::Dealers(_)) { 2 } else { 1 }, "{steps:#?}");
            }
        }
    }
    for scope in [Scope::Dealer("d1"), Scope::Dealers(&group)] {
        let with_words = [
            in_scope(Dialect::Sqlite, scope, &[AdStatus::Waiting], None, 20),
            in_scope(Dialect::Sqlite, scope, &[AdStatus::Live], Some(vec!["live - -".to_owned()]), 20),
        ];
        for (statement, columns) in with_words.iter().zip(["status=?)", "status=? AND channels=?)"]) {
            let steps = explained(&temporary.database, statement).await;
            assert!(
                steps.iter().any(|step| step.contains("ads_status (dealer_code=?") && step.contains(columns)),
                "{steps:#?}"
            );
        }
        for statement in
            [newest::newest(Dialect::Sqlite, scope, 20), newest::by_hour(Dialect::Sqlite, group.to_vec(), 20)]
        {
            let steps = explained(&temporary.database, &statement).await;
            let is_scan =
                |step: &String| ["log", "own", "ads"].iter().any(|table| step.starts_with(&format!("SCAN {table}")));
            assert!(!steps.iter().any(is_scan), "{steps:#?}");
            assert!(steps.iter().any(|step| step.contains("log_events (dealer_code=?)")), "{steps:#?}");
        }
    }
    for statement in [sql::events::NewestTransaction {}.into(), sql::events::DealersWithEvents { after: 7 }.into()] {
        let steps = explained(&temporary.database, &statement).await;
        assert!(
            steps[0].contains("USING COVERING INDEX log_transaction")
                || steps[0].contains("USING INDEX log_transaction"),
            "{steps:#?}"
        );
    }
}
