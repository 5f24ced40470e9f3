//! Files whose texts are in an encoding that must be recognised.

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use serde_json::json;

use super::{StockFile, Truth, table};
use crate::cars::{Car, cars, grouped, price, set, word};

const SWEDISH_HEADER: &str = "Lagernr\tRegnr\tMärke\tModell\tUtförande\tKaross\tÅrsmodell\tMätarställning\tEnhet\tMotorvolym\tBränsle\tVäxellåda\tFärg\tInpris\tPris\tValuta\tBilder";

/// A Swedish row: the mileage in mil or km, with its unit beside it.
fn swedish(number: usize, car: &Car) -> (Vec<String>, Truth) {
    let mut truth = car.truth("sv");
    set(&mut truth, "price", price(car.price, "SEK"));
    set(&mut truth, "category_fields.registration_number", json!(car.plate));
    for name in ["vin", "in_traffic_date"] {
        truth["category_fields"].as_object_mut().map(|fields| fields.remove(name));
    }
    let (mileage, unit) = if number % 4 == 1 { (car.km, "km") } else { (car.km / 10, "mil") };
    let cells = vec![
        car.id.clone(),
        car.plate.clone(),
        car.brand.1.replace('Š', "S"),
        car.model.1.to_owned(),
        car.trim.to_owned(),
        word("sv", car.body).to_owned(),
        car.year.to_string(),
        grouped(mileage, " "),
        unit.to_owned(),
        if car.cc == 0 { String::new() } else { format!("{} cc", car.cc) },
        word("sv", car.fuel).to_owned(),
        word("sv", car.gearbox).to_owned(),
        word("sv", car.colour).to_owned(),
        car.cost.to_string(),
        car.price.to_string(),
        "SEK".to_owned(),
        car.pictures().join(","),
    ];
    (cells, truth.into())
}

const SWEDISH: &str = r#"
language = "sv"
vehicle.type = "car"
[fields]
source_id = "Lagernr"
image_urls = { from = "Bilder", split = "," }
price.list = { from = "Pris", currency = { column = "Valuta" } }
category_fields.registration_number = "Regnr"
category_fields.brand = "Märke"
category_fields.model = "Modell"
category_fields.model_type = "Utförande"
category_fields.model_year = "Årsmodell"
category_fields.body_type = { from = "Kaross", values = "body" }
category_fields.color = "Färg"
category_fields.color_group = { from = "Färg", values = "color" }
category_fields.condition.mileage = { from = "Mätarställning", unit = { column = "Enhet" } }
category_fields.powertrain.displacement = "Motorvolym"
category_fields.powertrain.fuels = { from = "Bränsle", values = "fuel" }
category_fields.powertrain.transmission = { from = "Växellåda", values = "gearbox" }
"#;

fn swedish_file(name: &'static str, seed: u64, encoded: impl Fn(&str) -> Vec<u8>) -> StockFile {
    let (cells, rows): (Vec<_>, Vec<_>) =
        cars(seed, 40).iter().enumerate().map(|(number, car)| swedish(number, car)).unzip();
    let bytes = encoded(&table("\t", Some(SWEDISH_HEADER), cells));
    StockFile { name, bytes, source_id: "\"Lagernr\"", finished: SWEDISH, rows }
}

/// As spreadsheets save "Unicode text".
pub(super) fn swedish_utf_16() -> StockFile {
    swedish_file("unicode.txt", 12, |text| {
        [vec![0xFF, 0xFE], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
    })
}

/// UTF-8 that was taken for windows-1252 and encoded again: `MÃ¤rke`.
pub(super) fn twice_encoded() -> StockFile {
    swedish_file("dubbelt.txt", 13, |text| {
        WINDOWS_1252.decode_without_bom_handling(text.as_bytes()).0.into_owned().into_bytes()
    })
}

/// As DOS programs wrote it.
pub(super) fn dos() -> StockFile {
    const LETTERS: [(char, u8); 7] =
        [('å', 0x86), ('ä', 0x84), ('ö', 0x94), ('Å', 0x8F), ('Ä', 0x8E), ('Ö', 0x99), ('é', 0x82)];
    swedish_file("dos.txt", 14, |text| {
        let byte = |letter: char| {
            let known = LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, byte)| *byte);
            known.unwrap_or_else(|| u8::try_from(letter).expect("the file has no other letters"))
        };
        text.chars().map(byte).collect()
    })
}

/// A French list from an old Mac.
pub(super) fn french_mac() -> StockFile {
    let header = "Référence;Numéro de série;Marque;Modèle;Finition;Carrosserie;Année modèle;Mise en circulation;Kilométrage;Puissance (ch);\
                  Cylindrée (cm3);Énergie;Boîte de vitesses;Couleur;Prix d'achat;Prix de vente;Photos";
    let mut rows: Vec<Truth> = Vec::new();
    let cells: Vec<_> = cars(15, 40)
        .into_iter()
        .map(|car| {
            let mut truth = car.truth("fr");
            set(&mut truth, "price", price(car.price / 10, "EUR"));
            set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
            rows.push(truth.into());
            let (year, month, day) = car.registered;
            vec![
                car.id.clone(),
                car.vin.clone(),
                car.brand.1.replace('Š', "S"),
                car.model.1.to_owned(),
                car.trim.to_owned(),
                word("fr", car.body).to_owned(),
                car.year.to_string(),
                format!("{day:02}/{month:02}/{year}"),
                grouped(car.km, " "),
                car.hp().to_string(),
                super::some(car.cc),
                word("fr", car.fuel).to_owned(),
                word("fr", car.gearbox).to_owned(),
                word("fr", car.colour).to_owned(),
                grouped(car.cost / 10, " "),
                format!("{} €", grouped(car.price / 10, " ")),
                car.pictures().join(","),
            ]
        })
        .collect();
    let text = table(";", Some(header), cells);
    // The encoder of the web's encodings writes it.
    let bytes = MACINTOSH.encode(&text).0.into_owned();
    StockFile { name: "occasions.csv", bytes, source_id: "\"Référence\"", finished: FRENCH, rows }
}

const FRENCH: &str = r#"
language = "fr"
vehicle.type = "car"
[fields]
source_id = "Référence"
image_urls = { from = "Photos", split = "," }
price.list = { from = "Prix de vente", currency = "EUR" }
category_fields.vin = "Numéro de série"
category_fields.brand = "Marque"
category_fields.model = "Modèle"
category_fields.model_type = "Finition"
category_fields.model_year = "Année modèle"
category_fields.in_traffic_date = { from = "Mise en circulation", date = "DD/MM/YYYY" }
category_fields.body_type = { from = "Carrosserie", values = "body" }
category_fields.color = "Couleur"
category_fields.color_group = { from = "Couleur", values = "color" }
category_fields.condition.mileage = { from = "Kilométrage", unit = "km" }
category_fields.powertrain.power = { from = "Puissance (ch)", unit = "hp" }
category_fields.powertrain.displacement = { from = "Cylindrée (cm3)", unit = "cc" }
category_fields.powertrain.fuels = { from = "Énergie", values = "fuel" }
category_fields.powertrain.transmission = { from = "Boîte de vitesses", values = "gearbox" }
"#;
