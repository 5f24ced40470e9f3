//! Writes the payloads while the file is checked, and collects the identifiers of all rows.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use ad_files::{
    identities::{Hash, hash},
    spool::{Span, Spool},
};
use ad_terminal::Failure;
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::missing::Stock;
use crate::{
    check::{Sink, Verdict},
    report::row_of,
};

/// The payloads while they are written: one a line, in the order of the rows.
#[derive(Debug)]
pub(crate) struct Prepare {
    out: BufWriter<NamedTempFile>,
    hidden: bool,
    rows: RowNumbers,
    stock: Stock,
    invalid: InvalidRows,
}

/// The rows with errors. They say nothing about their ads, which are left as they are.
#[derive(Debug, Default)]
pub(crate) struct InvalidRows {
    /// Their source ids, without a dealer.
    source_ids: HashSet<Hash>,
    /// The rows whose source id is not known, as far as a message names them: they may be about any ad.
    pub(crate) unknown: Vec<u64>,
    /// The rows with their findings, as `check --json` writes them.
    rows: Spool,
}

/// Rows that a message names.
const MOST_NAMED: usize = 5;

impl InvalidRows {
    fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        match &verdict.source_id {
            Some(id) => drop(self.source_ids.insert(hash(id, None))),
            None if self.unknown.len() < MOST_NAMED => self.unknown.push(verdict.row),
            None => {}
        }
        let mut row = row_of(verdict)?;
        row.insert("outcome".to_owned(), "invalid".into());
        self.rows.add_line(&row).map(drop)
    }

    /// The rows as a report has them, in the order of the file.
    pub(super) fn told(&mut self) -> io::Result<impl Iterator<Item = io::Result<Map<String, Value>>>> {
        self.rows.lines()
    }

    /// Whether one of them is about the ad.
    pub(super) fn has(&self, source_id: &str) -> bool {
        self.source_ids.contains(&hash(source_id, None))
    }
}

/// What the check wrote and collected.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The row of each payload.
    pub(crate) rows: RowNumbers,
    /// The identifiers of all rows.
    pub(crate) stock: Stock,
    pub(crate) invalid: InvalidRows,
}

/// The row of each payload, by the index of the payload.
#[derive(Debug, Default)]
pub(crate) struct RowNumbers {
    numbers: Spool,
    pub(crate) count: u64,
}

const NUMBER: usize = size_of::<u64>();

impl RowNumbers {
    pub(super) fn add(&mut self, row: u64) -> io::Result<()> {
        self.count += 1;
        self.numbers.add(&row.to_be_bytes()).map(drop)
    }

    /// The row of a payload, if it is known.
    pub(crate) fn get(&mut self, index: u64) -> Option<u64> {
        let span = Span { start: index * NUMBER as u64, length: NUMBER };
        let bytes = self.numbers.text(span).ok().filter(|_| index < self.count)?;
        bytes.try_into().ok().map(u64::from_be_bytes)
    }
}

impl Prepare {
    /// Writes into a temporary file of a folder; `hidden` ads are stored and not published.
    pub(crate) fn new(folder: &Path, hidden: bool) -> io::Result<Self> {
        let out = BufWriter::new(NamedTempFile::new_in(folder)?);
        Ok(Self { out, hidden, rows: RowNumbers::default(), stock: Stock::default(), invalid: InvalidRows::default() })
    }

    /// Moves the payloads to a path, in one step.
    pub(crate) fn end(self, path: &Path) -> io::Result<Prepared> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(Prepared { rows: self.rows, stock: self.stock, invalid: self.invalid })
    }
}

/// The payloads that are sent.
#[derive(Debug)]
pub(crate) struct Sending<'a> {
    /// Their file, one a line.
    pub(crate) payloads: &'a Path,
    /// The row number of each payload.
    pub(crate) rows: &'a mut RowNumbers,
    /// Most of them to send.
    pub(crate) most: u64,
    pub(crate) parallel: usize,
}

/// A payload by its index, or why it cannot be read.
type ReadPayload = Result<(u64, Map<String, Value>), Failure>;

/// The payloads of a file that was [ended](Prepare::end), in order.
pub(super) fn payloads(path: &Path) -> Result<impl Iterator<Item = ReadPayload>, Failure> {
    let cannot = |error: io::Error| Failure::failed(format!("cannot read {}: {error}", path.display()));
    let lines = BufReader::new(File::open(path).map_err(cannot)?).lines();
    Ok((0..).zip(lines).map(move |(index, line)| {
        let payload = serde_json::from_str(&line.map_err(cannot)?).map_err(|error| cannot(error.into()))?;
        Ok((index, payload))
    }))
}

impl Sink for Prepare {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.stock.add(&verdict)?;
        if verdict.payload.is_none() {
            self.invalid.add(&verdict)?;
        }
        let Some(mut payload) = verdict.payload else { return Ok(()) };
        if self.hidden {
            payload.insert("visible".to_owned(), Value::Bool(false));
        }
        serde_json::to_writer(&mut self.out, &payload)?;
        self.out.write_all(b"\n")?;
        self.rows.add(verdict.row)
    }
}
