//! Units and dates of a draft: by evidence, or else as a question with the probable answer.

use ad_core::{fields::Kind, synonyms::names::Names};

use super::{DraftEntry, Question, Writer, money, quoted, set};
use crate::{
    inspect::{guess::field, look::ValueLook, names},
    mapping::{target, units},
};

/// The units of a field, each with words of column names that mean it.
type Units = &'static [(&'static str, &'static [&'static str])];

/// How a field is measured.
struct Measured {
    field: &'static str,
    units: Units,
    /// What half of the values of a file lie between, in each of its units.
    usual: &'static [(&'static str, f64, f64)],
}

const WEIGHT: Units = &[("kg", &["kg", "kilo"]), ("t", &["t", "ton", "tonnes"])];
const USUAL_WEIGHT: &[(&str, f64, f64)] = &[("kg", 100.0, 60_000.0), ("t", 0.1, 60.0)];

const CO2: &str = "category_fields.powertrain.environmental.co2_emission";

const MEASURED: &[Measured] = &[
    Measured {
        field: field::MILEAGE,
        units: &[
            ("mil", &["mil", "miltal"]),
            ("km", &["km", "kms", "kilometer", "kilometers", "kilometre", "kilometres", "kilometertal", "kilometrage"]),
            ("km", &["kilometerstand", "laufleistung", "tachostand", "kjorelengde", "ajokilometrit", "kilometrit"]),
            ("mi", &["mi", "miles", "mls"]),
        ],
        usual: &[("km", 3_000.0, 400_000.0), ("mil", 300.0, 40_000.0), ("mi", 2_000.0, 300_000.0)],
    },
    Measured {
        field: field::POWER,
        units: &[
            ("kw", &["kw", "kilowatt"]),
            (
                "hp",
                &[
                    "hk",
                    "hp",
                    "ps",
                    "bhp",
                    "cv",
                    "pk",
                    "ch",
                    "hv",
                    "hastkrafter",
                    "hestekrefter",
                    "horsepower",
                    "horses",
                ],
            ),
        ],
        usual: &[("hp", 20.0, 1_500.0), ("kw", 15.0, 1_100.0)],
    },
    Measured {
        field: field::DISPLACEMENT,
        units: &[
            ("cc", &["cc", "ccm", "cm3", "cm", "kubik", "cubic"]),
            ("l", &["l", "liter", "litre", "liters", "litres", "litraa"]),
        ],
        usual: &[("cc", 40.0, 20_000.0), ("l", 0.04, 30.0)],
    },
    Measured { field: "category_fields.physics.max_trailer_weight", units: WEIGHT, usual: USUAL_WEIGHT },
    Measured { field: "category_fields.physics.gross_weight", units: WEIGHT, usual: USUAL_WEIGHT },
    Measured { field: "category_fields.physics.curb_weight", units: WEIGHT, usual: USUAL_WEIGHT },
    Measured {
        field: "category_fields.powertrain.environmental.fuel_consumption",
        units: &[("l/100km", &["l100km"])],
        usual: &[("l/100km", 1.5, 25.0)],
    },
    Measured {
        field: "category_fields.powertrain.environmental.driving_range",
        units: &[("km", &["km", "kilometer"])],
        usual: &[("km", 20.0, 2_000.0)],
    },
    Measured { field: CO2, units: &[("g/km", &["gkm"])], usual: &[("g/km", 5.0, 500.0)] },
    Measured {
        field: "category_fields.powertrain.environmental.battery_capacity",
        units: &[("kwh", &["kwh"])],
        usual: &[("kwh", 5.0, 250.0)],
    },
];

/// Counts, and what half of them lie between.
const COUNTS: &[(&str, f64, f64)] = &[
    (field::OWNERS, 0.0, 20.0),
    ("category_fields.physics.number_of_seats", 1.0, 20.0),
    ("category_fields.physics.number_of_doors", 1.0, 7.0),
];

/// Words of column names that are units which some fields do not have, or thousands.
const FOREIGN: &[&str] = &[
    "w", "watt", "wh", "ah", "mpg", "lmil", "kwh100km", "kwhmil", "tkm", "tusen", "thousand", "lb", "lbs", "mph",
    "miles", "mi", "mil", "nm",
];

/// Kilometres that a vehicle is usually driven in a year, at least and at most; a tenth of it in mil.
const YEARLY: (f64, f64) = (4_000.0, 45_000.0);

/// Fewest mileages from which their unit is inferred.
const ENOUGH: usize = 20;

/// Dates that programs write for none.
const NO_DATES: &[&str] =
    &["1900-01-0", "1899-12-3", "1970-01-01", "0001-01-01", "9999-12-31", "01.01.1900", "01.01.1970", "31.12.9999"];

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

impl Measured {
    /// The units of the field, each once.
    fn choices(&self) -> Vec<&'static str> {
        let mut units: Vec<&str> = self.units.iter().map(|(unit, _)| *unit).collect();
        units.dedup();
        units
    }
}

/// The units that a field may be given in.
pub(in crate::inspect) fn units_of(field: &str) -> Vec<&'static str> {
    MEASURED.iter().find(|it| it.field == field).map(Measured::choices).unwrap_or_default()
}

impl Writer<'_> {
    /// The unit of a measure, and whether its values are usual in it.
    pub(super) fn measure(&self, index: usize, line: &mut DraftEntry) {
        let numbers = &self.column(index).numbers;
        if let Some((_, least, most)) = COUNTS.iter().find(|(of, ..)| *of == line.field)
            && numbers.median().is_some_and(|median| median < *least || median > *most)
        {
            return line.ask(Question::Field, "Its values are unusual for this field. Is it another one?");
        }
        let Some(measured) = MEASURED.iter().find(|it| it.field == line.field) else {
            return self.other_measure(index, line);
        };
        let likely = self.written_unit(index, &measured.choices()).unwrap_or_else(|| self.likely_unit(index, measured));
        let is_only = measured.choices().len() == 1;
        // Fields of one unit are written without it.
        let option = |unit: &str| (!is_only).then(|| format!("unit = {}", set(unit, !numbers.after.is_empty())));
        match self.unit_of(index, measured) {
            Found::Unit(unit) if self.is_usual(index, measured, unit) => line.options.extend(option(unit)),
            Found::Unit(unit) => {
                line.options.extend(option(likely));
                line.ask(Question::Unit(likely.to_owned()), &format!(
                    "The name says {unit}, but the values are not usual in it. Is it {likely}? Thousands need scale = 1000."
                ));
            }
            Found::Beside(option) => line.options.push(option),
            Found::InValues => {}
            Found::Foreign(unit) => {
                line.options.extend(option(likely));
                // 10 km: 45 mil are 450 km, and 0.65 l/mil are 6.5 l/100km.
                line.options.extend((is_only && unit.ends_with("mil")).then(|| "scale = 10".to_owned()));
                line.ask(Question::Unit(likely.to_owned()), &format!(
                    "The file has the unit \"{unit}\", which the field does not have. Convert the values with scale, or leave the line out."
                ));
            }
            Found::Nothing if is_only => {
                let is_zero = line.field == CO2 && numbers.greatest == 0.0;
                let is_unknown = line.field != CO2 && !self.is_metric();
                if !is_zero && (is_unknown || !self.is_usual(index, measured, likely)) {
                    line.ask(
                        Question::Unit(likely.to_owned()),
                        &format!("Are the values in {likely}? Others are usual, too: mpg, l per mil, miles."),
                    );
                }
            }
            Found::Nothing => {
                line.options.extend(option(likely));
                match self.shows_unit(index, measured, likely) {
                    Some(why) => line.notes.push(why),
                    None => line.ask(
                        Question::Unit(likely.to_owned()),
                        &format!("Which unit is it: {}?", measured.choices().join(" or ")),
                    ),
                }
            }
        }
        if line.field == field::DISPLACEMENT {
            self.displacement_decimal(index, line);
        }
    }

    /// A measure of which nothing is known here has a unit only if its values say it.
    fn other_measure(&self, index: usize, line: &mut DraftEntry) {
        let Ok(target) = target::find(self.category, line.field) else { return };
        let numbers = &self.column(index).numbers;
        if let Kind::Measure { units, .. } = target.kind
            && units.len() > 1
            && !numbers.have_units()
        {
            let likely = self.written_unit(index, units).unwrap_or(units[0]);
            line.options.push(format!("unit = {}", set(likely, !numbers.after.is_empty())));
            line.ask(Question::Unit(likely.to_owned()), &format!("Which unit is it: {}?", units.join(" or ")));
        }
    }

    /// The unit that most of the values with a unit say.
    fn written_unit(&self, index: usize, units: &[&'static str]) -> Option<&'static str> {
        let mut said: Vec<_> = self.column(index).numbers.after.iter().collect();
        said.sort_by(|(one, count), (other, other_count)| other_count.cmp(count).then(one.cmp(other)));
        said.into_iter().find_map(|(text, _)| units::resolve(text, units, &mut String::new()))
    }

    /// Whether the values, or for mileages what is driven in a year, are usual in a unit.
    fn is_usual(&self, index: usize, measured: &Measured, unit: &str) -> bool {
        if measured.field == field::MILEAGE
            && let Some(driven) = self.yearly(index)
        {
            return is_yearly(driven, unit);
        }
        let Some((_, least, most)) = measured.usual.iter().find(|(known, ..)| *known == unit) else { return true };
        let numbers = &self.column(index).numbers;
        let is_within = numbers.typical().is_none_or(|typical| typical >= *least && typical <= *most);
        // Of units that are thousands of each other, no value may be in the other one.
        is_within && (measured.field == field::MILEAGE || measured.choices().len() == 1 || numbers.are_from(*least))
    }

    /// The unit in which the values are usual.
    fn likely_unit(&self, index: usize, measured: &Measured) -> &'static str {
        let language = self.language_of_units();
        let is_likely = |unit: &&str| match *unit {
            "mi" => language == Some("en"),
            "km" if measured.field == field::MILEAGE => language != Some("en"),
            "mil" => matches!(language, Some("sv" | "nb")),
            "kw" => false,
            _ => true,
        };
        let units = || measured.choices().into_iter().filter(is_likely);
        let usual = units().find(|unit| self.is_usual(index, measured, unit));
        usual.or_else(|| units().next()).unwrap_or(measured.units[0].0)
    }

    /// Why the values show their unit by themselves.
    fn shows_unit(&self, index: usize, measured: &Measured, likely: &str) -> Option<String> {
        let numbers = &self.column(index).numbers;
        let is_shown = match measured.field {
            // Miles and kilometres have the same range; English files may have either.
            field::MILEAGE => self.is_metric() && self.yearly(index).is_some_and(|driven| is_yearly(driven, likely)),
            // Nothing has an engine of 40 litres or of 30 cubic centimetres.
            field::DISPLACEMENT if likely == "cc" => numbers.are_from(40.0),
            field::DISPLACEMENT => numbers.greatest < 30.0 && numbers.ambiguous == [0, 0],
            // English files may have pounds.
            field::POWER => false,
            _ => likely == "kg" && numbers.are_from(100.0) && self.is_metric(),
        };
        let age = if measured.field == field::MILEAGE { ", for the age of the vehicles," } else { "" };
        is_shown.then(|| format!("The values{age} are usual in {likely} only."))
    }

    /// What is typically driven in a year, in the unit that the column has.
    fn yearly(&self, index: usize) -> Option<f64> {
        let years = &self.column(self.guessed.column_of(field::YEAR)?).numbers;
        let values = &self.column(index).numbers;
        (values.kept.len() >= ENOUGH).then_some(())?;
        Some(values.median()? / (years.greatest - years.median()? + 1.0).max(1.0))
    }

    /// In litres, the separator before three digits is of decimals: 1.969 l.
    fn displacement_decimal(&self, index: usize, line: &mut DraftEntry) {
        let numbers = &self.column(index).numbers;
        let is_litres =
            line.unit().as_deref() == Some("l") || numbers.suffix().is_some_and(|unit| unit.starts_with(['l', 'L']));
        let [points, commas] = numbers.ambiguous;
        let mark = match (points > 0, commas > 0) {
            (false, false) => return,
            (true, true) => {
                line.ask(Question::Decimal, "Which separator is of decimals: \",\" or \".\"?");
                ','
            }
            (has_points, _) if has_points == is_litres => '.',
            _ => ',',
        };
        line.options.push(format!("decimal = \"{mark}\""));
    }

    /// The language of the country whose units are usual: by the currency of the dealer, or else that of the file.
    fn language_of_units(&self) -> Option<&'static str> {
        self.known.currency.map_or_else(|| self.languages.of_file(), |currency| Some(money::language_of(currency)))
    }

    /// Whether metric units are usual.
    fn is_metric(&self) -> bool {
        self.language_of_units().is_some_and(|code| code != "en")
    }

    /// The unit from a column beside it, from its values, or from its name.
    fn unit_of(&self, index: usize, measured: &Measured) -> Found {
        let units = measured.choices();
        let meant = |text: &str| units::resolve(text, &units, &mut String::new());
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
        if numbers.have_units() {
            return Found::InValues;
        }
        let name = &self.seen.names[index];
        let says = |words: &[&str]| names::has_word(name, words) || names::has_brackets(name, words);
        let named = measured.units.iter().find(|(_, words)| says(words));
        let is_foreign =
            |unit: &&&str| says(&[**unit]) && !measured.units.iter().any(|(_, words)| words.contains(*unit));
        match (FOREIGN.iter().find(is_foreign), named) {
            (Some(foreign), _) => Found::Foreign((*foreign).to_owned()),
            (None, Some((unit, _))) => Found::Unit(unit),
            (None, None) => Found::Nothing,
        }
    }

    /// The column with the unit or currency of a column.
    pub(super) fn beside(&self, index: usize, is_it: fn(&str) -> bool) -> Option<usize> {
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

    pub(super) fn date(&self, index: usize, line: &mut DraftEntry) {
        let column = self.column(index);
        if column.share(ValueLook::Month) > column.share(ValueLook::Date) {
            return line
                .ask(Question::NoDay, "Its dates have no day, but the field needs full dates. Should it be left out?");
        }
        let is_none = |text: &&str| NO_DATES.iter().any(|none| text.starts_with(none));
        let none: Vec<&str> = column.distinct.keys().map(|text| &**text).filter(is_none).collect();
        if !none.is_empty() {
            let none: Vec<String> = none.into_iter().map(|text| format!("{} = \"\"", quoted(text))).collect();
            line.options.push(format!("values = {{ {} }}", none.join(", ")));
            line.notes.push("Programs write these dates for none.".to_owned());
        }
        let Some((form, is_certain)) = column.dates.form() else { return };
        line.options.push(format!("date = {}", quoted(&form)));
        if !is_certain {
            line.ask(
                Question::DayMonth(form.clone()),
                "Day and month cannot be told apart in any value. Is this the format of its dates?",
            );
        }
    }
}

/// Whether what is driven in a year is usual in a unit.
fn is_yearly(driven: f64, unit: &str) -> bool {
    let kilometres = match unit {
        "mil" => 10.0,
        "mi" => 1.609,
        _ => 1.0,
    };
    driven * kilometres >= YEARLY.0 && driven * kilometres <= YEARLY.1
}
