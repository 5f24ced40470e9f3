//! What is said about a sheet besides its cells: merged cells and hidden rows.

/// Merged cells and hidden rows that a sentence lists.
const SHOWN: usize = 5;

#[derive(Debug, Default)]
pub(super) struct SheetNotes {
    /// The first merged cells, such as `A1:C2`, and how many there are.
    merged: (Vec<String>, u64),
    /// The first hidden rows, from 1, and how many there are.
    hidden: (Vec<String>, u64),
    /// Whether the sheet has a filter, which is then why rows are hidden.
    pub(super) is_filtered: bool,
    /// Number of cells that were written again because the file says that they are repeated.
    pub(super) repeated: u64,
    others: Vec<String>,
}

fn add(to: &mut (Vec<String>, u64), name: String) {
    to.1 += 1;
    if to.0.len() < SHOWN {
        to.0.push(name);
    }
}

fn list((names, count): &(Vec<String>, u64)) -> String {
    let more = if *count > names.len() as u64 { ", …" } else { "" };
    names.join(", ") + more
}

impl SheetNotes {
    /// Adds a sentence, which is shown as it is.
    pub(super) fn add(&mut self, note: String) {
        self.others.push(note);
    }

    /// A range of merged cells.
    pub(super) fn add_merged(&mut self, range: String) {
        add(&mut self.merged, range);
    }

    /// A hidden row with values, from 0.
    pub(super) fn add_hidden(&mut self, row: u32) {
        add(&mut self.hidden, (u64::from(row) + 1).to_string());
    }

    /// All notes as sentences for people, those of [`add`](Self::add) first.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut notes = self.others.clone();
        if self.merged.1 > 0 {
            notes.push(format!(
                "The sheet has merged cells (merged cells: {}): the first cell of each has the value, and the others are empty. If several rows \
                 share a value, unmerge the cells in the spreadsheet and fill each row.",
                list(&self.merged)
            ));
        }
        let (_, hidden) = &self.hidden;
        if *hidden > 0 {
            let (rows, are, them) = if *hidden == 1 { ("row", "is", "it") } else { ("rows", "are", "them") };
            let by = if self.is_filtered { " by a filter" } else { "" };
            notes.push(format!(
                "{hidden} {rows} of the sheet {are} hidden{by} ({}) and read like the others. To leave {them} out, delete {them}, or set a \
                 condition in [rows] of the mapping.",
                list(&self.hidden)
            ));
        }
        notes
    }
}
