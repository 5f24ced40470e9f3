//! What an ad said, when, and back to it (extensions E10).

use std::time::Duration;

use ad_core::{
    categories::{TRAILER, typed},
    model::{Action, Ad, AdState, ApiVersion, Page, Timestamp, ValueChange},
    ports::{Clock, Ids, StoreError},
    rulebook::Rulebook,
    service::{Accepted, NotRecorded, ServiceError, Target},
};
use serde_json::{Map, Value, json};

use crate::support::{House, access, boat, car, object, reasons, target, with};

const ALL: Page = Page { limit: 500, offset: 0 };

impl House {
    async fn revisions(&self, source_id: &str, page: Page) -> (u64, Vec<Value>) {
        let page = self.kit.service.revisions(&access(), target(source_id), page).await.unwrap();
        (page.count, page.rows.iter().map(|row| json!(row)).collect())
    }

    async fn revision(&self, source_id: &str, revision: i64) -> Result<Ad, NotRecorded> {
        not_recorded(self.kit.service.revision(&access(), target(source_id), revision).await.map(|past| past.ad))
    }

    async fn at(&self, source_id: &str, at: Timestamp) -> Result<(i64, Ad), NotRecorded> {
        not_recorded(
            self.kit.service.ad_at(&access(), target(source_id), at).await.map(|past| (past.revision, past.ad)),
        )
    }

    async fn restore(&self, target: Target<'_>, revision: i64) -> Result<Accepted, ServiceError> {
        let id = self.kit.ids.next();
        self.kit.service.restore(&access(), id, ApiVersion::V4, target, revision).await
    }

    fn wait(&self) -> Timestamp {
        self.clock.advance(Duration::from_hours(1));
        self.clock.now()
    }
}

fn not_recorded<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> Result<T, NotRecorded> {
    match result {
        Ok(past) => Ok(past),
        Err(ServiceError::NotRecorded(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

fn warned(accepted: &Accepted) -> Vec<(&str, &str)> {
    accepted.warnings.iter().map(|warning| (warning.field.as_str(), warning.code.name())).collect()
}

#[tokio::test]
async fn revisions_are_listed_with_what_changed_and_shown_as_they_were() {
    let (house, new) = House::with("car", car()).await;
    let first = house.wait();
    house.update("car-1", json!({"body": "Second", "category_fields": {"color": null}})).await.unwrap();
    // What changes nothing is not listed.
    house.wait();
    house.update("car-1", json!({"body": "Second"})).await.unwrap();
    let third = house.wait();
    house.update("car-1", json!({"price": [{"type": "list", "amount": 1, "currency": "SEK"}]})).await.unwrap();
    house.run().await;

    let (count, rows) = house.revisions("car-1", ALL).await;
    let changes = |row: &Value| serde_json::from_value::<Vec<ValueChange>>(row["changes"].clone()).unwrap();
    let shown: Vec<_> =
        rows.iter().map(|row| (row["revision"].as_i64(), row["created"].clone(), row["action"].clone())).collect();
    let update = |revision, at: Timestamp| (Some(revision), json!(at), json!(Action::Update));
    assert_eq!(
        (count, shown),
        (3, vec![update(3, third), update(1, first), (Some(0), json!(new.created), json!(Action::Create))])
    );
    let pointers: Vec<_> = changes(&rows[1]).iter().map(|it| (it.pointer.clone(), it.to.clone())).collect();
    assert_eq!(pointers[0], ("/body".to_owned(), json!("Second")));
    assert!(pointers.contains(&("/category_fields/color".to_owned(), Value::Null)), "{pointers:?}");
    let price = changes(&rows[0]);
    assert_eq!((price.len(), price[0].pointer.as_str()), (1, "/price"));
    assert_eq!(changes(&rows[2]), []);
    for offset in 0..4 {
        let (count, page) = house.revisions("car-1", Page { limit: 1, offset }).await;
        assert_eq!((count, page.first()), (3, rows.get(usize::try_from(offset).unwrap())));
    }

    assert_eq!(house.revision("car-1", 0).await.unwrap().content, new.content);
    let second = house.revision("car-1", 2).await.unwrap();
    assert_eq!((second.content.text("body"), second.updated), (Some("Second"), first));
    assert_eq!(house.revision("car-1", 1).await.unwrap().content, second.content);
    assert_eq!(house.revision("car-1", 3).await.unwrap().content, house.ad().await.content);
    for revision in [-1, 4, i64::MAX, i64::MIN] {
        let no_such = NotRecorded::NoSuchRevision { revision, present: 3 };
        assert_eq!(house.revision("car-1", revision).await.unwrap_err(), no_such);
    }

    let earlier = new.created - Duration::from_millis(1);
    let not_created = NotRecorded::NotCreated { at: earlier, created: new.created };
    assert_eq!(house.at("car-1", earlier).await.unwrap_err(), not_created);
    for (at, revision) in
        [(new.created, 0), (first - Duration::from_millis(1), 0), (first, 1), (third, 3), (house.wait(), 3)]
    {
        let (shown, ad) = house.at("car-1", at).await.unwrap();
        assert_eq!((shown, &ad.content), (revision, &house.revision("car-1", revision).await.unwrap().content), "{at}");
    }
}

#[tokio::test]
async fn a_deleted_ad_has_its_revisions_and_is_deleted_from_then_on() {
    use AdState::{Created, Deleted};
    let (house, _) = House::with("boat", boat()).await;
    let changed = house.wait();
    house.update("boat-8", json!({"body": "Second"})).await.unwrap();
    house.run().await;
    let deleted = house.wait();
    house.delete("boat-8").await.unwrap();
    house.run().await;
    let revived = house.wait();
    house.update("boat-8", json!({})).await.unwrap();
    house.run().await;
    house.wait();
    let states = async || {
        let mut states = Vec::new();
        for at in [changed, deleted - Duration::from_millis(1), deleted, revived - Duration::from_millis(1), revived] {
            states.push(house.at("boat-8", at).await.unwrap().1.state);
        }
        states
    };
    assert_eq!(states().await, [Created, Created, Deleted, Deleted, Created]);
    house.delete("boat-8").await.unwrap();
    house.run().await;
    assert_eq!(states().await, [Created, Created, Deleted, Deleted, Created]);
    // An update that makes it exist again is a revision.
    let (_, rows) = house.revisions("boat-8", ALL).await;
    let shown: Vec<_> =
        rows.iter().map(|row| (row["revision"].clone(), row["changes"].as_array().unwrap().len())).collect();
    assert_eq!(shown, [(json!(2), 0), (json!(1), 1), (json!(0), 0)]);
    assert_eq!(house.ad().await.state, Deleted);
    house.restore(target("boat-8"), 0).await.unwrap();
    house.run().await;
    let restored = house.ad().await;
    assert_eq!((restored.state, restored.content.text("body")), (Created, boat()["body"].as_str()));
}

#[tokio::test]
async fn a_restore_is_an_update_by_the_rules_of_today() {
    let (house, new) = House::with("car", car()).await;
    house.update("car-1", json!({"body": "Second", "url": "https://a.example", "location": {"latitude": 59.3, "longitude": 18.1}, "image_urls": ["https://cdn.example.com/2.jpg"]})).await.unwrap();
    house.run().await;
    let second = house.ad().await;
    assert_ne!(second.image_refs, new.image_refs);
    // Bound to a revision that the ad does not have any more.
    let stale = Target { revisions: Some(&[0]), ..target("car-1") };
    let refused = house.restore(stale, 0).await.unwrap_err();
    assert!(matches!(refused, ServiceError::PreconditionFailed(tag) if tag.revision == 1), "{refused:?}");
    let accepted = house.restore(Target { revisions: Some(&[1]), ..target("car-1") }, 0).await.unwrap();
    assert_eq!((&accepted.ad.content, warned(&accepted)), (&new.content, vec![]));
    house.run().await;
    let shown: Vec<_> = house.ad().await.image_refs.into_iter().map(|image| image.checksum).collect();
    assert_eq!(shown, new.image_refs.iter().map(|image| image.checksum.clone()).collect::<Vec<_>>());
    assert_eq!(house.log(1).await[..2], ["update processing: Processing", "update done: Ad updated"]);
    let accepted = house.restore(target("car-1"), 1).await.unwrap();
    assert_eq!(accepted.ad.content, second.content);
    let refused = house.restore(target("car-1"), 9).await.unwrap_err();
    assert!(matches!(refused, ServiceError::NotRecorded(NotRecorded::NoSuchRevision { .. })), "{refused:?}");
    house.delete("car-1").await.unwrap();
    house.run().await;
    assert_eq!(reasons(house.restore(target("car-1"), 0).await), ["Ad has been deleted, cannot update"]);
}

#[tokio::test]
async fn fields_that_cannot_change_stay_and_others_are_refused_by_name() {
    let sold = with(&car(), json!({"category_fields": {"registration_number": null, "vin": "YV1UZ8256N1234567"}}));
    let (house, _) = House::with("car", sold).await;
    house
        .update("car-1", json!({"body": "Second", "category_fields": {"registration_number": "abc 123"}}))
        .await
        .unwrap();
    let accepted = house.restore(target("car-1"), 0).await.unwrap();
    assert_eq!(warned(&accepted), [("category_fields.registration_number", "immutable")]);
    assert_eq!(accepted.ad.content.registration_number().as_deref(), Some("ABC123"));
    assert_eq!(accepted.ad.content.text("body"), car()["body"].as_str());
}

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A random change of content by an update.
fn random_patch(numbers: &mut Numbers, example: &Map<String, Value>, update: &Map<String, Value>) -> Value {
    match numbers.below(6) {
        0 => json!({"body": format!("Text {}", numbers.below(50))}),
        1 => json!({"price": [{"type": "list", "amount": numbers.below(90) + 10, "currency": "SEK"}]}),
        2 => json!({"url": format!("https://{}.example", numbers.below(2))}),
        3 => json!({"url": null}),
        4 => Value::Object(update.clone()),
        _ => {
            let urls: Vec<_> =
                (0..numbers.below(7)).map(|n| format!("https://cdn.example.com/{}.jpg", n * 3 % 7)).collect();
            json!({"image_urls": urls, "location": example.get("location")})
        }
    }
}

#[tokio::test]
async fn after_300_random_changes_every_moment_of_ads_of_all_types_is_as_it_was() {
    let (house, rulebook, mut numbers) = (House::new(), Rulebook::default(), Numbers(49));
    let mut ads = Vec::new();
    for (vehicle_type, category) in typed().filter(|(_, category)| category.id != TRAILER) {
        let mut example = category.example(ApiVersion::V4, &rulebook);
        for name in ["dealer_code", "salesperson"] {
            example.remove(name);
        }
        example.insert("source_id".to_owned(), json!(vehicle_type));
        let new = match house.create(vehicle_type, Value::Object(example.clone())).await {
            Ok(ad) => ad,
            Err(error) => panic!("{vehicle_type}: {error:?}"),
        };
        let update = category.example_update(ApiVersion::V4, &rulebook);
        ads.push((vehicle_type, example, update, vec![(new.created, 0, new.content)]));
    }
    let mut changes = 0;
    while changes < 300 {
        let index = numbers.below(ads.len());
        let (source_id, example, update, moments) = &mut ads[index];
        house.wait();
        let accepted = if numbers.below(4) == 0 {
            let (_, revision, content) = &moments[numbers.below(moments.len())];
            let accepted = house.restore(target(source_id), *revision).await.unwrap();
            assert_eq!(&accepted.ad.content, content, "{source_id}");
            accepted
        } else {
            let (id, patch) = (house.kit.ids.next(), object(random_patch(&mut numbers, example, update)));
            let accepted = house.kit.service.update(&access(), id, ApiVersion::V4, target(source_id), &patch).await;
            match accepted {
                Ok(accepted) => accepted,
                // Not every type takes every change.
                Err(ServiceError::Invalid(_)) => continue,
                Err(error) => panic!("{source_id}: {error:?}"),
            }
        };
        changes += 1;
        moments.push((accepted.ad.updated, accepted.tag.revision, accepted.ad.content));
        house.run_to_the_end().await;
    }
    for (source_id, _, _, moments) in ads {
        for (at, revision, content) in &moments {
            assert_eq!(&house.revision(source_id, *revision).await.unwrap().content, content, "{source_id} {revision}");
            assert_eq!(&house.at(source_id, *at).await.unwrap().1.content, content, "{source_id} at {at}");
        }
    }
}

#[tokio::test]
async fn what_was_changed_without_a_record_ends_it() {
    let (house, new) = House::with("car", car()).await;
    house.update("car-1", json!({"body": "Second"})).await.unwrap();
    house.run().await;
    // As an earlier version of the service does.
    house.change_unrecorded(&json!({"body": "Third"})).await.unwrap();
    house.run().await;
    let unrecorded = house.ad().await;
    let (_, rows) = house.revisions("car-1", ALL).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["revision"], &rows[0]["created"], &rows[0]["changes"]),
        (&json!(2), &Value::Null, &Value::Null)
    );
    let changed = house.wait();
    house.update("car-1", json!({"body": "Fourth"})).await.unwrap();
    let (_, rows) = house.revisions("car-1", ALL).await;
    assert_eq!(rows.iter().map(|row| row["revision"].as_i64().unwrap()).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(house.revision("car-1", 2).await.unwrap().content, unrecorded.content);
    for revision in [0, 1] {
        assert_eq!(house.revision("car-1", revision).await.unwrap_err(), NotRecorded::Revision(revision));
    }
    let at = changed - Duration::from_millis(1);
    assert_eq!(house.at("car-1", at).await.unwrap_err(), NotRecorded::Time { at, earliest: Some(changed) });
    house.restore(target("car-1"), 2).await.unwrap();
    assert_eq!(house.ad().await.content, unrecorded.content);
    assert_ne!(new.content, unrecorded.content);
}

impl House {
    async fn change_unrecorded(&self, patch: &Value) -> Result<(), StoreError> {
        use ad_core::{
            model::{Request, StatusWords},
            ports::{LogEntries, Revision, Scope, Store},
            rulebook::merge::merge,
        };
        let store = &self.kit.store;
        let (stored, _) = store.find(Scope::Dealer("north-cars"), "car-1", LogEntries::Omitted).await?.remove(0);
        let content = merge(stored.ad.content.fields(), object(patch.clone())).into();
        let request = Request::new(self.kit.ids.next(), None, self.clock.now());
        let revision = Revision {
            ad: stored.ad.id,
            dealer_code: "north-cars",
            revision: stored.revision,
            content: Some(&content),
            quality_score: None,
            price_before: None,
            replaced: None,
            version: None,
            intent: None,
            pole_position_until: None,
            words: StatusWords::default(),
            updated: self.clock.now(),
            request: &request,
            coalesces: false,
            reservation: None,
            answer: None,
        };
        store.revise(revision).await
    }
}
