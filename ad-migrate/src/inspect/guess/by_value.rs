//! What the values of a column say: whether they are what its name says, and what they look like.

use super::{Match, field};
use crate::inspect::{column::ColumnStatistics, look::ValueLook};

/// By how much the values change the confidence in a field, and why.
pub(super) fn agreement(of: &str, column: &ColumnStatistics) -> (i16, String) {
    if column.values == 0 {
        return (-40, "no values".to_owned());
    }
    if of == field::MODEL
        && let Some(share) = column.models_share()
    {
        let change = match share {
            80.. => 6,
            50..80 => 2,
            20..50 => -20,
            _ => -45,
        };
        return (change, format!("{share} % are models of the brands beside them"));
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
        field::URL if column.share(ValueLook::Pictures) >= 50 => {
            return (-60, "its addresses are those of images".to_owned());
        }
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
pub(super) fn by_look(column: &ColumnStatistics, index: usize, rows: u32) -> Vec<Match> {
    let mut found = Vec::new();
    let mut add = |field: &'static str, confidence: u8, why: String| {
        found.push(Match { field, confidence, why, by_name: false, rival: None, doubt: None });
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
        if matches!(look, ValueLook::SwedishPlate | ValueLook::Plate) && column.begins_alike() {
            continue;
        }
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
    if is_text && column.share(ValueLook::Date) < 50 && column.repeated == 0 && column.has_lists() {
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
