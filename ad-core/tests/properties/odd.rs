//! Odd values, and payloads that are odd in a few places: most of such a payload is valid, so that what is behind the
//! first refusal is reached too.

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value, json};

/// Any value of JSON, not too deep.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    odd_value().prop_recursive(5, 40, 6, |inside| {
        prop_oneof![vec(inside.clone(), 0..6).prop_map(Value::Array), object_of(inside).prop_map(Value::Object)]
    })
}

/// A JSON object with any names and values.
pub(crate) fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    object_of(any_json())
}

fn object_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    vec((odd_name(), value), 0..8).prop_map(|members| members.into_iter().collect())
}

/// Names of fields, and names that are none.
pub(crate) fn odd_name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "category_fields", "price", "location", "contact", "image_urls", "title", "body", "condition", "powertrain",
            "physics", "mileage", "unit", "value", "type", "amount", "name", "brand", "model", "model_year", "vin",
            "registration_number", "equipments", "is_new_vehicle", "number_of_owners", "latitude", "lkf", "log", "id",
        ]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["", "0", "01", "a.b", ".", "condition.mileage", "__proto__", "Brand", "e\u{301}"])
            .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Values that programs stumble over.
pub(crate) fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => odd_number(),
        4 => odd_text().prop_map(Value::from),
        2 => prop::sample::select(vec![
            json!({}), json!([]), json!([null]), json!({"": null}), json!({"unit": "KM", "value": "5"}),
            json!({"unit": "mil", "value": -0.0}), json!({"unit": "kw", "value": 1e308}), json!({"unit": "hour"}),
            json!({"zipcode": "11122"}), json!({"lkf": "018000"}), json!({"latitude": "59.3", "longitude": 18}),
            json!([{"type": "call", "amount": 0}]), json!([{"type": "leasing", "amount": 1}, {"type": "leasing", "amount": 2}]),
            json!([{"type": "monthly", "amount": 99.99, "currency": "EUR"}]), json!(["gasoline", "DIESEL"]), nested(40),
        ]),
    ]
}

fn odd_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(vec![
            json!(0),
            json!(-0.0),
            json!(1),
            json!(-1),
            json!(0.1),
            json!(2019.0),
            json!(2019.5),
            json!(0.1 + 0.2),
            json!(1e12),
            json!(999_999_999_999.99),
            json!(1e-320),
            json!(1e308),
            json!(-1e308),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(9_007_199_254_740_993_i64),
            json!(30),
            json!(99.999),
            json!(1e16),
            json!(4_503_599_627_370_497.5),
        ]),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..2200_i64).prop_map(Value::from),
        (0.0..40.0).prop_map(Value::from),
    ]
}

/// What a wrong conversion leaves behind, beside characters of more than one byte.
const DAMAGED: [&str; 22] = [
    "&amp;", "&auml;", "&#228;", "&", ";", "\\", "\\n", "\\N", "\\u00e4", "Ã¤", "â‚¬", "\u{fffd}", "\0", "å", "\u{a0}",
    "\u{3000}", " ", "👍", "x", "Â", "1.000", "km",
];

/// Texts of some of these pieces.
pub(crate) fn of_pieces(
    pieces: &'static [&'static str],
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = String> {
    vec(prop::sample::select(pieces), count).prop_map(|pieces| pieces.concat())
}

/// Texts that programs stumble over.
pub(crate) fn odd_text() -> impl Strategy<Value = String> {
    let texts = [
        "",
        " ",
        "\u{0}",
        "e\u{301}\u{301}",
        "ﬁ",
        "İ",
        "ß",
        "👩‍👩‍👧",
        "\u{202e}abc",
        "<b>",
        "a,b",
        "null",
        "true",
        "0",
        "-0",
        "1e5",
        "1E400",
        "١",
        " abc 12d ",
        "abc12\u{a0}d",
        "ABC123",
        "åäö123",
        "2024-02-29",
        "2023-02-29",
        "-009999-01-01",
        "volvo",
        "VOLVO",
        "manual",
        "AWD",
        "km",
        "KWH/100KM",
        "SEK",
        "sek",
        "59.3",
        "11122",
        "018000",
        "998000",
        "+46701234567",
        "anna@north.example",
        "ANNA@NORTH.EXAMPLE",
        "\"a b\"@c.d",
        "a@b",
        "https://",
        "https://a",
        "https://1.2",
        "http://a.example/å",
        "https://youtu.be/x",
        "https://x.youtube.com./",
        "https://[::1]/",
        "javascript:1",
    ];
    prop_oneof![
        6 => prop::sample::select(texts.to_vec()).prop_map(str::to_owned),
        2 => any::<String>(),
        2 => of_pieces(&DAMAGED, 1..8),
        1 => (prop::sample::select(vec!["x", "å", "e\u{301}", "👍"]), prop::sample::select(vec![255, 256, 500, 501, 9_999, 10_001]))
            .prop_map(|(text, times): (&str, usize)| text.repeat(times)),
    ]
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inside, level| if level % 2 == 0 { json!([inside]) } else { json!({"a": inside}) })
}

/// One change of a payload, at a place that is chosen when the payload is known.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    place: Index,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Replace(Value),
    Drop,
    Add(String, Value),
    /// Written in another way, or a little different.
    Tweak(Index),
}

/// One to a few changes of a payload.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let what = prop_oneof![
        3 => any_json().prop_map(What::Replace),
        1 => Just(What::Replace(Value::Null)),
        2 => Just(What::Drop),
        1 => (odd_name(), any_json()).prop_map(|(name, value)| What::Add(name, value)),
        5 => any::<Index>().prop_map(What::Tweak),
    ];
    vec((any::<Index>(), what).prop_map(|(place, what)| Change { place, what }), 1..4)
}

/// The payload, with all changes made in turn.
pub(crate) fn changed(payload: &Map<String, Value>, changes: &[Change]) -> Map<String, Value> {
    let mut payload = Value::Object(payload.clone());
    for change in changes {
        let mut places = Vec::new();
        collect(&payload, "", &mut places);
        // The payload itself stays an object.
        if places.is_empty() {
            break;
        }
        apply(&mut payload, &places[change.place.index(places.len())], &change.what);
    }
    let Value::Object(payload) = payload else { unreachable!("changes are made inside") };
    payload
}

/// JSON pointers of everything inside.
fn collect(value: &Value, above: &str, places: &mut Vec<String>) {
    let mut visit = |name: &str, value: &Value| {
        let place = format!("{above}/{}", name.replace('~', "~0").replace('/', "~1"));
        places.push(place.clone());
        collect(value, &place, places);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| visit(name, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| visit(&index.to_string(), value)),
        _ => {}
    }
}

fn apply(payload: &mut Value, place: &str, what: &What) {
    let (above, name) = place.rsplit_once('/').unwrap();
    match what {
        What::Drop => match payload.pointer_mut(above).unwrap() {
            Value::Object(members) => drop(members.remove(&name.replace("~1", "/").replace("~0", "~"))),
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            _ => unreachable!("a place is inside something"),
        },
        What::Replace(value) => value.clone_into(payload.pointer_mut(place).unwrap()),
        What::Add(name, value) => match payload.pointer_mut(place).unwrap() {
            Value::Object(members) => drop(members.insert(name.clone(), value.clone())),
            Value::Array(items) => items.push(value.clone()),
            other => *other = json!({name: value}),
        },
        What::Tweak(how) => tweak(payload.pointer_mut(place).unwrap(), *how),
    }
}

fn tweak(value: &mut Value, how: Index) {
    *value = match &*value {
        Value::String(text) => json!(how.get(&[
            text.to_uppercase(),
            text.to_lowercase(),
            format!(" {text}  "),
            format!("{text}{text}"),
            text.chars().rev().collect(),
            text.chars().skip(1).collect(),
        ])),
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            how.get(&[
                json!(float),
                json!(number.to_string()),
                json!(0),
                json!(-float),
                json!(float + 1.0),
                json!(float / 3.0),
            ])
            .clone()
        }
        Value::Array(items) => {
            let twice = items.iter().chain(items).cloned().collect();
            let reversed = items.iter().rev().cloned().collect();
            let fewer = items.iter().skip(1).cloned().collect();
            how.get(&[twice, reversed, fewer, Vec::new()]).clone().into()
        }
        Value::Object(members) => {
            members.iter().skip(how.index(3)).map(|(name, value)| (name.clone(), value.clone())).collect()
        }
        Value::Bool(flag) => json!(!flag),
        Value::Null => json!(0),
    };
}
