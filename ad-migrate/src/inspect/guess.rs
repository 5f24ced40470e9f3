//! Guesses the field of each column from its name and its values. A field goes to the column with the highest confidence.

use super::{
    column::ColumnStatistics,
    look::{Terms, ValueLook},
    names::{self, NameGuess},
};

/// Guesses with a lower confidence are comments in the draft.
const SURE: u8 = 60;

/// The same for guesses that the name of the column does not support.
const SURE_BY_VALUES: u8 = 80;

/// Two columns whose confidences differ by less may both be the field.
const CLOSE: u8 = 4;

/// Words in names of columns of vehicle types.
const VEHICLE_TYPE_NAMES: &[&[&str]] = &[
    &["typ", "type", "art", "fordonstyp", "fordonsslag", "fahrzeugart", "vehicletype"],
    &["kategori", "category", "kategorie"],
];

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
    let mut candidates: Vec<(usize, Match)> = Vec::new();
    for (index, (header, column)) in names.iter().zip(columns).enumerate() {
        let looks = by_look(column, index, rows);
        let said = names::guess_by_name(header);
        let agreed = said.as_ref().map(|said| by_name(said, column));
        for mut look in looks {
            match &agreed {
                Some(name) if name.field == look.field => {}
                // The name takes precedence, unless the values contradict it.
                Some(name) if name.confidence >= SURE => look.confidence = look.confidence.min(name.confidence / 2),
                _ => {}
            }
            candidates.push((index, look));
        }
        candidates.extend(agreed.map(|named| (index, named)));
    }
    let vehicle = vehicle(names, columns, terms);
    candidates.retain(|(index, _)| Some(*index) != vehicle);
    let mut guessed = assign(candidates, columns.len());
    guessed.vehicle = vehicle;
    model_beside_brand(&mut guessed, names, columns);
    guessed
}

/// Assigns each field to the column with the highest confidence.
fn assign(mut candidates: Vec<(usize, Match)>, count: usize) -> GuessedColumns {
    candidates.sort_by(|(at, one), (other_at, other)| other.confidence.cmp(&one.confidence).then(at.cmp(other_at)));
    let mut guessed = GuessedColumns { columns: vec![None; count], vehicle: None, images: Vec::new() };
    let mut taken_by: Vec<(&str, usize)> = Vec::new();
    for (index, found) in candidates {
        let is_image = found.field == field::IMAGES;
        // The power is often given twice, in hp and kW.
        if !is_image
            && found.field != field::POWER
            && found.by_name
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

/// The guess by name, with a confidence that depends on the values.
fn by_name(said: &NameGuess, column: &ColumnStatistics) -> Match {
    let (change, what) = agreement(said.field, column);
    let confidence = (i16::from(said.confidence) + change).clamp(5, 99);
    let why = if what.is_empty() { said.why.clone() } else { format!("{}; {what}", said.why) };
    let confidence = u8::try_from(confidence).unwrap_or(0);
    Match { field: said.field, confidence, why, by_name: true, rival: None }
}

/// By how much the values change the confidence in a field, and why.
fn agreement(of: &str, column: &ColumnStatistics) -> (i16, String) {
    if column.values == 0 {
        return (-40, "no values".to_owned());
    }
    let share = |looks: &[ValueLook]| looks.iter().map(|look| column.share(*look)).max().unwrap_or(0);
    let looks: (&[ValueLook], &str) = match of {
        field::VIN => (&[ValueLook::Vin], "VINs"),
        field::PLATE => (&[ValueLook::SwedishPlate, ValueLook::Plate], "plates"),
        field::BRAND => (&[ValueLook::Brand], "known brands"),
        field::FUELS => (&[ValueLook::Fuel], "known fuels"),
        field::GEARBOX => (&[ValueLook::Gearbox], "known gearboxes"),
        field::BODY_TYPE => (&[ValueLook::Body], "known body types"),
        field::COLOR => (&[ValueLook::Color], "known colours"),
        field::DRIVE => (&[ValueLook::Drive], "known drive types"),
        field::IMAGES => (&[ValueLook::Pictures, ValueLook::PictureNames, ValueLook::Address], "pictures"),
        field::URL | "video_url" => (&[ValueLook::Address], "addresses"),
        field::YEAR => (&[ValueLook::Year, ValueLook::Month, ValueLook::Date], "years"),
        field::SALESPERSON => (&[ValueLook::Email], "e-mail addresses"),
        field::VAT | field::NEW => (&[ValueLook::Boolean], "yes or no"),
        field::TRAFFIC | "category_fields.eu_check_last" | "category_fields.eu_check_next" => {
            (&[ValueLook::Date], "full dates")
        }
        _ if is_number(of) => (&[ValueLook::Number], "numbers"),
        _ => return (0, String::new()),
    };
    let share = share(looks.0);
    let free = matches!(of, field::COLOR | field::BODY_TYPE | field::PLATE);
    let change = match share {
        80.. => 6,
        50..80 => 2,
        _ if free => -10,
        20..50 => -20,
        _ => -45,
    };
    (change, format!("{share} % are {}", looks.1))
}

/// Whether a field of the dictionary is a number or a measure.
fn is_number(of: &str) -> bool {
    of.starts_with("price.")
        || of.starts_with("category_fields.powertrain.environmental.")
        || of.starts_with("category_fields.physics.")
        || matches!(of, field::MILEAGE | field::OWNERS | field::POWER | field::DISPLACEMENT)
}

/// Guesses from the values alone, without the column's name.
fn by_look(column: &ColumnStatistics, index: usize, rows: u32) -> Vec<Match> {
    let mut found = Vec::new();
    let mut add = |field: &'static str, confidence: u8, why: String| {
        found.push(Match { field, confidence, why, by_name: false, rival: None });
    };
    let is_code = column.longest() <= 2;
    for (look, field, confidence, what) in [
        (ValueLook::Vin, field::VIN, 90, "VINs"),
        (ValueLook::SwedishPlate, field::PLATE, 86, "Swedish plates"),
        (ValueLook::Plate, field::PLATE, 66, "similar to German plates"),
        (ValueLook::Pictures, field::IMAGES, 86, "addresses of images"),
        (ValueLook::PictureNames, field::IMAGES, 75, "file names of images"),
        (ValueLook::Brand, field::BRAND, 80, "known brands"),
        (ValueLook::Fuel, field::FUELS, 76, "known fuels"),
        (ValueLook::Gearbox, field::GEARBOX, 75, "known gearboxes"),
        (ValueLook::Body, field::BODY_TYPE, 73, "known body types"),
        (ValueLook::Color, field::COLOR, 72, "known colours"),
        (ValueLook::Drive, field::DRIVE, 70, "known drive types"),
        (ValueLook::Year, field::YEAR, 64, "years"),
        (ValueLook::Date, field::TRAFFIC, 61, "dates"),
        (ValueLook::Email, field::SALESPERSON, 40, "e-mail addresses"),
    ] {
        let share = column.share(look);
        if share >= 60 {
            // No other column has the words of fuels or gearboxes throughout.
            let is_certain = share >= 95 && matches!(look, ValueLook::Fuel | ValueLook::Gearbox);
            let confidence = match share {
                _ if is_certain => confidence + 8,
                80.. => confidence,
                _ => confidence - 12,
            };
            let confidence = if is_code { confidence / 2 } else { confidence };
            add(field, confidence, format!("{share} % are {what}"));
        }
    }
    if column.share(ValueLook::Prose).max(column.share(ValueLook::Html)) >= 50 {
        add(field::BODY, 72, "it contains sentences".to_owned());
    }
    numbers(column, &mut add);
    let is_text = column.share(ValueLook::Number) < 50
        && column.share(ValueLook::Pictures) == 0
        && column.share(ValueLook::Prose) < 50;
    if is_text
        && column.share(ValueLook::Date) < 50
        && column.repeated == 0
        && column.mark().is_some_and(|mark| mark != "/")
    {
        add(field::EQUIPMENT, 62, "it contains lists of words".to_owned());
    }
    let is_short = column.longest() <= 24 && !column.distinct.keys().any(|text| text.contains(' '));
    if column.is_unique() && column.filled == rows && rows > 1 && is_short && column.share(ValueLook::Vin) < 50 {
        let confidence = if index == 0 { 68 } else { 50 };
        add(field::SOURCE_ID, confidence, "unique in every row".to_owned());
    }
    found
}

/// Guesses by the size of numbers.
fn numbers(column: &ColumnStatistics, add: &mut impl FnMut(&'static str, u8, String)) {
    let numbers = &column.numbers;
    if column.share(ValueLook::Number) < 80
        || column.share(ValueLook::Year) >= 60
        || column.share(ValueLook::Date) >= 60
    {
        return;
    }
    let is_round = numbers.count > 0 && numbers.round * 100 / numbers.count >= 70;
    if is_round && numbers.greatest >= 10_000.0 {
        add(field::PRICE, 63, "large, round numbers like prices".to_owned());
    } else if numbers.greatest >= 2_000.0 && numbers.greatest <= 2_000_000.0 && column.distinct.len() > 3 {
        add(field::MILEAGE, 60, "numbers in the range of mileages".to_owned());
    } else if numbers.greatest >= 100.0 && numbers.greatest <= 1_200.0 && column.distinct.len() > 3 {
        add(field::POWER, 45, "numbers in the range of engine power".to_owned());
    } else if numbers.greatest <= 9.0 {
        add(field::OWNERS, 25, "small numbers: owners, doors or seats".to_owned());
    }
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
            Some(Match { field: field::MODEL, confidence: 66, why, by_name: false, rival: None });
    }
}
