//! How large and how deep a payload may be (decision 9), and how large the content of an ad.

use serde_json::{Map, Value};

use crate::{
    fields::{FieldErrors, grouped},
    model::{Content, json_bytes, object_bytes_at_most},
    violation::{Code, Violation},
};

/// Maximum size of a payload, in bytes (decision 9).
pub const MOST_BYTES: usize = 1024 * 1024;

/// Maximum number of levels of a payload, including its own object (decision 9).
pub const MOST_LEVELS: usize = 32;

/// Whether arrays and objects are nested more deeply than `levels`.
pub fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| deeper_than(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| deeper_than(member, levels - 1)),
        _ => false,
    }
}

/// Number of fields that the error names.
const MOST_NAMED: usize = 3;

/// Checks that content is not larger than a payload may be, to which several updates could add up. Content that exceeds the limit
/// already, because it was stored before there was one, may become smaller step by step.
pub(super) fn check(ad: &Map<String, Value>, before: Option<&Content>) -> Result<(), FieldErrors> {
    // Most ads are so far below the limit that an estimate is enough.
    if object_bytes_at_most(ad) <= MOST_BYTES {
        return Ok(());
    }
    let bytes = json_bytes(ad);
    if bytes <= MOST_BYTES || before.is_some_and(|before| bytes < before.bytes()) {
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    errors.here(Violation::stated(Code::TooLarge, too_large(bytes, &largest(ad))));
    Err(errors)
}

/// The text of the error, with the size of the ad and its largest fields with their sizes, in bytes.
pub fn too_large(bytes: usize, largest: &[(String, usize)]) -> String {
    let largest: Vec<_> = largest.iter().map(|(path, bytes)| format!("{path} ({} bytes)", grouped(bytes))).collect();
    format!(
        "The ad is too large: it would be {} bytes as JSON after this write, and at most {} are allowed. Shorten or clear its \
         largest fields: {}.",
        grouped(&bytes),
        grouped(&MOST_BYTES),
        largest.join(", ")
    )
}

/// The largest fields with their sizes; those of `category_fields` are separate fields.
fn largest(ad: &Map<String, Value>) -> Vec<(String, usize)> {
    let mut sizes = Vec::new();
    for (name, value) in ad {
        match value {
            Value::Object(fields) if name == "category_fields" => {
                sizes.extend(fields.iter().map(|(below, value)| (format!("{name}.{below}"), json_bytes(value))));
            }
            value => sizes.push((name.clone(), json_bytes(value))),
        }
    }
    sizes.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    sizes.truncate(MOST_NAMED);
    // Names of open category fields may be long.
    for (path, _) in &mut sizes {
        if let Some((end, _)) = path.char_indices().nth(100) {
            path.truncate(end);
            path.push('…');
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_count_the_payload_itself() {
        assert!(!deeper_than(&json!({"a": [1]}), 2));
        assert!(deeper_than(&json!({"a": [1]}), 1));
    }
}
