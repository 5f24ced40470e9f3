//! What an ad needs and the draft does not supply.

use ad_core::categories::Heading;

use super::{Writer, rows::SoldColumn};
use crate::inspect::{guess::field, names};

impl Writer<'_> {
    /// Lists what an ad of the category needs and the draft does not supply.
    pub(super) fn requirements(&mut self) {
        let mut missing: Vec<String> = Vec::new();
        let mut need = |field: &str, what: &str| {
            if !self.has(field) {
                missing.push(format!("{what}: {field} is required, but no column is certain."));
            }
        };
        need(field::SOURCE_ID, "Your own identifier");
        for required in self.category.fields().filter(|row| row.required && !row.path.contains("wheels")) {
            need(&format!("category_fields.{}", required.path), required.doc);
        }
        if self.category.heading == Heading::Required {
            need("title", "A title");
            need("contact.email", "A contact");
        }
        let lacks_plate = self.category.registered && !self.has(field::PLATE);
        let advised = [
            (
                lacks_plate && !self.has(field::VIN),
                "A registration number or a VIN: an ad needs one of them, and the registration number links it to its listing.",
            ),
            (
                lacks_plate && self.has(field::VIN),
                "The registration number: without it, an ad cannot be linked to its existing listing.",
            ),
            (!self.mentions(field::IMAGES), "Images: without image_urls, the ads will have no images."),
            (!self.mentions(field::PRICE), "A price: price.list is optional, but usually expected."),
        ];
        missing.extend(advised.iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| (*what).to_owned()));
        missing.extend(self.maps.iter().map(|map| format!("{}: fill in [values.{}].", map.about, map.name)));
        if self.guessed.vehicle.is_none() {
            let of = self.category.vehicle_type.unwrap_or_default();
            missing.push(format!("The vehicle type: no column has one, so every row is taken for a {of}."));
        }
        missing.extend(self.sold().iter().map(SoldColumn::question));
        missing.extend(self.second_table());
        missing.append(&mut self.missing);
        self.missing = missing;
    }

    /// Columns that occur again behind the first ones, as those of a table beside another one do.
    fn second_table(&self) -> Option<String> {
        let is_again = |name: &&String| {
            let first = name.strip_suffix(" (2)").unwrap_or_default();
            names::guess_by_name(first).is_some() && self.seen.names.iter().any(|name| name == first)
        };
        let again: Vec<&str> = self.seen.names.iter().filter(is_again).map(String::as_str).collect();
        (again.len() > 2).then(|| {
            let names = again.join(", ");
            format!("There seems to be a second table beside the first one ({names}), whose rows are not read: put it into a file of its own.")
        })
    }
}
