//! Bodies that real programs send, in `tests/data/programs`: `samples` were reported, `recorded` are made by the scripts in `make`. The
//! answer to each is committed whole, in `answers.json` beside them: `UPDATE_SNAPSHOTS=1 cargo test -p ad-core programs`.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use ad_core::{
    categories::by_vehicle_type,
    not_json,
    service::{Access, ServiceError},
};
use serde_json::{Map, Value, json};

use crate::support::{DEALER, House};

/// The parts of an answer that are no help for a wrong value.
const ORDINARY: [&str; 2] = ["no_images", "no_price"];

#[tokio::test]
async fn bodies_of_programs_are_answered_with_field_cause_and_cure() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/programs"));
    for kind in ["samples", "recorded"] {
        let house = House::new();
        let mut answers = BTreeMap::new();
        for entry in fs::read_dir(folder.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "body") {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                answers.insert(name, answer(&house, &filled(fs::read(&path).unwrap())).await);
            }
        }
        let snapshot = folder.join(kind).join("answers.json");
        let text = format!("{:#}\n", json!(answers));
        if env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&snapshot, &text).unwrap();
        }
        let committed: BTreeMap<String, Value> = serde_json::from_str(&fs::read_to_string(&snapshot).unwrap()).unwrap();
        assert!(answers.len() >= 30, "{kind}: {}", answers.len());
        for (name, answer) in &answers {
            assert_eq!(Some(answer), committed.get(name), "{kind}/{name}");
        }
        assert_eq!(answers.len(), committed.len(), "{kind}");
    }
}

/// A body with an id and a plate.
fn filled(mut body: Vec<u8>) -> Vec<u8> {
    for (mark, value) in [(&b"@ID@"[..], &b"car-1"[..]), (b"@PLATE@", b"ABC123")] {
        while let Some(at) = body.windows(mark.len()).position(|found| found == mark) {
            body.splice(at..at + mark.len(), value.iter().copied());
        }
    }
    body
}

/// What validate answers: its errors, or its warnings and findings.
async fn answer(house: &House, body: &[u8]) -> Value {
    let parsed = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(value) => return json!({"detail": not_json::not_an_object(&value)}),
        Err(error) => return json!({"detail": not_json::explanation(body, &error)}),
    };
    let car = by_vehicle_type("car").unwrap();
    match house.kit.service.validate(&Access::Dealer(DEALER.to_owned()), car, parsed).await {
        Ok(validated) => {
            let warnings = json!(validated.warnings).as_array().unwrap().clone();
            let warnings = warnings.into_iter().filter(|it| !ORDINARY.iter().any(|code| it["code"] == *code));
            let meant = validated
                .quality
                .findings
                .iter()
                .filter_map(|finding| Some((finding.field.clone(), json!(finding.suggestion.as_ref()?))));
            json!({"warnings": warnings.collect::<Vec<_>>(), "meant": meant.collect::<Map<_, _>>()})
        }
        Err(ServiceError::Invalid(errors)) => json!(errors),
        Err(other) => panic!("{other:?}"),
    }
}
