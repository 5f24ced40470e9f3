//! The four shapes of legacy files, checked as a careful human would have: `expected.ndjson` says for each row what is to be submitted, or
//! why it cannot be. 200 rows are kept; 20,000 are written by the script that wrote those.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use ad_core::{model::Timestamp, rulebook::Rulebook};
use ad_migrate::{
    check::{self, Payloads, Sink, Totals, Verdict},
    finding::Severity,
    mapping::Mapping,
    readers::Reader,
};
use ad_tests::tools::{self, Tool};
use serde_json::{Value, json};

/// The files, each with the mapping for it.
const FILES: [(&str, &str); 4] = [
    ("stock-semicolon-cp1252.csv", "csv-semicolon-sv"),
    ("stock-positional.txt", "positional-pipe"),
    ("stock.xml", "xml-fordon"),
    ("stock.json", "json-nested"),
];

/// What the careful human calls a problem, and what rows with it have in common here.
const PROBLEMS: [(&str, &str); 7] = [
    ("no registration number and no VIN", "no registration number and no VIN"),
    ("registration number occurs twice", "duplicate registration number"),
    ("images are file names, not addresses", "images are file names, not addresses"),
    ("image address is not https", "image address is not https"),
    ("unknown brand (nearest: volvo)", "unknown brand"),
    ("model year out of range", "model year out of range"),
    ("27 images, at most 20 are allowed", "too many images"),
];

#[derive(Default)]
struct All(Vec<Verdict>);

impl Sink for All {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.0.push(verdict);
        Ok(())
    }
}

fn checked(file: &Path, mapping: &str) -> (Totals, Vec<Verdict>) {
    let rulebook = Rulebook::default();
    let text = Mapping::builtin(mapping).expect("it comes with the program");
    let mapping = Mapping::parse(text, &rulebook.catalogue).expect("it holds");
    let reader = Reader::open(file, mapping.reading()).expect("it can be read");
    let mut all = All::default();
    let totals =
        check::run(reader, &mapping, &rulebook, Payloads::All, Timestamp::from_millis(1_795_341_600_000), &mut all);
    (totals.expect("it can be checked"), all.0)
}

/// What a verdict comes to, in the words of `expected.ndjson`.
fn told(verdict: &Verdict) -> Value {
    let stock_no = verdict.source_id.as_deref().unwrap_or_default();
    let errors = verdict.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let reasons: Vec<_> = errors.map(|finding| finding.reason.as_str()).collect();
    if let [reason] = reasons[..] {
        let problem = PROBLEMS.iter().find(|(_, known)| *known == reason).map_or(reason, |(problem, _)| *problem);
        return json!({"stock_no": stock_no, "problem": problem});
    }
    assert!(reasons.is_empty(), "row {} has one problem and not {reasons:?}", verdict.row);
    let payload = Value::Object(verdict.payload.clone().expect("a row that can go has a payload"));
    let fields = &payload["category_fields"];
    assert_eq!(payload["category_id"], 1020);
    assert_eq!(payload["price"].as_array().map(Vec::len), Some(1));
    assert_eq!((&payload["price"][0]["type"], &payload["price"][0]["currency"]), (&json!("list"), &json!("SEK")));
    let images = payload.get("image_urls").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(images, verdict.image_count);
    json!({
        "stock_no": payload["source_id"],
        "registration_number": fields["registration_number"],
        "brand": fields["brand"],
        "model_year": fields["model_year"],
        "mileage": fields["condition"]["mileage"],
        "amount": payload["price"][0]["amount"],
        "transmission": fields["powertrain"]["transmission"],
        "fuels": fields["powertrain"]["fuels"],
        "images": images,
    })
}

fn agree(folder: &Path, rows: usize) {
    let expected = fs::read_to_string(folder.join("expected.ndjson")).expect("it is there");
    let expected: Vec<Value> =
        expected.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(expected.len(), rows);
    for (file, mapping) in FILES {
        let (totals, verdicts) = checked(&folder.join(file), mapping);
        assert_eq!(verdicts.len(), rows, "{file}");
        for ((verdict, expected), number) in verdicts.iter().zip(&expected).zip(1..) {
            assert_eq!(verdict.row, number, "{file}");
            assert_eq!(told(verdict), *expected, "{file}, row {number}: {:?}", verdict.findings);
            for finding in &verdict.findings {
                assert!(
                    !finding.columns.is_empty() && !finding.message.is_empty(),
                    "{file}, row {number}: {finding:?}"
                );
                assert!(finding.severity == Severity::Warning || finding.advice.is_some(), "{file}: {finding:?}");
            }
            if expected["problem"] == "unknown brand (nearest: volvo)" {
                let hint = verdict.findings[0].advice.as_deref().unwrap_or_default();
                assert!(hint.contains("volvo"), "{file}, row {number}: {hint}");
            }
        }
        let bad = expected.iter().filter(|row| row.get("problem").is_some()).count() as u64;
        assert_eq!((totals.rows, totals.invalid, totals.valid), (rows as u64, bad, rows as u64 - bad), "{file}");
        assert_eq!((totals.unread, totals.missing), (None, vec![]), "{file}");
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ad-migrate/tests/data")
}

#[test]
fn two_hundred_rows_are_judged_as_a_careful_human_would() {
    agree(&data().join("legacy"), 200);
}

#[test]
fn twenty_thousand_rows_are_judged_as_a_careful_human_would() {
    let Some(python) = tools::find(Tool::Python("")) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let written = Command::new(python)
        .arg(data().join("make_legacy_stock.py"))
        .arg(folder.path())
        .args(["--rows", "20000", "--seed", "11"])
        .status();
    assert!(written.expect("Python can be started").success());
    agree(folder.path(), 20_000);
}
