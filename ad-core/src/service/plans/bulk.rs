//! A plan of a selection: the ads that pass filters, and one change of all of them (extensions E8). Only ads that exist are changed, so
//! nothing is created, revived or removed.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    num::NonZeroU64,
};

use serde_json::{Map, Number, Value, json};

use super::{
    StockPlanError,
    write::{BATCH, PlanWriter},
};
use crate::{
    categories::{
        ad_fields,
        price::{LIST, REDUCED},
    },
    fields::FieldErrors,
    model::{
        Ad, AdFilter, AdOrder, AdQuery, AdState, AdStatus, ApiVersion, Bound, ChangeKind, Content, PlanError,
        json_bytes,
    },
    ports::{ListedAd, StoredAd},
    rulebook::versions::VersionError,
    service::{LARGE, MOST_UNKNOWN, Service, ServiceError},
    stock::{ExistingAd, StockChange},
    violation::{Code, Cure, Expected, TextFormat, Violation, nearest},
    written::number::Decimal,
};

const PRICE_PERCENT: &str = "price_percent";
const PRICE_AMOUNT: &str = "price_amount";
const ROUND: &str = "round";
const SET: &str = "set";
const VISIBLE: &str = "visible";
const MEMBERS: [&str; 4] = [PRICE_PERCENT, PRICE_AMOUNT, ROUND, SET];

/// Decimals of a percentage and of an amount.
const PERCENT_DECIMALS: u8 = 4;
const AMOUNT_DECIMALS: u8 = 2;
/// A whole amount, 100 %, in the unit of [`PriceStep::Percent`].
const WHOLE: i64 = 1_000_000;
/// The greatest percentage, in the same unit.
const MOST_PERCENT: i64 = 10 * WHOLE;
/// The greatest amount of a price, in hundredths.
const MOST_AMOUNT: i64 = 100_000_000_000_000;
/// Maximum size of `set`, in bytes: every change of the plan has a copy.
const MOST_SET_BYTES: usize = 16 * 1024;

/// By how much prices become higher or lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceStep {
    /// In ten-thousandths of a percent: −5 % is −50,000.
    Percent(i64),
    /// In hundredths of a currency unit.
    Amount(i64),
}

/// One change of many ads.
#[derive(Debug, Clone, PartialEq)]
pub enum BulkChange {
    /// The prices of types `list` and `reduced` become higher or lower. Leasing and monthly prices stay as they are.
    Price {
        /// By how much.
        by: PriceStep,
        /// Hundredths of a currency unit: amounts are rounded to the nearest multiple, halves away from zero, and are at least one
        /// multiple.
        round: NonZeroU64,
    },
    /// The ads are updated with this patch.
    Set(Map<String, Value>),
}

impl BulkChange {
    /// Reads `{"price_percent": -5, "round": 100}`, `{"price_amount": -5000}` or `{"set": {…}}`. A member that is `null` counts as left out.
    ///
    /// ```
    /// use ad_core::service::BulkChange;
    /// use serde_json::json;
    ///
    /// let parse = |change: serde_json::Value| BulkChange::parse(change.as_object().unwrap());
    /// assert!(parse(json!({"price_percent": -5, "round": 100})).is_ok());
    /// let errors = parse(json!({"price_percnt": -5})).unwrap_err();
    /// assert_eq!(json!(errors), json!({"price_percnt": ["Unknown field.", "Did you mean \"price_percent\"?"]}));
    /// ```
    ///
    /// # Errors
    /// All errors, by field. What a patch does to an ad is checked with each ad.
    pub fn parse(change: &Map<String, Value>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        for name in change.keys().filter(|name| !MEMBERS.contains(&name.as_str())).take(MOST_UNKNOWN) {
            let meant = nearest::similar_paths(name, MEMBERS.into_iter()).into_iter().map(str::to_owned).collect();
            errors.push(name, Violation::UnknownField { meant, of_ad: false });
        }
        let sent = |name| change.get(name).filter(|value| !value.is_null());
        let round = sent(ROUND);
        let parsed = match (sent(PRICE_PERCENT), sent(PRICE_AMOUNT), sent(SET)) {
            (Some(percent), None, None) => Self::price(Self::percent(percent, &mut errors), round, &mut errors),
            (None, Some(amount), None) => Self::price(Self::amount(amount, &mut errors), round, &mut errors),
            (None, None, Some(patch)) => {
                if round.is_some() {
                    let text = "Only prices are rounded. Leave round out.";
                    errors.push(ROUND, Violation::stated(Code::NotAllowed, text));
                }
                let patch = checked_patch(patch).map_err(|wrong| errors.put(SET, wrong));
                patch.ok().map(Self::Set)
            }
            (None, None, None) => {
                // An unknown member is probably the missing one.
                if errors.is_empty() {
                    let note = "Send price_percent, such as -5, price_amount, such as -5000, or set, such as {\"visible\": false}.";
                    let missing = Violation::stated(Code::Required, "The change is missing.");
                    errors.push(PRICE_PERCENT, missing.with_note(Some(note.to_owned())));
                }
                None
            }
            (_, amount, patch) => {
                let text = "A plan makes one change. Send one of price_percent, price_amount and set, and make another plan for the other.";
                let later = if patch.is_some() || amount.is_none() { SET } else { PRICE_AMOUNT };
                errors.push(later, Violation::stated(Code::Conflict, text));
                None
            }
        };
        parsed.filter(|_| errors.is_empty()).ok_or(errors)
    }

    fn percent(percent: &Value, errors: &mut FieldErrors) -> Option<PriceStep> {
        let is_percent = |percent: i64| (1 - WHOLE..=MOST_PERCENT).contains(&percent) && percent != 0;
        let text = "Must be more than -100 and at most 1000, and not 0. Send -5 for prices that are 5 percent lower.";
        let percent = units(percent, PERCENT_DECIMALS, "-5", is_percent, text);
        percent.map(PriceStep::Percent).map_err(|violation| errors.push(PRICE_PERCENT, violation)).ok()
    }

    fn amount(amount: &Value, errors: &mut FieldErrors) -> Option<PriceStep> {
        let is_amount = |amount: i64| (-MOST_AMOUNT..=MOST_AMOUNT).contains(&amount) && amount != 0;
        let text = "Must be at least -1000000000000 and at most 1000000000000, and not 0. Send -5000 for prices that are 5000 lower.";
        let amount = units(amount, AMOUNT_DECIMALS, "-5000", is_amount, text);
        amount.map(PriceStep::Amount).map_err(|violation| errors.push(PRICE_AMOUNT, violation)).ok()
    }

    fn price(by: Option<PriceStep>, round: Option<&Value>, errors: &mut FieldErrors) -> Option<Self> {
        let is_amount = |amount: i64| (1..=MOST_AMOUNT).contains(&amount);
        let text = "Must be more than 0 and at most 1000000000000. Send 100 for amounts that are multiples of 100.";
        let round = round.map_or(Ok(1), |round| units(round, AMOUNT_DECIMALS, "100", is_amount, text));
        let round = round.map_err(|violation| errors.push(ROUND, violation));
        let round = NonZeroU64::new(u64::try_from(round.ok()?).ok()?)?;
        Some(Self::Price { by: by?, round })
    }

    /// The patch that makes it of an ad; `None` if it leaves the ad as it is.
    fn patch_of(&self, content: &Content) -> Option<Cow<'_, Map<String, Value>>> {
        let (by, round) = match self {
            Self::Set(patch) => return Some(Cow::Borrowed(patch)),
            Self::Price { by, round } => (*by, *round),
        };
        let mut prices = content.get("price")?.as_array()?.clone();
        let mut is_other = false;
        for price in &mut prices {
            if !matches!(price.get("type").and_then(Value::as_str), Some(LIST | REDUCED)) {
                continue;
            }
            let Some(amount) = price.get_mut("amount") else { continue };
            match changed_amount(amount, by, round) {
                Some(changed) if changed == *amount => {}
                Some(changed) => {
                    *amount = changed;
                    is_other = true;
                }
                // It is no amount by the rules of today, which the check of the update says.
                None => is_other = true,
            }
        }
        is_other.then(|| Cow::Owned(Map::from_iter([("price".to_owned(), prices.into())])))
    }
}

/// A number as a whole number of its least unit, or what is wrong with it: `range` says which numbers are right, and `outside` is the error
/// of the others.
fn units(
    sent: &Value,
    decimals: u8,
    example: &str,
    range: impl Fn(i64) -> bool,
    outside: &'static str,
) -> Result<i64, Violation> {
    let Value::Number(number) = sent else {
        let meant = sent.as_str().filter(|text| serde_json::from_str::<Number>(text).is_ok()).unwrap_or(example);
        let cure = Cure::Example { expected: Expected::Number, value: meant.to_owned() };
        return Err(Violation::WrongType(Expected::Number).cured(cure));
    };
    let exact = Decimal::of_number(number).and_then(|exact| exact.shifted(decimals.into()));
    match exact.map(Decimal::whole) {
        Some(Some(units)) if range(units) => Ok(units),
        Some(None) => Err(Violation::WrongFormat(TextFormat::Decimals(decimals))),
        _ => Err(Violation::stated(Code::OutOfRange, outside)),
    }
}

/// Checks `set` as far as that needs no ad.
fn checked_patch(sent: &Value) -> Result<Map<String, Value>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let example = || json!({"visible": false}).to_string();
    let Value::Object(patch) = sent else {
        let cure = Cure::Example { expected: Expected::Object, value: example() };
        errors.here(Violation::WrongType(Expected::Object).cured(cure));
        return Err(errors);
    };
    if patch.is_empty() {
        let note = format!("Send the fields as in an update, such as {}.", example());
        errors.here(Violation::stated(Code::Required, "There is no field to change.").with_note(Some(note)));
    }
    for name in ad_fields::IDENTITY.iter().map(|field| field.path).filter(|name| patch.contains_key(*name)) {
        let text =
            "Identifies an ad, and cannot be changed. Leave it out; the filters in select say which ads are changed.";
        errors.push(name, Violation::stated(Code::Immutable, text));
    }
    if json_bytes(sent) > MOST_SET_BYTES {
        let text = format!("Ensure that this has no more than {MOST_SET_BYTES} bytes. Send longer texts ad by ad.");
        errors.here(Violation::stated(Code::TooLarge, text));
    }
    if errors.is_empty() { Ok(patch.clone()) } else { Err(errors) }
}

/// An amount that is higher or lower; `None` if it is no positive amount with at most two decimals, or becomes too large. Of one from which
/// as much is taken as it is or more, 0 is left, which no price may be. One that rounding would move the other way stays as it is.
fn changed_amount(amount: &Value, by: PriceStep, round: NonZeroU64) -> Option<Value> {
    let Value::Number(number) = amount else { return None };
    let hundredths = Decimal::of_number(number)?.shifted(AMOUNT_DECIMALS.into())?.whole().filter(|it| *it > 0)?;
    let exact = match by {
        PriceStep::Percent(percent) => i128::from(hundredths).checked_mul(i128::from(WHOLE) + i128::from(percent))?,
        PriceStep::Amount(amount) => (i128::from(hundredths) + i128::from(amount)).checked_mul(i128::from(WHOLE))?,
    };
    if exact <= 0 {
        return Some(Value::from(0));
    }
    // Amounts are positive, so that half a multiple more and rounding down is to the nearest.
    let multiple = i128::from(WHOLE) * i128::from(round.get());
    let multiples = exact.checked_add(multiple / 2)?.div_euclid(multiple).max(1);
    let changed = i64::try_from(multiples.checked_mul(i128::from(round.get()))?).ok()?;
    let is_raise = matches!(by, PriceStep::Percent(step) | PriceStep::Amount(step) if step > 0);
    if changed == hundredths || (changed > hundredths) != is_raise {
        return Some(amount.clone());
    }
    Some(Decimal::of(changed, AMOUNT_DECIMALS.into()).value())
}

impl Service {
    /// The change of one ad, judged as the update that will make it.
    ///
    /// # Errors
    /// Those that are not about the ad's fields or version.
    fn bulk_change(&self, stored: &StoredAd, change: &BulkChange) -> Result<StockChange, ServiceError> {
        let Some(patch) = change.patch_of(&stored.ad.content) else {
            return Ok(StockChange::of(ChangeKind::Unchanged));
        };
        match self.check_update(ApiVersion::V4, stored, &patch) {
            Ok(updated) => {
                let failed_images = &stored.publication.failed_images;
                let existing = ExistingAd { ad: &stored.ad, is_deleted: false, failed_images };
                Ok(StockChange::of_update(updated.category, existing, updated.checked, patch.into_owned()))
            }
            Err(ServiceError::Invalid(errors)) => Ok(StockChange::invalid(errors)),
            Err(ServiceError::Version(error)) => Ok(StockChange::invalid(of_version(&error, &stored.ad))),
            Err(error) => Err(error),
        }
    }
}

/// The error of an ad that V4 cannot update.
fn of_version(error: &VersionError, ad: &Ad) -> FieldErrors {
    let can_migrate = ad.category().is_some_and(|category| category.targets().next().is_some());
    let cure = if can_migrate {
        "Migrate the ad first."
    } else {
        "Select other ads: V4 has no category that it can migrate to."
    };
    let text = "The ad is a V3 ad, which an update cannot convert to V4.";
    let mut errors = FieldErrors::default();
    errors.push("source_id", Violation::stated(error.code(), text).with_note(Some(cure.to_owned())));
    errors
}

impl PlanWriter {
    /// Adds the ads of the plan's dealers that pass all filters and are not deleted, with the same change of each. An ad that was selected
    /// before is not added again.
    ///
    /// # Errors
    /// [`StockPlanError::Ended`] when the plan is refused because there are too many, or was cancelled; those of the store.
    pub async fn add_selected(&mut self, filters: &[AdFilter], change: &BulkChange) -> Result<(), StockPlanError> {
        self.selects = true;
        let (service, access) = (self.plans.service.clone(), self.access.clone());
        let scoped = service.scoped(&access);
        let mut query = AdQuery { fields: Some(vec!["source_id"]), ..AdQuery::oldest_first(filters) };
        // The next page begins at the time of the last ad, so that no ad is missed when earlier ones pass the filters no longer. Ads of that
        // time come again, and are known.
        let mut since = None;
        loop {
            let page = service.store.list(scoped.scope(), &query).await?;
            for chunk in page.rows.chunks(BATCH) {
                self.add_listed(chunk, change).await?;
            }
            let read = page.rows.len() as u64;
            let Some(last) = page.rows.last().filter(|_| query.page.offset + read < page.count) else { return Ok(()) };
            if since == Some(last.ad.created) {
                query.page.offset += read;
                continue;
            }
            since = Some(last.ad.created);
            query.page.offset = 0;
            query.filters.truncate(filters.len());
            query.filters.push(AdFilter::Time(AdOrder::Created, Bound::Gte, last.ad.created));
        }
    }

    /// Adds some of the ads that were listed.
    async fn add_listed(&mut self, listed: &[ListedAd], change: &BulkChange) -> Result<(), StockPlanError> {
        self.keep_lease().await?;
        let mut by_dealer = BTreeMap::<&str, Vec<String>>::new();
        for ListedAd { ad, words, .. } in listed {
            if words.status != AdStatus::Deleted && !self.named.may_name(&ad.dealer_code, &ad.source_id) {
                by_dealer.entry(&ad.dealer_code).or_default().push(ad.source_id.clone());
            }
        }
        for (dealer_code, ids) in by_dealer {
            let stored = self.plans.store.ads_of_stock(dealer_code, &ids).await?;
            let mut stored: HashMap<_, _> =
                stored.into_iter().map(|stored| (stored.ad.source_id.clone(), stored)).collect();
            let mut ads: Vec<_> = ids.iter().filter_map(|id| stored.remove(id)).collect();
            ads.retain(|stored| stored.intent != AdState::Deleted);
            let service = &self.plans.service;
            // Hundreds of ads take longer than a large one.
            let judge = || ads.iter().map(|stored| service.bulk_change(stored, change)).collect::<Result<Vec<_>, _>>();
            let changes = service.computed(dealer_code, LARGE, judge)?;
            for (stored, change) in ads.iter().zip(changes) {
                self.add_selected_ad(stored, change).await?;
            }
        }
        Ok(())
    }

    async fn add_selected_ad(&mut self, stored: &StoredAd, mut change: StockChange) -> Result<(), StockPlanError> {
        let most = self.plans.limits.most_ads;
        if self.ads >= most {
            let detail =
                format!("More than {most} ads are selected, which is the maximum. Add filters that select fewer.");
            let refusal = PlanError { code: Code::TooMany, pointer: None, line: None, detail, count: 1 };
            return Err(self.refuse(refusal).await);
        }
        self.ads += 1;
        if change.kind == ChangeKind::Update
            && change.fields.iter().any(|field| field.path == VISIBLE && field.to == false)
        {
            // It counts as a removal.
            change.kind = ChangeKind::Hide;
        }
        let Ad { dealer_code, source_id, .. } = &stored.ad;
        // It is not known yet, or it would not have been read.
        let _ = self.named.add(0, Some(dealer_code), source_id);
        self.with_dealer(dealer_code, None).await?;
        let revision = Some(stored.tag.revision);
        self.add_compared(None, dealer_code, source_id.clone(), revision, change, &HashMap::new()).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_price_moves_by_its_step_and_never_the_other_way() {
        for (amount, change, changed) in [
            (json!(189_900), json!({"price_percent": -5}), json!(180_405)),
            (json!(189_900), json!({"price_percent": -5, "round": 100}), json!(180_400)),
            (json!(18), json!({"price_percent": -5, "round": 100}), json!(18)),
            (json!(340), json!({"price_percent": 1, "round": 100}), json!(340)),
            (json!(350), json!({"price_amount": 10, "round": 100}), json!(400)),
            (json!(99.5), json!({"price_amount": -1}), json!(98.5)),
            (json!(5), json!({"price_amount": -5}), json!(0)),
        ] {
            let Ok(BulkChange::Price { by, round }) = BulkChange::parse(change.as_object().unwrap()) else { panic!() };
            assert_eq!(changed_amount(&amount, by, round), Some(changed), "{amount} {change}");
        }
    }
}
