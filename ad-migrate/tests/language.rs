//! The mapping language: its schema is the one in the repository, and every example of its page is a mapping.

use std::path::{Path, PathBuf};

use ad_core::catalogue::Catalogue;
use ad_migrate::mapping::Mapping;
use serde_json::{Value, json};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

/// The examples of the pages, each as a whole mapping.
fn examples() -> Vec<String> {
    let page = read("mappings/README.md") + &read("src/cli/feeds.md");
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let whole = |(block, _): (&str, &str)| {
        let mut text = block.to_owned();
        for (table, example) in [("[vehicle]", "type = 'car'"), ("[fields]", "source_id = 'Nr'")] {
            let has_it = |line: &str| {
                line.trim_start().starts_with(table) || line.starts_with("[fields.") && table == "[fields]"
            };
            if !text.lines().any(has_it) {
                text = format!("{text}\n{table}\n{example}\n");
            }
        }
        text
    };
    blocks.map(whole).collect()
}

fn as_json(text: &str) -> Value {
    let value: toml::Value = toml::from_str(text).expect("it is TOML");
    serde_json::to_value(value).expect("TOML fits into JSON")
}

#[test]
fn the_schema_is_the_one_in_the_repository() {
    let made = format!("{:#}\n", Mapping::schema());
    let file = path("../docs/mapping.schema.json");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, &made).expect("it can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "docs/mapping.schema.json is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-migrate --test language"
    );
}

#[test]
fn every_example_is_a_mapping_and_fits_the_schema() {
    let schema = jsonschema::validator_for(&Mapping::schema()).expect("it is a schema");
    let builtin = Mapping::builtin_names().filter_map(Mapping::builtin).map(str::to_owned);
    let examples = examples();
    assert!(examples.len() > 10, "the page has examples");
    for text in examples.into_iter().chain(builtin) {
        if let Err(error) = Mapping::parse(&text, &Catalogue::embedded()) {
            panic!("{error}\n{text}");
        }
        let errors: Vec<String> = schema.iter_errors(&as_json(&text)).map(|error| format!("{error}")).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
}

#[test]
fn what_is_no_mapping_does_not_fit_the_schema() {
    let schema = jsonschema::validator_for(&Mapping::schema()).expect("it is a schema");
    let good = json!({"vehicle": {"type": "car"}, "fields": {"source_id": 1, "price.list": {"from": "Pris"}}});
    assert!(schema.is_valid(&good));
    for (pointer, wrong) in [
        ("/vehicle/type", json!("spaceship")),
        ("/fields/source_id", json!({"form": "Nr"})),
        ("/fields/source_id", json!(0)),
        ("/fields", json!({"category_fields": {"brnd": "Märke"}})),
        ("/fields", json!({"price.lst": "Pris"})),
    ] {
        let mut mapping = good.clone();
        *mapping.pointer_mut(pointer).expect("it is there") = wrong;
        assert!(!schema.is_valid(&mapping), "{mapping}");
    }
    let mut mapping = good;
    mapping["file"] = json!({"seperator": ";"});
    assert!(!schema.is_valid(&mapping), "{mapping}");
}
