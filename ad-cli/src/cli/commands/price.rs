//! `ad-cli price`: the price of an ad.

use serde_json::{Map, Number, Value, json};

use crate::{
    Ad, Price,
    bulk::Invocation,
    cli::{
        amount::{self, WrittenAmount},
        change::{self, ChangeArgs, Sending},
    },
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
AMOUNT may be written as 329900, \"329 900 kr\" or 329,900. Sets the list price, and removes a reduced price and \"call for the price\"; prices of other types, such as leasing, stay. With --reduced, the list price stays, and \
AMOUNT is the reduced price, which has to be lower. A price that is less than half or more than double the earlier one, and the first list \
price of an ad that has others, have to be confirmed on a terminal.

Examples:
  ad-cli price car-1 329900
  ad-cli price ABC123 309900 --reduced
  ad-cli price car-1 329900 --dry-run")]
pub(crate) struct PriceArgs {
    #[command(flatten)]
    change: ChangeArgs,
    /// Price in whole currency units, such as 329900
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    amount: WrittenAmount,
    /// Set the reduced price and keep the list price
    #[arg(long)]
    reduced: bool,
}

/// An amount; its place on the command line is easily mistaken for that of the ad.
fn amount(text: &str) -> Result<WrittenAmount, String> {
    amount::amount(text).map_err(|error| {
        if text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            format!("{error}; first the plate or source id, then the price: ad-cli price ABC123 329900")
        } else {
            error
        }
    })
}

pub(crate) async fn run(context: &Context, args: &PriceArgs) -> Result<(), Failure> {
    let decide = |ad: &Ad, _: Option<&_>| {
        check_currency(ad, &args.amount)?;
        prices(&ad.source_id, &ad.price, &args.amount.number, args.reduced)
    };
    change::change(context, Sending::of(&args.change), decide, change::rejected_fields).await
}

/// Refuses an amount in another currency than the ad has.
fn check_currency(ad: &Ad, amount: &WrittenAmount) -> Result<(), Failure> {
    let (Some(written), Some(price)) = (&amount.currency, ad.price.first()) else { return Ok(()) };
    if *written == price.currency {
        return Ok(());
    }
    Err(Failure::usage(format!("the prices of {} are in {}, not in {written}", ad.source_id, price.currency)))
}

/// The patch with all prices.
fn prices(source_id: &str, now: &[Price], amount: &Number, reduced: bool) -> Result<Map<String, Value>, Failure> {
    let list = now.iter().find(|price| price.kind == "list");
    let currency = list.or(now.first()).map(|price| price.currency.as_str());
    let kind = if reduced { "reduced" } else { "list" };
    if reduced {
        let list = list.ok_or_else(|| {
            Failure::usage(format!("{source_id} has no list price that could be reduced")).hint((
                "to set the list price",
                Invocation::new("price").with("source_id", source_id).with_some("amount", "AMOUNT"),
            ))
        })?;
        if list.amount.as_f64() <= amount.as_f64() {
            let (list, kept) = (&list.amount, &list.currency);
            return Err(Failure::usage(format!(
                "the reduced price {amount} is not below the list price {list} {kept}"
            ))
            .hint((
                "to set the list price",
                Invocation::new("price").with("source_id", source_id).with("amount", amount.clone()),
            )));
        }
    }
    let mut price = json!({"type": kind, "amount": amount});
    if let Some(currency) = currency {
        price["currency"] = json!(currency);
    }
    let replaced =
        |price: &&Price| price.kind == "reduced" || (!reduced && matches!(price.kind.as_str(), "list" | "call"));
    let kept = now.iter().filter(|price| !replaced(price)).map(|price| json!(price));
    let prices: Vec<_> =
        if reduced { kept.chain([price]).collect() } else { [price].into_iter().chain(kept).collect() };
    Ok(Map::from_iter([("price".to_owned(), Value::Array(prices))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(now: &Value, amount: &str, reduced: bool) -> Result<Value, String> {
        let now: Vec<Price> = serde_json::from_value(now.clone()).unwrap();
        let patch = prices("car-1", &now, &super::amount(amount).unwrap().number, reduced);
        patch.map(|patch| patch["price"].clone()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_price_replaces_its_own_kind_and_a_list_price_ends_a_reduction() {
        let list = json!({"type": "list", "amount": 349_900, "currency": "EUR"});
        let reduced = json!({"type": "reduced", "amount": 339_900, "currency": "EUR"});
        let leasing = json!({"type": "leasing", "amount": 3_990, "currency": "EUR"});
        let new = json!({"type": "list", "amount": 329_900, "currency": "EUR"});
        assert_eq!(decided(&json!([list, reduced, leasing]), "329900", false), Ok(json!([new, leasing])));
        let new = json!({"type": "reduced", "amount": 329_900, "currency": "EUR"});
        assert_eq!(decided(&json!([list, leasing]), "329900", true), Ok(json!([list, leasing, new])));
        let call = json!({"type": "call", "amount": 0, "currency": "EUR"});
        let new = json!({"type": "list", "amount": 329_900, "currency": "EUR"});
        assert_eq!(decided(&json!([call]), "329900", false), Ok(json!([new])));
        assert_eq!(decided(&json!([]), "100.50", false), Ok(json!([{"type": "list", "amount": 100.5}])));
        assert!(decided(&json!([leasing]), "1", true).unwrap_err().contains("no list price"));
        assert!(decided(&json!([list]), "349900", true).unwrap_err().contains("not below the list price 349900 EUR"));
    }
}
