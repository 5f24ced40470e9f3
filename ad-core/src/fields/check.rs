//! Checking an object against a compiled table, in place: what is valid is normalised where it stands, what is not is
//! left as it was and reported. One walk, no copy of the payload, no allocation for a valid field.

use email_address::EmailAddress;
use serde_json::{Map, Number, Value};
use url::Url;

use super::{ChoiceValue, Direction, FieldErrors, Kind, Node, Tree};
use crate::{ad::ApiVersion, catalogue::Catalogue, nearest};

/// Unknown fields of one level for which the field that was meant is looked for: a payload that has more is not a slip
/// of the pen, and looking takes its time.
const MOST_HINTS: usize = 20;

/// Which write is checked; it decides what `null` means (decision 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `null` is the same as leaving the field out.
    Create,
    /// `null` clears; on a required field it is an error.
    Update,
}

/// One check under way: what it reads, and what it notes beside the errors.
#[derive(Debug)]
pub struct Check<'a> {
    catalogue: &'a Catalogue,
    version: ApiVersion,
    mode: Mode,
    category: Option<&'a Tree>,
    images: &'static [&'static str],
    nulls: Vec<&'static str>,
    ignored: Vec<&'static str>,
}

impl<'a> Check<'a> {
    /// A check in which a field of kind [`Kind::CategoryFields`] is held against `category`; without one, any object
    /// will do there.
    pub fn new(catalogue: &'a Catalogue, version: ApiVersion, mode: Mode, category: Option<&'a Tree>) -> Self {
        Self { catalogue, version, mode, category, images: &["https"], nulls: Vec::new(), ignored: Vec::new() }
    }

    /// The same check, in which images may come over http too.
    #[must_use]
    pub fn with_http_images(self, permitted: bool) -> Self {
        if permitted { Self { images: &["https", "http"], ..self } } else { self }
    }

    /// Paths that were sent as an explicit `null` and dropped.
    pub fn nulls(&self) -> &[&'static str] {
        &self.nulls
    }

    /// Response-only fields that were sent and dropped.
    pub fn ignored(&self) -> &[&'static str] {
        &self.ignored
    }

    /// Checks and normalises an object, and returns everything that is wrong with it.
    pub fn object(&mut self, tree: &Tree, object: &mut Map<String, Value>) -> FieldErrors {
        self.level(tree, tree, object)
    }

    /// One level of the object that `root` describes.
    fn level(&mut self, root: &Tree, tree: &Tree, object: &mut Map<String, Value>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let mut hints = MOST_HINTS;
        let mut dropped = Vec::new();
        for (name, value) in object.iter_mut() {
            if let Some(node) = tree.get(name) {
                if !self.member(root, name, node, value, &mut errors) {
                    dropped.push(name.clone());
                }
            } else {
                errors.push(name, "Unknown field.");
                if hints > 0 {
                    hints -= 1;
                    hint(root, name, &mut errors);
                }
            }
        }
        for name in dropped {
            object.remove(&name);
        }
        for (name, field) in tree.expected() {
            if field.required && !object.contains_key(name) && !errors.contains(name) {
                errors.push(name, "This field is required.");
            }
            if let Some(default) = field.default
                && !object.contains_key(name)
            {
                object.insert(name.to_owned(), Value::from(default));
            }
        }
        errors
    }

    /// One member; `false` when it is to be dropped.
    fn member(&mut self, root: &Tree, name: &str, node: &Node, value: &mut Value, errors: &mut FieldErrors) -> bool {
        match node {
            Node::Branch(below) => match value {
                Value::Null => return false,
                Value::Object(object) => {
                    let wrong = self.level(root, below, object);
                    // One that is empty because something is missing in it is not the same as none.
                    let keep = !object.is_empty() || !wrong.is_empty();
                    errors.put(name, wrong);
                    return keep;
                }
                _ => errors.push(name, "Expected an object."),
            },
            Node::Leaf(field, _) if field.direction == Direction::Response => {
                self.ignored.push(field.path);
                return false;
            }
            Node::Leaf(field, _) if !field.since.allows(self.version) => {
                errors.push(name, "This field is not supported by V3.");
            }
            Node::Leaf(field, inside) => {
                if value.is_null() {
                    if self.mode == Mode::Update && !field.nullable {
                        errors.push(name, "This field may not be null.");
                        return true;
                    }
                    self.nulls.push(field.path);
                    return false;
                }
                let wrong = self.value(&field.kind, inside.as_ref(), value);
                errors.put(name, wrong);
            }
        }
        true
    }

    fn value(&mut self, kind: &Kind, inside: Option<&Tree>, value: &mut Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        match (kind, inside) {
            (Kind::List { item, max, unique }, _) => self.list(item, *max, *unique, value, &mut errors),
            (Kind::Objects { max, unique_by, .. }, Some(tree)) => {
                self.objects(tree, *max, unique_by, value, &mut errors);
            }
            (Kind::Object { .. }, Some(tree)) => match value {
                Value::Object(object) => return self.object(tree, object),
                _ => errors.here("Expected an object."),
            },
            (Kind::CategoryFields, _) => match (value, self.category) {
                (Value::Object(object), Some(tree)) => return self.object(tree, object),
                (Value::Object(_), None) => {}
                _ => errors.here("Expected an object."),
            },
            (Kind::Measure { units, min }, _) => measure(units, *min, value, &mut errors),
            _ => self.scalar(kind, value, &mut errors),
        }
        errors
    }

    fn list(&mut self, item: &Kind, max: usize, unique: bool, value: &mut Value, errors: &mut FieldErrors) {
        let Value::Array(items) = value else { return errors.here("Expected a list of items.") };
        if items.len() > max {
            errors.here(format!("Ensure this field has no more than {max} elements."));
        }
        // What is beyond the limit is refused unseen: a client cannot make it expensive.
        let within = items.len().min(max);
        let items = &mut items[..within];
        for (index, value) in items.iter_mut().enumerate() {
            let wrong = if value.is_null() { null() } else { self.value(item, None, value) };
            if !wrong.is_empty() {
                errors.put(&index.to_string(), wrong);
            }
        }
        if unique {
            for (index, value) in items.iter().enumerate() {
                if items[..index].contains(value) {
                    errors.push(&index.to_string(), format!("{} occurs twice in this list.", shown(value)));
                }
            }
        }
    }

    fn objects(&mut self, tree: &Tree, max: usize, unique_by: &str, value: &mut Value, errors: &mut FieldErrors) {
        let Value::Array(items) = value else { return errors.here("Expected a list of items.") };
        if items.len() > max {
            errors.here(format!("Ensure this field has no more than {max} elements."));
        }
        let within = items.len().min(max);
        let items = &mut items[..within];
        for (index, value) in items.iter_mut().enumerate() {
            let wrong = match value {
                Value::Null => null(),
                Value::Object(object) => self.object(tree, object),
                _ => here("Expected an object."),
            };
            if !wrong.is_empty() {
                errors.put(&index.to_string(), wrong);
            }
        }
        for (index, value) in items.iter().enumerate() {
            let Some(key) = value.get(unique_by) else { continue };
            if items[..index].iter().any(|other| other.get(unique_by) == Some(key)) {
                errors.at(&index.to_string()).push(unique_by, format!("{} occurs twice in this list.", shown(key)));
            }
        }
    }

    fn scalar(&self, kind: &Kind, value: &mut Value, errors: &mut FieldErrors) {
        match kind {
            Kind::Integer { min, max, numeric_text } => integer(*min, *max, *numeric_text, value, errors),
            Kind::Decimal { min, max, decimals, numeric_text } => {
                decimal(*min, *max, *decimals, *numeric_text, value, errors);
            }
            Kind::Boolean if !value.is_boolean() => errors.here("Must be a valid boolean."),
            Kind::Boolean => {}
            Kind::Choice { values, any_case } => choice(values, *any_case, value, errors),
            Kind::Slug { list } => {
                let list = self.catalogue.list(list);
                if !value.as_str().is_some_and(|id| list.contains(id)) {
                    wrong_choice(value, list.ids(), errors);
                }
            }
            _ => match value {
                Value::String(text) => text_kind(kind, self.images, text, errors),
                _ => errors.here("Not a valid string."),
            },
        }
    }
}

fn here(message: &str) -> FieldErrors {
    let mut errors = FieldErrors::default();
    errors.here(message);
    errors
}

fn null() -> FieldErrors {
    here("This field may not be null.")
}

/// The kinds that are a JSON string.
fn text_kind(kind: &Kind, images: &[&str], text: &mut String, errors: &mut FieldErrors) {
    match kind {
        Kind::Text { min, max, without } => {
            // Characters are at most as many as bytes: counting is needed only where bytes exceed a bound.
            if text.len() > *max && text.chars().count() > *max {
                errors.here(format!("Ensure this field has no more than {max} characters."));
            } else if *min > 0 && text.chars().nth(*min - 1).is_none() {
                errors.here(if *min == 1 {
                    "This field may not be blank.".to_owned()
                } else {
                    format!("Ensure this field has at least {min} characters.")
                });
            }
            if let Some(mark) = without
                && text.contains(*mark)
            {
                errors.here(format!("May not contain \"{mark}\"; send one item per element."));
            }
        }
        Kind::Date if text.len() != 10 || text.parse::<jiff::civil::Date>().is_err() => {
            errors.here("Date has wrong format. Use one of these formats instead: YYYY-MM-DD.");
        }
        Kind::Url { schemes } => address(schemes, text, errors),
        Kind::ImageAddress => address(images, text, errors),
        Kind::Plate { max } => {
            if text.contains(|mark: char| mark.is_whitespace() || mark.is_lowercase()) {
                *text = text.split_whitespace().collect::<String>().to_uppercase();
            }
            let length = text.chars().count();
            if length == 0 {
                errors.here("This field may not be blank.");
            } else if length > *max {
                errors.here(format!("Ensure this field has no more than {max} characters."));
            }
        }
        Kind::Email { or_empty: true } if text.is_empty() => {}
        Kind::Email { .. } if !is_email(text) => {
            errors.here("Enter a valid email address.");
        }
        Kind::Digits { lengths, plus } => {
            let digits = text.strip_prefix('+').filter(|_| *plus).unwrap_or(text);
            let ends = [lengths.first(), lengths.last()];
            if !lengths.contains(&text.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                let sign = if *plus { ", with an optional leading +" } else { "" };
                errors.here(match (lengths, ends) {
                    ([only], _) => format!("Must be {only} digits{sign}."),
                    ([first, second], _) => format!("Must be {first} or {second} digits{sign}."),
                    (_, [Some(first), Some(last)]) => {
                        format!("Digits only{sign}, {first} to {last} characters.")
                    }
                    _ => "Digits only.".to_owned(),
                });
            }
        }
        Kind::Currency if iso_currency::Currency::from_code(text).is_none() => {
            errors.here(format!("\"{text}\" is not a valid choice."));
            errors.here("Send an ISO 4217 code such as \"SEK\".");
        }
        _ => {}
    }
}

/// A bare address at a domain: nothing that a mail program would take apart first.
fn is_email(text: &str) -> bool {
    let options = email_address::Options::default().without_display_text().without_domain_literal().with_required_tld();
    EmailAddress::parse_with_options(text, options).is_ok()
}

fn address(schemes: &[&str], text: &str, errors: &mut FieldErrors) {
    if text.len() > 2000 {
        return errors.here("Ensure this field has no more than 2000 characters.");
    }
    if plain_host(schemes, text).is_some() {
        return;
    }
    match Url::parse(text) {
        Ok(url) if url.host().is_none() => errors.here("Enter a valid URL."),
        Ok(url) if !schemes.contains(&url.scheme()) => {
            errors.here(format!("Enter a URL that starts with {}://.", schemes.join(":// or ")));
        }
        Ok(_) => {}
        Err(_) => errors.here("Enter a valid URL."),
    }
}

/// The host of an address, where the address is one of these schemes and a host of plain ASCII labels. Nothing that
/// follows such a host can make an address invalid, and so most addresses need no parser.
pub(crate) fn plain_host<'a>(schemes: &[&str], text: &'a str) -> Option<&'a str> {
    let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)?.strip_prefix("://"))?;
    let end = rest.bytes().position(|byte| b"/?#".contains(&byte)).unwrap_or(rest.len());
    let host = &rest[..end];
    let (mut length, mut begins_with_letter) = (0, false);
    for byte in host.bytes() {
        match byte {
            b'.' if length > 0 => length = 0,
            b'a'..=b'z' | b'0'..=b'9' => {
                begins_with_letter = if length == 0 { byte.is_ascii_lowercase() } else { begins_with_letter };
                length += 1;
            }
            // Signs, ports, names in other alphabets, empty labels: for the parser.
            _ => return None,
        }
    }
    // A last label that begins with a digit may be an address in numbers.
    (length > 0 && begins_with_letter).then_some(host)
}

/// A number, or the number that a numeric string holds, which then replaces it.
fn number(value: &mut Value, numeric_text: bool) -> Option<&Number> {
    if numeric_text && let Value::String(text) = &*value {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        *value = Value::Number(serde_json::from_str(text).ok().filter(|_| plain)?);
    }
    match value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn integer(min: i64, max: i64, numeric_text: bool, value: &mut Value, errors: &mut FieldErrors) {
    let Some(number) = number(value, numeric_text) else { return errors.here("A valid integer is required.") };
    // 5.0 is the integer 5 in JSON. What is too large for an i64 becomes its end, and every bound lies within.
    #[expect(clippy::cast_possible_truncation, reason = "saturates, as it should")]
    let whole =
        number.as_i64().or_else(|| number.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as i64));
    match whole {
        None => errors.here("A valid integer is required."),
        Some(whole) if whole < min => errors.here(format!("Ensure this value is greater than or equal to {min}.")),
        Some(whole) if whole > max => errors.here(format!("Ensure this value is less than or equal to {max}.")),
        Some(whole) if number.is_f64() => *value = Value::from(whole),
        Some(_) => {}
    }
}

fn decimal(min: f64, max: f64, decimals: Option<u8>, numeric_text: bool, value: &mut Value, errors: &mut FieldErrors) {
    let Some(number) = number(value, numeric_text) else { return errors.here("A valid number is required.") };
    let float = number.as_f64().unwrap_or(f64::MAX);
    if float < min {
        errors.here(format!("Ensure this value is greater than or equal to {min}."));
    } else if float > max {
        errors.here(format!("Ensure this value is less than or equal to {max}."));
    } else if let Some(most) = decimals
        && number.is_f64()
    {
        let text = float.to_string();
        let digits = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        if digits > usize::from(most) {
            errors.here(format!("Ensure that there are no more than {most} decimal places."));
        }
    }
}

fn choice(values: &[ChoiceValue], any_case: bool, value: &mut Value, errors: &mut FieldErrors) {
    let Value::String(text) = value else { return wrong_choice(value, values.iter().map(|(id, _)| *id), errors) };
    if values.iter().any(|(id, _)| id == text) {
        return;
    }
    match values.iter().find(|(id, _)| any_case && id.eq_ignore_ascii_case(text)) {
        Some((id, _)) => (*id).clone_into(text),
        None => wrong_choice(value, values.iter().map(|(id, _)| *id), errors),
    }
}

fn measure(units: &[&str], min: f64, value: &mut Value, errors: &mut FieldErrors) {
    let Value::Object(members) = value else {
        return errors.here(format!("Expected an object such as {{\"unit\": \"{}\", \"value\": 1}}.", units[0]));
    };
    for name in ["unit", "value"] {
        match members.get_mut(name) {
            None => errors.push(name, "This field is required."),
            Some(Value::Null) => errors.push(name, "This field may not be null."),
            Some(number) if name == "value" => {
                let mut wrong = FieldErrors::default();
                decimal(min, 1e12, None, true, number, &mut wrong);
                errors.put(name, wrong);
            }
            Some(Value::String(unit)) if units.contains(&unit.as_str()) => {}
            Some(unit) => {
                let known = unit.as_str().and_then(|text| units.iter().find(|unit| unit.eq_ignore_ascii_case(text)));
                if let Some(known) = known {
                    *unit = Value::from(*known);
                } else {
                    let mut wrong = FieldErrors::default();
                    wrong_choice(unit, units.iter().copied(), &mut wrong);
                    errors.put(name, wrong);
                }
            }
        }
    }
    for name in members.keys().filter(|name| *name != "unit" && *name != "value") {
        errors.push(name, "Unknown field.");
    }
}

/// `"<value>" is not a valid choice.`, and what was probably meant (decision 4).
pub(crate) fn wrong_choice<'a>(value: &Value, valid: impl Iterator<Item = &'a str> + Clone, errors: &mut FieldErrors) {
    errors.here(format!("{} is not a valid choice.", shown(value)));
    if let Some(hint) = value.as_str().and_then(|text| nearest::did_you_mean(text, valid.clone())) {
        errors.here(hint);
    } else if valid.clone().take(13).count() < 13 {
        errors.here(format!("Valid choices: {}.", nearest::quoted(valid)));
    }
}

/// A value as a message shows it: quoted, and not longer than a reader wants.
fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    if text.chars().nth(80).is_some() {
        format!("\"{}…\"", text.chars().take(80).collect::<String>())
    } else {
        format!("\"{text}\"")
    }
}

/// Which field of the object that `root` describes was probably meant by a name.
fn hint(root: &Tree, name: &str, errors: &mut FieldErrors) {
    fn leaves(tree: &Tree, out: &mut Vec<&'static str>) {
        for (_, node) in tree.iter() {
            match node {
                Node::Branch(below) => leaves(below, out),
                Node::Leaf(field, _) if field.direction == Direction::Response => {}
                Node::Leaf(field, _) => out.push(field.path),
            }
        }
    }
    let mut paths = Vec::new();
    leaves(root, &mut paths);
    if let Some(hint) = nearest::did_you_mean_path(name, paths.into_iter()) {
        errors.push(name, hint);
    }
}
