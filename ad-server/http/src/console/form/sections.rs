//! The order of a form: which field is in which section.

use super::{
    super::texts::Texts,
    values::{FormField, fields, is_at_or_below},
};
use ad_core::categories::Category;

#[derive(Debug)]
pub(super) struct FormSection {
    pub(super) id: &'static str,
    pub(super) name: fn(&Texts) -> &'static str,
    /// Whether most ads leave it empty, so that it begins closed.
    pub(super) is_rare: bool,
    /// Paths at or below which its fields are. A field is in the section with the longest of them.
    paths: &'static [&'static str],
}

/// The fields of a vehicle that most ads have, in the order in which people say them: their last names. They stand in the first section.
const MAIN: &[&str] = &[
    "dealer_code",
    "registration_number",
    "title",
    "tools_category",
    "brand",
    "model",
    "model_type",
    "model_year",
    "body_type",
    "mileage",
    "engine_runtime",
    "fuels",
    "fuel",
    "transmission",
    "drive_type",
    "color_group",
];

/// The sections, in the order in which a form shows them.
#[rustfmt::skip]
static SECTIONS: &[FormSection] = &[
    FormSection { id: "vehicle", name: |texts| texts.section_vehicle, is_rare: false, paths: &["dealer_code", "title"] },
    FormSection { id: "price", name: |texts| texts.section_price, is_rare: false, paths: &["price"] },
    FormSection { id: "photos", name: |texts| texts.section_photos, is_rare: false, paths: &["image_urls"] },
    FormSection { id: "texts", name: |texts| texts.section_texts, is_rare: false, paths: &["body", "category_fields.equipments"] },
    FormSection { id: "contact", name: |texts| texts.section_contact, is_rare: false, paths: &["contact"] },
    FormSection { id: "more", name: |texts| texts.section_more, is_rare: true,
        paths: &["category_fields", "source_id", "category_fields.condition.is_new_vehicle", "category_fields.condition.number_of_owners"] },
    FormSection { id: "powertrain", name: |texts| texts.section_powertrain, is_rare: true, paths: &["category_fields.powertrain"] },
    FormSection { id: "environment", name: |texts| texts.section_environment, is_rare: true, paths: &["category_fields.powertrain.environmental"] },
    FormSection { id: "condition", name: |texts| texts.section_condition, is_rare: true, paths: &[
        "category_fields.condition", "category_fields.has_damages",
        "category_fields.damages_details", "category_fields.has_repairs", "category_fields.repairs_details", "category_fields.has_been_tuned",
        "category_fields.tuning_details", "category_fields.has_liabilities", "category_fields.liabilities_details",
        "category_fields.eu_check_last", "category_fields.eu_check_next"] },
    FormSection { id: "dimensions", name: |texts| texts.section_dimensions, is_rare: true, paths: &["category_fields.physics"] },
    FormSection { id: "terms", name: |texts| texts.section_terms, is_rare: true, paths: &[
        "url", "video_url", "product_declaration", "category_fields.product_declaration", "category_fields.warranty", "category_fields.return_policy",
        "category_fields.service_history", "category_fields.home_delivery", "category_fields.is_vat_deductible", "category_fields.online_purchasable"] },
    FormSection { id: "leasing", name: |texts| texts.section_leasing, is_rare: true, paths: &["category_fields.leasing_details"] },
    FormSection { id: "publication", name: |texts| texts.section_publication, is_rare: true,
        paths: &["location", "category_fields.salesperson", "category_fields.registration_number_hidden", "dont_publish_on_failed_images"] },
];

pub(super) fn sections(category: &Category, is_new: bool) -> Vec<(&'static FormSection, Vec<FormField>)> {
    let mut found: Vec<_> = SECTIONS.iter().map(|section| (section, Vec::new())).collect();
    for field in fields(category, is_new) {
        let path = field.path();
        let closest =
            || found.iter().enumerate().max_by_key(|(_, (section, _))| section.closeness(&path)).map(|(at, _)| at);
        let place = if main_place(&path).is_some() { Some(0) } else { closest() };
        if let Some((_, of_section)) = place.and_then(|place| found.get_mut(place)) {
            of_section.push(field);
        }
    }
    found[0].1.sort_by_key(|field| main_place(&field.path()));
    found.retain(|(_, fields)| !fields.is_empty());
    found
}

/// The place of a field among those of the first section.
fn main_place(path: &str) -> Option<usize> {
    MAIN.iter().position(|name| path.rsplit('.').next() == Some(name) && !path.starts_with("price"))
}

impl FormSection {
    /// Length of its longest path at or above a field's; 0 if it has none.
    fn closeness(&self, path: &str) -> usize {
        let is_above = |place: &&&str| is_at_or_below(path, place);
        self.paths.iter().filter(is_above).map(|place| place.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use ad_core::categories;

    use super::*;

    #[test]
    fn every_field_of_every_category_has_a_section_of_its_own_choice() {
        for (vehicle_type, category) in categories::typed() {
            for field in fields(category, true) {
                let path = field.path();
                let closest = SECTIONS.iter().map(|section| section.closeness(&path)).max();
                assert!(closest.is_some_and(|length| length > 0), "{vehicle_type} {path}");
            }
            let shown: usize = sections(category, true).iter().map(|(_, fields)| fields.len()).sum();
            assert_eq!(shown, fields(category, true).count(), "{vehicle_type}");
        }
    }

    #[test]
    fn every_path_of_a_section_is_one_of_a_field() {
        for place in SECTIONS.iter().flat_map(|section| section.paths) {
            let is_used = categories::typed().flat_map(|(_, category)| fields(category, true)).any(|field| {
                field.path().strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            assert!(is_used, "{place}");
        }
    }
}
