//! Keys that occur more than once in an object of a payload's text. The last one counts (decision 9).

use std::{collections::BTreeSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::violation::{Code, Warning};

/// Maximum number of keys that are reported.
const MOST: usize = 20;

/// A warning for each repeated key of a JSON text, at most 20; none if the text is not JSON.
pub fn warnings(text: &[u8]) -> Vec<Warning> {
    let mut scan = Scan { path: Vec::new(), found: Vec::new() };
    let read = scan.deserialize(&mut serde_json::Deserializer::from_slice(text));
    let found = if read.is_ok() { scan.found } else { Vec::new() };
    let message = || "This key occurs more than once; its last value counts.".to_owned();
    found.into_iter().map(|field| Warning { field, code: Code::DuplicateKey, message: message() }).collect()
}

struct Scan {
    path: Vec<String>,
    found: Vec<String>,
}

impl<'de> DeserializeSeed<'de> for &mut Scan {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Scan {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            self.path.push(key.clone());
            if !seen.insert(key) && self.found.len() < MOST {
                self.found.push(self.path.join("."));
            }
            members.next_value_seed(&mut *self)?;
            self.path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            self.path.push(index.to_string());
            let next = items.next_element_seed(&mut *self)?;
            self.path.pop();
            if next.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_found_at_every_level() {
        let text =
            br#"{"body": "a", "price": [{"type": "list"}, {"amount": 1, "amount": 2}], "body": null, "url": true}"#;
        let fields: Vec<_> = warnings(text).into_iter().map(|warning| warning.field).collect();
        assert_eq!(fields, ["price.1.amount", "body"]);
        assert!(warnings(br#"{"a": {"b": 1.5}, "c": {"b": -1}}"#).is_empty());
        assert!(warnings(br#"{"a": 1, "a": "#).is_empty(), "not JSON");
        let many = format!("{{{}}}", vec![r#""a": 1"#; 100].join(","));
        assert_eq!(warnings(many.as_bytes()).len(), MOST);
    }
}
