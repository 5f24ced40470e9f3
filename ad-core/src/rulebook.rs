//! Everything that decides whether a payload is an ad: the tables, the rules beside them, the catalogue and the
//! operator's settings. What comes out is either normalised content or all errors.

use serde_json::{Map, Value};

use crate::{
    ad::{Ad, ApiVersion, Content},
    ad_fields,
    catalogue::Catalogue,
    categories::{Category, Facts, Heading, rules},
    content::get,
    fields::{Against, Check, FieldErrors, Mode},
    merge::merge,
    ports::Dealer,
    price, title,
};

/// What an operator can set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Hosts of `video_url`; their subdomains count too.
    pub video_hosts: Vec<String>,
    /// Whether images may come over http too; for development and tests only.
    pub http_images: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { video_hosts: ["youtube.com", "youtu.be", "vimeo.com"].map(str::to_owned).to_vec(), http_images: false }
    }
}

/// The rules, ready to check payloads with.
#[derive(Debug)]
pub struct Rulebook {
    /// Allowed values.
    pub catalogue: Catalogue,
    /// What an operator can set.
    pub settings: Settings,
}

impl Default for Rulebook {
    fn default() -> Self {
        Self { catalogue: Catalogue::embedded(), settings: Settings::default() }
    }
}

/// A payload that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The client's reference; empty where none was sent and none was needed.
    pub source_id: String,
    /// The ad's content, normalised, with derived fields and generated title.
    pub content: Content,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
}

/// Something that is allowed but probably not meant (decision 7).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// The field.
    pub field: String,
    /// What is odd about it.
    pub message: String,
}

/// Who writes what, for a check.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The category, by the path's vehicle type.
    pub category: &'static Category,
    /// The API version of the path.
    pub version: ApiVersion,
    /// The dealer; `None` when it is itself in error and rules about it cannot be held.
    pub dealer: Option<&'a Dealer>,
}

impl Rulebook {
    /// Checks the payload of a create. With `source_id_optional` (validate), the client's reference may be missing.
    ///
    /// # Errors
    /// All errors of the payload at their paths.
    pub fn create(
        &self,
        write: Write<'_>,
        payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> Result<Checked, FieldErrors> {
        self.complete(write, Mode::Create, payload, source_id_optional)
    }

    /// Checks a stored ad of another system that is to be imported: as a create, but for what only a new ad may not have.
    ///
    /// # Errors
    /// All errors of the ad at their paths.
    pub fn import(&self, write: Write<'_>, ad: Map<String, Value>) -> Result<Checked, FieldErrors> {
        self.complete(write, Mode::Whole, ad, false)
    }

    fn complete(
        &self,
        write: Write<'_>,
        mode: Mode,
        mut payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> Result<Checked, FieldErrors> {
        let mut check = self.check(write.version, mode, against(write.category));
        let mut errors = check.object(&ad_fields::CREATE, &mut payload);
        if source_id_optional && !payload.contains_key("source_id") {
            errors.forget("source_id");
        }
        let id = write.category.id;
        if payload.get("category_id").and_then(Value::as_u64).is_some_and(|sent| sent != u64::from(id)) {
            errors.push("category_id", format!("\"{}\" is not a valid choice.", payload["category_id"]));
            errors.push("category_id", format!("The category of {} is {id}.", write.category));
        }
        // What identifies the ad is no part of its content.
        let [source_id, ..] = ["source_id", "dealer_code", "category_id"].map(|name| payload.remove(name));
        let mut checked = self.finish(write, mode, &check, payload, None, errors)?;
        if let Some(Value::String(source_id)) = source_id {
            checked.source_id = source_id;
        }
        Ok(checked)
    }

    /// What is wrong with the payload of a create whose category is itself in error: all that does not depend on it.
    pub fn without_category(
        &self,
        version: ApiVersion,
        mut payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> FieldErrors {
        let mut errors = self.check(version, Mode::Create, Against::Unknown).object(&ad_fields::CREATE, &mut payload);
        if source_id_optional && !payload.contains_key("source_id") {
            errors.forget("source_id");
        }
        errors
    }

    /// Checks an update: the patch is merged into what is stored, and the result is checked as a whole.
    ///
    /// # Errors
    /// All errors of the patch and of the merged ad at their paths.
    pub fn update(&self, write: Write<'_>, stored: &Ad, mut patch: Map<String, Value>) -> Result<Checked, FieldErrors> {
        let mut fixed = FieldErrors::default();
        unchanged(stored, &mut patch, &mut fixed);
        let before = stored.content.fields();
        let sends_title = patch.contains_key("title");
        let follows = follows_the_mileage(write.category, before, &patch);
        let mut merged = merge(before, patch);
        self.forget_generated_title(write.category, before, &mut merged, sends_title);
        if follows && let Some(Value::Object(condition)) = at_mut(&mut merged, "category_fields", "condition") {
            condition.remove("is_new_vehicle");
        }
        self.revised(write, Mode::Update, stored, merged, fixed)
    }

    /// Checks a migration: the payload replaces what is stored, but for the images when it has none
    /// ('Endpoints' rule 7, decision 28).
    ///
    /// # Errors
    /// All errors of the payload at their paths.
    pub fn migrate(
        &self,
        write: Write<'_>,
        stored: &Ad,
        mut payload: Map<String, Value>,
    ) -> Result<Checked, FieldErrors> {
        let mut fixed = FieldErrors::default();
        unchanged(stored, &mut payload, &mut fixed);
        let before = stored.content.fields();
        self.forget_generated_title(write.category, before, &mut payload, true);
        if payload.get("image_urls").is_none_or(Value::is_null)
            && let Some(images) = before.get("image_urls")
        {
            payload.insert("image_urls".to_owned(), images.clone());
        }
        self.revised(write, Mode::Whole, stored, payload, fixed)
    }

    fn revised(
        &self,
        write: Write<'_>,
        mode: Mode,
        stored: &Ad,
        mut ad: Map<String, Value>,
        fixed: FieldErrors,
    ) -> Result<Checked, FieldErrors> {
        let mut check = self.check(write.version, mode, against(write.category));
        let mut errors = check.object(&ad_fields::UPDATE, &mut ad);
        errors.absorb(fixed);
        let mut checked = self.finish(write, mode, &check, ad, Some(&stored.content), errors)?;
        checked.source_id.clone_from(&stored.source_id);
        Ok(checked)
    }

    fn check<'a>(&'a self, version: ApiVersion, mode: Mode, category: Against<'a>) -> Check<'a> {
        Check::new(&self.catalogue, version, mode, category).with_http_images(self.settings.http_images)
    }

    /// Drops a title that was generated before, so that it is generated anew: where titles must not be sent, a client may
    /// send back the one that it read; where one may be sent, the generated one follows the fields that it came from.
    fn forget_generated_title(
        &self,
        category: &Category,
        before: &Map<String, Value>,
        ad: &mut Map<String, Value>,
        sent: bool,
    ) {
        let generated = match category.heading {
            Heading::Forbidden => ad.get("title") == before.get("title"),
            Heading::Optional if !sent => {
                let title = self.generated_title(category, before);
                ad.get("title").and_then(Value::as_str) == title.as_deref()
            }
            _ => false,
        };
        if generated {
            ad.remove("title");
        }
    }

    /// The title of an ad that was sent without one; `None` for categories that demand it, or when there is nothing to
    /// make it from.
    fn generated_title(&self, category: &Category, ad: &Map<String, Value>) -> Option<String> {
        let fields = ad.get("category_fields").and_then(Value::as_object);
        let generated = fields.and_then(|fields| title::generate(category, fields, &self.catalogue));
        match category.heading {
            Heading::Forbidden => generated,
            Heading::Optional => generated.or_else(|| Some(category.name.to_owned())),
            Heading::Required => None,
        }
    }

    /// What follows the walk over the tables: derived fields, the rules, and the result.
    fn finish(
        &self,
        write: Write<'_>,
        mode: Mode,
        check: &Check<'_>,
        mut ad: Map<String, Value>,
        before: Option<&Content>,
        mut errors: FieldErrors,
    ) -> Result<Checked, FieldErrors> {
        Self::derive(write, &mut ad);
        let fields = ad.get("category_fields").and_then(Value::as_object);
        let facts = Facts {
            ad: &ad,
            fields,
            before,
            mode,
            category: write.category,
            dealer: write.dealer,
            catalogue: &self.catalogue,
            settings: &self.settings,
            check,
        };
        // Without category fields there is one thing to say about them, and the walk has said it.
        let of_the_category = if fields.is_some() { write.category.rules } else { &[] };
        for rule in ad_fields::RULES.iter().chain(of_the_category).copied().flatten() {
            (rule.check)(&facts, &mut errors);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let warnings = warnings(&facts);
        if !ad.contains_key("title")
            && let Some(title) = self.generated_title(write.category, &ad)
        {
            ad.insert("title".to_owned(), Value::from(title));
        }
        Ok(Checked { source_id: String::new(), content: Content::from(ad), warnings })
    }

    /// Fills what is stored though it was not sent, and rewrites what is stored differently.
    fn derive(write: Write<'_>, ad: &mut Map<String, Value>) {
        if let Some(Value::String(body)) = ad.get_mut("body")
            && body.bytes().any(|byte| matches!(byte, b'<' | b'>'))
        {
            *body = body.replace(['<', '>'], "-");
        }
        price::default_currency(ad, write.dealer.map_or(crate::ports::DEFAULT_CURRENCY, |dealer| &dealer.currency));
        let Some(Value::Object(fields)) = ad.get_mut("category_fields") else { return };
        if write.category.field("condition.is_new_vehicle").is_some()
            && let Some(is_new) = rules::is_new(fields)
            && let Some(Value::Object(condition)) = fields.get_mut("condition")
            && !condition.contains_key("is_new_vehicle")
        {
            condition.insert("is_new_vehicle".to_owned(), Value::from(is_new));
        }
        if fields.get("salesperson").and_then(Value::as_str) == Some("") {
            fields.remove("salesperson");
        }
    }
}

/// What the `category_fields` of a category are held against.
fn against(category: &Category) -> Against<'_> {
    if category.is_open() { Against::Open } else { Against::Table(category.tree()) }
}

/// Whether `is_new_vehicle` was derived from the mileage that a patch changes, and so follows it: where new or used is not
/// locked, and the patch does not say itself.
fn follows_the_mileage(category: &Category, before: &Map<String, Value>, patch: &Map<String, Value>) -> bool {
    let mileage = |ad: &Map<String, Value>| get(ad, "category_fields.condition.mileage.value").and_then(Value::as_f64);
    let is_new = "category_fields.condition.is_new_vehicle";
    !category.is_open()
        && !category.has_rule(rules::LOCK)
        && get(patch, "category_fields.condition.mileage").is_some()
        && get(patch, is_new).is_none()
        && mileage(before).is_some_and(|mileage| get(before, is_new) == Some(&Value::Bool(mileage == 0.0)))
}

/// The member of a member.
fn at_mut<'a>(object: &'a mut Map<String, Value>, name: &str, below: &str) -> Option<&'a mut Value> {
    object.get_mut(name)?.as_object_mut()?.get_mut(below)
}

/// What an update may send only unchanged (decisions 11 and 12); what it sends unchanged is dropped.
fn unchanged(stored: &Ad, patch: &mut Map<String, Value>, errors: &mut FieldErrors) {
    let mut hold = |name: &str, is: &Value| {
        let Some(sent) = patch.remove(name) else { return };
        let same = sent == *is || (name == "category_id" && sent.as_str() == Some(&is.to_string()));
        if !same {
            errors.push(name, format!("Cannot be changed (it is {is})."));
        }
    };
    hold("source_id", &Value::from(stored.source_id.as_str()));
    hold("dealer_code", &Value::from(stored.dealer_code.as_str()));
    hold("category_id", &Value::from(stored.category_id));
}

fn warnings(facts: &Facts<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = facts
        .check
        .ignored()
        .iter()
        .map(|field| Warning {
            field: (*field).to_owned(),
            message: "Ignored: only the service sets this field.".to_owned(),
        })
        .collect();
    let mut warn = |field: &str, message: &str| {
        warnings.push(Warning { field: field.to_owned(), message: message.to_owned() });
    };
    let empty = |name: &str| facts.ad.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
    if empty("image_urls") {
        warn("image_urls", "The ad has no images.");
    }
    if empty("price") {
        warn("price", "The ad has no price.");
    }
    if facts.field("leasing_details").is_some() && !price::has(facts.ad, "leasing") {
        warn("category_fields.leasing_details", "The ad has leasing details without a price of type \"leasing\".");
    }
    warnings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::categories::by_vehicle_type;

    fn dealer() -> Dealer {
        Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") }
    }

    fn create(vehicle_type: &str, payload: Value) -> Result<Checked, Value> {
        let dealer = dealer();
        let category = by_vehicle_type(vehicle_type).unwrap();
        let write = Write { category, version: ApiVersion::V4, dealer: Some(&dealer) };
        let Value::Object(payload) = payload else { panic!("payloads are objects") };
        Rulebook::default().create(write, payload, false).map_err(|errors| json!(errors))
    }

    fn car(fields: &Value) -> Value {
        let mut car = json!({"source_id": "c", "category_id": 1020, "category_fields": {
            "registration_number": "ABC 12d", "model_year": 2019}});
        let over = fields.as_object().unwrap().clone();
        car = Value::Object(merge(car.as_object().unwrap(), over));
        car
    }

    #[test]
    fn everything_wrong_is_reported_at_once_and_at_its_path() {
        let errors = create(
            "car",
            json!({
            "source_id": "m1", "category_id": 1020, "title": "2019 Volvo V60",
            "contact": {"name": "A", "phone": "070-1", "email": "a@b.se"},
            "price": [{"amount": 149_000, "currency": "SEK", "type": "negotiable"}],
            "category_fields": {"registration_number": "ABC123", "year": 2019, "mileage": 1200, "fuel": "diesel",
                                "gearbox": "manual"}}),
        )
        .unwrap_err();
        assert_eq!(
            errors,
            json!({
            "title": ["Must not be sent for vehicle type \"car\": the title is generated from brand, model, model_type and model_year."],
            "contact": ["Must not be sent for vehicle type \"car\": the dealer's own contact is shown."],
            "price": {"0": {"type": ["\"negotiable\" is not a valid choice.", "Valid choices: \"list\", \"reduced\", \"leasing\", \"monthly\", \"call\"."]}},
            "category_fields": {
                "fuel": ["Unknown field.", "Did you mean \"powertrain.fuels\"?"],
                "gearbox": ["Unknown field."],
                "mileage": ["Unknown field.", "Did you mean \"condition.mileage\"?"],
                "model_year": ["This field is required."],
                "year": ["Unknown field.", "Did you mean \"model_year\"?"]}})
        );
    }

    #[test]
    fn what_is_valid_is_normalised_derived_and_titled() {
        let checked = create(
            "car",
            car(&json!({
            "body": "Fin <b>bil</b>", "price": [{"type": "list", "amount": 1000.5}],
            "location": {"latitude": "59.3", "longitude": 18},
            "category_fields": {"brand": "volvo", "model": "xc60", "model_type": "T6", "color": null, "salesperson": "",
                "powertrain": {"fuels": ["Diesel"], "power": {"unit": "HP", "value": "200"}},
                "condition": {"mileage": {"unit": "mil", "value": 100}}}})),
        )
        .unwrap();
        assert_eq!(
            json!(checked.content),
            json!({
            "title": "Volvo XC60 T6 2019", "body": "Fin -b-bil-/b-",
            "price": [{"type": "list", "amount": 1000.5, "currency": "SEK"}],
            "location": {"latitude": 59.3, "longitude": 18},
            "category_fields": {"registration_number": "ABC12D", "model_year": 2019, "brand": "volvo", "model": "xc60",
                "model_type": "T6", "powertrain": {"fuels": ["diesel"], "power": {"unit": "hp", "value": 200}},
                "condition": {"mileage": {"unit": "mil", "value": 100}, "is_new_vehicle": false}}})
        );
    }

    #[test]
    fn a_used_vehicle_has_an_owner_and_null_counts_as_none() {
        for owners in [json!(0), json!(null)] {
            let used = car(&json!({"category_fields": {"condition": {"number_of_owners": owners,
                "mileage": {"unit": "km", "value": 5}}}}));
            let errors = create("car", used).unwrap_err();
            assert!(errors["category_fields"]["condition"]["number_of_owners"].is_array(), "{errors}");
            let new = car(&json!({"category_fields": {"condition": {"number_of_owners": owners,
                "mileage": {"unit": "km", "value": 0}}}}));
            assert!(create("car", new).is_ok());
        }
    }
}
