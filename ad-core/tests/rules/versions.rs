//! V3, and the way from it to V4 ('States and transitions', 'Endpoints' rules 6 to 8, decisions 20 and 28).

use ad_core::{
    categories::by_id,
    model::{Ad, ApiVersion},
    ports::{Clock, Ids},
    rulebook::versions::VersionError,
    service::{CreatePath, ServiceError, Target},
};
use serde_json::{Value, json};

use crate::support::{House, access, category, object, reasons, sample, target, with};

/// A house with one ad of V3 that has been published.
async fn house_of(payload: Value) -> House {
    let house = House::new();
    create(&house, payload).await.unwrap();
    house.run().await;
    house
}

async fn create(house: &House, payload: Value) -> Result<Ad, ServiceError> {
    house
        .kit
        .service
        .create(&access(), house.kit.ids.next(), CreatePath::V3, object(payload))
        .await
        .map(|answer| answer.ad)
}

async fn update(house: &House, version: ApiVersion, source_id: &str, patch: Value) -> Result<Ad, ServiceError> {
    let id = house.kit.ids.next();
    house.kit.service.update(&access(), id, version, target(source_id), &object(patch)).await.map(|answer| answer.ad)
}

async fn migrate(house: &House, vehicle_type: Option<&str>, payload: Value) -> Result<Ad, ServiceError> {
    let ad = house.ad().await;
    let target = Target { category: vehicle_type.map(category), ..target(&ad.source_id) };
    house.kit.service.migrate(&access(), house.kit.ids.next(), target, &object(payload)).await.map(|answer| answer.ad)
}

fn refusal<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> VersionError {
    match result {
        Err(ServiceError::Version(error)) => error,
        other => panic!("not refused for its version: {other:?}"),
    }
}

fn errors<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> Value {
    match result {
        Err(ServiceError::Invalid(errors)) => json!(errors),
        other => panic!("not invalid: {other:?}"),
    }
}

/// A registered vehicle of V3 with what is required.
fn registered(category_id: u16) -> Value {
    json!({"source_id": "v3", "category_id": category_id,
        "category_fields": {"registration_number": "ABC123", "model_year": 2015}})
}

/// An ad of a category that V3 alone has.
fn open(category_id: u16) -> Value {
    json!({"source_id": "v3", "category_id": category_id, "title": "Fin", "contact": {"email": "a@b.se"},
        "category_fields": {"brand": "valtra", "hours": 1200, "extras": ["x", {"y": true}]}})
}

#[tokio::test]
async fn the_sample_of_v3_is_created_and_becomes_v4_with_its_first_update_there() {
    let house = house_of(sample!("car-v3")).await;
    let before = house.ad().await;
    assert_eq!(before.api_version, ApiVersion::V3);
    assert_eq!(before.content.title(), Some("Volvo V60 2019"));
    assert!(before.offer_id.is_some(), "registered vehicles of V3 go to the secondary marketplace too");

    let seats = json!({"category_fields": {"physics": {"number_of_seats": 5}}});
    let wrong = errors(update(&house, ApiVersion::V3, &before.source_id, seats.clone()).await);
    assert_eq!(
        wrong,
        json!({"category_fields": {"physics": {"number_of_seats": ["This field is not supported by V3."]}}})
    );
    let still = update(&house, ApiVersion::V3, &before.source_id, json!({"body": "Ny text"})).await.unwrap();
    assert_eq!(still.api_version, ApiVersion::V3);

    let converted = update(&house, ApiVersion::V4, &before.source_id, seats).await.unwrap();
    assert_eq!((converted.api_version, converted.id), (ApiVersion::V4, before.id));
    house.run().await;
    let after = house.ad().await;
    assert_eq!((after.api_version, &after.source_id), (ApiVersion::V4, &before.source_id));
    assert_eq!(after.marketplace_ad_id, before.marketplace_ad_id);
    assert_eq!(after.content.text("body"), Some("Ny text"));
    assert_eq!(house.log(3).await.len(), 6 + 4 + 4, "the whole history is there");

    let late = refusal(update(&house, ApiVersion::V3, &before.source_id, json!({"body": "V3"})).await);
    let VersionError::NotThroughV3(ad) = late else { panic!("{late:?}") };
    assert_eq!((ad.source_id, ad.category.id), ("0b0e6b5e-6a2e-4f0e-9b57-1f5d0c1f2a11".to_owned(), 1020));
}

#[tokio::test]
async fn compatible_categories_convert_and_the_others_are_told_how_to_migrate() {
    for id in [1020, 1021, 1140, 1143, 1180] {
        let house = house_of(registered(id)).await;
        assert_eq!(update(&house, ApiVersion::V4, "v3", json!({})).await.unwrap().api_version, ApiVersion::V4, "{id}");
    }
    for (payload, targets) in [
        (registered(1121), 1),
        (registered(1102), 1),
        (registered(1101), 1),
        (open(1063), 1),
        (open(1222), 2),
        (open(1221), 2),
        (open(1223), 1),
        (open(1224), 0),
    ] {
        let house = house_of(payload).await;
        let refusal = refusal(update(&house, ApiVersion::V4, "v3", json!({"body": "x"})).await);
        assert_eq!(refusal.code().name(), "incompatible_api_version");
        let VersionError::IncompatibleApiVersion(ad) = refusal else { panic!("{refusal:?}") };
        assert_eq!((&*ad.source_id, ad.category.targets().count()), ("v3", targets));
        let ad = house.ad().await;
        assert_eq!((ad.api_version, ad.content.text("body")), (ApiVersion::V3, None), "unchanged");
    }
}

#[tokio::test]
async fn every_row_of_the_table_migrates_and_keeps_id_log_and_images() {
    let machine = json!({"title": "Ny", "contact": {"email": "a@b.se"}, "category_fields": {"model_year": 2001}});
    let vehicle = json!({"category_fields": {"registration_number": "abc 123", "model_year": 2016}});
    let boats = (1061..=1067).map(|id| (open(id), "boat", &machine));
    for (payload, vehicle_type, complete) in [
        (registered(1121), "moped", &vehicle),
        (registered(1102), "camper", &vehicle),
        (registered(1101), "caravan", &vehicle),
        (open(1225), "agriculture-tools", &machine),
        (open(1226), "agriculture-tools", &machine),
        (open(1222), "agriculture-thresher", &machine),
        (open(1222), "agriculture-tractor", &machine),
        (open(1221), "bus", &machine),
        (open(1221), "truck", &machine),
        (open(1223), "construction", &machine),
    ]
    .into_iter()
    .chain(boats)
    {
        for generic in [false, true] {
            let with_images = with(&payload, json!({"image_urls": ["https://cdn.example.com/1.jpg"], "body": "Old"}));
            let house = house_of(with_images).await;
            let before = house.ad().await;
            let id = category(vehicle_type).id;
            let result = if generic {
                migrate(&house, None, with(complete, json!({"category_id": id}))).await
            } else {
                migrate(&house, Some(vehicle_type), complete.clone()).await
            };
            let ad = result.unwrap();
            assert_eq!((ad.api_version, ad.category_id), (ApiVersion::V4, id));
            house.run().await;
            let after = house.ad().await;
            assert_eq!((after.id, &after.source_id, after.created), (before.id, &before.source_id, before.created));
            assert_eq!((after.image_refs.len(), &after.marketplace_ad_id), (1, &before.marketplace_ad_id));
            assert_eq!(after.content.text("body"), None, "the data is replaced whole");
            let updated = ["update processing: Processing", "publish processing: Publishing"];
            let log = house.log(1).await;
            assert_eq!((log.len(), [&*log[0], &*log[2]]), (4, updated), "{log:?}");
            assert_eq!(
                refusal(migrate(&house, Some(vehicle_type), complete.clone()).await).code().name(),
                "ad_already_v4"
            );
        }
    }
}

#[tokio::test]
async fn a_migration_is_refused_where_it_makes_no_sense_and_says_what_does() {
    let complete = json!({"category_fields": {"registration_number": "ABC123", "model_year": 2016}});
    let car = house_of(registered(1020)).await;
    let converts = refusal(migrate(&car, Some("car"), complete.clone()).await);
    assert!(matches!(&converts, VersionError::ConvertsByUpdate(ad) if ad.category.id == 1020), "{converts:?}");
    let handling = house_of(open(1224)).await;
    let stays = refusal(migrate(&handling, None, json!({"category_id": 1322})).await);
    assert!(matches!(&stays, VersionError::NoTarget(ad) if ad.category.id == 1224), "{stays:?}");
    let Err(ServiceError::Elsewhere { found, .. }) = migrate(&handling, Some("truck"), json!({})).await else {
        panic!("1224 is found under trucks")
    };
    assert_eq!(found.category.id, 1224);

    let moped = house_of(registered(1121)).await;
    assert_eq!(
        errors(migrate(&moped, Some("moped"), with(&complete, json!({"category_id": 1121}))).await),
        json!({"category_id": ["Must not be sent: the path fixes it (1121)."]})
    );
    assert_eq!(
        errors(migrate(&moped, None, complete.clone()).await),
        json!({"category_id": ["This field is required."]})
    );
    assert_eq!(
        errors(migrate(&moped, None, with(&complete, json!({"category_id": 1020}))).await),
        json!({"category_id": ["\"1020\" is not a valid choice.", "Valid choices: \"1121\"."]})
    );
    assert_eq!(
        errors(migrate(&moped, Some("moped"), json!({"source_id": "other"})).await),
        json!({"source_id": ["Cannot be changed (it is \"v3\")."], "category_fields": ["This field is required."]})
    );
    let fields = json!({"category_fields": {"registration_number": "DEF456"}});
    assert_eq!(
        errors(migrate(&moped, Some("moped"), fields).await)["category_fields"],
        json!({"model_year": ["This field is required."], "registration_number":
            ["Cannot change after creation (it is \"ABC123\"). For another vehicle, create another ad."]})
    );
    moped.delete("v3").await.unwrap();
    assert_eq!(reasons(migrate(&moped, Some("moped"), complete).await), ["Ad has been deleted, cannot migrate"]);
}

#[tokio::test]
async fn trailers_are_created_nowhere() {
    let house = House::new();
    assert_eq!(refusal(create(&house, registered(1045)).await).code().name(), "trailer_create_disabled");
    assert_eq!(refusal(house.create("trailer", json!({})).await).code().name(), "trailer_create_disabled");
    let validated = house.kit.service.validate(&access(), category("trailer"), object(registered(1045))).await;
    assert_eq!(refusal(validated).code().name(), "trailer_create_disabled");
}

#[tokio::test]
async fn v3_names_its_categories_and_refuses_tagged_fields() {
    let house = House::new();
    let wrong = async |id: Value| errors(create(&house, with(&registered(1020), json!({"category_id": id}))).await);
    let bus = wrong(json!(1321)).await;
    assert_eq!(bus["category_id"][1], "V3 does not have this category.");
    assert_eq!(bus["category_id"][2], "Send it to /v4/bus.");
    assert_eq!(wrong(json!(1000)).await["category_id"][0], "\"1000\" is not a valid choice.");
    assert_eq!(wrong(json!(null)).await, json!({"category_id": ["This field is required."]}));
    assert_eq!(
        wrong(json!("car")).await,
        json!({"category_id": ["A valid integer is required.", "Send 1020, not \"car\"."]})
    );
    let tagged = json!({"category_fields": {"interior_color": "beige", "condition": {"number_of_owners": 1}}});
    assert_eq!(
        errors(create(&house, with(&registered(1020), tagged)).await),
        json!({"category_fields": {"interior_color": ["This field is not supported by V3."],
            "condition": {"number_of_owners": ["This field is not supported by V3."]}}})
    );
    let twice = create(&house, with(&registered(1020), json!({"category_id": "1020"}))).await.unwrap();
    assert_eq!(twice.category_id, 1020);
}

#[tokio::test]
async fn open_categories_keep_what_they_are_sent_and_need_title_and_contact() {
    let house = house_of(open(1225)).await;
    let ad = house.ad().await;
    assert_eq!(ad.content.get("category_fields"), Some(&open(1225)["category_fields"]));
    assert_eq!(ad.offer_id, None, "not on the secondary marketplace");
    assert_eq!(
        errors(create(&house, json!({"source_id": "x", "category_id": 1225})).await),
        json!({"title": ["This field is required."], "contact": ["This field is required."]})
    );
    let patch = json!({"category_fields": {"hours": null, "extras": ["z"], "new": {"a": 1}}});
    let merged = update(&house, ApiVersion::V3, "v3", patch).await.unwrap();
    assert_eq!(
        merged.content.get("category_fields"),
        Some(&json!({"brand": "valtra", "extras": ["z"], "new": {"a": 1}}))
    );
    let without = json!({"source_id": "y", "category_id": 1225, "title": "T", "contact": {"email": "a@b.se"}});
    assert!(create(&house, without).await.is_ok(), "category_fields are optional");
}

#[tokio::test]
async fn an_a_tractor_needs_neither_title_nor_contact_and_has_no_path_in_v4() {
    let house = house_of(json!({"source_id": "v3", "category_id": 1122})).await;
    assert_eq!(house.ad().await.content.title(), Some("A-tractors"));
    let fields = json!({"category_fields": {"brand": "volvo", "model_year": 2001}});
    let named = update(&house, ApiVersion::V3, "v3", fields).await.unwrap();
    assert_eq!(named.content.title(), Some("volvo 2001"), "a generated title follows");
    let titled = update(&house, ApiVersion::V3, "v3", json!({"title": "EPA"})).await.unwrap();
    assert_eq!(titled.content.title(), Some("EPA"));
    let kept = update(&house, ApiVersion::V3, "v3", json!({"category_fields": {"brand": "saab"}})).await.unwrap();
    assert_eq!(kept.content.title(), Some("EPA"), "one that was sent stays");
    assert!(by_id(1122).unwrap().targets().next().is_none());
    assert!(house.delete("v3").await.is_ok(), "V4 reads and deletes it");
    house.run().await;
    let revived = update(&house, ApiVersion::V3, "v3", json!({"body": "again"})).await;
    assert!(revived.is_ok(), "it is no registered vehicle");
}

#[tokio::test]
async fn an_ad_of_v3_is_found_under_every_type_that_it_may_migrate_to() {
    let house = house_of(open(1222)).await;
    let read = |vehicle_type: &'static str| {
        let target = Target { category: Some(category(vehicle_type)), ..target("v3") };
        let service = house.kit.service.clone();
        async move { service.read(&access(), target).await.is_ok() }
    };
    assert!(read("agriculture-thresher").await && read("agriculture-tractor").await);
    assert!(!read("agriculture-tools").await);
    let listed = |vehicle_type: &'static str| {
        let query = ad_core::model::AdQuery::default();
        let service = house.kit.service.clone();
        async move { service.list(&access(), Some(category(vehicle_type)), query).await.unwrap().count }
    };
    assert_eq!((listed("agriculture-tractor").await, listed("boat").await), (1, 0));
    assert!(house.clock.now() >= house.ad().await.created);
}

#[tokio::test]
async fn a_derived_is_new_vehicle_follows_the_mileage_where_it_is_not_locked() {
    let mileage = |value: u32| json!({"category_fields": {"condition": {"mileage": {"unit": "km", "value": value}}}});
    let moped = sample!("moped-v4");
    let house = House::new();
    let new =
        with(&moped, json!({"category_fields": {"condition": {"is_new_vehicle": null, "mileage": {"value": 0}}}}));
    let is_new = |ad: &Ad| ad.content.get("category_fields.condition.is_new_vehicle").cloned();
    let ad = house.create("moped", new).await.unwrap();
    assert_eq!(is_new(&ad), Some(json!(true)));
    let used = house.update("moped-17", mileage(10)).await.unwrap();
    assert_eq!(is_new(&used), Some(json!(false)));
    let said = with(&mileage(0), json!({"category_fields": {"condition": {"is_new_vehicle": false}}}));
    assert_eq!(is_new(&house.update("moped-17", said).await.unwrap()), Some(json!(false)));
    let kept = house.update("moped-17", mileage(20)).await.unwrap();
    assert_eq!(is_new(&kept), Some(json!(false)), "what was said stays");
}
