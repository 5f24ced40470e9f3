//! Any object is checked as a create, in every version that has its category. Nothing panics, and what is accepted has a
//! quality and is taken back as it was stored.
#![no_main]

#[path = "../../tests/properties/kinds.rs"]
mod kinds;

use ad_core::{categories, model::Timestamp, quality::Measured};
use kinds::{Kind, RULEBOOK, ad, stays};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|payload: &[u8]| {
    let Ok(payload) = serde_json::from_slice::<Map<String, Value>>(payload) else { return };
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    for kind in Kind::all() {
        // What names no category is checked against all of them.
        if category.is_none_or(|category| category.id == kind.category.id)
            && let Ok(checked) = RULEBOOK.create(kind.write(), payload.clone(), ad_core::rulebook::SourceId::Optional)
        {
            Measured::new(kind.category, checked.content.fields(), Timestamp::from_millis(0)).quality();
            stays(kind, &ad(kind, &checked));
        }
        RULEBOOK.without_category(kind.version, payload.clone(), ad_core::rulebook::SourceId::Optional);
    }
});
