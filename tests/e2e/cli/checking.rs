//! `ad-cli validate` and the commands that tell what is allowed: mistakes are found before anything is sent, and told so that one can act.

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

const CAR: &str = include_str!("../../data/payloads/car-v4.json");
const MISTAKES: &str = include_str!("../../data/payloads/mistakes.json");

fn car() -> Value {
    serde_json::from_str(CAR).unwrap()
}

#[tokio::test]
async fn a_new_payload_of_every_type_validates() {
    let cli = Cli::new();
    let types = cli.run("fields --output ndjson").await.ndjson();
    assert_eq!(types.len(), 16);
    for vehicle_type in types {
        let name = vehicle_type["vehicle_type"].as_str().unwrap();
        for form in ["", "--full"] {
            let new = cli.run(&format!("new {name} {form}")).await;
            let payload = new.json();
            assert_eq!(payload["category_id"], vehicle_type["category_id"]);
            assert!(new.stderr.contains("Fields (* required)"), "{new:?}");
            let checked = cli.piped("validate - --output ndjson", &new.stdout).await;
            let expected = if name == "trailer" { 3 } else { 0 };
            assert_eq!(checked.code, expected, "{name} {form}: {checked:?}");
        }
    }
    let v3 = cli.run("new car --v3 --full").await;
    assert_eq!(cli.piped("validate --v3 -", v3.done()).await.code, 0);
    assert_eq!(cli.run("new boat --v3").await.code, 2);
}

#[tokio::test]
async fn somebody_new_has_a_published_ad_after_three_commands() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let new = cli.run("new car --source-id car-1").await;
    cli.file("car.json", new.done());
    let created = cli.run("create car.json --wait").await;
    assert!(created.done().contains("hidden"), "nothing is published by accident: {created:?}");
    let shown = cli.run("show car-1 --wait").await;
    assert!(shown.done().contains("published"), "{shown:?}");
}

#[tokio::test]
async fn mistakes_are_told_with_place_value_reason_and_way_out() {
    let cli = Cli::new();
    let mistakes: Value = serde_json::from_str(MISTAKES).unwrap();
    let mut car = car();
    car["category_fields"]["brand"] = json!("wolvo");
    car["category_fields"]["powertrain"]["fuels"][1] = json!("elektric");
    car["category_fields"]["condition"]["mileage"]["unit"] = json!("miles");
    cli.file("cars.ndjson", format!("{}\n\n{{\"a\" 1}}\n{car}\n", mistakes[0]["payload"]));
    let ended = cli.run("validate cars.ndjson").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let expected = r#"cars.ndjson:1:2: error: category_fields.model_year (m1)
  This field is required.
  see: ad-cli fields car model_year
cars.ndjson:1:21: error: category_fields.fuel is "diesel" (m1)
  Unknown field. Did you mean "powertrain.fuels"?
  see: ad-cli fields car fuels
cars.ndjson:1:37: error: category_fields.gearbox is "manual" (m1)
  Unknown field. Did you mean "powertrain.transmission"?
  see: ad-cli fields car transmission
"#;
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
    for told in [
        "cars.ndjson:3:6: error: Not JSON: expected `:`.\n",
        "error: category_fields.brand is \"wolvo\" (car-1)\n  \"wolvo\" is not a valid choice. Did you mean \"volvo\"?\n  see: ad-cli values car brand\n",
        "error: category_fields.powertrain.fuels.1 is \"elektric\" (car-1)\n  \"elektric\" is not a valid choice. Did you mean \"electric\"?\n  see: ad-cli values car powertrain.fuels\n",
        "error: category_fields.condition.mileage.unit is \"miles\" (car-1)\n",
        "error: title is \"2019 Volvo V60\" (m1)\n  Must not be sent for vehicle type \"car\"",
    ] {
        assert!(ended.stdout.contains(told), "{told}\n{}", ended.stdout);
    }
    assert_eq!(ended.stderr, "cars.ndjson: 3 payloads, 0 valid, 3 with errors\n");
    // The commands that are named say more.
    for line in ["values car brand", "values car powertrain.fuels", "fields car fuels", "fields car", "models volvo"] {
        assert!(ended.code == 3 && !cli.run(line).await.done().is_empty(), "{line}");
    }
}

#[tokio::test]
async fn programs_get_each_mistake_as_a_row() {
    let cli = Cli::new();
    let mut car = car();
    car["category_fields"]["brand"] = json!("wolvo");
    cli.file("car.json", serde_json::to_string_pretty(&car).unwrap());
    let ended = cli.run("validate car.json --output json").await;
    assert_eq!(ended.code, 3);
    let rows: Value = serde_json::from_str(&ended.stdout).unwrap();
    let line = serde_json::to_string_pretty(&car).unwrap().lines().position(|line| line.contains("wolvo")).unwrap() + 1;
    assert_eq!(
        rows,
        json!([{"file": "car.json", "index": 0, "source_id": "car-1", "vehicle_type": "car", "line": line, "column": 5,
            "severity": "error", "field": "category_fields.brand", "value": "wolvo",
            "message": "\"wolvo\" is not a valid choice. Did you mean \"volvo\"?", "suggestions": ["volvo"],
            "command": "ad-cli values car brand"}])
    );
    let csv = cli.run("validate car.json --output csv").await.stdout;
    assert!(csv.starts_with(
        "file,line,column,index,source_id,vehicle_type,severity,field,value,message,suggestions,command\n"
    ));
    assert_eq!(csv.lines().count(), 2);
    let empty = cli.piped("validate - --output json", CAR).await;
    assert_eq!((empty.code, empty.stdout.as_str()), (0, "[]\n"));
}

#[tokio::test]
async fn what_is_no_file_of_payloads_is_told_in_one_line() {
    let cli = Cli::new();
    std::fs::create_dir(cli.home().join("folder")).unwrap();
    for (name, content, told) in [
        ("a.json", &b"PK\x03\x04\0\0"[..], "a.json is a zip archive or an Office document (such as .xlsx), not JSON"),
        ("b.json", b"id;brand;model\n1;volvo;v60\n", "b.json is a table of separated values (CSV), not JSON"),
        ("c.json", b"", "c.json is empty"),
        ("d.json", b"\xff\xd8\xff\xe0", "d.json is a JPEG image, not JSON"),
        ("e.json", b"[]", "e.json contains no payloads"),
    ] {
        cli.file(name, content);
        let ended = cli.run(&format!("validate {name}")).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(&format!("error: {told}\n")), "{ended:?}");
        assert!(ended.stdout.is_empty(), "{ended:?}");
    }
    for (name, told) in [("folder", "it is a folder"), ("none.json", "there is no such file")] {
        let ended = cli.run(&format!("validate {name}")).await;
        assert!(ended.code == 2 && ended.stderr.contains(told), "{ended:?}");
    }
}

#[tokio::test]
async fn half_written_files_and_other_encodings_are_told_with_their_place() {
    let cli = Cli::new();
    let first = car().to_string();
    let half = |text: &str| text[..text.len() / 2].to_owned();
    let line = |ended: &ad_tests::Ended| ended.stdout.lines().last().unwrap_or_default().to_owned();
    cli.file("array.json", format!("[\n{first},\n{}", half(&first)));
    let ended = cli.run("validate array.json").await;
    assert_eq!(ended.code, 3);
    assert!(line(&ended).starts_with("array.json:3:"), "{ended:?}");
    assert!(line(&ended).contains("Truncated JSON"), "{ended:?}");
    assert!(ended.stderr.contains("2 payloads, 1 valid, 1 with errors"), "{ended:?}");
    // Windows-1252, as a spreadsheet may write it.
    let bytes: Vec<u8> = first.chars().map(|it| u8::try_from(u32::from(it)).unwrap_or(b'?')).collect();
    cli.file("windows.ndjson", [&bytes[..], b"\n", first.replace("car-1", "car-2").as_bytes()].concat());
    let ended = cli.run("validate windows.ndjson").await;
    assert_eq!(ended.code, 3);
    assert!(ended.stdout.contains("which is \"ä\" in Windows-1252. Save the file as UTF-8."), "{ended:?}");
    assert!(ended.stderr.contains("2 payloads, 1 valid, 1 with errors"), "{ended:?}");
    // UTF-16, as PowerShell writes it.
    let wide: Vec<u8> = std::iter::once(0xFEFF).chain(first.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    cli.file("wide.json", wide);
    let ended = cli.run("validate wide.json").await;
    assert!(ended.code == 0 && ended.stderr.contains("is UTF-16; it is converted to UTF-8"), "{ended:?}");
    // A mark that does not count.
    cli.file("marked.json", format!("\u{feff}{first}"));
    assert_eq!(cli.run("validate marked.json").await.code, 0);
}

#[tokio::test]
async fn the_service_is_asked_for_what_only_it_knows() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = [car(), car(), car()];
    for (index, ad) in ads.iter_mut().enumerate() {
        ad["source_id"] = json!(format!("car-{index}"));
    }
    ads[1]["category_fields"]["salesperson"] = json!("ana@north.example");
    server.client.post("/v4/car", &ads[0]).await.expect(201);
    cli.file("cars.json", json!(ads).to_string());
    assert_eq!(cli.run("validate cars.json").await.code, 0);
    let ended = cli.run("validate cars.json --online --output ndjson").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let rows: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!((&rows[0]["index"], &rows[0]["field"]), (&json!(0), &json!("source_id")));
    assert_eq!((&rows[1]["index"], &rows[1]["field"]), (&json!(1), &json!("category_fields.salesperson")));
    assert!(rows[1]["message"].as_str().unwrap().contains("Did you mean \"anna@north.example\"?"));
    let listed = server.client.get("/v4/ad").await.expect(200);
    assert_eq!(listed["count"], 1, "nothing is stored");
}

#[tokio::test]
async fn nobody_reading_on_is_no_mistake() {
    let cli = Cli::new();
    let mut car = car();
    car["category_fields"]["brand"] = json!("wolvo");
    cli.file("cars.ndjson", format!("{car}\n").repeat(20_000));
    let mut command = cli.command(["validate", "cars.ndjson"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn what_is_asked_for_wrongly_is_answered_with_the_nearest() {
    let cli = Cli::new();
    for (line, hint) in [
        ("values car body_typ", "Did you mean \"body_type\"?"),
        ("values car body_type suvv", "Did you mean \"suv\"?"),
        ("values car model", "to list the models of a brand: ad-cli models BRAND"),
        ("values car model_year", "has no list of allowed values; its type is: integer, 1900 to 2100"),
        ("models volv", "Did you mean \"volvo\"?"),
        ("fields car milage", "Did you mean \"category_fields.condition.mileage\"?"),
        ("fields caravn", "similar value"),
    ] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains(hint), "{line}: {ended:?}");
    }
    let fuels = cli.run("values car fuels --output ndjson").await.ndjson();
    assert!(fuels.contains(&json!({"id": "electric", "name": "Electric"})));
    let fields = cli.run("fields car mileage --output json").await.json();
    assert_eq!(fields[0]["field"], "category_fields.condition.mileage");
    let required =
        async |name: &str| cli.run(&format!("fields {name} --required --output csv")).await.done().to_owned();
    let (car, boat) = (required("car").await, required("boat").await);
    assert!(
        car.contains("category_fields.model_year,") && !car.contains("title,") && !car.contains("contact"),
        "{car}"
    );
    assert!(boat.contains("\ntitle,") && boat.contains("\ncontact.email,"), "{boat}");
    assert_eq!(cli.run("values car mileage").await.done().lines().count(), 3);
}
