//! Input files of commands: payloads, or a table that a mapping converts to payloads.

use std::{
    ffi::OsStr,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::Args;

use super::rows::Rows;
use crate::{
    bulk::{
        check::Checker,
        payloads::{NotPayloads, Source},
    },
    terminal::{Context, Failure},
};

const TABLES: [&str; 12] = ["csv", "tsv", "txt", "xlsx", "xlsm", "xls", "dbf", "ods", "fods", "xml", "html", "htm"];

/// Bytes of a table in which its header is looked for.
const LONGEST_HEADER: u64 = 1024;

/// How the rows of a table become payloads.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MappingArg {
    /// Mapping of `ad-migrate` for a table (.csv, .xlsx, .ods): a TOML file, or the name of a built-in mapping [default: the file
    /// beside FILE with the ending .toml]
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) mapping: Option<String>,
}

impl MappingArg {
    /// The option as it was given, for a suggested command.
    pub(crate) fn as_argument(&self) -> String {
        self.mapping.as_ref().map(|mapping| format!(" --mapping {}", quoted(Path::new(mapping)))).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Input {
    file: PathBuf,
    rows: Option<Rows>,
}

impl Input {
    /// Opens a file, and converts its rows if it is a table. With `http_images`, http addresses of images are accepted.
    pub(crate) async fn open(
        context: &Context,
        file: &Path,
        mapping: &MappingArg,
        http_images: bool,
    ) -> Result<Self, Failure> {
        let mapping = match &mapping.mapping {
            Some(mapping) => Some(mapping.clone()),
            None => saved_mapping(file)?,
        };
        let rows = match mapping {
            Some(mapping) => Some(Rows::convert(context, file, mapping, http_images).await?),
            None => None,
        };
        Ok(Self { file: file.to_owned(), rows })
    }

    /// The payloads, from the beginning.
    pub(crate) fn source(&self, context: &Context) -> Result<Source, Failure> {
        match &self.rows {
            Some(rows) => Ok(rows.source()?),
            None => context.open(&self.file),
        }
    }

    /// Whether [`again`](Self::again) opens it: it is not stdin.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.rows.is_some() || self.file.as_os_str() != "-"
    }

    /// The payloads, from the beginning, without a note about their encoding.
    pub(crate) fn again(&self) -> Result<Source, NotPayloads> {
        match &self.rows {
            Some(rows) => rows.source(),
            None => Source::open(&self.file),
        }
    }

    /// Adapts a checker to the kind of file.
    pub(crate) fn checker(&self, checker: Checker) -> Checker {
        if self.rows.is_some() { checker.of_rows() } else { checker }
    }

    /// The file of payloads, if it is a table.
    pub(crate) fn rows(&self) -> Option<&Path> {
        self.rows.as_ref().map(|rows| rows.payloads.path())
    }

    /// The mapping, if it is a table.
    pub(crate) fn mapping(&self) -> Option<&str> {
        self.rows.as_ref().map(|rows| rows.mapping.as_str())
    }
}

/// The mapping beside a table; `None` for other files.
fn saved_mapping(file: &Path) -> Result<Option<String>, Failure> {
    let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    if !TABLES.contains(&ending.as_str()) {
        return Ok(None);
    }
    match Source::open(file) {
        // In spite of its name, the file has payloads.
        Ok(_) => return Ok(None),
        Err(error @ (NotPayloads::Unreadable { .. } | NotPayloads::Empty(_))) => return Err(error.into()),
        Err(_) => {}
    }
    let saved = file.with_extension("toml");
    if saved.is_file() {
        return Ok(Some(saved.display().to_string()));
    }
    if is_list(file) {
        return Err(Failure::usage(format!("{} is a list of ads, without most of their fields", quoted(file)))
            .hint("to change ads in a file: ad-cli export --payloads > stock.ndjson"));
    }
    let (file, saved) = (quoted(file), quoted(&saved));
    Err(Failure::usage(format!("{file} is a table; a mapping must say which column is which field"))
        .hint(format!("to draft one from the columns: ad-migrate inspect {file} --out {saved}"))
        .hint(format!("answer the questions in {saved}, then run this command again"))
        .hint("or fill in a sheet that needs no mapping of yours: ad-cli template car --xlsx"))
}

/// Whether a file is the CSV of `ad-cli list` or `export`, by the ids that only the service gives.
fn is_list(file: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut head));
    read.is_ok() && head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b",created,updated"))
}

/// A path as an argument of a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}
