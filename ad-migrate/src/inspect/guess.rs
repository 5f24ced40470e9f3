//! Guesses the field of each column from its name and its values. A field goes to the column with the highest confidence.

mod by_value;

use super::{
    choices::Question,
    column::ColumnStatistics,
    look::{Terms, ValueLook},
    names::{self, NameGuess, PictureSize},
};

use by_value::{agreement, by_look};

/// Guesses with a lower confidence are comments in the draft.
const SURE: u8 = 60;

/// The same for guesses that the name of the column does not support.
const SURE_BY_VALUES: u8 = 80;

/// Most confidence in a column whose name is not understood, by its values alone: other columns have such values, too.
const UNNAMED: u8 = 55;

/// The confidence in a model by the brands beside it.
const BESIDE_BRAND: u8 = 97;

/// Two columns whose confidences differ by less may both be the field.
const CLOSE: u8 = 4;

/// Words in names of columns of vehicle types.
const VEHICLE_TYPE_NAMES: &[&[&str]] = &[
    &["typ", "type", "art", "fordonstyp", "fordonsslag", "fahrzeugart", "vehicletype"],
    &["kategori", "category", "kategorie"],
];

/// What stands for the vehicle type in place of a field.
pub(super) const VEHICLE: &str = "[vehicle]";

/// The guessed field of a column.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) field: &'static str,
    pub(super) confidence: u8,
    pub(super) why: String,
    /// Whether the name of the column says so; otherwise its values look like it.
    pub(super) by_name: bool,
    /// Another column that may as well be the field.
    pub(super) rival: Option<usize>,
    /// What must be asked about it.
    pub(super) doubt: Option<(Question, &'static str)>,
}

impl Match {
    pub(super) fn is_sure(&self) -> bool {
        self.confidence >= if self.by_name { SURE } else { SURE_BY_VALUES }
    }
}

#[derive(Debug)]
pub(super) struct GuessedColumns {
    pub(super) columns: Vec<Option<Match>>,
    /// The column of vehicle types.
    pub(super) vehicle: Option<usize>,
    /// Indices of the columns with images.
    pub(super) images: Vec<usize>,
}

impl GuessedColumns {
    pub(super) fn column_of(&self, field: &str) -> Option<usize> {
        self.columns.iter().position(|guess| guess.as_ref().is_some_and(|guess| guess.field == field))
    }
}

/// Paths of fields that guesses name.
pub(super) mod field {
    pub(crate) const SOURCE_ID: &str = "source_id";
    pub(crate) const BODY: &str = "body";
    pub(crate) const IMAGES: &str = "image_urls";
    pub(crate) const URL: &str = "url";
    pub(crate) const PRICE: &str = "price.list";
    pub(crate) const PLATE: &str = "category_fields.registration_number";
    pub(crate) const VIN: &str = "category_fields.vin";
    pub(crate) const BRAND: &str = "category_fields.brand";
    pub(crate) const MODEL: &str = "category_fields.model";
    pub(crate) const YEAR: &str = "category_fields.model_year";
    pub(crate) const TRAFFIC: &str = "category_fields.in_traffic_date";
    pub(crate) const BODY_TYPE: &str = "category_fields.body_type";
    pub(crate) const COLOR: &str = "category_fields.color";
    pub(crate) const COLOR_GROUP: &str = "category_fields.color_group";
    pub(crate) const EQUIPMENT: &str = "category_fields.equipments";
    pub(crate) const SALESPERSON: &str = "category_fields.salesperson";
    pub(crate) const VAT: &str = "category_fields.is_vat_deductible";
    pub(crate) const NEW: &str = "category_fields.condition.is_new_vehicle";
    pub(crate) const MILEAGE: &str = "category_fields.condition.mileage";
    pub(crate) const OWNERS: &str = "category_fields.condition.number_of_owners";
    pub(crate) const FUELS: &str = "category_fields.powertrain.fuels";
    pub(crate) const GEARBOX: &str = "category_fields.powertrain.transmission";
    pub(crate) const DRIVE: &str = "category_fields.powertrain.drive_type";
    pub(crate) const POWER: &str = "category_fields.powertrain.power";
    pub(crate) const DISPLACEMENT: &str = "category_fields.powertrain.displacement";
}

pub(super) fn guess(names: &[String], columns: &[ColumnStatistics], rows: u32, terms: &mut Terms) -> GuessedColumns {
    let has_names = names.iter().any(|name| !name.bytes().all(|byte| byte.is_ascii_digit()));
    let mut candidates: Vec<(usize, Match)> = Vec::new();
    for (index, (header, column)) in names.iter().zip(columns).enumerate() {
        let said = names::guess_by_name(header);
        let agreed = said.as_ref().map(|said| by_name(said, column));
        for mut look in by_look(column, index, rows) {
            match &agreed {
                // The name says so with more certainty, or less.
                Some(name) if name.field == look.field => continue,
                // The name takes precedence, unless the values contradict it.
                Some(name) if name.confidence >= SURE => look.confidence = look.confidence.min(name.confidence / 2),
                _ => {}
            }
            if has_names {
                look.confidence = look.confidence.min(UNNAMED);
            }
            if look.field != field::IMAGES || !names::is_other_picture(header) {
                candidates.push((index, look));
            }
        }
        candidates.extend(model_by_brand(column, agreed.as_ref()).map(|found| (index, found)));
        candidates.extend(pictures_as_link(column, agreed.as_ref()).map(|found| (index, found)));
        candidates.extend(agreed.map(|named| (index, named)));
    }
    let vehicle = vehicle(names, columns, terms);
    candidates.retain(|(index, _)| Some(*index) != vehicle);
    let mut guessed = assign(candidates, columns.len(), has_names);
    guessed.vehicle = vehicle;
    other_price(&mut guessed, names, columns);
    largest_pictures(&mut guessed, names, columns);
    model_beside_brand(&mut guessed, names, columns);
    guessed
}

/// Assigns each field to the column with the highest confidence.
fn assign(mut candidates: Vec<(usize, Match)>, count: usize, has_names: bool) -> GuessedColumns {
    candidates.sort_by(|(at, one), (other_at, other)| other.confidence.cmp(&one.confidence).then(at.cmp(other_at)));
    let mut guessed = GuessedColumns { columns: vec![None; count], vehicle: None, images: Vec::new() };
    let mut taken_by: Vec<(&str, usize)> = Vec::new();
    for (index, found) in candidates {
        let is_image = found.field == field::IMAGES;
        // The power is often given twice, in hp and kW; and a model may be in two columns, with and without its brand.
        if !is_image
            && found.field != field::POWER
            && found.confidence != BESIDE_BRAND
            && (found.by_name || !has_names)
            && found.is_sure()
            && let Some((_, by)) = taken_by.iter().find(|(field, by)| *field == found.field && *by != index)
            && let Some(taken) = &mut guessed.columns[*by]
            && taken.confidence < found.confidence + CLOSE
        {
            taken.rival = taken.rival.or(Some(index));
        }
        let is_of_many = is_image && found.confidence >= SURE;
        let is_free = guessed.columns[index].is_none() && (is_of_many || guessed.column_of(found.field).is_none());
        if is_free && found.confidence >= 20 {
            if is_image {
                guessed.images.push(index);
            }
            taken_by.push((found.field, index));
            guessed.columns[index] = Some(found);
        }
    }
    guessed.images.sort_unstable();
    guessed
}

/// Another column that is named as a price, and not as another one than buyers pay, may be the price.
fn other_price(guessed: &mut GuessedColumns, names: &[String], columns: &[ColumnStatistics]) {
    let Some(price) = guessed.column_of(field::PRICE) else { return };
    let may_be = |index: &usize| {
        let has_field =
            guessed.columns[*index].as_ref().is_some_and(|guess| guess.field.starts_with("price.") && guess.is_sure());
        *index != price
            && !has_field
            && columns[*index].share(ValueLook::Number) >= 80
            && names::may_be_price(&names[*index])
    };
    let other = (0..names.len()).find(may_be);
    if let Some(found) = &mut guessed.columns[price] {
        found.rival = found.rival.or(other);
    }
}

/// Of several versions of the same pictures, only the largest are used.
fn largest_pictures(guessed: &mut GuessedColumns, names: &[String], columns: &[ColumnStatistics]) {
    let size = |index: &usize| match columns[*index].share(ValueLook::SmallPictures) {
        50.. => PictureSize::Small,
        _ => names::picture_size(&names[*index]),
    };
    let Some(largest) = guessed.images.iter().map(size).max() else { return };
    for index in guessed.images.iter().filter(|index| size(index) < largest) {
        guessed.columns[*index] = None;
    }
    guessed.images.retain(|index| size(index) == largest);
    for index in &guessed.images {
        let column = &columns[*index];
        let doubt = if largest == PictureSize::Small || column.share(ValueLook::SmallPictures) > 0 {
            Some("These are small versions of pictures. Does the file have larger ones?")
        } else {
            column.is_constant().then_some("All rows have the same picture. Is it one of the vehicle?")
        };
        let doubt = doubt.map(|text| (Question::Pictures, text));
        if let Some(found) = &mut guessed.columns[*index] {
            found.doubt = found.doubt.take().or(doubt);
        }
    }
}

/// A column of which nearly all values are models of the brands beside them is the model, whatever it is called.
fn model_by_brand(column: &ColumnStatistics, named: Option<&Match>) -> Option<Match> {
    let share = column.models_share().filter(|share| *share >= 80)?;
    if named.is_some_and(|named| named.field == field::MODEL) {
        return None;
    }
    // Numbers may be models, as of Peugeot, or what the name says.
    let is_number = column.share(ValueLook::Number) >= 80;
    let doubt = is_number.then_some((
        Question::Field,
        "Its values are models of the brands beside it, but numbers, too. Is it the model?",
    ));
    let why = format!("{share} % are models of the brands beside them");
    Some(Match { field: field::MODEL, confidence: BESIDE_BRAND, why, by_name: true, rival: None, doubt })
}

/// A column of links to pictures.
fn pictures_as_link(column: &ColumnStatistics, named: Option<&Match>) -> Option<Match> {
    named.filter(|named| named.field == field::URL && column.share(ValueLook::Pictures) >= 50)?;
    let why = "it is named as a link, and its addresses are those of images".to_owned();
    let doubt = Some((Question::Pictures, "The column is named as a link. Are its pictures those of the vehicle?"));
    Some(Match { field: field::IMAGES, confidence: SURE, why, by_name: true, rival: None, doubt })
}

/// The guess by name, with a confidence that depends on the values.
fn by_name(said: &NameGuess, column: &ColumnStatistics) -> Match {
    let (change, what) = agreement(said.field, column);
    let confidence = (i16::from(said.confidence) + change).clamp(5, 99);
    let why = if what.is_empty() { said.why.clone() } else { format!("{}; {what}", said.why) };
    let confidence = u8::try_from(confidence).unwrap_or(0);
    let doubt = match said.field {
        field::SOURCE_ID if column.is_numbered() => {
            let text = "Its values are the numbers of the rows. Does a vehicle keep its number in every export?";
            Some((Question::Permanent, text))
        }
        field::SOURCE_ID if column.values > 1 && !column.is_unique() => Some((
            Question::Permanent,
            "Several rows have the same value. Is it the permanent reference of one vehicle?",
        )),
        field::URL if column.is_constant() => {
            Some((Question::Field, "All rows have the same address. Is it that of the vehicle?"))
        }
        _ => None,
    };
    Match { field: said.field, confidence, why, by_name: true, rival: None, doubt }
}

fn vehicle(names: &[String], columns: &[ColumnStatistics], terms: &mut Terms) -> Option<usize> {
    let (mut all, words) = (names.iter().zip(columns), VEHICLE_TYPE_NAMES.concat());
    let index = all.position(|(name, column)| {
        let is_named = names::has_word(name, &words) && names::guess_by_name(name).is_none();
        is_named && column.share(ValueLook::VehicleType) >= 60
    })?;
    columns[index].distinct.keys().any(|text| terms.means(ValueLook::VehicleType, text).is_some()).then_some(index)
}

/// In files without names, guesses that the model follows the brand.
fn model_beside_brand(guessed: &mut GuessedColumns, names: &[String], columns: &[ColumnStatistics]) {
    let has_no_names = |index: usize| names[index].bytes().all(|byte| byte.is_ascii_digit());
    let Some(brand) = guessed.column_of(field::BRAND) else { return };
    if guessed.column_of(field::MODEL).is_some() || brand + 1 >= columns.len() || !has_no_names(brand + 1) {
        return;
    }
    let beside = &columns[brand + 1];
    let is_weak = guessed.columns[brand + 1].as_ref().is_none_or(|guess| guess.confidence < SURE);
    if is_weak && beside.filled > 0 && beside.longest() <= 40 && beside.share(ValueLook::Prose) == 0 {
        let why = "it follows the brand".to_owned();
        guessed.columns[brand + 1] =
            Some(Match { field: field::MODEL, confidence: 66, why, by_name: false, rival: None, doubt: None });
    }
}
