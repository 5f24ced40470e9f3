//! Files that mislead: columns whose names or contents look like something that they are not. Each is drafted, the draft is applied as it is
//! written, and each value of each row is compared with the truth: it is right, or left out, or an error says why.
//!
//! | Module | What it is for |
//! |---|---|
//! | `table` | a plain stock list in each language, to which misleading columns are added |
//! | `columns` | the misleading columns |
//! | `shapes` | JSON, XML and tables of misleading shapes |

mod columns;
mod shapes;
mod table;

use std::{fs, num::NonZeroUsize, sync::LazyLock, thread};

use ad_core::catalogue::Catalogue;
use ad_migrate::{
    finding::{Finding, Severity},
    inspect::{Draft, inspect},
    mapping::Mapping,
    readers::{ReadError, Reader, Settings},
};
use serde_json::Value;

use crate::judge::{at, differences};

/// A file that misleads.
pub(super) struct Hostile {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// What is true of each row: a value that is not in it is wrong.
    pub(super) truth: Vec<Value>,
    /// What the draft says, filled in or as a comment.
    pub(super) says: Vec<&'static str>,
    /// Fields that the draft fills although they are misleading.
    pub(super) fills: Vec<&'static str>,
}

/// What came of the rows of a file.
struct Outcome {
    draft: Draft,
    /// Each row: its payload as far as it was made, and what is said about it.
    rows: Vec<(Value, Vec<Finding>)>,
    /// The file could not be read to its end, which says so.
    error: Option<ReadError>,
}

fn outcome(file: &Hostile, catalogue: &Catalogue) -> Result<Outcome, ReadError> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("stock");
    fs::write(&path, &file.bytes).expect("it can be written");
    let draft = inspect(&mut Reader::open(&path, &Settings::default())?, catalogue)?;
    let mapping = parsed(&file.name, &draft.mapping, catalogue);
    let mut reader = Reader::open(&path, mapping.reading())?;
    let (mut rows, mut error) = (Vec::new(), None);
    loop {
        match reader.next(None) {
            Ok(None) => break,
            Err(found) => {
                error = Some(found);
                break;
            }
            Ok(Some(batch)) => {
                let bound = mapping.bind(batch.columns());
                rows.extend(batch.rows().map(|row| {
                    let mapped = bound.apply(row);
                    let findings = row.findings().iter().cloned().chain(mapped.findings).collect();
                    (Value::Object(mapped.payload), findings)
                }));
            }
        }
    }
    Ok(Outcome { draft, rows, error })
}

fn parsed(name: &str, mapping: &str, catalogue: &Catalogue) -> Mapping {
    Mapping::parse(mapping, catalogue).unwrap_or_else(|error| panic!("{name}: {error}\n{mapping}"))
}

/// Whether the row is refused, or something is said about a field or one around or within it.
fn is_said(findings: &[Finding], path: &str) -> bool {
    findings.iter().any(|finding| {
        let field = finding.field.as_deref().unwrap_or_default();
        finding.severity == Severity::Error || path.starts_with(field) || field.starts_with(path)
    })
}

/// What is silently wrong in the rows of a file.
fn wrong(file: &Hostile, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    if outcome.rows.len() != file.truth.len() && outcome.error.is_none() {
        wrong.push(format!("{}: {} rows of {}", file.name, outcome.rows.len(), file.truth.len()));
    }
    for (number, ((payload, findings), truth)) in (1..).zip(outcome.rows.iter().zip(&file.truth)) {
        // The rules refuse a model without a brand.
        let is_refused = |path: &str| path == "category_fields.model" && at(payload, "category_fields.brand").is_none();
        let is_silent = |path: &&String| !is_said(findings, path) && !is_refused(path);
        for path in differences(payload, truth).iter().filter(is_silent) {
            let value = |of: &Value| at(of, path).cloned().unwrap_or_default();
            wrong.push(format!(
                "{} row {number}: {path} is {} and should be {}",
                file.name,
                value(payload),
                value(truth)
            ));
        }
    }
    let of = |fields: &[&'static str], has: &dyn Fn(&str) -> bool| {
        fields.iter().filter(|field| !has(field)).map(|field| format!("{}: nothing about {field}", file.name)).collect()
    };
    let mut missing: Vec<String> = of(&file.says, &|text| outcome.draft.mapping.contains(text));
    missing.extend::<Vec<String>>(of(&file.fills, &|field| outcome.draft.filled.iter().any(|filled| filled == field)));
    wrong.extend(missing);
    wrong
}

/// All files with what came of them, made once and by all processors.
static ALL: LazyLock<Vec<(Hostile, Result<Outcome, ReadError>)>> = LazyLock::new(|| {
    let catalogue = Catalogue::embedded();
    let mut files: Vec<Hostile> = columns::all().into_iter().chain(shapes::all()).collect();
    let part = files.len().div_ceil(thread::available_parallelism().map_or(1, NonZeroUsize::get));
    let mut parts: Vec<Vec<Hostile>> = Vec::new();
    while !files.is_empty() {
        parts.push(files.split_off(files.len().saturating_sub(part)));
    }
    let made = |part: Vec<Hostile>| {
        part.into_iter().map(|file| {
            let outcome = outcome(&file, &catalogue);
            (file, outcome)
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(|| made(part).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
    })
});

/// The lines of a draft with every answer uncommented.
fn answered(mapping: &str) -> String {
    let is_answer = |line: &str| {
        let key = line.split(" = ").next().unwrap_or_default();
        let is_key =
            key.starts_with('"') || key.chars().all(|letter| letter.is_ascii_alphanumeric() || "._".contains(letter));
        line == "[rows]" || (line.contains(" = ") && is_key)
    };
    let line = |line: &str| match line.strip_prefix("# ").filter(|rest| is_answer(rest)) {
        Some(answer) => answer.to_owned(),
        None => line.to_owned(),
    };
    mapping.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_draft_of_a_misleading_file_is_never_silently_wrong() {
    let mut silent = Vec::new();
    // A file that cannot be read is refused, and says so.
    for (file, outcome) in ALL.iter().filter_map(|(file, outcome)| Some((file, outcome.as_ref().ok()?))) {
        let found = wrong(file, outcome);
        if !found.is_empty() {
            let some: Vec<_> = found.iter().take(4).cloned().collect();
            silent.push(format!("{}\n{}", some.join("\n"), outcome.draft.mapping));
        }
    }
    let files = ALL.len();
    let names: Vec<&str> = silent.iter().filter_map(|text| text.lines().next()).collect();
    assert!(silent.is_empty(), "{}\n{} of {files} files\n{}", silent.join("\n\n"), silent.len(), names.join("\n"));
}

#[test]
fn every_question_of_a_draft_has_an_answer_that_only_needs_its_mark_removed() {
    let catalogue = Catalogue::embedded();
    for (file, outcome) in ALL.iter() {
        let Ok(Outcome { draft, .. }) = outcome else { continue };
        let text = answered(&draft.mapping);
        let mapping = Mapping::parse(&text, &catalogue);
        assert!(
            mapping.is_ok(),
            "{}: {}\n{text}",
            file.name,
            mapping.err().map(|error| error.to_string()).unwrap_or_default()
        );
        let questions = draft.mapping.lines().filter(|line| line.starts_with("# ?")).count();
        let answered = || draft.mapping.lines().zip(text.lines()).filter(|(one, other)| one != other);
        assert!(answered().all(|(_, answer)| !answer.contains('…')), "{}\n{}", file.name, draft.mapping);
        let answers = answered().count();
        assert!(answers >= questions, "{}: {questions} questions, {answers} answers\n{}", file.name, draft.mapping);
    }
}
