//! The content of an ad. Stores keep it as JSON text, and a read of the ad answers the same text. So content from a store is
//! parsed only when one of its fields is needed.

use std::{borrow::Cow, io, sync::OnceLock};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, value::RawValue};

use super::written::{self, Written};

/// What the client sent, valid and normalised: every field of the ad table that a request may carry, but for
/// `source_id`, `dealer_code` and `category_id`, which never change.
#[derive(Debug, Clone, Default)]
pub struct Content {
    fields: OnceLock<Map<String, Value>>,
    text: Option<Box<str>>,
    cleared_mileage: Option<ClearedMileage>,
}

/// Whether a mileage was zero before a client cleared it. It is stored with the content, so that new or used stays locked
/// (decision 18), but it is not a field: neither clients nor marketplaces see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearedMileage {
    /// Zero: the vehicle was new.
    Zero,
    /// Not zero: the vehicle was used.
    NonZero,
}

impl ClearedMileage {
    /// The beginning of the stored text. No field has this name.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Zero => r#"{"cleared_mileage":"zero""#,
            Self::NonZero => r#"{"cleared_mileage":"non_zero""#,
        }
    }

    /// What it is stored as.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::NonZero => "non_zero",
        }
    }

    /// Removes the prefix from a stored text.
    fn take(text: String) -> (Option<Self>, String) {
        for cleared in [Self::Zero, Self::NonZero] {
            if let Some(rest) = text.strip_prefix(cleared.prefix()) {
                return (Some(cleared), format!("{{{}", rest.strip_prefix(',').unwrap_or(rest)));
            }
        }
        (None, text)
    }
}

impl From<Map<String, Value>> for Content {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields: fields.into(), text: None, cleared_mileage: None }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.cleared_mileage == other.cleared_mileage && self.fields() == other.fields()
    }
}

impl Content {
    /// Content from a store: the text that [`stored_text`](Self::stored_text) returned.
    ///
    /// # Errors
    /// When the text is not a JSON object.
    pub fn stored(text: String) -> Result<Self, serde_json::Error> {
        let (cleared_mileage, text) = ClearedMileage::take(text);
        let text = RawValue::from_string(text)?;
        if !text.get().starts_with('{') {
            return Err(serde::de::Error::custom("not an object"));
        }
        Ok(Self { fields: OnceLock::new(), text: Some(text.into()), cleared_mileage })
    }

    /// The same without a look whether the text is JSON: for lists, which only pass it on.
    pub fn stored_as_it_is(text: String) -> Self {
        let (cleared_mileage, text) = ClearedMileage::take(text);
        Self { fields: OnceLock::new(), text: Some(text.into()), cleared_mileage }
    }

    /// The JSON object that a store keeps.
    ///
    /// # Errors
    /// When a field cannot be written as JSON.
    pub fn stored_text(&self) -> Result<String, serde_json::Error> {
        let text = match &self.text {
            Some(text) => text.clone().into(),
            None => serde_json::to_string(self.fields())?,
        };
        Ok(match self.cleared_mileage {
            None => text,
            Some(cleared) if text == "{}" => format!("{}}}", cleared.prefix()),
            Some(cleared) => format!("{},{}", cleared.prefix(), &text[1..]),
        })
    }

    /// Size of its fields as JSON, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.as_ref().map_or_else(|| json_bytes(self.fields()), |text| text.len())
    }

    /// Whether the mileage was zero before it was cleared; `None` if it was not cleared.
    pub fn cleared_mileage(&self) -> Option<ClearedMileage> {
        self.cleared_mileage
    }

    /// The same content with a cleared mileage.
    #[must_use]
    pub(crate) fn with_cleared_mileage(self, cleared_mileage: Option<ClearedMileage>) -> Self {
        Self { cleared_mileage, ..self }
    }

    /// The members of the ad as the API shows them, parsed at the first call.
    pub fn fields(&self) -> &Map<String, Value> {
        self.fields.get_or_init(|| {
            let text = self.text.as_deref().unwrap_or("{}");
            // Valid JSON is refused only when it is nested more deeply than a payload may be, and such content is never stored.
            serde_json::from_str(text).unwrap_or_default()
        })
    }

    /// Whether it is stored as exactly these fields. That they are other fields is not said: their order or spelling may differ. Unlike a
    /// comparison of fields, it needs not parse the stored text.
    pub(crate) fn is_stored_as(&self, fields: &Map<String, Value>) -> bool {
        let text = self.text.as_deref();
        text.is_some_and(|text| serde_json::to_string(fields).is_ok_and(|fields| fields == text))
    }

    /// Converts it into its fields.
    pub fn into_fields(mut self) -> Map<String, Value> {
        self.fields();
        self.fields.take().unwrap_or_default()
    }

    /// The member of the stored object that is not a field.
    pub(crate) const CLEARED_MILEAGE: &str = "cleared_mileage";

    /// The members of the object that a store keeps.
    pub(crate) fn into_stored_fields(self) -> Map<String, Value> {
        let cleared = self.cleared_mileage.map(|cleared| (Self::CLEARED_MILEAGE.to_owned(), cleared.name().into()));
        let mut fields = self.into_fields();
        fields.extend(cleared);
        fields
    }

    /// The content of these members.
    pub(crate) fn from_stored_fields(mut fields: Map<String, Value>) -> Self {
        let cleared = fields.remove(Self::CLEARED_MILEAGE);
        let cleared = [ClearedMileage::Zero, ClearedMileage::NonZero]
            .into_iter()
            .find(|known| cleared.as_ref().is_some_and(|cleared| cleared == known.name()));
        Self::from(fields).with_cleared_mileage(cleared)
    }

    /// The members of the object, unparsed if it is from a store.
    pub(crate) fn members(&self) -> Members<'_> {
        match &self.text {
            Some(text) => Members::Written(written::members(text).collect()),
            None => Members::Values(self.fields()),
        }
    }

    /// The value at a dotted path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        get(self.fields(), path)
    }

    /// The text at a dotted path.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(Value::as_str)
    }

    /// Whether the ad is to be published; true if absent.
    pub fn visible(&self) -> bool {
        self.get("visible").and_then(Value::as_bool).unwrap_or(true)
    }

    /// Whether a failed image prevents publication; false if absent.
    pub fn dont_publish_on_failed_images(&self) -> bool {
        self.get("dont_publish_on_failed_images").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Addresses of the images, in display order.
    pub fn image_urls(&self) -> impl Iterator<Item = &str> {
        self.get("image_urls").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The licence plate, in upper case without spaces. Open category fields that were stored by an earlier version may hold it
    /// as it was sent (decision 20).
    pub fn registration_number(&self) -> Option<Cow<'_, str>> {
        let stored = self.text("category_fields.registration_number")?;
        let is_normal = stored.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let plate = if is_normal { Cow::Borrowed(stored) } else { Cow::Owned(plate(stored)) };
        (!plate.is_empty()).then_some(plate)
    }

    /// The vehicle identification number for comparisons, in upper case without spaces and hyphens; `None` if it does not have 17
    /// letters and digits.
    pub fn vin(&self) -> Option<String> {
        let sent = self.text("category_fields.vin")?.chars().filter(|letter| !matches!(letter, ' ' | '-'));
        // One more than a VIN has is enough to see that it is none.
        let vin: String = sent.take(18).collect();
        let has_form = vin.len() == 17 && vin.bytes().all(|byte| byte.is_ascii_alphanumeric());
        has_form.then(|| vin.to_ascii_uppercase())
    }

    /// The title, sent or generated.
    pub fn title(&self) -> Option<&str> {
        self.text("title")
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => Written(text).serialize(serializer),
            None => self.fields().serialize(serializer),
        }
    }
}

/// The members of content, parsed or unparsed.
pub(crate) enum Members<'a> {
    Written(Vec<(&'a str, Written<'a>)>),
    Values(&'a Map<String, Value>),
}

/// A member of content, parsed or unparsed.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Member<'a> {
    Written(Written<'a>),
    Value(&'a Value),
}

impl<'a> Members<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<Member<'a>> {
        match self {
            Self::Written(members) => {
                members.iter().find(|(known, _)| *known == name).map(|(_, value)| Member::Written(*value))
            }
            Self::Values(fields) => fields.get(name).map(Member::Value),
        }
    }
}

/// A licence plate as it is stored and compared: in upper case, without spaces (decision 18).
///
/// ```
/// assert_eq!(ad_core::model::plate(" abc 12d"), "ABC12D");
/// ```
pub fn plate(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_uppercase()
}

/// An upper bound for the size of a value as JSON, in bytes. It takes the length of each text, not its characters.
pub(crate) fn json_bytes_at_most(value: &Value) -> usize {
    /// Each byte of a text may become an escape of six.
    const fn text(text: &str) -> usize {
        2 + 6 * text.len()
    }
    match value {
        Value::Null | Value::Bool(_) => 5,
        // The longest are floats, such as -1.2345678901234567e-300.
        Value::Number(_) => 25,
        Value::String(string) => text(string),
        Value::Array(items) => 2 + items.iter().map(|item| 1 + json_bytes_at_most(item)).sum::<usize>(),
        Value::Object(members) => object_bytes_at_most(members),
    }
}

/// The same for an object.
pub(crate) fn object_bytes_at_most(members: &Map<String, Value>) -> usize {
    2 + members.iter().map(|(name, member)| 4 + 6 * name.len() + json_bytes_at_most(member)).sum::<usize>()
}

pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    struct ByteCounter(usize);

    impl io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    // The counter cannot fail, and a value that is not JSON is reported when it is stored.
    let _written = serde_json::to_writer(&mut count, value);
    count.0
}

pub(crate) fn get<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    match split_path(path) {
        (name, None) => object.get(name),
        (name, Some(below)) => get(object.get(name)?.as_object()?, below),
    }
}

/// The first name of a dotted path, and the path below it. `split_once` searches long texts fast, but names are short, and it would take
/// longer than looking up the name.
pub(crate) fn split_path(path: &str) -> (&str, Option<&str>) {
    match path.bytes().position(|byte| byte == b'.') {
        None => (path, None),
        Some(point) => (&path[..point], Some(&path[point + 1..])),
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
        assert!(matches!(stored.members(), Members::Written(_)));
        assert_eq!(stored, written);
        assert!(!stored.visible());
        assert_eq!(stored.into_fields(), written.into_fields());
    }

    #[test]
    fn what_a_cleared_mileage_was_is_stored_and_not_shown() {
        for fields in [json!({}), json!({"body": "A car"})] {
            for cleared in [ClearedMileage::Zero, ClearedMileage::NonZero] {
                let content = Content::from(fields.as_object().unwrap().clone()).with_cleared_mileage(Some(cleared));
                assert_eq!(json!(content), fields);
                let text = content.stored_text().unwrap();
                assert!(serde_json::from_str::<Value>(&text).unwrap()["cleared_mileage"].is_string());
                let stored = Content::stored(text.clone()).unwrap();
                assert_eq!((stored.cleared_mileage(), json!(stored)), (Some(cleared), fields.clone()));
                assert_eq!(stored, content);
                assert_eq!(stored.stored_text().unwrap(), text);
            }
        }
    }

    #[test]
    fn the_estimate_of_the_size_is_never_too_small() {
        let nasty = "\u{1}\"\\å🚗";
        for value in [
            json!(null),
            json!(false),
            json!(-1.234_567_890_123_456_7e-300),
            json!(i64::MIN),
            json!(nasty),
            json!({nasty: [nasty, {}, [], [1, 2.5]], "b": {"c": nasty.repeat(9)}}),
        ] {
            assert_eq!(json_bytes(&value), value.to_string().len());
            assert!(json_bytes_at_most(&value) >= json_bytes(&value), "{value}");
        }
    }

    #[test]
    fn what_is_no_object_is_not_content() {
        for text in ["[]", "{", "", "null"] {
            assert!(Content::stored(text.to_owned()).is_err(), "{text}");
        }
    }
}
