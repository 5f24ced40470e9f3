//! Objects without a table: any strings, numbers, booleans, arrays and objects, kept as sent within bounds (decision 20).

use serde_json::Value;

use super::{FieldErrors, MOST_CHARACTERS};

/// Most members of an object, and items of an array.
pub const MOST_MEMBERS: usize = 64;
/// Most levels, the outermost object included.
pub const MOST_LEVELS: usize = 4;

/// Checks an object and drops its `null` members.
pub(super) fn check(value: &mut Value, errors: &mut FieldErrors) {
    level(value, MOST_LEVELS, errors);
}

fn level(value: &mut Value, levels: usize, errors: &mut FieldErrors) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => {
            errors.here(format!("Nested too deeply: at most {MOST_LEVELS} levels."));
        }
        Value::Array(items) => {
            counted(items.len(), errors);
            for (index, item) in items.iter_mut().take(MOST_MEMBERS).enumerate() {
                let mut wrong = FieldErrors::default();
                match item {
                    Value::Null => wrong.here("This field may not be null."),
                    item => level(item, levels - 1, &mut wrong),
                }
                errors.put(&index.to_string(), wrong);
            }
        }
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            counted(members.len(), errors);
            for (name, member) in members.iter_mut().take(MOST_MEMBERS) {
                let mut wrong = FieldErrors::default();
                level(member, levels - 1, &mut wrong);
                if is_too_long(name) {
                    errors.here(format!("Ensure that names have no more than {MOST_CHARACTERS} characters."));
                }
                errors.put(name, wrong);
            }
        }
        Value::String(text) if is_too_long(text) => {
            errors.here(format!("Ensure this field has no more than {MOST_CHARACTERS} characters."));
        }
        _ => {}
    }
}

fn counted(members: usize, errors: &mut FieldErrors) {
    if members > MOST_MEMBERS {
        errors.here(format!("Ensure this field has no more than {MOST_MEMBERS} elements."));
    }
}

fn is_too_long(text: &str) -> bool {
    text.len() > MOST_CHARACTERS && text.chars().nth(MOST_CHARACTERS).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(mut value: Value) -> Value {
        let mut errors = FieldErrors::default();
        check(&mut value, &mut errors);
        json!(errors)
    }

    #[test]
    fn what_is_within_the_bounds_is_kept_and_null_clears() {
        let mut value = json!({"a": [1, 2.5, "x", true, {"b": {}}], "gone": null, "c": {"gone": null, "d": "e"}});
        let mut errors = FieldErrors::default();
        check(&mut value, &mut errors);
        assert!(errors.is_empty());
        assert_eq!(value, json!({"a": [1, 2.5, "x", true, {"b": {}}], "c": {"d": "e"}}));
    }

    #[test]
    fn levels_members_texts_and_nulls_in_arrays_have_bounds() {
        assert_eq!(wrong(json!({"a": {"b": {"c": 1}}})), json!({}));
        let deep = json!({"a": {"b": {"c": {"d": ["Nested too deeply: at most 4 levels."]}}}});
        assert_eq!(wrong(json!({"a": {"b": {"c": {"d": []}}}})), deep);
        assert_eq!(wrong(json!({"a": vec![1; 64]})), json!({}));
        let many = json!({"a": ["Ensure this field has no more than 64 elements."]});
        assert_eq!(wrong(json!({"a": vec![1; 65]})), many);
        assert_eq!(wrong(json!({"a": [null]})), json!({"a": {"0": ["This field may not be null."]}}));
        let long = json!({"a": ["Ensure this field has no more than 10000 characters."]});
        assert_eq!(wrong(json!({"a": "å".repeat(10_001)})), long);
    }
}
