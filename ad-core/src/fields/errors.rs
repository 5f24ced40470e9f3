//! All errors of a payload, as the nested object of the contract ('Errors', body shape 1).

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use crate::{
    model::split_path,
    violation::{Code, Violation},
};

/// Errors by field: each key is a field name or, inside an array, an index; each leaf is a list of violations. They serialise as
/// the texts of the contract.
///
/// ```
/// use ad_core::{fields::FieldErrors, violation::{Code, Violation}};
///
/// let mut errors = FieldErrors::default();
/// errors.add("category_fields.model_year", Violation::Required);
/// errors.at("price").at("0").push("amount", Violation::TooSmall(0.0));
/// assert_eq!(
///     serde_json::to_string(&errors).unwrap(),
///     r#"{"category_fields":{"model_year":["This field is required."]},"price":{"0":{"amount":["Ensure this value is greater than or equal to 0."]}}}"#
/// );
/// let codes: Vec<_> = errors.violations().into_iter().map(|(path, violation)| (path, violation.code())).collect();
/// assert_eq!(codes[1], ("price.0.amount".to_owned(), Some(Code::OutOfRange)));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldErrors(
    // One pointer, because every field of a payload has a temporary value of this type, which is nearly always empty.
    Option<Box<ErrorNode>>,
);

/// The errors at one place and below it.
#[derive(Debug, Clone, Default, PartialEq)]
struct ErrorNode {
    violations: Vec<Violation>,
    members: BTreeMap<PathKey, FieldErrors>,
}

/// Indexes sort as numbers, names as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PathKey {
    Index(usize),
    Name(String),
}

impl From<&str> for PathKey {
    fn from(key: &str) -> Self {
        key.parse().map_or_else(|_| Self::Name(key.to_owned()), Self::Index)
    }
}

impl fmt::Display for PathKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => index.fmt(formatter),
            Self::Name(name) => formatter.write_str(name),
        }
    }
}

impl FieldErrors {
    fn node(&mut self) -> &mut ErrorNode {
        self.0.get_or_insert_default()
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|place| place.violations.is_empty() && place.members.is_empty())
    }

    /// The errors of one member, for adding to them.
    pub fn at(&mut self, key: &str) -> &mut Self {
        self.node().members.entry(key.into()).or_default()
    }

    /// Adds an error of one member.
    pub fn push(&mut self, key: &str, violation: Violation) {
        self.at(key).here(violation);
    }

    /// Adds an error at a dotted path.
    pub fn add(&mut self, path: &str, violation: Violation) {
        path.split('.').fold(self, Self::at).here(violation);
    }

    /// Adds an error at this place.
    pub fn here(&mut self, violation: Violation) {
        self.node().violations.push(violation);
    }

    /// Whether there is an error at or below a dotted path.
    pub fn contains(&self, path: &str) -> bool {
        path.split('.')
            .try_fold(self, |errors, key| errors.0.as_ref()?.members.get(&key.into()))
            .is_some_and(|errors| !errors.is_empty())
    }

    /// Removes the errors of one member.
    pub(crate) fn remove_member(&mut self, key: &str) {
        if let Some(place) = &mut self.0 {
            place.members.remove(&key.into());
        }
    }

    /// Removes the errors at a dotted path that say that a field is missing.
    pub(crate) fn forgive(&mut self, path: &str) {
        let (name, below) = split_path(path);
        let Some(place) = &mut self.0 else { return };
        let key = PathKey::from(name);
        let Some(errors) = place.members.get_mut(&key) else { return };
        match (below, &mut errors.0) {
            (Some(below), _) => errors.forgive(below),
            (None, Some(place)) => place.violations.retain(|violation| violation.code() != Some(Code::Required)),
            (None, None) => {}
        }
        if errors.is_empty() {
            place.members.remove(&key);
        }
    }

    /// Replaces all errors at and below one member by one violation.
    pub fn replace(&mut self, key: &str, violation: Violation) {
        self.remove_member(key);
        self.push(key, violation);
    }

    /// Adds all errors of another value.
    pub(crate) fn absorb(&mut self, other: Self) {
        let Some(other) = other.0 else { return };
        let place = self.node();
        place.violations.extend(other.violations);
        for (key, below) in other.members {
            place.members.entry(key).or_default().absorb(below);
        }
    }

    /// Adds the errors of one member, if there are any.
    pub fn put(&mut self, key: &str, errors: Self) {
        // Nearly all fields have none, and then nothing is to be dropped.
        let Self(Some(place)) = errors else { return };
        let errors = Self(Some(place));
        if !errors.is_empty() {
            self.at(key).absorb(errors);
        }
    }

    /// Visits each error with the names and indices that lead to its field.
    pub fn each_mut(&mut self, visit: &mut impl FnMut(&[String], &mut Violation)) {
        fn walk(errors: &mut FieldErrors, path: &mut Vec<String>, visit: &mut impl FnMut(&[String], &mut Violation)) {
            let Some(place) = &mut errors.0 else { return };
            place.violations.iter_mut().for_each(|violation| visit(path, violation));
            for (key, below) in &mut place.members {
                path.push(key.to_string());
                walk(below, path, visit);
                path.pop();
            }
        }
        walk(self, &mut Vec::new(), visit);
    }

    /// Each error with the names and indices that lead to its field.
    pub fn located(&self) -> Vec<(Vec<String>, &Violation)> {
        fn walk<'a>(errors: &'a FieldErrors, path: &[String], out: &mut Vec<(Vec<String>, &'a Violation)>) {
            let Some(place) = &errors.0 else { return };
            out.extend(place.violations.iter().map(|violation| (path.to_vec(), violation)));
            for (key, below) in &place.members {
                walk(below, &[path, &[key.to_string()]].concat(), out);
            }
        }
        let mut out = Vec::new();
        walk(self, &[], &mut out);
        out
    }

    /// Each error with the dotted path of its field.
    pub fn violations(&self) -> Vec<(String, &Violation)> {
        self.located().into_iter().map(|(path, violation)| (path.join("."), violation)).collect()
    }

    /// Each text with the dotted path of its field: the error, followed by help.
    pub fn flatten(&self) -> Vec<(String, Cow<'_, str>)> {
        let violations = self.violations().into_iter();
        violations
            .flat_map(|(path, violation)| violation.texts().into_iter().map(move |text| (path.clone(), text)))
            .collect()
    }
}

impl FieldErrors {
    /// The same as [`flatten`](Self::flatten), for those who send no requests themselves.
    pub fn flatten_for_people(&self) -> Vec<(String, Cow<'_, str>)> {
        let violations = self.violations().into_iter();
        violations
            .flat_map(|(path, violation)| {
                violation.texts_for_people().into_iter().map(move |text| (path.clone(), text))
            })
            .collect()
    }
}

impl Serialize for FieldErrors {
    /// A place with errors of its own becomes a list of texts. The contract has no shape for errors both at and below a place, so
    /// those below it follow in the list as texts.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(place) = &self.0 else { return serializer.collect_map(std::iter::empty::<(&str, &Self)>()) };
        if place.violations.is_empty() {
            return serializer.collect_map(place.members.iter().map(|(key, errors)| (key.to_string(), errors)));
        }
        let text = |(path, text): (String, Cow<'_, str>)| match path.as_str() {
            "" => text.into_owned(),
            path => format!("{path}: {text}"),
        };
        serializer.collect_seq(self.flatten().into_iter().map(text))
    }
}

impl<'de> Deserialize<'de> for FieldErrors {
    /// Errors below a place with errors of its own stay the texts that they were serialised as.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Errors;
        impl<'de> Visitor<'de> for Errors {
            type Value = FieldErrors;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("messages, or an object of fields with messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<FieldErrors, A::Error> {
                let mut errors = FieldErrors::default();
                while let Some(message) = messages.next_element::<String>()? {
                    errors.here(Violation::Answered(message));
                }
                Ok(errors)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<FieldErrors, A::Error> {
                let mut errors = FieldErrors::default();
                while let Some((key, below)) = members.next_entry::<String, FieldErrors>()? {
                    errors.put(&key, below);
                }
                Ok(errors)
            }
        }
        deserializer.deserialize_any(Errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::TextFormat;

    #[test]
    fn what_a_client_reads_is_what_was_written() {
        let mut errors = FieldErrors::default();
        let answered = |text: &str| Violation::Answered(text.to_owned());
        errors.add("source_id", answered("This field is required."));
        errors.add("price.10.type", answered("Ten."));
        errors.add("price.2.type", answered("Two."));
        errors.add("price.2.type", answered("And another."));
        let text = serde_json::to_string(&errors).unwrap();
        let read: FieldErrors = serde_json::from_str(&text).unwrap();
        assert_eq!(read, errors);
        assert_eq!(read.flatten()[0], ("price.2.type".to_owned(), "Two.".into()));
    }

    #[test]
    fn what_has_no_place_in_the_shape_stays_text() {
        let mut errors = FieldErrors::default();
        errors.add("image_urls", Violation::TooMany(20));
        errors.add("image_urls.0", Violation::WrongFormat(TextFormat::Address));
        let read: FieldErrors = serde_json::from_str(&serde_json::to_string(&errors).unwrap()).unwrap();
        let path = "image_urls".to_owned();
        assert_eq!(
            read.flatten(),
            [
                (path.clone(), "Ensure this field has no more than 20 elements.".into()),
                (path, "0: Enter a valid URL.".into())
            ]
        );
    }

    #[test]
    fn other_shapes_are_no_field_errors() {
        for text in [r#"{"detail": "Not found."}"#, "[1]", "3", r#"{"price": [["a"]]}"#] {
            assert!(serde_json::from_str::<FieldErrors>(text).is_err(), "{text}");
        }
    }
}
