//! Whatever a payload is, checking it does not panic; and what is accepted is stored in a form that is accepted again and
//! stays as it is.

use std::{collections::HashMap, sync::LazyLock};

use ad_core::{
    categories::{self, Category, Heading},
    model::{Ad, ApiVersion},
};
use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::{
    full,
    kinds::{Kind, RULEBOOK, ad, stays},
    odd::{Change, any_json, any_object, changed, changes},
};

impl Kind {
    pub(crate) fn full(self) -> Map<String, Value> {
        FULL[&(self.category.id, self.version)].0.clone()
    }

    /// The ad of a full payload.
    fn full_ad(self) -> &'static Ad {
        &FULL[&(self.category.id, self.version)].1
    }
}

type Full = (Map<String, Value>, Ad);

/// Full payloads and their ads, made once.
static FULL: LazyLock<HashMap<(u16, ApiVersion), Full>> = LazyLock::new(|| {
    let full = |kind: Kind| {
        let payload = full::payload(kind.category, kind.version, &RULEBOOK.catalogue);
        let ad = ad(kind, &RULEBOOK.import(kind.write(), payload.clone()).unwrap());
        ((kind.category.id, kind.version), (payload, ad))
    };
    Kind::all().into_iter().map(full).collect()
});

/// The same ad from a complete payload: content with what identifies it, without what is generated.
fn complete(kind: Kind, ad: &Ad) -> Map<String, Value> {
    let mut payload = ad.content.fields().clone();
    if kind.category.heading == Heading::Forbidden {
        payload.remove("title");
    }
    payload.extend([("source_id".to_owned(), json!(ad.source_id)), ("category_id".to_owned(), json!(ad.category_id))]);
    payload
}

#[test]
fn a_full_payload_of_every_type_and_version_is_accepted_and_stays() {
    for kind in Kind::all() {
        let checked = RULEBOOK.create(kind.write(), kind.full(), ad_core::rulebook::SourceId::Required);
        let checked = checked.unwrap_or_else(|errors| panic!("{}: {}", kind.category, json!(errors)));
        let ad = ad(kind, &checked);
        stays(kind, &ad);
        for field in kind.category.fields().filter(|field| field.since.allows(kind.version)) {
            let there = ad.content.get(&format!("category_fields.{}", field.path));
            assert!(there.is_some(), "{} {}", kind.category, field.path);
        }
    }
}

#[test]
fn a_number_is_kept_to_the_last_digit_however_often_an_ad_is_stored() {
    let kind = Kind { category: categories::by_vehicle_type("boat").unwrap(), version: ApiVersion::V4 };
    let mut payload = kind.full();
    for sent in [22.802_382_893_898_894, 0.1 + 0.2, 1e-7, 123_456_789_012.345_67] {
        payload["category_fields"]["max_speed"]["value"] = json!(sent);
        let mut ad =
            ad(kind, &RULEBOOK.create(kind.write(), payload.clone(), ad_core::rulebook::SourceId::Required).unwrap());
        for _ in 0..3 {
            ad = crate::kinds::ad(kind, &RULEBOOK.update(kind.write(), &ad, Map::new()).unwrap());
        }
        assert_eq!(ad.content.get("category_fields.max_speed.value"), Some(&json!(sent)));
    }
}

#[test]
fn an_ad_that_is_sent_back_may_write_its_category_in_every_way_of_a_number() {
    let kind = Kind { category: categories::by_vehicle_type("boat").unwrap(), version: ApiVersion::V4 };
    let update =
        |id: Value| RULEBOOK.update(kind.write(), kind.full_ad(), Map::from_iter([("category_id".to_owned(), id)]));
    for same in [json!(1060), json!(1060.0), json!("1060")] {
        assert_eq!(&update(same).unwrap().content, &kind.full_ad().content);
    }
    for other in [json!(1020), json!(1060.5), json!("boat"), json!(null)] {
        let errors = json!(update(other).unwrap_err());
        assert_eq!(errors, json!({"category_id": ["Cannot be changed (it is 1060)."]}));
    }
}

#[test]
fn null_clears_every_field_that_is_neither_required_nor_locked() {
    for kind in Kind::all() {
        let ad = kind.full_ad();
        for field in kind.category.fields().filter(|field| field.since.allows(kind.version)) {
            let patch = field.path.rsplit('.').fold(Value::Null, |inside, name| json!({name: inside}));
            let Value::Object(patch) = json!({"category_fields": patch}) else { unreachable!() };
            let place = format!("category_fields.{}", field.path);
            match RULEBOOK.update(kind.write(), ad, patch) {
                Ok(checked) => {
                    let left = checked.content.get(&place);
                    let follows =
                        field.path == "condition.is_new_vehicle" && kind.category.field("condition.mileage").is_some();
                    let derived = field.default.map(Value::from).or_else(|| follows.then_some(Value::Bool(false)));
                    assert_eq!(left, derived.as_ref(), "{} {place}", kind.category);
                }
                Err(errors) => {
                    let held = field.required
                        || [
                            "registration_number",
                            "is_new_vehicle",
                            "number_of_owners",
                            "wheels",
                            "vehicle_ratings",
                            "brand",
                        ]
                        .iter()
                        .any(|name| field.path.ends_with(name));
                    assert!(held, "{} {place}: {}", kind.category, json!(errors));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn any_object_is_a_payload_that_is_accepted_or_refused(kind in select(Kind::all()), payload in any_object()) {
        let ad = kind.full_ad();
        let checked = [
            RULEBOOK.create(kind.write(), payload.clone(), ad_core::rulebook::SourceId::Optional),
            RULEBOOK.import(kind.write(), payload.clone()),
            RULEBOOK.update(kind.write(), ad, payload.clone()),
            RULEBOOK.migrate(kind.write(), ad, payload.clone()),
        ];
        for errors in checked.into_iter().filter_map(Result::err) {
            // What a client is told is an object of names, however odd the names that it sent.
            prop_assert!(json!(errors).is_object() && !errors.flatten().is_empty());
        }
        RULEBOOK.without_category(kind.version, payload, ad_core::rulebook::SourceId::Required);
    }

    #[test]
    fn anything_may_stand_in_category_fields(kind in select(Kind::all()), fields in any_json()) {
        let mut payload = kind.full();
        payload.insert("category_fields".to_owned(), fields);
        if let Ok(checked) = RULEBOOK.create(kind.write(), payload, ad_core::rulebook::SourceId::Required) {
            stays(kind, &ad(kind, &checked));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn what_a_create_accepts_is_stored_as_it_is_accepted_again(kind in select(Kind::all()), changes in changes()) {
        let payload = changed(&kind.full(), &changes);
        if let Ok(checked) = RULEBOOK.create(kind.write(), payload, ad_core::rulebook::SourceId::Required) {
            let ad = ad(kind, &checked);
            stays(kind, &ad);
            let again = RULEBOOK.create(kind.write(), complete(kind, &ad), ad_core::rulebook::SourceId::Required);
            prop_assert_eq!(json!(again.map(|again| again.content).map_err(|errors| json!(errors)).unwrap()), json!(ad.content));
        }
    }

    #[test]
    fn what_an_update_accepts_is_stored_as_it_is_accepted_again(
        kind in select(Kind::all()),
        first in changes(),
        second in changes(),
        kept in any::<u64>(),
    ) {
        let before = RULEBOOK.import(kind.write(), changed(&kind.full(), &first)).map(|checked| ad(kind, &checked));
        let before = before.unwrap_or_else(|_| kind.full_ad().clone());
        let mut patch = patch(&before, &second, kept);
        if let Ok(checked) = RULEBOOK.update(kind.write(), &before, patch.clone()) {
            let after = ad(kind, &checked);
            stays(kind, &after);
            // A generated title may be sent back as it is, and now it may be another.
            if kind.category.heading == Heading::Forbidden {
                patch.remove("title");
            }
            let twice = RULEBOOK.update(kind.write(), &after, patch).map_err(|errors| json!(errors)).unwrap();
            prop_assert_eq!(json!(twice.content), json!(after.content));
        }
    }

    #[test]
    fn an_ad_of_v3_is_taken_over_by_v4_as_it_is(category in select(converting()), changes in changes()) {
        let v3 = Kind { category, version: ApiVersion::V3 };
        if let Ok(checked) = RULEBOOK.create(v3.write(), changed(&v3.full(), &changes), ad_core::rulebook::SourceId::Required) {
            stays(Kind { version: ApiVersion::V4, ..v3 }, &ad(v3, &checked));
        }
    }

    #[test]
    fn what_a_migration_accepts_stays(
        (from, to) in select(migrating()),
        first in changes(),
        second in changes(),
    ) {
        let v3 = Kind { category: from, version: ApiVersion::V3 };
        let stored = RULEBOOK.import(v3.write(), changed(&v3.full(), &first)).map(|checked| ad(v3, &checked));
        let stored = stored.unwrap_or_else(|_| v3.full_ad().clone());
        let v4 = Kind { category: to, version: ApiVersion::V4 };
        let mut payload = changed(&v4.full(), &second);
        payload.retain(|name, _| !["source_id", "category_id", "dealer_code"].contains(&name.as_str()));
        if let Ok(checked) = RULEBOOK.migrate(v4.write(), &stored, payload) {
            stays(v4, &ad(v4, &checked));
        }
    }
}

/// Some of what is stored, with changes.
fn patch(stored: &Ad, changes: &[Change], kept: u64) -> Map<String, Value> {
    let some = |(index, (name, value)): (usize, (&String, &Value))| {
        (kept >> (index % 64) & 1 == 1).then(|| (name.clone(), value.clone()))
    };
    let mut part: Map<String, Value> = stored.content.fields().iter().enumerate().filter_map(some).collect();
    if let Some(Value::Object(fields)) = part.get_mut("category_fields") {
        let mut index = 0;
        fields.retain(|_, _| {
            index += 1;
            kept >> ((index * 7) % 64) & 1 == 1
        });
    }
    changed(&part, changes)
}

/// The categories whose ads V4 takes over from V3.
fn converting() -> Vec<&'static Category> {
    categories::typed()
        .map(|(_, category)| category)
        .filter(|category| category.from_v3 == categories::FromV3::Converts)
        .collect()
}

/// Each way of a migration.
fn migrating() -> Vec<(&'static Category, &'static Category)> {
    categories::all().flat_map(|from| from.targets().map(move |(_, to)| (from, to))).collect()
}
