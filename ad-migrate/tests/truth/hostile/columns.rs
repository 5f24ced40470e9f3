//! Misleading columns of a stock list.

use serde_json::{Value, json};

use super::{
    Hostile,
    table::{LANGUAGES, Table, unset},
};
use crate::cars::{Car, grouped, set, word};

/// All lists with misleading columns.
pub(super) fn all() -> Vec<Hostile> {
    let mut all: Vec<Table> = Vec::new();
    for language in LANGUAGES {
        all.push(Table::new("plain", language).fills("category_fields.brand").fills("category_fields.model"));
    }
    pictures(&mut all);
    models(&mut all);
    bodies(&mut all);
    lists(&mut all);
    units(&mut all);
    prices(&mut all);
    identifiers(&mut all);
    words(&mut all);
    people(&mut all);
    sold(&mut all);
    dates(&mut all);
    all.into_iter().map(Table::file).collect()
}

fn of(language: &'static str, name: &str) -> Table {
    Table::new(name, language)
}

const IMAGES: &str = "image_urls";

fn all_images(_: usize, car: &Car, truth: &mut Value) {
    set(truth, IMAGES, json!(car.pictures()));
}

/// The small versions of a car's pictures.
fn thumbs(car: &Car) -> Vec<String> {
    (0..car.images).map(|number| format!("https://cdn.example/{}/thumbs/{number}.jpg", car.id)).collect()
}

fn pictures(all: &mut Vec<Table>) {
    // Beside the full pictures, under names that say so, or addresses that do.
    for (full, small) in [
        ("Bilder", "Miniatyrer"),
        ("Bilder", "Bilder små"),
        ("Images", "Thumbnails"),
        ("Bild gross", "Bild klein"),
        ("image_large", "image_small"),
        ("photo_original", "photo_preview"),
        ("Bild", "Bild2"),
        ("pictures", "pictures_medium"),
        ("Foto", "Thumb foto"),
        ("Images", "Icon"),
    ] {
        for small_first in [false, true] {
            let large = |_: usize, car: &Car| car.pictures().join(",");
            let little = |_: usize, car: &Car| thumbs(car).join(",");
            let table = of("en", &format!("{full} beside {small}, {small_first}")).truth(all_images);
            all.push(if small_first {
                table.with(small, little).with(full, large)
            } else {
                table.with(full, large).with(small, little)
            });
        }
    }
    // Only the size of the picture in its address tells.
    let sized = |size: &'static str| move |_: usize, car: &Car| format!("https://cdn.example/{}-{size}.jpg", car.id);
    all.push(
        of("sv", "sizes in addresses").with("Bild 1", sized("150x100")).with("Bild 2", sized("1600x1200")).truth(
            |_, car, truth| set(truth, IMAGES, json!([format!("https://cdn.example/{}-1600x1200.jpg", car.id)])),
        ),
    );
    // Only small ones.
    all.push(of("en", "only thumbnails").with("Thumbnail", |_, car| thumbs(car).join("|")).says("Thumbnail"));
    all.push(of("sv", "only small addresses").with("Bilder", |_, car| thumbs(car).join("|")).says("image_urls = "));
    // Pictures of something else.
    for name in
        ["Logo", "Dealer logo", "QR code image", "Säljarbild", "Seller photo", "Handlarens bild", "Carfax image"]
    {
        let table =
            of("en", &format!("{name} beside pictures")).with(name, |_, _| "https://cdn.example/dealer.png".to_owned());
        all.push(table.with("Images", |_, car| car.pictures().join("|")).truth(all_images).fills(IMAGES));
        all.push(of("en", &format!("only {name}")).with(name, |_, _| "https://cdn.example/dealer.png".to_owned()));
    }
    all.push(
        of("sv", "the same picture everywhere").with("Bild", |_, _| "https://cdn.example/placeholder.jpg".to_owned()),
    );
    all.push(of("sv", "an address of a picture as link").with("Länk", |_, car| car.image(0)).truth(|_, car, truth| {
        set(truth, IMAGES, json!([car.image(0)]));
    }));
    all.push(of("en", "the site of the dealer").with("Url", |_, _| "https://dealer.example/".to_owned()));
    for (name, number) in [("Skadebilder", 0), ("Damage photos", 1), ("Interior plan", 2), ("Broschyr", 3)] {
        all.push(of("sv", name).with(name, move |_, car| format!("https://cdn.example/{}/extra{number}.jpg", car.id)));
    }
    // Addresses with the marks of lists in them, and lists with different marks.
    for (name, change) in [
        (
            "spaces in addresses",
            (|car: &Car| {
                car.pictures().iter().map(|url| url.replace("/0.", "/front left.")).collect::<Vec<_>>().join("|")
            }) as fn(&Car) -> String,
        ),
        ("one address with a space", |car| car.image(0).replace("/0.", "/front left.")),
        ("a comma in addresses", |car| {
            car.pictures().iter().map(|url| url.replace(".jpg", ",w_800.jpg")).collect::<Vec<_>>().join(";")
        }),
    ] {
        all.push(of("sv", name).with("Bilder", move |_, car| change(car)).truth(move |_, car, truth| {
            let text = change(car);
            let urls: Vec<&str> = text.split(['|', ';']).collect();
            set(truth, IMAGES, json!(urls));
        }));
    }
    all.push(
        of("sv", "lists with different marks")
            .with("Bilder", |number, car| car.pictures().join([",", "|", " ", ";"][number % 4]))
            .truth(all_images),
    );
    all.push(
        of("sv", "names with spaces")
            .with("Bilder", |_, car| format!("{} fram.jpg, {} bak.jpg", car.id, car.id))
            .says("image_urls = "),
    );
}

fn models(all: &mut Vec<Table>) {
    // The name of the column says something else, or nothing.
    for name in
        ["Range", "Serie", "Typ", "Benämning", "Bezeichnung", "Kolumn4", "Version", "Type", "Class", "Name", "Kaross"]
    {
        for language in LANGUAGES {
            let table = of(language, &format!("models under {name}")).renamed("model", name);
            all.push(if name == "Range" || name == "Bezeichnung" {
                table.fills("category_fields.model")
            } else {
                table
            });
        }
    }
    // Models that are numbers.
    let number = |_: usize, _: &Car| "308".to_owned();
    for name in ["Range", "Modell", "Reichweite", "Räckvidd", "Effekt"] {
        all.push(
            of("en", &format!("numbers as models under {name}"))
                .instead("brand", |_, _| "Peugeot".to_owned())
                .instead("model", number)
                .renamed("model", name)
                .truth(|_, _, truth| {
                    set(truth, "category_fields.brand", json!("peugeot"));
                    set(truth, "category_fields.model", json!("308"));
                }),
        );
    }
    // Brands as people abbreviate them, and models that the catalogue does not have.
    all.push(
        of("sv", "short brands")
            .instead(
                "brand",
                |_, car| if car.brand.0 == "volkswagen" { "VW".to_owned() } else { car.brand.1.to_owned() },
            )
            .says("\"VW\" = \"volkswagen\""),
    );
    all.push(
        of("sv", "MB")
            .instead("brand", |_, _| "MB".to_owned())
            .instead("model", |_, _| "C 220 d".to_owned())
            .truth(|_, _, truth| {
                set(truth, "category_fields.brand", json!("mercedes-benz"));
                set(truth, "category_fields.model", json!("c-class"));
                set(truth, "category_fields.model_type", json!("C 220 d"));
            })
            .says("\"MB\" = \"mercedes-benz\""),
    );
    all.push(
        of("sv", "unknown models")
            .instead("model", |number, car| if number % 5 == 0 { "Rogue".to_owned() } else { car.model.1.to_owned() })
            .says("\"Rogue\" = ")
            .says("Unknown models"),
    );
    // The brand of something else.
    for name in ["Däckmärke", "Inbyte märke", "Franchise", "Handlare", "Dealer group"] {
        all.push(
            of("sv", &format!("{name} and no brand")).without("brand").with(name, |_, _| "Volvo".to_owned()).truth(
                |_, _, truth| {
                    unset(truth, "category_fields.brand");
                    unset(truth, "category_fields.model");
                    set(truth, "dealer_code", json!("Volvo"));
                },
            ),
        );
    }
}

fn bodies(all: &mut Vec<Table>) {
    let names = [("sv", "Kaross"), ("de", "Karosserieform"), ("en", "Body"), ("nb", "Karosseri")];
    for (language, name) in names {
        for values in LANGUAGES {
            // The values are in one language, and the names of the columns in another.
            let table = of(language, &format!("bodies in {values}"))
                .with(name, move |_, car| word(values, car.body).to_owned());
            let table = table.truth(|_, car, truth| set(truth, "category_fields.body_type", json!(car.body)));
            let table = table.instead("fuel", move |_, car| word(values, car.fuel).to_owned());
            let table = table.instead("gearbox", move |_, car| word(values, car.gearbox).to_owned());
            let table = table.instead("colour", move |_, car| word(values, car.colour).to_owned());
            all.push(
                table.truth(move |_, car, truth| set(truth, "category_fields.color", json!(word(values, car.colour)))),
            );
            // Nothing but the words of the bodies shows their language.
            let table = of(language, &format!("only bodies in {values}"))
                .with(name, move |_, car| word(values, car.body).to_owned());
            let table = table.truth(|_, car, truth| set(truth, "category_fields.body_type", json!(car.body)));
            all.push(table.without("fuel").without("gearbox").without("colour"));
        }
    }
}

const EQUIPMENT: [&str; 5] = ["Dragkrok", "Motorvärmare", "Farthållare", "Backkamera", "Navigation"];

fn equipment(number: usize, count: usize) -> Vec<&'static str> {
    (0..count).map(|at| EQUIPMENT[(number + at) % EQUIPMENT.len()]).collect()
}

fn lists(all: &mut Vec<Table>) {
    let name = "Utrustning";
    let truth =
        |_: usize, items: Vec<String>, truth: &mut Value| set(truth, "category_fields.equipments", json!(items));
    let owned = |items: Vec<&str>| items.into_iter().map(str::to_owned).collect::<Vec<_>>();
    for mark in [",", ", ", "|", ";", "\n", " ", " / ", " - ", " + ", "<br>", "\t", "•", "/"] {
        let table = of("sv", &format!("a list with {mark:?}"))
            .with(name, move |number, _| equipment(number, 2 + number % 2).join(mark));
        all.push(table.truth(move |number, _, it| truth(number, owned(equipment(number, 2 + number % 2)), it)));
    }
    // Numbers with decimal commas, and marks within items.
    let items = |number: usize| vec!["19,5 tum fälgar".to_owned(), EQUIPMENT[number % 5].to_owned()];
    all.push(of("sv", "numbers within lists").with(name, move |number, _| items(number).join(", ")).truth(
        move |number, _, it| {
            let items = items(number).into_iter().map(|item| item.replace(',', ".")).collect();
            truth(number, items, it);
        },
    ));
    for item in ["AM/FM-radio", "Vinterhjul (dubb)", "Start/stopp", "El-hissar"] {
        let text = item;
        all.push(
            of("sv", &format!("single items such as {item}"))
                .with(name, move |_, _| text.to_owned())
                .truth(move |number, _, it| truth(number, vec![text.to_owned()], it)),
        );
    }
    // Texts in which marks mean nothing.
    all.push(
        of("sv", "a text with commas").with("Historik", |_, _| "Såld ny här, servad hos oss, två ägare".to_owned()),
    );
    all.push(of("en", "towns with commas").with("Location", |_, _| "Springfield, AL".to_owned()));
    all.push(of("en", "names with commas").with("Owner name", |_, _| "Smith, John".to_owned()));
}

fn measure(path: &'static str, unit: &'static str, value: f64) -> impl Fn(usize, &Car, &mut Value) {
    move |_, _, truth| set(truth, path, json!({"unit": unit, "value": value}))
}

fn units(all: &mut Vec<Table>) {
    let gross = "category_fields.physics.gross_weight";
    let trailer = "category_fields.physics.max_trailer_weight";
    let curb = "category_fields.physics.curb_weight";
    for (path, name) in [(gross, "Totalvikt"), (trailer, "Dragvikt"), (curb, "Tjänstevikt")] {
        for suffix in ["", " (kg)", " (t)", " kg", " ton"] {
            for (text, kilograms) in
                [("1.85", 1850.0), ("1850", 1850.0), ("1,85", 1850.0), ("1.85 t", 1850.0), ("1 850 kg", 1850.0)]
            {
                let table = of("sv", &format!("{name}{suffix} of {text}"));
                all.push(
                    table
                        .with(&format!("{name}{suffix}"), move |_, _| text.to_owned())
                        .truth(measure(path, "kg", kilograms)),
                );
            }
        }
    }
    all.push(
        of("sv", "weights in two units")
            .with("Totalvikt", |number, _| if number % 3 == 0 { "1.9" } else { "1900" }.to_owned())
            .truth(measure(gross, "kg", 1900.0)),
    );
    // Kilometres, mil and thousands of them.
    for (name, text, kilometres) in [
        ("Miltal", (|car: &Car| car.km.to_string()) as fn(&Car) -> String, (|car: &Car| car.km) as fn(&Car) -> usize),
        ("Miltal", |car| (car.km / 1000).to_string(), |car| car.km / 1000 * 1000),
        ("Miltal", |car| (car.km / 10).to_string(), |car| car.km),
        ("Km", |car| (car.km / 10).to_string(), |car| car.km),
        ("Km", |car| (car.km / 1000).to_string(), |car| car.km / 1000 * 1000),
        ("Mätarställning", |car| (car.km / 1000).to_string(), |car| car.km / 1000 * 1000),
        ("Mätarställning (tkm)", |car| (car.km / 1000).to_string(), |car| car.km / 1000 * 1000),
        ("Mileage", |car| car.km.to_string(), |car| car.km * 1_609_344 / 1_000_000),
        ("Mileage (miles)", |car| car.km.to_string(), |car| (car.km * 1_609_344 + 500_000) / 1_000_000),
        ("Kilometer", |car| grouped(car.km, "."), |car| car.km),
    ] {
        for language in LANGUAGES {
            // Without a unit, English files may have miles; elsewhere, it is kilometres.
            if name == "Mileage" && language != "en" {
                continue;
            }
            let table = of(language, &format!("mileages under {name}, {}", text(&crate::cars::cars(77, 1)[0])));
            all.push(table.without("mileage").with(name, move |_, car| text(car)).truth(move |_, car, truth| {
                set(truth, "category_fields.condition.mileage", json!({"unit": "km", "value": kilometres(car)}));
            }));
        }
    }
    // Power, displacement and what the environment gets, in other units than the name says or the field has.
    let environment = |of: &str| format!("category_fields.powertrain.environmental.{of}");
    for (name, text, field, unit, value) in [
        ("Effekt kW", "150", "category_fields.powertrain.power".to_owned(), "kw", 150.0),
        ("Effekt", "150", "category_fields.powertrain.power".to_owned(), "?", 0.0),
        ("Effekt (W)", "150000", "category_fields.powertrain.power".to_owned(), "?", 0.0),
        ("Effekt", "110/150", "category_fields.powertrain.power".to_owned(), "?", 0.0),
        ("Motorvolym (cc)", "2.0", "category_fields.powertrain.displacement".to_owned(), "l", 2.0),
        ("Motorvolym (l)", "1968", "category_fields.powertrain.displacement".to_owned(), "cc", 1968.0),
        ("Motorvolym", "1.969", "category_fields.powertrain.displacement".to_owned(), "l", 1.969),
        ("Räckvidd (mil)", "45", environment("driving_range"), "km", 450.0),
        ("Räckvidd", "450", environment("driving_range"), "km", 450.0),
        ("Range (miles)", "280", environment("driving_range"), "?", 0.0),
        ("Förbrukning", "0.65", environment("fuel_consumption"), "l/100km", 6.5),
        ("Förbrukning (kWh/100km)", "18.5", environment("fuel_consumption"), "?", 0.0),
        ("Förbrukning (l/mil)", "0.65", environment("fuel_consumption"), "l/100km", 6.5),
        ("Fuel consumption (mpg)", "24", environment("fuel_consumption"), "?", 0.0),
        ("Batteri (Ah)", "70", environment("battery_capacity"), "?", 0.0),
        ("Batteri", "77000", environment("battery_capacity"), "kwh", 77.0),
        ("Batterikapacitet", "77.4", environment("battery_capacity"), "kwh", 77.4),
        ("CO2", "0.124", environment("co2_emission"), "g/km", 124.0),
        ("Antal säten", "52", "category_fields.physics.number_of_seats".to_owned(), "?", 0.0),
        ("Doors", "1998", "category_fields.physics.number_of_doors".to_owned(), "?", 0.0),
        ("Ägare", "2019", "category_fields.condition.number_of_owners".to_owned(), "?", 0.0),
    ] {
        let table = of("sv", &format!("{name} of {text}")).with(name, move |_, _| text.to_owned());
        all.push(table.truth(move |_, _, truth| {
            if unit != "?" {
                set(truth, &field, json!({"unit": unit, "value": value}));
            }
        }));
    }
}

fn prices(all: &mut Vec<Table>) {
    let unpriced =
        |name: &str, language| of(language, name).without("price").truth(|_, _, truth| unset(truth, "price"));
    // Thousands, öre, zeros and numbers with two readings.
    let currency = |language| if language == "sv" { "SEK" } else { "EUR" };
    for (name, text) in [
        ("in thousands", (|car: &Car| (car.price / 1000).to_string()) as fn(&Car) -> String),
        ("in thousands with a decimal", |car| format!("{}.{}", car.price / 1000, car.price / 100 % 10)),
        ("in öre", |car| (car.price * 100).to_string()),
        ("grouped by points", |car| grouped(car.price, ".")),
        ("grouped by commas", |car| grouped(car.price, ",")),
        ("grouped by spaces", |car| grouped(car.price, " ")),
        ("grouped by apostrophes", |car| grouped(car.price, "'")),
        ("grouped, and some with decimals", |car| {
            if car.images == 1 { format!("{}.50", car.price - 1) } else { grouped(car.price, ".") }
        }),
        ("grouped both ways", |car| grouped(car.price, if car.images == 1 { "." } else { "," })),
    ] {
        for (language, header) in [("sv", "Pris"), ("de", "Preis"), ("de", "Preis EUR"), ("en", "Price (EUR)")] {
            let table = unpriced(&format!("{header} {name}"), language).with(header, move |_, car| text(car));
            all.push(table.truth(move |_, car, truth| {
                let is_decimal = car.images == 1 && name == "grouped, and some with decimals";
                let amount = match name {
                    "in thousands" => json!(car.price / 1000 * 1000),
                    _ if is_decimal => json!(f64::from(u32::try_from(car.price - 1).unwrap_or(0)) + 0.5),
                    _ => json!(car.price),
                };
                set(truth, "price", json!([{"type": "list", "amount": amount, "currency": currency(language)}]));
            }));
        }
    }
    all.push(
        of("sv", "0 and 1 for no price")
            .instead("price", |number, car| match number % 4 {
                0 => "0".to_owned(),
                1 => "0,00".to_owned(),
                _ => car.price.to_string(),
            })
            .truth(|number, _, truth| {
                if number % 4 < 2 {
                    unset(truth, "price");
                }
            }),
    );
    // Other prices than buyers pay, alone and beside the price.
    for name in [
        "Pris exkl moms",
        "Nettopreis",
        "Händlerpreis",
        "EK-Preis",
        "Inköpspris",
        "Cost price",
        "Trade price",
        "MSRP",
        "Nypris",
        "Neupreis",
        "Old price",
        "Pris från",
        "Pris/mån",
        "Månadspris",
        "Leasing per month",
        "Minimum price",
        "Deposit",
        "Kontantinsats",
        "Price 2",
        "Pris öre",
        "Pris tkr",
        "Export price",
        "Reservationspris",
        "Finance price",
    ] {
        for language in ["sv", "en"] {
            all.push(unpriced(&format!("only {name}"), language).with(name, |_, car| (car.cost / 2).to_string()));
            all.push(
                of(language, &format!("{name} beside the price")).first(name, |_, car| (car.cost / 2).to_string()),
            );
        }
    }
    for (one, other) in [
        ("Price", "Sale price"),
        ("Regular price", "Sale price"),
        ("Pris", "Kampanjpris"),
        ("Pris", "Annonspris"),
        ("Pris", "Pris (2)"),
    ] {
        let table = unpriced(&format!("{one} beside {other}"), "sv");
        all.push(
            table.with(one, |_, car| (car.price + 10_000).to_string()).with(other, |_, car| car.price.to_string()),
        );
    }
    // Numbers that look like prices.
    for name in ["Kolumn9", "Försäkringsvärde", "Rabatt", "Insurance group", "Valuation"] {
        all.push(
            unpriced(&format!("{name} without a price"), "sv").with(name, |_, car| (car.price / 100 * 100).to_string()),
        );
    }
}

fn identifiers(all: &mut Vec<Table>) {
    // The number of the row, the dealer, or an article that looks like a plate.
    for name in ["Nr", "Löpnr", "#", "Rad", "Id", "Ref", "Position", "No"] {
        let table = of("sv", &format!("{name} is the number of the row")).without("id");
        all.push(
            table.first(name, |number, _| (number + 1).to_string()).truth(|_, _, truth| unset(truth, "source_id")),
        );
    }
    for name in ["Id", "Kundennummer", "Ref", "Referens", "Kundnr"] {
        let table = of("sv", &format!("{name} is the dealer")).without("id");
        all.push(table.first(name, |_, _| "100200".to_owned()).truth(|_, _, truth| unset(truth, "source_id")));
    }
    for name in ["Lagernr", "Kod", "Plats", "Kolumn1"] {
        let table = of("sv", &format!("{name} looks like a plate")).without("id").without("vin");
        all.push(table.first(name, |number, _| format!("LAG{:03}", number + 1)).truth(|number, _, truth| {
            set(truth, "source_id", json!(format!("LAG{:03}", number + 1)));
            unset(truth, "category_fields.registration_number");
        }));
    }
    // Vehicles that are traded in.
    for name in
        ["Inbytesbil", "Inbyte regnr", "Trade-in plate", "Lånebil", "tradeIn.registrationNumber", "Gammalt regnr"]
    {
        all.push(
            of("sv", &format!("{name} and no plate"))
                .without("vin")
                .with(name, |number, _| {
                    format!(
                        "{}{}A{:02}A",
                        char::from(b"BCDFGHJKLM"[number % 10]),
                        char::from(b"RSTUWX"[number % 6]),
                        number
                    )
                })
                .truth(|_, _, truth| unset(truth, "category_fields.registration_number")),
        );
    }
    all.push(
        of("en", "the VIN of another vehicle")
            .without("vin")
            .with("Trade-in VIN", |number, _| format!("WVWZZZ1KZ{:08}", 20_000_000 + number))
            .truth(|_, _, truth| unset(truth, "category_fields.vin")),
    );
}

fn words(all: &mut Vec<Table>) {
    // The words of gearboxes and fuels in columns of something else.
    for name in ["Klimatanläggning", "Klimaanlage", "Air conditioning", "AC", "Parkeringsbroms", "Kolumn7", "Stolar"] {
        for language in LANGUAGES {
            all.push(
                of(language, &format!("{name} and no gearbox"))
                    .without("gearbox")
                    .with(name, move |number, _| word(language, ["manual", "automatic"][number % 2]).to_owned())
                    .truth(|_, _, truth| unset(truth, "category_fields.powertrain.transmission")),
            );
        }
    }
    for name in ["Parkeringsvärmare", "Standheizung", "Heater", "Kolumn8"] {
        for language in LANGUAGES {
            all.push(
                of(language, &format!("{name} and no fuel"))
                    .without("fuel")
                    .with(name, move |number, _| {
                        word(language, ["diesel", "electric", "gasoline"][number % 3]).to_owned()
                    })
                    .truth(|_, _, truth| unset(truth, "category_fields.powertrain.fuels")),
            );
        }
    }
    for name in ["Inredning", "Klädsel", "Interior", "Däckfärg", "Polster", "Kolumn6", "Text"] {
        all.push(
            of("sv", &format!("{name} has colours, and there is no colour"))
                .without("colour")
                .with(name, |_, car| word("sv", car.colour).to_owned())
                .truth(|_, car, truth| {
                    unset(truth, "category_fields.color");
                    unset(truth, "category_fields.color_group");
                    set(truth, "category_fields.interior_color", json!(word("sv", car.colour)));
                    set(truth, "body", json!(word("sv", car.colour)));
                }),
        );
    }
    // Codes that mean something else in another system.
    for (code, fuel) in [("E", "ethanol"), ("G", "gasoline"), ("g", "gasoline"), ("H", "gasoline")] {
        let table = of("sv", &format!("{code} is {fuel}"))
            .instead("fuel", move |number, _| ["B", "D", code][number % 3].to_owned());
        all.push(table.says("fuels = ").truth(move |number, _, truth| {
            let means = ["gasoline", "diesel", fuel][number % 3];
            set(truth, "category_fields.powertrain.fuels", json!([means]));
        }));
    }
}

fn people(all: &mut Vec<Table>) {
    for name in ["E-post", "Email", "Kontakt", "Säljare", "Ansprechpartner", "Kolumn5", "Växel"] {
        for who in
            ["camille@auto.example", "erik.manuell@bilar.example", "diesel@handlare.example", "info@automat.example"]
        {
            all.push(
                of("sv", &format!("{name} is {who}"))
                    .without("gearbox")
                    .without("fuel")
                    .with(name, move |_, _| who.to_owned())
                    .truth(move |_, _, truth| {
                        unset(truth, "category_fields.powertrain");
                        set(truth, "category_fields.salesperson", json!(who));
                    }),
            );
        }
    }
    for (name, text) in [
        ("Webbplats", "www.automat-bilar.example"),
        ("Hemsida", "https://diesel.example/"),
        ("Domain", "auto-manuell.example"),
    ] {
        let table = of("sv", name).without("gearbox").without("fuel").with(name, move |_, _| text.to_owned());
        all.push(table.truth(|_, _, truth| unset(truth, "category_fields.powertrain")));
    }
}

fn sold(all: &mut Vec<Table>) {
    for (name, sold, on_sale) in [
        ("Såld", "Ja", "Nej"),
        ("Såld", "1", "0"),
        ("Såld", "x", ""),
        ("Sold", "true", "false"),
        ("Is sold", "Yes", "No"),
        ("Verkauft", "Ja", "Nein"),
        ("Solgt", "Ja", "Nei"),
        ("Reserverad", "Ja", "Nej"),
        ("Status", "Såld", "Till salu"),
        ("Status", "SOLD", "AVAILABLE"),
        ("Status", "Verkauft", "Verfügbar"),
        ("Lagerstatus", "Levererad", "I lager"),
        ("Availability", "not available", "available"),
        ("In stock", "0", "1"),
        ("Available", "No", "Yes"),
        ("Published", "-1", "1"),
        ("Active", "false", "true"),
    ] {
        all.push(
            of("sv", &format!("{name} {sold}"))
                .with(name, move |number, _| if number % 7 == 3 { sold } else { on_sale }.to_owned())
                .says("# [rows]"),
        );
    }
    // Yes and no that mean something else than the name.
    for (name, path) in
        [("Ny", "condition.is_new_vehicle"), ("Moms", "is_vat_deductible"), ("New", "condition.is_new_vehicle")]
    {
        for (yes, no) in [("1", "0"), ("N", "B"), ("Ny", "Begagnad"), ("25", "0"), ("j", "n")] {
            let table = of("sv", &format!("{name} of {yes}"))
                .with(name, move |number, _| if number % 2 == 0 { yes } else { no }.to_owned());
            all.push(table.truth(move |number, _, truth| {
                if yes == "j" {
                    set(truth, &format!("category_fields.{path}"), json!(number % 2 == 0));
                }
            }));
        }
    }
}

fn dates(all: &mut Vec<Table>) {
    let traffic = "category_fields.in_traffic_date";
    for (name, text) in [
        ("I trafik", (|car: &Car| car.date()) as fn(&Car) -> String),
        ("I trafik", |car| car.dotted_date()),
        ("I trafik", |car| format!("{:02}/{:02}/{}", car.registered.1, car.registered.2, car.registered.0)),
        ("I trafik", |car| format!("{:02}/{:02}/{}", car.registered.2, car.registered.1, car.registered.0)),
        ("I trafik", |car| format!("{:02}/{:02}/{}", car.registered.1, 1 + car.registered.2 % 12, car.registered.0)),
        ("I trafik", |car| format!("{:02}{:02}{:02}", car.registered.0 % 100, car.registered.1, car.registered.2)),
        ("I trafik", |car| (40_000 + car.km / 100).to_string()),
        ("I trafik", |car| if car.images == 1 { "1900-01-01".to_owned() } else { car.date() }),
        ("I trafik", |car| if car.images == 1 { "1970-01-01".to_owned() } else { car.date() }),
    ] {
        all.push(
            of("sv", &format!("{name} {}", text(&crate::cars::cars(77, 1)[0])))
                .with(name, move |_, car| text(car))
                .truth(move |_, car, truth| {
                    let text = text(car);
                    let is_known = text.len() != 5 && !text.starts_with("1900") && !text.starts_with("1970");
                    // The one whose day is below 13 throughout has another day.
                    let day = text.len() == 10
                        && text.contains('/')
                        && text[3..5] == format!("{:02}", 1 + car.registered.2 % 12);
                    let date = if day && text[..2] == format!("{:02}", car.registered.1) {
                        format!("{}-{:02}-{:02}", car.registered.0, car.registered.1, 1 + car.registered.2 % 12)
                    } else {
                        car.date()
                    };
                    if is_known {
                        set(truth, traffic, json!(date));
                    }
                }),
        );
    }
    for name in ["Inlagd", "Ändrad", "Created", "Updated", "Kolumn3", "Inköpsdatum", "Date in stock"] {
        all.push(of("sv", name).with(name, |number, _| format!("2026-10-{:02}", 1 + number % 28)));
    }
    // The year of something else.
    for name in ["Kolumn2", "Inköpsår", "Year of purchase", "Däckår"] {
        all.push(
            of("sv", &format!("{name} and no year"))
                .without("year")
                .with(name, |_, _| "2026".to_owned())
                .truth(|_, _, truth| unset(truth, "category_fields.model_year")),
        );
    }
    all.push(of("sv", "two years").with("Tillverkningsår", |_, car| (car.year - 1).to_string()));
}
