//! Output of a single value.

use std::io;

use ad_core::csv_guard as guard;
use ad_core::printable;
use ad_files::{json::leaves, text::plain};
use serde_json::Value;

use super::{
    Format,
    cells::{Cell, csv_cell},
    rows::{Screen, csv_record},
    table,
};

/// A value in this form; for people, the fields that `first` names come first, in that order.
pub(super) fn written(format: Format, value: &Value, first: &[&str], screen: Screen) -> io::Result<String> {
    Ok(match format {
        Format::Table | Format::Wide => lines(value, first, screen),
        Format::Json => format!("{}\n", printable::json(&serde_json::to_string_pretty(value)?)),
        Format::Ndjson => format!("{}\n", printable::json(&value.to_string())),
        // Programs get the exact text, without escapes.
        Format::Csv if screen.terminal.is_some() => printable::lines(&csv(value)?).into_owned(),
        Format::Csv => csv(value)?,
    })
}

/// Each field with a value on a line, as `path  value`.
fn lines(value: &Value, first: &[&str], screen: Screen) -> String {
    let mut fields: Vec<_> = fields(value).into_iter().map(|(path, value)| (path, Cell::from(plain(value)))).collect();
    let rank = |path: &str| {
        let name = path.split('.').next().unwrap_or(path);
        first.iter().position(|first| *first == name || *first == path).unwrap_or(first.len())
    };
    fields.sort_by_key(|(path, _)| rank(path));
    table::named(&fields, 0, screen.terminal, screen.colors)
}

/// A header of paths and a line of values.
fn csv(value: &Value) -> io::Result<String> {
    let fields = fields(value);
    let header = csv_record(fields.iter().map(|(path, _)| guard::guarded(path.clone())))?;
    let values = csv_record(fields.iter().map(|(_, value)| csv_cell(value)))?;
    String::from_utf8([header, values].concat()).map_err(io::Error::other)
}

/// The leaves of a value that are not empty, with their dotted paths. A list of plain values is a leaf.
fn fields(value: &Value) -> Vec<(String, &Value)> {
    leaves(value, |value| match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| !item.is_object() && !item.is_array()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PIPE: Screen = Screen { colors: false, terminal: None };

    #[test]
    fn a_value_is_its_fields_for_people_and_itself_for_programs() {
        let value = json!({
            "source_id": "car-1", "url": null, "image_refs": [], "fuels": ["petrol", "ethanol"],
            "price": [{"type": "list", "amount": 100}], "category_fields": {"physics": {"doors": 5}},
        });
        let people = "\
source_id                      car-1
category_fields.physics.doors  5
fuels                          petrol, ethanol
price.0.amount                 100
price.0.type                   list
";
        assert_eq!(written(Format::Table, &value, &["source_id"], PIPE).unwrap(), people);
        assert_eq!(written(Format::Ndjson, &value, &[], PIPE).unwrap(), format!("{value}\n"));
        assert_eq!(
            serde_json::from_str::<Value>(
                &written(Format::Json, &value, &[], Screen { colors: true, ..PIPE }).unwrap()
            )
            .unwrap(),
            value
        );
        let csv = "category_fields.physics.doors,fuels,price.0.amount,price.0.type,source_id\n5,\"petrol, ethanol\",100,list,car-1\n";
        assert_eq!(written(Format::Csv, &value, &[], PIPE).unwrap(), csv);
        let formulas = json!({"=a": "=1+1", "b": -1});
        assert_eq!(written(Format::Csv, &formulas, &[], PIPE).unwrap(), "'=a,b\n'=1+1,-1\n");
    }
}
