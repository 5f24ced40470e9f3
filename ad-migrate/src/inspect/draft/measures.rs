//! Units, currencies, decimal separators and dates of a draft: by evidence, or else as a question.

use ad_core::{synonyms::names::Names, written::currency};

use super::{DraftEntry, Writer, quoted};
use crate::{
    inspect::{guess::field, look::ValueLook, names},
    mapping::units,
};

/// The units of a field, each with words of column names that mean it.
type Units = &'static [(&'static str, &'static [&'static str])];

const MILEAGE: Units = &[
    ("mil", &["mil", "miltal"]),
    ("km", &["km", "kms", "kilometer", "kilometers", "kilometre", "kilometres", "kilometertal", "kilometrage"]),
    ("km", &["kilometerstand", "laufleistung", "tachostand", "kjorelengde", "ajokilometrit", "kilometrit"]),
];

const POWER: Units = &[
    ("kw", &["kw", "kilowatt"]),
    ("hp", &["hk", "hp", "ps", "bhp", "cv", "pk", "ch", "hv", "hastkrafter", "hestekrefter", "horsepower", "horses"]),
];

const DISPLACEMENT: Units = &[
    ("cc", &["cc", "ccm", "cm3", "cm", "kubik", "cubic"]),
    ("l", &["l", "liter", "litre", "liters", "litres", "litraa"]),
];

const WEIGHT: Units = &[("kg", &["kg", "kilo"]), ("t", &["t", "ton", "tonnes"])];

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

const CONSUMPTION: &str = "category_fields.powertrain.environmental.fuel_consumption";
const RANGE: &str = "category_fields.powertrain.environmental.driving_range";
const CO2: &str = "category_fields.powertrain.environmental.co2_emission";

/// Kilometres that a vehicle is usually driven in a year, at least and at most; a tenth of it in mil.
const YEARLY: (f64, f64) = (4_000.0, 45_000.0);

/// Fewest mileages from which their unit is inferred.
const ENOUGH: usize = 20;

/// What the file shows about a unit.
enum Found {
    /// The unit of all values.
    Unit(&'static str),
    /// The option of the mapping that names the column of the unit.
    Beside(String),
    InValues,
    /// The file contains a unit that the field does not have.
    Foreign(String),
    Nothing,
}

impl Writer<'_> {
    pub(super) fn mileage(&mut self, index: usize, line: &mut DraftEntry) {
        let found = self.unit_of(index, MILEAGE);
        let yearly = self.yearly(index);
        let of_range = yearly.and_then(|yearly| match yearly {
            _ if yearly >= YEARLY.0 && yearly <= YEARLY.1 => Some("km"),
            _ if yearly * 10.0 >= YEARLY.0 && yearly * 10.0 <= YEARLY.1 => Some("mil"),
            _ => None,
        });
        match (found, of_range) {
            // A mil of ten kilometres that is driven ten times a usual mileage.
            (Found::Unit("mil"), Some("km")) => {
                line.options.push("unit = \"mil\"".to_owned());
                line.ask("The name says mil, but the values are usual for km. Which unit is it?");
            }
            // Miles and kilometres have the same range; English files may have either.
            (Found::Nothing, Some(unit)) if self.is_metric() => {
                line.options.push(format!("unit = \"{unit}\""));
                line.notes.push(format!("The values, for the age of the vehicles, are usual in {unit} only."));
            }
            (found, _) => {
                let question = "Which unit has the mileage: \"km\" or \"mil\" (10 km)? Miles must be converted.";
                Self::unit(found, line, question);
            }
        }
    }

    /// The typical mileage of a year, in the unit that the column has.
    fn yearly(&self, index: usize) -> Option<f64> {
        let years = &self.column(self.guessed.column_of(field::YEAR)?).numbers;
        let values = &self.column(index).numbers;
        (values.kept.len() >= ENOUGH).then_some(())?;
        Some(values.median()? / (years.greatest - years.median()? + 1.0).max(1.0))
    }

    pub(super) fn power(&mut self, index: usize, line: &mut DraftEntry) {
        let found = self.unit_of(index, POWER);
        Self::unit(found, line, "Which unit has the power: \"hp\" or \"kw\"?");
    }

    pub(super) fn displacement(&mut self, index: usize, line: &mut DraftEntry) {
        let numbers = &self.column(index).numbers;
        let found = match self.unit_of(index, DISPLACEMENT) {
            // Nothing has an engine of 40 litres or of 30 cubic centimetres.
            Found::Nothing if numbers.are_from(40.0) => Found::Unit("cc"),
            Found::Nothing if numbers.greatest < 30.0 && numbers.ambiguous == [0, 0] => Found::Unit("l"),
            found => found,
        };
        let is_litres = matches!(found, Found::Unit("l"))
            || (matches!(found, Found::InValues) && numbers.suffix().is_some_and(|unit| unit.starts_with(['l', 'L'])));
        let [points, commas] = numbers.ambiguous;
        Self::unit(found, line, "Which unit has the displacement: \"cc\" or \"l\"?");
        // In litres, the separator before three digits is of decimals: 1.969 l.
        let mark = match (points > 0, commas > 0) {
            (true, true) => return line.ask("Which separator is of decimals: \",\" or \".\"?"),
            (false, false) => return,
            (has_points, _) if has_points == is_litres => '.',
            _ => ',',
        };
        line.options.push(format!("decimal = \"{mark}\""));
    }

    pub(super) fn weight(&mut self, index: usize, line: &mut DraftEntry) {
        let found = match self.unit_of(index, WEIGHT) {
            // English files may have pounds.
            Found::Nothing if self.column(index).numbers.are_from(100.0) && self.is_metric() => Found::Unit("kg"),
            found => found,
        };
        Self::unit(found, line, "Which unit has the weight: \"kg\" or \"t\"?");
    }

    fn unit(found: Found, line: &mut DraftEntry, question: &str) {
        match found {
            Found::Unit(unit) => line.options.push(format!("unit = \"{unit}\"")),
            Found::Beside(option) => line.options.push(option),
            Found::InValues => {}
            Found::Foreign(unit) => {
                line.ask(&format!(
                    "The file has the unit \"{unit}\", which the field does not have. How is it converted?"
                ));
            }
            Found::Nothing => {
                line.options.push("unit = \"…\"".to_owned());
                line.ask(question);
            }
        }
    }

    /// Whether the language of the file shows that it has metric units.
    fn is_metric(&self) -> bool {
        self.language.code().is_some_and(|code| code != "en")
    }

    /// Consumption, range and the like, which have one unit in the contract and others in files.
    pub(super) fn environment(&self, index: usize, line: &mut DraftEntry) {
        let (least, most, unit) = match line.field {
            CONSUMPTION => (1.5, 25.0, "l/100km"),
            RANGE => (10.0, 2_000.0, "km"),
            CO2 => (0.0, 500.0, "g/km"),
            _ => return,
        };
        let numbers = &self.column(index).numbers;
        let foreign = numbers.after.keys().find(|text| units::find(text, &[unit], &mut String::new()).is_none());
        if let Some(foreign) = foreign {
            line.ask(&format!(
                "The file has the unit \"{foreign}\", but the field is in {unit}. Should it be left out?"
            ));
        } else if !numbers.are_from(least) || numbers.greatest > most || (line.field != CO2 && !self.is_metric()) {
            line.ask(&format!("Are the values in {unit}? Others are usual, too: mpg, l per mil, miles."));
        }
    }

    /// The unit from a column beside it, from its values, or from its name.
    fn unit_of(&self, index: usize, units: Units) -> Found {
        let known: Vec<&'static str> = units.iter().map(|(unit, _)| *unit).collect();
        let meant = |text: &str| units::find(text, &known, &mut String::new());
        if let Some(beside) = self.beside(index, names::is_unit) {
            let values = &self.column(beside).distinct;
            let foreign = values.keys().find(|text| meant(text).is_none());
            // In a flat file, the unit may be of another column.
            let is_other = |text: &str| Names::builtin().unit(text, &mut String::new()).is_some();
            match foreign {
                None if !values.is_empty() => {
                    return Found::Beside(format!("unit = {{ column = {} }}", self.from(beside)));
                }
                Some(foreign) if !is_other(foreign) => return Found::Foreign(foreign.to_string()),
                _ => {}
            }
        }
        let numbers = &self.column(index).numbers;
        let foreign = numbers.after.keys().find(|text| text.chars().any(char::is_alphabetic) && meant(text).is_none());
        if let Some(foreign) = foreign {
            return Found::Foreign(foreign.to_string());
        }
        if !numbers.after.is_empty() {
            let with: u32 = numbers.after.values().sum();
            // Values without a unit, among others that have one, are refused row by row.
            return if with * 2 > numbers.count { Found::InValues } else { Found::Nothing };
        }
        let named = units.iter().find(|(_, words)| names::has_word(&self.seen.names[index], words));
        named.map_or(Found::Nothing, |(unit, _)| Found::Unit(unit))
    }

    /// The column with the unit or currency of a column.
    fn beside(&self, index: usize, is_it: fn(&str) -> bool) -> Option<usize> {
        let name = &self.seen.names[index];
        let around = names::around(name);
        let is_beside = |other: &str| {
            let of = names::around(other);
            // `pris/@valuta` of `pris`, `odometer.unit` of `odometer.value`, and any column of a flat file.
            of == name || (of == around && (!around.is_empty() || of.is_empty()))
        };
        // The nearest one behind the column, then any: `Mätarställning;Enhet`.
        let all = self.seen.names.iter().enumerate().filter(|(_, other)| is_it(other) && is_beside(other));
        all.map(|(at, _)| at).min_by_key(|at| if *at > index { at - index } else { 1000 + index - at })
    }

    pub(super) fn price(&mut self, index: usize, line: &mut DraftEntry) {
        let name = self.seen.names[index].clone();
        let beside = self.beside(index, names::is_currency).or_else(|| self.currencies_beside(index));
        if let Some(beside) = beside {
            line.options.push(format!("currency = {{ column = {} }}", self.from(beside)));
            if self.column(beside).filled < self.column(index).filled {
                line.ask("Some prices have no currency. In which currency are they?");
            }
            return;
        }
        let numbers = &self.column(index).numbers;
        let codes: Vec<(&'static str, u32)> =
            numbers.signs.iter().filter_map(|(sign, count)| Some((currency::of_sign(sign)?, *count))).collect();
        let with_code: u32 = codes.iter().filter(|(code, _)| !code.is_empty()).map(|(_, count)| count).sum();
        let has_kr = numbers.signs.keys().any(|sign| sign.to_lowercase().starts_with("kr"));
        let of_language =
            KRONER.iter().find(|(code, _)| self.language.code() == Some(code)).map(|(_, currency)| *currency);
        let named = CURRENCIES.iter().find(|(_, words)| names::has_word(&name, words)).map(|(code, _)| *code);
        let named =
            named.or_else(|| name.contains('€').then_some("EUR")).or_else(|| name.contains('£').then_some("GBP"));
        if let Some(named) = named {
            line.options.push(format!("currency = \"{named}\""));
        } else if with_code == numbers.count && with_code > 0 {
            line.notes.push("Each value contains its currency.".to_owned());
        } else if with_code > 0 {
            line.ask("Some prices contain a currency and others none. In which currency are the others?");
        } else if let Some(currency) = of_language.filter(|currency| has_kr || *currency == "SEK") {
            line.options.push(format!("currency = \"{currency}\""));
            line.notes.push(format!("The currency is that of the file's language; check that it is {currency}."));
        } else {
            line.options.push("currency = \"…\"".to_owned());
            line.ask("In which currency are the prices? Without one, they are in the dealer's.");
        }
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
        let is_comma = match (with_point, with_comma) {
            (true, true) => return line.ask("Which separator is of decimals: \",\" or \".\"?"),
            (false, false) if points > 0 && commas > 0 => {
                return line.ask("Both \",\" and \".\" stand before three digits. Which is the decimal separator?");
            }
            // A price or mileage of thousands with three decimals is none.
            (false, false) => points > 0,
            (_, with_comma) => with_comma,
        };
        line.options.push(format!("decimal = \"{}\"", if is_comma { ',' } else { '.' }));
    }

    pub(super) fn date(&mut self, index: usize, line: &mut DraftEntry) {
        let column = self.column(index);
        if column.share(ValueLook::Month) > column.share(ValueLook::Date) {
            return line.ask("Its dates have no day, but the field needs full dates. Should it be left out?");
        }
        let Some((form, is_certain)) = column.dates.form() else { return };
        line.options.push(format!("date = {}", quoted(&form)));
        if !is_certain {
            line.ask("Day and month cannot be told apart in any value. Is this the format of its dates?");
        }
    }
}
