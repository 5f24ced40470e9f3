//! What a page of a list leaves out.

use crate::{
    bulk::Surface,
    terminal::{Output, grouped},
};

/// Says how many rows there are beside those that are shown, and how to see them. `all` is whether the command has `--all`.
pub(in crate::cli) fn note_rest(out: Output, shown: usize, count: u64, rows: &str, all: bool) {
    let shown = shown as u64;
    if shown == 0 {
        out.note(&format!("no {rows}"));
    } else if shown < count {
        let more = match (out.surface(), all) {
            (Surface::CommandLine, true) => "use --all for all of them, or --offset for another page",
            (Surface::CommandLine, false) => "use --limit and --offset for the others",
            (Surface::Tools, _) => "use `offset` for another page",
        };
        out.note(&format!("{} of {} {rows}; {more}", grouped(shown), grouped(count)));
    }
}
