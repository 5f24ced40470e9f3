//! No row may be silently wrong: realistic legacy files, each with the truth of every row, are mapped by the draft as `inspect` writes it
//! and by a finished mapping, and every field of every payload is compared with the truth.
//!
//! | Module | What it is for |
//! |---|---|
//! | `cars` | the vehicles, and what systems of each language call their values |
//! | `files` | the files that list them, with the truth and the finished mapping |
//! | `judge` | compares payloads with the truth |
//! | `hostile` | files that mislead, and the drafts of them |

mod cars;
mod files;
mod hostile;
mod judge;

use std::{fs, io, path::Path};

use ad_core::{catalogue::Catalogue, model::Timestamp, rulebook::Rulebook};
use ad_migrate::{
    check::{self, Payloads, Sink, Verdict},
    inspect::inspect,
    mapping::Mapping,
    readers::{ReadError, Reader, Settings},
};
use files::StockFile;
use judge::Tally;
use tempfile::TempDir;

#[derive(Default)]
struct All(Vec<Verdict>);

impl Sink for All {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.0.push(verdict);
        Ok(())
    }
}

/// The files in a folder of their own.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for file in files::all() {
        fs::write(folder.path().join(file.name), file.bytes).expect("it can be written");
    }
    folder
}

/// What a check of a file says.
struct Checked {
    rows: usize,
    /// Of the rows that are not skipped.
    verdicts: Vec<Verdict>,
}

fn checked(folder: &TempDir, file: &StockFile, mapping: &str) -> Checked {
    let rulebook = Rulebook::default();
    let parsed = Mapping::parse(mapping, &rulebook.catalogue);
    let mapping = parsed.unwrap_or_else(|error| panic!("{}: {error}\n{mapping}", file.name));
    let reader = Reader::open(&folder.path().join(file.name), mapping.reading()).expect("it can be read");
    let mut all = All::default();
    let now = Timestamp::from_millis(1_795_341_600_000);
    let totals = check::run(reader, &mapping, &rulebook, Payloads::All, now, &mut all).expect("it can be checked");
    assert_eq!(totals.unread, None, "{}", file.name);
    Checked { rows: usize::try_from(totals.rows).unwrap_or(usize::MAX), verdicts: all.0 }
}

/// The draft as `inspect` writes it, with the source id if it is missing.
fn drafted(folder: &TempDir, file: &StockFile) -> Result<String, ReadError> {
    // The error of an archive with several files says which there are.
    let member = (file.name == "biler.zip").then(|| "biler.csv".to_owned());
    let mut reader = Reader::open(&folder.path().join(file.name), &Settings { member, ..Settings::default() })?;
    let mapping = inspect(&mut reader, &Catalogue::embedded())?.mapping;
    if mapping.lines().any(|line| line.starts_with("source_id =")) {
        return Ok(mapping);
    }
    Ok(mapping.replacen("[fields]\n", &format!("[fields]\nsource_id = {}\n", file.source_id), 1))
}

#[test]
fn a_draft_as_it_is_written_leaves_no_row_silently_wrong() {
    let (mut tally, mut texts) = (Tally::default(), Vec::new());
    let folder = folder();
    for file in files::all() {
        match drafted(&folder, &file) {
            Err(rejected) => tally.rejected_file(&file, &rejected),
            Ok(mapping) => {
                let before = tally.silent.len();
                tally.add(&file, &checked(&folder, &file, &mapping), false);
                if tally.silent.len() > before {
                    texts.push(format!("== {}\n{mapping}", file.name));
                }
            }
        }
    }
    assert!(tally.silent.is_empty(), "{}\n{}", texts.join("\n"), tally.report());
    // Safe, but not by refusing everything.
    assert!(tally.right * 3 > tally.rows, "{}", tally.report());
}

#[test]
fn a_finished_mapping_gets_every_right_row_accepted() {
    let (mut tally, folder) = (Tally::default(), folder());
    for file in files::all() {
        tally.add(&file, &checked(&folder, &file, file.finished), true);
    }
    assert!(tally.silent.is_empty() && tally.lost.is_empty(), "{}", tally.report());
    assert_eq!(tally.right + tally.rejected, tally.rows, "{}", tally.report());
}

#[test]
fn there_are_at_least_ten_files_with_hundreds_of_rows() {
    let files = files::all();
    let rows: usize = files.iter().map(|file| file.rows.len()).sum();
    assert!(files.len() >= 10 && rows >= 500, "{} files, {rows} rows", files.len());
    // What is random is the same every time.
    assert!(files::all().iter().zip(&files).all(|(one, other)| one.bytes == other.bytes));
}

/// The guides lead through two of the files.
#[test]
fn the_files_of_the_guides_are_those_of_the_generator() {
    for (name, copy) in [("portal-de.csv", "docs/stock-de.csv"), ("bruktbil.csv", "docs/stock-no.csv")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(copy);
        let file = files::all().into_iter().find(|file| file.name == name).expect("there is such a file");
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&path, &file.bytes).expect("it can be written");
        }
        let stale = "is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-migrate --test truth";
        assert!(fs::read(&path).is_ok_and(|bytes| bytes == file.bytes), "{copy} {stale}");
    }
}
