//! Shapes of public feeds: each file in `data/feeds` is mapped by a built-in mapping or the one beside it, and the whole outcome of every row is
//! compared with what is kept. Names, plates and addresses are invented.

use std::{fmt::Write as _, fs, io, path::PathBuf};

use ad_core::{model::Timestamp, rulebook::Rulebook};
use ad_migrate::{
    check::{self, Payloads, Sink, Verdict},
    finding::Severity,
    mapping::Mapping,
    readers::Reader,
};
use serde_json::{Value, json};

/// Each a file, and its mapping: one that is built in, or the one of the same name beside it.
const FEEDS: &[(&str, Option<&str>)] = &[
    ("atom.xml", None),
    ("autoscout24.json", Some("autoscout24")),
    ("avto.xml", None),
    ("berichten.xml", None),
    ("by-id.json", None),
    ("export.tsv", None),
    ("google.csv", Some("google-vehicles")),
    ("iad.xml", None),
    ("meta-listings.xml", Some("meta-listings")),
    ("meta-products.csv", None),
    ("meta-vehicles.csv", Some("meta-vehicles")),
    ("mobile.zip", Some("mobile-de")),
    ("svensk.json", None),
    ("vo.xml", None),
    ("woocommerce.csv", Some("woocommerce")),
];

#[derive(Default)]
struct All(Vec<Verdict>);

impl Sink for All {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.0.push(verdict);
        Ok(())
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/feeds").join(name)
}

/// What comes of each row that is not skipped: its payload, and what is said about it.
fn outcome(file: &str, mapping: &str) -> String {
    let rulebook = Rulebook::default();
    let mapping = Mapping::parse(mapping, &rulebook.catalogue).unwrap_or_else(|error| panic!("{file}: {error}"));
    let reader = Reader::open(&path(file), mapping.reading()).unwrap_or_else(|error| panic!("{file}: {error:?}"));
    let mut all = All::default();
    let now = Timestamp::from_millis(1_795_341_600_000);
    let totals = check::run(reader, &mapping, &rulebook, Payloads::All, now, &mut all).expect("it can be checked");
    assert_eq!(totals.unread, None, "{file}");
    let mut text = String::new();
    for verdict in all.0 {
        let errors: Vec<&str> = verdict.errors().map(|finding| finding.message.as_str()).collect();
        let is_warning = |severity| severity == Severity::Warning;
        let warnings = verdict.findings.iter().filter(|finding| is_warning(finding.severity));
        let warnings: Vec<&str> = warnings.map(|finding| finding.reason.as_str()).collect();
        let payload = verdict.payload.as_ref().map_or(Value::Null, |payload| Value::Object(payload.clone()));
        let line = json!({"row": verdict.row, "payload": payload, "errors": errors, "warnings": warnings});
        writeln!(text, "{line}").expect("memory takes everything");
    }
    text
}

#[test]
fn every_shape_comes_out_as_it_is_kept() {
    let mut stale = Vec::new();
    for (file, builtin) in FEEDS {
        let stem = file.split('.').next().unwrap_or(file);
        let own = || fs::read_to_string(path(&format!("{stem}.toml"))).expect("the mapping is beside the file");
        let mapping = builtin.map_or_else(own, |name| Mapping::builtin(name).expect("it is built in").to_owned());
        let made = outcome(file, &mapping);
        let kept = path(&format!("{stem}.expected.ndjson"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&kept, &made).expect("it can be written");
        }
        if fs::read_to_string(&kept).ok().as_ref() != Some(&made) {
            stale.push(format!("{file}:\n{made}"));
        }
    }
    assert!(stale.is_empty(), "{}\nUPDATE_SNAPSHOTS=1 cargo test -p ad-migrate --test feeds", stale.join("\n"));
}
