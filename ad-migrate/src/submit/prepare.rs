//! What will be sent, written down while the file is checked; and what the file holds, for telling what it does not.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, Write},
    path::Path,
};

use rustc_hash::FxHashSet;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::plan::{Sink, Verdict};

/// Every row of the file, whether it can go or not.
#[derive(Debug, Default)]
pub struct Stock {
    /// Source ids.
    pub source_ids: FxHashSet<Box<str>>,
    /// Plates, in upper case without spaces.
    pub plates: FxHashSet<Box<str>>,
    /// Dealers, where rows name them.
    pub dealers: BTreeSet<String>,
}

/// Payloads on their way to a file: one a line, in the order of the rows.
#[derive(Debug)]
pub struct Prepare {
    out: BufWriter<NamedTempFile>,
    hidden: bool,
    /// The row of each payload.
    rows: Vec<u64>,
    stock: Stock,
}

/// What was prepared.
#[derive(Debug)]
pub struct Prepared {
    /// The row of each payload, by its place in the file.
    pub rows: Vec<u64>,
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
        Ok(Self { out, hidden, rows: Vec::new(), stock: Stock::default() })
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
        if let Some(plate) = &verdict.plate {
            self.stock.plates.insert(plate.as_str().into());
        }
        if let Some(source_id) = &verdict.source_id {
            self.stock.source_ids.insert(source_id.as_str().into());
        }
        let Some(mut payload) = verdict.payload else { return Ok(()) };
        if let Some(Value::String(dealer)) = payload.get("dealer_code")
            && !self.stock.dealers.contains(dealer)
        {
            self.stock.dealers.insert(dealer.clone());
        }
        if self.hidden {
            payload.insert("visible".to_owned(), Value::Bool(false));
        }
        serde_json::to_writer(&mut self.out, &payload)?;
        self.out.write_all(b"\n")?;
        self.rows.push(verdict.row);
        Ok(())
    }
}
