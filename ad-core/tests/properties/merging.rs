//! The laws of merging, whatever is merged.

use ad_core::rulebook::merge::merge;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::odd::{any_object, changed, changes};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_changes_nothing(stored in any_object()) {
        prop_assert_eq!(merge(&stored, Map::new()), stored);
    }

    #[test]
    fn the_same_changes_nothing(stored in any_object()) {
        prop_assert_eq!(merge(&stored, stored.clone()), stored);
    }

    #[test]
    fn twice_the_same_is_the_same(stored in any_object(), changes in changes(), other in any_object()) {
        for patch in [changed(&stored, &changes), other] {
            let once = merge(&stored, patch.clone());
            prop_assert_eq!(merge(&once, patch), once);
        }
    }

    #[test]
    fn what_is_sent_is_there_and_what_is_not_stays(stored in any_object(), patch in any_object()) {
        let merged = merge(&stored, patch.clone());
        for (name, value) in &merged {
            match (stored.get(name), patch.get(name)) {
                (Some(kept), None) => prop_assert_eq!(value, kept),
                (Some(Value::Object(_)), Some(Value::Object(_))) => prop_assert!(value.is_object()),
                (_, sent) => prop_assert_eq!(Some(value), sent),
            }
        }
        prop_assert!(stored.keys().chain(patch.keys()).all(|name| merged.contains_key(name)));
    }
}
