//! Names of fields for people, in English and Swedish.

use super::super::texts::Language;

/// The name of a field, by its path.
pub(in crate::console) fn label(language: Language, path: &str) -> &str {
    let name = path.rsplit('.').next().unwrap_or(path);
    let Some((_, english, swedish)) = LABELS.iter().find(|(known, ..)| *known == name) else { return name };
    match language {
        Language::English => english,
        Language::Swedish => swedish,
    }
}

/// The last part of a path, its name in English and in Swedish.
#[rustfmt::skip]
const LABELS: &[(&str, &str, &str)] = &[
    ("additional_hydraulics", "Additional hydraulics", "Extra hydraulik"),
    ("amount", "Amount", "Belopp"),
    ("auxiliary_hydraulics_performance", "Auxiliary hydraulics performance", "Extrahydraulikens flöde"),
    ("axle_type", "Axles", "Axeltyp"),
    ("battery_capacity", "Battery capacity", "Batterikapacitet"),
    ("bed_type", "Beds", "Sängtyp"),
    ("body", "Ad text", "Annonstext"),
    ("body_type", "Body type", "Kaross"),
    ("boot_size", "Boot volume", "Lastvolym"),
    ("box_length", "Box length", "Flakets längd"),
    ("box_type", "Box", "Påbyggnad"),
    ("brand", "Brand", "Märke"),
    ("cab_type", "Cab", "Hyttyp"),
    ("cabin_type", "Cab", "Hyttyp"),
    ("cargo_weight", "Cargo weight", "Lastvikt"),
    ("ce_marked", "CE marked", "CE-märkt"),
    ("chassis_type", "Chassis", "Chassityp"),
    ("co2_emission", "CO₂ emissions", "Koldioxidutsläpp"),
    ("color", "Colour", "Färg"),
    ("color_group", "Colour group", "Färggrupp"),
    ("curb_weight", "Kerb weight", "Tjänstevikt"),
    ("currency", "Currency", "Valuta"),
    ("damages_details", "Description of damage", "Beskrivning av skador"),
    ("dealer_code", "Dealer", "Handlare"),
    ("depth", "Depth", "Djup"),
    ("displacement", "Engine displacement", "Slagvolym"),
    ("dont_publish_on_failed_images", "Do not publish if a photo is missing", "Publicera inte om ett foto saknas"),
    ("drive_type", "Drive", "Drivning"),
    ("driving_range", "Range", "Räckvidd"),
    ("email", "E-mail", "E-post"),
    ("energy_consumption", "Energy consumption", "Energiförbrukning"),
    ("energy_consumption_standard", "Energy consumption measured by", "Mätmetod för energiförbrukning"),
    ("engine_brand", "Engine brand", "Motormärke"),
    ("engine_runtime", "Running time", "Drifttid"),
    ("engine_type", "Engine type", "Motortyp"),
    ("equipments", "Equipment", "Utrustning"),
    ("eu_approved", "EU approved", "EU-godkänd"),
    ("eu_approved_date", "EU approved since", "EU-godkänd sedan"),
    ("eu_check_last", "Last inspection", "Senaste besiktning"),
    ("eu_check_next", "Next inspection", "Nästa besiktning"),
    ("extra_brake", "Auxiliary brake", "Tillsatsbroms"),
    ("front", "Front", "Fram"),
    ("front_left", "Front left", "Vänster fram"),
    ("front_right", "Front right", "Höger fram"),
    ("fuel", "Fuel", "Drivmedel"),
    ("fuel_consumption", "Fuel consumption", "Bränsleförbrukning"),
    ("fuel_consumption_standard", "Fuel consumption measured by", "Mätmetod för bränsleförbrukning"),
    ("fuels", "Fuels", "Drivmedel"),
    ("gross_weight", "Gross weight", "Totalvikt"),
    ("has_been_tuned", "Has been tuned", "Har trimmats"),
    ("has_damages", "Has damage", "Har skador"),
    ("has_liabilities", "Has outstanding finance", "Har belåning"),
    ("has_repairs", "Has been repaired", "Har reparerats"),
    ("has_warranty", "Has a warranty", "Har garanti"),
    ("height", "Height", "Höjd"),
    ("home_delivery", "Home delivery", "Hemleverans"),
    ("image_urls", "Addresses of photos", "Fotoadresser"),
    ("in_traffic_date", "First registration", "Första registrering"),
    ("initial_payment", "Initial payment", "Första avgift"),
    ("interior_color", "Interior colour", "Interiörfärg"),
    ("interior_length", "Interior length", "Invändig längd"),
    ("interior_size_height", "Interior height", "Invändig höjd"),
    ("interior_size_length", "Interior length", "Invändig längd"),
    ("interior_size_width", "Interior width", "Invändig bredd"),
    ("is_new_vehicle", "New vehicle", "Nytt fordon"),
    ("is_vat_deductible", "VAT deductible", "Avdragsgill moms"),
    ("latitude", "Latitude", "Latitud"),
    ("length", "Length", "Längd"),
    ("liabilities_details", "Description of outstanding finance", "Beskrivning av belåning"),
    ("lift_capacity", "Lift capacity", "Lyftkapacitet"),
    ("lift_height", "Lift height", "Lyfthöjd"),
    ("lkf", "County, municipality and parish code", "Länskod, kommunkod, församlingskod"),
    ("location", "Location", "Plats"),
    ("longitude", "Longitude", "Longitud"),
    ("material", "Material", "Material"),
    ("max_speed", "Top speed", "Högsta hastighet"),
    ("max_trailer_weight", "Maximum trailer weight", "Högsta släpvagnsvikt"),
    ("mileage", "Mileage", "Mätarställning"),
    ("mileage_remaining", "Remaining mileage", "Återstående mil"),
    ("model", "Model", "Modell"),
    ("model_type", "Model variant", "Modellvariant"),
    ("model_year", "Model year", "Årsmodell"),
    ("motor_included", "Engine included", "Motor ingår"),
    ("name", "Name", "Namn"),
    ("number_of_beds", "Number of beds", "Antal bäddar"),
    ("number_of_doors", "Number of doors", "Antal dörrar"),
    ("number_of_owners", "Number of owners", "Antal ägare"),
    ("number_of_pallets", "Pallet places", "Antal pallplatser"),
    ("number_of_seats", "Number of seats", "Antal säten"),
    ("online_purchasable", "Can be bought online", "Kan köpas på nätet"),
    ("phone", "Phone", "Telefon"),
    ("power", "Power", "Effekt"),
    ("price", "Price", "Pris"),
    ("product_declaration", "Product declaration", "Varudeklaration"),
    ("rear", "Rear", "Bak"),
    ("rear_left", "Rear left", "Vänster bak"),
    ("rear_right", "Rear right", "Höger bak"),
    ("registration_number", "Registration number", "Registreringsnummer"),
    ("registration_number_hidden", "Hide the registration number", "Dölj registreringsnumret"),
    ("remaining_months", "Remaining months", "Återstående månader"),
    ("repairs_details", "Description of repairs", "Beskrivning av reparationer"),
    ("return_policy", "Return policy", "Returpolicy"),
    ("rim_size", "Rim size", "Fälgstorlek"),
    ("salesperson", "Salesperson", "Säljare"),
    ("service_contract", "Service contract", "Serviceavtal"),
    ("service_history", "Service history", "Servicehistorik"),
    ("source_id", "Source id", "Käll-id"),
    ("srs_number", "Boat register number", "Båtregisternummer"),
    ("statement_of_compliance", "Declaration of conformity", "Försäkran om överensstämmelse"),
    ("suspension_front", "Front suspension", "Fjädring fram"),
    ("suspension_rear", "Rear suspension", "Fjädring bak"),
    ("tail_lift", "Tail lift", "Bakgavellyft"),
    ("thread_depth", "Tread depth", "Mönsterdjup"),
    ("tires", "Tyres", "Däck"),
    ("title", "Title", "Rubrik"),
    ("tools_category", "Kind of tool", "Redskapskategori"),
    ("torque", "Torque", "Vridmoment"),
    ("transmission", "Transmission", "Växellåda"),
    ("tuning_details", "Description of tuning", "Beskrivning av trimning"),
    ("type", "Type", "Typ"),
    ("unit", "Unit", "Enhet"),
    ("url", "Web address", "Webbadress"),
    ("value", "Value", "Värde"),
    ("vehicle_ratings", "Ratings", "Omdömen"),
    ("video_url", "Address of a video", "Filmadress"),
    ("vin", "Vehicle identification number (VIN)", "Chassinummer"),
    ("visible", "Visible", "Synlig"),
    ("warranty", "Warranty", "Garanti"),
    ("weight", "Weight", "Vikt"),
    ("wheelbase", "Wheelbase", "Axelavstånd"),
    ("wheels", "Wheels", "Hjul"),
    ("width", "Width", "Bredd"),
    ("workload", "Workload", "Arbetslast"),
    ("zipcode", "Postcode", "Postnummer"),
];

#[cfg(test)]
mod tests {
    use ad_core::{categories, reference};

    use super::{super::values::fields, *};

    #[test]
    fn every_field_has_a_name() {
        for (vehicle_type, category) in categories::typed() {
            for row in reference::rows(fields(category, true).map(|field| field.field)) {
                let name = row.field.path.rsplit('.').next().unwrap();
                assert!(LABELS.iter().any(|(known, ..)| *known == name), "{vehicle_type} {}", row.place);
            }
        }
        assert!(LABELS.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(label(Language::English, "category_fields.powertrain.drive_type"), "Drive");
        assert_eq!(label(Language::Swedish, "price.0.amount"), "Belopp");
        assert_eq!(label(Language::English, "unknown"), "unknown");
    }
}
