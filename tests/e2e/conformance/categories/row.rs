//! Rows of the tables of `category_fields`, and what each kind of field accepts and refuses.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{MORE, laid_over, nested},
    request::{Request, ad, category, fields, get, patch, validate, validate_v3},
    rule::{Rule, category_fields},
    says,
    trial::Trial,
};

/// What a field holds, as the document says it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// `{unit, value}` in one of these units, the value from this one up.
    Measure(&'static [&'static str], i64),
    Boolean,
    /// Text, in characters.
    Text(Option<usize>, Option<usize>),
    Integer(Option<(i64, i64)>),
    Date,
    WebAddress,
    /// One of a list; whether in any case.
    Choice(&'static [&'static str], bool),
    /// Any of a list, in any case.
    Choices(&'static [&'static str]),
    /// A value that the lookup of the field gives.
    Slug,
    /// One item per element, no commas.
    Items,
    /// A licence plate of so many characters at most.
    Plate(Option<usize>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) path: &'static str,
    holds: Holds,
    /// The release that added it; without one, V3 has it.
    pub(super) since: Option<&'static str>,
    /// What else has to be in the ad.
    beside: fn() -> Value,
}

impl Row {
    const fn new(path: &'static str, holds: Holds) -> Self {
        Self { path, holds, since: None, beside: || json!({}) }
    }

    pub(super) const fn since(self, release: &'static str) -> Self {
        Self { since: Some(release), ..self }
    }

    pub(super) const fn beside(self, beside: fn() -> Value) -> Self {
        Self { beside, ..self }
    }
}

pub(super) const fn measure(path: &'static str, units: &'static [&'static str]) -> Row {
    Row::new(path, Holds::Measure(units, 0))
}

pub(super) const fn measure_from(path: &'static str, units: &'static [&'static str], least: i64) -> Row {
    Row::new(path, Holds::Measure(units, least))
}

pub(super) const fn boolean(path: &'static str) -> Row {
    Row::new(path, Holds::Boolean)
}

pub(super) const fn text(path: &'static str) -> Row {
    Row::new(path, Holds::Text(None, None))
}

pub(super) const fn text_up_to(path: &'static str, most: usize) -> Row {
    Row::new(path, Holds::Text(None, Some(most)))
}

pub(super) const fn text_of(path: &'static str, fewest: usize, most: usize) -> Row {
    Row::new(path, Holds::Text(Some(fewest), Some(most)))
}

pub(super) const fn integer(path: &'static str) -> Row {
    Row::new(path, Holds::Integer(None))
}

pub(super) const fn integer_of(path: &'static str, least: i64, most: i64) -> Row {
    Row::new(path, Holds::Integer(Some((least, most))))
}

pub(super) const fn date(path: &'static str) -> Row {
    Row::new(path, Holds::Date)
}

pub(super) const fn web_address(path: &'static str) -> Row {
    Row::new(path, Holds::WebAddress)
}

pub(super) const fn choice(path: &'static str, values: &'static [&'static str]) -> Row {
    Row::new(path, Holds::Choice(values, false))
}

pub(super) const fn choice_any_case(path: &'static str, values: &'static [&'static str]) -> Row {
    Row::new(path, Holds::Choice(values, true))
}

pub(super) const fn choices(path: &'static str, values: &'static [&'static str]) -> Row {
    Row::new(path, Holds::Choices(values))
}

pub(super) const fn slug(path: &'static str) -> Row {
    Row::new(path, Holds::Slug)
}

pub(super) const fn items(path: &'static str) -> Row {
    Row::new(path, Holds::Items)
}

pub(super) const fn plate(path: &'static str, most: Option<usize>) -> Row {
    Row::new(path, Holds::Plate(most))
}

/// A value with what it is stored as.
type Stored = (Value, Value);
/// A value with what is said about it.
type Wrong = (Value, Value);

fn as_sent(values: impl IntoIterator<Item = Value>) -> Vec<Stored> {
    values.into_iter().map(|value| (value.clone(), value)).collect()
}

impl Holds {
    fn says(self) -> String {
        match self {
            Self::Measure(units, 0) => format!("measure: {}", units.join(", ")),
            Self::Measure(units, least) => format!("measure: {}; minimum {least}", units.join(", ")),
            Self::Boolean => "boolean".to_owned(),
            Self::Text(None, None) => "string, free text".to_owned(),
            Self::Text(None, Some(most)) => format!("string, max {most} characters"),
            Self::Text(fewest, most) => {
                format!("string, {} to {} characters", fewest.unwrap_or_default(), most.unwrap_or_default())
            }
            Self::Integer(None) => "integer".to_owned(),
            Self::Integer(Some((least, most))) => format!("integer, {least} to {most}"),
            Self::Date => "string, YYYY-MM-DD".to_owned(),
            Self::WebAddress => "string (URL)".to_owned(),
            Self::Choice(values, false) => format!("one of {}", values.join(", ")),
            Self::Choice(values, true) => format!("one of {}; case-insensitive", values.join(", ")),
            Self::Choices(values) => format!("several of {}; case-insensitive", values.join(", ")),
            Self::Slug => "slug: a value of its lookup".to_owned(),
            Self::Items => "array of strings, one item per element, no commas".to_owned(),
            Self::Plate(None) => "string; stored in upper case without spaces".to_owned(),
            Self::Plate(Some(most)) => format!("string, max {most} characters; stored in upper case without spaces"),
        }
    }

    fn accepted(self) -> Vec<Stored> {
        match self {
            Self::Measure(units, least) => {
                let other_case = json!({"unit": units[0].to_uppercase(), "value": "7.5"});
                as_sent(units.iter().map(|unit| json!({"unit": unit, "value": 7})))
                    .into_iter()
                    .chain(as_sent([json!({"unit": units[0], "value": least})]))
                    .chain([(other_case, json!({"unit": units[0], "value": 7.5}))])
                    .collect()
            }
            Self::Boolean => as_sent([json!(true), json!(false)]),
            Self::Text(None, None) => as_sent([json!("Svängd & blå, 7\""), json!("x".repeat(1000))]),
            Self::Text(fewest, most) => {
                as_sent([fewest, most].into_iter().flatten().map(|length| json!("ö".repeat(length))))
            }
            Self::Integer(None) => as_sent([json!(4), json!(120)]),
            Self::Integer(Some((least, most))) => as_sent([json!(least), json!(most)]),
            Self::Date => as_sent([json!("2024-02-29"), json!("1999-12-31")]),
            Self::WebAddress => as_sent([json!("https://dealer.example/a?b=c"), json!("http://dealer.example/å.pdf")]),
            Self::Choice(values, any_case) => {
                let other_case = any_case.then(|| (json!(values[0].to_uppercase()), json!(values[0])));
                as_sent(values.iter().map(|value| json!(value))).into_iter().chain(other_case).collect()
            }
            Self::Choices(values) => vec![
                (json!(values), json!(values)),
                (json!([values[0].to_uppercase()]), json!([values[0]])),
                (json!([values[values.len() - 1]]), json!([values[values.len() - 1]])),
            ],
            Self::Slug => Vec::new(),
            Self::Items => as_sent([json!(["ABS", "Dragkrok 2 t"])]),
            Self::Plate(most) => vec![
                (json!("q 1a b"), json!("Q1AB")),
                (json!("Z".repeat(most.unwrap_or(12))), json!("Z".repeat(most.unwrap_or(12)))),
            ],
        }
    }

    fn refused(self) -> Vec<Wrong> {
        match self {
            Self::Measure(units, least) => vec![
                (
                    json!({"unit": "furlong", "value": 7}),
                    json!({"unit": [says::no_choice("furlong"), says::choices(units)]}),
                ),
                (json!({"unit": units[0], "value": least - 1}), json!({"value": [says::at_least(least)]})),
                (json!({"unit": units[0], "value": "seven"}), json!({"value": [says::NO_NUMBER]})),
                (json!({"unit": units[0]}), json!({"value": [says::REQUIRED]})),
                (json!({"value": 7}), json!({"unit": [says::REQUIRED]})),
                (json!(7), json!(["Expected an object such as …"])),
            ],
            Self::Boolean => vec![
                (json!("true"), json!([says::NO_BOOLEAN, says::unquoted("true")])),
                (json!(1), json!([says::NO_BOOLEAN])),
            ],
            Self::Text(fewest, most) => [
                Some((json!(7), json!([says::NO_TEXT, MORE]))),
                fewest.map(|it| (json!("x".repeat(it - 1)), json!([says::at_least_characters(it)]))),
                most.map(|it| (json!("x".repeat(it + 1)), json!([says::no_more_characters(it)]))),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::Integer(bounds) => {
                let outside = bounds.map(|(least, most)| {
                    [
                        (json!(least - 1), json!([says::at_least(least)])),
                        (json!(most + 1), json!([says::at_most(most)])),
                    ]
                });
                let quoted = (json!("4"), json!([says::NO_INTEGER, MORE]));
                [json!("four"), json!(4.5), json!(true)]
                    .into_iter()
                    .map(|value| (value, json!([says::NO_INTEGER])))
                    .chain([quoted])
                    .chain(outside.into_iter().flatten())
                    .collect()
            }
            Self::Date => ["2024-1-1", "01/02/2024", "2024-01-01T00:00:00"]
                .into_iter()
                .map(|date| (json!(date), json!([says::NO_DATE])))
                .chain([(json!("2023-02-29"), json!([says::NO_DAY]))])
                .collect(),
            Self::WebAddress => vec![
                (json!("dealer.example"), json!([says::NO_URL])),
                (json!("ftp://dealer.example/a"), json!(["Enter a URL that starts with http:// or https://."])),
            ],
            Self::Choice(values, any_case) => {
                let other_case = (!any_case).then(|| {
                    let sent = values[0].to_uppercase();
                    (json!(sent), json!([says::no_choice(&sent), says::did_you_mean(values[0])]))
                });
                let listed = if values.len() < 13 { says::choices(values) } else { MORE.to_owned() };
                [(json!("warp-field"), json!([says::no_choice("warp-field"), listed]))]
                    .into_iter()
                    .chain(other_case)
                    .chain([(json!(1), json!([says::no_choice("1"), MORE]))])
                    .collect()
            }
            Self::Choices(values) => vec![
                (
                    json!([values[0], "antimatter"]),
                    json!({"1": [says::no_choice("antimatter"), says::choices(values)]}),
                ),
                (json!(values[0]), json!([says::NO_LIST, says::A_LIST])),
            ],
            Self::Slug => vec![
                (json!("no-such-value"), json!([says::no_choice("no-such-value"), MORE])),
                (json!(1), json!([says::no_choice("1"), MORE])),
            ],
            Self::Items => vec![
                (json!(["ABS, AC"]), json!({"0": ["May not contain \",\"; send one item per element."]})),
                (json!(["ABS", 7]), json!({"1": [says::NO_TEXT, says::in_quotes("7")]})),
                (json!("ABS"), json!([says::NO_LIST, says::A_LIST])),
            ],
            Self::Plate(most) => [
                Some((json!(7), json!([says::NO_TEXT, MORE]))),
                most.map(|it| (json!("X".repeat(it + 1)), json!([says::no_more_characters(it)]))),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }

    /// A value to tell fields of V3 from others by, and to send where the field is unknown.
    fn sample(self) -> Value {
        self.accepted().first().map_or_else(|| json!("value"), |(sent, _)| sent.clone())
    }
}

/// The rule of a row of one type's table.
pub(super) fn of_type(section: &str, vehicle_type: &'static str, row: Row) -> Rule {
    with_cases_of(rule(section, row), vehicle_type, row)
}

/// The rule of a row that several types share.
pub(super) fn of_types(section: &str, vehicle_types: impl Iterator<Item = &'static str>, row: Row) -> Rule {
    vehicle_types.fold(rule(section, row), |rule, vehicle_type| with_cases_of(rule, vehicle_type, row))
}

fn rule(section: &str, row: Row) -> Rule {
    let tag = row.since.map(|release| format!(" ({release})")).unwrap_or_default();
    category_fields(section, row.path, &format!("{}{tag}", row.holds.says()))
}

fn with_cases_of(mut rule: Rule, vehicle_type: &'static str, row: Row) -> Rule {
    let registered = crate::conformance::request::registered().any(|it| it == vehicle_type);
    for (sent, stored) in row.holds.accepted() {
        rule = rule.accepts(writes(vehicle_type, row, sent), fields(row.path, stored));
    }
    for (sent, errors) in row.holds.refused() {
        rule = rule.refuses(writes(vehicle_type, row, sent), fields(row.path, errors));
    }
    if registered && matches!(row.since, Some("V4" | "V4.3" | "V4.4")) {
        let sent = writes_v3(vehicle_type, row, row.holds.sample());
        rule = rule.refuses(sent, fields(row.path, json!([says::NOT_IN_V3])));
    }
    match (row.holds, registered && row.since.is_none()) {
        (Holds::Slug, v3) => rule.by(move |trial| Box::pin(takes_its_lookup(trial, vehicle_type, row, v3))),
        (_, true) => {
            let (sent, stored) = row.holds.accepted().swap_remove(0);
            rule.accepts(writes_v3(vehicle_type, row, sent), fields(row.path, stored))
        }
        _ => rule,
    }
}

/// Every value of the lookup is accepted, lower case only.
async fn takes_its_lookup(trial: &Trial, vehicle_type: &str, row: Row, v3: bool) {
    let lookup = trial.accepts(get(format!("/v4/vehicles/{vehicle_type}/{}", row.path)), 200, json!([{}, MORE])).await;
    let ids: Vec<&str> =
        lookup.body.as_array().into_iter().flatten().filter_map(|entry| entry["id"].as_str()).collect();
    let step = if vehicle_type == "trailer" { ids.len() / 4 } else { 1 };
    for id in ids.iter().step_by(step.max(1)) {
        trial.sees("slugs are lower case", &json!(id.to_lowercase()), &json!(id));
        trial.also_accepts(writes(vehicle_type, row, json!(id)), 200, fields(row.path, json!(id))).await;
    }
    let Some(id) = ids.iter().find(|id| id.to_uppercase() != **id) else { return };
    if v3 {
        trial.accepts(writes_v3(vehicle_type, row, json!(id)), 200, fields(row.path, json!(id))).await;
    }
    let upper = id.to_uppercase();
    let errors = json!([says::no_choice(&upper), "Did you mean …"]);
    trial.refuses(writes(vehicle_type, row, json!(upper)), 400, fields(row.path, errors)).await;
}

/// A write of V4 that has this value at the row's path. Trailers cannot be created, and so a stored one is changed.
fn writes(vehicle_type: &str, row: Row, value: Value) -> Request {
    let over = laid_over((row.beside)(), &fields(row.path, value));
    if vehicle_type == "trailer" { patch("/v4/trailer/{trailer v4}", &over) } else { validate(vehicle_type, &over) }
}

/// The same in V3.
fn writes_v3(vehicle_type: &str, row: Row, value: Value) -> Request {
    let over = laid_over((row.beside)(), &fields(row.path, value));
    if vehicle_type == "trailer" {
        patch("/v3/ad/{trailer v3}", &over)
    } else {
        validate_v3(category(vehicle_type), &over)
    }
}

/// What a write of all these rows looks like, for a type that does not have them, and what is said about each.
pub(super) fn unknown(vehicle_type: &'static str, known: &[Row], others: &[Row]) -> (Request, Value) {
    let (mut sent, mut errors) = (json!({}), json!({}));
    for row in others.iter().filter(|row| !known.iter().any(|known| known.path == row.path)) {
        sent = laid_over(sent, &nested(row.path, row.holds.sample()));
        errors = laid_over(errors, &nested(known_part(known, row.path), json!([says::UNKNOWN, MORE])));
    }
    let (sent, errors) = (json!({"category_fields": sent}), json!({"category_fields": errors}));
    let request = if vehicle_type == "trailer" {
        patch("/v4/trailer/{trailer v4}", &sent)
    } else {
        crate::conformance::request::post(format!("/v4/{vehicle_type}/validate"), &ad(vehicle_type, &sent))
    };
    (request, errors)
}

/// The part of an unknown path up to its first name that the table does not have.
fn known_part<'a>(known: &[Row], path: &'a str) -> &'a str {
    let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
    let is_known = |part: &str| known.iter().any(|row| row.path.starts_with(&format!("{part}.")));
    ends.map(|end| &path[..end]).find(|part| !is_known(part)).unwrap_or(path)
}
