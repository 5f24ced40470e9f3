//! One ad: what makes it equal to its payload.
//!
//! Contents are compared after normalisation: the [rules](crate::rulebook) are applied to the payload as the whole content of the ad, and to
//! the ad with the patch. So an update that would change nothing is not made, and one that would be rejected is known before.

use serde_json::{Map, Value};

use super::{
    ChangeKind, FieldDifference, ListOrder, ScoreChange, StockChange,
    differences::{differences, put},
    obstacle::{self, Obstacle},
};
use crate::{
    categories::{Category, Heading},
    model::{Ad, ApiVersion, Content, Dealer, FailedImage, Timestamp, get},
    quality::{Measured, score},
    rulebook::{
        CheckedPayload, Rulebook, WriteContext, locked_newness, payload,
        versions::{Conversion, conversion},
    },
};

const TITLE: &str = "title";
const PRICE: &str = "price";
const IS_NEW: &str = "category_fields.condition.is_new_vehicle";

/// Maximum number of iterations for finding a patch: derived fields follow others.
const ROUNDS: usize = 4;

/// An ad that exists, also if it is deleted.
#[derive(Debug, Clone, Copy)]
pub struct ExistingAd<'a> {
    /// The ad as it is stored.
    pub ad: &'a Ad,
    /// Whether it is deleted once all accepted requests have run.
    pub is_deleted: bool,
    /// The images that the latest `handle_media` could not store.
    pub failed_images: &'a [FailedImage],
}

/// Compares payloads with ads, one at a time (extensions E8.4).
#[derive(Debug, Clone, Copy)]
pub struct StockComparison<'a> {
    /// The rules by which payloads are normalised and updates judged.
    pub rulebook: &'a Rulebook,
    /// The dealer of the ads. `None` where only the service knows it: then rules that need it are not checked, and a price without a currency is
    /// in the one of the stored prices.
    pub dealer: Option<&'a Dealer>,
}

impl StockComparison<'_> {
    /// The change that makes an ad equal to its payload. Fields that the payload leaves out are cleared, and members that only the service
    /// sets are ignored. A payload of an ad that exists may hold what an update may hold; a new one is judged as a create.
    ///
    /// Whose ad a payload is, and which ad it names, is decided by the caller.
    ///
    /// ```
    /// use ad_core::{
    ///     categories,
    ///     model::{Ad, AdState, ApiVersion, Timestamp},
    ///     rulebook::{Rulebook, SourceId, WriteContext},
    ///     stock::{ChangeKind, ExistingAd, StockComparison},
    /// };
    /// use serde_json::{Map, Value, json};
    ///
    /// let rulebook = Rulebook::default();
    /// let object = |value: Value| value.as_object().cloned().unwrap();
    /// let payload = |fields: Value| object(json!({"source_id": "car-1", "category_id": 1020, "category_fields": fields}));
    /// // The ad as the service has stored it.
    /// let category = categories::by_vehicle_type("car").unwrap();
    /// let write = WriteContext { category, version: ApiVersion::V4, dealer: None };
    /// let sent = payload(json!({"registration_number": "ABC123", "model_year": 2019, "color": "red",
    ///     "condition": {"mileage": {"value": 2800, "unit": "mil"}}}));
    /// let stored = rulebook.create(write, sent, SourceId::Required).unwrap();
    /// let (id, time) = (Default::default(), Timestamp::default());
    /// let ad = Ad { id, source_id: stored.source_id, dealer_code: "north-cars".into(), category_id: category.id,
    ///     state: AdState::Created, api_version: ApiVersion::V4, content: stored.content, image_refs: Vec::new(),
    ///     marketplace_ad_id: None, offer_id: None, created: time, updated: time };
    /// let existing = ExistingAd { ad: &ad, is_deleted: false, failed_images: &[] };
    ///
    /// let stock = StockComparison { rulebook: &rulebook, dealer: None };
    /// // Another spelling of the same.
    /// let same = payload(json!({"registration_number": "abc 123", "model_year": 2019, "color": "red",
    ///     "condition": {"mileage": {"value": 2800.0, "unit": "MIL"}}}));
    /// assert_eq!(stock.change(same, Some(existing)).kind, ChangeKind::Unchanged);
    ///
    /// let tonight = payload(json!({"registration_number": "ABC123", "model_year": 2019,
    ///     "condition": {"mileage": {"value": 2900, "unit": "mil"}}}));
    /// let change = stock.change(tonight, Some(existing));
    /// assert_eq!(change.kind, ChangeKind::Update);
    /// assert_eq!(
    ///     json!(change.fields),
    ///     json!([
    ///         {"pointer": "/category_fields/color", "from": "red", "to": null},
    ///         {"pointer": "/category_fields/condition/mileage",
    ///             "from": {"value": 2800, "unit": "mil"}, "to": {"value": 2900, "unit": "mil"}},
    ///     ])
    /// );
    /// assert_eq!(
    ///     json!(change.body),
    ///     json!({"category_fields": {"color": null, "condition": {"mileage": {"value": 2900, "unit": "mil"}}}})
    /// );
    /// ```
    pub fn change(&self, payload: Map<String, Value>, existing: Option<ExistingAd<'_>>) -> StockChange {
        match existing {
            None => self.create(payload),
            Some(existing) => self.revise(payload, existing).unwrap_or_else(StockChange::invalid),
        }
    }

    fn create(&self, payload: Map<String, Value>) -> StockChange {
        let category = payload::category(ApiVersion::V4, payload.get("category_id")).ok();
        match self.rulebook.create_for(ApiVersion::V4, None, self.dealer, payload.clone()) {
            Ok(CheckedPayload { content, warnings, .. }) => StockChange {
                warnings,
                quality: ScoreChange { from: None, to: category.map(|it| score_of(it, &content, None)) },
                title: content.title().map(str::to_owned),
                body: Some(payload),
                ..StockChange::of(ChangeKind::Create)
            },
            Err(error) => StockChange::invalid(error),
        }
    }

    fn revise(&self, mut payload: Map<String, Value>, existing: ExistingAd<'_>) -> Result<StockChange, Obstacle> {
        let ad = existing.ad;
        let Ok(category) = payload::category(ApiVersion::V4, payload.get("category_id")) else {
            // It is invalid, with the errors of a create.
            return Ok(self.create(payload));
        };
        check_possible(ad, existing.is_deleted, category)?;
        let sent = SentFields::of(&payload);
        let has_title = payload.contains_key(TITLE);
        if has_title && category.heading == Heading::Forbidden && payload.get(TITLE) == ad.content.get(TITLE) {
            // An update may send back the title that it has read.
            payload.remove(TITLE);
        }
        let unknown_currencies =
            if self.dealer.is_none() { assume_currencies(&mut payload, &ad.content) } else { Vec::new() };
        let write = WriteContext { category, version: ApiVersion::V4, dealer: self.dealer };
        let mut wanted = self.rulebook.import(write, payload)?.content.into_fields();
        if get(&wanted, IS_NEW).is_none()
            && let Some(is_new) = locked_newness(category, &ad.content, self.dealer.is_some())
        {
            put(&mut wanted, IS_NEW, is_new.into());
        }
        // Most ads are as they were sent before, and then their stored fields need not be parsed.
        if !existing.is_deleted && ad.content.is_stored_as(&wanted) {
            return Ok(StockChange::of(ChangeKind::Unchanged));
        }
        PatchSearch { rulebook: self.rulebook, write, existing, sent, wanted, unknown_currencies }.change()
    }
}

/// Checks that an update can make an ad one of this category.
fn check_possible(ad: &Ad, is_deleted: bool, category: &Category) -> Result<(), Obstacle> {
    let stored = ad.category();
    let is_registered = stored.is_some_and(|category| category.registered);
    let must_migrate = conversion(ad) == Conversion::Migration;
    if is_deleted && (is_registered || must_migrate) {
        return Err(Obstacle::Deleted { is_registered });
    }
    if must_migrate {
        let mut targets = stored.into_iter().flat_map(Category::targets);
        return Err(Obstacle::MustMigrate { into_category: targets.any(|(_, target)| target.id == category.id) });
    }
    if ad.category_id == category.id { Ok(()) } else { Err(Obstacle::OtherCategory { id: ad.category_id }) }
}

/// Whether a payload sends fields that the service otherwise derives.
#[derive(Debug, Clone, Copy)]
struct SentFields {
    title: bool,
    is_new: bool,
}

impl SentFields {
    fn of(payload: &Map<String, Value>) -> Self {
        let sends = |path| get(payload, path).is_some_and(|value| !value.is_null());
        Self { title: sends(TITLE), is_new: sends(IS_NEW) }
    }
}

/// Gives prices without a currency the one of the stored price of their type, or of any stored price. Returns the indexes of those that have
/// none then: the service gives them the dealer's.
fn assume_currencies(payload: &mut Map<String, Value>, stored: &Content) -> Vec<usize> {
    let known = stored.get(PRICE).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut unknown = Vec::new();
    let prices = payload.get_mut(PRICE).and_then(Value::as_array_mut).into_iter().flatten();
    for (index, price) in prices.enumerate() {
        let Some(price) = price.as_object_mut() else { continue };
        if price.get("currency").is_some_and(|currency| !currency.is_null()) {
            continue;
        }
        let of_type = known.iter().find(|known| known.get("type") == price.get("type"));
        match of_type.or_else(|| known.first()).and_then(|known| known.get("currency")) {
            Some(currency) => {
                price.insert("currency".to_owned(), currency.clone());
            }
            None => unknown.push(index),
        }
    }
    unknown
}

/// The search for the patch that makes an ad what is wanted.
struct PatchSearch<'a> {
    rulebook: &'a Rulebook,
    write: WriteContext<'a>,
    existing: ExistingAd<'a>,
    sent: SentFields,
    /// The content that the ad should have, normalised.
    wanted: Map<String, Value>,
    /// Indexes of prices whose currency only the service knows.
    unknown_currencies: Vec<usize>,
}

impl PatchSearch<'_> {
    fn change(self) -> Result<StockChange, Obstacle> {
        let ExistingAd { ad, is_deleted, .. } = self.existing;
        let before = ad.content.fields();
        let mut missing = self.missing(before);
        if missing.is_empty() && !is_deleted {
            return Ok(StockChange::of(ChangeKind::Unchanged));
        }
        // Derived fields follow those that they depend on, where they are not locked.
        if missing.iter().any(|it| !self.is_derived(it)) {
            missing.retain(|it| !self.is_derived(it));
        }
        let mut patch = Map::new();
        self.add(&mut patch, missing);
        let mut rounds = ROUNDS;
        let checked = loop {
            let checked = self.rulebook.update(self.write, ad, patch.clone());
            let checked = checked.map_err(|errors| obstacle::of_patch(&errors, &patch, before))?;
            rounds -= 1;
            if rounds == 0 || !self.add(&mut patch, self.missing(checked.content.fields())) {
                break checked;
            }
        };
        let mut change = StockChange::of_update(self.write.category, self.existing, checked, patch);
        let sent = change.body.as_ref().and_then(|patch| patch.get(PRICE));
        if let (Some(price), Some(sent)) = (change.fields.iter_mut().find(|it| it.path == PRICE), sent) {
            price.to = sent.clone();
        }
        Ok(change)
    }

    /// What a content lacks of what is wanted.
    fn missing(&self, content: &Map<String, Value>) -> Vec<FieldDifference> {
        let mut missing = differences(self.write.category, content, &self.wanted, ListOrder::OfImages);
        // The service generates the titles of registered vehicles.
        missing.retain(|it| it.path != TITLE || self.write.category.heading != Heading::Forbidden);
        missing
    }

    /// Whether the service derives a field because the payload leaves it out.
    fn is_derived(&self, field: &FieldDifference) -> bool {
        match field.path.as_str() {
            TITLE => !self.sent.title,
            IS_NEW => !self.sent.is_new,
            _ => false,
        }
    }

    /// Adds what is missing to a patch; whether the patch has changed.
    fn add(&self, patch: &mut Map<String, Value>, missing: Vec<FieldDifference>) -> bool {
        let mut is_new = false;
        for mut field in missing {
            match (field.path.as_str(), &mut field.to) {
                // A title that was cleared is generated.
                (TITLE, title) if !self.sent.title => *title = Value::Null,
                (PRICE, Value::Array(prices)) => {
                    for index in &self.unknown_currencies {
                        if let Some(price) = prices.get_mut(*index).and_then(Value::as_object_mut) {
                            price.remove("currency");
                        }
                    }
                }
                _ => {}
            }
            is_new |= put(patch, &field.path, field.to);
        }
        is_new
    }
}

impl StockChange {
    /// The change that a valid update makes of an ad.
    pub(crate) fn of_update(
        category: &'static Category,
        existing: ExistingAd<'_>,
        checked: CheckedPayload,
        patch: Map<String, Value>,
    ) -> Self {
        let ExistingAd { ad, is_deleted, failed_images } = existing;
        let fields = differences(category, ad.content.fields(), checked.content.fields(), ListOrder::OfImages);
        if fields.is_empty() && !is_deleted {
            return Self::of(ChangeKind::Unchanged);
        }
        let after = score_of(category, &checked.content, Some(existing));
        Self {
            fields,
            quality: ScoreChange { from: Some(score(ad, failed_images)), to: Some(after) },
            title: checked.content.title().map(str::to_owned),
            warnings: checked.warnings,
            body: Some(patch),
            ..Self::of(if is_deleted { ChangeKind::Revive } else { ChangeKind::Update })
        }
    }
}

/// The score that a content would have, as a new ad or as that of an ad with images.
fn score_of(category: &'static Category, content: &Content, existing: Option<ExistingAd<'_>>) -> u8 {
    // Only findings depend on the time.
    let measured = Measured::new(category, content.fields(), Timestamp::default());
    existing.map_or(measured, |it| measured.with_images(&it.ad.image_refs, it.failed_images)).score()
}
