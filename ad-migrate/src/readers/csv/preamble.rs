//! Finds the header of a table below titles, headings of groups of columns, and comments.

use super::{data::data, shape::Sample};
use crate::readers::quoted;

/// Most rows above a header.
const MOST: usize = 20;

/// Fewest names of a header that is looked for.
const NAMES: usize = 3;

/// Rows above a header that a note shows.
const SHOWN: usize = 3;

impl Sample {
    /// Removes the rows above the header, if they have few cells and the header has names of most columns; returns how many they are.
    pub(super) fn take_preamble(&mut self, notes: &mut Vec<String>) -> Option<usize> {
        let filled = |row: &[String]| row.iter().filter(|cell| !cell.is_empty()).count();
        let first = filled(self.rows.first()?);
        let at =
            self.rows.iter().take(MOST + 1).position(|row| filled(row) >= NAMES.max(first * 2)).filter(|at| *at > 0)?;
        let is_thin = |row: &Vec<String>| filled(row) * 2 <= filled(&self.rows[at]);
        let is_data = |cell: &&String| data(cell).is_some();
        let below = &self.rows[at + 1..];
        let usual = below.iter().map(|row| filled(row)).max().unwrap_or_default();
        let is_header = self.rows[at].iter().filter(is_data).count() * 5 <= filled(&self.rows[at])
            && filled(&self.rows[at]) * 2 > usual
            && self.rows[..at].iter().all(is_thin);
        // Rows of data are below, not more titles.
        let with_data = below.iter().filter(|row| row.iter().any(|cell| data(cell).is_some())).count();
        if !is_header || with_data * 2 <= below.len() {
            return None;
        }
        let rest = self.below(at);
        if !rest.has_header(&mut Vec::new()) {
            return None;
        }
        let shown: Vec<_> =
            self.rows[..at].iter().take(SHOWN).filter_map(|row| row.iter().find(|cell| !cell.is_empty())).collect();
        let shown: Vec<_> = shown.into_iter().map(|cell| quoted(cell)).collect();
        let more = if at > SHOWN { ", …" } else { "" };
        let (rows, are) = if at == 1 { ("row", "is") } else { ("rows", "are") };
        notes.push(format!("The first {at} {rows} ({}{more}) {are} no data: the header is below.", shown.join(", ")));
        *self = rest;
        Some(at)
    }
}
