//! No row may be silently wrong: realistic legacy files, each with the truth of every row, are mapped by the draft as `inspect` writes it
//! and by a finished mapping, and every field of every payload is compared with the truth.
//!
//! | Module | What it is for |
//! |---|---|
//! | `cars` | the vehicles, and what systems of each language call their values |
//! | `files` | the files that list them, with the truth and the finished mapping |
//! | `judge` | compares payloads with the truth |

mod cars;
mod files;
mod judge;

use std::{fs, io, path::PathBuf};

use ad_core::{catalogue::Catalogue, model::Timestamp, rulebook::Rulebook};
use ad_migrate::{
    check::{self, Payloads, Sink, Verdict},
    inspect::inspect,
    mapping::Mapping,
    readers::{ReadError, Reader, Settings},
};
use files::StockFile;
use judge::Tally;

#[derive(Default)]
struct All(Vec<Verdict>);

impl Sink for All {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.0.push(verdict);
        Ok(())
    }
}

/// The folder of the files. They are written once for all tests of this process.
fn folder() -> PathBuf {
    static FOLDER: std::sync::LazyLock<tempfile::TempDir> = std::sync::LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for file in files::all() {
            fs::write(folder.path().join(file.name), file.bytes).expect("it can be written");
        }
        folder
    });
    FOLDER.path().to_owned()
}

fn checked(file: &StockFile, mapping: &str) -> Vec<Verdict> {
    let rulebook = Rulebook::default();
    let parsed = Mapping::parse(mapping, &rulebook.catalogue);
    let mapping = parsed.unwrap_or_else(|error| panic!("{}: {error}\n{mapping}", file.name));
    let reader = Reader::open(&folder().join(file.name), mapping.reading()).expect("it can be read");
    let mut all = All::default();
    let now = Timestamp::from_millis(1_795_341_600_000);
    let totals = check::run(reader, &mapping, &rulebook, Payloads::All, now, &mut all).expect("it can be checked");
    assert_eq!(totals.unread, None, "{}", file.name);
    all.0
}

/// The draft as `inspect` writes it, with the source id if it is missing.
fn drafted(file: &StockFile) -> Result<String, ReadError> {
    // The error of an archive with several files says which there are.
    let member = file.name.ends_with(".zip").then(|| "biler.csv".to_owned());
    let mut reader = Reader::open(&folder().join(file.name), &Settings { member, ..Settings::default() })?;
    let mapping = inspect(&mut reader, &Catalogue::embedded())?.mapping;
    if mapping.lines().any(|line| line.starts_with("source_id =")) {
        return Ok(mapping);
    }
    Ok(mapping.replacen("[fields]\n", &format!("[fields]\nsource_id = {}\n", file.source_id), 1))
}

#[test]
fn a_draft_as_it_is_written_leaves_no_row_silently_wrong() {
    let (mut tally, mut texts) = (Tally::default(), Vec::new());
    for file in files::all() {
        match drafted(&file) {
            Err(refused) => tally.refused_file(&file, &refused),
            Ok(mapping) => {
                let before = tally.silent.len();
                tally.add(&file, &checked(&file, &mapping), false);
                if tally.silent.len() > before {
                    texts.push(format!("== {}\n{mapping}", file.name));
                }
            }
        }
    }
    assert!(tally.silent.is_empty(), "{}\n{}", texts.join("\n"), tally.report());
    // Safe, but not by refusing everything.
    println!("{}", tally.report());
    assert!(tally.right * 3 > tally.rows, "{}", tally.report());
}

#[test]
fn a_finished_mapping_gets_every_right_row_accepted() {
    let mut tally = Tally::default();
    for file in files::all() {
        if let Some(finished) = file.finished {
            tally.add(&file, &checked(&file, finished), true);
        }
    }
    assert!(tally.silent.is_empty() && tally.lost.is_empty(), "{}", tally.report());
    assert_eq!(tally.right + tally.refused, tally.rows, "{}", tally.report());
}

#[test]
fn there_are_at_least_ten_files_with_hundreds_of_rows() {
    let files = files::all();
    let rows: usize = files.iter().map(|file| file.rows.len()).sum();
    assert!(files.len() >= 10 && rows >= 500, "{} files, {rows} rows", files.len());
    // What is random is the same every time.
    assert!(files::all().iter().zip(&files).all(|(one, other)| one.bytes == other.bytes));
}
