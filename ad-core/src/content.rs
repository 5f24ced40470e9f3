//! What the client wrote. A store keeps it as JSON text, and reading an ad hands the same text out again: so content that
//! comes from a store is taken apart only when somebody asks for what is inside.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, value::RawValue};

/// What the client wrote, valid and normalised: every field of the ad table that a request may carry, but for
/// `source_id`, `dealer_code` and `category_id`, which never change.
#[derive(Debug, Clone, Default)]
pub struct Content {
    fields: OnceLock<Map<String, Value>>,
    text: Option<Box<RawValue>>,
}

impl From<Map<String, Value>> for Content {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields: fields.into(), text: None }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.fields() == other.fields()
    }
}

impl Content {
    /// As a store kept it.
    ///
    /// # Errors
    /// When the text is not a JSON object.
    pub fn stored(text: String) -> Result<Self, serde_json::Error> {
        let text = RawValue::from_string(text)?;
        if !text.get().starts_with('{') {
            return Err(serde::de::Error::custom("not an object"));
        }
        Ok(Self { fields: OnceLock::new(), text: Some(text) })
    }

    /// The fields.
    pub fn fields(&self) -> &Map<String, Value> {
        self.fields.get_or_init(|| {
            let text = self.text.as_deref().map_or("{}", RawValue::get);
            // Only nesting beyond what a payload may have could still be refused, and that was never stored.
            serde_json::from_str(text).unwrap_or_default()
        })
    }

    /// The fields, to be kept.
    pub fn into_fields(mut self) -> Map<String, Value> {
        self.fields();
        self.fields.take().unwrap_or_default()
    }

    /// The members of the object, not taken apart where nobody has asked for what is inside.
    pub(crate) fn members(&self) -> Result<Members<'_>, serde_json::Error> {
        Ok(match (&self.text, self.fields.get()) {
            (Some(text), None) => Members::Raw(serde_json::from_str(text.get())?),
            _ => Members::Values(self.fields()),
        })
    }

    /// The value at a dotted path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        get(self.fields(), path)
    }

    /// The text at a dotted path.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(Value::as_str)
    }

    /// Whether the ad is to be shown; it is unless it says otherwise.
    pub fn visible(&self) -> bool {
        self.get("visible").and_then(Value::as_bool).unwrap_or(true)
    }

    /// Whether a failed image holds the ad back.
    pub fn dont_publish_on_failed_images(&self) -> bool {
        self.get("dont_publish_on_failed_images").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Addresses of the images, in display order.
    pub fn image_urls(&self) -> impl Iterator<Item = &str> {
        self.get("image_urls").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The licence plate, in upper case without spaces.
    pub fn registration_number(&self) -> Option<&str> {
        self.text("category_fields.registration_number")
    }

    /// The title, sent or generated.
    pub fn title(&self) -> Option<&str> {
        self.text("title")
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => text.serialize(serializer),
            None => self.fields().serialize(serializer),
        }
    }
}

/// The members of content as they are at hand.
pub(crate) enum Members<'a> {
    Raw(BTreeMap<&'a str, &'a RawValue>),
    Values(&'a Map<String, Value>),
}

/// One of them.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Member<'a> {
    Raw(&'a RawValue),
    Value(&'a Value),
}

impl<'a> Members<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<Member<'a>> {
        match self {
            Self::Raw(members) => members.get(name).map(|value| Member::Raw(value)),
            Self::Values(fields) => fields.get(name).map(Member::Value),
        }
    }
}

/// The value at a dotted path of an object.
pub(crate) fn get<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => object.get(path),
        Some((name, below)) => get(object.get(name)?.as_object()?, below),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_content_is_the_same_whether_it_was_taken_apart_or_not() {
        let fields = json!({"body": "Å \"quoted\"", "visible": false, "category_fields": {"model_year": 2019}});
        let written = Content::from(fields.as_object().unwrap().clone());
        let stored = Content::stored(fields.to_string()).unwrap();
        assert_eq!(json!(stored), json!(written));
        assert!(matches!(stored.members().unwrap(), Members::Raw(_)));
        assert_eq!(stored, written);
        assert!(!stored.visible());
        assert_eq!(stored.into_fields(), written.into_fields());
    }

    #[test]
    fn what_is_no_object_is_not_content() {
        for text in ["[]", "{", "", "null"] {
            assert!(Content::stored(text.to_owned()).is_err(), "{text}");
        }
    }
}
