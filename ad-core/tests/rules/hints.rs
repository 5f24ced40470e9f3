//! What an answer says about values and names that are nearly right: the whole text of each kind (decision 4).

use serde_json::{Value, json};

use crate::support::{car, car_of, refused, with};

/// The texts at a JSON pointer.
fn texts(errors: &Value, pointer: &str) -> Vec<String> {
    let found = errors.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is not in {errors}"));
    found.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The sentence behind the error of a category field.
fn cure(path: &str, sent: &Value) -> String {
    let fields = path.rsplit('.').fold(sent.clone(), |inner, name| json!({name: inner}));
    let errors = refused("car", car_of(fields));
    let pointer = format!("/category_fields/{}", path.replace('.', "/"));
    texts(&errors, &pointer).into_iter().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_value_is_shown_in_the_form_that_the_field_takes() {
    for (path, sent, says) in [
        // Truth values.
        ("is_vat_deductible", json!(1), "Send true, not 1."),
        ("is_vat_deductible", json!(0), "Send false, not 0."),
        ("is_vat_deductible", json!("1"), "Send true, not \"1\"."),
        ("is_vat_deductible", json!("true"), "Send true, without quotes."),
        ("is_vat_deductible", json!("t"), "Send true, not \"t\"."),
        ("is_vat_deductible", json!("Ja"), "Send true, not \"Ja\"."),
        ("is_vat_deductible", json!("nein"), "Send false, not \"nein\"."),
        ("is_vat_deductible", json!(""), "Send false, not \"\", or leave the field out if it is not known."),
        ("is_vat_deductible", json!([true]), "A list of one item came: send true, not [true]."),
        // Whole numbers.
        ("model_year", json!("2019"), "Send 2019, without quotes."),
        ("model_year", json!("2019.0"), "Send 2019, without quotes."),
        ("model_year", json!([2019]), "A list of one item came: send 2019, not [2019]."),
        ("model_year", json!(" 2019 "), "Send 2019, without quotes."),
        (
            "physics.number_of_doors",
            json!("5 dörrar"),
            "Send 5, not \"5 dörrar\": a number of JSON has a decimal point, no spaces and no unit.",
        ),
        ("physics.number_of_doors", json!("NA"), "\"NA\" stands for no value: send null, or leave the field out."),
        ("physics.number_of_doors", json!(""), "\"\" stands for no value: send null, or leave the field out."),
        ("model_year", json!("okänt"), "\"okänt\" stands for no value, and this field must have one."),
        // Measures.
        (
            "powertrain.power",
            json!("110 kW"),
            "Send {\"unit\":\"kw\",\"value\":110}, not \"110 kW\": number and unit are two members.",
        ),
        ("powertrain.power", json!(110), "Send {\"unit\":\"hp\",\"value\":110}, or with another unit: \"kw\"."),
        ("powertrain.power", json!("110"), "Send {\"unit\":\"hp\",\"value\":110}, or with another unit: \"kw\"."),
        (
            "condition.mileage",
            json!("5 400,5 mil"),
            "Send {\"unit\":\"mil\",\"value\":5400.5}, not \"5 400,5 mil\": number and unit are two members.",
        ),
        (
            "condition.mileage",
            json!("54.000 km"),
            "\"54.000 km\" can be read as {\"unit\":\"km\",\"value\":54000} or {\"unit\":\"km\",\"value\":54}: send the one that is meant.",
        ),
        ("powertrain.environmental.co2_emission", json!(120), "Send {\"unit\":\"g/km\",\"value\":120}."),
        (
            "condition.mileage.value",
            json!("NA"),
            "\"NA\" stands for no value: leave out unit and value, or send null in the place of both.",
        ),
        (
            "condition.mileage.value",
            json!("6,4"),
            "Send 6.4, not \"6,4\": a number of JSON has a decimal point, no spaces and no unit.",
        ),
        ("condition.mileage.value", json!([5400]), "A list of one item came: send 5400, not [5400]."),
        // Objects and lists.
        ("condition", json!([]), "An empty list came: send {} or null, not [], or leave the field out."),
        (
            "condition",
            json!("{\"number_of_owners\": 1}"),
            "It came as a text that contains JSON, so it was encoded twice: send {\"number_of_owners\":1} itself, without the quotes around it.",
        ),
        ("powertrain.fuels", json!("diesel"), "Send a list, also for one item: [\"diesel\"]."),
        ("powertrain.fuels", json!("gasoline, electric"), "Send one item per element: [\"gasoline\",\"electric\"]."),
        (
            "powertrain.fuels",
            json!("[\"diesel\"]"),
            "It came as a text that contains JSON, so it was encoded twice: send [\"diesel\"] itself, without the quotes around it.",
        ),
        ("powertrain.fuels", json!({}), "An empty object came: send [] or null, not {}, or leave the field out."),
        ("equipments", json!("ABS; AC"), "Send one item per element: [\"ABS\",\"AC\"]."),
        ("color", json!({}), "An empty list or object came: send null, or leave the field out."),
        ("color", json!([]), "An empty list or object came: send null, or leave the field out."),
        ("color", json!(7), "Send \"7\", in quotes."),
        ("color", json!({"value": "Red"}), "Send \"Red\" alone, without the object around it."),
        ("brand", json!(["volvo"]), "Valid"),
        // Texts with something around them.
        (
            "vin",
            json!("YV1UZ8256N1234567   "),
            "It begins or ends with a space or a character that is not visible: send \"YV1UZ8256N1234567\".",
        ),
        ("vin", json!("-"), "\"-\" stands for no value: send null, or leave the field out."),
        (
            "salesperson",
            json!("Anna <anna@north.example>"),
            "Send \"anna@north.example\", not \"Anna <anna@north.example>\". \"Anna <anna@north.example>\" is not a salesperson of dealer \"north-cars\". Did you mean \"anna@north.example\"?",
        ),
        // Days.
        ("in_traffic_date", json!("03.05.2019"), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        (
            "in_traffic_date",
            json!("2019-05-03T00:00:00Z"),
            "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD.",
        ),
        ("in_traffic_date", json!("2019-05-02T22:00:00Z"), "Send the day as YYYY-MM-DD, such as \"2019-05-03\"."),
        (
            "in_traffic_date",
            json!("2019-05-03 00:00:00.000"),
            "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD.",
        ),
        ("in_traffic_date", json!("03-MAY-19"), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        ("in_traffic_date", json!("3. Mai 2019"), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        ("in_traffic_date", json!("05/03/2019"), "Send the day as YYYY-MM-DD, such as \"2019-05-03\"."),
        ("in_traffic_date", json!("2019-05"), "Send the day as YYYY-MM-DD, such as \"2019-05-03\"."),
        ("in_traffic_date", json!("20190503"), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        ("in_traffic_date", json!(20_190_503), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        (
            "in_traffic_date",
            json!(1_556_841_600_000_i64),
            "Send \"2019-05-03\", a text of the form YYYY-MM-DD: 1556841600000 is the time of that day since 1970.",
        ),
        (
            "in_traffic_date",
            json!(1_556_841_600),
            "Send \"2019-05-03\", a text of the form YYYY-MM-DD: 1556841600 is the time of that day since 1970.",
        ),
        ("in_traffic_date", json!(1_556_834_400_000_i64), "Send the day as YYYY-MM-DD, such as \"2019-05-03\"."),
        (
            "in_traffic_date",
            json!("/Date(1556841600000)/"),
            "Send \"2019-05-03\", a text of the form YYYY-MM-DD: \"/Date(1556841600000)/\" is the time of that day since 1970.",
        ),
        (
            "in_traffic_date",
            json!("4.3588E+004"),
            "Send \"2019-05-03\", a text of the form YYYY-MM-DD, if \"4.3588E+004\" is the number of that day in a spreadsheet.",
        ),
        ("in_traffic_date", json!([2019, 5, 3]), "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD."),
        (
            "in_traffic_date",
            json!({"year": 2019, "month": 5, "day": 3}),
            "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD.",
        ),
        (
            "in_traffic_date",
            json!({"date": "2019-05-03 00:00:00.000000", "timezone_type": 3, "timezone": "UTC"}),
            "Send \"2019-05-03\": a date is a text of the form YYYY-MM-DD.",
        ),
        ("in_traffic_date", json!("0000-00-00"), "Send the day as YYYY-MM-DD, such as \"2019-05-03\"."),
    ] {
        if says == "Valid" {
            let cure = cure(path, &sent);
            assert!(
                cure.ends_with("A list of one item came: send \"volvo\", not [\"volvo\"]."),
                "{path} {sent}: {cure}"
            );
            continue;
        }
        assert_eq!(cure(path, &sent), says, "{path} {sent}");
    }
}

#[test]
fn so_are_the_values_around_the_category_fields() {
    for (change, pointer, says) in [
        (
            json!({"price": [{"type": "list", "amount": "189 900,50"}]}),
            "/price/0/amount",
            "Send 189900.5, not \"189 900,50\": a number of JSON has a decimal point, no spaces and no unit.",
        ),
        (
            json!({"price": [{"type": "list", "amount": "189900 kr"}]}),
            "/price/0/amount",
            "Send 189900, not \"189900 kr\": a number of JSON has a decimal point, no spaces and no unit.",
        ),
        (
            json!({"price": [{"type": "list", "amount": "189 tkr"}]}),
            "/price/0/amount",
            "Send 189000, not \"189 tkr\": a number of JSON has a decimal point, no spaces and no unit.",
        ),
        (
            json!({"price": [{"type": "list", "amount": "189.900"}]}),
            "/price/0/amount",
            "\"189.900\" can be read as 189900 or 189.9: send the one that is meant.",
        ),
        (
            json!({"price": [{"type": "list", "amount": 151_920.000_000_000_03}]}),
            "/price/0/amount",
            "Send 151920: 151920.00000000003 came, which is a rounding error of floating-point numbers.",
        ),
        (
            json!({"price": [{"type": "list", "amount": 1, "currency": "SEK  "}]}),
            "/price/0/currency",
            "Send an ISO 4217 code such as \"SEK\". It begins or ends with a space or a character that is not visible: send \"SEK\".",
        ),
        (
            json!({"price": [{"type": "list", "amount": 1, "currency": "€"}]}),
            "/price/0/currency",
            "Send an ISO 4217 code such as \"SEK\".",
        ),
        (
            json!({"price": {"type": "list", "amount": 1}}),
            "/price",
            "Send a list, also for one item: [{\"amount\":1,\"type\":\"list\"}].",
        ),
        (
            json!({"image_urls": {}}),
            "/image_urls",
            "An empty object came: send [] or null, not {}, or leave the field out.",
        ),
        (
            json!({"image_urls": "https://x.example/1.jpg,https://x.example/2.jpg"}),
            "/image_urls",
            "Send one item per element: [\"https://x.example/1.jpg\",\"https://x.example/2.jpg\"].",
        ),
        (
            json!({"image_urls": ["C:\\Bilder\\1.jpg"]}),
            "/image_urls/0",
            "The service fetches it from the web: put the file on a web server, and send its https address.",
        ),
        (
            json!({"image_urls": ["data:image/jpeg;base64,/9j/"]}),
            "/image_urls/0",
            "The service fetches it from the web: put the file on a web server, and send its https address.",
        ),
        (json!({"body": ["Bra bil"]}), "/body", "A list of one item came: send \"Bra bil\", not [\"Bra bil\"]."),
        (json!({"source_id": 17}), "/source_id", "Send \"17\", in quotes."),
        (json!({"source_id": 1.7e3}), "/source_id", "Send \"1700\", in quotes."),
        (json!({"visible": "yes"}), "/visible", "Send true, not \"yes\"."),
        (json!({"category_id": "car"}), "/category_id", "Send 1020, not \"car\"."),
        (
            json!({"category_fields": "{\"model_year\": 2019}"}),
            "/category_fields",
            "It came as a text that contains JSON, so it was encoded twice: send {\"model_year\":2019} itself, without the quotes around it.",
        ),
        (
            json!({"location": {"zipcode": "123 45"}}),
            "/location/zipcode",
            "Send \"12345\", not \"123 45\": digits only.",
        ),
    ] {
        let errors = refused("car", with(&car(), change.clone()));
        let told = texts(&errors, pointer).into_iter().skip(1).collect::<Vec<_>>().join(" ");
        if says == "Send an ISO 4217 code such as \"SEK\"." {
            assert_eq!(told, "Send an ISO 4217 code such as \"SEK\". Send \"EUR\", not \"€\".", "{change}");
            continue;
        }
        assert_eq!(told, says, "{change}");
    }
}

#[test]
fn names_that_differ_in_case_nesting_or_level_are_found() {
    let known = car();
    for (change, pointer, says) in [
        (json!({"BODY": "Bra bil"}), "/BODY", "Did you mean \"body\"?"),
        (json!({"imageUrls": []}), "/imageUrls", "Did you mean \"image_urls\"?"),
        (json!({"bodyType": "suv"}), "/bodyType", "Did you mean \"category_fields.body_type\"?"),
        (json!({"category_fields": {"BODY_TYPE": "suv"}}), "/category_fields/BODY_TYPE", "Did you mean \"body_type\"?"),
        (
            json!({"category_fields": {"condition.mileage": {}}}),
            "/category_fields/condition.mileage",
            "Objects are nested, not joined by dots: send {\"condition\": {\"mileage\": …}}.",
        ),
        (
            json!({"category_fields": {"powertrain__fuels": []}}),
            "/category_fields/powertrain__fuels",
            "Objects are nested, not joined by dots: send {\"powertrain\": {\"fuels\": …}}.",
        ),
        (
            json!({"category_fields.model_year": 2019}),
            "/category_fields.model_year",
            "Objects are nested, not joined by dots: send {\"category_fields\": {\"model_year\": …}}.",
        ),
        (json!({"contact[phone]": 1}), "/contact[phone]", ""),
    ] {
        let errors = refused("car", with(&known, change.clone()));
        let told = texts(&errors, pointer).into_iter().skip(1).collect::<Vec<_>>().join(" ");
        assert_eq!(told, says, "{change}");
    }
}

#[test]
fn errors_that_vanish_with_the_first_one_are_left_out() {
    // All of them are in the answer, and nothing else.
    for (payload, errors) in [
        (
            json!({"data": car()}),
            json!({"data": ["Unknown field.", "The ad stands inside of \"data\": send its members at the top of the body, without \"data\" around them."]}),
        ),
        (
            json!({"SOURCE_ID": "x", "category_id": 1020, "category_fields": {"model_year": 2019, "vin": "YV1UZ8256N1234567"}}),
            json!({"SOURCE_ID": ["Unknown field.", "Did you mean \"source_id\"?"]}),
        ),
        (
            car_of(json!({"brand": ["volvo"], "model": "v60"})),
            json!({"category_fields": {"brand": refused("car", car_of(json!({"brand": ["volvo"]})))["category_fields"]["brand"]}}),
        ),
        (
            json!({"source_id": "x", "category_fields": {"model_year": 2019, "vin": "YV1UZ8256N1234567"}}),
            json!({"category_id": ["This field is required.", "Send 1020, the number of the category of this path."]}),
        ),
    ] {
        assert_eq!(refused("car", payload.clone()), errors, "{payload}");
    }
}

#[test]
fn words_with_several_meanings_are_listed_with_all() {
    for (path, sent, says) in [
        (
            "body_type",
            json!("Limousine"),
            "Did you mean \"limousine\" or \"sedan\"? \"Limousine\" means \"limousine\", or \"sedan\" in German: send the one that is meant.",
        ),
        (
            "body_type",
            json!("Kombi"),
            "Did you mean \"estate\" or \"hatchback\"? \"Kombi\" means \"estate\", or \"hatchback\" in Norwegian: send the one that is meant.",
        ),
        (
            "powertrain.drive_type",
            json!("2WD"),
            "Did you mean \"fwd\" or \"rwd\"? \"2WD\" means \"fwd\", or \"rwd\": send the one that is meant.",
        ),
    ] {
        assert_eq!(cure(path, &sent), says, "{path} {sent}");
    }
    let fuel = |fuel: &str| {
        let errors = refused("car", car_of(json!({"powertrain": {"fuels": [fuel]}})));
        texts(&errors, "/category_fields/powertrain/fuels/0")[1..].join(" ")
    };
    assert_eq!(
        fuel("Hybrid"),
        "\"Hybrid\" means [\"gasoline\", \"electric\"], or [\"diesel\", \"electric\"]: send the one that is meant."
    );
    assert_eq!(fuel(""), "\"\" stands for no value: leave the item out.");
    assert_eq!(
        fuel("diesel "),
        "Did you mean \"diesel\"? It begins or ends with a space or a character that is not visible: send \"diesel\"."
    );
}

#[test]
fn a_model_is_never_another_car_of_a_similar_name() {
    let model = |brand: &str, model: &str| {
        let errors = refused("car", car_of(json!({"brand": brand, "model": model})));
        texts(&errors, "/category_fields/model")[1..].join(" ")
    };
    let note = |brand: &str| format!("The models of this brand: GET /v4/vehicles/car/models?brand={brand}");
    for (brand, sent, says) in [
        ("bmw", "320d", "Did you mean \"3-series\"? Send \"320d\" as model_type. "),
        ("mercedes-benz", "C 220 d", "Did you mean \"c-class\"? Send \"C 220 d\" as model_type. "),
        ("skoda", "Octavia Combi", "Did you mean \"octavia\"? Send \"Combi\" as model_type. "),
        ("peugeot", "308 SW", "Did you mean \"308\"? Send \"SW\" as model_type. "),
        ("volvo", "XC 60", "Did you mean \"xc60\"? "),
        ("volkswagen", "Golf Variant", "Did you mean \"golf\"? Send \"Variant\" as model_type. "),
        ("skoda", "Oktavia", "Did you mean \"octavia\"? "),
        ("volvo", "V65", ""),
        ("bmw", "1602", ""),
        ("bmw", "Z9", ""),
    ] {
        assert_eq!(model(brand, sent), format!("{says}{}", note(brand)), "{brand} {sent}");
    }
}
