//! Changes that make valid payloads invalid.

use fastrand::Rng;
use serde_json::{Map, Value, json};

pub(super) fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.usize(..items.len())]
}

/// Texts with unusual characters and lengths.
pub(super) fn odd_text(rng: &mut Rng) -> String {
    let texts = [
        "",
        " ",
        "å/ä ö",
        "'\"\\",
        "%2F",
        "<b>",
        "null",
        "-1",
        "1e9",
        "2019-02-30",
        "2026-01-15T10:00:00Z",
        "\u{0}",
        "🚗",
        "ß",
        "a,b",
        ",",
        "https://exämple.se/å b",
        " https://a.example",
        "HTTP://a.example",
        "+46701234567",
        "SEK",
        "true",
        "validate",
        "2019-W01-1",
        "x@y",
        "x@[127.0.0.1]",
        "00000000-0000-0000-0000-000000000000",
        "ABC 12d",
        "list",
        "reduced",
    ];
    if rng.u8(..20) == 0 { "å".repeat(rng.usize(250..300)) } else { (*pick(rng, &texts)).to_owned() }
}

fn odd_value(rng: &mut Rng) -> Value {
    match rng.u8(..10) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => pick(
            rng,
            &[json!(0), json!(-0.0), json!(-1), json!(1), json!(5.0), json!(2019.5), json!(0.005), json!(1e15)],
        )
        .clone(),
        3 => pick(rng, &[json!(i64::MAX), json!(u64::MAX), json!(i64::MIN), json!(1e308), json!(5e-324)]).clone(),
        4 => pick(rng, &[json!([]), json!({}), json!([null]), json!([[1]]), json!(["a", "a"]), json!([{}])]).clone(),
        5 => (0..rng.usize(2..40)).fold(json!(1), |inner, _| json!({"a": inner})),
        6 if rng.bool() => vec![json!("x"); rng.usize(2..1100)].into(),
        6 => "å".repeat(rng.usize(400..12_000)).into(),
        7 => json!({"unit": odd_text(rng), "value": odd_text(rng)}),
        _ => odd_text(rng).into(),
    }
}

/// A payload with one to three things about it changed.
pub(super) fn spoil(rng: &mut Rng, payload: &mut Value) {
    for _ in 0..rng.usize(1..4) {
        let mut places = Vec::new();
        collect(payload, String::new(), &mut places);
        let place = pick(rng, &places).clone();
        let other = pick(rng, &places).clone();
        let other = payload.pointer(&other).cloned().unwrap_or_default();
        let (above, name) = place.rsplit_once('/').unwrap_or_default();
        let (above, name) = (above.to_owned(), name.replace("~1", "/").replace("~0", "~"));
        let way = rng.u8(..6);
        if way < 2 {
            if let Some(Value::Object(object)) = payload.pointer_mut(&above) {
                if way == 0 { drop(object.remove(&name)) } else { add(rng, object) }
            }
        } else if let Some(place) = payload.pointer_mut(&place) {
            match way {
                2 => *place = other,
                3 => *place = Value::Null,
                4 => twice(place),
                _ => *place = odd_value(rng),
            }
        }
    }
    // The root stays an object: other roots are sent as they are.
    if !payload.is_object() {
        *payload = Value::Object(Map::new());
    }
}

/// Texts in upper case, items twice.
fn twice(place: &mut Value) {
    match place {
        Value::String(text) => *text = text.to_uppercase(),
        Value::Array(items) => items.extend_from_within(..),
        _ => {}
    }
}

/// A member that does not belong here, or does not belong to the client.
fn add(rng: &mut Rng, object: &mut Map<String, Value>) {
    let names = [
        "titel",
        "state",
        "log",
        "id",
        "title",
        "contact",
        "dealer_code",
        "category_id",
        "location",
        "error",
        "detail",
        "0",
    ];
    object.insert((*pick(rng, &names)).to_owned(), odd_value(rng));
}

/// Pointers to everything below a value.
fn collect(value: &Value, pointer: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{pointer}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(pointer);
}
