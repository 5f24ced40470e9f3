//! Turns field errors into findings: the value sent and its position, what was probably meant, and which command shows more.

use std::borrow::Cow;

use ad_core::{
    catalogue::Catalogue,
    categories::{Category, Heading, ad_fields},
    fields::{FieldErrors, Kind},
    reference::{ReferenceRow, rows},
};
use ad_files::{Place, Severity, json::attribute};
use serde_json::Value;

use crate::{Invocation, Surface, payloads::locate};

/// Longest value, as JSON, that is shown.
const LONGEST_VALUE: usize = 200;

/// A finding about a payload. Programs read its members, so their names are stable.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// Its position in the file.
    #[serde(flatten)]
    pub place: Place,
    /// Whether it is an error.
    pub severity: Severity,
    /// Dotted path of the field; `None` for the payload as a whole.
    pub field: Option<String>,
    /// The value that was sent, if it is short.
    pub value: Option<Value>,
    /// Why; one text for programs.
    #[serde(rename = "message", with = "joined")]
    pub messages: Vec<String>,
    /// Suggestions, the most likely first.
    pub suggestions: Vec<String>,
    /// The command that shows what is allowed.
    pub command: Option<String>,
}

/// Sentences as one text, with a space between two.
mod joined {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(messages: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&messages.join(" "))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        String::deserialize(deserializer).map(|message| vec![message])
    }
}

impl Finding {
    /// `category_fields.brand: "wolvo" is not a valid choice.`
    pub fn text(&self) -> String {
        let messages = self.messages.join(" ");
        self.field.as_ref().map_or(messages.clone(), |field| format!("{field}: {messages}"))
    }

    /// About a payload as a whole.
    pub fn whole(place: Place, messages: Vec<String>) -> Self {
        Self { place, messages, ..Self::default() }
    }
}

/// Explains what is wrong with one payload.
#[derive(Debug)]
pub struct Explainer<'a> {
    /// Brands, models and other values that the service allows.
    pub catalogue: &'a Catalogue,
    /// Its category, if it has one.
    pub category: Option<&'static Category>,
    /// Its text in the file, as UTF-8.
    pub text: &'a [u8],
    /// Where that begins in the file.
    pub place: Place,
    /// Its reader, which decides whether findings name commands as command lines or as calls of tools.
    pub surface: Surface,
}

impl Explainer<'_> {
    /// The errors of each field, in the order of the file.
    pub fn errors(&self, errors: &FieldErrors) -> Vec<Finding> {
        let violations = errors.violations();
        let of_fields = violations.chunk_by(|(one, _), (other, _)| one == other);
        let mut findings: Vec<_> = of_fields
            .map(|of_field| {
                let texts = of_field.iter().flat_map(|(_, violation)| violation.texts_for_people());
                let meant = of_field.iter().flat_map(|(_, violation)| violation.suggestions());
                self.error(&of_field[0].0, texts.map(Cow::into_owned).collect(), meant.map(str::to_owned).collect())
            })
            .collect();
        findings.sort_by_key(|finding| finding.place);
        findings
    }

    /// What is wrong with one field, and what was probably meant.
    pub fn error(&self, path: &str, messages: Vec<String>, suggestions: Vec<String>) -> Finding {
        let found = locate(self.text, path);
        let sent = found.value.len() <= LONGEST_VALUE && found.is_it && !path.is_empty();
        Finding {
            place: self.place.after(&self.text[..found.at]),
            severity: Severity::Error,
            field: (!path.is_empty()).then(|| path.to_owned()),
            value: if sent { serde_json::from_slice(&self.text[found.value]).ok() } else { None },
            messages,
            command: self
                .command(path, found.is_it, suggestions.first().map_or("", String::as_str))
                .map(|command| command.on(self.surface)),
            suggestions,
        }
    }

    /// A warning about one field.
    pub fn warning(&self, path: &str, message: &str) -> Finding {
        let warning = self.error(path, vec![message.to_owned()], Vec::new());
        Finding { severity: Severity::Warning, command: None, ..warning }
    }

    /// The command that shows what is allowed for a field, or for the one that was probably meant.
    fn command(&self, path: &str, is_there: bool, meant: &str) -> Option<Invocation> {
        let Some(category) = self.category.filter(|_| path != "category_id") else {
            return Some(Invocation::new("fields"));
        };
        let vehicle_type = category.vehicle_type?;
        let attribute = attribute(path);
        if let Some(row) = row(category, &attribute) {
            let name = attribute.strip_prefix("category_fields.").unwrap_or(&attribute);
            return Some(match row.field.kind {
                Kind::Model { list } => match self.sent("category_fields.brand").unwrap_or_default() {
                    brand if self.catalogue.models(list, &brand).is_empty() => values(vehicle_type, "brand"),
                    brand => Invocation::new("models").with("brand", brand),
                },
                kind if kind.allowed(self.catalogue).is_some() => values(vehicle_type, name),
                _ => Invocation::new("fields").with("type", vehicle_type).with("search", vec![name]),
            });
        }
        // The unit of a measure.
        if let Some((measure, "unit")) = attribute.rsplit_once('.')
            && row(category, measure).is_some_and(|row| matches!(row.field.kind, Kind::Measure { .. }))
        {
            return Some(fields(vehicle_type, measure));
        }
        let is_unknown = is_there && !is_forbidden(category, path);
        Some(fields(vehicle_type, if is_unknown { meant } else { "" }))
    }

    /// A text of the payload.
    fn sent(&self, path: &str) -> Option<String> {
        let found = locate(self.text, path);
        serde_json::from_slice(self.text.get(found.value).filter(|_| found.is_it)?).ok()
    }
}

/// The command that shows the fields whose names are like this one's.
fn fields(vehicle_type: &str, path: &str) -> Invocation {
    let name = path.rsplit('.').next().unwrap_or(path);
    let name = name.trim_end_matches("[]");
    let fields = Invocation::new("fields").with("type", vehicle_type);
    if name.is_empty() { fields } else { fields.with("search", vec![name]) }
}

/// The command that shows the allowed values of a field.
fn values(vehicle_type: &str, attribute: &str) -> Invocation {
    Invocation::new("values").with("type", vehicle_type).with("attribute", attribute)
}

/// The rows of an ad of a category that may be sent, those of the category below `category_fields`.
pub fn known(category: &Category) -> Vec<ReferenceRow> {
    let around = rows(ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN)).into_iter();
    let around = around.filter(|row| !is_forbidden(category, &row.place));
    let inside = rows(category.fields()).into_iter();
    let inside = inside.map(|row| ReferenceRow { place: format!("category_fields.{}", row.place), ..row });
    around.chain(inside).collect()
}

/// Whether a field must not be sent for this category.
fn is_forbidden(category: &Category, path: &str) -> bool {
    category.heading == Heading::Forbidden && matches!(path.split('.').next(), Some("title" | "contact"))
}

fn row(category: &Category, attribute: &str) -> Option<ReferenceRow> {
    known(category).into_iter().find(|row| row.place.replace("[]", "") == attribute)
}
