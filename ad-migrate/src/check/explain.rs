//! From the rules' errors to findings: from which columns a field was made, what stands there, and what to do about it.

use ad_cli::bulk::check::attribute;
use ad_core::{
    categories::{Category, rules::PLATE_OR_VIN},
    fields::{FieldErrors, Kind},
    rulebook::{Warning, payload::PayloadError},
    violation::Violation,
};
use serde_json::{Map, Value};

use super::reasons::{ImageError, NO_PLATE_AND_NO_VIN, odd, reason, words};
use crate::{
    finding::{Finding, Severity},
    mapping::Bound,
    readers::Row,
};

/// Longest value that is kept.
const LONGEST_VALUE: usize = 200;

/// Explains what is wrong with one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Explainer<'a> {
    /// What made the payload of it.
    pub(super) bound: &'a Bound<'a>,
    /// The row.
    pub(super) row: Row<'a>,
    /// Its category, where it could be told.
    pub(super) category: Option<&'static Category>,
    /// What was made of it.
    pub(super) payload: &'a Map<String, Value>,
    /// What the mapping has said already.
    pub(super) told: &'a [Finding],
}

impl Explainer<'_> {
    /// What the rules refuse, but for what follows from what the mapping has said. Errors of one kind in a list are one finding.
    pub(super) fn refused(&self, refused: &PayloadError) -> Vec<Finding> {
        match refused {
            PayloadError::Fields(errors) => self.errors(errors),
            PayloadError::TrailerCreateDisabled => vec![Finding {
                reason: "trailers cannot be created".to_owned(),
                message: "Trailers can be updated and deleted, but not created.".to_owned(),
                advice: Some("Remove the row, or ask the operator of the service to import it.".to_owned()),
                ..self.found("category_id", |_| String::new())
            }],
        }
    }

    /// What is allowed but probably not meant.
    pub(super) fn warnings(&self, warnings: &[Warning]) -> Vec<Finding> {
        let new = warnings.iter().filter(|warning| !self.is_told(&warning.field));
        let finding = |warning: &Warning| Finding {
            severity: Severity::Warning,
            message: warning.message.clone(),
            ..self.found(&warning.field, |_| odd(&attribute(&warning.field), warning))
        };
        new.map(finding).collect()
    }

    fn errors(&self, errors: &FieldErrors) -> Vec<Finding> {
        let mut findings: Vec<Together> = Vec::new();
        for (path, violations) in by_field(errors) {
            let Some(first) = violations.first().filter(|violation| !self.follows(&path, violation)) else { continue };
            let mut finding = self.finding(&path, first);
            finding.message = if first.rule() == Some(PLATE_OR_VIN) {
                "Registration number and VIN are missing; one of them is required.".to_owned()
            } else {
                violations.iter().flat_map(|violation| violation.texts()).collect::<Vec<_>>().join(" ")
            };
            match findings.iter_mut().find(|other| other.is_of(&path, &finding)) {
                Some(other) => other.add(finding),
                None => findings.push(Together { attribute: attribute(&path), finding, more: 0 }),
            }
        }
        findings.into_iter().map(Together::told).collect()
    }

    /// Whether an error says no more than what the mapping has said: it is about a field that could not be made, or about one around it
    /// that is empty for that reason.
    fn follows(&self, path: &str, violation: &Violation) -> bool {
        if violation.rule() == Some(PLATE_OR_VIN) {
            return ["registration_number", "vin"].iter().any(|name| self.is_told(&format!("category_fields.{name}")));
        }
        let is_missing = matches!(violation, Violation::Required | Violation::RequiredWith { .. });
        self.is_told(path) || (is_missing && self.told().any(|field| is_below(field, path)))
    }

    /// Whether the mapping has said something of this field, or of one around it.
    fn is_told(&self, path: &str) -> bool {
        self.told().any(|field| field == path || is_below(path, field))
            // Without a category, that is what is to be said.
            || (path == "category_id" && self.category.is_none() && self.has_errors())
    }

    fn told(&self) -> impl Iterator<Item = &str> {
        self.told.iter().filter(|finding| finding.severity == Severity::Error).filter_map(|it| it.field.as_deref())
    }

    fn has_errors(&self) -> bool {
        self.told.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// An error; its message is for the caller to fill in.
    fn finding(&self, path: &str, violation: &Violation) -> Finding {
        let attribute = attribute(path);
        let value = |value: Option<&str>| reason(&attribute, violation, value);
        let finding = self.found(path, value);
        let advice = self.advice(&attribute, violation, finding.value.as_deref());
        let message = violation.texts().join(" ");
        Finding { advice: Some(advice), message, ..finding }
    }

    /// What stands at a path, with the reason for saying so, which is made of the value.
    fn found(&self, path: &str, reason: impl Fn(Option<&str>) -> String) -> Finding {
        let sent = at(self.payload, path);
        let columns = self.bound.columns_of(path);
        let in_list = path.rsplit('.').next().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let value = match sent {
            // One of several values stands in the file among others.
            Some(Value::String(text)) if in_list => Some(shortened(text)),
            Some(Value::Array(items)) => Some(format!("{} values", items.len())),
            _ => self.in_file(&columns).map(shortened),
        };
        Finding {
            severity: Severity::Error,
            reason: reason(sent.and_then(Value::as_str).or(value.as_deref())),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            advice: None,
            value,
            field: (!path.is_empty()).then(|| path.to_owned()),
            message: String::new(),
        }
    }

    /// What stands in the file, in the first of these columns that has something.
    fn in_file(&self, columns: &[&str]) -> Option<&str> {
        let row = self.row;
        let ids = columns.iter().filter_map(|name| row.columns().id(name));
        let values: Vec<_> = ids.filter_map(|id| row.value(id)).collect();
        values.iter().find(|value| !value.is_empty()).or(values.first()).copied()
    }

    /// What to do about it, and which command shows what is allowed.
    fn advice(&self, attribute: &str, violation: &Violation, value: Option<&str>) -> String {
        if attribute == "image_urls" {
            return ImageError::of(violation, value).advice().to_owned();
        }
        let what = words(attribute);
        if violation.rule() == Some(PLATE_OR_VIN) {
            return "Add the registration number or the VIN to the file, or map its column.".to_owned();
        }
        if matches!(violation, Violation::Required | Violation::RequiredWith { .. }) {
            return format!("Add the {what} to the file, or map its column.");
        }
        let Some(vehicle_type) = self.category.and_then(|category| category.vehicle_type) else {
            return "Set the vehicle type in the mapping; see: ad-cli fields".to_owned();
        };
        let name = attribute.strip_prefix("category_fields.").unwrap_or(attribute);
        let kind = self.category.and_then(|category| category.field(name)).map(|field| field.kind);
        let item = match kind {
            Some(Kind::List { item, .. }) => Some(*item),
            kind => kind,
        };
        match item {
            Some(Kind::Model { .. }) => {
                let brand = at(self.payload, "category_fields.brand").and_then(Value::as_str).unwrap_or("BRAND");
                format!("Correct it, or map it to the right {what}; see: ad-cli models {brand}")
            }
            Some(Kind::Choice { .. } | Kind::Slug { .. }) => {
                format!("Correct it, or map it to the right {what}; see: ad-cli values {vehicle_type} {name}")
            }
            Some(_) => format!("Correct the {what} in the file; see: ad-cli fields {vehicle_type} {}", last(name)),
            None => format!("Correct the {what} in the file or its mapping; see: ad-cli fields {vehicle_type}"),
        }
    }
}

/// Each field with all that is wrong with it.
fn by_field(errors: &FieldErrors) -> Vec<(String, Vec<&Violation>)> {
    let mut fields: Vec<(String, Vec<&Violation>)> = Vec::new();
    for (path, violation) in errors.violations() {
        match fields.last_mut() {
            Some((last, violations)) if *last == path => violations.push(violation),
            _ => fields.push((path, vec![violation])),
        }
    }
    fields
}

/// Errors that are one for people: of the items of one list, or of plate and VIN, which are in error together.
struct Together {
    attribute: String,
    finding: Finding,
    more: usize,
}

impl Together {
    fn is_of(&self, path: &str, finding: &Finding) -> bool {
        self.finding.reason == finding.reason
            && (finding.reason == NO_PLATE_AND_NO_VIN || self.attribute == attribute(path))
    }

    fn add(&mut self, finding: Finding) {
        self.more += usize::from(finding.reason != NO_PLATE_AND_NO_VIN);
        for column in finding.columns {
            if !self.finding.columns.contains(&column) {
                self.finding.columns.push(column);
            }
        }
    }

    fn told(mut self) -> Finding {
        if self.more > 0 {
            self.finding.message = format!("{} The same applies to {} more.", self.finding.message, self.more);
        }
        self.finding
    }
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The value at a dotted path.
fn at<'a>(payload: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, below) = path.split_once('.').map_or((path, None), |(first, below)| (first, Some(below)));
    let value = payload.get(first)?;
    below.into_iter().flat_map(|below| below.split('.')).try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// A value, not longer than people want to see.
pub(super) fn shortened(text: &str) -> String {
    ad_cli::bulk::shortened(text, LONGEST_VALUE).into_owned()
}
