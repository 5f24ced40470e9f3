//! Prices of a draft: currencies, separators of numbers, and whether the amounts are those of vehicles.

use ad_core::written::currency;

use super::{DraftEntry, Question, Writer, quoted};
use crate::inspect::{guess::field, names};

/// Currencies, each with words of column names that mean it.
const CURRENCIES: &[(&str, &[&str])] = &[
    ("SEK", &["sek"]),
    ("EUR", &["eur", "euro", "euros"]),
    ("NOK", &["nok"]),
    ("DKK", &["dkk"]),
    ("GBP", &["gbp", "pounds"]),
    ("USD", &["usd"]),
    ("CHF", &["chf"]),
    ("PLN", &["pln"]),
];

/// Languages whose country calls its own currency "kr".
const KRONER: &[(&str, &str)] = &[("sv", "SEK"), ("nb", "NOK"), ("da", "DKK")];

/// A language of the country of a currency.
pub(super) fn language_of(currency: &str) -> &'static str {
    let of_kroner = KRONER.iter().find(|(_, known)| *known == currency).map(|(language, _)| *language);
    of_kroner.unwrap_or(if matches!(currency, "GBP" | "USD") { "en" } else { "de" })
}

/// What half of the prices of a file lie between: in kronor and other currencies, in those of more worth, and of monthly rates.
const USUAL: (f64, f64) = (3_000.0, 5_000_000.0);
const USUAL_IN_EURO: (f64, f64) = (500.0, 600_000.0);
const USUAL_RATES: (f64, f64) = (50.0, 30_000.0);

impl Writer<'_> {
    pub(super) fn price(&self, index: usize, line: &mut DraftEntry) {
        let currency = self.currency(index, line);
        let numbers = &self.column(index).numbers;
        let (least, most) = match (line.field, currency) {
            (of, _) if of != field::PRICE => USUAL_RATES,
            (_, Some("SEK" | "NOK" | "DKK" | "PLN")) => USUAL,
            _ => USUAL_IN_EURO,
        };
        match numbers.typical() {
            Some(typical) if typical < least => {
                line.options.extend((line.field == field::PRICE).then(|| "scale = 1000".to_owned()));
                line.ask(Question::Thousands, "The amounts are small for vehicles. Are they in thousands?");
            }
            Some(typical) if typical > most => {
                line.options.extend((line.field == field::PRICE).then(|| "scale = 0.01".to_owned()));
                let text = "The amounts are large for this field. Are they in hundredths, such as öre or cents?";
                line.ask(Question::Hundredths, text);
            }
            _ => {}
        }
        if !numbers.zeros.is_empty() {
            let mut zeros: Vec<String> = numbers.zeros.iter().map(|text| format!("{} = \"\"", quoted(text))).collect();
            zeros.sort();
            line.options.push(format!("values = {{ {} }}", zeros.join(", ")));
            line.notes.push("An amount of 0 is taken for no price.".to_owned());
        }
    }

    /// The currency that all prices have, if it is known.
    fn currency(&self, index: usize, line: &mut DraftEntry) -> Option<&'static str> {
        let name = &self.seen.names[index];
        let beside = self.beside(index, names::is_currency).or_else(|| self.currencies_beside(index));
        if let Some(beside) = beside {
            line.options.push(format!("currency = {{ column = {} }}", self.from(beside)));
            if self.column(beside).filled < self.column(index).filled {
                let text = "Some prices have no currency. Without one, they are in the dealer's: is it that?";
                line.ask(Question::Currency(String::new()), text);
            }
            let mut codes = self.column(beside).distinct.keys();
            let first = codes.next().map(|code| currency::code(code));
            let known = |code: &str| CURRENCIES.iter().find(|(known, _)| *known == code).map(|(known, _)| *known);
            return first.filter(|_| codes.next().is_none()).and_then(|code| known(&code));
        }
        let numbers = &self.column(index).numbers;
        let codes: Vec<(&'static str, u32)> =
            numbers.signs.iter().filter_map(|(sign, count)| Some((currency::of_sign(sign)?, *count))).collect();
        let with_code: u32 = codes.iter().filter(|(code, _)| !code.is_empty()).map(|(_, count)| count).sum();
        let has_kr = numbers.signs.keys().any(|sign| sign.to_lowercase().starts_with("kr"));
        let language = self.languages.of_file();
        let of_language = KRONER.iter().find(|(code, _)| language == Some(code)).map(|(_, currency)| *currency);
        let named = CURRENCIES.iter().find(|(_, words)| names::has_word(name, words)).map(|(code, _)| *code);
        let named =
            named.or_else(|| name.contains('€').then_some("EUR")).or_else(|| name.contains('£').then_some("GBP"));
        if let Some(named) = named {
            line.options.push(format!("currency = \"{named}\""));
            return Some(named);
        }
        let most =
            codes.iter().filter(|(code, _)| !code.is_empty()).max_by_key(|(_, count)| *count).map(|(code, _)| *code);
        if with_code == numbers.count && with_code > 0 {
            line.notes.push("Each value contains its currency.".to_owned());
            return most.filter(|_| codes.len() == 1);
        }
        if let Some(most) = most {
            line.options.push(format!("currency = {{ default = \"{most}\" }}"));
            let text = "Some prices contain a currency and others none. In which currency are the others?";
            line.ask(Question::Currency(most.to_owned()), text);
            return None;
        }
        // Without a currency, they are in the dealer's, unless "kr" says that they are not.
        let says_kr = has_kr || names::has_word(name, &["kr", "kronor", "kroner"]);
        let is_its = |currency: &&str| !says_kr || KRONER.iter().any(|(_, known)| known == currency);
        if let Some(dealers) = self.known.currency.filter(is_its) {
            return CURRENCIES.iter().find(|(known, _)| *known == dealers).map(|(known, _)| *known);
        }
        if let Some(currency) = of_language.filter(|currency| has_kr || *currency == "SEK") {
            line.options.push(format!("currency = \"{currency}\""));
            line.notes.push(format!("The currency is that of the file's language; check that it is {currency}."));
            return Some(currency);
        }
        let likely = of_language.unwrap_or(if language == Some("en") { "GBP" } else { "EUR" });
        line.options.push(format!("currency = \"{likely}\""));
        let text = "In which currency are the prices? Without one, they are in the dealer's.";
        line.ask(Question::Currency(likely.to_owned()), text);
        Some(likely)
    }

    /// An adjacent column that contains only currencies.
    fn currencies_beside(&self, index: usize) -> Option<usize> {
        [index + 1, index.wrapping_sub(1)].into_iter().find(|near| {
            let column = self.seen.columns.get(*near).filter(|column| column.values > 0);
            let is_code = |text: &str| CURRENCIES.iter().any(|(code, _)| *code == text);
            column.is_some_and(|column| column.distinct.keys().all(|text| is_code(text)))
        })
    }

    /// The decimal separator of prices and mileages, if values are ambiguous.
    pub(super) fn decimal(&self, index: usize, line: &mut DraftEntry) {
        let numbers = &self.column(index).numbers;
        let is_number = line.field.starts_with("price.") || line.field == field::MILEAGE;
        let [points, commas] = numbers.ambiguous;
        if !is_number || points + commas == 0 {
            return;
        }
        let [with_point, with_comma] = numbers.decimal.map(|count| count > 0);
        // A price or mileage of thousands with three decimals is none: where a mark stands before three digits, the other one is of decimals.
        let is_comma = points > 0;
        line.options.push(format!("decimal = \"{}\"", if is_comma { ',' } else { '.' }));
        let is_contradicted = if is_comma { with_point || commas > 0 } else { with_comma };
        if is_contradicted {
            line.ask(Question::Decimal, "Both \",\" and \".\" may be of decimals. Which is the decimal separator?");
        }
    }
}
