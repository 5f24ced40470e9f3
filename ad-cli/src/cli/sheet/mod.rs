//! Sheets to fill in: a column for each field that fits into a cell, and the mapping for their import.

pub(super) mod csv;
pub(super) mod xlsx;

use std::{collections::HashMap, fmt::Write};

use ad_core::{
    catalogue::Catalogue,
    categories::{Category, humanised, price},
    fields::{Kind, Mode, usual_unit},
    model::ApiVersion,
    rulebook::Rulebook,
};
use ad_files::json::at;
use serde_json::{Map, Value};

use super::commands::new::shorten;
use crate::bulk::{check::known, plain};

/// Columns for images. An ad may have more images, but few people type more addresses.
const IMAGES: usize = 10;

/// Separates the values of a list in a cell.
const SEPARATOR: char = ',';

#[derive(Debug)]
pub(super) struct SheetColumn {
    pub(super) header: String,
    /// The unit of numbers without one: that of the example.
    unit: Option<&'static str>,
    /// Path of the field in a mapping.
    target: String,
    kind: Kind,
    doc: &'static str,
    required: bool,
    /// Whether the short example has it, because it is required or important to buyers.
    wanted: bool,
    pub(super) example: Option<Value>,
}

/// The columns of a vehicle type: first those that every ad should have.
pub(super) fn columns(
    category: &'static Category,
    rulebook: &Rulebook,
    mut example: Map<String, Value>,
) -> Vec<SheetColumn> {
    let rows = known(category);
    let short = shorten(category, ApiVersion::V4, rulebook, &rows, &example);
    example.insert("visible".to_owned(), Value::Bool(false));
    let mut columns = Vec::new();
    for row in rows.iter().filter(|row| !row.place.contains("[]") && row.place != "category_id") {
        let field = row.field;
        let unit = unit_of(&field.kind, at(&example, &row.place));
        let column = |target: String, example: Option<&Value>| SheetColumn {
            header: String::new(),
            unit,
            wanted: field.required || at(&short, &row.place).is_some(),
            target,
            kind: field.kind,
            doc: field.doc,
            required: field.required,
            example: example.map(|value| cell(value, unit)),
        };
        match field.kind {
            _ if row.place == "price" => {
                for kind in price::allowed_types(category, Mode::Create) {
                    let prices = example.get("price").and_then(Value::as_array).into_iter().flatten();
                    let amount = prices.filter(|price| price["type"] == kind).map(|price| &price["amount"]).next();
                    let column = column(format!("price.{kind}"), amount);
                    columns.push(SheetColumn {
                        kind: Kind::Decimal { min: 0.0, max: 1e12, decimals: Some(2), numeric_text: false },
                        wanted: kind == price::LIST,
                        doc: "Amount in whole units of the dealer's currency",
                        ..column
                    });
                }
            }
            Kind::List { item: Kind::ImageAddress, .. } => {
                for number in 0..IMAGES {
                    // The example's addresses do not exist.
                    let column = column(row.place.clone(), None);
                    columns.push(SheetColumn {
                        header: format!("Photo {}", number + 1),
                        wanted: number == 0,
                        ..column
                    });
                }
            }
            Kind::Objects { .. } | Kind::Object { .. } | Kind::CategoryFields => {}
            _ => columns.push(column(row.place.clone(), at(&example, &row.place))),
        }
    }
    name(&mut columns);
    columns.sort_by_key(|column| (!column.required, !column.wanted));
    columns
}

/// Headers of fields whose names say little to people.
const HEADERS: &[(&str, &str)] = &[
    ("dont_publish_on_failed_images", "Only with all photos"),
    ("is_vat_deductible", "VAT deductible"),
    ("lkf", "County and municipality code (LKF)"),
    ("vin", "VIN"),
];

/// The unit of a measure in its column: that of the example, so that both are read alike.
fn unit_of(kind: &Kind, example: Option<&Value>) -> Option<&'static str> {
    let Kind::Measure { units, .. } = *kind else { return None };
    let of_example = example.and_then(|measure| measure["unit"].as_str());
    units.iter().copied().find(|unit| Some(*unit) == of_example).or_else(|| usual_unit(units))
}

/// Sets the headers: the last part of the path, or more of it if two columns would have the same.
fn name(columns: &mut [SheetColumn]) {
    let last = |target: &str| target.rsplit('.').next().unwrap_or(target).to_owned();
    let mut uses: HashMap<String, usize> = HashMap::new();
    for column in columns.iter().filter(|column| column.header.is_empty()) {
        *uses.entry(last(&column.target)).or_default() += 1;
    }
    for column in columns.iter_mut().filter(|column| column.header.is_empty()) {
        let name = last(&column.target);
        if let Some((_, header)) = HEADERS.iter().find(|(known, _)| *known == name) {
            (*header).clone_into(&mut column.header);
            continue;
        }
        let is_price = column.target.starts_with("price.");
        let target = column.target.replace("category_fields.", "vehicle.");
        let name = if uses[&name] > 1 || is_price { target.replace('.', " ") } else { name };
        let unit = column.unit.map(|unit| format!(" ({unit})")).unwrap_or_default();
        column.header = format!("{}{unit}", humanised(&name));
    }
}

/// A value of a payload as the text of a cell.
fn cell(value: &Value, unit: Option<&str>) -> Value {
    match value {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Object(measure) if unit.is_some() && measure.get("unit").and_then(Value::as_str) == unit => {
            measure.get("value").cloned().unwrap_or_default()
        }
        Value::Object(measure) => {
            let part = |name: &str| measure.get(name).map(plain).unwrap_or_default();
            format!("{} {}", part("value"), part("unit")).into()
        }
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", ").into(),
        value => value.clone(),
    }
}

impl SheetColumn {
    fn is_image(&self) -> bool {
        matches!(self.kind, Kind::List { item: Kind::ImageAddress, .. })
    }

    /// The allowed values of a cell, if they are few enough for a drop-down list.
    fn values(&self, catalogue: &Catalogue) -> Vec<String> {
        match self.kind {
            Kind::Boolean => vec!["yes".to_owned(), "no".to_owned()],
            Kind::Slug { .. } | Kind::Choice { .. } => {
                let entries = self.kind.allowed(catalogue).unwrap_or_default();
                entries.into_iter().map(|entry| entry.id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether cells are texts even if they look like numbers.
    fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text { .. } | Kind::Digits { .. } | Kind::Plate { .. })
    }

    /// The note of the column.
    fn about(&self, vehicle_type: &str) -> String {
        let mut text = format!("{}{}", if self.required { "Required. " } else { "" }, self.doc.replace('`', ""));
        let kind = self.kind.to_string().replace('`', "");
        // Writing to a text cannot fail.
        let _ = write!(text, "\n\n{kind}");
        match self.kind {
            Kind::Measure { units: [_, _, ..], .. } => {
                let unit = self.unit.unwrap_or_default();
                let _ = write!(text, "\nA number is in {unit}; write another unit behind it.");
            }
            Kind::List { item: Kind::ImageAddress, .. } => {
                text.push_str("\nAn https address; files cannot be sent. To try addresses: ad-cli photos check");
            }
            Kind::List { .. } => text.push_str("\nSeveral values are separated by commas."),
            Kind::Model { .. } => text.push_str("\nTo list the models of a brand: ad-cli models BRAND"),
            _ => {}
        }
        let field = self.target.strip_prefix("category_fields.").unwrap_or(&self.target);
        let _ = write!(text, "\nField: ad-cli fields {vehicle_type} {field}");
        text
    }
}

pub(super) fn mapping(vehicle_type: &str, columns: &[SheetColumn]) -> String {
    let mut text = format!(
        "# The mapping of a sheet that `ad-cli template {vehicle_type}` wrote: field of the ad = column of the sheet.\n\n\
         [vehicle]\ntype = \"{vehicle_type}\"\n\n[fields]\n"
    );
    let images: Vec<_> = columns.iter().filter(|column| column.is_image()).collect();
    for column in columns {
        let mut from = format!("{:?}", column.header);
        if column.is_image() {
            if !std::ptr::eq(column, images[0]) {
                continue;
            }
            let all: Vec<_> = images.iter().map(|column| format!("{:?}", column.header)).collect();
            from = format!("[{}]", all.join(", "));
        }
        let mut line = format!("{} = {{ from = {from}", column.target);
        if let Some(unit) = column.unit {
            // Writing to a text cannot fail.
            let _ = write!(line, ", unit = {{ default = \"{unit}\" }}");
        }
        if matches!(column.kind, Kind::List { .. }) && !column.is_image() {
            let _ = write!(line, ", split = \"{SEPARATOR}\"");
        }
        if !column.required {
            line.push_str(", optional = true");
        }
        text.push_str(&line);
        text.push_str(" }\n");
    }
    text
}
