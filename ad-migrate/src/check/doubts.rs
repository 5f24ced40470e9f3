//! What is unlikely of a whole column, though each of its values is possible.

use std::collections::BTreeMap;

use ad_core::{model::Timestamp, violation::Code};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CountedFinding, profile::EvenSample};

/// What columns are compared by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Kilometres of a year, of used vehicles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yearly: Option<f64>,
    /// The currency of the list price; empty if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The length of the source id, if it is a number of a file that does not say how numbers are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_id: Option<usize>,
}

/// A doubt about a whole column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// The field of the ad.
    pub field: &'static str,
    /// What is unlikely about the column, in a sentence.
    pub message: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// Kilometres of a year that are usual for half of the vehicles of a file.
const YEARLY: (f64, f64) = (4_000.0, 40_000.0);

/// Fewest vehicles of which this can be said.
const ENOUGH: u64 = 20;

/// Most mileages that are kept of a column.
const MOST: usize = 400;

pub(super) fn year_of(now: Timestamp) -> Option<f64> {
    now.to_string().get(..4)?.parse().ok()
}

impl Figures {
    /// Of the fields of a valid ad, in a year.
    pub(super) fn of(ad: &Map<String, Value>, today: Option<f64>) -> Self {
        let fields = ad.get("category_fields").unwrap_or(&Value::Null);
        let mileage = &fields["condition"]["mileage"];
        let kilometres = match (mileage["value"].as_f64(), mileage["unit"].as_str()) {
            (Some(value), Some("mil")) => Some(value * 10.0),
            (Some(value), _) => Some(value),
            _ => None,
        };
        let year = fields["model_year"].as_f64();
        let age = year.zip(today).map(|(year, today)| (today - year + 1.0).max(1.0));
        let yearly =
            kilometres.filter(|kilometres| *kilometres > 0.0).zip(age).map(|(kilometres, age)| kilometres / age);
        let mut prices = ad.get("price").and_then(Value::as_array).into_iter().flatten();
        let list = prices.find(|price| price["type"] == "list");
        let currency = list.map(|price| price["currency"].as_str().unwrap_or_default().to_owned());
        Self { yearly, currency, bare_id: None }
    }
}

/// Findings about rows that, when many have them, are about the unit of a column: the code, and the field.
const OF_COLUMNS: [(Code, &str); 6] = [
    (Code::PriceInOre, "price"),
    (Code::PriceUnlikely, "price"),
    (Code::MileageUnlikely, "category_fields.condition.mileage"),
    (Code::MileageFraction, "category_fields.condition.mileage"),
    (Code::PowerUnlikely, "category_fields.powertrain.power"),
    (Code::DisplacementUnlikely, "category_fields.powertrain.displacement"),
];

/// The doubt about a column of which a fifth of the valid rows has such a finding: the others are probably wrong as well.
pub(super) fn of_rows(counted: &CountedFinding, valid: u64) -> Option<Doubt> {
    let (code, field) = OF_COLUMNS.into_iter().find(|(code, _)| *code == counted.code)?;
    (valid >= ENOUGH && counted.rows * 5 >= valid).then(|| Doubt {
        field,
        message: format!(
            "{} of {valid} valid rows have the warning \"{}\"; the other rows of the column are probably wrong, too.",
            counted.rows,
            code.about().title
        ),
        advice: "Compare some values with the vehicles: the unit, the decimal separator or the column may be another one.",
    })
}

/// The figures of all rows.
#[derive(Debug)]
pub(super) struct Doubts {
    yearly: EvenSample,
    currencies: BTreeMap<String, u64>,
    /// The shortest and the longest source id that may have lost zeros.
    bare_ids: Option<(usize, usize)>,
}

impl Default for Doubts {
    fn default() -> Self {
        Self { yearly: EvenSample::new(MOST), currencies: BTreeMap::new(), bare_ids: None }
    }
}

impl Doubts {
    pub(super) fn add(&mut self, figures: &Figures) {
        if let Some(yearly) = figures.yearly {
            self.yearly.add(yearly);
        }
        if let Some(currency) = &figures.currency {
            *self.currencies.entry(currency.clone()).or_default() += 1;
        }
        if let Some(length) = figures.bare_id {
            let (least, most) = self.bare_ids.unwrap_or((length, length));
            self.bare_ids = Some((least.min(length), most.max(length)));
        }
    }

    pub(super) fn end(self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let median = self.yearly.median().filter(|_| self.yearly.count() >= ENOUGH);
        if let Some(median) = median.filter(|median| *median < YEARLY.0 || *median > YEARLY.1) {
            let side = if median < YEARLY.0 { "less" } else { "more" };
            doubts.push(Doubt {
                field: "category_fields.condition.mileage",
                message: format!(
                    "Half of the vehicles were driven {side} than {median:.0} km a year; {:.0} to {:.0} are usual.",
                    YEARLY.0, YEARLY.1
                ),
                advice: "Compare some mileages with the vehicles: the unit may be mil (10 km), km, miles or thousands.",
            });
        }
        if let Some((least, most)) = self.bare_ids.filter(|(least, most)| least < most) {
            doubts.push(Doubt {
                field: "source_id",
                message: format!(
                    "The source ids are numbers of {least} to {most} digits, and this kind of file does not say whether they are shown with \
                     zeros before them."
                ),
                advice: "Compare some with the spreadsheet. If zeros are missing, save it as .xlsx: an id cannot be changed later.",
            });
        }
        if self.currencies.len() > 1 {
            let one = |(currency, rows): (&String, &u64)| {
                if currency.is_empty() { format!("{rows} in none") } else { format!("{rows} in {currency}") }
            };
            let all: Vec<String> = self.currencies.iter().map(one).collect();
            doubts.push(Doubt {
                field: "price",
                message: format!("The prices are in different currencies: {}.", all.join(", ")),
                advice: "Check that each is right. A price without a currency is taken to be in the dealer's.",
            });
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn doubts(rows: impl Iterator<Item = Value>) -> Vec<Doubt> {
        let year = year_of("2026-11-22T10:00:00Z".parse().unwrap());
        let mut doubts = Doubts::default();
        rows.for_each(|row| doubts.add(&Figures::of(row.as_object().unwrap(), year)));
        doubts.end()
    }

    fn ad(unit: &str, mileage: u64, currency: &str) -> Value {
        json!({
            "price": [{"type": "list", "amount": 100_000, "currency": currency}],
            "category_fields": {"model_year": 2019, "condition": {"mileage": {"unit": unit, "value": mileage}}},
        })
    }

    #[test]
    fn a_column_of_another_unit_or_of_several_currencies_is_doubted() {
        assert_eq!(doubts((0..30).map(|row| ad("km", 90_000 + row * 1000, "SEK"))), []);
        let in_mil = doubts((0..30).map(|row| ad("km", 9_000 + row * 100, "SEK")));
        assert!(in_mil.len() == 1 && in_mil[0].message.contains("less than 13"), "{in_mil:?}");
        let counted = |rows| CountedFinding { code: Code::PriceInOre, rows, examples: Vec::new() };
        assert!(of_rows(&counted(10), 40).is_some_and(|doubt| doubt.message.starts_with("10 of 40 valid rows")));
        assert_eq!((of_rows(&counted(2), 40), of_rows(&counted(10), 10)), (None, None));
        let mixed = doubts((0..30).map(|row| ad("mil", 9_000, if row < 3 { "EUR" } else { "SEK" })));
        assert!(mixed.len() == 1 && mixed[0].message.ends_with("3 in EUR, 27 in SEK."), "{mixed:?}");
    }
}
