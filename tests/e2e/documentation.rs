//! The OpenAPI document and its pages (interface, 'Conventions'): that it is one, that it is the one in the repository, and
//! that its examples are what they are examples of. And that the promises of `docs/security.md` have tests.

use std::{collections::BTreeSet, path::PathBuf};

use ad_tests::Server;
use serde_json::{Value, json};

use crate::{
    openapi::{Contract, Described, escaped, walk},
    payloads::sample,
};

#[tokio::test]
async fn openapi_document_is_the_one_in_the_repository() {
    let contract = Contract::of(&Server::start().await).await;
    expect_kept("openapi.json", &contract.document);
}

/// Whether a document is as it is kept in `docs`; with `UPDATE_SNAPSHOTS` it is written there first.
pub(crate) fn expect_kept(name: &str, document: &Value) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    let served = format!("{document:#}\n");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, &served).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(served.lines()).position(|(kept, served)| kept != served);
    assert!(
        kept == served,
        "docs/{name} is stale, first at line {:?}. When the change is meant: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests openapi",
        differs.map(|line| line + 1)
    );
}

#[tokio::test]
async fn openapi_document_is_valid() {
    let contract = Contract::of(&Server::start().await).await;
    let parsed: openapiv3::OpenAPI = serde_json::from_value(contract.document.clone()).unwrap();
    assert_eq!(parsed.openapi, "3.0.3");
    assert_eq!(contract.dangling(), BTreeSet::new());
    unreferred(&contract);
    let mut ids = BTreeSet::new();
    for operation in contract.operations() {
        assert!(ids.insert(operation.id.clone()), "{} twice", operation.id);
        let parameters = contract.parameters(&operation);
        let of_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
        let declared: BTreeSet<_> = of_path.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        let named: BTreeSet<_> =
            operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        assert_eq!(declared, named, "{}", operation.id);
        let distinct: BTreeSet<_> =
            parameters.iter().map(|it| (it["in"].to_string(), it["name"].to_string())).collect();
        assert_eq!(distinct.len(), parameters.len(), "{} has a parameter twice", operation.id);
    }
    let mut without_numbers = BTreeSet::new();
    for name in contract.document["components"]["schemas"].as_object().unwrap().keys() {
        let is_distinct = without_numbers.insert(name.replace(|mark: char| mark.is_ascii_digit(), ""));
        assert!(is_distinct, "{name} differs from another by a number only");
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.len() <= 40, "{name}");
        // Building the validator judges the schema itself.
        contract.mismatch(&format!("/components/schemas/{name}"), &Value::Null);
    }
}

/// Generators, linters and editors read it as a whole.
#[tokio::test]
async fn openapi_documents_are_small() {
    let server = Server::start().await;
    let client = server.client.with_token(None);
    let size = async |query: &str| client.get(&format!("/openapi.json{query}")).await.bytes.len();
    let whole = size("").await;
    assert!(whole <= 985_000, "{whole} bytes");
    for (vehicle_type, _) in ad_core::categories::typed() {
        let own = size(&format!("?tag={vehicle_type}")).await;
        assert!(own < 175_000, "{vehicle_type}: {own} bytes");
    }
}

/// Nothing stands among the components that no operation leads to.
fn unreferred(contract: &Contract) {
    let mut referred = BTreeSet::new();
    walk(&contract.document, &mut |place| {
        if let Some(reference) = place.get("$ref").and_then(Value::as_str) {
            referred.insert(reference.to_owned());
        }
    });
    for (kind, components) in contract.document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            assert!(referred.contains(&format!("#/components/{kind}/{name}")), "{kind} {name} is not used");
        }
    }
}

/// The bodies of an operation: of its request, and of each response, as pointers to where schema and examples stand.
fn bodies(contract: &Contract, operation: &Described) -> Vec<String> {
    let content = |pointer: String| format!("{pointer}/content/application~1json");
    let described = contract.document.pointer(&operation.pointer).unwrap();
    let request = described.get("requestBody").map(|_| content(format!("{}/requestBody", operation.pointer)));
    // 304 has none.
    let statuses = described["responses"].as_object().unwrap().keys().filter(|status| *status != "304");
    let responses = statuses.map(|status| {
        let (response, _) = contract.at(&format!("{}/responses/{status}", operation.pointer)).unwrap();
        content(response)
    });
    request.into_iter().chain(responses).collect()
}

#[tokio::test]
async fn every_body_has_an_example_and_every_example_is_what_its_schema_describes() {
    let contract = Contract::with_examples(&Server::start().await).await;
    for operation in contract.operations() {
        for body in bodies(&contract, &operation) {
            let content = contract.document.pointer(&body).unwrap();
            let examples = content["examples"].as_object().unwrap_or_else(|| panic!("{body} has no example"));
            for name in examples.keys() {
                let (at, example) = contract.at(&format!("{body}/examples/{}", escaped(name))).unwrap();
                let mismatch = contract.mismatch(&format!("{body}/schema"), &example["value"]);
                assert_eq!(mismatch, None, "{} {at}: {}", operation.id, example["value"]);
            }
        }
    }
}

/// A property of the document of all types has an example, or is made of properties that have one.
#[tokio::test]
async fn every_property_has_an_example() {
    let contract = Contract::of(&Server::start().await).await;
    let mut without = BTreeSet::new();
    let schemas = contract.document["components"]["schemas"].as_object().unwrap();
    // The fields of the others have those of new ads.
    for (name, schema) in schemas.iter().filter(|(name, _)| !name.ends_with("Update") && !name.ends_with("Answer")) {
        walk(schema, &mut |place| {
            for (property, schema) in place.get("properties").and_then(Value::as_object).into_iter().flatten() {
                // A payload may itself have a property of that name.
                if schema.is_object() && !shows(&contract, schema) {
                    without.insert(format!("{name}: {property}"));
                }
            }
        });
    }
    assert_eq!(without, BTreeSet::new());
}

fn shows(contract: &Contract, schema: &Value) -> bool {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => contract.document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let has = |name: &str| schema.get(name).is_some();
    // What clients of open categories send is theirs.
    let is_open = schema.get("additionalProperties").is_some_and(|any| *any == true);
    has("example")
        || has("allOf")
        || has("properties")
        || has("anyOf")
        || is_open
        || schema.get("items").is_some_and(|items| shows(contract, items))
}

#[tokio::test]
async fn a_tag_has_a_document_of_its_own_and_both_dialects_say_the_same() {
    let server = Server::start().await;
    let whole = Contract::of(&server).await;
    let client = server.client.with_token(None);
    let mut operations = 0;
    for tag in whole.document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()) {
        if ["lookups", "requests", "events", "token", "summary", "account", "stock", "promotions", "webhooks"]
            .contains(&tag)
        {
            continue;
        }
        let part = Contract::new(client.get(&format!("/openapi.json?tag={tag}")).await.expect(200));
        assert_eq!(part.dangling(), BTreeSet::new(), "{tag}");
        unreferred(&part);
        for operation in part.operations() {
            let described = part.document.pointer(&operation.pointer).unwrap();
            let of_whole = whole.document.pointer(&operation.pointer).unwrap();
            for same in ["operationId", "summary", "parameters", "responses"] {
                assert_eq!(described[same], of_whole[same], "{tag}");
            }
            assert!(described["x-codeSamples"].is_array(), "{tag}");
            operations += usize::from(described["tags"][0] == tag);
        }
    }
    let common = Contract::new(client.get("/openapi.json?tag=common").await.expect(200));
    assert_eq!(operations + common.operations().len(), whole.operations().len(), "with those of all vehicle types");

    let refused = client.get("/openapi.json?tag=spaceship&v=1").await.expect(400);
    assert!(refused["tag"][0].as_str().unwrap().contains("\"car\""), "{refused}");
    assert_eq!(refused["v"], json!(["Unknown parameter."]));

    let newer = client.get("/openapi-3.1.json").await.expect(200);
    assert_eq!(
        (&newer["openapi"], &newer["paths"]["/v4/car"]["post"]["operationId"]),
        (&json!("3.1.1"), &json!("create_car"))
    );
    assert_eq!(newer["webhooks"]["event"]["post"]["operationId"], "receive_event");
    walk(&newer["components"]["schemas"], &mut |place| assert_eq!(place.get("nullable"), None, "{place}"));
    let color = |contract: &Contract, fields: &str| {
        let (_, color) = contract.at(&format!("/components/schemas/{fields}/properties/color")).unwrap();
        (color["type"].clone(), color["examples"].clone())
    };
    let newer = Contract::new(newer);
    assert_eq!(color(&newer, "CarFields"), (json!("string"), json!(["Dark grey metallic"])));
    assert_eq!(color(&newer, "CarFieldsUpdate").0, json!(["string", "null"]));
}

#[tokio::test]
async fn every_example_of_a_new_ad_can_be_validated_created_and_updated() {
    let server = Server::start().await;
    let contract = Contract::with_examples(&server).await;
    let client = &server.client;
    let creates = contract.examples("Create");
    assert_eq!(creates.len(), 15 + 8 + 14, "of V4, of V3, and of V3 alone; without trailers");
    for (of, payload) in creates {
        let path = path(of, payload);
        let valid = client.post(&format!("{path}/validate"), payload).await.expect(200);
        assert_eq!(valid["warnings"], json!([]), "{of}");
        client.post(&path, payload).await.expect(201);
        let one = format!("{path}/{}", payload["source_id"].as_str().unwrap());
        let updated = client.patch(&one, contract.example(&format!("{of}Update"))).await.expect(200);
        assert_eq!((&updated["url"], updated["price"][0]["type"].as_str()), (&Value::Null, Some("list")), "{of}");
    }
}

#[tokio::test]
async fn every_example_of_a_migration_can_be_executed_on_both_paths() {
    let server = Server::start().await;
    let contract = Contract::with_examples(&server).await;
    let client = &server.client;
    let migrations = contract.examples("Migrate");
    assert_eq!(migrations.len(), 11);
    // Nobody can create a trailer that would then migrate.
    for (of, payload) in migrations.into_iter().filter(|(of, _)| *of != "Trailer") {
        let to = contract.example(&format!("{of}MigrateTo"));
        let vehicle_type = path(of, contract.example(&format!("{of}Create")));
        let category = ad_core::categories::by_vehicle_type(vehicle_type.trim_start_matches("/v4/")).unwrap();
        let becomes_this = |create: &Value| category.found_under().any(|id| create["category_id"] == id);
        let creates = contract.examples("Create").into_iter();
        let (_, stored) = creates.filter(|(of, _)| of.starts_with("V3")).find(|(_, it)| becomes_this(it)).unwrap();
        for (base, payload) in [(vehicle_type.as_str(), payload), ("/v4/ad", to)] {
            let mut stored = stored.clone();
            stored["source_id"] = json!(format!("{of} at {base}"));
            let ad = client.post("/v3/ad", &stored).await.expect(201);
            let one = format!("{base}/{of}%20at%20{}/migrate", base.replace('/', "%2F"));
            let migrated = client.post(&one, payload).await.expect(200);
            assert_eq!((&migrated["id"], &migrated["api_version"]), (&ad["id"], &json!("v4")), "{of}");
        }
    }
}

/// Where the example of a create is sent.
fn path(of: &str, payload: &Value) -> String {
    match payload["source_id"].as_str().unwrap().strip_suffix("-1001") {
        Some(vehicle_type) if !of.starts_with("V3") => format!("/v4/{vehicle_type}"),
        _ => "/v3/ad".to_owned(),
    }
}

#[tokio::test]
async fn each_type_has_its_own_schemas_with_enums_bounds_and_descriptions() {
    let contract = Contract::of(&Server::start().await).await;
    let schemas = &contract.document["components"]["schemas"];
    for (name, body) in [
        ("CarCreate", include_str!("../data/payloads/car-v4.json")),
        ("BoatCreate", include_str!("../data/payloads/boat-v4.json")),
        ("MopedCreate", include_str!("../data/payloads/moped-v4.json")),
        ("V3CarCreate", include_str!("../data/payloads/car-v3.json")),
    ] {
        assert_eq!(contract.mismatch(&format!("/components/schemas/{name}"), &sample(body)), None, "{name}");
    }
    assert!(schemas["CarBrand"]["enum"].as_array().unwrap().contains(&"volvo".into()));
    let field = |fields: &str, path: &[&str]| {
        let pointer = path.iter().try_fold(format!("/components/schemas/{fields}"), |above, name| {
            let (pointer, _) = contract.at(&above)?;
            Some(format!("{pointer}/properties/{name}"))
        });
        contract.at(&pointer?).map(|(_, field)| field)
    };
    let year = field("CarFields", &["model_year"]).unwrap();
    assert_eq!((&year["minimum"], &year["maximum"]), (&1900.into(), &2100.into()));
    let displacement = field("CarFields", &["powertrain", "displacement"]).unwrap();
    assert!(displacement["description"].as_str().unwrap().ends_with("(V4)"), "{displacement}");
    assert_eq!(field("V3CarFields", &["powertrain", "displacement"]), None);
    assert_eq!(schemas["CarValidate"]["properties"].get("title"), None, "must not be sent");
    assert!(schemas["BoatValidate"]["required"].as_array().unwrap().contains(&"contact".into()));
    let refused = [
        (
            "CarCreate",
            json!({"source_id": "1", "category_id": 1020, "category_fields": {"model_year": 2019},
            "price": [{"type": "reduced", "amount": 1}]}),
        ),
        ("BoatUpdate", json!({"price": [{"type": "leasing", "amount": 1}]})),
        ("CarUpdate", json!({"location": {"lkf": "2480"}})),
        ("BoatUpdate", json!({"location": {"lkf": "0280"}})),
        ("CarUpdate", json!({"image_urls": ["http://images.example/1.jpg"]})),
        ("MopedMigrate", json!({"category_id": 1121, "category_fields": {"model_year": 2019}})),
        ("BusMigrateTo", json!({"title": "t", "contact": {"email": "a@b.se"}, "category_fields": {}})),
    ];
    for (name, payload) in refused {
        assert!(contract.mismatch(&format!("/components/schemas/{name}"), &payload).is_some(), "{name} {payload}");
    }
}

/// The rows of a page's tables with this header: the promise, and the code spans of the other column.
fn promises<'p>(page: &'p str, header: &str) -> Vec<(&'p str, Vec<&'p str>)> {
    let mut is_in_table = false;
    let rows = page.lines().filter_map(|line| {
        is_in_table = line == header || (is_in_table && line.starts_with('|'));
        let (promise, tests) = line.strip_prefix("| ").filter(|_| is_in_table && line != header)?.split_once(" | ")?;
        Some((promise, tests.split('`').skip(1).step_by(2).collect()))
    });
    rows.collect()
}

/// Whether a file has a test of this name.
fn has_test(file: &str, name: &str) -> bool {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let source = std::fs::read_to_string(path).unwrap_or_default();
    let mut is_test = false;
    source.lines().map(str::trim).any(|line| {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
            return false;
        }
        let defines = line.trim_start_matches("async ").starts_with(&format!("fn {name}("));
        std::mem::take(&mut is_test) && defines
    })
}

#[test]
fn every_promise_of_security_names_tests_that_exist() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/security.md")).unwrap();
    let mut list = std::process::Command::new(std::env::current_exe().unwrap());
    let listed = list.args(["--list", "--format", "terse"]).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let of_this_binary: BTreeSet<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let promises = promises(&page, "| Guarantee | Test |");
    assert!(promises.len() > 40, "{promises:#?}");
    let mut wrong = Vec::new();
    for (promise, tests) in promises {
        if tests.is_empty() {
            wrong.push(format!("has no test: {promise}"));
        }
        for test in tests {
            let exists = match test.split_once(".rs::") {
                Some((file, name)) => has_test(&format!("{file}.rs"), name),
                None => of_this_binary.contains(test),
            };
            if !exists {
                wrong.push(format!("there is no test {test}: {promise}"));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/security.md:\n{}", wrong.join("\n"));
}
