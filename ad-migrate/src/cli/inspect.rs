//! `ad-migrate inspect`: detects the columns of an unknown file and drafts a mapping.

use std::path::PathBuf;

use ad_bulk::desired::quoted;
use ad_core::catalogue::Catalogue;
use ad_files::text::plain;
use ad_terminal::{
    Context, Failure, FileKind, Force, OutFile,
    output::{Cell, Column, Tone},
};
use serde_json::Value;

use super::file::{Reading, not_read};
use crate::{
    inspect::{Draft, fitting, inspect},
    readers::{Reader, Settings},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is sent. The first 5,000 rows are analysed. The draft fills fields by evidence; everything else is a comment with a question.

Examples:
  ad-migrate inspect stock.csv                        show the probable columns
  ad-migrate inspect stock.csv --out stock.toml       also draft a mapping
  ad-migrate check stock.csv --mapping stock.toml     try the mapping")]
pub(crate) struct InspectArgs {
    /// The legacy file
    file: PathBuf,
    /// Write the draft of a mapping; an existing file is overwritten only with --force
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: Reading,
}

const COLUMNS: &[Column] = &[
    Column::new("COLUMN", "column"),
    Column::new("FIELD", "field").shown(|field| match field {
        Value::Null => Cell::toned("–", Tone::Faint),
        field => plain(field).into(),
    }),
    Column::new("SURE", "confidence").shown(sure),
    Column::new("WHY", "why").wrapped(),
    Column::new("ROWS", "filled"),
    Column::new("VALUES", "distinct"),
    Column::new("SAMPLES", "samples").wrapped(),
];

fn sure(confidence: &Value) -> Cell {
    match confidence.as_u64() {
        None | Some(0) => Cell::default(),
        Some(sure @ 80..) => Cell::toned(format!("{sure} %"), Tone::Good),
        Some(sure @ 60..) => format!("{sure} %").into(),
        Some(sure) => Cell::toned(format!("{sure} %"), Tone::Warning),
    }
}

pub(crate) fn run(context: &Context, args: &InspectArgs) -> Result<(), Failure> {
    let out = OutFile::wanted(args.out.as_deref(), FileKind::Draft, args.force)?;
    let catalogue = Catalogue::embedded();
    let mut reader = Reader::open(&args.file, &args.reading.over(&Settings::default())).map_err(not_read)?;
    let draft = inspect(&mut reader, &catalogue).map_err(not_read)?;
    if draft.rows == 0 {
        return Err(Failure::usage(format!("{} contains no rows", args.file.display())));
    }
    if let Some(out) = out {
        out.write(draft.mapping.as_bytes())?;
    }
    show(context, args, &draft)?;
    // Stdin can be read once.
    let is_file = args.file.as_os_str() != "-";
    let over = |settings: &Settings| args.reading.over(settings);
    if let Some(name) = is_file.then(|| fitting(&args.file, &draft, over)).flatten() {
        let file = quoted(&args.file.display().to_string());
        context
            .out
            .note(&format!("The built-in mapping {name} reads this file: ad-migrate check {file} --mapping {name}"));
    }
    Ok(())
}

fn show(context: &Context, args: &InspectArgs, draft: &Draft) -> Result<(), Failure> {
    let out = context.out;
    if !out.is_for_people() {
        return Ok(out.record(draft)?);
    }
    out.table(COLUMNS, &draft.columns)?;
    for note in &draft.detected.notes {
        out.note(note);
    }
    if !draft.missing.is_empty() {
        out.note("Missing or to be checked:");
        draft.missing.iter().for_each(|missing| out.note(&format!("  - {missing}")));
    }
    match &args.out {
        Some(path) => out.note(&format!("Draft written to {}.", path.display())),
        None => out.note("--out FILE.toml writes a draft of the mapping."),
    }
    Ok(())
}
