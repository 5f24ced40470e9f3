//! The quality of anything: no value, however odd, makes measuring it fail.

use ad_core::{categories, model::Timestamp, quality::Measured, rulebook::SourceId};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value};

use crate::{
    kinds::{Kind, RULEBOOK},
    odd::{any_json, any_object, changed, changes, odd_text},
};

fn measure(category: &'static categories::Category, ad: &Map<String, Value>, now: i64) {
    let measured = Measured::new(category, ad, Timestamp::from_millis(now));
    let quality = measured.quality();
    let met: u32 = quality.goals.iter().filter(|goal| goal.met).map(|goal| u32::from(goal.weight)).sum();
    let all: u32 = quality.goals.iter().map(|goal| u32::from(goal.weight)).sum();
    assert_eq!(u32::from(quality.score), (met * 100).checked_div(all).unwrap_or(0));
    assert_eq!((measured.score(), measured.findings()), (quality.score, quality.findings));
}

proptest! {
    #[test]
    fn any_object_has_a_quality(ad in any_object(), now in any::<i64>()) {
        for category in categories::all() {
            measure(category, &ad, now);
        }
    }

    #[test]
    fn category_fields_of_any_kind_have_a_quality(
        values in vec(any_json(), 8),
        (vin, plate, body) in (odd_text(), odd_text(), odd_text()),
        now in any::<i64>(),
    ) {
        let names = ["model_year", "condition", "powertrain", "brand", "model", "equipments", "physics", "color_group"];
        let mut fields: Map<String, Value> = names.into_iter().map(str::to_owned).zip(values).collect();
        fields.insert("vin".to_owned(), vin.into());
        fields.insert("registration_number".to_owned(), plate.into());
        let ad = Map::from_iter([("category_fields".to_owned(), fields.into()), ("body".to_owned(), body.into())]);
        for category in categories::all() {
            measure(category, &ad, now);
        }
    }

    #[test]
    fn whatever_is_accepted_has_a_quality(changes in changes()) {
        for kind in Kind::all() {
            let payload = changed(&kind.full(), &changes);
            if let Ok(checked) = RULEBOOK.create(kind.write(), payload, SourceId::Optional) {
                measure(kind.category, checked.content.fields(), 1_795_341_600_000);
            }
        }
    }
}
