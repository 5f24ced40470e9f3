//! The words of a seller, in English and Swedish: names of fields, what helps to fill them in, and names of values.

use std::{collections::HashMap, sync::LazyLock};

use super::super::texts::Language;

/// The name of a field, by its path.
pub(in crate::console) fn label(language: Language, path: &str) -> &str {
    // An item has the name of its list.
    let name = path.rsplit('.').find(|name| name.parse::<u64>().is_err()).unwrap_or(path);
    let of = |wanted: &str| LABELS.iter().find(|(known, ..)| *known == wanted);
    let Some((_, english, swedish)) = of(path).or_else(|| of(name)) else { return name };
    language.pick(english, swedish)
}

/// What helps to fill a field in, by its path; `None` where the name says enough.
pub(super) fn help(language: Language, path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let of = |wanted: &str| HELPS.iter().find(|(known, ..)| *known == wanted);
    let (_, english, swedish) = of(path).or_else(|| of(name))?;
    Some(language.pick(english, swedish))
}

/// The name of a value in a language, by its English name, which the lists of values have. Brands and models have the same in both.
pub(in crate::console) fn named(language: Language, english: &str) -> &str {
    match language {
        Language::English => one_of(english),
        Language::Swedish => SWEDISH_NAMES.get(english).copied().unwrap_or(english),
    }
}

/// The name of a type of vehicle for one of them. The documents of the API name some by their plurals.
fn one_of(english: &str) -> &str {
    match english {
        "Cars" => "Car",
        "Vans" => "Van",
        "Boats" => "Boat",
        "Mopeds" => "Moped",
        other => other,
    }
}

/// A unit as people write it; the API has its own spelling.
pub(in crate::console) fn unit(language: Language, unit: &str) -> &str {
    match unit {
        "hp" => language.pick("hp", "hk"),
        "cc" => "cm³",
        "m3" => "m³",
        "kw" => "kW",
        "kwh" => "kWh",
        other => other,
    }
}

/// The Swedish names of values, by the English ones: a line for each, with ` = ` between.
static SWEDISH_NAMES: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| include_str!("names.sv.txt").lines().filter_map(|line| line.split_once(" = ")).collect());

/// The last part of a path, and what helps, in English and in Swedish.
#[rustfmt::skip]
const HELPS: &[(&str, &str, &str)] = &[
    ("additional_hydraulics", "For attachments.", "För redskap."),
    ("amount", "Such as 189 900.", "Till exempel 189 900."),
    ("auxiliary_hydraulics_performance", "In litres per minute.", "I liter per minut."),
    ("body", "What you would tell a buyer on the phone.", "Det du skulle berätta för en köpare i telefon."),
    ("category_fields.product_declaration", "Its address on the web.", "Dess adress på webben."),
    ("dont_publish_on_failed_images", "Otherwise the ad is published with the photos that can be shown.", "Annars publiceras annonsen med de foton som går att visa."),
    ("equipments", "One thing per line.", "En sak per rad."),
    ("initial_payment", "In the same currency as the price.", "I samma valuta som priset."),
    ("is_new_vehicle", "Left empty, the mileage decides.", "Lämnas det tomt avgör mätarställningen."),
    ("latitude", "Decimal degrees, such as 59.33. Only instead of a postcode.", "Decimalgrader, till exempel 59,33. Bara i stället för postnummer."),
    ("lkf", "4 or 6 digits. Only instead of a postcode.", "4 eller 6 siffror. Bara i stället för postnummer."),
    ("longitude", "Decimal degrees, such as 18.07. Only instead of a postcode.", "Decimalgrader, till exempel 18,07. Bara i stället för postnummer."),
    ("max_speed", "In km/h.", "I km/h."),
    ("mileage_remaining", "In mil. Only with a leasing price.", "I mil. Bara med ett leasingpris."),
    ("model", "Choose the brand first.", "Välj märke först."),
    ("model_type", "Such as D4 AWD Momentum.", "Till exempel D4 AWD Momentum."),
    ("online_purchasable", "Needs an agreement with the marketplace.", "Kräver ett avtal med marknadsplatsen."),
    ("product_declaration", "Address of a PDF on the web.", "Adress till en PDF på webben."),
    ("registration_number", "Such as ABC 123. One of the two is needed: this or the VIN.", "Till exempel ABC 123. En av de två behövs: det här eller chassinumret."),
    ("registration_number_hidden", "Buyers do not see it then.", "Köpare ser det inte då."),
    ("rim_size", "In inches.", "I tum."),
    ("salesperson", "The e-mail address of whom buyers are to contact.", "E-postadressen till den som köpare ska kontakta."),
    ("source_id", "Your own number for the vehicle, used once. Left empty, it is the plate or the VIN.", "Ert eget nummer för fordonet, som används en gång. Lämnas det tomt blir det registreringsnumret eller chassinumret."),
    ("thread_depth", "In mm.", "I mm."),
    ("title", "What buyers read first: brand, model, size.", "Det köpare läser först: märke, modell, storlek."),
    ("url", "The page about the vehicle at your own site.", "Sidan om fordonet på er egen webbplats."),
    ("vehicle_ratings", "Optional. If you give ratings, give wheels too.", "Frivilligt. Anger du omdömen, ange hjul också."),
    ("video_url", "On YouTube or Vimeo.", "På YouTube eller Vimeo."),
    ("vin", "From the registration certificate. One of the two is needed: this or the registration number.", "Från registreringsbeviset. En av de två behövs: det här eller registreringsnumret."),
    ("wheels", "Optional. If you give wheels, give ratings too.", "Frivilligt. Anger du hjul, ange omdömen också."),
    ("zipcode", "5 digits. Left empty, the place is the dealer's address.", "5 siffror. Lämnas platsen tom gäller handlarens adress."),
];

/// The last part of a path, or the path where two fields of a form have the same, its name in English and in Swedish.
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
    ("boot_size", "Boot volume", "Bagagevolym"),
    ("box_length", "Box length", "Flakets längd"),
    ("box_type", "Box", "Påbyggnad"),
    ("brand", "Brand", "Märke"),
    ("cab_type", "Cab", "Hyttyp"),
    ("cabin_type", "Cab", "Hyttyp"),
    ("cargo_weight", "Cargo weight", "Lastvikt"),
    ("category_fields", "Details of the vehicle", "Uppgifter om fordonet"),
    ("category_fields.product_declaration", "Page with a product declaration", "Sida med varudeklaration"),
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
    ("has_liabilities", "Has outstanding finance", "Är belånad"),
    ("has_repairs", "Has been repaired", "Har reparerats"),
    ("has_warranty", "Has a warranty", "Har garanti"),
    ("height", "Height", "Höjd"),
    ("home_delivery", "Home delivery", "Hemleverans"),
    ("image_urls", "Photos", "Foton"),
    ("in_traffic_date", "First registration", "Första registrering"),
    ("initial_payment", "Initial payment", "Förhöjd första avgift"),
    ("interior_color", "Interior colour", "Interiörfärg"),
    ("interior_length", "Interior length", "Invändig längd"),
    ("interior_size_height", "Interior height", "Invändig höjd"),
    ("interior_size_length", "Interior length", "Invändig längd"),
    ("interior_size_width", "Interior width", "Invändig bredd"),
    ("is_new_vehicle", "New vehicle", "Nytt fordon"),
    ("is_vat_deductible", "VAT deductible", "Avdragsgill moms"),
    ("latitude", "Latitude", "Latitud"),
    ("length", "Length", "Längd"),
    ("liabilities_details", "Description of outstanding finance", "Beskrivning av lånet"),
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
    ("number_of_seats", "Number of seats", "Antal sittplatser"),
    ("online_purchasable", "Can be bought online", "Kan köpas på nätet"),
    ("phone", "Phone", "Telefon"),
    ("power", "Power", "Effekt"),
    ("price", "Price", "Pris"),
    ("product_declaration", "Product declaration as a PDF", "Varudeklaration som PDF"),
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
    ("source_id", "Your number", "Ert nummer"),
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
    use ad_core::{categories, reference, rulebook::Rulebook};

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
        assert!(HELPS.is_sorted_by(|one, other| one.0 < other.0));
        assert!(HELPS.iter().all(|(name, ..)| LABELS.iter().any(|(known, ..)| known == name)));
        assert_eq!(label(Language::English, "category_fields.powertrain.drive_type"), "Drive");
        assert_eq!(label(Language::Swedish, "price.0.amount"), "Belopp");
        assert_eq!(label(Language::English, "unknown"), "unknown");
    }

    #[test]
    fn every_value_but_brands_and_models_has_a_swedish_name() {
        let catalogue = Rulebook::default().catalogue;
        for (vehicle_type, category) in categories::typed() {
            assert!(SWEDISH_NAMES.contains_key(category.name), "{}", category.name);
            let fields = reference::rows(fields(category, true).map(|field| field.field));
            for row in fields.iter().filter(|row| !row.place.ends_with("brand")) {
                for value in row.field.kind.allowed(&catalogue).unwrap_or_default() {
                    assert!(SWEDISH_NAMES.contains_key(&*value.name), "{vehicle_type} {} {}", row.place, value.name);
                }
            }
        }
    }
}
