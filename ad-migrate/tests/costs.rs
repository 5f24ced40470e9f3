//! Files of each kind in which everything is as small as it can be, so that there is as much of it as there can be. However many rows, values,
//! names and errors a short file has, what is held of it in memory and what is said about it are bounded.
//!
//! Time is not measured here: what takes time is counted. A row takes at least two bytes of a file, packed or not
//! (`src/readers/row_limit.rs`), and what a file unpacks to is bounded (`src/readers/packing.rs`).

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

mod peak;

use std::{fs, io::Write};

use flate2::{Compression, write::GzEncoder};
use peak::{MAPPING, MEMORY, run};

/// Bytes of a file.
const LENGTH: usize = 60_000;

/// Most bytes that are printed about a file, on stdout and stderr each. A draft lists each of its columns, of which there are at most 5000.
const SAID: usize = 16 * 1024;

/// The name of a file, and its parts: the beginning, what is repeated, and the end.
type Kind = (&'static str, String, &'static str, &'static str);

fn kinds() -> Vec<Kind> {
    let of = |name, head: &str, unit, tail| (name, head.to_owned(), unit, tail);
    let columns = |count: usize| (0..count).map(|number| format!("c{number};")).collect::<Vec<_>>().concat() + "id\n";
    vec![
        of("letters.csv", "id\n", "a\n", ""),
        of("returns.csv", "id\n", "a\r", ""),
        of("few-of-many-columns.csv", &columns(1900), "a\n", ""),
        of("quotes.csv", "id;b\n", "\"a\"b\n", ""),
        of("open-quotes.csv", "id;b\n", "\"a\n", ""),
        of("objects.json", "[", "{},", "{}]"),
        of("numbers.json", "[{\"id\":1},", "0,", "0]"),
        of("objects.ndjson", "", "{}\n", ""),
        of("glued.ndjson", "", "{}", ""),
        of("values.json", "[{\"id\":\"1\",\"b\":[", "1,", "1]}]"),
        of("records.xml", "<s><a><id>1</id></a>", "<a><b/></a>", "</s>"),
        of("elements.xml", "<s><a><id>1</id>", "<b/>", "</a><a><id>2</id></a></s>"),
        of("rows.xls", "<html><table><tr><td>id<td>b", "<tr><td>a<td>b", "</table></html>"),
    ]
}

/// Whole units that fit.
fn file(head: &str, unit: &str, tail: &str) -> Vec<u8> {
    let times = LENGTH.saturating_sub(head.len() + tail.len()) / unit.len();
    (head.to_owned() + &unit.repeat(times) + tail).into_bytes()
}

/// The rows that a check counted: `a.csv: 0 of 30,000 rows are valid`.
fn rows(printed: &str) -> u64 {
    let counted = printed.lines().rev().find_map(|line| line.split_once(" of ")?.1.split_once(" row")).map(|it| it.0);
    counted.and_then(|rows| rows.replace(',', "").parse().ok()).unwrap_or(0)
}

#[test]
fn what_is_held_and_said_of_a_file_of_small_things_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("mapping.toml"), MAPPING).unwrap();
    for (name, head, unit, tail) in kinds() {
        let bytes = file(&head, unit, tail);
        fs::write(folder.join(name), &bytes).unwrap();
        let packed = format!("{name}.gz");
        let mut out = GzEncoder::new(fs::File::create(folder.join(&packed)).unwrap(), Compression::best());
        out.write_all(&bytes).unwrap();
        out.finish().unwrap();
        for file in [name, &*packed] {
            for arguments in [&["check", file, "--mapping", "mapping.toml"][..], &["inspect", file]] {
                let ran = run(folder, arguments);
                let said = ran.stdout.len().max(ran.stderr.len());
                println!("{arguments:?}: {} rows, peak {} KiB, {said} bytes said", rows(&ran.stderr), ran.peak);
                assert!(
                    cfg!(not(target_os = "linux")) || (1..MEMORY).contains(&ran.peak),
                    "{arguments:?}: {} KiB",
                    ran.peak
                );
                let columns = head.matches(';').count() * 200;
                assert!((1..=SAID + columns).contains(&said), "{arguments:?}: {said} bytes: {:.400}", ran.stderr);
                assert!(rows(&ran.stderr) <= bytes.len() as u64 / 2, "{arguments:?}: {}", ran.stderr);
            }
        }
    }
}

#[test]
fn reports_of_very_long_identifiers_are_short() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("mapping.toml"), MAPPING).unwrap();
    let rows: Vec<_> = (0..40).map(|number| format!("{number}{};1\n", "x".repeat(500_000))).collect();
    fs::write(folder.join("ids.csv"), "id;b\n".to_owned() + &rows.concat()).unwrap();
    let reports = ["--json", "a.json", "--report", "a.html", "--payloads", "a.ndjson"];
    let ran = run(folder, &[&["check", "ids.csv", "--mapping", "mapping.toml"][..], &reports].concat());
    assert!(ran.stderr.contains("0 of 40 rows are valid"), "{}", ran.stderr);
    assert!(cfg!(not(target_os = "linux")) || (1..MEMORY).contains(&ran.peak), "{} KiB", ran.peak);
    assert!(ran.stdout.len() < 64 * 1024, "{} bytes", ran.stdout.len());
    for report in ["a.json", "a.html", "a.ndjson"] {
        let length = fs::metadata(folder.join(report)).unwrap().len();
        assert!(length < 512 * 1024, "{report}: {length} bytes");
    }
}

/// Mappings that are hostile, and what their refusal names.
const MAPPINGS: &[(&str, &str, &str)] = &[
    (
        "a file that is none of its own",
        "[file.join.x]\nby = \"id\"\nfile = \"../../etc/passwd\"\nkey = \"id\"\n",
        "passwd",
    ),
    ("a column that it cannot read twice", "[rows]\nsame = { column = \"nope\", take = \"all\" }\n", "nope"),
    ("a key that there is not", "[file]\nfrom = \"x\"\n", "from"),
    ("lines beyond integers", "[file]\nskip_first = 99999999999999999999\n", "line 2, column 14: [file]"),
    ("lines below nothing", "[file]\nskip_first = -1\n", "line 2, column 14: [file]"),
    ("a separator of several letters", "[file]\nseparator = \"ab\"\n", "line 2, column 13: [file]"),
    ("control characters as a name", "\"\\u001b[2J\" = 1\n", "u{1b}"),
    ("a table in a table", "NESTED", "mapping.toml"),
    ("no text", "\u{0}", "mapping.toml"),
];

#[test]
fn hostile_mappings_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.csv"), "id;b\n1;2\n").unwrap();
    let mut wrong = Vec::new();
    for (what, text, names) in MAPPINGS {
        let text = text.replace("NESTED", &"[a.".repeat(20_000));
        fs::write(folder.join("mapping.toml"), text + MAPPING).unwrap();
        let ran = run(folder, &["check", "a.csv", "--mapping", "mapping.toml"]);
        let is_plain = !ran.stderr.contains(['\u{1b}', '\u{0}']) && ran.stderr.len() < SAID;
        if !is_plain || !ran.stderr.contains(names) || ran.code != Some(2) {
            wrong.push(format!("{what}: {:?} {:.400}", ran.code, ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
