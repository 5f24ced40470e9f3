//! Detects the columns of an unknown file, and drafts a mapping. Guesses come with reason and confidence; a person edits the draft before
//! it is used.

mod builtin;
mod choices;
mod column;
mod draft;
mod guess;
mod look;
mod names;
mod pairs;
#[cfg(test)]
mod tests;

use ad_core::{
    catalogue::Catalogue,
    synonyms::languages::{self, Language},
};
use serde::Serialize;

pub use builtin::fitting;
pub use choices::{Choices, ChosenField, Question, SoldRows, UnknownValues, offered};

use crate::readers::{Batch, ColumnId, Detected, ReadError, Reader};
use column::ColumnStatistics;
use look::{Terms, ValueLook};
use pairs::Pairs;

/// Rows that are analysed, from the beginning.
const ROWS: u32 = 5000;

/// Values after which no further rows are analysed: rows can have very many.
const ENOUGH_CELLS: usize = 4_000_000;

/// The columns of a file, and a draft of a mapping.
#[derive(Debug, Serialize)]
pub struct Draft {
    /// How the file is read.
    pub detected: Detected,
    /// Number of rows that were analysed.
    pub rows: u32,
    /// The vehicle type of most rows.
    pub vehicle_type: String,
    /// The language of the file, as an ISO 639-1 code.
    pub language: Option<&'static str>,
    /// Fields that the draft fills by evidence.
    pub filled: Vec<String>,
    /// Fields that it leaves as comments, with a question or a low confidence.
    pub asked: Vec<String>,
    /// The columns in the order of the file.
    pub columns: Vec<Guess>,
    /// What is missing or must be checked, in sentences.
    pub missing: Vec<String>,
    /// The text of the mapping.
    pub mapping: String,
    /// Values that are not known.
    #[serde(skip)]
    pub unknown: Vec<UnknownValues>,
    /// Rows of vehicles that are not for sale.
    #[serde(skip)]
    pub sold: Vec<SoldRows>,
}

/// A column with its guessed field.
#[derive(Debug, Clone, Serialize)]
pub struct Guess {
    /// Name of the column, or its path.
    pub column: String,
    /// Rows that have a value in it.
    pub filled: u32,
    /// Number of different values, up to a limit.
    pub distinct: usize,
    /// The first different values, shortened.
    pub samples: Vec<String>,
    /// The guessed field of the ad.
    pub field: Option<String>,
    /// The confidence from 0 to 100. Guesses below 60 are comments in the draft; below 80 if only the values support them.
    pub confidence: u8,
    /// The reason for the guess, in words.
    pub why: String,
    /// The unit or currency of its values, unless the file shows it.
    #[serde(skip)]
    pub unit: Option<String>,
    /// What is uncertain about it.
    #[serde(skip)]
    pub questions: Vec<Question>,
}

/// Analyses the beginning of a file.
///
/// # Errors
/// When it cannot be read, even if some rows could be.
pub fn inspect(reader: &mut Reader, catalogue: &Catalogue) -> Result<Draft, ReadError> {
    inspect_with(reader, catalogue, Known::default())
}

/// What is known of a file besides its content.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// What a person has decided.
    pub choices: Option<&'a Choices>,
    /// The currency of the dealer, as an ISO 4217 code: prices without one are in it, and units are those of its country.
    pub currency: Option<&'a str>,
}

/// The same, with what else is known.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_with(reader: &mut Reader, catalogue: &Catalogue, known: Known<'_>) -> Result<Draft, ReadError> {
    let mut seen = SeenFile::new(catalogue);
    let mut reuse: Option<Batch> = None;
    while seen.rows < ROWS && seen.cells < ENOUGH_CELLS {
        let Some(batch) = reader.next(reuse.take())? else { break };
        match seen.pairs.expanded(&batch) {
            Some(expanded) => seen.add(&expanded),
            None => seen.add(&batch),
        }
        reuse = Some(batch);
    }
    reader.settle();
    Ok(seen.draft(reader.detected(), known))
}

/// The statistics of a file.
#[derive(Debug)]
struct SeenFile {
    terms: Terms,
    names: Vec<String>,
    columns: Vec<ColumnStatistics>,
    rows: u32,
    /// Values of these rows.
    cells: usize,
    /// The columns that an attribute names.
    pairs: Pairs,
}

impl SeenFile {
    fn new(catalogue: &Catalogue) -> Self {
        let (terms, pairs) = (Terms::new(catalogue), Pairs::default());
        Self { terms, names: Vec::new(), columns: Vec::new(), rows: 0, cells: 0, pairs }
    }

    fn add(&mut self, batch: &Batch) {
        for name in batch.columns().names().skip(self.names.len()) {
            self.names.push(name.to_owned());
            self.columns.push(ColumnStatistics::default());
        }
        for row in batch.rows() {
            if self.rows == ROWS || self.cells >= ENOUGH_CELLS {
                return;
            }
            self.rows += 1;
            self.cells += row.cells().size_hint().0;
            let count = self.columns.len();
            for (id, text) in row.cells() {
                if let Some(column) = self.columns.get_mut(id.index()) {
                    column.add(self.rows, text, &mut self.terms, count);
                }
            }
            // Of several columns of brands, that of the vehicles has most of them.
            let brands = row.cells().filter_map(|(id, text)| Some((id, self.terms.brand(text.trim())?)));
            let known = |id: ColumnId| self.columns.get(id.index()).map_or(0, |column| column.distinct.len());
            let brand = brands.max_by_key(|(id, _)| (known(*id), usize::MAX - id.index()));
            let Some((of_brand, brand)) = brand else { continue };
            for (id, text) in row.cells().filter(|(id, _)| *id != of_brand) {
                if let Some(column) = self.columns.get_mut(id.index()) {
                    column.add_beside(&brand, text, &mut self.terms);
                }
            }
        }
    }

    fn languages(&self) -> Languages {
        let names = self.names.iter().map(String::as_str);
        let columns = self.columns.iter().filter(|column| !column.has_more && column.share(ValueLook::Prose) == 0);
        let values = columns.flat_map(|column| column.distinct.keys()).map(|text| &**text);
        Languages { names: languages::detect(names), values: languages::detect(values) }
    }

    fn draft(mut self, detected: &Detected, known: Known<'_>) -> Draft {
        let languages = self.languages();
        self.terms.set_language(languages.of_terms());
        let mut guessed = guess::guess(&self.names, &self.columns, self.rows, &mut self.terms);
        if let Some(choices) = known.choices {
            choices.decide(&mut guessed, &self.names);
        }
        draft::write(self, guessed, detected, languages, known)
    }
}

/// The languages of a file.
#[derive(Debug, Clone, Copy)]
struct Languages {
    /// That of the names of the columns.
    names: Language,
    /// That of the values in the columns.
    values: Language,
}

impl Languages {
    /// The language in which values are understood. Where names and values are in different ones, terms on which languages disagree have no
    /// meaning.
    fn of_terms(self) -> Language {
        match (self.names.code(), self.values.code()) {
            (Some(names), Some(values)) if names != values => Language::Unknown,
            (_, Some(_)) => self.values,
            _ => self.names,
        }
    }

    /// The language of the file, by which currencies and units are told where the dealer is not known.
    fn of_file(self) -> Option<&'static str> {
        self.names.code().or(self.values.code())
    }

    /// Whether names and values show the same language, so that each term has its meaning there.
    fn is_certain(self) -> bool {
        self.names.code().is_some() && self.names.code() == self.values.code()
    }
}
