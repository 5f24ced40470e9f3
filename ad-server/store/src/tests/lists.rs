use ad_core::{
    model::{AdFilter, AdOrder, AdQuery, AdStatus, Bound, Included, LogQuery, Page, Progress, StatusWords},
    ports::{AdChange, ListedAd, Outcome, Record, Scope},
};

use super::*;
use crate::PublishedByHour;

const ALL: Page = Page { limit: 50, offset: 0 };

fn query(filters: Vec<AdFilter>) -> AdQuery {
    AdQuery {
        filters,
        order: AdOrder::Created,
        descending: true,
        page: ALL,
        fields: None,
        included: Included::default(),
    }
}

/// Ten ads: two at a time created together, the last two of another dealer, every third a boat.
async fn stock(store: &DatabaseStore) {
    for number in 1..=10 {
        let mut ad = ad(number, i64::from(number / 2) * 1000);
        if number > 8 {
            ad.dealer_code = "d2".to_owned();
        }
        if number % 3 == 0 {
            ad.category_id = 1060;
        }
        create(store, number, &ad).await.unwrap();
    }
}

fn numbers(ads: &[ListedAd]) -> Vec<u128> {
    ads.iter().map(|listed| listed.ad.id.as_u128()).collect()
}

#[tokio::test]
async fn every_filter_finds_what_it_names() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    stock(&store).await;
    let head = store.claim(at(9999), at(10_000), 1.into()).await.unwrap().claimed.remove(0);
    let change = AdChange {
        state: Some(AdState::Deleted),
        listings: vec![(Market::Primary, "77".to_owned())],
        ..AdChange::default()
    };
    let outcome = Outcome::Continues { progress: Progress::default() };
    let (request, lease, at_) = (head.request.id, head.lease, at(9999));
    let record = Record {
        ad: head.stored.ad.id,
        request,
        lease,
        entries: Vec::new(),
        changes: None,
        change,
        publication: None,
        calls: Vec::new(),
        confirmed: None,
        quality_score: None,
        words: StatusWords::default(),
        outcome,
        at: at_,
    };
    store.record(record).await.unwrap();

    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let expected: Vec<(AdFilter, Vec<u128>)> = vec![
        (AdFilter::Id(Uuid::from_u128(4)), vec![4]),
        (AdFilter::State(AdState::Deleted), vec![1]),
        (AdFilter::Status(vec![AdStatus::Live, AdStatus::Hidden]), vec![]),
        (AdFilter::Status(vec![AdStatus::Processing]), vec![10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (AdFilter::SourceId(texts(&["Bil-2", "Bil-10", "bil-3"])), vec![10, 2]),
        (AdFilter::SourceIdContains("bIL-1".to_owned()), vec![10, 1]),
        (AdFilter::DealerCode("d2".to_owned()), vec![10, 9]),
        (AdFilter::DealerCode("d3".to_owned()), vec![]),
        (AdFilter::CategoryId(vec![1060, 1021]), vec![9, 6, 3]),
        (AdFilter::Search("v60 7".to_owned()), vec![7]),
        (AdFilter::Search("VÄLVÅRDAD".to_owned()), vec![10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (AdFilter::Search("100%".to_owned()), vec![]),
        (AdFilter::MarketplaceAdId(texts(&["77", "78"])), vec![1]),
        (AdFilter::RegistrationNumber("ABC004".to_owned()), vec![4]),
        // Boats have no plates, whatever they call so.
        (AdFilter::RegistrationNumber("ABC003".to_owned()), vec![]),
        (AdFilter::Time(AdOrder::Created, Bound::Gt, at(4000)), vec![10]),
        (AdFilter::Time(AdOrder::Created, Bound::Gte, at(4000)), vec![10, 9, 8]),
        (AdFilter::Time(AdOrder::Created, Bound::Lt, at(1000)), vec![1]),
        (AdFilter::Time(AdOrder::Created, Bound::Lte, at(1000)), vec![3, 2, 1]),
        (AdFilter::Time(AdOrder::Updated, Bound::Gt, at(5000)), vec![1]),
    ];
    let group = texts(&["d1", "d2"]);
    for (filter, numbers_) in expected {
        let page = store.list(Scope::Dealers(&group), &query(vec![filter.clone()])).await.unwrap();
        assert_eq!((numbers(&page.rows), page.count), (numbers_.clone(), numbers_.len() as u64), "{filter:?}");
        let page = store.list(Scope::Dealer("d1"), &query(vec![filter.clone()])).await.unwrap();
        let own: Vec<_> = numbers_.into_iter().filter(|number| *number <= 8).collect();
        assert_eq!(numbers(&page.rows), own, "{filter:?}");
    }
}

#[tokio::test]
async fn pages_never_overlap() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    stock(&store).await;
    for (order, descending, expected) in [
        (AdOrder::Created, true, [8, 7, 6, 5, 4, 3, 2, 1]),
        (AdOrder::Created, false, [1, 2, 3, 4, 5, 6, 7, 8]),
        (AdOrder::Updated, true, [8, 7, 6, 5, 4, 3, 2, 1]),
        (AdOrder::SourceId, false, [1, 2, 3, 4, 5, 6, 7, 8]),
    ] {
        let mut seen = Vec::new();
        for offset in (0..9).step_by(3) {
            let query = AdQuery { order, descending, page: Page { limit: 3, offset }, ..query(Vec::new()) };
            let page = store.list(Scope::Dealer("d1"), &query).await.unwrap();
            assert_eq!(page.count, 8);
            seen.extend(numbers(&page.rows));
        }
        assert_eq!(seen, expected);
    }
    let beyond = AdQuery { page: Page { limit: 3, offset: u64::MAX }, ..query(Vec::new()) };
    let page = store.list(Scope::Dealer("d1"), &beyond).await.unwrap();
    assert_eq!((page.count, page.rows), (8, Vec::new()));
}

#[tokio::test]
async fn a_list_brings_the_logs_along() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    stock(&store).await;
    let with_log = AdQuery {
        included: Included { log: true, ..Included::default() },
        ..query(vec![AdFilter::Id(Uuid::from_u128(4))])
    };
    let page = store.list(Scope::Dealer("d1"), &with_log).await.unwrap();
    let mut boat = ad(4, 2000);
    boat.category_id = 1020;
    let log = vec![entry(4, Action::Create, ActionState::Processing, 2000)];
    let words = StatusWords::processing(&[Market::Primary, Market::Secondary]);
    assert_eq!(page.rows, [ListedAd { ad: boat, log, words, failed_images: Vec::new() }]);
}

#[tokio::test]
async fn the_log_is_filtered_and_paged() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let head = store.claim(at(20), at(30), 1.into()).await.unwrap().claimed.remove(0);
    let entries = vec![
        entry(1, Action::Create, ActionState::Done, 20),
        entry(1, Action::Publish, ActionState::Processing, 20),
        entry(2, Action::Publish, ActionState::Error, 25),
    ];
    let (request, lease) = (head.request.id, head.lease);
    let outcome = Outcome::Continues { progress: Progress::default() };
    let change = AdChange::default();
    let ad_id = head.stored.ad.id;
    let record = Record {
        ad: ad_id,
        request,
        lease,
        entries: entries.clone(),
        changes: None,
        change,
        publication: None,
        calls: Vec::new(),
        confirmed: None,
        quality_score: None,
        words: StatusWords::default(),
        outcome,
        at: at(20),
    };
    store.record(record).await.unwrap();

    let all = LogQuery { dealer_code: None, action: None, state: None, request_id: None, descending: false, page: ALL };
    let page = store.log(ad_id, &all).await.unwrap();
    assert_eq!((page.count, &page.rows[1..]), (4, &entries[..]));
    let descending = LogQuery { descending: true, page: Page { limit: 2, offset: 1 }, ..all.clone() };
    let page = store.log(ad_id, &descending).await.unwrap();
    assert_eq!((page.count, page.rows), (4, vec![entries[1].clone(), entries[0].clone()]));
    for filtered in [
        LogQuery { dealer_code: None, action: Some(Action::Publish), state: Some(ActionState::Error), ..all.clone() },
        LogQuery { request_id: Some(request_id(2)), ..all.clone() },
    ] {
        let page = store.log(ad_id, &filtered).await.unwrap();
        assert_eq!((page.count, page.rows), (1, entries[2..].to_vec()));
    }
    assert_eq!(store.log(Uuid::nil(), &all).await.unwrap().count, 0);
}

#[tokio::test]
async fn the_newest_entries_are_read_and_counted_by_hour() {
    const HOUR: i64 = 3_600_000;
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    // Each ad is published in the hour of its number, the second one of another dealer; the third one is not.
    for number in 1..=4 {
        let created = i64::from(number) * HOUR;
        let ad = Ad { dealer_code: if number == 2 { "d2" } else { "d1" }.to_owned(), ..ad(number, created) };
        let state = if number == 3 { ActionState::Error } else { ActionState::Done };
        let entry = entry(number, Action::Publish, state, created);
        let new = NewAd { ad: &ad, request: &request(number, created), entry: &entry, answer: None };
        store.create(new).await.unwrap();
    }
    let group = ["d1".to_owned(), "d2".to_owned()];
    let cases = [
        (Scope::Dealer("d1"), vec![4, 3, 1], vec![(3, 0), (4, 1)]),
        (Scope::Dealers(&group), vec![4, 3, 2, 1], vec![(2, 1), (3, 0), (4, 1)]),
    ];
    for (scope, newest_first, by_hour) in cases {
        let newest = temporary.database.newest_events(scope, 10).await.unwrap();
        assert_eq!(newest.iter().map(|event| event.ad_id.as_u128()).collect::<Vec<_>>(), newest_first);
        assert_eq!(temporary.database.newest_events(scope, 2).await.unwrap(), newest[..2]);
        let published = temporary.database.published_by_hour(scope, at(2 * HOUR)).await.unwrap();
        let expected = by_hour.into_iter().map(|(hour, ads)| (at(hour * HOUR), ads)).collect();
        assert_eq!(published, PublishedByHour { hours: expected, counted_from: None });
    }
    // Of each of many dealers, the newest 20 entries are counted.
    for number in 101..=124 {
        let created = if number <= 110 { 10 * HOUR } else { 11 * HOUR };
        let entry = entry(number, Action::Publish, ActionState::Done, created);
        let ad = ad(number, created);
        let new = NewAd { ad: &ad, request: &request(number, created), entry: &entry, answer: None };
        store.create(new).await.unwrap();
    }
    let many: Vec<_> = (0..1000).map(|number| format!("d{number}")).collect();
    let published = temporary.database.published_by_hour(Scope::Dealers(&many), at(0)).await.unwrap();
    let expected = [(at(10 * HOUR), 6), (at(11 * HOUR), 14)].into();
    assert_eq!(published, PublishedByHour { hours: expected, counted_from: Some(at(10 * HOUR)) });
}
