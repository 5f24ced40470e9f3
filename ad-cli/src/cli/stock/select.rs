//! `--select`: the same change of many ads, instead of a stock.

use ad_parameters::{FromParameters, SELECT_PARAMETERS};
use serde_json::{Map, Number, Value};

use crate::{
    AdQuery, BulkChange, Selection,
    cli::parameters::{as_sent, option},
    terminal::{Failure, Output},
};

#[derive(Debug, clap::Args)]
pub(crate) struct SelectArgs {
    /// Change the ads that pass this filter of `list`, such as status=live, instead of comparing a stock
    #[arg(id = "select", long = "select", value_name = "FILTER=VALUE", value_parser = filter)]
    filters: Vec<(String, String)>,
    /// Change list and reduced prices by this percentage, such as -5
    #[arg(long, value_name = "AMOUNT", value_parser = number, allow_negative_numbers = true, requires = "select")]
    price_percent: Option<Number>,
    /// Change list and reduced prices by this amount, such as -5000
    #[arg(long, value_name = "AMOUNT", value_parser = number, allow_negative_numbers = true, requires = "select", conflicts_with = "price_percent")]
    price_amount: Option<Number>,
    /// Round the new prices to a multiple of this amount
    #[arg(long, value_name = "AMOUNT", value_parser = number, conflicts_with = "set")]
    round: Option<Number>,
    /// Set these fields, a JSON object as in an update, such as {"visible": false}
    #[arg(long, value_name = "JSON", value_parser = object, requires = "select", conflicts_with_all = ["price_percent", "price_amount"])]
    set: Option<Map<String, Value>>,
}

/// Parses `FILTER=VALUE`. Filters may be written as parameters or as options.
pub(crate) fn filter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected FILTER=VALUE, such as status=live")?;
    let known = SELECT_PARAMETERS.iter().find(|known| option(known.name) == option(name));
    let name = known.map_or(name, |known| known.name);
    Ok((name.to_owned(), as_sent(name, value)))
}

fn number(text: &str) -> Result<Number, &'static str> {
    serde_json::from_str(text).map_err(|_| "expected a number, such as -5 or 2.5")
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("expected a JSON object, such as {{\"visible\": false}}: {error}"))
}

impl SelectArgs {
    /// What is selected, and the change; `None` without a filter.
    pub(super) fn selection(&self, out: Output) -> Result<Option<Selection>, Failure> {
        if self.filters.is_empty() {
            return Ok(None);
        }
        let named = |text: &str| format!("{}: {text}", out.argument("select"));
        let query = AdQuery::parse(SELECT_PARAMETERS, &self.filters).map_err(|errors| {
            let lines = errors.flatten().into_iter().map(|(name, message)| named(&format!("{name}: {message}")));
            Failure::usage(lines.collect::<Vec<_>>().join("\n       "))
        })?;
        let round = self.round.clone();
        let change = match (&self.price_percent, &self.price_amount, &self.set) {
            (Some(percent), ..) => BulkChange::Price { price_percent: percent.clone(), round },
            (None, Some(amount), _) => BulkChange::Amount { price_amount: amount.clone(), round },
            (None, None, Some(set)) => BulkChange::Set { set: set.clone() },
            (None, None, None) => {
                let ways = ["price_percent", "price_amount", "set"].map(|name| out.argument(name)).join(" or ");
                return Err(Failure::usage("no change of the selected ads").hint(format!("give {ways}")));
            }
        };
        Ok(Some(Selection { filters: query.filters, change }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_those_of_lists_in_either_spelling() {
        for text in ["source_id__in=a,b", "source_id_in=a,b", "source-id-in=a,b"] {
            assert_eq!(filter(text), Ok(("source_id__in".to_owned(), "a,b".to_owned())), "{text}");
        }
        assert_eq!(filter("brand=volvo"), Ok(("brand".to_owned(), "volvo".to_owned())), "the query refuses it");
        assert!(filter("live").is_err());
    }

    #[test]
    fn numbers_and_objects_are_json() {
        assert_eq!(number("-5"), Ok((-5).into()));
        assert_eq!(number("2.5").map(|number| number.to_string()), Ok("2.5".to_owned()));
        assert!(["", "5%", "1,5", "NaN", "\"5\""].into_iter().all(|text| number(text).is_err()));
        assert_eq!(object(r#"{"visible": false}"#).unwrap().len(), 1);
        assert!(object("visible=false").is_err() && object("[]").is_err());
    }
}
