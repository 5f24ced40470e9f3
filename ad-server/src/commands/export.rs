//! `ad-server export`: everything that is held of a dealer, in a file.

use std::{
    collections::BTreeMap,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use ad_core::ports::StoreError;
use clap::{Args, builder::NonEmptyStringValueParser};
use serde::Deserialize;

use super::{CommandError, GlobalArgs, refused};
use crate::output;

/// Flags of `export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Export what is held of this dealer
    #[arg(long, value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    dealer_code: String,
    /// New file, with one JSON object per line
    #[arg(long, value_name = "FILE.ndjson")]
    output: PathBuf,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Why no data was exported.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error("an exported row is not JSON: {0}")]
    Row(#[from] serde_json::Error),
}

pub(super) async fn run(base: GlobalArgs, args: ExportArgs) -> Result<(), CommandError> {
    let ExportArgs { dealer_code, output: path } = args;
    let opened = base.database().await?;
    let failed = |error: std::io::Error| CommandError::Input(format!("cannot write {}: {error}", path.display()));
    if path.exists() {
        return refused(format!("{} exists; name a new file", path.display()));
    }
    opened.audit("export", &dealer_code, &path.display().to_string()).await?;
    // Readable by its owner only, and complete or not there.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = BufWriter::new(tempfile::Builder::new().prefix(".export-").tempfile_in(folder).map_err(failed)?);
    let mut counts = BTreeMap::<String, u64>::new();
    let exported = opened.database.export(&dealer_code, |row| {
        let Kind { kind } = serde_json::from_str(row)?;
        *counts.entry(kind).or_default() += 1;
        file.write_all(row.as_bytes())?;
        file.write_all(b"\n")?;
        Ok::<_, ExportError>(())
    });
    match exported.await {
        Err(ExportError::Write(error)) => return Err(failed(error)),
        other => opened.answer(other)?,
    }
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(&path).map_err(|error| failed(error.error))?;
    let rows = counts.into_iter().map(|(kind, count)| [kind, count.to_string()]);
    Ok(output::table(["KIND", "ROWS"], rows)?)
}
