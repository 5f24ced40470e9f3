//! Titles of registered vehicles: generated from the display names of brand, model, `model_type` and `model_year`, missing
//! parts left out (decision 16).

use serde_json::Value;

use crate::{
    catalogue::Catalogue,
    categories::{Category, FieldFacts},
    fields::Kind,
};

/// The title for these category fields; `None` if all parts are missing.
pub fn generate(category: &Category, fields: &FieldFacts<'_>, catalogue: &Catalogue) -> Option<String> {
    let FieldFacts { brand, model, model_type, model_year, .. } = *fields;
    let parts = [("brand", brand), ("model", model), ("model_type", model_type), ("model_year", model_year)];
    let mut title = String::with_capacity(64);
    for (path, value) in parts {
        let Some(value) = value else { continue };
        let number;
        let part = match value {
            Value::String(text) => display_name(category, path, text, fields, catalogue),
            Value::Number(_) => {
                number = value.to_string();
                &number
            }
            // Open category fields may hold anything.
            _ => continue,
        };
        if !part.is_empty() {
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(part);
        }
    }
    (!title.is_empty()).then_some(title)
}

fn display_name<'a>(
    category: &Category,
    path: &str,
    id: &'a str,
    fields: &FieldFacts<'_>,
    catalogue: &'a Catalogue,
) -> &'a str {
    let name = match category.field(path).map(|field| field.kind) {
        Some(Kind::Slug { list }) => catalogue.list(list).name(id),
        Some(Kind::Model { list }) => {
            fields.brand.and_then(Value::as_str).and_then(|brand| catalogue.models(list, brand).name(id))
        }
        _ => None,
    };
    name.unwrap_or(id)
}
