//! `category-fields.md`: each row of each table, and the rules in their words.

mod registered;
mod row;
mod tables;
mod types;

pub(super) use types::{on_wheels, wheel_set};

use row::{Row, of_type, of_types, unknown};
use serde_json::json;
use tables::{COMMON, COMMON_BUT, COMMON_OWN, COMMON_SECTION};

use super::{
    request::{TYPES, fields, registered as registered_types, registered_and_created, validate_field},
    rule::{Rule, category_fields},
    says,
};

/// The sections of the document with the type and the table of each.
fn sections() -> Vec<(&'static str, &'static str, Vec<Row>)> {
    vec![
        ("Car", "car", tables::CAR.to_vec()),
        ("Transport", "transport", tables::transport()),
        ("Motorcycle", "motorcycle", tables::MOTORCYCLE.to_vec()),
        ("Moped", "moped", tables::MOPED.to_vec()),
        ("Snowmobile", "snowmobile", tables::snowmobile()),
        ("ATV", "atv", tables::snowmobile()),
        ("Camper", "camper", tables::CAMPER.to_vec()),
        ("Caravan", "caravan", tables::CARAVAN.to_vec()),
        ("Trailer", "trailer", tables::TRAILER.to_vec()),
        ("Boat", "boat", tables::BOAT.to_vec()),
        ("Bus", "bus", tables::BUS.to_vec()),
        ("Truck", "truck", tables::truck()),
        ("Agriculture Thresher", "agriculture-thresher", tables::THRESHER.to_vec()),
        ("Agriculture Tractor", "agriculture-tractor", tables::tractor()),
        ("Agriculture Tools", "agriculture-tools", tables::TOOLS.to_vec()),
        ("Construction", "construction", tables::CONSTRUCTION.to_vec()),
    ]
}

pub(super) fn rules() -> Vec<Rule> {
    let mut rules: Vec<_> = COMMON.iter().map(|row| of_types(COMMON_SECTION, registered_types(), *row)).collect();
    for row in COMMON_BUT {
        let types = registered_and_created().filter(|it| row.path != "model" || *it != "car");
        rules.push(of_types(COMMON_SECTION, types, *row));
    }
    for (section, vehicle_type, table) in sections() {
        rules.extend(table.iter().map(|row| of_type(section, vehicle_type, *row)));
    }
    rules.extend(TYPES.iter().map(|(vehicle_type, _)| nothing_else(vehicle_type)));
    rules.extend(registered::rules());
    rules.extend(types::rules());
    rules
}

/// A field that the table of a type does not have is unknown, whichever other type has it.
fn nothing_else(vehicle_type: &'static str) -> Rule {
    let sections = sections();
    let common = [COMMON, COMMON_BUT, COMMON_OWN].concat();
    let table_of = |vehicle_type: &str, table: &[Row]| {
        let mut table = table.to_vec();
        if ["car", "transport"].contains(&vehicle_type) {
            table.extend(tables::CAR_OWN);
        }
        if registered_types().any(|it| it == vehicle_type) {
            table.extend(&common);
        }
        table
    };
    let (section, _, table) =
        sections.iter().find(|(_, it, _)| *it == vehicle_type).expect("each type has its section");
    let all: Vec<_> = sections.iter().flat_map(|(_, it, table)| table_of(it, table)).collect();
    let (request, errors) = unknown(vehicle_type, &table_of(vehicle_type, table), &all);
    category_fields(section, "no other fields", "a field that is not in the table is unknown, at its full path")
        .decided(&[3])
        .refuses(request, errors)
        .refuses(unknown_of(vehicle_type), fields("mileages", json!([says::UNKNOWN, super::pattern::MORE])))
        .one_sided("what the table has is accepted by the rules of its rows")
}

fn unknown_of(vehicle_type: &'static str) -> super::request::Request {
    if vehicle_type == "trailer" {
        return super::request::patch("/v4/trailer/{trailer v4}", &fields("mileages", json!(1)));
    }
    validate_field(vehicle_type, "mileages", json!(1))
}
