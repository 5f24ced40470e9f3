//! Titles of registered vehicles: generated from the display names of brand, model, `model_type` and `model_year`, missing
//! parts left out (decision 16).

use serde_json::{Map, Value};

use crate::{catalogue::Catalogue, categories::Category, fields::Kind, model::get};

/// Brand, model, trim and year.
const PARTS: [&str; 4] = ["brand", "model", "model_type", "model_year"];

/// The title for these category fields; `None` if all parts are missing.
pub fn generate(category: &Category, fields: &Map<String, Value>, catalogue: &Catalogue) -> Option<String> {
    let mut title = String::with_capacity(64);
    for path in PARTS {
        let Some(value) = get(fields, path) else { continue };
        let number;
        let part = match value {
            Value::String(text) => shown(category, path, text, fields, catalogue),
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

fn shown<'a>(
    category: &Category,
    path: &str,
    id: &'a str,
    fields: &Map<String, Value>,
    catalogue: &'a Catalogue,
) -> &'a str {
    let name = match category.field(path).map(|field| field.kind) {
        Some(Kind::Slug { list }) => catalogue.list(list).name(id),
        Some(Kind::Model { list }) => {
            get(fields, "brand").and_then(Value::as_str).and_then(|brand| catalogue.models(list, brand).name(id))
        }
        _ => None,
    };
    name.unwrap_or(id)
}
