//! Rows of a table as payloads: the program `ad-migrate` reads, maps and validates them.
//!
//! Each payload is written on the line that its row has in the table, and the line of an invalid row has a [`RejectedRow`]. So the line of a
//! message is the row.

use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    process::Stdio,
};

use ad_files::{Place, spool::Spool};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tempfile::{NamedTempFile, TempDir};
use tokio::{
    io::{AsyncBufReadExt, BufReader as AsyncBufReader},
    process::{Child, Command},
};

use crate::{
    bulk::{
        BulkError,
        check::{Finding, RejectedRow, Severity},
        payloads::{NotPayloads, Source},
    },
    terminal::{Context, Exit, Failure, counted, progress::waiting, until_interrupted},
};

/// The variable with the path of the program.
const VARIABLE: &str = "AD_MIGRATE";

#[derive(Debug)]
pub(crate) struct Rows {
    name: String,
    pub(super) mapping: String,
    pub(super) payloads: NamedTempFile,
}

/// A finding of `ad-migrate check`.
#[derive(Debug, Deserialize, serde::Serialize)]
struct FindingRow {
    line: u64,
    source_id: Option<String>,
    severity: Severity,
    columns: Vec<String>,
    value: Option<String>,
    field: Option<String>,
    message: String,
    advice: Option<String>,
}

/// A valid row of `ad-migrate check --payloads`.
#[derive(Debug, Deserialize)]
struct ValidRow {
    line: u64,
    payload: Box<RawValue>,
}

impl Rows {
    /// Converts the rows of a table; `-` is stdin.
    pub(super) async fn convert(
        context: &Context,
        file: &Path,
        mapping: String,
        http_images: bool,
    ) -> Result<Self, Failure> {
        let name = if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() };
        if file.is_dir() {
            let reason = "it is a folder; use a file in it".to_owned();
            return Err(NotPayloads::Unreadable { name, reason }.into());
        }
        let folder = TempDir::new().map_err(no_room())?;
        let beside = folder.path().join("rows.ndjson");
        let program = program();
        let mut command = Command::new(&program);
        command
            .args(["check", "--quiet", "--output", "ndjson", "--mapping", &mapping, "--no-values", "--payloads"])
            .arg(&beside);
        command.args(http_images.then_some("--http-images")).arg("--").arg(file);
        command.stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| not_started(&program, &error))?;
        let work = async {
            let findings = findings_of(&mut child).await?;
            Ok((findings, child.wait().await?))
        };
        let work = until_interrupted(waiting(context.out, format!("reading {name}"), work));
        let ((mut findings, warned), status) = work.await.ok_or_else(Failure::interrupted)?.map_err(no_room())?;
        match status.code() {
            Some(0 | 3) => {}
            // The program has printed its error.
            Some(1) => return Err(Failure::Shown(Exit::Failed)),
            Some(2) => return Err(Failure::Shown(Exit::Usage)),
            _ => return Err(Failure::failed(format!("{} ended early ({status})", program.display()))),
        }
        context.out.note(&format!("{name}: rows are read with the mapping {mapping}"));
        if warned > 0 {
            let rows = counted(warned, "warning");
            context.out.note(&format!("{rows}; to show them: ad-migrate check {name} --mapping {mapping}"));
        }
        let payloads = merge(&beside, &mut findings).map_err(no_room())?;
        let Some(payloads) = payloads else {
            return Err(Failure::usage(format!("{name} has several rows on a line"))
                .hint(format!("to import it: ad-migrate run {name} --mapping {mapping}")));
        };
        Ok(Self { name, mapping, payloads })
    }

    /// The payloads, from the beginning.
    pub(super) fn source(&self) -> Result<Source, NotPayloads> {
        Source::of_lines(&self.name, self.payloads.path())
    }
}

/// The program: from the environment variable, beside this program, or from the search path.
fn program() -> PathBuf {
    if let Some(program) = env::var_os(VARIABLE).filter(|program| !program.is_empty()) {
        return program.into();
    }
    let name = format!("ad-migrate{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok().map(|own| own.with_file_name(&name));
    beside.filter(|program| program.is_file()).unwrap_or_else(|| name.into())
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    let reason =
        if error.kind() == io::ErrorKind::NotFound { "there is no such program".to_owned() } else { error.to_string() };
    Failure::usage(format!("cannot run {}, which reads tables: {reason}", program.display()))
        .hint("install ad-migrate beside ad-cli or in a folder of PATH, or set AD_MIGRATE to its path")
}

/// The errors that the program finds, and the number of its warnings.
async fn findings_of(child: &mut Child) -> io::Result<(Spool, u64)> {
    let (mut errors, mut warnings) = (Spool::default(), 0);
    let Some(stdout) = child.stdout.take() else { return Ok((errors, warnings)) };
    let mut lines = AsyncBufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        let finding: FindingRow = serde_json::from_str(&line)?;
        match finding.severity {
            Severity::Error => _ = errors.add_line(&finding)?,
            Severity::Warning => warnings += 1,
        }
    }
    Ok((errors, warnings))
}

/// Writes valid and invalid rows on their lines; `None` if rows share a line.
fn merge(valid: &Path, invalid: &mut Spool) -> io::Result<Option<NamedTempFile>> {
    let mut out = Lines { out: BufWriter::new(NamedTempFile::new()?), line: 0 };
    let mut invalid = invalid.lines::<FindingRow>()?.peekable();
    for valid in BufReader::new(File::open(valid)?).lines() {
        let valid: ValidRow = serde_json::from_str(&valid?)?;
        if !rejected(&mut invalid, valid.line, &mut out)? || !out.add(valid.line, valid.payload.get())? {
            return Ok(None);
        }
    }
    if !rejected(&mut invalid, u64::MAX, &mut out)? {
        return Ok(None);
    }
    out.out.into_inner().map(Some).map_err(io::IntoInnerError::into_error)
}

/// Writes the invalid rows before a line.
fn rejected(
    rows: &mut std::iter::Peekable<impl Iterator<Item = io::Result<FindingRow>>>,
    before: u64,
    out: &mut Lines,
) -> io::Result<bool> {
    while let Some(first) = rows.next_if(|row| row.as_ref().map_or(true, |row| row.line < before)) {
        let first = first?;
        let (line, source_id) = (first.line, first.source_id.clone());
        let mut rejected_row = vec![first.finding()];
        while let Some(more) = rows.next_if(|row| row.as_ref().map_or(true, |row| row.line == line)) {
            rejected_row.push(more?.finding());
        }
        if !out.add(line, &serde_json::to_string(&RejectedRow { source_id, rejected_row })?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl FindingRow {
    /// The finding as one about a payload, with the names of the columns.
    fn finding(self) -> Finding {
        let columns = self.columns.join(", ");
        let of = if columns.is_empty() { String::new() } else { format!("Column {columns}: ") };
        Finding {
            place: Place { line: self.line, column: 0 },
            severity: self.severity,
            field: self.field,
            value: self.value.map(Value::String),
            messages: [format!("{of}{}", self.message)].into_iter().chain(self.advice).collect(),
            ..Finding::default()
        }
    }
}

/// Writes texts on given lines.
struct Lines {
    out: BufWriter<NamedTempFile>,
    /// The last line that has been written.
    line: u64,
}

impl Lines {
    /// Writes a text on a line; `false` if that has one already.
    fn add(&mut self, line: u64, text: &str) -> io::Result<bool> {
        if line <= self.line {
            return Ok(false);
        }
        while self.line + 1 < line {
            self.out.write_all(b"\n")?;
            self.line += 1;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.line = line;
        Ok(true)
    }
}

/// The error of the temporary file of the rows.
fn no_room() -> impl Fn(io::Error) -> BulkError {
    BulkError::temporary("for the rows")
}
