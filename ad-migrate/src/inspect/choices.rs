//! What a person has decided about the columns of a file, and what is to be asked: as values, for programs with texts of their own.

use std::collections::BTreeMap;

use ad_core::{categories, fields::Kind, synonyms::names::Names};
use serde::{Deserialize, Serialize};

use super::{
    draft::units_of,
    guess::{GuessedColumns, Match, VEHICLE, field},
};
use crate::mapping::target;

/// What a person has decided about the columns of a file. It answers the questions about them: the draft uses them, with the probable
/// answers that it has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// The vehicle type of all rows, where no column has it.
    pub vehicle_type: Option<String>,
    /// The field of each column by its name; `None`: the column is not used. Columns that are not named are as guessed.
    pub columns: BTreeMap<String, Option<ChosenField>>,
    /// What unknown values mean, by the name of their value map: one value, or several.
    pub values: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Whether rows of vehicles that are not for sale are left out.
    pub skips_sold: bool,
}

/// A field, and the unit or currency of its values if the file does not show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenField {
    /// Its path, such as `category_fields.condition.mileage`; `[vehicle]` for the vehicle type.
    pub field: String,
    /// Such as `mil`, or `SEK`.
    pub unit: Option<String>,
}

/// What is uncertain about a column. The draft has its probable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Whether it is the field at all.
    Field,
    /// Whether another column is the field: its name.
    Rival(String),
    /// Whether its values keep from file to file, or occur once.
    Permanent,
    /// Whether its pictures are those of the vehicles.
    Pictures,
    /// Its pictures are names of files, without addresses. It cannot be used.
    PictureNames,
    /// Its unit: the probable one.
    Unit(String),
    /// Its currency: the probable one.
    Currency(String),
    /// Whether its amounts are in thousands.
    Thousands,
    /// Whether its amounts are in hundredths.
    Hundredths,
    /// Its decimal separator.
    Decimal,
    /// Whether the year of its dates is the model year.
    YearOfDate,
    /// Its dates have no day. It cannot be used.
    NoDay,
    /// Whether day and month are in this order.
    DayMonth(String),
    /// What its values mean.
    Values,
    /// How its lists are separated.
    List,
}

impl Question {
    /// Whether the column cannot be used, whatever is answered.
    pub(super) fn is_obstacle(&self) -> bool {
        matches!(self, Self::NoDay | Self::PictureNames)
    }
}

/// Values of a column that are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownValues {
    /// Name of the value map that [`Choices::values`] completes.
    pub map: String,
    /// The field of the column.
    pub field: String,
    /// Each with what it probably means, if that is known, and in how many rows it is.
    pub values: Vec<(String, Vec<String>, u32)>,
}

/// Rows of vehicles that are not for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldRows {
    /// The column that shows it.
    pub column: String,
    /// Its values.
    pub values: Vec<String>,
    /// Whether these are the values of vehicles that are for sale.
    pub is_kept: bool,
}

/// The fields of a vehicle type that columns of stock files usually have, in the order of the payload; each with the units that its
/// values may have. The first is `[vehicle]`, the vehicle type.
pub fn offered(vehicle_type: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let Some(category) = categories::by_vehicle_type(vehicle_type) else { return Vec::new() };
    let mut known: Vec<&'static str> =
        Names::builtin().columns().filter(|of| target::is_target(category, of)).collect();
    let places = target::places(category);
    let place = |of: &str| places.iter().position(|place| place == of);
    known.sort_by_key(|of| place(of).unwrap_or(usize::MAX));
    known.dedup();
    let units = |of: &'static str| -> Vec<&'static str> {
        if of.starts_with("price.") {
            return vec!["SEK", "EUR", "NOK", "DKK"];
        }
        let known = units_of(of);
        if !known.is_empty() {
            return known;
        }
        match target::find(category, of).map(|target| target.kind) {
            Ok(Kind::Measure { units, .. }) => units.to_vec(),
            _ => Vec::new(),
        }
    };
    let offered = known
        .into_iter()
        .map(|of| (of, units(of)))
        .map(|(of, units)| (of, if units.len() > 1 { units } else { Vec::new() }));
    [(VEHICLE, Vec::new())].into_iter().chain(offered).collect()
}

impl Choices {
    /// Replaces guesses by what was chosen.
    pub(super) fn decide(&self, guessed: &mut GuessedColumns, names: &[String]) {
        let chosen: Vec<(usize, Option<&'static str>)> = names
            .iter()
            .enumerate()
            .filter_map(|(index, name)| Some((index, self.columns.get(name)?.as_ref().and_then(|of| known(&of.field)))))
            .collect();
        for (index, of) in &chosen {
            let is_same = guessed.columns[*index].as_ref().map(|guess| guess.field) == *of && of.is_some();
            if guessed.vehicle == Some(*index) && *of != Some(VEHICLE) {
                guessed.vehicle = None;
            }
            match of {
                Some(VEHICLE) => (guessed.vehicle, guessed.columns[*index]) = (Some(*index), None),
                Some(of) if !is_same => {
                    let why = "it was chosen".to_owned();
                    let found = Match { field: of, confidence: 100, why, by_name: true, rival: None, doubt: None };
                    guessed.columns[*index] = Some(found);
                }
                Some(_) => {}
                None => guessed.columns[*index] = None,
            }
        }
        // A field has one column, unless it is a list of images; the one that was chosen.
        for (_, of) in chosen.iter().filter(|(_, of)| *of != Some(field::IMAGES)) {
            let Some(of) = of else { continue };
            let by = chosen.iter().find(|(_, other)| other == &Some(*of)).map(|(index, _)| *index);
            for (index, guess) in guessed.columns.iter_mut().enumerate() {
                if Some(index) != by && guess.as_ref().is_some_and(|guess| guess.field == *of) {
                    *guess = None;
                }
            }
        }
        let is_image = |guess: &Option<Match>| guess.as_ref().is_some_and(|guess| guess.field == field::IMAGES);
        guessed.images.clear();
        guessed
            .images
            .extend(guessed.columns.iter().enumerate().filter(|(_, guess)| is_image(guess)).map(|(at, _)| at));
    }

    /// The unit that was chosen for a column.
    pub(super) fn unit(&self, column: &str) -> Option<&str> {
        self.columns.get(column)?.as_ref()?.unit.as_deref()
    }
}

/// The field of this path, if columns may have it.
fn known(path: &str) -> Option<&'static str> {
    if path == VEHICLE { Some(VEHICLE) } else { Names::builtin().columns().find(|of| *of == path) }
}
