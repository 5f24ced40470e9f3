//! Files from Norway, Sweden and Finland.

use serde_json::{Value, json};

use super::{StockFile, Truth, bad, some, table};
use crate::cars::{cars, grouped, price, set, word};

/// A Norwegian list: kroner by the header, litres with a decimal comma, and a "Kombi 5-dørs", which is a hatchback there.
pub(super) fn norwegian() -> StockFile {
    let header = "Lagernr;Understellsnr;Merke;Modell;Variant;Karosseri;Årsmodell;Førstegangsregistrert;Kjørelengde (km);Effekt;\
                  Slagvolum (l);Drivstoff;Girkasse;Farge;Innkjøpspris;Pris NOK;Omreg.avgift;Bilder";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(5, 60).into_iter().enumerate().map(|(number, car)| {
        let mut truth = car.truth("nb");
        set(&mut truth, "price", price(car.price, "NOK"));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
        if number % 9 == 4 {
            for name in ["color", "color_group"] {
                truth["category_fields"].as_object_mut().map(|fields| fields.remove(name));
            }
        }
        rows.push(truth.into());
        vec![
            car.id.clone(),
            car.vin.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("nb", car.body).to_owned(),
            car.year.to_string(),
            car.dotted_date(),
            grouped(car.km, " "),
            format!("{} hk", car.hp()),
            if car.cc == 0 { String::new() } else { format!("{},{:03}", car.cc / 1000, car.cc % 1000) },
            word("nb", car.fuel).to_owned(),
            word("nb", car.gearbox).to_owned(),
            if number % 9 == 4 { "-".to_owned() } else { word("nb", car.colour).to_owned() },
            grouped(car.cost, " "),
            format!("{},-", grouped(car.price, " ")),
            "7000".to_owned(),
            car.pictures().join(","),
        ]
    });
    let bytes = table(";", Some(header), cells).into_bytes();
    StockFile { name: "bruktbil.csv", bytes, source_id: "\"Lagernr\"", finished: NORWEGIAN, rows }
}

const NORWEGIAN: &str = r#"
decimal = ","
language = "nb"
vehicle.type = "car"
[fields]
source_id = "Lagernr"
image_urls = { from = "Bilder", split = "," }
price.list = { from = "Pris NOK", currency = "NOK" }
category_fields.vin = "Understellsnr"
category_fields.brand = "Merke"
category_fields.model = "Modell"
category_fields.model_type = "Variant"
category_fields.model_year = "Årsmodell"
category_fields.in_traffic_date = "Førstegangsregistrert"
category_fields.body_type = { from = "Karosseri", values = "body" }
category_fields.color = "Farge"
category_fields.color_group = { from = "Farge", values = "color" }
category_fields.condition.mileage = { from = "Kjørelengde (km)", unit = "km" }
category_fields.powertrain.power = "Effekt"
category_fields.powertrain.displacement = { from = "Slagvolum (l)", unit = "l" }
category_fields.powertrain.fuels = { from = "Drivstoff", values = "fuel" }
category_fields.powertrain.transmission = { from = "Girkasse", values = "gearbox" }
"#;

/// A Swedish list without a header: rows end early, and a row has a separator in its text.
pub(super) fn headerless() -> StockFile {
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(6, 50).into_iter().enumerate().map(|(number, car)| {
        let mut truth = car.truth("sv");
        set(&mut truth, "price", price(car.price, "SEK"));
        set(&mut truth, "category_fields.registration_number", json!(car.plate));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "kw", "value": car.kw}));
        // Rows without a text and images end with the gearbox.
        let ends_early = number % 10 == 3;
        if ends_early {
            truth.as_object_mut().map(|truth| truth.remove("image_urls"));
        } else {
            set(&mut truth, "body", json!("Fin bil i gott skick, nyservad och besiktigad."));
        }
        let mut cells = vec![
            car.id.clone(),
            car.plate.clone(),
            car.vin.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            car.year.to_string(),
            car.date(),
            (car.km / 10).to_string(),
            car.price.to_string(),
            car.cost.to_string(),
            word("sv", car.body).to_owned(),
            word("sv", car.colour).to_owned(),
            car.kw.to_string(),
            some(car.cc),
            word("sv", car.fuel).to_owned(),
            word("sv", car.gearbox).to_owned(),
        ];
        if !ends_early {
            cells.push("Fin bil i gott skick, nyservad och besiktigad.".to_owned());
            cells.extend((0..4).map(|image| if image < car.images { car.image(image) } else { String::new() }));
        }
        let is_shifted = number == 17;
        if is_shifted {
            cells.insert(3, "Bil".to_owned());
            cells.push("mera".to_owned());
        }
        rows.push(if is_shifted { bad() } else { truth.into() });
        cells
    });
    let bytes = table("|", None, cells).into_bytes();
    StockFile { name: "lager.txt", bytes, source_id: "1", finished: HEADERLESS, rows }
}

const HEADERLESS: &str = r#"
language = "sv"
vehicle.type = "car"
[file]
separator = "|"
header = false
ragged = true
[fields]
source_id = 1
body = 18
image_urls = "19-22"
price.list = { from = 10, currency = "SEK" }
category_fields.registration_number = 2
category_fields.vin = 3
category_fields.brand = 4
category_fields.model = 5
category_fields.model_type = 6
category_fields.model_year = 7
category_fields.in_traffic_date = 8
category_fields.body_type = { from = 12, values = "body" }
category_fields.color = 13
category_fields.color_group = { from = 13, values = "color" }
category_fields.condition.mileage = { from = 9, unit = "mil" }
category_fields.powertrain.power = { from = 14, unit = "kw" }
category_fields.powertrain.displacement = { from = 15, unit = "cc" }
category_fields.powertrain.fuels = { from = 16, values = "fuel" }
category_fields.powertrain.transmission = { from = 17, values = "gearbox" }
"#;

/// What the file calls other vehicles than cars, their category, and a brand and model.
const OTHERS: [[&str; 5]; 3] = [
    ["MC", "1140", "yamaha", "Yamaha", "MT-07"],
    ["Husvagn", "1101", "adria", "Adria", "Adora 572"],
    ["Transportbil", "1021", "ford", "Ford", "Transit"],
];

/// A Swedish dealer of cars, motorcycles and caravans, with placeholders where something is not known.
pub(super) fn mixed_types() -> StockFile {
    let header = "Objektsnr;Fordonstyp;Regnr;Chassinr;Märke;Modell;Årsmodell;Miltal;Inköpspris;Pris inkl moms;Nypris;Drivmedel;\
                  Växellåda;Färg;Inlevererad;Bilder";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(7, 60).into_iter().enumerate().map(|(number, car)| {
        let other = OTHERS.get(number % 6);
        let is_caravan = number % 6 == 1;
        let mut truth = json!({
            "category_id": other.map_or(1020, |other| other[1].parse().unwrap_or(0)),
            "source_id": car.id,
            "image_urls": car.pictures(),
            "price": price(car.price, "SEK"),
            "category_fields": {
                "brand": other.map_or(car.brand.0, |other| other[2]),
                "model": other.map_or(car.model.0, |other| other[4]),
                "model_year": car.year,
                "color": word("sv", car.colour),
            },
        });
        let has_plate = number % 7 != 2;
        let has_vin = !has_plate || number % 5 != 1;
        if has_plate {
            set(&mut truth, "category_fields.registration_number", json!(car.plate));
        }
        if has_vin {
            set(&mut truth, "category_fields.vin", json!(car.vin));
        }
        if other.is_none() || number % 6 == 2 {
            set(&mut truth, "category_fields.color_group", json!(car.colour));
        }
        if !is_caravan {
            set(&mut truth, "category_fields.condition", json!({"mileage": {"unit": "mil", "value": car.km / 10}}));
            let powertrain = json!({"fuels": [car.fuel], "transmission": car.gearbox});
            set(&mut truth, "category_fields.powertrain", powertrain);
        }
        rows.push(truth.into());
        let unknown = ["saknas", "OKÄND", "EJ REG", "00000000000000000"][number % 4];
        vec![
            car.id.clone(),
            other.map_or("Personbil", |other| other[0]).to_owned(),
            if has_plate { car.plate.clone() } else { "EJ REG".to_owned() },
            if has_vin { car.vin.clone() } else { unknown.to_owned() },
            other.map_or(car.brand.1, |other| other[3]).to_owned(),
            other.map_or(car.model.1, |other| other[4]).to_owned(),
            car.year.to_string(),
            if is_caravan { "-".to_owned() } else { grouped(car.km / 10, " ") },
            grouped(car.cost, " "),
            format!("{} kr", grouped(car.price, " ")),
            grouped(car.price * 2, " "),
            if is_caravan { "N/A".to_owned() } else { word("sv", car.fuel).to_owned() },
            if is_caravan { "saknas".to_owned() } else { word("sv", car.gearbox).to_owned() },
            word("sv", car.colour).to_owned(),
            // A date as spreadsheets store it: it looks like a mileage.
            (45_000 + number * 9).to_string(),
            car.pictures().join(","),
        ]
    });
    let bytes = encoding_rs::WINDOWS_1252.encode(&table(";", Some(header), cells)).0.into_owned();
    StockFile { name: "blandat.csv", bytes, source_id: "\"Objektsnr\"", finished: MIXED_TYPES, rows }
}

const MIXED_TYPES: &str = r#"
language = "sv"
[vehicle]
from = "Fordonstyp"
values = "vehicle"
[fields]
source_id = "Objektsnr"
image_urls = { from = "Bilder", split = "," }
price.list = { from = "Pris inkl moms", currency = "SEK" }
category_fields.registration_number = "Regnr"
category_fields.vin = "Chassinr"
category_fields.brand = "Märke"
category_fields.model = "Modell"
category_fields.model_year = "Årsmodell"
category_fields.color = "Färg"
category_fields.color_group = { from = "Färg", values = "color" }
category_fields.condition.mileage = { from = "Miltal", unit = "mil" }
category_fields.powertrain.fuels = { from = "Drivmedel", values = "fuel" }
category_fields.powertrain.transmission = { from = "Växellåda", values = "gearbox" }
"#;

/// A Finnish list, in which prices have their sign and mileages are in thousands by no means.
pub(super) fn finnish() -> StockFile {
    let header = "Varastonumero;Rekisterinumero;Valmistenumero;Merkki;Malli;Malliversio;Korimalli;Vuosimalli;Käyttöönottopäivä;\
                  Mittarilukema (km);Teho (kW);Iskutilavuus (cm3);Käyttövoima;Vaihteisto;Väri;Ostohinta;Hinta;Kuvat";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(8, 40).into_iter().map(|car| {
        let mut truth: Value = car.truth("fi");
        set(&mut truth, "price", price(car.price / 10, "EUR"));
        set(&mut truth, "category_fields.registration_number", json!(car.plate));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "kw", "value": car.kw}));
        rows.push(truth.into());
        vec![
            car.id.clone(),
            car.plate.clone(),
            car.vin.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            word("fi", car.body).to_owned(),
            car.year.to_string(),
            car.dotted_date(),
            grouped(car.km, " "),
            car.kw.to_string(),
            some(car.cc),
            word("fi", car.fuel).to_owned(),
            word("fi", car.gearbox).to_owned(),
            word("fi", car.colour).to_owned(),
            format!("{} €", grouped(car.cost / 10, " ")),
            format!("{} €", grouped(car.price / 10, " ")),
            car.pictures().join(","),
        ]
    });
    let bytes = table(";", Some(header), cells).into_bytes();
    StockFile { name: "vaihtoautot.csv", bytes, source_id: "\"Varastonumero\"", finished: FINNISH, rows }
}

const FINNISH: &str = r#"
language = "fi"
vehicle.type = "car"
[fields]
source_id = "Varastonumero"
image_urls = { from = "Kuvat", split = "," }
price.list = { from = "Hinta", currency = "EUR" }
category_fields.registration_number = "Rekisterinumero"
category_fields.vin = "Valmistenumero"
category_fields.brand = "Merkki"
category_fields.model = "Malli"
category_fields.model_type = "Malliversio"
category_fields.model_year = "Vuosimalli"
category_fields.in_traffic_date = "Käyttöönottopäivä"
category_fields.body_type = { from = "Korimalli", values = "body" }
category_fields.color = "Väri"
category_fields.color_group = { from = "Väri", values = "color" }
category_fields.condition.mileage = { from = "Mittarilukema (km)", unit = "km" }
category_fields.powertrain.power = { from = "Teho (kW)", unit = "kw" }
category_fields.powertrain.displacement = { from = "Iskutilavuus (cm3)", unit = "cc" }
category_fields.powertrain.fuels = { from = "Käyttövoima", values = "fuel" }
category_fields.powertrain.transmission = { from = "Vaihteisto", values = "gearbox" }
"#;
