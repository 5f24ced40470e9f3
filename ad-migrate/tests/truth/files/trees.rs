//! Stock files in XML and JSON.

use serde_json::{Value, json};

use super::{StockFile, Truth};
use crate::cars::{cars, price, set, word};

/// A British feed: miles, pounds, and what the dealer paid.
pub(super) fn british_feed() -> StockFile {
    let mut rows: Vec<Truth> = Vec::new();
    let vehicles: Vec<String> = cars(9, 60)
        .into_iter()
        .map(|car| {
            let mut truth = car.truth("en");
            let miles = car.km / 16 * 10;
            set(&mut truth, "price", price(car.price / 10, "GBP"));
            set(&mut truth, "category_fields.condition.mileage.value", json!((miles * 1_609_344 + 500_000) / 1_000_000));
            set(&mut truth, "category_fields.powertrain.power", json!({"unit": "hp", "value": car.hp()}));
            set(&mut truth, "body", json!("Drives as new and comes with two keys and winter wheels."));
            rows.push(truth.into());
            let pictures: Vec<String> =
                car.pictures().iter().map(|url| format!("<image><url>{url}</url></image>")).collect();
            let pictures = pictures.concat();
            let engine =
                if car.cc == 0 { String::new() } else { format!("<engineSize unit=\"cc\">{}</engineSize>", car.cc) };
            format!(
                "<vehicle stockNumber=\"{}\"><vin>{}</vin><make>{}</make><model>{}</model><trim>{}</trim><bodyStyle>{}</bodyStyle>\
                 <modelYear>{}</modelYear><firstRegistered>{}T00:00:00</firstRegistered><mileage units=\"miles\">{miles}</mileage>\
                 <enginePower unit=\"bhp\">{}</enginePower>{engine}<fuelType>{}</fuelType><gearbox>{}</gearbox><colour>{}</colour>\
                 <purchasePrice currency=\"GBP\">{}</purchasePrice><price currency=\"GBP\">{}</price>\
                 <description>Drives as new and comes with two keys and winter wheels.</description><images>{pictures}</images></vehicle>\n",
                car.id, car.vin, car.brand.1, car.model.1, car.trim, word("en", car.body), car.year, car.date(), car.hp(),
                word("en", car.fuel), word("en", car.gearbox), word("en", car.colour), car.cost / 10, car.price / 10,
            )
        })
        .collect();
    let bytes =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<stock>\n{}</stock>\n", vehicles.concat()).into_bytes();
    StockFile { name: "feed-uk.xml", bytes, source_id: "\"@stockNumber\"", finished: BRITISH, rows }
}

const BRITISH: &str = r#"
vehicle.type = "car"
[fields]
source_id = "@stockNumber"
body = "description"
image_urls = "images/image/url"
price.list = { from = "price", currency = { column = "price/@currency" } }
category_fields.vin = "vin"
category_fields.brand = "make"
category_fields.model = "model"
category_fields.model_type = "trim"
category_fields.model_year = "modelYear"
category_fields.in_traffic_date = "firstRegistered"
category_fields.body_type = { from = "bodyStyle", values = "body" }
category_fields.color = "colour"
category_fields.color_group = { from = "colour", values = "color" }
category_fields.condition.mileage = { from = "mileage", unit = { column = "mileage/@units" } }
category_fields.powertrain.power = { from = "enginePower", unit = { column = "enginePower/@unit" } }
category_fields.powertrain.displacement = { from = "engineSize", unit = "cc", optional = true }
category_fields.powertrain.fuels = { from = "fuelType", values = "fuel" }
category_fields.powertrain.transmission = { from = "gearbox", values = "gearbox" }
"#;

/// JSON whose records are the members of an object.
pub(super) fn keyed_by_id() -> StockFile {
    let mut rows: Vec<Truth> = Vec::new();
    let mut vehicles = serde_json::Map::new();
    for car in cars(10, 40) {
        let mut truth = car.truth("en");
        set(&mut truth, "price", price(car.price, "SEK"));
        rows.push(truth.into());
        vehicles.insert(
            car.id.clone(),
            json!({
                "vin": car.vin, "make": car.brand.1, "model": car.model.1, "trim": car.trim, "body": word("en", car.body),
                "modelYear": car.year, "firstRegistration": car.date(), "odometer": {"value": car.km, "unit": "km"},
                "engine": {"cc": if car.cc == 0 { Value::Null } else { json!(car.cc) }}, "fuel": word("en", car.fuel),
                "gearbox": word("en", car.gearbox), "colour": word("en", car.colour),
                "price": {"amount": car.price, "currency": "SEK"}, "photos": car.pictures(),
            }),
        );
    }
    let bytes = json!({"exported": "2026-11-01", "vehicles": vehicles}).to_string().into_bytes();
    StockFile { name: "by-id.json", bytes, source_id: "\"id\"", finished: KEYED, rows }
}

const KEYED: &str = r#"
vehicle.type = "car"
file.rows = "vehicles.*"
[fields]
source_id = "@key"
image_urls = "photos"
price.list = { from = "price.amount", currency = { column = "price.currency" } }
category_fields.vin = "vin"
category_fields.brand = "make"
category_fields.model = "model"
category_fields.model_type = "trim"
category_fields.model_year = "modelYear"
category_fields.in_traffic_date = "firstRegistration"
category_fields.body_type = { from = "body", values = "body" }
category_fields.color = "colour"
category_fields.color_group = { from = "colour", values = "color" }
category_fields.condition.mileage = { from = "odometer.value", unit = { column = "odometer.unit" } }
category_fields.powertrain.displacement = { from = "engine.cc", unit = "cc" }
category_fields.powertrain.fuels = { from = "fuel", values = "fuel" }
category_fields.powertrain.transmission = { from = "gearbox", values = "gearbox" }
"#;

/// A feed of lines with nulls; prices are in öre, and the unit of the power stands beside it.
pub(super) fn lines_with_nulls() -> StockFile {
    let mut rows: Vec<Truth> = Vec::new();
    let mut text = String::new();
    for (number, car) in cars(11, 50).into_iter().enumerate() {
        let mut truth = car.truth("en");
        set(&mut truth, "price", price(car.price, "SEK"));
        set(&mut truth, "category_fields.registration_number", json!(car.plate));
        set(&mut truth, "category_fields.powertrain.power", json!({"unit": "kw", "value": car.kw}));
        let has_trim = number % 6 != 1;
        if !has_trim {
            truth["category_fields"].as_object_mut().map(|fields| fields.remove("model_type"));
        }
        rows.push(truth.into());
        let line = json!({
            "id": car.id, "registrationNumber": car.plate, "vin": car.vin,
            "make": car.brand.1, "model": car.model.1, "trim": if has_trim { json!(car.trim) } else { Value::Null },
            "bodyType": word("en", car.body), "modelYear": car.year, "firstRegistrationDate": car.date(),
            "odometer": {"value": car.km, "unit": "km"}, "power": {"value": car.kw, "unit": "kW"},
            "displacement": if car.cc == 0 { Value::Null } else { json!({"value": car.cc, "unit": "cm3"}) },
            "fuelType": word("en", car.fuel), "transmission": word("en", car.gearbox), "colour": word("en", car.colour),
            "priceOre": car.price * 100, "currency": "SEK", "photos": car.pictures(), "soldAt": Value::Null,
        });
        text.push_str(&line.to_string());
        text.push('\n');
    }
    StockFile { name: "feed.ndjson", bytes: text.into_bytes(), source_id: "\"id\"", finished: LINES, rows }
}

const LINES: &str = r#"
vehicle.type = "car"
[fields]
source_id = "id"
image_urls = "photos"
price.list = { from = "priceOre", scale = 0.01, currency = { column = "currency" } }
category_fields.registration_number = "registrationNumber"
category_fields.vin = "vin"
category_fields.brand = "make"
category_fields.model = "model"
category_fields.model_type = "trim"
category_fields.model_year = "modelYear"
category_fields.in_traffic_date = "firstRegistrationDate"
category_fields.body_type = { from = "bodyType", values = "body" }
category_fields.color = "colour"
category_fields.color_group = { from = "colour", values = "color" }
category_fields.condition.mileage = { from = "odometer.value", unit = { column = "odometer.unit" } }
category_fields.powertrain.power = { from = "power.value", unit = { column = "power.unit" } }
category_fields.powertrain.displacement = { from = "displacement.value", unit = { column = "displacement.unit" } }
category_fields.powertrain.fuels = { from = "fuelType", values = "fuel" }
category_fields.powertrain.transmission = { from = "transmission", values = "gearbox" }
"#;
