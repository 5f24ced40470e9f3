//! Turns errors of the rules into findings: with the columns of the field, the value in the file, and advice.

use ad_core::{
    categories::{Category, rules::PLATE_OR_VIN},
    fields::{FieldErrors, Kind},
    rulebook::{Warning, payload::PayloadError},
    violation::Violation,
};
use ad_files::json::{at, attribute};
use serde_json::{Map, Value};

use super::reasons::{NO_PLATE_AND_NO_VIN, of_images, of_warning, reason, words};
use crate::{
    finding::{Finding, Severity},
    mapping::Bound,
    readers::Row,
};

const LONGEST_VALUE: usize = 200;

#[derive(Debug, Clone, Copy)]
pub(super) struct Explainer<'a> {
    pub(super) bound: &'a Bound<'a>,
    pub(super) row: Row<'a>,
    pub(super) category: Option<&'static Category>,
    pub(super) payload: &'a Map<String, Value>,
    /// The findings of the mapping.
    pub(super) mapped: &'a [Finding],
}

impl Explainer<'_> {
    /// The errors of the rules, except those that follow from errors of the mapping. Equal errors of the items of a list are one finding.
    pub(super) fn rejected(&self, rejected: &PayloadError) -> Vec<Finding> {
        match rejected {
            PayloadError::Fields(errors) => self.errors(errors),
            PayloadError::TrailerCreateDisabled => vec![Finding {
                reason: "trailers cannot be created".to_owned(),
                message: "Trailers can be updated and deleted, but not created.".to_owned(),
                advice: Some("Remove the row, or ask the operator of the service to import it.".to_owned()),
                ..self.found("category_id")
            }],
        }
    }

    /// What is allowed but probably unintended.
    pub(super) fn warnings(&self, warnings: &[Warning]) -> Vec<Finding> {
        let new = warnings.iter().filter(|warning| !self.has_error_at(&warning.field));
        let finding = |warning: &Warning| Finding {
            severity: Severity::Warning,
            reason: of_warning(&attribute(&warning.field), warning),
            message: warning.message.clone(),
            ..self.found(&warning.field)
        };
        new.map(finding).collect()
    }

    fn errors(&self, errors: &FieldErrors) -> Vec<Finding> {
        let mut groups: Vec<Group> = Vec::new();
        for of_field in errors.violations().chunk_by(|(one, _), (other, _)| one == other) {
            let Some((path, first)) = of_field.first().filter(|(path, first)| !self.follows(path, first)) else {
                continue;
            };
            let attribute = attribute(path);
            let found = self.found(path);
            let value = found.value.as_deref();
            let message = if first.rule() == Some(PLATE_OR_VIN) {
                "Registration number and VIN are missing; one of them is required.".to_owned()
            } else {
                of_field.iter().flat_map(|(_, violation)| violation.texts()).collect::<Vec<_>>().join(" ")
            };
            let (reason, advice) = (reason(&attribute, first, value), Some(self.advice(&attribute, first, value)));
            let finding = Finding { reason, message, advice, ..found };
            match groups.iter_mut().find(|group| group.contains(&attribute, &finding)) {
                Some(group) => group.add(finding),
                None => groups.push(Group { attribute, finding, more: 0 }),
            }
        }
        groups.into_iter().map(Group::finding).collect()
    }

    /// Whether an error follows from an error of the mapping: its field could not be made, or it is empty because a field within it could
    /// not be made.
    fn follows(&self, path: &str, violation: &Violation) -> bool {
        if violation.rule() == Some(PLATE_OR_VIN) {
            return ["registration_number", "vin"]
                .iter()
                .any(|name| self.has_error_at(&format!("category_fields.{name}")));
        }
        let is_missing = matches!(violation, Violation::Required | Violation::RequiredWith { .. });
        self.has_error_at(path) || (is_missing && self.fields_with_errors().any(|field| is_below(field, path)))
    }

    /// Whether the mapping has an error about this field, or about one around it.
    fn has_error_at(&self, path: &str) -> bool {
        self.fields_with_errors().any(|field| field == path || is_below(path, field))
            // Without a category, the mapping has reported that.
            || (path == "category_id" && self.category.is_none() && self.fields_with_errors().next().is_some())
    }

    fn fields_with_errors(&self) -> impl Iterator<Item = &str> {
        self.mapped.iter().filter(|finding| finding.severity == Severity::Error).filter_map(|it| it.field.as_deref())
    }

    /// An error with the columns and the value of a path, without reason and message.
    fn found(&self, path: &str) -> Finding {
        let columns = self.bound.columns_of(path);
        let in_list = last(path).bytes().all(|byte| byte.is_ascii_digit());
        let value = match at(self.payload, path) {
            // One of several values of a cell.
            Some(Value::String(text)) if in_list => Some(shortened(text)),
            Some(Value::Array(items)) => Some(format!("{} values", items.len())),
            _ => self.in_file(&columns).map(shortened),
        };
        let field = (!path.is_empty()).then(|| path.to_owned());
        Finding { columns, value, field, ..Finding::new(Severity::Error, "", "") }
    }

    /// The first value of these columns in the file.
    fn in_file(&self, columns: &[String]) -> Option<&str> {
        let row = self.row;
        let ids = columns.iter().filter_map(|name| row.columns().id(name));
        let values: Vec<_> = ids.filter_map(|id| row.value(id)).collect();
        values.iter().find(|value| !value.is_empty()).or(values.first()).copied()
    }

    /// What to do, and which command shows the allowed values.
    fn advice(&self, attribute: &str, violation: &Violation, value: Option<&str>) -> String {
        if attribute == "image_urls" {
            return of_images(violation, value).1.to_owned();
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

/// Errors that are shown as one: of the items of a list, or of plate and VIN, which are missing together.
struct Group {
    attribute: String,
    finding: Finding,
    more: usize,
}

impl Group {
    fn contains(&self, attribute: &str, finding: &Finding) -> bool {
        self.finding.reason == finding.reason && (finding.reason == NO_PLATE_AND_NO_VIN || self.attribute == attribute)
    }

    fn add(&mut self, finding: Finding) {
        self.more += usize::from(finding.reason != NO_PLATE_AND_NO_VIN);
        for column in finding.columns {
            if !self.finding.columns.contains(&column) {
                self.finding.columns.push(column);
            }
        }
    }

    fn finding(mut self) -> Finding {
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

pub(super) fn shortened(text: &str) -> String {
    ad_files::text::shortened(text, LONGEST_VALUE).into_owned()
}
