//! What will be sent, written down while the file is checked; and what the file holds, for telling what it does not.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use ad_cli::bulk::spool::{Span, Spool};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::missing::Stock;
use crate::check::{Sink, Verdict};

/// Payloads on their way to a file: one a line, in the order of the rows.
#[derive(Debug)]
pub struct Prepare {
    out: BufWriter<NamedTempFile>,
    hidden: bool,
    rows: RowNumbers,
    stock: Stock,
}

/// The row of each payload, by its place in the file of payloads.
#[derive(Debug, Default)]
pub struct RowNumbers {
    numbers: Spool,
    /// How many there are.
    pub count: u64,
}

const NUMBER: usize = size_of::<u64>();

impl RowNumbers {
    fn add(&mut self, row: u64) -> io::Result<()> {
        self.count += 1;
        self.numbers.add(&row.to_be_bytes()).map(drop)
    }

    /// The row of a payload, where it is known.
    pub fn get(&mut self, index: u64) -> Option<u64> {
        let span = Span { start: index * NUMBER as u64, length: NUMBER };
        let bytes = self.numbers.text(span).ok().filter(|_| index < self.count)?;
        bytes.try_into().ok().map(u64::from_be_bytes)
    }
}

/// What was prepared.
#[derive(Debug)]
pub struct Prepared {
    /// The row of each payload.
    pub rows: RowNumbers,
    /// What the file holds.
    pub stock: Stock,
}

impl Prepare {
    /// Prepares in a temporary file of this folder; `hidden` ads are stored and not shown.
    ///
    /// # Errors
    /// When there cannot be one.
    pub fn new(folder: &Path, hidden: bool) -> io::Result<Self> {
        let out = BufWriter::new(NamedTempFile::new_in(folder)?);
        Ok(Self { out, hidden, rows: RowNumbers::default(), stock: Stock::default() })
    }

    /// Puts the payloads in their place, in one step.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn end(self, path: &Path) -> io::Result<Prepared> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(Prepared { rows: self.rows, stock: self.stock })
    }
}

impl Sink for Prepare {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.stock.add(&verdict)?;
        let Some(mut payload) = verdict.payload else { return Ok(()) };
        if self.hidden {
            payload.insert("visible".to_owned(), Value::Bool(false));
        }
        serde_json::to_writer(&mut self.out, &payload)?;
        self.out.write_all(b"\n")?;
        self.rows.add(verdict.row)
    }
}
