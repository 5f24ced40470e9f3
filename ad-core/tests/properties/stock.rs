//! The desired stock: whatever an ad has and whatever is wanted, a change leads to what is wanted, and then nothing is left to do.

use ad_core::{
    categories::{self, Category},
    model::{Ad, AdState, ApiVersion, Dealer, Timestamp},
    rulebook::{Rulebook, SourceId, WriteContext},
    stock::{ChangeKind, ExistingAd, ListOrder, StockComparison, differences},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::full;

/// Paths of members that may be left out, of a payload with all fields.
fn leaves(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.contains_key("unit") => {
            for (name, value) in members {
                leaves(&format!("{path}.{name}"), value, out);
            }
        }
        _ => out.push(path.trim_start_matches('.').to_owned()),
    }
}

fn remove(object: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => drop(object.remove(path)),
        Some((name, below)) => {
            if let Some(Value::Object(inside)) = object.get_mut(name) {
                remove(inside, below);
            }
        }
    }
}

/// A payload without the members that the bits leave out.
fn part(payload: &Map<String, Value>, bits: &[bool]) -> Map<String, Value> {
    let mut paths = Vec::new();
    leaves("", &json!(payload), &mut paths);
    let mut part = payload.clone();
    for (path, _) in paths.iter().zip(bits).filter(|(_, keep)| !**keep) {
        remove(&mut part, path);
    }
    part
}

/// Mostly kept, so that enough payloads are valid.
fn bits() -> impl Strategy<Value = Vec<bool>> {
    proptest::collection::vec(prop::bool::weighted(0.9), 120)
}

fn categories() -> impl Strategy<Value = &'static Category> {
    let creatable: Vec<_> = categories::typed().map(|(_, category)| category).collect();
    prop::sample::select(creatable)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_change_leads_to_what_is_wanted(category in categories(), before in bits(), wanted in bits(), knows_dealer: bool) {
        let rulebook = Rulebook::default();
        let dealer = Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") };
        let full = full::payload(category, ApiVersion::V4, &rulebook.catalogue);
        let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(&dealer) };
        let (before, wanted) = (part(&full, &before), part(&full, &wanted));
        let Ok(checked) = rulebook.create(write, before, SourceId::Required) else { return Ok(()) };
        let time = Timestamp::default();
        let mut ad = Ad { id: Uuid::nil(), source_id: checked.source_id, dealer_code: dealer.code.clone(), category_id: category.id,
            state: AdState::Created, api_version: ApiVersion::V4, content: checked.content, image_refs: Vec::new(),
            marketplace_ad_id: None, offer_id: None, created: time, updated: time };
        let stock = StockComparison { rulebook: &rulebook, dealer: knows_dealer.then_some(&dealer) };
        let compare = |ad: &Ad| stock.change(wanted.clone(), Some(ExistingAd { ad, is_deleted: false, failed_images: &[] }));
        let change = compare(&ad);
        match change.kind {
            ChangeKind::Unchanged => prop_assert_eq!(change.fields.len(), 0),
            ChangeKind::Invalid => prop_assert!(!change.obstacle.unwrap().errors().is_empty()),
            ChangeKind::Update => {
                let content = ad.content.clone();
                let updated = rulebook.update(write, &ad, change.body.unwrap()).unwrap();
                ad.content = updated.content;
                let found = differences(category, content.fields(), ad.content.fields(), ListOrder::OfImages);
                prop_assert!(!found.is_empty());
                prop_assert_eq!(change.fields, found);
                prop_assert_eq!(compare(&ad).kind, ChangeKind::Unchanged);
            }
            kind => prop_assert!(false, "{kind}"),
        }
    }
}
