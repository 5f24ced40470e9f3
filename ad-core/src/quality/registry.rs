//! An ad in comparison with what a register has about its vehicle.

use serde_json::{Map, Value};

use super::{Measured, vehicle};

/// Longest value that is proposed, as JSON.
const LONGEST: usize = 500;

/// A field in which an ad and the register do not agree.
pub(super) struct Difference {
    /// The field's path in `category_fields`.
    pub(super) path: String,
    /// What the ad has; `None` if it lacks the field.
    pub(super) sent: Option<String>,
    /// The value in the register.
    pub(super) registered: String,
}

/// The differences in all fields of the category that the register has.
pub(super) fn find(ad: &Measured<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    if let Some(registered) = ad.registered {
        compare_all(ad, "", &registered.category_fields, &mut found);
    }
    found
}

fn compare_all(ad: &Measured<'_>, above: &str, fields: &Map<String, Value>, found: &mut Vec<Difference>) {
    for (name, registered) in fields {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        if ad.category.field(&path).is_some() {
            found.extend(compare(ad, path, registered));
        } else if let Value::Object(below) = registered {
            compare_all(ad, &path, below, found);
        }
    }
}

fn compare(ad: &Measured<'_>, path: String, registered: &Value) -> Option<Difference> {
    if registered.is_null() || registered.to_string().len() > LONGEST {
        return None;
    }
    let sent = ad.field(&path);
    if sent.is_some_and(|sent| agree(sent, registered)) {
        return None;
    }
    Some(Difference { path, sent: sent.map(shown), registered: shown(registered) })
}

/// Whether two values mean the same. Measures in different units that cannot be compared are taken to agree.
fn agree(sent: &Value, registered: &Value) -> bool {
    match (sent, registered) {
        (Value::String(sent), Value::String(registered)) => sent.trim().eq_ignore_ascii_case(registered.trim()),
        (Value::Number(sent), Value::Number(registered)) => sent.as_f64() == registered.as_f64(),
        (Value::Array(sent), Value::Array(registered)) => {
            let all_in = |one: &[Value], other: &[Value]| one.iter().all(|it| other.iter().any(|that| agree(it, that)));
            all_in(sent, registered) && all_in(registered, sent)
        }
        _ => match (measure(sent), measure(registered)) {
            (Some(sent), Some(registered)) => measures_agree(sent, registered),
            _ => sent == registered,
        },
    }
}

/// Values are rounded when units are converted: a hundredth is no difference.
fn measures_agree((sent, unit): (f64, &str), (registered, registered_unit): (f64, &str)) -> bool {
    let is_power = |unit: &str| ["hp", "kw"].iter().any(|known| unit.eq_ignore_ascii_case(known));
    let (sent, registered) = if is_power(unit) && is_power(registered_unit) {
        (vehicle::kilowatts(sent, unit), vehicle::kilowatts(registered, registered_unit))
    } else if unit.eq_ignore_ascii_case(registered_unit) {
        (sent, registered)
    } else {
        return true;
    };
    (sent - registered).abs() <= registered.abs() / 100.0
}

fn measure(value: &Value) -> Option<(f64, &str)> {
    Some((value.get("value")?.as_f64()?, value.get("unit")?.as_str()?))
}

/// A value as people read it: texts as they are, measures as `251 kw`, lists with commas.
fn shown(value: &Value) -> String {
    match (value, measure(value)) {
        (_, Some((number, unit))) => format!("{number} {unit}"),
        (Value::String(text), _) => text.clone(),
        (Value::Array(items), _) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        (other, _) => other.to_string(),
    }
}
