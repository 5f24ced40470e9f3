//! JSON, XML and tables of misleading shapes.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    Hostile,
    table::{Table, unset},
};
use crate::cars::{Car, cars, price, set, word};

pub(super) fn all() -> Vec<Hostile> {
    let mut all = keyed();
    all.extend(nested());
    all.extend(headerless());
    all.extend(tables());
    all
}

/// What is true of a record of [`record`].
fn truth(car: &Car) -> Value {
    let mut truth = car.truth("en");
    set(&mut truth, "price", price(car.price, "SEK"));
    truth
}

/// A car as JSON programs write it.
fn record(car: &Car) -> Value {
    json!({
        "vin": car.vin, "make": car.brand.1, "model": car.model.1, "trim": car.trim, "body": word("en", car.body),
        "modelYear": car.year, "firstRegistration": car.date(), "odometer": {"value": car.km, "unit": "km"},
        "fuel": word("en", car.fuel), "gearbox": word("en", car.gearbox), "colour": word("en", car.colour),
        "price": {"amount": car.price, "currency": "SEK"}, "photos": car.pictures(),
    })
}

fn file(name: impl Into<String>, text: String, truth: Vec<Value>) -> Hostile {
    Hostile { name: name.into(), bytes: text.into_bytes(), truth, says: Vec::new(), fills: Vec::new() }
}

/// The name below which a record stands.
type Key = fn(&Car) -> String;

/// Records below names that are ids, plates or VINs, in objects in objects.
fn keyed() -> Vec<Hostile> {
    let stock = cars(12, 25);
    let keys: [(&str, Key); 4] = [
        ("ids", |car| car.id.clone()),
        ("numbers", |car| car.id.trim_start_matches('B').to_owned()),
        ("plates", |car| car.plate.clone()),
        ("VINs", |car| car.vin.clone()),
    ];
    let mut all = Vec::new();
    for (what, key) in keys {
        let members: Map<String, Value> = stock.iter().map(|car| (key(car), record(car))).collect();
        // The members of an object are in the order of their names.
        let mut sorted: Vec<&Car> = stock.iter().collect();
        sorted.sort_by_key(|car| key(car));
        let truths: Vec<Value> = sorted
            .iter()
            .map(|car| {
                let mut truth = truth(car);
                set(&mut truth, "source_id", json!(key(car)));
                truth
            })
            .collect();
        let (north, south): (Map<String, Value>, Map<String, Value>) = members.clone().into_iter().enumerate().fold(
            Default::default(),
            |(mut north, mut south), (at, (key, value))| {
                if at * 2 < stock.len() { &mut north } else { &mut south }.insert(key, value);
                (north, south)
            },
        );
        for (shape, value) in [
            ("alone", Value::Object(members.clone())),
            ("below a name", json!({"generated": "2026-11-01", "count": 25, "vehicles": members})),
            ("below two names", json!({"status": "ok", "data": {"page": 1, "vehicles": members}})),
            (
                "beside a list",
                json!({"dealers": [{"name": "North", "town": "Umeå"}, {"name": "South", "town": "Lund"}], "stock": members}),
            ),
            ("by dealer", json!({"north": {"stock": north}, "south": {"stock": south}})),
        ] {
            let mut file = file(format!("JSON keyed by {what} {shape}"), value.to_string(), truths.clone());
            file.says.push("@key");
            file.fills.push("category_fields.brand");
            all.push(file);
        }
    }
    // Two records, and one.
    for count in [2, 1] {
        let few = cars(13, count);
        let members: Map<String, Value> = few.iter().map(|car| (car.id.clone(), record(car))).collect();
        all.push(file(
            format!("JSON keyed by ids, {count}"),
            json!({"vehicles": members}).to_string(),
            few.iter().map(truth).collect(),
        ));
    }
    all
}

/// Values of something else within records, and photos of several sizes.
fn nested() -> Vec<Hostile> {
    let stock = cars(14, 25);
    let mut all = Vec::new();
    let mut add = |name: &str, change: &dyn Fn(&Car, &mut Value), edit: &dyn Fn(&Car, &mut Value)| {
        let records: Vec<Value> = stock
            .iter()
            .map(|car| {
                let mut record = record(car);
                record["id"] = json!(car.id);
                change(car, &mut record);
                record
            })
            .collect();
        let truths: Vec<Value> = stock
            .iter()
            .map(|car| {
                let mut truth = truth(car);
                edit(car, &mut truth);
                truth
            })
            .collect();
        all.push(file(format!("JSON with {name}"), json!({"vehicles": records}).to_string(), truths));
    };
    let nothing = |_: &Car, _: &mut Value| {};
    add("nothing else", &nothing, &nothing);
    for around in ["tradeIn", "inbyte", "previousVehicle", "similar", "related", "customer"] {
        add(
            &format!("another vehicle in {around}"),
            &|car, record| {
                for name in ["vin", "make", "model", "odometer", "price"] {
                    record.as_object_mut().map(|record| record.remove(name));
                }
                record[around] = json!({
                    "vin": format!("WVW{}", &car.vin[3..]), "registrationNumber": "ABC123", "make": "Fiat", "model": "500",
                    "mileage": {"value": 999, "unit": "km"}, "price": {"amount": 5, "currency": "SEK"},
                });
            },
            &|_, truth| {
                for name in ["vin", "brand", "model", "condition"] {
                    unset(truth, &format!("category_fields.{name}"));
                }
                unset(truth, "price");
            },
        );
    }
    for (small, full) in
        [("thumb", "url"), ("small", "large"), ("preview", "href"), ("thumbnail", "original"), ("s", "xl")]
    {
        add(
            &format!("{small} beside {full}"),
            &|car, record| {
                let of = |address: String| json!({small: address.replace(".jpg", "_t.jpg"), full: address, "order": 1});
                record["photos"] = car.pictures().into_iter().map(of).collect();
            },
            &nothing,
        );
        add(
            &format!("lists of {small} and {full}"),
            &|car, record| {
                let smaller: Vec<String> = car.pictures().iter().map(|it| it.replace(".jpg", "_t.jpg")).collect();
                record["photos"] = json!({small: smaller, full: car.pictures()});
            },
            &nothing,
        );
    }
    add(
        "prices of several kinds",
        &|car, record| {
            record["price"] = json!([
                {"type": "export", "amount": car.cost, "currency": "EUR"},
                {"type": "list", "amount": car.price, "currency": "SEK"},
            ]);
        },
        &nothing,
    );
    add("equipment of one text", &|_, record| record["equipment"] = json!("Tow bar, Heated seats"), &|_, truth| {
        set(truth, "category_fields.equipments", json!(["Tow bar", "Heated seats"]));
    });
    all
}

fn headerless() -> Vec<Hostile> {
    let table = |name: &str| Table::new(format!("headerless, {name}"), "sv").headerless();
    vec![
        table("plain").file(),
        table("ids that look like plates")
            .without("vin")
            .without("id")
            .first("x", |number, _| format!("LAG{:03}", number + 1))
            .truth(|number, _, truth| {
                set(truth, "source_id", json!(format!("LAG{:03}", number + 1)));
                unset(truth, "category_fields.registration_number");
            })
            .file(),
        table("two columns of gearboxes")
            .with("x", |number, _| ["Manuell", "Automatisk"][number % 2].to_owned())
            .file(),
        table("two prices").with("x", |_, car| (car.cost / 100 * 100).to_string()).file(),
        table("two plates")
            .with("x", |number, _| format!("XY{}{:02}A", char::from(b"ABCDEFGH"[number % 8]), number))
            .file(),
        table("e-mail").with("x", |_, _| "camille@auto.example".to_owned()).file(),
        table("thumbnails")
            .with("x", |_, car| car.image(0).replace(".jpg", "_thumb.jpg"))
            .with("y", |_, car| car.image(0))
            .truth(|_, car, truth| set(truth, "image_urls", json!([car.image(0)])))
            .file(),
        table("models that are numbers")
            .instead("brand", |_, _| "Peugeot".to_owned())
            .instead("model", |_, _| "308".to_owned())
            .truth(|_, _, truth| {
                set(truth, "category_fields.brand", json!("peugeot"));
                set(truth, "category_fields.model", json!("308"));
            })
            .file(),
    ]
}

/// Ragged rows, and several tables in one file.
fn tables() -> Vec<Hostile> {
    let stock = cars(15, 30);
    let names = ["Lagernr", "Regnr", "Märke", "Modell", "Årsmodell", "Miltal", "Färg", "Kommentar"];
    let cells = |car: &Car| {
        [
            car.id.clone(),
            car.plate.clone(),
            car.brand.1.to_owned(),
            car.model.1.to_owned(),
            car.year.to_string(),
            (car.km / 10).to_string(),
            word("sv", car.colour).to_owned(),
            "Fin".to_owned(),
        ]
    };
    let truth = |car: &Car| {
        let mut truth = car.truth("sv");
        for path in
            ["category_fields.vin", "category_fields.model_type", "category_fields.in_traffic_date", "image_urls"]
        {
            unset(&mut truth, path);
        }
        unset(&mut truth, "category_fields.body_type");
        unset(&mut truth, "category_fields.powertrain");
        set(&mut truth, "category_fields.registration_number", json!(car.plate));
        set(&mut truth, "body", json!("Fin"));
        truth
    };
    let header = names.join(";");
    let mut all = Vec::new();
    // Rows that lack their last cells, rows with more, and rows that lack one in the middle.
    for (what, keep) in [("short", 6..8), ("long", 8..10)] {
        let mut text = format!("{header}\n");
        for (number, car) in stock.iter().enumerate() {
            let mut cells = cells(car).to_vec();
            let length = keep.start + number % keep.len();
            cells.resize(length.max(1), "mera".to_owned());
            writeln!(text, "{}", cells.join(";")).expect("memory takes everything");
        }
        all.push(file(format!("ragged, {what}"), text, stock.iter().map(truth).collect()));
    }
    for every in [3, 10] {
        let mut text = format!("{header}\n");
        for (number, car) in stock.iter().enumerate() {
            let mut cells = cells(car).to_vec();
            if number % every == 1 {
                cells.remove(3);
            }
            writeln!(text, "{}", cells.join(";")).expect("memory takes everything");
        }
        all.push(file(
            format!("ragged, a cell is missing in every {every}th row"),
            text,
            stock.iter().map(truth).collect(),
        ));
    }
    // A second table below, and one beside the first.
    let (first, second) = stock.split_at(15);
    let rows = |cars: &[Car]| cars.iter().map(|car| cells(car).join(";") + "\n").collect::<String>();
    let below = format!("{header}\n{}\nLeverantör;Ort;Telefon\nNorr;Umeå;090-1\nSyd;Lund;046-1\n", rows(first));
    all.push(file("a second table below", below, first.iter().map(truth).collect()));
    let again = format!("{header}\n{}\n{header}\n{}", rows(first), rows(second));
    all.push(file("the same table again below", again, stock.iter().map(truth).collect()));
    let mut beside = format!("{header};;{header}\n");
    for (one, other) in first.iter().zip(second) {
        writeln!(beside, "{};;{}", cells(one).join(";"), cells(other).join(";")).expect("memory takes everything");
    }
    let mut beside = file("a second table beside the first", beside, first.iter().map(truth).collect());
    beside.says.push("second table");
    all.push(beside);
    all
}
