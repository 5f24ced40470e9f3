//! Unknown files become mappings by a few edits.

use std::path::PathBuf;

use ad_core::{
    catalogue::Catalogue,
    model::ApiVersion,
    rulebook::{Rulebook, SourceId, WriteContext},
};
use ad_files::json::at;
use serde_json::{Value, json};

use super::*;
use crate::{
    mapping::{Mapped, Mapping},
    readers::{Form, Settings, rows_of},
};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/unknown").join(name)
}

fn draft(name: &str) -> Draft {
    let mut reader = Reader::open(&data(name), &Settings::default()).unwrap();
    inspect(&mut reader, &Catalogue::embedded()).unwrap()
}

/// The rows of a file by a draft in which some lines were edited: what each begins with, and the line in its place.
fn mapped(name: &str, draft: &Draft, edits: &[(&str, &str)]) -> Vec<Mapped> {
    assert!(edits.len() < 10, "a person edits fewer than ten lines");
    let mut text: Vec<String> = draft.mapping.lines().map(str::to_owned).collect();
    for (begins, line) in edits {
        let found = text.iter_mut().find(|known| known.starts_with(begins));
        let known = found.unwrap_or_else(|| panic!("no line begins with {begins}:\n{}", draft.mapping));
        (*line).clone_into(known);
    }
    let mapping = Mapping::parse(&text.join("\n"), &Catalogue::embedded());
    let mapping = mapping.unwrap_or_else(|error| panic!("{error}\n{}", draft.mapping));
    let mut reader = Reader::open(&data(name), mapping.reading()).unwrap();
    let mut all = Vec::new();
    while let Some(batch) = reader.next(None).unwrap() {
        let bound = mapping.bind(batch.columns());
        assert_eq!(bound.missing(), Vec::<String>::new());
        all.extend(batch.rows().map(|row| bound.apply(row)));
    }
    for mapped in &all {
        assert!(mapped.findings.is_empty(), "{:?}\n{}", mapped.findings, draft.mapping);
    }
    all
}

fn field<'a>(mapped: &'a Mapped, path: &str) -> &'a Value {
    at(&mapped.payload, path).unwrap_or(&Value::Null)
}

/// The rules take every payload.
fn are_valid(all: &[Mapped]) {
    let rules = Rulebook::default();
    for mapped in all {
        let write = WriteContext { category: mapped.category.unwrap(), version: ApiVersion::V4, dealer: None };
        let result = rules.create(write, mapped.payload.clone(), SourceId::Required);
        assert!(result.is_ok(), "{:?}\n{:?}", result.err().map(|errors| errors.flatten().len()), mapped.payload);
    }
}

#[test]
fn a_german_csv_needs_two_answers() {
    let draft = draft("german.csv");
    let edits = [
        ("# source_id =", "source_id = \"Fahrgestellnummer\""),
        ("# category_fields.model_year =", "category_fields.model_year = { from = \"Erstzulassung\", year = true }"),
    ];
    let all = mapped("german.csv", &draft, &edits);
    are_valid(&all);
    assert_eq!(all.len(), 40);
    let first = &all[0];
    for (path, value) in [
        ("source_id", json!("WVWA7TRN772KRK1AE")),
        ("category_fields.registration_number", json!("FUB380")),
        ("category_fields.brand", json!("mercedes-benz")),
        ("category_fields.model", json!("c-class")),
        ("category_fields.model_year", json!(2014)),
        ("category_fields.in_traffic_date", json!("2014-09-19")),
        ("category_fields.condition.mileage", json!({"unit": "km", "value": 99937})),
        ("category_fields.powertrain.fuels", json!(["gasoline"])),
        ("category_fields.powertrain.transmission", json!("automatic")),
        ("price", json!([{"type": "list", "amount": 48990, "currency": "EUR"}])),
        ("image_urls", json!(["https://bilder.example/0/0.jpg"])),
    ] {
        assert_eq!(field(first, path), &value, "{path}\n{}", draft.mapping);
    }
    assert!(draft.mapping.contains("year of the first registration"), "a stand-in is told: {}", draft.mapping);
}

#[test]
fn an_english_xml_feed_needs_no_edit() {
    let draft = draft("english.xml");
    let all = mapped("english.xml", &draft, &[]);
    are_valid(&all);
    assert_eq!(all.len(), 40);
    let first = &all[0];
    assert_eq!(field(first, "source_id"), &json!("NC-1000"));
    assert_eq!(field(first, "image_urls").as_array().map(Vec::len), Some(3));
    assert_eq!(field(first, "category_fields.equipments"), &json!(["Tow bar", "Heated seats"]));
    assert_eq!(field(first, "category_fields.condition.mileage")["unit"], json!("km"));
    assert_eq!(field(first, "category_fields.powertrain.power")["unit"], json!("kw"));
    assert_eq!(field(first, "category_fields.condition.is_new_vehicle"), &json!(false));
    assert!(!field(first, "body").as_str().unwrap().contains('<'));
    for of in ["in_traffic_date", "model_type", "body_type", "color", "color_group", "condition.number_of_owners"] {
        assert!(!field(first, &format!("category_fields.{of}")).is_null(), "{of}\n{}", draft.mapping);
    }
}

#[test]
fn a_file_without_a_header_needs_an_address_and_what_one_word_means() {
    let draft = draft("headerless.tsv");
    let says = |text: &str| draft.missing.iter().any(|missing| missing.contains(text));
    assert!(says("The images are file names"), "{:?}", draft.missing);
    assert!(says("[values.own_fuel]"), "{:?}", draft.missing);
    let edits = [
        ("# \"Laddhybrid\"", "\"Laddhybrid\" = [\"gasoline\", \"electric\"]"),
        ("# image_urls =", "image_urls = { from = \"12-14\", template = \"https://cdn.example/{value}\" }"),
        ("# source_id = 1", "source_id = 1"),
        ("# category_fields.model_year =", "category_fields.model_year = 5"),
        (
            "# category_fields.condition.mileage = { from = 6, unit = \"mil\" }",
            "category_fields.condition.mileage = { from = 6, unit = \"mil\" }",
        ),
        ("# price.list = { from = 7, currency = \"SEK\" }", "price.list = { from = 7, currency = \"SEK\" }"),
    ];
    let all = mapped("headerless.tsv", &draft, &edits);
    are_valid(&all);
    let first = &all[0];
    for (path, value) in [
        ("source_id", json!("7000")),
        ("category_fields.registration_number", json!("HFZ872")),
        ("category_fields.model", json!("v60")),
        ("category_fields.model_year", json!(2022)),
        ("category_fields.condition.mileage", json!({"unit": "mil", "value": 12724})),
        ("image_urls", json!(["https://cdn.example/0_0.jpg"])),
    ] {
        assert_eq!(field(first, path), &value, "{path}\n{}", draft.mapping);
    }
    assert_eq!(field(first, "price")[0]["amount"], json!(174_900));
}

/// The draft of rows as a CSV file has them.
fn draft_of(names: &[&str], rows: &[&[&str]]) -> Draft {
    draft_with(names, rows, Known::default())
}

fn draft_with(names: &[&str], rows: &[&[&str]], known: Known<'_>) -> Draft {
    let catalogue = Catalogue::embedded();
    let mut seen = SeenFile::new(&catalogue);
    seen.add(&rows_of(names, rows));
    let detected = Detected {
        form: Form::Csv,
        encoding: "utf-8".to_owned(),
        separator: Some(','),
        header: Some(true),
        skip_first: 0,
        rows: None,
        packing: None,
        member: None,
        sheet: None,
        notes: Vec::new(),
    };
    seen.draft(&detected, known)
}

#[test]
fn forms_and_types_are_told_by_what_shows_them() {
    let draft = draft_of(
        &["Fordonstyp", "Regnr", "I trafik", "Pris", "Drivmedel\n#[x]"],
        &[
            &["Personbil", "ABC123", "04/05/2019", "149.900", "Bensin"],
            &["Transportbil", "ABC124", "13/05/2019", "99.900,50", "Ånga \"x\""],
            &["Personbil", "ABC125", "05/04/2019", "59.900", "Bensin"],
        ],
    );
    for line in [
        "from = \"Fordonstyp\"",
        "values = { \"Personbil\" = \"car\", \"Transportbil\" = \"transport\" }",
        "category_fields.in_traffic_date = { from = \"I trafik\", date = \"DD/MM/YYYY\" }",
        "language = \"sv\"",
        "price.list = { from = \"Pris\", currency = \"SEK\", decimal = \",\" }",
        "# source_id = \"Regnr\"",
        "# \"Ånga \\\"x\\\"\" = \"\"  # 1 row",
    ] {
        assert!(draft.mapping.lines().any(|known| known == line), "{line}\n{}", draft.mapping);
    }
    assert!(Mapping::parse(&draft.mapping, &Catalogue::embedded()).is_ok(), "{}", draft.mapping);
}

#[test]
fn a_guess_says_why_and_an_unsure_one_is_a_comment() {
    let draft = draft("headerless.tsv");
    let year = draft.columns.iter().find(|guess| guess.field.as_deref() == Some("category_fields.model_year")).unwrap();
    assert_eq!((year.column.as_str(), year.why.as_str()), ("5", "100 % are years"));
    for guess in draft.columns.iter().filter(|guess| guess.field.is_some() && guess.confidence < 60) {
        let field = guess.field.as_deref().unwrap_or_default();
        assert!(draft.mapping.contains(&format!("\n# {field} = ")), "{field}\n{}", draft.mapping);
    }
    assert!(draft.filled.contains(&"category_fields.brand".to_owned()), "{:?}", draft.filled);
    assert!(draft.asked.contains(&"category_fields.condition.mileage".to_owned()), "{:?}", draft.asked);
}

#[test]
fn units_and_currencies_come_from_evidence_or_are_asked() {
    let rows: Vec<Vec<String>> = (0..30)
        .map(|row| {
            let year = 2014 + row % 10;
            let (km, price) = ((2026 - year) * 15_000 + row * 10, 90_000 + row * 1_000);
            vec![
                format!("YV1ABCDEF{:08}", 10_000_000 + row),
                year.to_string(),
                km.to_string(),
                (70 + row).to_string(),
                price.to_string(),
                (price / 2).to_string(),
            ]
        })
        .collect();
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    for (names, has) in [
        // The unit of the header, and a currency that is not stated.
        (
            ["FIN", "Modelljahr", "Laufleistung", "Leistung kW", "Preis", "EK-Preis"],
            [
                "from = \"Leistung kW\", unit = \"kw\"",
                "# price.list = { from = \"Preis\", currency = \"EUR\" }",
                "from = \"Laufleistung\", unit = \"km\"",
            ],
        ),
        // In Swedish, the age of the vehicles shows the unit, and the currency is the dealer's.
        (
            ["Chassinr", "Årsmodell", "Mätarställning", "Effekt", "Pris", "Inköpspris"],
            [
                "from = \"Mätarställning\", unit = \"km\"",
                "# category_fields.powertrain.power = { from = \"Effekt\", unit = \"hp\" }",
                "price.list = { from = \"Pris\", currency = \"SEK\" }",
            ],
        ),
        // In English, it may be miles.
        (
            ["VIN", "Model year", "Mileage", "Power (bhp)", "Price (GBP)", "Cost price"],
            [
                "# category_fields.condition.mileage = { from = \"Mileage\", unit = \"mi\" }",
                "from = \"Power (bhp)\", unit = \"hp\"",
                "from = \"Price (GBP)\", currency = \"GBP\"",
            ],
        ),
    ] {
        let draft = draft_of(&names, &rows);
        for line in has {
            assert!(draft.mapping.contains(line), "{line}\n{}", draft.mapping);
        }
        assert!(!draft.mapping.contains(&format!("\nprice.list = {{ from = {:?}", names[5])), "{}", draft.mapping);
    }
}

#[test]
fn units_and_currencies_are_those_of_the_dealer_unless_the_file_says_others() {
    let names = ["Plate", "Vehicle type", "Brand", "Model", "Model year", "Mileage", "Price"];
    let rows: [&[&str]; 2] = [
        &["ABC123", "Car", "Volvo", "V60", "2019", "42000", "100000"],
        &["ABC124", "Car", "Volvo", "V60", "2020", "100000", "100000"],
    ];
    let of = |names: [&str; 7], currency: &str| {
        draft_with(&names, &rows, Known { currency: Some(currency), ..Known::default() })
    };
    for (currency, unit) in [("SEK", "km"), ("NOK", "km"), ("DKK", "km"), ("EUR", "km"), ("GBP", "mi")] {
        let draft = of(names, currency);
        let [mileage, price] = &draft.columns[5..] else { panic!("{:?}", draft.columns) };
        assert_eq!(mileage.unit.as_deref(), Some(unit), "{currency}\n{}", draft.mapping);
        assert_eq!((&price.unit, price.questions.as_slice()), (&None, &[][..]), "{currency}\n{}", draft.mapping);
        assert!(draft.mapping.contains("\nprice.list = \"Price\"\n"), "{}", draft.mapping);
    }
    for (names, has) in [
        (["Plate", "Type", "Brand", "Model", "Model year", "Mileage (miles)", "Price"], "unit = \"mi\""),
        (["Plate", "Type", "Brand", "Model", "Model year", "Mileage", "Price (EUR)"], "currency = \"EUR\""),
        (["Regnr", "Typ", "Märke", "Modell", "Årsmodell", "Mätarställning", "Pris kr"], "unit = \"km\""),
        (["Regnr", "Typ", "Märke", "Modell", "Årsmodell", "Mätarställning", "Pris"], "\nprice.list = \"Pris\""),
    ] {
        let draft = of(names, "SEK");
        assert!(draft.mapping.contains(has), "{has}\n{}", draft.mapping);
    }
    // Prices in kronor are not in euros.
    let kronor = of(["Regnr", "Typ", "Märke", "Modell", "Årsmodell", "Mätarställning", "Pris kr"], "EUR");
    assert_eq!(kronor.columns[6].unit.as_deref(), Some("SEK"), "{}", kronor.mapping);
}

#[test]
fn values_with_and_without_a_unit_are_read_as_they_are_written() {
    let of = |name: &str, mileages: [&str; 3], choices: Option<&Choices>| {
        let rows = mileages.map(|mileage| ["ABC123", "Volvo", "V60", "2019", mileage]);
        let rows = rows.each_ref().map(<[&str; 5]>::as_slice);
        let known = Known { currency: Some("SEK"), choices };
        draft_with(&["Plate", "Brand", "Model", "Model year", name], &rows, known)
    };
    for (name, mileages, unit, is_asked) in [
        // As most say, or as the name says.
        ("Mileage", ["42 000 km", "51000", "4 300 mil"], "km", true),
        ("Mileage", ["42 000 km", "51000", "61000"], "km", true),
        ("Mileage", ["4 200 mil", "5100", "61 000 km"], "km", true),
        ("Mileage (km)", ["4 200 mil", "51000", "61000"], "km", false),
        ("Miltal", ["42 000 km", "5100", "6100"], "mil", false),
    ] {
        let draft = of(name, mileages, None);
        let column = &draft.columns[4];
        assert_eq!(column.unit.as_deref(), Some(unit), "{name} {mileages:?}\n{}", draft.mapping);
        assert_eq!(!column.questions.is_empty(), is_asked, "{name} {mileages:?}\n{}", draft.mapping);
        assert!(draft.mapping.contains(&format!("unit = {{ default = \"{unit}\" }}")), "{}", draft.mapping);
    }
    let mileage = ChosenField { field: "category_fields.condition.mileage".to_owned(), unit: Some("km".to_owned()) };
    let columns = [("Mileage".to_owned(), Some(mileage))].into();
    let choices = Choices { columns, ..Choices::default() };
    let draft = of("Mileage", ["42 000 km", "51000", "4 300 mil"], Some(&choices));
    assert_eq!(draft.columns[4].questions, []);
    let mapping = Mapping::parse(&draft.mapping, &Catalogue::embedded()).unwrap();
    let batch = rows_of(&["Mileage"], &[&["42 000 km"], &["51000"], &["4 300 mil"]]);
    let bound = mapping.bind(batch.columns());
    let read: Vec<_> =
        batch.rows().map(|row| field(&bound.apply(row), "category_fields.condition.mileage").clone()).collect();
    let measure = |value: u32, unit: &str| json!({"value": value, "unit": unit});
    assert_eq!(read, [measure(42_000, "km"), measure(51_000, "km"), measure(4300, "mil")], "{}", draft.mapping);
}

#[test]
fn values_that_an_attribute_names_are_columns() {
    // As MariaDB and MySQL export a table (-X).
    let mut reader = Reader::open(&data("../tools/mariadb.xml"), &Settings::default()).unwrap();
    let draft = inspect(&mut reader, &Catalogue::embedded()).unwrap();
    for line in [
        "source_id = { from = \"field\", where = { column = \"field/@name\", is = \"lagernr\" } }",
        "category_fields.registration_number = { from = \"field\", where = { column = \"field/@name\", is = \"regnr\" } }",
        "body = { from = \"field\", where = { column = \"field/@name\", is = \"beskrivning\" } }",
    ] {
        assert!(draft.mapping.contains(line), "{line}\n{}", draft.mapping);
    }
    Mapping::parse(&draft.mapping, &Catalogue::embedded()).unwrap();
}

#[test]
fn columns_are_what_somebody_has_chosen() {
    let text =
        "Regnr;Märke;Kod;Sträcka;Pris;Läge\nABC123;Volvo;V60;1200;99000;Till salu\nABC124;Wolvo;XC60;2300;89000;Såld\n";
    let catalogue = Catalogue::embedded();
    let look = |choices: Option<&Choices>| {
        let file = crate::readers::testing::file(text.as_bytes());
        let mut reader = Reader::open(file.path(), &Settings::default()).unwrap();
        inspect_with(&mut reader, &catalogue, Known { choices, ..Known::default() }).unwrap()
    };
    let guessed = look(None);
    let of = |draft: &Draft, name: &str| draft.columns.iter().find(|column| column.column == name).unwrap().clone();
    assert_eq!(guessed.sold.len(), 1, "{guessed:?}");
    assert_eq!(of(&guessed, "Märke").field.as_deref(), Some("category_fields.brand"));

    let chosen =
        |field: &str, unit: Option<&str>| Some(ChosenField { field: field.to_owned(), unit: unit.map(str::to_owned) });
    let mut choices = Choices { vehicle_type: Some("car".to_owned()), skips_sold: true, ..Choices::default() };
    for (column, field) in [
        ("Regnr", chosen("category_fields.registration_number", None)),
        ("Märke", chosen("category_fields.brand", None)),
        ("Kod", chosen("category_fields.model_type", None)),
        ("Sträcka", chosen("category_fields.condition.mileage", Some("mil"))),
        ("Pris", chosen("price.list", Some("EUR"))),
        ("Läge", None),
    ] {
        choices.columns.insert(column.to_owned(), field);
    }
    let asked = look(Some(&choices));
    let [unknown] = asked.unknown.as_slice() else { panic!("{:?}", asked.unknown) };
    assert_eq!((unknown.field.as_str(), &*unknown.values[0].0), ("category_fields.brand", "Wolvo"));
    choices.values.entry(unknown.map.clone()).or_default().insert("Wolvo".to_owned(), vec!["volvo".to_owned()]);
    let draft = look(Some(&choices));
    for expected in [
        "category_fields.model_type = \"Kod\"",
        "unit = \"mil\"",
        "currency = \"EUR\"",
        "\n\"Wolvo\" = \"volvo\"",
        "\n[rows]\nskip = [",
    ] {
        assert!(draft.mapping.contains(expected), "{expected}: {}", draft.mapping);
    }
    assert_eq!(of(&draft, "Sträcka").unit.as_deref(), Some("mil"));
    Mapping::parse(&draft.mapping, &catalogue).unwrap();
    let offered = offered("car");
    assert!(offered.contains(&("category_fields.condition.mileage", vec!["mil", "km", "mi"])), "{offered:?}");
}
