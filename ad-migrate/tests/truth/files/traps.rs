//! An American and a Swedish file with as many traps as real ones have.

use serde_json::{Value, json};

use super::{StockFile, Truth, bad, table};
use crate::cars::{cars, grouped, price, set, word};

/// What Americans call what the British call otherwise.
fn american_word(value: &str) -> &'static str {
    match value {
        "estate" => "Wagon",
        "gasoline" => "Gas",
        "grey" => "Gray",
        value => word("en", value),
    }
}

/// An engine as litres with one decimal.
fn litres(truth: &mut Value, tenths: usize) {
    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    let litres = tenths as f64 / 10.0;
    set(truth, "category_fields.powertrain.displacement", json!({"unit": "l", "value": litres}));
}

/// An American list: miles and miles per gallon without saying so, litres and cubic inches, `Gas` in the tank, the month before the day, the
/// price when new beside the one that is asked, and dollars by a sign that has several currencies.
pub(super) fn american() -> StockFile {
    let header = "Stock #,VIN,Year,Make,Model,Trim,Body Style,Mileage,In Service Date,Horsepower,Torque (lb-ft),City MPG,Engine,Fuel Type,\
                  Transmission,Exterior Color,Invoice,MSRP,Internet Price,Photo URLs";
    let mut rows: Vec<Truth> = Vec::new();
    let cells = cars(16, 50).into_iter().enumerate().map(|(number, car)| {
        let mut truth = car.truth("en");
        let miles = car.km / 16 * 10;
        set(&mut truth, "price", price(car.price / 10, "USD"));
        set(&mut truth, "category_fields.condition.mileage.value", json!((miles * 1_609_344 + 500_000) / 1_000_000));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
        set(&mut truth, "category_fields.color", json!(american_word(car.colour)));
        let engine = match (car.cc, number % 6) {
            (0, _) => "N/A".to_owned(),
            (cc, 2) => {
                let inches = cc * 1000 / 16_387;
                litres(&mut truth, (inches * 16_387_064 + 50_000_000) / 100_000_000);
                format!("{inches} cui")
            }
            (cc, _) => {
                litres(&mut truth, (cc + 50) / 100);
                format!("{}.{}L", (cc + 50) / 1000, (cc + 50) / 100 % 10)
            }
        };
        rows.push(truth.into());
        let (year, month, day) = car.registered;
        let dollars = |amount: usize| format!("${}", grouped(amount, ","));
        vec![
            car.id.clone(),
            car.vin.clone(),
            car.year.to_string(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.trim.to_owned(),
            american_word(car.body).to_owned(),
            grouped(miles, ","),
            format!("{month:02}/{day:02}/{year}"),
            car.hp().to_string(),
            (car.hp() + 40).to_string(),
            (18 + number % 14).to_string(),
            engine,
            american_word(car.fuel).to_owned(),
            word("en", car.gearbox).to_owned(),
            american_word(car.colour).to_owned(),
            dollars(car.cost / 10),
            dollars(car.price / 10 + 9_000),
            dollars(car.price / 10),
            car.pictures().join("|"),
        ]
    });
    let bytes = table(",", Some(header), cells).into_bytes();
    StockFile { name: "inventory-us.csv", bytes, source_id: "\"Stock #\"", finished: AMERICAN, rows }
}

const AMERICAN: &str = r#"
decimal = "."
language = "en"
vehicle.type = "car"
[fields]
source_id = "Stock #"
image_urls = { from = "Photo URLs", split = "|" }
price.list = { from = "Internet Price", currency = "USD" }
category_fields.vin = "VIN"
category_fields.brand = "Make"
category_fields.model = "Model"
category_fields.model_type = "Trim"
category_fields.model_year = "Year"
category_fields.in_traffic_date = { from = "In Service Date", date = "MM/DD/YYYY" }
category_fields.body_type = { from = "Body Style", values = "body" }
category_fields.color = "Exterior Color"
category_fields.color_group = { from = "Exterior Color", values = "color" }
category_fields.condition.mileage = { from = "Mileage", unit = "mi" }
category_fields.powertrain.power = { from = "Horsepower", unit = "hp" }
category_fields.powertrain.displacement = "Engine"
category_fields.powertrain.fuels = { from = "Fuel Type", values = [{ Gas = "gasoline" }, "fuel"] }
category_fields.powertrain.transmission = { from = "Transmission", values = "gearbox" }
"#;

/// A Swedish list: mileages in mil or km and powers in hk or kW, prices in öre, years and dates of two digits, placeholders for plates
/// and VINs, sold cars, a line above the header and a sum below.
pub(super) fn swedish() -> StockFile {
    let header = "Lagernr;Regnr;Chassinr;Märke;Modell;Utförande;Kaross;Årsmodell;I trafik;Mätarställning;Effekt;Motorvolym;Drivmedel;\
                  Växellåda;Färg;Inköpspris;Utpris (öre);Status;Bilder";
    let mut rows: Vec<Truth> = Vec::new();
    let cells: Vec<Vec<String>> = cars(17, 60)
        .into_iter()
        .enumerate()
        .map(|(number, car)| {
            let mut truth = car.truth("sv");
            set(&mut truth, "price", price(car.price, "SEK"));
            let power = if number % 4 == 2 { ("kw", car.kw) } else { ("hp", car.hp()) };
            set(&mut truth, "category_fields.powertrain.power", json!({"unit": power.0, "value": power.1}));
            let has_plate = number % 7 != 3;
            let has_vin = number % 5 != 1;
            if has_plate {
                set(&mut truth, "category_fields.registration_number", json!(car.plate));
            }
            if !has_vin {
                truth["category_fields"].as_object_mut().map(|fields| fields.remove("vin"));
            }
            let is_skipped = number % 11 == 5;
            let is_bad = !has_plate && !has_vin;
            rows.push(if is_bad { bad() } else { Truth { is_skipped, ..truth.into() } });
            let (year, month, day) = car.registered;
            vec![
                car.id.clone(),
                if has_plate { car.plate.to_lowercase() } else { "EJ REG".to_owned() },
                if has_vin { car.vin.clone() } else { "00000000000000000".to_owned() },
                car.brand.1.to_uppercase(),
                car.model.1.to_owned(),
                car.trim.to_owned(),
                word("sv", car.body).to_owned(),
                format!("{:02}", car.year % 100),
                format!("{:02}{month:02}{day:02}", year % 100),
                match number % 3 {
                    0 => format!("{} km", grouped(car.km, " ")),
                    1 => format!("{} mil", grouped(car.km / 10, " ")),
                    _ => format!("{}MIL", car.km / 10),
                },
                if power.0 == "kw" { format!("{} kW", car.kw) } else { format!("{} hk", car.hp()) },
                if car.cc == 0 { "-".to_owned() } else { format!("{} cm³", grouped(car.cc, " ")) },
                word("sv", car.fuel).to_owned(),
                word("sv", car.gearbox).to_owned(),
                word("sv", car.colour).to_owned(),
                (car.cost * 100).to_string(),
                (car.price * 100).to_string(),
                if is_skipped { "Såld" } else { "Till salu" }.to_owned(),
                car.pictures().join(","),
            ]
        })
        .collect();
    let count = cells.len();
    let text = format!("Lagerlista 2026-11-01\r\n{}Summa;{count}\r\n", table(";", Some(header), cells));
    StockFile { name: "lagerlista.csv", bytes: text.into_bytes(), source_id: "\"Lagernr\"", finished: SWEDISH, rows }
}

const SWEDISH: &str = r#"
language = "sv"
vehicle.type = "car"
[file]
separator = ";"
skip_first = 1
skip_last = 1
[rows]
skip = { column = "Status", is = "Såld" }
[fields]
source_id = "Lagernr"
image_urls = { from = "Bilder", split = "," }
price.list = { from = "Utpris (öre)", scale = 0.01, currency = "SEK" }
category_fields.registration_number = "Regnr"
category_fields.vin = "Chassinr"
category_fields.brand = "Märke"
category_fields.model = "Modell"
category_fields.model_type = "Utförande"
category_fields.model_year = { from = "Årsmodell", year = true }
category_fields.in_traffic_date = { from = "I trafik", date = "YYMMDD" }
category_fields.body_type = { from = "Kaross", values = "body" }
category_fields.color = "Färg"
category_fields.color_group = { from = "Färg", values = "color" }
category_fields.condition.mileage = "Mätarställning"
category_fields.powertrain.power = "Effekt"
category_fields.powertrain.displacement = "Motorvolym"
category_fields.powertrain.fuels = { from = "Drivmedel", values = "fuel" }
category_fields.powertrain.transmission = { from = "Växellåda", values = "gearbox" }
"#;
