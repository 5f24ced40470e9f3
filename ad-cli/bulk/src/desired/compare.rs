//! Compares an ad at the service with the desired payload: unchanged, an update, or the reason why no update is possible.
//!
//! Contents are compared after normalisation: the [rules](ad_core::rulebook) are applied to the desired payload and to the result of the
//! patch. So an update that would change nothing is not made.

use ad_client::Ad;
use ad_core::{
    categories::{self, Category, Heading},
    fields::FieldErrors,
    model::{self, AdState, ApiVersion, Content},
    rulebook::{
        Rulebook, WriteContext,
        versions::{Conversion, conversion_of},
    },
};
use serde_json::{Map, Value, json};

use super::contents::{self, Change, IMAGES};

/// What has to be done with an ad.
#[derive(Debug, Clone, PartialEq)]
pub enum AdDifference {
    /// The ad has all that the payload has.
    Unchanged,
    /// A PATCH brings the ad to the payload.
    Update {
        /// The body of the PATCH.
        patch: Map<String, Value>,
        /// The fields that change, with old and new value.
        changes: Vec<Change>,
        /// Whether it revives a deleted ad.
        revives: bool,
    },
    /// Impossible, with what to do instead.
    Blocked {
        /// Why, as a sentence.
        reason: String,
        /// What to do instead, one per line.
        hints: Vec<String>,
    },
    /// The update would be rejected.
    Rejected(FieldErrors),
}

/// An ad compared to a payload.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What has to be done.
    pub difference: AdDifference,
    /// Fields that cannot be made as desired.
    pub notes: Vec<String>,
}

/// Maximum number of iterations for finding the patch: derived fields may depend on others.
const ROUNDS: usize = 4;

/// Compares an ad with a valid desired payload. `images` are the images that the ad is assumed to have.
pub fn compare(
    rulebook: &Rulebook,
    ad: &Ad,
    images: &[String],
    wanted: &Map<String, Value>,
    category: &'static Category,
) -> Comparison {
    let only = |difference| Comparison { difference, notes: Vec::new() };
    if let Some(blocked) = blocked(ad, category) {
        return only(blocked);
    }
    let write = WriteContext { category, version: ApiVersion::V4, dealer: None };
    let wanted = with_currencies(wanted.clone(), ad);
    let content = match rulebook.import(write, wanted.clone()) {
        Ok(checked) => checked.content,
        Err(errors) => return only(AdDifference::Rejected(errors)),
    };
    let stored = contents::with_images(contents::stored(ad), images);
    Search { rulebook, write, stored: &stored, wanted: &wanted, content: &content }.update(ad.state == AdState::Deleted)
}

/// Why no update can make the ad equal to the payload, if so.
fn blocked(ad: &Ad, category: &Category) -> Option<AdDifference> {
    let id = &ad.source_id;
    let stored = categories::by_id(ad.category_id);
    let is_registered = stored.is_some_and(|category| category.registered);
    let conversion = conversion_of(ad.api_version, stored);
    let block = |reason: String, hints: Vec<String>| Some(AdDifference::Blocked { reason, hints });
    if ad.state == AdState::Deleted && (is_registered || conversion == Conversion::Migration) {
        let what = if is_registered { "a registered vehicle" } else { "a V3 ad that cannot be converted" };
        return block(
            format!("the ad is deleted at the service; {what} cannot be revived, and its source_id cannot be reused"),
            vec![format!("use a new source_id in the file, such as {}", similar_id(id))],
        );
    }
    if conversion == Conversion::Migration {
        let into = stored.into_iter().flat_map(Category::targets).any(|(_, target)| target.id == category.id);
        let migrate =
            format!("migrate it with its payload in the file: ad-cli migrate-v4 --payloads FILE {}", quoted(id));
        let anew = format!("or use a new source_id in the file, such as {}; the V3 ad is then deleted", similar_id(id));
        let hints = if into { vec![migrate, anew] } else { vec![anew.trim_start_matches("or ").to_owned()] };
        return block("it is a V3 ad, which an update cannot convert to V4".to_owned(), hints);
    }
    if ad.category_id != category.id {
        let is = stored.map_or_else(|| format!("category {}", ad.category_id), ToString::to_string);
        return block(
            format!(
                "the category is {is} at the service and {category} in the file; the category of an ad cannot change"
            ),
            vec![format!("use a new source_id in the file, such as {}; the old ad is then deleted", similar_id(id))],
        );
    }
    None
}

/// A source id that is like this one.
fn similar_id(id: &str) -> String {
    format!("\"{id}-2\"")
}

/// A word of a command line.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:/@".contains(it);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Prices without a currency are in the dealer's, which only the service knows: it has filled it in at those that it has.
fn with_currencies(mut wanted: Map<String, Value>, ad: &Ad) -> Map<String, Value> {
    for price in wanted.get_mut("price").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(price) = price.as_object_mut() else { continue };
        let kind = price.get("type").and_then(Value::as_str);
        let known = ad.price.iter().find(|known| Some(known.kind.as_str()) == kind).or_else(|| ad.price.first());
        if let (None | Some(Value::Null), Some(known)) = (price.get("currency"), known) {
            let currency = json!(known.currency);
            price.insert("currency".to_owned(), currency);
        }
    }
    wanted
}

struct Search<'a> {
    rulebook: &'a Rulebook,
    write: WriteContext<'a>,
    stored: &'a model::Ad,
    wanted: &'a Map<String, Value>,
    /// What the rules make of it.
    content: &'a Content,
}

impl Search<'_> {
    fn update(&self, revives: bool) -> Comparison {
        let before = contents::shown(self.stored, &self.stored.content);
        let wanted = contents::shown(self.stored, self.content);
        let (mut patch, mut kept) = (Map::new(), Vec::new());
        self.say(&mut patch, &before, &wanted, &kept);
        // Unchanged images are not compared again; changed ones replace the whole list.
        let bare = contents::with_images(self.stored.clone(), &[]);
        let mut after = before.clone();
        for _ in 0..ROUNDS {
            if patch.is_empty() && !revives {
                break;
            }
            match self.rulebook.update(self.write, &bare, patch.clone()) {
                Ok(checked) => {
                    after = contents::shown(self.stored, &checked.content);
                    if !patch.contains_key(IMAGES) {
                        after.insert(IMAGES.to_owned(), before[IMAGES].clone());
                    }
                    if !self.say(&mut patch, &after, &wanted, &kept) {
                        break;
                    }
                }
                Err(errors) => {
                    let rejected = keep(&mut patch, &errors);
                    if rejected.is_empty() {
                        return Comparison { difference: AdDifference::Rejected(errors), notes: Vec::new() };
                    }
                    kept.extend(rejected);
                }
            }
        }
        // Where only the service knows the currency of a price, the price is shown without it.
        after.extend(patch.get("price").map(|price| ("price".to_owned(), price.clone())));
        let changes = contents::differences(self.write.category, &before, &after);
        let notes =
            kept.into_iter().map(|(field, why)| format!("{field} is unchanged because it cannot be cleared: {why}"));
        let difference = if changes.is_empty() && !revives {
            AdDifference::Unchanged
        } else {
            AdDifference::Update { patch, changes, revives }
        };
        Comparison { difference, notes: notes.collect() }
    }

    /// Adds differences to the patch; whether the patch has changed.
    fn say(
        &self,
        patch: &mut Map<String, Value>,
        is: &Map<String, Value>,
        wanted: &Map<String, Value>,
        kept: &[(String, String)],
    ) -> bool {
        let mut is_new = false;
        for change in contents::differences(self.write.category, is, wanted) {
            let is_kept = kept.iter().any(|(field, _)| *field == change.field);
            // The service generates the titles of registered vehicles.
            let is_generated = change.field == "title" && self.write.category.heading == Heading::Forbidden;
            if !is_kept && !is_generated {
                is_new |= contents::put(patch, &change.field, &self.sent(&change));
            }
        }
        is_new
    }

    /// What is sent of a field: of prices the currency only where it is known.
    fn sent(&self, change: &Change) -> Value {
        let mut new = change.new.clone();
        if let ("price", Value::Array(prices), Some(Value::Array(wanted))) =
            (change.field.as_str(), &mut new, self.wanted.get("price"))
        {
            for (price, wanted) in prices.iter_mut().zip(wanted) {
                if let (Value::Object(price), None | Some(Value::Null)) = (price, wanted.get("currency")) {
                    price.remove("currency");
                }
            }
        }
        new
    }
}

/// Removes fields from the patch that cannot be cleared, with the reasons.
fn keep(patch: &mut Map<String, Value>, errors: &FieldErrors) -> Vec<(String, String)> {
    let mut kept = Vec::new();
    for (field, message) in errors.flatten() {
        match contents::take(patch, &field) {
            Some(Value::Null) => kept.push((field, message.into_owned())),
            Some(sent) => {
                contents::put(patch, &field, &sent);
            }
            None => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ad that the service shows for a payload, after this change to the answer.
    fn ad(vehicle_type: &str, payload: &Value, change: impl FnOnce(&mut Value)) -> Ad {
        let category = categories::by_vehicle_type(vehicle_type).unwrap();
        let write = WriteContext { category, version: ApiVersion::V4, dealer: None };
        let content = Rulebook::default().import(write, payload.as_object().unwrap().clone()).unwrap().content;
        let fields = content.fields();
        let images =
            content.image_urls().map(|url| json!({"url": url, "cdn_url": "", "id": uuid::Uuid::nil(), "checksum": ""}));
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let mut shown = json!({
            "id": uuid::Uuid::nil(), "source_id": payload["source_id"], "dealer_code": "north-cars",
            "category_id": category.id, "state": "created", "title": field("title"), "body": field("body"),
            "visible": fields.get("visible").unwrap_or(&json!(true)), "price": fields.get("price").unwrap_or(&json!([])),
            "image_refs": images.collect::<Vec<_>>(), "url": field("url"), "video_url": field("video_url"),
            "location": field("location"), "contact": field("contact"), "category_fields": field("category_fields"),
            "dont_publish_on_failed_images": fields.get("dont_publish_on_failed_images").unwrap_or(&json!(false)),
            "product_declaration": field("product_declaration"), "marketplace_ad_id": null, "offer_id": null,
            "api_version": "v4", "created": "2026-01-15T10:00:00.000Z", "updated": "2026-01-15T10:00:00.000Z",
        });
        change(&mut shown);
        serde_json::from_value(shown).unwrap()
    }

    fn compared(vehicle_type: &str, ad: &Ad, wanted: &Value) -> Comparison {
        let category = categories::by_vehicle_type(vehicle_type).unwrap();
        let images: Vec<_> = ad.image_refs.iter().map(|image| image.url.clone()).collect();
        compare(&Rulebook::default(), ad, &images, wanted.as_object().unwrap(), category)
    }

    fn example(vehicle_type: &str) -> Value {
        json!(categories::by_vehicle_type(vehicle_type).unwrap().example(ApiVersion::V4, &Rulebook::default()))
    }

    fn update(comparison: Comparison) -> (Value, Vec<String>) {
        match comparison.difference {
            AdDifference::Update { patch, changes, .. } => {
                (json!(patch), changes.into_iter().map(|change| change.field).collect())
            }
            other => panic!("{other:?} {:?}", comparison.notes),
        }
    }

    #[test]
    fn an_ad_is_as_wanted_whatever_its_type() {
        for (vehicle_type, _) in categories::typed() {
            let payload = example(vehicle_type);
            let same = compared(vehicle_type, &ad(vehicle_type, &payload, |_| {}), &payload);
            assert_eq!(same, Comparison { difference: AdDifference::Unchanged, notes: vec![] }, "{vehicle_type}");
        }
    }

    #[test]
    fn what_is_not_in_the_file_is_cleared_whatever_its_type() {
        for (vehicle_type, category) in categories::typed() {
            let full = example(vehicle_type);
            let mut least = full.as_object().unwrap().clone();
            least.retain(|name, _| {
                matches!(name.as_str(), "source_id" | "category_id" | "category_fields" | "title" | "contact")
            });
            let fields = least["category_fields"].as_object_mut().unwrap();
            fields.retain(|name, _| {
                category.field(name).is_some_and(|field| field.required)
                    || name == "registration_number"
                    || name == "brand"
            });
            let least = Value::Object(least);
            let write = WriteContext { category, version: ApiVersion::V4, dealer: None };
            if Rulebook::default().import(write, least.as_object().unwrap().clone()).is_err() {
                // Its required fields stand deeper.
                continue;
            }
            let comparison = compared(vehicle_type, &ad(vehicle_type, &full, |_| {}), &least);
            let kept = comparison.notes.clone();
            let (patch, _) = update(comparison);
            assert_eq!((&patch["body"], &patch["price"], &patch[IMAGES]), (&Value::Null, &json!([]), &json!([])));
            // The result of the update is then as desired, except for fields that cannot be cleared.
            let stored = contents::stored(&ad(vehicle_type, &full, |_| {}));
            let after = Rulebook::default().update(write, &stored, patch.as_object().unwrap().clone()).unwrap();
            let wanted = Rulebook::default().import(write, least.as_object().unwrap().clone()).unwrap();
            let left = contents::differences(
                category,
                &contents::shown(&stored, &after.content),
                &contents::shown(&stored, &wanted.content),
            );
            let fields: Vec<_> = left.iter().map(|change| change.field.as_str()).collect();
            assert!(
                fields.iter().all(|field| kept.iter().any(|note| note.starts_with(field))),
                "{vehicle_type}: {fields:?} {kept:?}"
            );
        }
    }

    #[test]
    fn only_what_differs_is_sent() {
        let payload = example("car");
        let mut wanted = payload.clone();
        wanted["category_fields"]["condition"]["mileage"]["value"] = json!(2900);
        wanted["category_fields"]["color"] = json!("blue");
        let (patch, changes) = update(compared("car", &ad("car", &payload, |_| {}), &wanted));
        assert_eq!(
            patch,
            json!({"category_fields": {"color": "blue", "condition": {"mileage": wanted["category_fields"]["condition"]["mileage"]}}})
        );
        assert_eq!(changes, ["category_fields.color", "category_fields.condition.mileage"]);
    }

    #[test]
    fn a_title_that_is_made_follows_by_itself() {
        let payload = json!({"source_id": "a", "category_id": 1020, "category_fields": {"registration_number": "ABC123",
            "model_year": 2019, "brand": "volvo"}});
        let mut wanted = payload.clone();
        wanted["category_fields"]["model_year"] = json!(2020);
        let (patch, changes) = update(compared("car", &ad("car", &payload, |_| {}), &wanted));
        assert_eq!(patch, json!({"category_fields": {"model_year": 2020}}));
        assert_eq!(changes, ["title", "category_fields.model_year"]);
    }

    #[test]
    fn a_price_without_a_currency_is_in_the_one_that_the_service_has() {
        let mut payload = json!({"source_id": "a", "category_id": 1020,
            "category_fields": {"registration_number": "ABC123", "model_year": 2019}});
        payload["price"] = json!([{"type": "list", "amount": 100, "currency": "EUR"}]);
        let ad = ad("car", &payload, |_| {});
        payload["price"] = json!([{"type": "list", "amount": 100}]);
        assert_eq!(compared("car", &ad, &payload).difference, AdDifference::Unchanged);
        payload["price"] = json!([{"type": "list", "amount": 100.0}, {"type": "reduced", "amount": 90}]);
        let (patch, _) = update(compared("car", &ad, &payload));
        assert_eq!(patch["price"][1], json!({"type": "reduced", "amount": 90, "currency": "EUR"}));
        let mut none = ad;
        none.price.clear();
        let AdDifference::Update { patch, changes, .. } = compared("car", &none, &payload).difference else { panic!() };
        assert_eq!(patch["price"][0], json!({"type": "list", "amount": 100.0}), "the service fills it in");
        assert_eq!(changes[0].new, patch["price"]);
    }

    #[test]
    fn what_can_never_be_says_so_with_the_way_out() {
        let car = example("car");
        let mut other = car.clone();
        other["category_fields"]["registration_number"] = json!("XYZ987");
        let rejected = compared("car", &ad("car", &car, |_| {}), &other).difference;
        assert!(
            matches!(&rejected, AdDifference::Rejected(errors) if errors.contains("category_fields.registration_number")),
            "{rejected:?}"
        );

        let blocked = |vehicle_type: &str, stored: &str, change: fn(&mut Value)| match compared(
            vehicle_type,
            &ad(stored, &example(stored), change),
            &example(vehicle_type),
        )
        .difference
        {
            AdDifference::Blocked { reason, hints } => (reason, hints.join("; ")),
            other => panic!("{other:?}"),
        };
        let (reason, hint) = blocked("car", "car", |ad| ad["state"] = json!("deleted"));
        assert!(reason.contains("cannot be reused") && hint.contains("\"car-1001-2\""), "{reason} {hint}");
        let (reason, hint) = blocked("moped", "moped", |ad| ad["api_version"] = json!("v3"));
        assert!(
            reason.contains("V3") && hint.contains("ad-cli migrate-v4 --payloads FILE moped-1001"),
            "{reason} {hint}"
        );
        let (reason, _) = blocked("transport", "car", |_| {});
        assert!(reason.contains("vehicle type \"car\" at the service"), "{reason}");
    }

    #[test]
    fn a_deleted_boat_comes_back_by_an_update() {
        let boat = example("boat");
        let deleted = ad("boat", &boat, |ad| ad["state"] = json!("deleted"));
        let AdDifference::Update { patch, changes, revives: true } = compared("boat", &deleted, &boat).difference
        else {
            panic!()
        };
        assert_eq!((patch.is_empty(), changes), (true, vec![]));
    }
}
