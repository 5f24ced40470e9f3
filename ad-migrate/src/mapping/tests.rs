//! A mapping as a dealer writes it, on rows as systems export them.

use ad_core::catalogue::Catalogue;
use ad_files::json::at;
use serde_json::{Value, json};

use super::*;
use crate::{finding::Severity, readers::rows_of};

fn mapping(text: &str) -> Mapping {
    Mapping::parse(text, &Catalogue::embedded()).unwrap_or_else(|error| panic!("{error}"))
}

fn errors(text: &str) -> Vec<String> {
    match Mapping::parse(text, &Catalogue::embedded()) {
        Ok(_) => Vec::new(),
        Err(MappingError(errors)) => errors,
    }
}

/// What a car's fields come to, each from one column of one row.
fn car(fields: &str, columns: &[(&str, &str)]) -> Mapped {
    let mapping = mapping(&format!("[vehicle]\ntype = \"car\"\n[fields]\n{fields}"));
    let (names, values): (Vec<&str>, Vec<&str>) = columns.iter().copied().unzip();
    let batch = rows_of(&names, &[&values]);
    let bound = mapping.bind(batch.columns());
    bound.apply(batch.rows().next().unwrap())
}

/// One field of one column.
fn field(field: &str, rule: &str, value: &str) -> Result<Value, String> {
    let mapped = car(&format!("{field} = {rule}"), &[("X", value)]);
    match mapped.findings.first() {
        Some(finding) => Err(finding.reason.clone()),
        None => Ok(at(&mapped.payload, field).cloned().unwrap_or(Value::Null)),
    }
}

#[test]
fn the_built_in_mappings_hold() {
    for name in Mapping::builtin_names() {
        mapping(Mapping::builtin(name).unwrap());
    }
}

#[test]
fn the_kind_of_the_field_decides_how_a_text_is_read() {
    for (path, rule, text, value) in [
        ("source_id", "'X'", " L1 ", json!("L1")),
        ("category_fields.registration_number", "'X'", "abc 12d", json!("ABC12D")),
        ("category_fields.registration_number", "'X'", "ABC-123", json!("ABC123")),
        ("category_fields.model_year", "'X'", "2019", json!(2019)),
        ("category_fields.model_year", "{ from = 'X', year = true }", "05/2019", json!(2019)),
        ("category_fields.model_year", "{ from = 'X', year = true }", "20190504", json!(2019)),
        ("category_fields.brand", "'X'", "VOLVO", json!("volvo")),
        ("category_fields.in_traffic_date", "'X'", "20190504", json!("2019-05-04")),
        ("category_fields.in_traffic_date", "{ from = 'X', date = 'MM/DD/YYYY' }", "05/04/2019", json!("2019-05-04")),
        ("category_fields.is_vat_deductible", "'X'", "Ja", json!(true)),
        (
            "category_fields.condition.mileage",
            "{ from = 'X', unit = 'mil' }",
            "12 345",
            json!({"unit": "mil", "value": 12345}),
        ),
        (
            "category_fields.condition.mileage",
            "{ from = 'X', unit = 'km', as = 'mil' }",
            "205590",
            json!({"unit": "mil", "value": 20559}),
        ),
        ("category_fields.condition.mileage", "'X'", "12 345 mil", json!({"unit": "mil", "value": 12345})),
        ("category_fields.powertrain.power", "{ from = 'X' }", "120 kW", json!({"unit": "kw", "value": 120})),
        ("category_fields.powertrain.transmission", "{ from = 'X', values = 'gearbox' }", "Aut", json!("automatic")),
        (
            "category_fields.powertrain.transmission",
            "{ from = 'X', values = { 'vet EJ' = '' } }",
            " Vet ej ",
            json!(null),
        ),
        (
            "category_fields.powertrain.fuels",
            "{ from = 'X', values = 'fuel' }",
            "Bensin/El",
            json!(["gasoline", "electric"]),
        ),
        ("category_fields.powertrain.drive_type", "{ from = 'X', values = 'drive' }", "Fyrhjulsdriven", json!("awd")),
        ("category_fields.color", "'X'", "Mörkgrå metallic", json!("Mörkgrå metallic")),
        ("category_fields.color_group", "{ from = 'X', values = 'color' }", "Mörkgrå metallic", json!("grey")),
        (
            "category_fields.equipments",
            "{ from = 'X', split = '|' }",
            "Drag|Vinterhjul, dubbade|19,5 tum",
            json!(["Drag", "Vinterhjul dubbade", "19.5 tum"]),
        ),
        (
            "category_fields.equipments",
            "'X'",
            "Dragkrok,Motorvärmare, 19,5 tum\nDäck (sommar, vinter)",
            json!(["Dragkrok", "Motorvärmare", "19.5 tum", "Däck (sommar vinter)"]),
        ),
        (
            "category_fields.equipments",
            "{ from = 'X', values = { 'Drag, fast' = 'Drag' } }",
            "Drag, fast",
            json!(["Drag"]),
        ),
        (
            "image_urls",
            "'X'",
            "https://x.example/a,b.jpg, https://x.example/c.jpg;https://x.example/d.jpg",
            json!(["https://x.example/a,b.jpg", "https://x.example/c.jpg", "https://x.example/d.jpg"]),
        ),
        (
            "category_fields.equipments",
            "{ from = 'X', split = '|', values = 'equipment' }",
            "AHK|Eget",
            json!(["Dragkrok", "Eget"]),
        ),
        (
            "category_fields.condition.is_new_vehicle",
            "{ from = 'X', values = { 0 = '' }, otherwise = false }",
            "1",
            json!(false),
        ),
        (
            "category_fields.condition.is_new_vehicle",
            "{ from = 'X', values = { 0 = '' }, otherwise = false }",
            "0",
            json!(null),
        ),
        ("body", "{ from = 'X', html = true }", "Ett<br>två &amp; tre", json!("Ett\ntvå & tre")),
        ("body", "'X'", "Ett\r\ntvå", json!("Ett\ntvå")),
        ("source_id", "{ from = 'X', template = 'se-{value}' }", "7", json!("se-7")),
        ("dealer_code", "{ constant = 'north-cars' }", "", json!("north-cars")),
        ("dealer_code", "{ from = 'X', default = 'north-cars' }", " ", json!("north-cars")),
        ("visible", "{ constant = false }", "", json!(false)),
        ("location.zipcode", "'X'", "123 45", json!("12345")),
        ("price.list", "{ from = 'X', currency = 'SEK' }", "149 900 kr", json!(null)),
    ] {
        assert_eq!(field(path, rule, text), Ok(value), "{path} {rule} {text}");
    }
}

#[test]
fn what_cannot_be_read_is_told_by_a_short_reason() {
    let mileage = "category_fields.condition.mileage";
    for (path, rule, text, reason) in [
        ("category_fields.brand", "'X'", "Wolvo", "unknown brand"),
        ("category_fields.model_year", "'X'", "20211", "model year out of range"),
        ("category_fields.model_year", "'X'", "V60", "model year is not a number"),
        ("category_fields.model_year", "'X'", "2019/2020", "model year is not a number"),
        ("category_fields.in_traffic_date", "'X'", "05/2019", "in traffic date is not a full date"),
        ("category_fields.in_traffic_date", "'X'", "2019-02-30", "in traffic date is an impossible date"),
        ("category_fields.in_traffic_date", "'X'", "04/05/2019", "in traffic date is ambiguous"),
        ("category_fields.is_vat_deductible", "'X'", "kanske", "is vat deductible is neither yes nor no"),
        (mileage, "{ from = 'X', unit = 'mil' }", "1.234", "mileage is ambiguous"),
        (mileage, "'X'", "12345", "mileage has no unit"),
        (mileage, "'X'", "12345 furlongs", "unknown unit of mileage"),
        (mileage, "{ from = 'X', unit = 'mil' }", "12345 km", "mileage has another unit than the mapping"),
        ("category_fields.powertrain.fuels", "{ from = 'X', values = 'fuel' }", "Hybrid", "unknown fuel"),
        (
            "price.list",
            "{ from = 'X', currency = 'SEK' }",
            "100 EUR",
            "list price has another currency than the mapping",
        ),
        ("price.list", "'X'", "ring", "list price is not a number"),
        (
            "image_urls",
            "{ from = 'X', split = ',' }",
            "ABC123_0.JPG,ABC123_1.JPG",
            "images are file names, not addresses",
        ),
        ("image_urls", "'X'", "http://img.example/1.jpg", "image address is not https"),
    ] {
        assert_eq!(field(path, rule, text), Err(reason.to_owned()), "{path} {rule} {text}");
    }
}

#[test]
fn a_finding_names_the_column_the_value_and_what_to_do() {
    let mapped = car(
        "category_fields.brand = 'Märke'\ncategory_fields.model = 'Modell'",
        &[("Märke", "Wolvo"), ("Modell", "V60")],
    );
    let [finding] = mapped.findings.as_slice() else { panic!("{:?}", mapped.findings) };
    assert_eq!(finding.severity, Severity::Error);
    assert_eq!(finding.columns, ["Märke"]);
    assert_eq!(finding.value.as_deref(), Some("Wolvo"));
    assert_eq!(finding.field.as_deref(), Some("category_fields.brand"));
    assert_eq!(finding.message, "\"Wolvo\" is not a known brand.");
    let advice = "Did you mean \"volvo\"? To map it, add it to the values of category_fields.brand in the mapping: \
                  { from = \"Märke\", values = { \"Wolvo\" = \"…\" } }.";
    assert_eq!(finding.advice.as_deref(), Some(advice));
    assert_eq!(at(&mapped.payload, "category_fields.brand"), None);
    assert_eq!(at(&mapped.payload, "category_fields.model"), Some(&json!("V60")), "the other fields are made");
}

#[test]
fn a_model_is_one_of_its_brand() {
    let fields = "category_fields.model = 'Modell'\ncategory_fields.brand = 'Märke'";
    for (brand, model, is) in
        [("Tesla", "Model 3", "model-3"), ("Saab", "9-3", "9-3"), ("BMW", "i4", "i4"), ("Volvo", "XC60", "xc60")]
    {
        let mapped = car(fields, &[("Märke", brand), ("Modell", model)]);
        assert_eq!(at(&mapped.payload, "category_fields.model"), Some(&json!(is)), "{:?}", mapped.findings);
    }
    let mapped = car(fields, &[("Märke", "Volvo"), ("Modell", "Golf")]);
    assert_eq!(mapped.findings[0].reason, "model of another brand");
}

#[test]
fn a_designation_is_a_model_and_what_is_left_is_its_type() {
    let fields = "category_fields.model = 'Modell'\ncategory_fields.brand = 'Märke'";
    for (brand, model, is, model_type) in [
        ("BMW", "320d", "3-series", Some("320d")),
        ("Mercedes-Benz", "C 220 d", "c-class", Some("C 220 d")),
        ("Skoda", "Octavia Combi", "octavia", Some("Combi")),
        ("Volvo", "XC 60", "xc60", None),
    ] {
        let mapped = car(fields, &[("Märke", brand), ("Modell", model)]);
        assert_eq!(at(&mapped.payload, "category_fields.model"), Some(&json!(is)), "{:?}", mapped.findings);
        let expected = model_type.map(|text| json!(text));
        assert_eq!(at(&mapped.payload, "category_fields.model_type"), expected.as_ref(), "{model}");
    }
    let with_type = format!("{fields}\ncategory_fields.model_type = 'Typ'");
    let mapped = car(&with_type, &[("Märke", "BMW"), ("Modell", "320d"), ("Typ", "M Sport")]);
    assert_eq!(at(&mapped.payload, "category_fields.model_type"), Some(&json!("M Sport")));
}

#[test]
fn a_price_is_an_object_of_its_type() {
    let fields =
        "price.list = { from = 'Pris', currency = { column = 'Valuta' } }\nprice.leasing = { from = 'Leasing' }";
    let mapped = car(fields, &[("Pris", "149 900:-"), ("Valuta", "SEK"), ("Leasing", "2 995")]);
    let prices = json!([{"type": "list", "amount": 149_900, "currency": "SEK"}, {"type": "leasing", "amount": 2995}]);
    assert_eq!(mapped.payload["price"], prices);
}

#[test]
fn images_come_from_many_columns_and_names_become_addresses() {
    let images = |rule: &str| {
        let values = ["https://x.example/a.jpg", "", "b c.jpg", "https://x.example/a.jpg"];
        let names = ["1", "2", "3", "4"];
        let columns: Vec<_> = names.into_iter().zip(values).collect();
        car(&format!("image_urls = {rule}"), &columns)
    };
    let mapped = images("{ from = '1-4', template = 'https://cdn.example/{value}' }");
    assert_eq!(mapped.payload["image_urls"], json!(["https://x.example/a.jpg", "https://cdn.example/b%20c.jpg"]));
    assert_eq!(mapped.findings[0].severity, Severity::Warning);
    assert_eq!(mapped.findings[0].reason, "image url occurs twice");
    let mapped = images("['1', '3']");
    assert_eq!(mapped.findings[0].reason, "images are file names, not addresses");
}

#[test]
fn too_many_images_are_not_cut_unless_the_mapping_says_so() {
    let addresses: Vec<String> = (0..27).map(|index| format!("https://x.example/{index}.jpg")).collect();
    let joined = addresses.join(",");
    let mapped = car("image_urls = { from = 'X', split = ',' }", &[("X", &joined)]);
    assert_eq!(mapped.findings[0].reason, "too many images");
    assert_eq!(mapped.findings[0].message, "27 images, at most 20 are allowed.");
    assert!(!mapped.payload.contains_key("image_urls"));
    let mapped = car("image_urls = { from = 'X', split = ',', max = 20 }", &[("X", &joined)]);
    assert_eq!(mapped.findings[0].severity, Severity::Warning);
    assert_eq!(mapped.payload["image_urls"].as_array().unwrap().len(), 20);
}

#[test]
fn the_vehicle_type_may_be_a_matter_of_the_row() {
    let mapping = mapping(
        "[vehicle]\nfrom = 'typ'\nvalues = { personbil = 'car', 'skåpbil' = 'transport' }\n\
         [fields]\nsource_id = 'id'\ncategory_fields.body_type = { from = 'kaross', values = 'body' }",
    );
    let batch = rows_of(
        &["typ", "id", "kaross"],
        &[&["Personbil", "1", "Kombi"], &["Skåpbil", "2", "Skåp"], &["Båt", "3", ""]],
    );
    let bound = mapping.bind(batch.columns());
    let mapped: Vec<Mapped> = batch.rows().map(|row| bound.apply(row)).collect();
    let of = |index: usize, path: &str| at(&mapped[index].payload, path).cloned();
    assert_eq!((of(0, "category_id"), of(0, "category_fields.body_type")), (Some(json!(1020)), Some(json!("estate"))));
    assert_eq!(
        (of(1, "category_id"), of(1, "category_fields.body_type")),
        (Some(json!(1021)), Some(json!("panel_van")))
    );
    assert_eq!((of(2, "category_id"), of(2, "source_id")), (None, Some(json!("3"))));
    assert_eq!(mapped[2].findings[0].reason, "unknown vehicle type");
}

#[test]
fn a_rule_may_ask_other_columns() {
    let fields = "body = { from = ['A', 'B'], join = ' – ', when = { column = 'C', not = 'såld' } }\nurl = { from = 'D', when = 'E' }";
    let mapped = car(fields, &[("A", "Ett"), ("B", "Två"), ("C", "Till salu"), ("D", "https://x.example"), ("E", "")]);
    assert_eq!(Value::Object(mapped.payload), json!({"category_id": 1020, "body": "Ett – Två"}));
    let mapped = car(fields, &[("A", "Ett"), ("B", ""), ("C", "SÅLD"), ("D", "https://x.example"), ("E", "ja")]);
    assert_eq!(Value::Object(mapped.payload), json!({"category_id": 1020, "url": "https://x.example"}));
}

#[test]
fn members_of_objects_in_arrays_are_fields_too() {
    let mapped = car(
        "category_fields.condition.wheels.0.name = 'Hjul'\nlocation.zipcode = 'Postnr'",
        &[("Hjul", "Summer"), ("Postnr", "")],
    );
    assert_eq!(at(&mapped.payload, "category_fields.condition.wheels.0.name"), Some(&json!("summer")));
    assert!(!mapped.payload.contains_key("location"));
}

#[test]
fn everything_that_is_wrong_with_a_mapping_is_told_at_once_with_its_line() {
    let text = r#"
[file]
seperator = ";"
[values.gear]
"Aut" = "automatc"
[vehicle]
type = "car"
[fields]
source_id = { form = "Lagernr" }
category_fields.brnd = "Märke"
category_fields.condition.mileage = { from = "Miltal", unit = "furlong" }
category_fields.powertrain.fuels = { from = "Drivmedel", values = "fule" }
category_fields.powertrain.transmission = { from = "Växellåda", values = "gear" }
category_fields.powertrain.power = { from = "kW", unit = "kw", as = "hp" }
category_fields.color = { from = "Färg", unit = "km" }
category_fields.in_traffic_date = { from = "Datum", date = "dd.mm.yy" }
title = "Rubrik"
body = { from = "Text", template = "{" }
"#;
    let errors = errors(text);
    for (line, says) in [
        (3, "\"seperator\" is not a key of [file]. Did you mean \"separator\"?"),
        (5, "\"automatc\" is not a known transmission. Did you mean \"automatic\"?"),
        (9, "\"form\" is not a key of a field. Did you mean \"from\"?"),
        (10, "Did you mean \"category_fields.brand\"?"),
        (11, "\"furlong\" is not a unit of \"category_fields.condition.mileage\". Units: \"km\", \"mil\"."),
        (12, "No value map \"fule\", neither built in nor as [values.fule]. Did you mean \"fuel\"?"),
        (14, "cannot be converted exactly from kw to hp"),
        (15, "\"unit\" is for measures"),
        (16, "is not a date format"),
        (17, "the title is generated"),
        (18, "a brace without a column name"),
    ] {
        let found =
            errors.iter().any(|error| error.starts_with(&format!("line {line}, column ")) && error.contains(says));
        assert!(found, "line {line}: {says}\n{}", errors.join("\n"));
    }
    assert_eq!(super::tests::errors("[vehicle\n").len(), 1);
    assert!(super::tests::errors("")[0].contains("[vehicle]"));
}

#[test]
fn columns_that_are_missing_or_unused_are_told_with_the_nearest() {
    let mapping = mapping(
        "[vehicle]\ntype = 'car'\n[fields]\nsource_id = 'lagernr'\nbody = 'Beskrivnig'\nurl = { from = 'Länk', optional = true }\nimage_urls = '4-5'",
    );
    let batch = rows_of(&["Lagernr", "Beskrivning", "Extra"], &[]);
    let bound = mapping.bind(batch.columns());
    assert_eq!(
        bound.missing(),
        [
            "There is no column \"Beskrivnig\", from which \"body\" is made. Did you mean \"Beskrivning\"?",
            "The file has no columns 4 to 5, from which \"image_urls\" is made; there are 3."
        ]
    );
    assert_eq!(bound.unused(), ["Beskrivning", "Extra"]);
    assert_eq!(bound.used(), 1);
}

#[test]
fn a_column_that_has_more_or_fewer_words_now_is_suggested_if_it_is_not_used() {
    let mapping = self::mapping(
        "[vehicle]\ntype = 'car'\n[fields]\nsource_id = 'Nr'\nprice.list = { from = 'Pris', currency = 'SEK' }\nbody = 'Text'",
    );
    let missing = |columns: &[&str]| mapping.bind(rows_of(columns, &[]).columns()).missing();
    let price = "There is no column \"Pris\", from which \"price.list\" is made.";
    assert_eq!(missing(&["Nr", "Text", "Pris kr"]), [format!("{price} Did you mean \"Pris kr\"?")]);
    assert_eq!(missing(&["Nr", "Text", "Kampanj", "PRIS_SEK"]), [format!("{price} Did you mean \"PRIS_SEK\"?")]);
    assert_eq!(missing(&["Nr", "Text", "Prisma"]), [price]);
}

#[test]
fn a_model_of_another_brand_is_told_and_not_to_be_mapped() {
    let fields = "category_fields.brand = 'Märke'\ncategory_fields.model = 'Modell'";
    let mapped = car(fields, &[("Märke", "Volvo"), ("Modell", "Niro")]);
    let [finding] = mapped.findings.as_slice() else { panic!("{:?}", mapped.findings) };
    assert_eq!(finding.message, "\"Niro\" is a model of kia, not of volvo.");
    assert_eq!(finding.reason, "model of another brand");
    assert_eq!(finding.advice.as_deref(), Some("Correct the brand or the model of this row in the file."));
    let mapped = car(fields, &[("Märke", "Volvo"), ("Modell", "Nirooo")]);
    assert_eq!(mapped.findings[0].message, "\"Nirooo\" is not a known model.");
}

#[test]
fn an_error_of_the_rules_leads_back_to_its_columns() {
    let mapping = mapping(
        "[vehicle]\ntype = 'car'\n[fields]\nimage_urls = 'Bilder'\n\
         price.list = { from = 'Pris', currency = { column = 'Valuta' } }\ncategory_fields.condition.mileage = 'Miltal'",
    );
    let batch = rows_of(&["Bilder", "Pris", "Valuta", "Miltal"], &[]);
    let bound = mapping.bind(batch.columns());
    assert_eq!(bound.columns_of("image_urls.3"), ["Bilder"]);
    assert_eq!(bound.columns_of("price.0.amount"), ["Pris", "Valuta"]);
    assert_eq!(bound.columns_of("category_fields.condition"), ["Miltal"]);
    assert_eq!(bound.columns_of("category_fields.vin"), Vec::<&str>::new());
}

#[test]
fn a_mapping_is_shared_between_threads() {
    fn is_sync<T: Sync + Send>() {}
    is_sync::<Mapping>();
    is_sync::<Bound<'_>>();
}

#[test]
fn texts_are_extracted_replaced_and_scaled() {
    let mileage = "category_fields.condition.mileage";
    for (path, rule, text, value) in [
        ("source_id", r"{ from = 'X', extract = '^Nr:\s*(\w+)' }", "Nr: L17 (ny)", json!("L17")),
        ("source_id", r"{ from = 'X', extract = '[0-9]+' }", "no number", json!(null)),
        ("source_id", r"{ from = 'X', replace = [['^SE-', ''], ['\s+', '-']] }", "SE-a  b", json!("a-b")),
        (
            "category_fields.powertrain.power",
            "{ from = 'X', unit = 'hp', scale = 10 }",
            "12.5",
            json!({"unit": "hp", "value": 125}),
        ),
        (mileage, "{ from = 'X', unit = 'km', scale = 1000 }", "45", json!({"unit": "km", "value": 45000})),
        (mileage, "{ from = 'X', unit = 'mi' }", "12 345", json!({"unit": "km", "value": 19867})),
        (mileage, "'X'", "12,345.0 miles", json!({"unit": "km", "value": 19867})),
        (mileage, "{ from = 'X', unit = 'mi', as = 'mil' }", "1000", json!({"unit": "mil", "value": 160.9})),
        (mileage, "{ from = 'X', unit = { default = 'mil' } }", "1234", json!({"unit": "mil", "value": 1234})),
        (mileage, "{ from = 'X', unit = { default = 'mil' } }", "12340 km", json!({"unit": "km", "value": 12340})),
        ("category_fields.model_year", "{ from = 'X', year = true }", "'19", json!(2019)),
        ("category_fields.model_year", "{ from = 'X', year = true }", "98", json!(1998)),
        ("category_fields.in_traffic_date", "{ from = 'X', date = 'DD MMM YY' }", "4 maj 19", json!("2019-05-04")),
        (
            "category_fields.in_traffic_date",
            "{ from = 'X', zone = 'Europe/Stockholm' }",
            "2019-05-03T22:00:00Z",
            json!("2019-05-04"),
        ),
    ] {
        assert_eq!(field(path, rule, text), Ok(value), "{path} {rule} {text}");
    }
}

#[test]
fn units_and_currencies_come_from_codes_of_a_column() {
    let fields = "category_fields.condition.mileage = { from = 'M', unit = { column = 'U', values = { K = 'km', M = 'mi' }, default = 'mil' } }\n\
        price.list = { from = 'P', scale = 0.01, currency = { column = 'C', values = { 1 = 'SEK' }, default = 'EUR' } }";
    let made = |unit: &str, currency: &str| {
        let mapped = car(fields, &[("M", "100"), ("U", unit), ("P", "14990050"), ("C", currency)]);
        assert_eq!(mapped.findings, []);
        let mileage = at(&mapped.payload, "category_fields.condition.mileage").cloned().unwrap();
        (mileage, mapped.payload["price"][0].clone())
    };
    let price = |currency: &str| json!({"type": "list", "amount": 149_900.5, "currency": currency});
    assert_eq!(made("k", "1"), (json!({"unit": "km", "value": 100}), price("SEK")));
    assert_eq!(made("M", "nok"), (json!({"unit": "km", "value": 161}), price("NOK")));
    assert_eq!(made("", ""), (json!({"unit": "mil", "value": 100}), price("EUR")));
    let mapped = car(fields, &[("M", "100"), ("U", "X"), ("P", "1"), ("C", "")]);
    assert_eq!(mapped.findings[0].reason, "unknown unit of mileage");
}

#[test]
fn the_name_of_a_vehicle_is_divided_by_the_catalogue() {
    let fields = "category_fields.brand = { from = 'X', vehicle_name = true }\n\
        category_fields.model = { from = 'X', vehicle_name = true }\n\
        category_fields.model_type = { from = 'X', vehicle_name = true }";
    let made = |name: &str| {
        let mapped = car(fields, &[("X", name)]);
        let part = |path: &str| {
            at(&mapped.payload, &format!("category_fields.{path}")).and_then(Value::as_str).map(str::to_owned)
        };
        let reasons: Vec<_> = mapped.findings.iter().map(|finding| finding.reason.clone()).collect();
        (part("brand"), part("model"), part("model_type"), reasons)
    };
    let told = |brand: &str, model: &str, rest: Option<&str>| {
        (Some(brand.to_owned()), Some(model.to_owned()), rest.map(str::to_owned), Vec::<String>::new())
    };
    assert_eq!(made("Volvo V70 2.4D Summum"), told("volvo", "v70", Some("2.4D Summum")));
    assert_eq!(made("Tesla Model 3"), told("tesla", "model-3", None));
    assert_eq!(made("Land Rover Range Rover Sport HSE").0.as_deref(), Some("land-rover"));
    assert_eq!(made("Wolvo V70").3, ["unknown brand"]);
    assert_eq!(made("Volvo Golf GTI").3, ["model of another brand"]);
}

#[test]
fn values_of_a_list_are_chosen_and_ordered_by_another_column() {
    let fields = "image_urls = { from = 'href', where = { column = 'kind', is = 'photo' }, sort = 'order' }\n\
        category_fields.color = { from = 'value', where = { column = 'key', is = 'Färg' } }";
    let mapping = mapping(&format!("[vehicle]\ntype = 'car'\n[fields]\n{fields}"));
    let made = |columns: &[(&str, &str)]| {
        let batch = crate::readers::row_of_paths(columns);
        mapping.bind(batch.columns()).apply(batch.rows().next().unwrap())
    };
    let image = |name: &str| format!("https://x.example/{name}.jpg");
    let (a, b, c, d) = (image("a"), image("b"), image("c"), image("d"));
    let photos = [
        ("href", &*a),
        ("kind", "photo"),
        ("order", "10"),
        ("href", &*b),
        ("kind", "plan"),
        ("order", "1"),
        ("href", &*c),
        ("kind", "Photo"),
        ("order", "2"),
        ("href", &*d),
        ("kind", "photo"),
        ("order", "1"),
        ("key", "Motor"),
        ("value", "D5"),
        ("key", "Färg"),
        ("value", "Röd"),
    ];
    let mapped = made(&photos);
    assert_eq!(mapped.payload["image_urls"], json!([d, c, a]));
    assert_eq!(at(&mapped.payload, "category_fields.color"), Some(&json!("Röd")));
    assert_eq!(mapped.findings, []);
    let mapped = made(&photos[..photos.len() - 1]);
    assert_eq!(mapped.findings[0].reason, "values that cannot be paired");
    assert_eq!(at(&mapped.payload, "category_fields.color"), None);
}

/// The ad of a record of these values.
fn of_record(fields: &str, cells: &[(&str, &str)]) -> Mapped {
    let mapping = mapping(&format!("[vehicle]\ntype = 'car'\n[fields]\n{fields}"));
    let batch = crate::readers::row_of_paths(cells);
    mapping.bind(batch.columns()).apply(batch.rows().next().unwrap())
}

#[test]
fn texts_of_a_mapping_are_compared_exactly() {
    for (text, value) in
        [("-1", json!(true)), ("1", json!(false)), (" 1", json!(false)), ("+1", json!(null)), ("1.", json!(null))]
    {
        let rule = "{ from = 'X', values = { '1' = false, '-1' = true }, otherwise = 'skip' }";
        assert_eq!(field("visible", rule, text), Ok(value), "{text}");
    }
    let fields = "body = { from = 'X', when = { column = 'K', is = ['-1', 'Såld'] } }\n\
        price.list = { from = 'P', currency = { column = 'K', values = { '1' = 'SEK', '-1' = 'EUR' } } }";
    for (key, body, currency) in
        [("-1", Some("text"), "EUR"), ("1", None, "SEK"), ("SÅLD ", Some("text"), "SÅLD"), ("Sald", None, "SALD")]
    {
        let mapped = car(fields, &[("X", "text"), ("K", key), ("P", "5")]);
        assert_eq!(mapped.payload.get("body").and_then(Value::as_str), body, "{key}");
        assert_eq!(mapped.payload["price"][0]["currency"], json!(currency), "{key}");
    }
}

#[test]
fn a_condition_on_several_values_says_which_ones_count() {
    let tags = |last: &'static str| [("tag", "Ny"), ("tag", last), ("body", "text")];
    let made = |several: &str, last| {
        let rule = format!("body = {{ from = 'body', when = {{ column = 'tag', is = 'Ny'{several} }} }}");
        let mapped = of_record(&rule, &tags(last));
        let reasons: Vec<String> = mapped.findings.iter().map(|finding| finding.reason.clone()).collect();
        (mapped.payload.contains_key("body"), reasons)
    };
    let unclear = vec!["a condition on several values".to_owned()];
    assert_eq!(made("", "NY"), (true, vec![]));
    assert_eq!(made("", "Såld"), (false, unclear.clone()));
    assert_eq!(made(", several = 'any'", "Såld"), (true, vec![]));
    assert_eq!(made(", several = 'all'", "Såld"), (false, vec![]));
    let mapping =
        mapping("[vehicle]\ntype = 'car'\n[rows]\nskip = { column = 'tag', is = 'Såld' }\n[fields]\nbody = 'body'");
    let batch = crate::readers::row_of_paths(&tags("Såld"));
    let (bound, row) = (mapping.bind(batch.columns()), batch.rows().next().unwrap());
    assert!(!bound.is_skipped(row));
    let findings = bound.apply(row).findings;
    assert_eq!(findings.iter().map(|finding| finding.reason.clone()).collect::<Vec<_>>(), unclear);
    assert_eq!(findings[0].columns, ["tag"]);
}

#[test]
fn of_several_entries_the_first_that_gives_a_value_counts() {
    let fields = "body = [{ constant = 'new', when = [{ column = 'A', is = '1' }, { column = 'B', empty = true }] }, 'B', { from = 'C', default = 'none' }]\n\
        category_fields.model_year = ['A', { from = 'B', year = true }]";
    for (a, b, c, body, year) in [
        ("1", "", "x", "new", None),
        ("1", "2019-05-04", "x", "2019-05-04", None),
        ("", "", "x", "x", None),
        ("", "", "", "none", None),
        ("", "2019-05-04", "x", "2019-05-04", Some(2019)),
    ] {
        let mapped = car(fields, &[("A", a), ("B", b), ("C", c)]);
        assert_eq!(mapped.payload["body"], json!(body), "{a} {b} {c}");
        assert_eq!(at(&mapped.payload, "category_fields.model_year").cloned(), year.map(|year| json!(year)));
        // 1 is no year, and the entry behind it does not hide that.
        assert_eq!(mapped.findings.len(), usize::from(a == "1"), "{:?}", mapped.findings);
    }
    let errors = errors("[vehicle]\ntype = 'car'\n[fields]\nbody = [\n'B',\n{ form = 'C' }]");
    assert_eq!(errors, ["line 6, column 3: \"form\" is not a key of a field. Did you mean \"from\"?"]);
}

#[test]
fn names_and_values_stand_in_neighbouring_columns() {
    let fields = "category_fields.registration_number = { from = 'Attribute * value(s)', where = { column = 'attribute * name', is = 'Regnr' } }\n\
        category_fields.color = { from = [2, 4], where = { column = [1, 3], is = 'Färg' } }\n\
        category_fields.powertrain.fuels = { from = ['F1', 'F2'], join = '/', values = 'fuel' }\n\
        image_urls = 'Bild*'";
    let names = ["Attribute 1 name", "Attribute 1 value(s)", "Attribute 2 name", "Attribute 2 value(s)"];
    for (one, other) in [(["Regnr", "ABC123"], ["Färg", "Röd"]), (["Färg", "Röd"], ["Regnr", "ABC123"])] {
        let cells: Vec<_> = names.into_iter().zip(one.into_iter().chain(other)).collect();
        let more = [
            ("F1", "El"),
            ("F2", "Diesel"),
            ("Bild", "https://x.example/1.jpg"),
            ("Bild (2)", "https://x.example/2.jpg"),
        ];
        let mapped = car(fields, &[cells.as_slice(), &more].concat());
        assert_eq!(mapped.findings, []);
        let cars =
            json!({"registration_number": "ABC123", "color": "Röd", "powertrain": {"fuels": ["diesel", "electric"]}});
        assert_eq!(mapped.payload["category_fields"], cars);
        assert_eq!(mapped.payload["image_urls"].as_array().map(Vec::len), Some(2));
    }
    let wrong = errors(
        "[vehicle]\ntype = 'car'\n[fields]\nbody = { from = ['A', 'B', 'C'], where = { column = ['D', 'E'], is = 'x' } }",
    );
    assert!(wrong[0].contains("another number of columns"), "{wrong:?}");
}

#[test]
fn rows_are_kept_and_skipped_by_conditions() {
    let mapping = mapping(
        "[vehicle]\ntype = 'car'\n[rows]\nkeep = { column = 'Typ', not = 'MC' }\n\
         skip = [{ column = 'Status', is = ['Såld', 'Utgått'] }, { column = 'Nr', matches = '^TEST' }, { column = 'Nr', empty = true }]\n\
         [fields]\nsource_id = 'Nr'",
    );
    let rows: [&[&str]; 5] =
        [&["1", "Bil", "Lager"], &["2", "mc", "Lager"], &["3", "Bil", "SÅLD"], &["TEST4", "Bil", ""], &["", "Bil", ""]];
    let batch = rows_of(&["Nr", "Typ", "Status"], &rows);
    let bound = mapping.bind(batch.columns());
    let skipped: Vec<bool> = batch.rows().map(|row| bound.is_skipped(row)).collect();
    assert_eq!(skipped, [false, true, true, true, true]);
    let errors = errors(
        "[vehicle]\ntype = 'car'\n[rows]\nskip = { column = 'A', matches = '(' }\nkep = 1\n[fields]\nsource_id = 'Nr'",
    );
    assert_eq!(errors, ["line 5, column 1: \"kep\" is not a key of [rows]. Did you mean \"keep\"?"]);
}

#[test]
fn defaults_depend_on_the_vehicle_type() {
    let mapping = mapping(
        "[vehicle]\nfrom = 'T'\nvalues = { a = 'car', b = 'transport' }\n[fields]\nsource_id = 'Nr'\n\
         category_fields.body_type = { from = 'K', default = { car = 'sedan', transport = 'panel_van' } }\n\
         body = { constant = { all = 'Text', car = 'Bil' } }",
    );
    let batch = rows_of(&["T", "Nr", "K"], &[&["a", "1", ""], &["b", "2", ""]]);
    let bound = mapping.bind(batch.columns());
    let made: Vec<Mapped> = batch.rows().map(|row| bound.apply(row)).collect();
    let of = |index: usize, path: &str| at(&made[index].payload, path).cloned();
    assert_eq!((of(0, "category_fields.body_type"), of(0, "body")), (Some(json!("sedan")), Some(json!("Bil"))));
    assert_eq!((of(1, "category_fields.body_type"), of(1, "body")), (Some(json!("panel_van")), Some(json!("Text"))));
    let wrong = errors("[vehicle]\ntype = 'car'\n[fields]\nbody = { constant = { boat = 'x' } }");
    assert_eq!(
        wrong[0],
        "line 4, column 1: \"body\": \"boat\" is not a vehicle type of this mapping. There are \"car\" and \"all\"."
    );
}

#[test]
fn tables_within_tables_name_the_nearest_key() {
    let text = r#"
file.join.prices = { by = "Nr", file = "p.csv", kee = "Nr" }
rows.skip = [{ column = "A", is = "x" }, { column = "B", matchs = "x" }]
[vehicle]
type = { frm = "Typ", from = "Typ", values = "vehicle" }
[fields]
source_id = { from = "Nr", when = { colum = "Status" } }
category_fields.condition.mileage = { from = "Miltal", unit = { column = "Enhet", defualt = "km" } }
price.list = { from = "Pris", currency = { colmun = "Valuta" } }
image_urls = { from = "b.url", where = { column = "b.kind", nott = "plan" } }
"#;
    let expected = [
        "line 2, column 49: \"kee\" is not a key of a join. Did you mean \"key\"?",
        "line 3, column 58: \"matchs\" is not a key of \"skip\". Did you mean \"matches\"?",
        "line 5, column 10: \"frm\" is not a key of \"type\". Did you mean \"from\"?",
        "line 7, column 37: \"colum\" is not a key of \"when\". Did you mean \"column\"?",
        "line 8, column 83: \"defualt\" is not a key of \"unit\". Did you mean \"default\"?",
        "line 9, column 44: \"colmun\" is not a key of \"currency\". Did you mean \"column\"?",
        "line 10, column 61: \"nott\" is not a key of \"where\". Did you mean \"not\"?",
    ];
    assert_eq!(errors(text), expected);
}
