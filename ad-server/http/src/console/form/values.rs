//! What the inputs of a form hold, and its conversion from and to JSON by the kinds of the field tables.
//!
//! Names of inputs are paths of fields: `category_fields.powertrain.power.value`, `price.0.amount`. A list of texts is one input with
//! a line for each item; a list of allowed values is one name with several values.

use std::collections::BTreeMap;

use ad_core::{
    catalogue::Catalogue,
    categories::{
        Category, Heading,
        ad_fields::{IDENTITY, WRITTEN},
    },
    fields::{Direction, Field, FieldErrors, Kind, MILEAGE},
    synonyms::models::{self, FoundModel},
    violation::Violation,
    written,
};
use serde_json::{Map, Number, Value};

/// Name of the object with the fields of a category.
const CATEGORY_FIELDS: &str = "category_fields";

/// The values of all inputs of a form, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::console) struct FormValues(BTreeMap<String, Vec<String>>);

/// A field with the path of its inputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormField {
    of_category: bool,
    /// Row of the field in its table.
    pub(super) field: &'static Field,
}

/// A field whose value in a form differs from the stored one; `None` is no value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::console) struct Difference {
    pub(in crate::console) path: String,
    pub(in crate::console) sent: Option<Value>,
    pub(in crate::console) stored: Option<Value>,
}

impl FormField {
    pub(super) fn path(self) -> String {
        if self.of_category { format!("{CATEGORY_FIELDS}.{}", self.field.path) } else { self.field.path.to_owned() }
    }
}

/// The fields of a form: those that identify a new ad, and those that its client may change. Whether an ad is visible is no field: a new ad
/// is a hidden draft, and buttons of their own publish and hide it.
pub(super) fn fields(category: &Category, is_new: bool) -> impl Iterator<Item = FormField> {
    let is_sent = |field: &&Field| {
        field.direction != Direction::Response && !matches!(field.kind, Kind::CategoryFields) && field.path != "visible"
    };
    let has_heading = category.heading != Heading::Forbidden;
    let is_heading = |field: &&Field| field.path == "title" || field.path.starts_with("contact.");
    // The page has the category.
    let identity = IDENTITY.iter().filter(move |field| is_new && field.path != "category_id");
    let of_ad = WRITTEN.iter().filter(is_sent).filter(move |field| has_heading || !is_heading(field));
    let of_ad = identity.chain(of_ad).map(|field| FormField { of_category: false, field });
    of_ad.chain(category.fields().map(|field| FormField { of_category: true, field }))
}

impl FormValues {
    /// The submitted form. Empty rows are removed, so that the positions of the others are those in the payload.
    pub(in crate::console) fn sent(
        pairs: impl IntoIterator<Item = (String, String)>,
        category: &Category,
        is_new: bool,
    ) -> Self {
        let mut values = Self::default();
        for (name, value) in pairs {
            // Browsers send line ends as two characters.
            values.0.entry(name).or_default().push(value.replace("\r\n", "\n"));
        }
        for field in fields(category, is_new) {
            if let Kind::Objects { fields: members, .. } = field.field.kind {
                values.close_gaps(&field.path(), members);
            }
        }
        values
    }

    pub(in crate::console) fn of_ad(ad: &Map<String, Value>, category: &Category, is_new: bool) -> Self {
        let mut values = Self::default();
        for form_field in fields(category, is_new) {
            let path = form_field.path();
            if let Some(value) = at(ad, &path) {
                values.show(&form_field.field.kind, &path, value);
            }
        }
        values
    }

    /// The payload of a new ad. Unknown inputs are included, so that the rules report them.
    pub(in crate::console) fn payload(&self, category: &Category) -> Map<String, Value> {
        let mut payload = Map::new();
        payload.insert("category_id".to_owned(), category.id.into());
        payload.insert(CATEGORY_FIELDS.to_owned(), Map::new().into());
        for form_field in fields(category, true) {
            let path = form_field.path();
            if let Some(value) = self.value(&form_field.field.kind, &path) {
                put(&mut payload, &path, value);
            }
        }
        self.put_unknown(category, true, &mut payload);
        payload
    }

    /// The patch from the ad to the form: the fields that differ, with `null` for emptied ones. Fields that the form does not have are
    /// unchanged.
    pub(in crate::console) fn patch(&self, ad: &Map<String, Value>, category: &Category) -> Map<String, Value> {
        let mut patch = Map::new();
        for Difference { path, sent, .. } in self.differences(ad, category) {
            put(&mut patch, &path, sent.unwrap_or_default());
        }
        self.put_unknown(category, false, &mut patch);
        patch
    }

    /// The fields whose values differ from those of an ad.
    pub(in crate::console) fn differences(&self, ad: &Map<String, Value>, category: &Category) -> Vec<Difference> {
        let shown = Self::of_ad(ad, category, false);
        let of_form = fields(category, false).filter(|field| self.has(&field.path()));
        let compared = of_form.map(|form_field| {
            let (path, kind) = (form_field.path(), &form_field.field.kind);
            Difference { sent: self.value(kind, &path), stored: shown.value(kind, &path), path }
        });
        compared.filter(|difference| difference.sent != difference.stored).collect()
    }

    /// The only value of an input; of several, the last counts, as with a repeated key in JSON.
    pub(in crate::console) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(|values| values.last()).map_or("", String::as_str)
    }

    /// Whether an input with several values has this one.
    pub(super) fn contains(&self, name: &str, value: &str) -> bool {
        self.0.get(name).is_some_and(|values| values.iter().any(|known| known == value))
    }

    /// Number of rows of a field with several.
    pub(super) fn rows(&self, path: &str) -> usize {
        self.positions(path).last().map_or(0, |last| last + 1)
    }

    /// Whether the form has any input at or below a path.
    fn has(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a [String])> {
        let from = self.0.range(path.to_owned()..).take_while(move |(name, _)| name.starts_with(path));
        from.filter(move |(name, _)| is_at_or_below(name, path))
            .map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// The positions of the rows of a field, in order.
    fn positions(&self, path: &str) -> Vec<usize> {
        let position = |name: &str| name.strip_prefix(path)?.strip_prefix('.')?.split('.').next()?.parse().ok();
        let mut positions: Vec<usize> = self.below(path).filter_map(|(name, _)| position(name)).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    fn close_gaps(&mut self, path: &str, members: &'static [Field]) {
        let (mut next, positions) = (0, self.positions(path));
        let has_rows = !positions.is_empty();
        for position in positions {
            let row = format!("{path}.{position}");
            let names: Vec<_> = self.below(&row).map(|(name, _)| name.to_owned()).collect();
            let is_empty = self.row(members, &row).is_none();
            for name in names {
                let Some(values) = self.0.remove(&name) else { continue };
                if !is_empty {
                    self.0.insert(format!("{path}.{next}{}", &name[row.len()..]), values);
                }
            }
            next += usize::from(!is_empty);
        }
        // Keeps the information that the form had the field.
        if has_rows && next == 0 {
            self.put(path.to_owned(), String::new());
        }
    }

    fn put(&mut self, name: String, value: String) {
        self.0.insert(name, vec![value]);
    }

    /// Gives the fields of a payload the values that people certainly mean by what they have written, as the errors of the rules say
    /// them: `189 900 kr`, `2,0 l`, `XC 60`. Returns the paths of the inputs that now hold them.
    pub(in crate::console) fn understand(
        &mut self,
        payload: &mut Map<String, Value>,
        errors: &FieldErrors,
        category: &Category,
        is_new: bool,
    ) -> Vec<String> {
        let mut understood = Vec::new();
        for (path, violation) in errors.located() {
            let Violation::Cured { cure, .. } = violation else { continue };
            let Some(value) = cure.value().and_then(|json| serde_json::from_str::<Value>(json).ok()) else { continue };
            if replace(payload, &path, value) {
                understood.push(path.join("."));
            }
        }
        for form_field in fields(category, is_new) {
            let path = form_field.path();
            if understood.iter().any(|at| is_at_or_below(at, &path))
                && let Some(value) = at(payload, &path)
            {
                self.0.retain(|name, _| !is_at_or_below(name, &path));
                self.show(&form_field.field.kind, &path, value);
            }
        }
        understood
    }

    /// Gives empty fields the values of another object, such as what a register has about the vehicle. Returns their paths.
    pub(in crate::console) fn fill(&mut self, from: &Map<String, Value>, category: &Category) -> Vec<String> {
        let mut filled = Vec::new();
        for form_field in fields(category, true).filter(|field| field.of_category) {
            let path = form_field.path();
            let value = at(from, form_field.field.path).filter(|value| !value.is_null());
            if let Some(value) = value.filter(|_| self.value(&form_field.field.kind, &path).is_none()) {
                self.show(&form_field.field.kind, &path, value);
                filled.push(path);
            }
        }
        filled
    }

    /// Gives these fields the values that an ad has.
    pub(in crate::console) fn take(&mut self, ad: &Map<String, Value>, category: &Category, paths: &[String]) {
        for form_field in fields(category, false) {
            let path = form_field.path();
            if paths.contains(&path) {
                self.0.retain(|name, _| !is_at_or_below(name, &path));
                // An empty input says that the form has the field.
                self.put(path.clone(), String::new());
                if let Some(value) = at(ad, &path) {
                    self.0.remove(&path);
                    self.show(&form_field.field.kind, &path, value);
                }
            }
        }
    }

    /// Replaces a model as people write it with its value: `XC60`, `XC 60`, or `XC60 D4 Momentum`, whose rest is the variant. Returns the
    /// paths of what is not exactly what was written.
    pub(in crate::console) fn read_model(&mut self, catalogue: &Catalogue, category: &Category) -> Vec<String> {
        const MODEL: &str = "category_fields.model";
        const VARIANT: &str = "category_fields.model_type";
        let Some(Kind::Model { list }) = category.field("model").map(|field| field.kind) else { return Vec::new() };
        let (brand, text) = (self.text("category_fields.brand").to_owned(), self.text(MODEL).trim().to_owned());
        let models = catalogue.models(list, &brand).entries();
        if text.is_empty() || models.iter().any(|entry| entry.id == text) {
            return Vec::new();
        }
        let pairs = models.iter().map(|entry| (entry.id.as_str(), entry.name.as_str()));
        let Some(FoundModel { id, model_type }) = models::find(&brand, &text, pairs) else { return Vec::new() };
        let mut understood = Vec::new();
        if !models.iter().any(|entry| entry.id == id && entry.name == text) {
            understood.push(MODEL.to_owned());
        }
        self.put(MODEL.to_owned(), id.to_owned());
        if let Some(variant) = model_type.filter(|_| self.text(VARIANT).is_empty()) {
            self.put(VARIANT.to_owned(), variant);
            understood.push(VARIANT.to_owned());
        }
        understood
    }

    /// Fills the inputs of a value.
    fn show(&mut self, kind: &Kind, name: &str, value: &Value) {
        match (kind, value) {
            (_, Value::Null) => {}
            (Kind::Measure { .. }, Value::Object(measure)) => {
                for member in ["value", "unit"] {
                    self.put(format!("{name}.{member}"), measure.get(member).map(shown).unwrap_or_default());
                }
            }
            (Kind::List { item, .. }, Value::Array(items)) => {
                let items: Vec<_> = items.iter().map(shown).collect();
                let values = if is_chosen(item) { items } else { vec![items.join("\n")] };
                self.0.insert(name.to_owned(), values);
            }
            (Kind::Objects { fields, .. }, Value::Array(rows)) => {
                for (position, row) in rows.iter().enumerate() {
                    self.show_object(fields, &format!("{name}.{position}"), row);
                }
            }
            (Kind::Object { fields }, value) => self.show_object(fields, name, value),
            (_, value) => self.put(name.to_owned(), shown(value)),
        }
    }

    fn show_object(&mut self, fields: &'static [Field], name: &str, value: &Value) {
        let Value::Object(object) = value else { return };
        for field in fields {
            if let Some(value) = at(object, field.path) {
                self.show(&field.kind, &format!("{name}.{}", field.path), value);
            }
        }
    }

    /// The value that the inputs of a field make; `None` if they are empty. A text that does not fit the kind stays a text, so that
    /// the rules report it.
    pub(super) fn value(&self, kind: &Kind, name: &str) -> Option<Value> {
        match kind {
            Kind::Measure { units, .. } => {
                let decimal = (*units == MILEAGE).then_some(',');
                let value = number(self.text(&format!("{name}.value")), decimal)?;
                // With its unit behind it, the rules read it: `12 500 km`.
                if value.is_string() {
                    return Some(value);
                }
                let unit = self.text(&format!("{name}.unit"));
                let unit = (!unit.is_empty()).then(|| ("unit".to_owned(), unit.into()));
                Some(std::iter::once(("value".to_owned(), value)).chain(unit).collect::<Map<_, _>>().into())
            }
            Kind::List { item, .. } if is_chosen(item) => {
                let chosen = self.0.get(name).into_iter().flatten();
                list(chosen.filter(|id| !id.is_empty()).map(|id| id.as_str().into()).collect())
            }
            Kind::List { .. } => {
                let lines = self.text(name).lines().map(str::trim);
                list(lines.filter(|line| !line.is_empty()).map(Value::from).collect())
            }
            Kind::Objects { fields, .. } => {
                let rows = self.positions(name).into_iter();
                list(rows.filter_map(|position| self.row(fields, &format!("{name}.{position}"))).collect())
            }
            Kind::Object { fields } => self.object(fields, name),
            Kind::Integer { .. } | Kind::Decimal { .. } => number(self.text(name), None),
            // Grouped as people write them.
            Kind::Digits { .. } => {
                let digits: String = self.text(name).chars().filter(|it| !matches!(it, ' ' | '\u{a0}' | '-')).collect();
                (!digits.is_empty()).then(|| digits.into())
            }
            Kind::Boolean => match self.text(name) {
                "" => None,
                "true" => Some(true.into()),
                "false" => Some(false.into()),
                other => Some(other.into()),
            },
            Kind::Text { .. } => Some(self.text(name)).filter(|text| !text.trim().is_empty()).map(Value::from),
            _ => Some(self.text(name).trim()).filter(|text| !text.is_empty()).map(Value::from),
        }
    }

    /// A row of a list of objects. A price without amount is none, whatever its type and currency, which are chosen beforehand.
    fn row(&self, fields: &'static [Field], name: &str) -> Option<Value> {
        let mut row = self.object(fields, name)?;
        if name.starts_with("price.")
            && let Value::Object(price) = &mut row
            && !price.contains_key("amount")
        {
            if price.get("type").and_then(Value::as_str) != Some("call") {
                return None;
            }
            price.insert("amount".to_owned(), 0.into());
        }
        Some(row)
    }

    fn object(&self, fields: &'static [Field], name: &str) -> Option<Value> {
        let mut object = Map::new();
        for field in fields {
            if let Some(value) = self.value(&field.kind, &format!("{name}.{}", field.path)) {
                put(&mut object, field.path, value);
            }
        }
        (!object.is_empty()).then(|| object.into())
    }

    /// Adds unknown inputs as unknown fields.
    fn put_unknown(&self, category: &Category, is_new: bool, payload: &mut Map<String, Value>) {
        let mut known: Vec<_> = fields(category, is_new).map(FormField::path).collect();
        known.push(REVISION.to_owned());
        for (name, values) in &self.0 {
            if known.iter().any(|path| is_at_or_below(name, path)) {
                continue;
            }
            let value = Value::from(values.last().map_or("", String::as_str));
            match (name.strip_prefix("category_fields."), payload.get_mut(CATEGORY_FIELDS)) {
                (Some(name), Some(Value::Object(of_category))) => of_category.insert(name.to_owned(), value),
                (Some(name), _) => {
                    let of_category = Map::from_iter([(name.to_owned(), value)]);
                    payload.insert(CATEGORY_FIELDS.to_owned(), of_category.into())
                }
                (None, _) => payload.insert(name.clone(), value),
            };
        }
    }
}

/// Name of the input with the revision of the ad that a form showed.
pub(in crate::console) const REVISION: &str = "revision";

pub(super) fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether the items of a list are chosen from allowed values.
pub(super) fn is_chosen(item: &Kind) -> bool {
    matches!(item, Kind::Choice { .. } | Kind::Slug { .. })
}

fn list(items: Vec<Value>) -> Option<Value> {
    (!items.is_empty()).then(|| items.into())
}

/// The member at a dotted path.
fn at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (name, below) = path.split_once('.').map_or((path, None), |(name, below)| (name, Some(below)));
    match below {
        None => object.get(name),
        Some(below) => at(object.get(name)?.as_object()?, below),
    }
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((name, below)) => {
            if let Value::Object(branch) = object.entry(name).or_insert_with(|| Map::new().into()) {
                put(branch, below, value);
            }
        }
    }
}

/// A value as an input shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Replaces a value that is there.
fn replace(object: &mut Map<String, Value>, path: &[String], value: Value) -> bool {
    let Some((first, below)) = path.split_first() else { return false };
    let place = below.iter().try_fold(object.get_mut(first), |place, name| {
        Some(match place? {
            Value::Object(members) => members.get_mut(name),
            Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        })
    });
    match place.flatten() {
        Some(place) => {
            *place = value;
            true
        }
        None => false,
    }
}

/// A number as people type it: `12 500,50` is 12500.50. Any other text stays a text; `None` if it is empty. `decimal` is the only decimal
/// separator where both are not usual.
fn number(text: &str, decimal: Option<char>) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    // As the form shows a stored number.
    let shown = text.parse::<Number>().ok().filter(|number| decimal.is_none() && number.to_string() == text);
    if let Some(number) = shown {
        return Some(number.into());
    }
    let read = written::number::read(text, decimal).ok();
    let plain = read.filter(|found| found.before.is_empty() && found.after.is_empty());
    Some(plain.map_or_else(|| text.into(), |found| found.number.value()))
}

#[cfg(test)]
mod tests;
