//! An array of an ad and patches: they are merged, which keeps its laws, and what is accepted as an ad is updated with them
//! one after the other. Nothing panics, and what is accepted is taken back as it was stored.
#![no_main]

#[path = "../../tests/properties/kinds.rs"]
mod kinds;

use ad_core::{categories, rulebook::merge::merge};
use kinds::{Kind, RULEBOOK, ad, stays};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|objects: &[u8]| {
    let Ok(objects) = serde_json::from_slice::<Vec<Map<String, Value>>>(objects) else { return };
    let Some((payload, patches)) = objects.split_first() else { return };
    assert_eq!(merge(payload, Map::new()), *payload);
    for patch in patches {
        let merged = merge(payload, patch.clone());
        assert_eq!(merge(&merged, patch.clone()), merged);
    }
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    for kind in Kind::all().into_iter().filter(|kind| category.is_some_and(|it| it.id == kind.category.id)) {
        let Ok(checked) = RULEBOOK.import(kind.write(), payload.clone()) else { continue };
        let mut stored = ad(kind, &checked);
        for patch in patches {
            if let Ok(checked) = RULEBOOK.update(kind.write(), &stored, patch.clone()) {
                stored = ad(kind, &checked);
                stays(kind, &stored);
            }
        }
    }
});
