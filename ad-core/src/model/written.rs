//! JSON texts that stores keep, taken apart and written again without being parsed.

use memchr::{memchr, memchr2};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// A JSON text that is known to be valid: it serialises as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written<'t>(pub(crate) &'t str);

/// The name by which `serde_json` knows a [`RawValue`](serde_json::value::RawValue), which cannot be made of a text without reading it
/// through.
const RAW: &str = "$serde_json::private::RawValue";

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW, 1)?;
        raw.serialize_field(RAW, self.0)?;
        raw.end()
    }
}

/// The members of a valid JSON object as names and texts, in their order. Names are as they are written. It ends early where the text is no
/// object.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (&str, Written<'_>)> {
    let mut place = memchr(b'{', object.as_bytes()).map_or(object.len(), |brace| brace + 1);
    std::iter::from_fn(move || {
        let bytes = object.as_bytes();
        let quote = place + memchr2(b'"', b'}', bytes.get(place..)?)?;
        if bytes[quote] == b'}' {
            return None;
        }
        let name_end = string_end(bytes, quote)?;
        let colon = name_end + memchr(b':', &bytes[name_end..])?;
        let value = colon + 1 + bytes[colon + 1..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        place = value_end(bytes, value)?;
        Some((object.get(quote + 1..name_end - 1)?, Written(object.get(value..place)?)))
    })
}

/// Where a string ends that begins here.
fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut place = quote + 1;
    loop {
        place += memchr2(b'"', b'\\', bytes.get(place..)?)? + 1;
        if bytes[place - 1] == b'"' {
            return Some(place);
        }
        place += 1;
    }
}

/// Where a value ends that begins here.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut place, mut depth) = (start, 0_u32);
    loop {
        match bytes.get(place)? {
            b'"' => place = string_end(bytes, place)?,
            b'{' | b'[' => {
                depth += 1;
                place += 1;
            }
            // The end of the object around a number or the like.
            b'}' | b']' | b',' if depth == 0 => return Some(place),
            b'}' | b']' => {
                depth -= 1;
                place += 1;
            }
            _ => {
                place += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    fn assert_taken_apart(text: &str, object: &Map<String, Value>) {
        let taken: Vec<_> = members(text).collect();
        let expected: Vec<_> = object.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
        assert_eq!(taken.len(), expected.len(), "{text}");
        for ((name, written), (known, value)) in taken.iter().zip(&expected) {
            assert_eq!(serde_json::from_str::<String>(&format!("\"{name}\"")).unwrap(), *known);
            let read: Value = serde_json::from_str(written.0).unwrap();
            assert_eq!(read.to_string(), *value, "{text}");
            assert_eq!(serde_json::to_string(written).unwrap(), written.0);
            assert_eq!(json!(written), read);
        }
    }

    #[test]
    fn members_end_where_they_end() {
        for object in [
            json!({}),
            json!({"a": 1}),
            json!({"a": "}", "b": "\\", "c": "\"", "d": {"e": [{}, [], "]}\\\""]}, "f": null, "g\"": -1.5e300, "å": true}),
        ] {
            assert_taken_apart(&object.to_string(), object.as_object().unwrap());
            assert_taken_apart(&serde_json::to_string_pretty(&object).unwrap(), object.as_object().unwrap());
        }
        for broken in ["", "{", "[]", "null", "{\"a\"", "{\"a\":", "{\"a\": \"", "{\"a\": [1"] {
            assert_eq!(members(broken).count(), 0, "{broken}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_object_is_taken_apart(members in prop::collection::btree_map(any::<String>(), values(), 0..6)) {
            let object: Map<String, Value> = members.into_iter().collect();
            assert_taken_apart(&Value::Object(object.clone()).to_string(), &object);
        }
    }
}
