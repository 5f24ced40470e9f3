//! Rules over several fields of `category_fields`. A category lists the groups of rules that apply to it.

use serde_json::{Map, Value};

use super::category::{Facts, Rule};
use crate::{
    fields::{FieldErrors, Kind, Mode, not_a_choice},
    model::{ClearedMileage, Dealer, get},
    violation::{Code, Violation, nearest},
};

/// Fields whose rules read the dealer directory. The rules are checked only when a write sends the field: a stored value that the
/// directory no longer covers does not prevent an update of other fields (decision 17).
pub(crate) const OF_THE_DIRECTORY: [&str; 2] = ["salesperson", "online_purchasable"];

const fn rule(name: &'static str, doc: &'static str, check: fn(&Facts<'_>, &mut FieldErrors)) -> Rule {
    Rule { name, doc, check }
}

/// Names of rules over several fields, which errors carry.
pub const PLATE_OR_VIN: &str = "plate or VIN";
const MODEL_OF_THE_BRAND: &str = "model of the brand";
/// A used vehicle has an owner.
pub const OWNERS_OF_USED: &str = "owners";
const TOGETHER: &str = "wheels with ratings";
/// Remaining mileage needs a leasing price.
pub const REMAINING_MILEAGE: &str = "remaining mileage";
/// What can be bought online has no leasing price.
pub const ONLINE: &str = "online purchase";

/// Rules of all categories of registered vehicles.
pub const REGISTERED: &[Rule] = &[
    rule(PLATE_OR_VIN, "At least one of `registration_number` and `vin` is required.", plate_or_vin),
    rule("plate is fixed", "`registration_number` cannot change after creation.", plate_is_fixed),
    rule("salesperson", "`salesperson`, if sent, is registered for the dealer.", salesperson),
];

/// Categories whose models are known by brand.
pub(super) const MODELS: &[Rule] =
    &[rule(MODEL_OF_THE_BRAND, "`model` is one of the models of `brand`, which is then required.", model_of_brand)];

/// Name of the rule that locks the new/used status.
pub const LOCK: &str = "new/used lock";

/// Categories whose new/used status is locked at creation.
pub(super) const NEW_USED_LOCK: &[Rule] = &[rule(
    LOCK,
    "`condition.mileage` cannot switch between zero and non-zero, not even after it was cleared, and \
     `condition.is_new_vehicle` cannot change.",
    new_used_lock,
)];

/// Rules of the categories with `owners`.
pub(super) const OWNERS: &[Rule] =
    &[rule(OWNERS_OF_USED, "A used vehicle has at least 1 owner; 0 or null only for new vehicles.", owners)];

/// Categories with wheels and ratings.
pub(super) const WHEELS_AND_RATINGS: &[Rule] = &[
    rule(TOGETHER, "`condition.wheels` and `condition.vehicle_ratings` must be sent together.", wheels_with_ratings),
    rule("rating values", "Each rating has one of the values allowed for it.", rating_values),
];

/// Path of the value of a rating.
pub(super) const RATING_VALUE: &str = "condition.vehicle_ratings.value";

/// Which values a rating of which names may have.
const RATING_VALUES: [(&[&str], &[&str]); 2] = [
    (&["exterior", "interior"], &["very_good", "good", "approved", "poor"]),
    (&["engine", "brakes", "equipment"], &["good", "minor_deviation", "greater_deviation"]),
];

/// The names of the ratings that may have a value (decision 19).
pub(super) fn rated_by(value: &str) -> impl Iterator<Item = &'static str> {
    RATING_VALUES.iter().filter(move |(_, values)| values.contains(&value)).flat_map(|(names, _)| names.iter().copied())
}

/// Rules of the categories with `leasing_details`.
pub(super) const LEASING_DETAILS: &[Rule] =
    &[rule(REMAINING_MILEAGE, "`leasing_details.mileage_remaining` requires a leasing price.", remaining_mileage)];

/// Categories that can be bought online.
pub(super) const ONLINE_PURCHASE: &[Rule] = &[rule(
    ONLINE,
    "`online_purchasable` requires the online-purchase product and excludes leasing prices.",
    online_purchase,
)];

/// Whether a vehicle is new, by its `condition`: `is_new_vehicle`, or else whether the mileage is 0; unknown without both
/// (decision 18).
pub fn is_new(condition: &Map<String, Value>) -> Option<bool> {
    get(condition, "is_new_vehicle")
        .and_then(Value::as_bool)
        .or_else(|| get(condition, "mileage.value").and_then(Value::as_f64).map(|mileage| mileage == 0.0))
}

fn plate_or_vin(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let identified = facts.ad.fields.registration_number.is_some() || facts.ad.fields.vin.is_some();
    let was = facts.mode != Mode::Update
        || ["registration_number", "vin"].iter().any(|path| facts.field_before(path).is_some());
    if !identified && was {
        for path in ["category_fields.registration_number", "category_fields.vin"] {
            let text = "At least one of registration_number and vin is required.";
            errors.add(path, Violation::of_rule(PLATE_OR_VIN, Code::Conflict, text));
        }
    }
}

fn plate_is_fixed(facts: &Facts<'_>, errors: &mut FieldErrors) {
    if let Some(before) = facts.field_before("registration_number")
        && facts.ad.fields.registration_number != Some(before)
    {
        let before = before.as_str().unwrap_or_default();
        let wrong = if facts.mode == Mode::Whole && facts.ad.fields.registration_number.is_none() {
            let note = format!("A migration replaces all fields: send \"{before}\" again.");
            Violation::stated(Code::Required, "This field is required.").with_note(Some(note))
        } else {
            let text =
                format!("Cannot change after creation (it is \"{before}\"). For another vehicle, create another ad.");
            Violation::stated(Code::Immutable, text)
        };
        errors.add("category_fields.registration_number", wrong);
    }
}

fn model_of_brand(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let Some(model @ Value::String(id)) = facts.ad.fields.model else { return };
    let Some(Kind::Model { list }) = facts.category.field("model").map(|field| field.kind) else { return };
    let Some(brand) = facts.ad.fields.brand.and_then(Value::as_str) else {
        // A brand of another type is already an error of its own.
        if facts.ad.fields.brand.is_some() {
            return;
        }
        return errors
            .add("category_fields.brand", Violation::RequiredWith { other: "model", rule: MODEL_OF_THE_BRAND });
    };
    let models = facts.catalogue.models(list, brand);
    // An unknown brand is already an error of its own.
    if !models.is_empty() && !models.contains(id) {
        let vehicle_type = facts.category.vehicle_type.unwrap_or_default();
        let request = format!("The models of this brand: GET /v4/vehicles/{vehicle_type}/models?brand={brand}");
        let wrong = not_a_choice(model, models.ids()).with_request(request);
        errors.at("category_fields").push("model", wrong);
    }
}

fn salesperson(facts: &Facts<'_>, errors: &mut FieldErrors) {
    if facts.sends("salesperson")
        && let Some((email, dealer)) = unknown_salesperson(facts)
    {
        let hint = nearest::did_you_mean(email, dealer.salespersons.iter().map(String::as_str));
        let text = format!("\"{email}\" is not a salesperson of dealer \"{}\".", dealer.code);
        let wrong = Violation::stated(Code::InvalidChoice, text).with_note(hint);
        errors.at("category_fields").push("salesperson", wrong);
    }
}

/// The salesperson of the ad, if the dealer does not have them.
fn unknown_salesperson<'f>(facts: &Facts<'f>) -> Option<(&'f str, &'f Dealer)> {
    let email = facts.ad.fields.salesperson?.as_str().filter(|email| !email.is_empty())?;
    let dealer = facts.dealer?;
    (!dealer.salespersons.iter().any(|known| known.eq_ignore_ascii_case(email))).then_some((email, dealer))
}

fn lacks_online_purchase(facts: &Facts<'_>) -> bool {
    facts.ad.fields.online_purchasable == Some(&Value::Bool(true))
        && facts.dealer.is_some_and(|dealer| !dealer.has_product("online_purchase"))
}

/// Stored fields that the dealer directory no longer covers and the write does not send, with messages.
pub(crate) fn no_longer_covered(facts: &Facts<'_>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if !facts.sends("salesperson")
        && let Some((email, dealer)) = unknown_salesperson(facts)
    {
        let message = format!(
            "\"{email}\" is no longer a salesperson of dealer \"{}\"; send another one, or null to unset it.",
            dealer.code
        );
        found.push(("category_fields.salesperson", message));
    }
    if !facts.sends("online_purchasable") && lacks_online_purchase(facts) {
        let message = "The online-purchase product is no longer activated for this dealer; send false to unset it.";
        found.push(("category_fields.online_purchasable", message.to_owned()));
    }
    found
}

/// The mileage that locks new or used: the stored one, or the one that was cleared.
fn mileage_before(facts: &Facts<'_>) -> Option<ClearedMileage> {
    let stored = facts.field_before("condition.mileage.value").and_then(zero_or_not);
    stored.or_else(|| facts.before?.cleared_mileage())
}

fn zero_or_not(mileage: &Value) -> Option<ClearedMileage> {
    let is_zero = mileage.as_f64()? == 0.0;
    Some(if is_zero { ClearedMileage::Zero } else { ClearedMileage::NonZero })
}

/// The cleared mileage to store, if the write clears the mileage or it was cleared before (decision 18).
pub(crate) fn cleared_mileage(facts: &Facts<'_>) -> Option<ClearedMileage> {
    let is_cleared = facts.before.is_some() && facts.condition("mileage.value").is_none();
    if is_cleared && facts.category.has_rule(LOCK) { mileage_before(facts) } else { None }
}

fn new_used_lock(facts: &Facts<'_>, errors: &mut FieldErrors) {
    if let Some(before) = mileage_before(facts)
        && let Some(now) = facts.condition("mileage.value").and_then(zero_or_not)
        && before != now
    {
        let was = if before == ClearedMileage::Zero { "zero" } else { "not zero" };
        let text =
            format!("Cannot switch between zero and non-zero (it was {was}): new or used is locked at creation.");
        let wrong = Violation::of_rule(LOCK, Code::Immutable, text).with_note(after_the_lock(before));
        errors.add("category_fields.condition.mileage", wrong);
    }
    if let Some(before) = facts.field_before("condition.is_new_vehicle").and_then(Value::as_bool)
        && facts.condition("is_new_vehicle").is_none_or(|now| now.as_bool().is_some_and(|now| now != before))
    {
        let text = format!("Cannot change once set (it is {before}): new or used is locked at creation.");
        let was = if before { ClearedMileage::Zero } else { ClearedMileage::NonZero };
        let wrong = Violation::of_rule(LOCK, Code::Immutable, text).with_note(after_the_lock(was));
        errors.add("category_fields.condition.is_new_vehicle", wrong);
    }
}

/// What to do with a vehicle that was new and no longer is.
fn after_the_lock(before: ClearedMileage) -> Option<String> {
    let was_new = before == ClearedMileage::Zero;
    was_new.then(|| {
        "If the new vehicle was registered and driven since, delete this ad and create a new one with another source_id."
            .to_owned()
    })
}

fn owners(facts: &Facts<'_>, errors: &mut FieldErrors) {
    const PATH: &str = "condition.number_of_owners";
    let none = facts.sent_null(PATH) || facts.condition("number_of_owners").and_then(Value::as_i64) == Some(0);
    if none && facts.ad.fields.condition.and_then(is_new) == Some(false) {
        let text = "A used vehicle has at least 1 owner; 0 or null only for new vehicles.";
        let advice = "Leave the field out if the number is not known.".to_owned();
        let wrong = Violation::of_rule(OWNERS_OF_USED, Code::Conflict, text).with_note(Some(advice));
        errors.at("category_fields").add(PATH, wrong);
    }
}

/// Whether there is a value other than an empty list.
fn has_value(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.as_array().is_none_or(|items| !items.is_empty()))
}

fn wheels_with_ratings(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let [wheels, ratings] = ["wheels", "vehicle_ratings"].map(|name| has_value(facts.condition(name)));
    let mut missing = |what: &str, other: &'static str| {
        let missing = Violation::RequiredWith { other, rule: TOGETHER };
        errors.at("category_fields").at("condition").push(what, missing);
    };
    if wheels && !ratings {
        missing("vehicle_ratings", "wheels");
    }
    if ratings && !wheels {
        missing("wheels", "vehicle_ratings");
    }
}

fn rating_values(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let Some(Value::Array(ratings)) = facts.condition("vehicle_ratings") else { return };
    for (index, rating) in ratings.iter().enumerate() {
        let Some(name) = rating.get("name").and_then(Value::as_str) else { continue };
        let Some((_, valid)) = RATING_VALUES.iter().find(|(names, _)| names.contains(&name)) else { continue };
        let Some(value @ Value::String(text)) = rating.get("value") else { continue };
        if valid.contains(&text.as_str()) {
            continue;
        }
        let path = format!("category_fields.condition.vehicle_ratings.{index}.value");
        if !errors.contains(&path) {
            errors.add(&path, not_a_choice(value, valid.iter().copied()));
        }
    }
}

fn remaining_mileage(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let remaining = facts.ad.fields.leasing_details.and_then(|details| details.get("mileage_remaining"));
    if has_value(remaining) && !facts.has_price("leasing") {
        let text = "Requires a price of type \"leasing\" on the ad.";
        let wrong = Violation::of_rule(REMAINING_MILEAGE, Code::Conflict, text);
        errors.add("category_fields.leasing_details.mileage_remaining", wrong);
    }
}

fn online_purchase(facts: &Facts<'_>, errors: &mut FieldErrors) {
    const PATH: &str = "category_fields.online_purchasable";
    if facts.sends("online_purchasable") && lacks_online_purchase(facts) {
        let text = "The online-purchase product is not activated for this dealer.";
        errors.add(PATH, Violation::stated(Code::NotAllowed, text));
    }
    if facts.ad.fields.online_purchasable == Some(&Value::Bool(true)) && facts.has_price("leasing") {
        let text = "Cannot be combined with a price of type \"leasing\".";
        errors.add(PATH, Violation::of_rule(ONLINE, Code::Conflict, text));
    }
}
