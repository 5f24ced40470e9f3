//! Names of fields. In English they are made from the names on the wire, as in the lookups.

use ad_core::categories::humanised;

use super::super::texts::Language;

/// The name of a field for people, by its path.
pub(in crate::console) fn label(language: Language, path: &str) -> String {
    let name = path.rsplit('.').next().unwrap_or(path);
    let swedish = || SWEDISH.iter().find(|(known, _)| *known == name).map(|(_, label)| (*label).to_owned());
    match language {
        Language::English => humanised(name),
        Language::Swedish => swedish().unwrap_or_else(|| humanised(name)),
    }
}

/// The names in Swedish, by the last part of a path.
#[rustfmt::skip]
const SWEDISH: &[(&str, &str)] = &[
    ("additional_hydraulics", "Extra hydraulik"), ("amount", "Belopp"), ("auxiliary_hydraulics_performance", "Extrahydraulikens flöde"),
    ("axle_type", "Axeltyp"), ("battery_capacity", "Batterikapacitet"), ("bed_type", "Sängtyp"), ("body", "Annonstext"),
    ("body_type", "Kaross"), ("boot_size", "Lastvolym"), ("box_length", "Flakets längd"), ("box_type", "Påbyggnad"), ("brand", "Märke"),
    ("cab_type", "Hyttyp"), ("cabin_type", "Hyttyp"), ("cargo_weight", "Lastvikt"), ("ce_marked", "CE-märkt"), ("chassis_type", "Chassityp"),
    ("co2_emission", "Koldioxidutsläpp"), ("color", "Färg"), ("color_group", "Färggrupp"), ("curb_weight", "Tjänstevikt"),
    ("currency", "Valuta"), ("damages_details", "Beskrivning av skador"), ("dealer_code", "Handlare"), ("depth", "Djup"),
    ("displacement", "Slagvolym"), ("dont_publish_on_failed_images", "Publicera inte om ett foto saknas"), ("drive_type", "Drivning"),
    ("driving_range", "Räckvidd"), ("email", "E-post"), ("energy_consumption", "Energiförbrukning"),
    ("energy_consumption_standard", "Mätmetod för energiförbrukning"), ("engine_brand", "Motormärke"), ("engine_runtime", "Drifttid"),
    ("engine_type", "Motortyp"), ("equipments", "Utrustning"), ("eu_approved", "EU-godkänd"), ("eu_approved_date", "EU-godkänd sedan"),
    ("eu_check_last", "Senaste besiktning"), ("eu_check_next", "Nästa besiktning"), ("extra_brake", "Tillsatsbroms"), ("front", "Fram"),
    ("front_left", "Vänster fram"), ("front_right", "Höger fram"), ("fuel", "Drivmedel"), ("fuel_consumption", "Bränsleförbrukning"),
    ("fuel_consumption_standard", "Mätmetod för bränsleförbrukning"), ("fuels", "Drivmedel"), ("gross_weight", "Totalvikt"),
    ("has_been_tuned", "Har trimmats"), ("has_damages", "Har skador"), ("has_liabilities", "Har belåning"), ("has_repairs", "Har reparerats"),
    ("has_warranty", "Har garanti"), ("height", "Höjd"), ("home_delivery", "Hemleverans"), ("image_urls", "Foton"),
    ("in_traffic_date", "Första registrering"), ("initial_payment", "Första avgift"), ("interior_color", "Interiörfärg"),
    ("interior_length", "Invändig längd"), ("interior_size_height", "Invändig höjd"), ("interior_size_length", "Invändig längd"),
    ("interior_size_width", "Invändig bredd"), ("is_new_vehicle", "Nytt fordon"), ("is_vat_deductible", "Avdragsgill moms"),
    ("latitude", "Latitud"), ("length", "Längd"), ("liabilities_details", "Beskrivning av belåning"), ("lift_capacity", "Lyftkapacitet"),
    ("lift_height", "Lyfthöjd"), ("lkf", "Länskod, kommunkod, församlingskod"), ("location", "Plats"), ("longitude", "Longitud"),
    ("material", "Material"), ("max_speed", "Högsta hastighet"), ("max_trailer_weight", "Högsta släpvagnsvikt"), ("mileage", "Mätarställning"),
    ("mileage_remaining", "Återstående mil"), ("model", "Modell"), ("model_type", "Modellvariant"), ("model_year", "Årsmodell"),
    ("motor_included", "Motor ingår"), ("name", "Namn"), ("number_of_beds", "Antal bäddar"), ("number_of_doors", "Antal dörrar"),
    ("number_of_owners", "Antal ägare"), ("number_of_pallets", "Antal pallplatser"), ("number_of_seats", "Antal säten"),
    ("online_purchasable", "Kan köpas på nätet"), ("phone", "Telefon"), ("power", "Effekt"), ("price", "Pris"),
    ("product_declaration", "Varudeklaration"), ("rear", "Bak"), ("rear_left", "Vänster bak"), ("rear_right", "Höger bak"),
    ("registration_number", "Registreringsnummer"), ("registration_number_hidden", "Dölj registreringsnumret"),
    ("remaining_months", "Återstående månader"), ("repairs_details", "Beskrivning av reparationer"), ("return_policy", "Returpolicy"),
    ("rim_size", "Fälgstorlek"), ("salesperson", "Säljare"), ("service_contract", "Serviceavtal"), ("service_history", "Servicehistorik"),
    ("source_id", "Annonsens id"), ("srs_number", "Båtregisternummer"), ("statement_of_compliance", "Försäkran om överensstämmelse"),
    ("suspension_front", "Fjädring fram"), ("suspension_rear", "Fjädring bak"), ("tail_lift", "Bakgavellyft"), ("thread_depth", "Mönsterdjup"),
    ("tires", "Däck"), ("title", "Rubrik"), ("tools_category", "Redskapskategori"), ("torque", "Vridmoment"), ("transmission", "Växellåda"),
    ("tuning_details", "Beskrivning av trimning"), ("type", "Typ"), ("unit", "Enhet"), ("url", "Webbadress"), ("value", "Värde"),
    ("vehicle_ratings", "Omdömen"), ("video_url", "Film"), ("vin", "Chassinummer"), ("visible", "Synlig"), ("warranty", "Garanti"),
    ("weight", "Vikt"), ("wheelbase", "Axelavstånd"), ("wheels", "Hjul"), ("width", "Bredd"), ("workload", "Arbetslast"),
    ("zipcode", "Postnummer"),
];

#[cfg(test)]
mod tests {
    use ad_core::{categories, reference};

    use super::{super::values::fields, *};

    #[test]
    fn every_field_has_a_name_in_swedish() {
        for (vehicle_type, category) in categories::typed() {
            for row in reference::rows(fields(category, true).map(|field| field.field)) {
                let name = row.field.path.rsplit('.').next().unwrap();
                assert!(SWEDISH.iter().any(|(known, _)| *known == name), "{vehicle_type} {}", row.place);
            }
        }
        assert!(SWEDISH.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(label(Language::English, "category_fields.powertrain.drive_type"), "Drive type");
        assert_eq!(label(Language::Swedish, "price.0.amount"), "Belopp");
    }
}
