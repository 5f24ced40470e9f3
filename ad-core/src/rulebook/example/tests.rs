use super::*;
use crate::{
    categories::{all, typed},
    fields::FieldErrors,
    model::{Ad, AdState, Dealer, Timestamp},
    rulebook::{CheckedPayload, SourceId, WriteContext},
};

const VERSIONS: [ApiVersion; 2] = [ApiVersion::V3, ApiVersion::V4];

fn stored(category: &Category, version: ApiVersion, checked: CheckedPayload) -> Ad {
    Ad {
        id: uuid::Uuid::nil(),
        source_id: checked.source_id,
        dealer_code: "north-cars".to_owned(),
        category_id: category.id,
        state: AdState::Created,
        api_version: version,
        content: checked.content,
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: Timestamp::default(),
        updated: Timestamp::default(),
    }
}

/// Creates the example of a category and hands the ad to `then`.
fn created(
    rulebook: &Rulebook,
    category: &'static Category,
    version: ApiVersion,
    then: impl Fn(WriteContext<'_>, &Ad) -> Result<CheckedPayload, FieldErrors>,
) {
    let dealer = Dealer::named("north-cars");
    let write = WriteContext { category, version, dealer: Some(&dealer) };
    let checked = rulebook.create(write, category.example(version, rulebook), SourceId::Required);
    let checked = checked.unwrap_or_else(|errors| panic!("{category} {version}: {:?}", errors.flatten()));
    assert_eq!(checked.warnings, [], "{category} {version}");
    let again = then(write, &stored(category, version, checked));
    again.unwrap_or_else(|errors| panic!("{category} {version}: {:?}", errors.flatten()));
}

#[test]
fn every_example_is_accepted_and_so_is_its_update() {
    let rulebook = Rulebook::default();
    for version in VERSIONS {
        for category in all().filter(|category| category.is_in(version)) {
            created(&rulebook, category, version, |write, ad| {
                rulebook.update(write, ad, category.example_update(version, &rulebook))
            });
        }
    }
}

#[test]
fn without_its_identity_an_example_migrates_every_ad_that_may_become_one_of_its_category() {
    let rulebook = Rulebook::default();
    for from in all().filter(|category| category.is_in(ApiVersion::V3)) {
        for (_, category) in from.targets() {
            let mut payload = category.example(ApiVersion::V4, &rulebook);
            payload.remove("source_id");
            payload.remove("category_id");
            created(&rulebook, from, ApiVersion::V3, |write, ad| {
                let write = WriteContext { category, version: ApiVersion::V4, ..write };
                rulebook.migrate(write, ad, payload.clone())
            });
        }
    }
}

#[test]
fn an_example_fills_every_row_of_its_table_as_it_is_meant() {
    let rulebook = Rulebook::default();
    for (_, category) in typed() {
        let example = category.example(ApiVersion::V4, &rulebook);
        for field in category.fields().filter(|field| !DEALERS_OWN.contains(&field.path)) {
            let path = format!("category_fields.{}", field.path);
            let value = crate::model::get(&example, &path).unwrap_or_else(|| panic!("{category} {path}"));
            if matches!(field.kind, Kind::Slug { .. } | Kind::Model { .. } | Kind::Choice { .. }) {
                assert_eq!(value.as_str(), ExampleValues::of(category).text(field.path), "{category} {path}");
            }
        }
    }
}

#[test]
fn an_example_takes_its_values_from_a_catalogue_that_was_replaced() {
    let cars = r#"{"brand": {"saab": "Saab"}, "body_type": {"van": "Van"}, "color_group": {"red": "Red"},
        "consumption_standard": {"own": "Own"}}"#;
    let models = r#"{"saab": {"900": "900"}}"#;
    let catalogue = Catalogue::with_files([("car.json", cars), ("car-models.json", models)]).unwrap();
    let rulebook = Rulebook { catalogue, ..Rulebook::default() };
    let car = crate::categories::by_vehicle_type("car").unwrap();
    created(&rulebook, car, ApiVersion::V4, |write, ad| rulebook.update(write, ad, Map::new()));
    assert_eq!(car.example(ApiVersion::V4, &rulebook)["category_fields"]["model"], "900");
}
