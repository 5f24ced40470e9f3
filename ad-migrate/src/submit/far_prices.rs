//! The guard of prices: of more ads than usual, they must not be far from those of now, as where a column is in another unit or was lost.

use std::collections::BTreeMap;

use ad_bulk::desired::{Change, difference};
use ad_core::{prices::is_far, stock::Guard};
use ad_files::text::{counted, grouped};
use ad_terminal::Failure;
use serde_json::Value;

use super::guard_limit;

/// Ads that a refusal names; the others are counted.
const MOST_NAMED: usize = 5;

/// The prices of the ads that are compared.
#[derive(Debug, Default)]
pub(super) struct FarPrices {
    /// How many ads a dealer has, and of how many of them the price is far.
    dealers: BTreeMap<String, (u64, u64)>,
    /// The first of these, with their prices.
    first: Vec<String>,
}

impl FarPrices {
    /// Counts an ad and what changes about it.
    pub(super) fn add(&mut self, dealer: &str, source_id: &str, changes: &[Change]) {
        let (ads, far) = self.dealers.entry(dealer.to_owned()).or_default();
        *ads += 1;
        if let Some(change) = changes.iter().find(|change| is_far_change(change)) {
            *far += 1;
            if self.first.len() < MOST_NAMED {
                self.first.push(format!("{source_id}: {}", difference(change)));
            }
        }
    }

    /// Whether so many prices may change so much.
    pub(super) fn check(&self, allowed: Option<u64>) -> Result<(), Failure> {
        let Guard { removals: far, exceeded, .. } = Guard::of(self.dealers.values().copied(), allowed);
        if !exceeded {
            return Ok(());
        }
        let all = counted(self.dealers.values().map(|(ads, _)| ads).sum(), "ad");
        let limit = guard_limit("--allow-far-prices", allowed);
        let named = self.first.join("\n  ");
        let more = far - self.first.len() as u64;
        let more = if more > 0 { format!("\n  … and {} more", grouped(more)) } else { String::new() };
        let message = format!(
            "{} of {all} would get less than half or more than double of their price, or lose it; that is more than \
             {limit}; nothing was changed\n  {named}{more}",
            grouped(far)
        );
        Err(Failure::rejected(message)
            .hint("check the unit, the currency and the decimal mark of the column of the price")
            .hint(format!("to allow it: --allow-far-prices {far}")))
    }
}

/// Whether a change leaves an ad without a price, or with one of the same currency that is far from that of now.
fn is_far_change(change: &Change) -> bool {
    let prices = |of: &Value| -> Vec<(String, Option<String>, f64)> {
        let text = |price: &Value, name: &str| Some(price.get(name)?.as_str()?.to_owned());
        let price =
            |price: &Value| Some((text(price, "type")?, text(price, "currency"), price.get("amount")?.as_f64()?));
        of.as_array().into_iter().flatten().filter_map(price).filter(|(.., amount)| *amount > 0.0).collect()
    };
    let (before, after) = (prices(&change.old), prices(&change.new));
    let is_far_from_now = |(kind, currency, is): &(String, Option<String>, f64)| {
        let of = |kind: &str| before.iter().find(|(known, ..)| known == kind);
        let was = of(kind).or_else(|| of("list").filter(|_| kind == "reduced"));
        was.is_some_and(|(_, was_in, was)| (currency.is_none() || currency == was_in) && is_far(*was, *is))
    };
    let has_none = || change.new.as_array().is_none_or(Vec::is_empty);
    change.field == "price" && ((!before.is_empty() && has_none()) || after.iter().any(is_far_from_now))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(old: Value, new: Value) -> Change {
        Change { field: "price".to_owned(), old, new }
    }

    fn price(kind: &str, amount: u32, currency: &str) -> Value {
        json!({"type": kind, "amount": amount, "currency": currency})
    }

    #[test]
    fn a_price_is_far_below_half_above_double_and_if_there_is_none() {
        let list = |amount| json!([price("list", amount, "SEK")]);
        for (old, new, is) in [
            (list(610_900), list(61_090_000), true),
            (list(610_900), list(305_000), true),
            (list(610_900), list(306_000), false),
            (list(610_900), json!([]), true),
            (list(610_900), Value::Null, true),
            (list(610_900), json!([{"type": "call", "amount": 0, "currency": "SEK"}]), false),
            (list(610_900), json!([price("list", 61_090, "EUR")]), false),
            (list(610_900), json!([price("list", 610_900, "SEK"), price("reduced", 6, "SEK")]), true),
            (list(610_900), json!([price("leasing", 4_995, "SEK")]), false),
            (Value::Null, list(610_900), false),
            (json!([]), list(610_900), false),
        ] {
            assert_eq!(is_far_change(&change(old.clone(), new.clone())), is, "{old} {new}");
        }
        let other = Change { field: "title".to_owned(), ..change(json!("a"), Value::Null) };
        assert!(!is_far_change(&other));
    }

    #[test]
    fn more_far_prices_than_usual_are_refused_and_the_first_are_named() {
        let mut prices = FarPrices::default();
        let far = [change(json!([price("list", 100, "SEK")]), json!([price("list", 10_000, "SEK")]))];
        (0..30).for_each(|id| prices.add("north-cars", &format!("L{id}"), if id < 3 { &far } else { &[] }));
        assert!(prices.check(None).is_ok());
        prices.add("north-cars", "L30", &far);
        (31..34).for_each(|id| prices.add("north-cars", &format!("L{id}"), &far));
        assert!(prices.check(Some(7)).is_ok());
        let Err(Failure::Explained { message, hints, .. }) = prices.check(None) else { panic!("it is refused") };
        assert!(message.starts_with("7 of 34 ads would get less than half"), "{message}");
        assert!(
            message.contains("\n  L0: list 100 → 10,000 SEK\n") && message.ends_with("\n  … and 2 more"),
            "{message}"
        );
        assert_eq!(hints.len(), 2);
        assert!(prices.check(Some(6)).unwrap_err().to_string().contains("more than --allow-far-prices 6"));
    }
}
