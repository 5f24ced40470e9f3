//! The samples in the OpenAPI document (`x-codeSamples`) are programs that run. Those in Rust compile: the kept ones are part of
//! these tests.

use std::{fmt::Write, fs, path::Path};

use ad_tests::tools::Tool;
use serde_json::Value;

use crate::{
    generated_clients::{TYPESCRIPT, Workshop},
    openapi::Contract,
};

/// The life of an ad, by operation ids with `*` for their vehicle type.
const LIFE: &[&str] =
    &["validate_*", "create_*", "list_*", "read_*", "put_*", "patch_*", "bump_*", "read_*_log", "retry_*", "delete_*"];

/// The samples of a language for a registered and an unregistered vehicle type, and for V3.
fn samples(contract: &Contract, language: &str) -> Vec<(String, String)> {
    let mut ids: Vec<_> =
        ["car", "boat"].iter().flat_map(|of| LIFE.iter().map(move |id| id.replace('*', of))).collect();
    ids.extend(["create_v3", "read_v3", "list_attributes", "list_values", "list_car_models"].map(str::to_owned));
    let operations = contract.operations();
    let sample = |id: String| {
        let operation = operations.iter().find(|operation| operation.id == id).unwrap_or_else(|| panic!("no {id}"));
        let samples = &contract.document.pointer(&operation.pointer).unwrap()["x-codeSamples"];
        let sample = samples.as_array().unwrap().iter().find(|sample| sample["lang"] == language).unwrap();
        let source = sample["source"].as_str().unwrap().to_owned();
        (id, source)
    };
    ids.into_iter().map(sample).collect()
}

#[tokio::test]
async fn curl_samples_run() {
    let Some(workshop) = Workshop::with(&[Tool::Program("curl")]).await else { return };
    let contract = Contract::with_examples(&workshop.server).await;
    for (_, source) in samples(&contract, "Shell") {
        workshop.run(&source).await;
    }
    let listed = workshop.server.client.get("/v4/ad").await.expect(200);
    assert_eq!(listed["count"], 3, "{listed}");
}

#[tokio::test]
async fn typescript_samples_compile_and_run() {
    let Some(workshop) = Workshop::with(&[TYPESCRIPT]).await else { return };
    let contract = Contract::with_examples(&workshop.server).await;
    let options = r#"{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext", "types": ["node"], "outDir": "out" } }"#;
    fs::write(workshop.dir.path().join("tsconfig.json"), options).unwrap();
    let mut script = "tsc\n".to_owned();
    for (id, source) in samples(&contract, "TypeScript") {
        fs::write(workshop.dir.path().join(format!("{id}.ts")), source).unwrap();
        writeln!(script, "node out/{id}.js").unwrap();
    }
    workshop.run(&script).await;
}

#[tokio::test]
async fn python_samples_run() {
    let Some(workshop) = Workshop::with(&[Tool::Python("import requests")]).await else { return };
    let contract = Contract::with_examples(&workshop.server).await;
    let mut script = String::new();
    for (id, source) in samples(&contract, "Python") {
        fs::write(workshop.dir.path().join(format!("{id}.py")), source).unwrap();
        writeln!(script, "python {id}.py").unwrap();
    }
    workshop.run(&script).await;
}

/// With a body and without.
mod rust {
    #![allow(dead_code, clippy::pedantic, reason = "written for readers of the documentation")]

    mod create_car {
        include!("../data/samples/create_car.rs");
    }
    mod read_car {
        include!("../data/samples/read_car.rs");
    }
}

#[tokio::test]
async fn rust_samples_are_those_that_compile_here() {
    let contract = Contract::with_examples(&ad_tests::Server::start().await).await;
    let samples = samples(&contract, "Rust");
    for name in ["create_car", "read_car"] {
        let (_, source) = samples.iter().find(|(id, _)| id == name).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/samples/{name}.rs"));
        let source = format!("{source}\n");
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&file, &source).unwrap();
        }
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            source,
            "{name}: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests samples"
        );
    }
}

#[tokio::test]
async fn every_operation_has_a_sample_in_every_language() {
    let contract = Contract::with_examples(&ad_tests::Server::start().await).await;
    for operation in contract.operations() {
        let samples = contract.document.pointer(&operation.pointer).unwrap()["x-codeSamples"].as_array().unwrap();
        let languages: Vec<_> = samples.iter().map(|sample| sample["lang"].as_str().unwrap()).collect();
        assert_eq!(languages, ["Shell", "TypeScript", "Python", "Rust"], "{}", operation.id);
        for source in samples.iter().map(|sample| sample["source"].as_str().unwrap()) {
            assert!(!source.contains("{source_id}") && !source.contains("{vehicle_type}"), "{source}");
            let address = operation.path.split('{').next().unwrap();
            assert!(source.contains(address), "{} at {address}: {source}", operation.id);
        }
    }
}

/// Only these types of values are written alike in JSON and Python.
#[tokio::test]
async fn payloads_of_samples_have_no_booleans_and_no_null() {
    let contract = Contract::with_examples(&ad_tests::Server::start().await).await;
    for operation in contract.operations() {
        let samples = &contract.document.pointer(&operation.pointer).unwrap()["x-codeSamples"];
        let python = samples[2]["source"].as_str().unwrap();
        let Some((_, payload)) = python.split_once("json=") else { continue };
        let (payload, _) = payload.split_once(",\n)").unwrap();
        let payload: Value = serde_json::from_str(payload).unwrap();
        crate::openapi::walk(&payload, &mut |value| assert!(!value.is_boolean() && !value.is_null(), "{payload}"));
    }
}
