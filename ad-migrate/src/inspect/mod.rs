//! A first look at an unknown file: what its columns probably are, and a mapping to begin with. It guesses, and says why and how sure it
//! is; what is mapped is for a person to decide, so the draft is a file to edit and nothing is read by it unseen.

mod column;
mod draft;
mod guess;
mod look;
mod names;
#[cfg(test)]
mod tests;

use ad_core::catalogue::Catalogue;
use serde::Serialize;

use crate::readers::{Batch, Detected, ReadError, Reader};
use column::Column;
use look::Terms;

/// Rows that are looked at.
const ROWS: u32 = 5000;

/// What a file probably is, and a mapping for it.
#[derive(Debug, Serialize)]
pub struct Draft {
    /// How the file is read.
    pub detected: Detected,
    /// Rows that were looked at.
    pub rows: u32,
    /// The vehicle type that most rows have, or that the columns are of.
    pub vehicle_type: String,
    /// Its columns, in their order.
    pub columns: Vec<Guess>,
    /// What an ad still needs, in sentences.
    pub missing: Vec<String>,
    /// The mapping, as the text of a file.
    pub mapping: String,
}

/// What is known of a column, and what it is taken for.
#[derive(Debug, Clone, Serialize)]
pub struct Guess {
    /// Its name or path.
    pub column: String,
    /// Rows that have a value in it.
    pub filled: u32,
    /// How many different values were seen, up to a bound.
    pub distinct: usize,
    /// The first different values.
    pub samples: Vec<String>,
    /// The field of an ad that it is taken for.
    pub field: Option<String>,
    /// How sure that is, from 0 to 100. What is below 60 stands in the draft as a comment.
    pub confidence: u8,
    /// What says so.
    pub why: String,
}

/// Looks at the beginning of a file.
///
/// # Errors
/// When it cannot be read. What was read before that is lost: a draft of a broken file would look like one of a whole one.
pub fn inspect(reader: &mut Reader, catalogue: &Catalogue) -> Result<Draft, ReadError> {
    let mut seen = SeenFile::new(catalogue);
    let mut reuse: Option<Batch> = None;
    while seen.rows < ROWS {
        let Some(batch) = reader.next(reuse.take())? else { break };
        seen.add(&batch);
        reuse = Some(batch);
    }
    Ok(seen.draft(reader.detected()))
}

/// What has been seen of a file.
#[derive(Debug)]
struct SeenFile {
    terms: Terms,
    names: Vec<String>,
    columns: Vec<Column>,
    rows: u32,
}

impl SeenFile {
    fn new(catalogue: &Catalogue) -> Self {
        Self { terms: Terms::new(catalogue), names: Vec::new(), columns: Vec::new(), rows: 0 }
    }

    fn add(&mut self, batch: &Batch) {
        for name in batch.columns().names().skip(self.names.len()) {
            self.names.push(name.to_owned());
            self.columns.push(Column::default());
        }
        for row in batch.rows() {
            if self.rows == ROWS {
                return;
            }
            self.rows += 1;
            let count = self.columns.len();
            for (id, text) in row.cells() {
                if let Some(column) = self.columns.get_mut(id.index()) {
                    column.add(self.rows, text, &mut self.terms, count);
                }
            }
        }
    }

    fn draft(mut self, detected: &Detected) -> Draft {
        let guessed = guess::guess(&self.names, &self.columns, self.rows, &mut self.terms);
        draft::write(self, guessed, detected)
    }
}
