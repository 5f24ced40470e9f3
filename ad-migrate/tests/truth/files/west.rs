//! Files from Germany, Denmark and the Netherlands, and one with prices in several currencies.

use std::io::Write;

use serde_json::json;
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{StockFile, Truth, bad, some, table};
use crate::cars::{cars, grouped, price, set, word};

/// A German portal: the power is in kW by the header, prices have decimal commas, and what the dealer paid is beside them.
pub(super) fn german_portal() -> StockFile {
    let header = "Interne Nummer;FIN;Marke;Modell;Ausführung;Karosserieform;Modelljahr;EZ;Kilometerstand;Leistung kW;Hubraum;\
                  Kraftstoff;Getriebe;Farbe;EK-Preis;Verkaufspreis;Bilder";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(1, 60).into_iter().enumerate().map(|(number, car)| {
        let euros = car.price / 10;
        let mut truth = car.truth("de");
        set(&mut truth, "price", price(euros, "EUR"));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "kw", "value": car.kw}));
        // Neither a VIN nor a plate.
        let has_vin = number % 20 != 7;
        rows.push(if has_vin { truth.into() } else { bad() });
        vec![
            car.id.clone(),
            if has_vin { car.vin.clone() } else { String::new() },
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("de", car.body).to_owned(),
            car.year.to_string(),
            car.dotted_date(),
            grouped(car.km, "."),
            car.kw.to_string(),
            some(car.cc),
            word("de", car.fuel).to_owned(),
            word("de", car.gearbox).to_owned(),
            word("de", car.colour).to_owned(),
            format!("{},00", grouped(car.cost / 10, ".")),
            format!("{},00", grouped(euros, ".")),
            car.pictures().join("|"),
        ]
    });
    let bytes = encoding_rs::WINDOWS_1252.encode(&table(";", Some(header), cells)).0.into_owned();
    StockFile { name: "portal-de.csv", bytes, source_id: "\"Interne Nummer\"", finished: GERMAN, rows }
}

const GERMAN: &str = r#"
decimal = ","
vehicle.type = "car"
[fields]
source_id = "Interne Nummer"
image_urls = { from = "Bilder", split = "|" }
price.list = { from = "Verkaufspreis", currency = "EUR" }
category_fields.vin = "FIN"
category_fields.brand = "Marke"
category_fields.model = "Modell"
category_fields.model_type = "Ausführung"
category_fields.model_year = "Modelljahr"
category_fields.in_traffic_date = "EZ"
category_fields.body_type = { from = "Karosserieform", values = "body" }
category_fields.color = "Farbe"
category_fields.color_group = { from = "Farbe", values = "color" }
category_fields.condition.mileage = { from = "Kilometerstand", unit = "km" }
category_fields.powertrain.power = { from = "Leistung kW", unit = "kw" }
category_fields.powertrain.displacement = { from = "Hubraum", unit = "cc" }
category_fields.powertrain.fuels = { from = "Kraftstoff", values = "fuel" }
category_fields.powertrain.transmission = { from = "Getriebe", values = "gearbox" }
"#;

/// A Danish CSV in a zip archive, with the images beside it; "kr." is a krone there.
pub(super) fn danish_zip() -> StockFile {
    let header = "Lagernummer;Stelnummer;Mærke;Model;Variant;Karrosseri;Modelår;1. registrering;Kilometertal;Effekt HK;\
                  Slagvolumen;Brændstof;Gear;Farve;Indkøbspris;Pris;Billeder";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(2, 50).into_iter().map(|car| {
        let mut truth = car.truth("da");
        set(&mut truth, "price", price(car.price, "DKK"));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
        let pictures: Vec<String> = (0..car.images).map(|number| format!("{}_{number}.jpg", car.id)).collect();
        set(&mut truth, "image_urls", pictures.iter().map(|name| format!("https://cdn.example/{name}")).collect());
        rows.push(truth.into());
        vec![
            car.id.clone(),
            car.vin.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("da", car.body).to_owned(),
            car.year.to_string(),
            car.dotted_date(),
            grouped(car.km, "."),
            car.hp().to_string(),
            some(car.cc),
            word("da", car.fuel).to_owned(),
            word("da", car.gearbox).to_owned(),
            word("da", car.colour).to_owned(),
            format!("{} kr.", grouped(car.cost, ".")),
            format!("{} kr.", grouped(car.price, ".")),
            pictures.join(","),
        ]
    });
    let text = table(";", Some(header), cells);
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8]| {
        archive.start_file(name, SimpleFileOptions::default()).expect("memory takes everything");
        archive.write_all(bytes).expect("memory takes everything");
    };
    add("billeder/B1001_0.jpg", b"\xff\xd8\xff\xe0 not a real picture");
    add("biler.csv", text.as_bytes());
    add("billeder/B1001_1.jpg", b"\xff\xd8\xff\xe0 not a real picture either");
    let bytes = archive.finish().expect("memory takes everything").into_inner();
    StockFile { name: "biler.zip", bytes, source_id: "\"Lagernummer\"", finished: DANISH, rows }
}

const DANISH: &str = r#"
decimal = ","
language = "da"
vehicle.type = "car"
file.member = "biler.csv"
[fields]
source_id = "Lagernummer"
image_urls = { from = "Billeder", split = ",", template = "https://cdn.example/{value}" }
price.list = { from = "Pris", currency = "DKK" }
category_fields.vin = "Stelnummer"
category_fields.brand = "Mærke"
category_fields.model = "Model"
category_fields.model_type = "Variant"
category_fields.model_year = "Modelår"
category_fields.in_traffic_date = "1. registrering"
category_fields.body_type = { from = "Karrosseri", values = "body" }
category_fields.color = "Farve"
category_fields.color_group = { from = "Farve", values = "color" }
category_fields.condition.mileage = { from = "Kilometertal", unit = "km" }
category_fields.powertrain.power = { from = "Effekt HK", unit = "hp" }
category_fields.powertrain.displacement = { from = "Slagvolumen", unit = "cc" }
category_fields.powertrain.fuels = { from = "Brændstof", values = "fuel" }
category_fields.powertrain.transmission = { from = "Gear", values = "gearbox" }
"#;

/// An importer's list in English: some prices are in euros, some in kronor, and some do not say so.
pub(super) fn mixed_currencies() -> StockFile {
    let header = "Stock no,VIN,Registration,Make,Model,Trim,Body style,Model year,First registered,Mileage,Engine size,Fuel,Gearbox,\
                  Colour,Trade price,Price,Power,Photos";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(3, 50).into_iter().enumerate().map(|(number, car)| {
        let mut truth = car.truth("en");
        set(&mut truth, "category_fields.registration_number", json!(car.plate));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
        let euros = car.price / 10;
        let (amount, shown) = match number % 4 {
            0 => (price(euros, "EUR"), format!("€{}", grouped(euros, ","))),
            1 => (price(car.price, "SEK"), format!("SEK {}", grouped(car.price, ","))),
            // Euros, but the file does not say so.
            2 => (price(euros, "EUR"), grouped(euros, ",")),
            _ => (price(euros, "EUR"), format!("EUR {}", grouped(euros, ","))),
        };
        set(&mut truth, "price", amount);
        rows.push(truth.into());
        // Litres, with a few in cubic centimetres.
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let litres = format!("{:.3}", car.cc as f64 / 1000.0);
        let engine = if car.cc == 0 {
            String::new()
        } else if number % 10 == 3 {
            format!("{} cc", car.cc)
        } else {
            format!("{litres} l")
        };
        vec![
            car.id.clone(),
            car.vin.clone(),
            car.plate.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("en", car.body).to_owned(),
            car.year.to_string(),
            car.date(),
            format!("{} km", grouped(car.km, ",")),
            engine,
            word("en", car.fuel).to_owned(),
            word("en", car.gearbox).to_owned(),
            word("en", car.colour).to_owned(),
            grouped(car.cost / 10, ","),
            shown,
            car.hp().to_string(),
            car.pictures().join(" "),
        ]
    });
    let bytes = table(",", Some(header), cells).into_bytes();
    let source_id = "\"Stock no\"";
    StockFile { name: "importer.csv", bytes, source_id, finished: MIXED, rows }
}

const MIXED: &str = r#"
decimal = "."
vehicle.type = "car"
[fields]
source_id = "Stock no"
image_urls = { from = "Photos", split = " " }
price.list = { from = "Price", currency = { default = "EUR" } }
category_fields.vin = "VIN"
category_fields.registration_number = "Registration"
category_fields.brand = "Make"
category_fields.model = "Model"
category_fields.model_type = "Trim"
category_fields.model_year = "Model year"
category_fields.in_traffic_date = "First registered"
category_fields.body_type = { from = "Body style", values = "body" }
category_fields.color = "Colour"
category_fields.color_group = { from = "Colour", values = "color" }
category_fields.condition.mileage = { from = "Mileage", decimal = "." }
category_fields.powertrain.power = { from = "Power", unit = "hp" }
category_fields.powertrain.displacement = "Engine size"
category_fields.powertrain.fuels = { from = "Fuel", values = "fuel" }
category_fields.powertrain.transmission = { from = "Gearbox", values = "gearbox" }
"#;

/// A Dutch list, with semicolons and a price in euros by its header.
pub(super) fn dutch() -> StockFile {
    let header = "Voorraadnummer;Chassisnummer;Merk;Model;Uitvoering;Carrosserie;Modeljaar;Datum eerste toelating;Tellerstand (km);\
                  Vermogen (pk);Cilinderinhoud (cc);Brandstof;Versnellingsbak;Kleur;Inkoopprijs;Verkoopprijs (EUR);Foto's";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(4, 40).into_iter().map(|car| {
        let mut truth = car.truth("nl");
        set(&mut truth, "price", price(car.price / 10, "EUR"));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
        rows.push(truth.into());
        vec![
            car.id.clone(),
            car.vin.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("nl", car.body).to_owned(),
            car.year.to_string(),
            car.date(),
            grouped(car.km, "."),
            car.hp().to_string(),
            some(car.cc),
            word("nl", car.fuel).to_owned(),
            word("nl", car.gearbox).to_owned(),
            word("nl", car.colour).to_owned(),
            grouped(car.cost / 10, "."),
            grouped(car.price / 10, "."),
            car.pictures().join("|"),
        ]
    });
    let bytes = table(";", Some(header), cells).into_bytes();
    StockFile { name: "voorraad.csv", bytes, source_id: "\"Voorraadnummer\"", finished: DUTCH, rows }
}

const DUTCH: &str = r#"
decimal = ","
language = "nl"
vehicle.type = "car"
[fields]
source_id = "Voorraadnummer"
image_urls = { from = "Foto's", split = "|" }
price.list = { from = "Verkoopprijs (EUR)", currency = "EUR" }
category_fields.vin = "Chassisnummer"
category_fields.brand = "Merk"
category_fields.model = "Model"
category_fields.model_type = "Uitvoering"
category_fields.model_year = "Modeljaar"
category_fields.in_traffic_date = "Datum eerste toelating"
category_fields.body_type = { from = "Carrosserie", values = "body" }
category_fields.color = "Kleur"
category_fields.color_group = { from = "Kleur", values = "color" }
category_fields.condition.mileage = { from = "Tellerstand (km)", unit = "km" }
category_fields.powertrain.power = { from = "Vermogen (pk)", unit = "hp" }
category_fields.powertrain.displacement = { from = "Cilinderinhoud (cc)", unit = "cc" }
category_fields.powertrain.fuels = { from = "Brandstof", values = "fuel" }
category_fields.powertrain.transmission = { from = "Versnellingsbak", values = "gearbox" }
"#;
