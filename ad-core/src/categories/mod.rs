//! The categories: one file each, with its table of fields, row for row as in the category fields document, and its rules over
//! several fields. Adding a category to [`all`] adds its endpoints, schema and lookups.

pub mod ad_fields;
mod agriculture_thresher;
mod agriculture_tools;
mod agriculture_tractor;
mod attributes;
mod atv;
mod boat;
mod bus;
mod camper;
mod car;
mod caravan;
mod category;
mod common;
mod construction;
mod lists;
pub mod location;
mod moped;
mod motorcycle;
pub mod price;
pub mod rules;
mod snowmobile;
mod trailer;
mod transport;
mod truck;
mod v3_only;

use serde_json::Value;

use crate::{
    fields,
    model::Ad,
    synonyms::{languages::Language, values},
    violation::nearest,
};
pub use attributes::humanised;
pub use category::{AdFacts, Category, Facts, FieldFacts, FromV3, Heading, Rule, RuleSettings, TRAILER};
pub use common::REGISTERED as COMMON_FIELDS;

/// The categories of V4, in the order of the documents.
static TYPED: [&Category; 16] = [
    &car::CAR,
    &transport::TRANSPORT,
    &motorcycle::MOTORCYCLE,
    &moped::MOPED,
    &snowmobile::SNOWMOBILE,
    &atv::ATV,
    &camper::CAMPER,
    &caravan::CARAVAN,
    &trailer::TRAILER,
    &boat::BOAT,
    &agriculture_thresher::AGRICULTURE_THRESHER,
    &agriculture_tractor::AGRICULTURE_TRACTOR,
    &agriculture_tools::AGRICULTURE_TOOLS,
    &bus::BUS,
    &truck::TRUCK,
    &construction::CONSTRUCTION,
];

/// Every category: those of V4 in the order of the documents, then those that V3 alone has.
pub fn all() -> impl Iterator<Item = &'static Category> + Clone {
    TYPED.iter().copied().chain(&v3_only::ALL)
}

/// The categories of V4 with their vehicle types.
pub fn typed() -> impl Iterator<Item = (&'static str, &'static Category)> + Clone {
    TYPED.iter().filter_map(|category| Some((category.vehicle_type?, *category)))
}

/// The category of an id.
pub fn by_id(id: u16) -> Option<&'static Category> {
    all().find(|category| category.id == id)
}

/// The category of a vehicle type.
pub fn by_vehicle_type(vehicle_type: &str) -> Option<&'static Category> {
    typed().find(|(known, _)| *known == vehicle_type).map(|(_, category)| category)
}

/// The id in a payload's `category_id`: a number or a numeric string (decision 5).
pub fn sent_id(sent: &Value) -> Option<u16> {
    fields::as_integer(sent).and_then(|id| u16::try_from(id).ok())
}

/// The number of the category that a text stands for: a vehicle type, or what another system calls it.
pub fn category_id(text: &str) -> Option<u16> {
    if text.len() > nearest::LONGEST {
        return None;
    }
    let known = values::named("vehicle")?.map("", Language::Any, |_| true).resolve(text);
    let name = known.as_deref().and_then(|names| names.first()).map_or(text, |name| &**name);
    by_vehicle_type(name).map(|category| category.id)
}

impl Category {
    /// The categories of V4 that an ad of V3 in this category may migrate to ('Endpoints' rule 7).
    pub fn targets(&self) -> impl Iterator<Item = (&'static str, &'static Category)> {
        let id = self.id;
        typed().filter(move |(_, category)| matches!(category.from_v3, FromV3::Migrates(from) if from.contains(&id)))
    }
}

impl Ad {
    /// The category of `category_id`; `None` if the number is unknown.
    pub fn category(&self) -> Option<&'static Category> {
        by_id(self.category_id)
    }
}

#[cfg(test)]
mod tests {
    use super::{category::is_at_or_below, *};
    use crate::{catalogue::Catalogue, model::ApiVersion};

    #[test]
    fn ids_and_types_are_unique_and_no_path_stands_in_a_table_twice() {
        for category in all() {
            assert_eq!(all().filter(|other| other.id == category.id).count(), 1);
            for field in category.fields() {
                let rows = category.fields().filter(|other| other.path == field.path).count();
                assert_eq!(rows, 1, "{category} {}", field.path);
                assert!(!field.doc.is_empty(), "{category} {} has no description", field.path);
            }
        }
        for (vehicle_type, _) in typed() {
            assert_eq!(typed().filter(|(other, _)| *other == vehicle_type).count(), 1);
        }
    }

    #[test]
    fn every_exception_leaves_something_out() {
        for rows in TYPED.iter().flat_map(|category| category.tables) {
            for place in rows.except {
                assert!(rows.rows.iter().any(|field| is_at_or_below(field.path, place)), "{place}");
            }
        }
    }

    #[test]
    fn v3_has_the_categories_of_the_table_and_they_become_what_it_says() {
        let of = |version| all().filter(|it| it.is_in(version)).map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(
            of(ApiVersion::V4),
            [1020, 1021, 1140, 1121, 1180, 1143, 1102, 1101, 1045, 1060, 1227, 1228, 1229, 1321, 1322, 1323]
        );
        assert_eq!(
            of(ApiVersion::V3),
            [
                1020, 1021, 1140, 1121, 1180, 1143, 1102, 1101, 1045, 1061, 1062, 1063, 1064, 1065, 1066, 1067, 1122,
                1221, 1222, 1223, 1224, 1225, 1226
            ]
        );
        let targets = |id| by_id(id).unwrap().targets().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(targets(1222), ["agriculture-thresher", "agriculture-tractor"]);
        assert_eq!(targets(1221), ["bus", "truck"]);
        assert_eq!(targets(1121), ["moped"]);
        for without in [1020, 1060, 1122, 1224] {
            assert!(targets(without).is_empty(), "{without}");
        }
        assert_eq!(by_id(1060).unwrap().found_under().count(), 8);
        assert_eq!(by_id(1101).unwrap().found_under().collect::<Vec<_>>(), [1101]);
    }

    #[test]
    fn an_id_is_sent_as_every_other_integer_or_as_a_numeric_text() {
        use serde_json::json;
        for sent in [json!(1020), json!(1020.0), json!("1020"), json!("1020.0")] {
            assert_eq!(sent_id(&sent), Some(1020), "{sent}");
        }
        for sent in [json!(1020.5), json!("car"), json!(" 1020"), json!(1e300), json!(-1), json!(null), json!([1020])] {
            assert_eq!(sent_id(&sent), None, "{sent}");
        }
    }

    #[test]
    fn attributes_are_the_fields_with_allowed_values_dotted_ones_too() {
        let catalogue = Catalogue::embedded();
        let car = by_vehicle_type("car").unwrap();
        let ids: Vec<_> = car.attributes().into_iter().map(|entry| entry.id).collect();
        for id in ["brand", "body_type", "color_group", "powertrain.fuels", "condition.wheels.name"] {
            assert!(ids.iter().any(|known| known == id), "{id}");
            assert!(!car.values(&catalogue, id).unwrap().is_empty(), "{id}");
        }
        assert!(!ids.iter().any(|id| id == "model"));
        let name = |id: &str| car.attributes().into_iter().find(|entry| entry.id == id).unwrap().name;
        assert_eq!(
            (name("powertrain.drive_type"), name("condition.wheels.name")),
            ("Drive type".into(), "Wheels name".into())
        );
        assert_eq!(car.values(&catalogue, "model_year"), None);
    }
}
