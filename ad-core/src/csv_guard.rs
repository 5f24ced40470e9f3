//! The guard of CSV against spreadsheets. They execute a text that begins like a formula; behind an apostrophe, it stays a text.
//!
//! Everything that writes CSV guards its texts here, and everything that reads tables takes the guard off here. JSON has no guards.

/// What formulas begin with, and what spreadsheets remove before they look. The wide signs are those of East Asian keyboards.
const SIGNS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

const GUARD: char = '\'';

/// A text for a cell of CSV: with a guard if it begins like a formula, or already like a guarded one, so that [`unguarded`] returns every text as
/// it was.
pub fn guarded(text: String) -> String {
    if begins_formula(&text) { format!("{GUARD}{text}") } else { text }
}

/// The text of a guarded cell; `None` if the cell has no guard.
pub fn unguarded(cell: &str) -> Option<&str> {
    cell.strip_prefix(GUARD).filter(|text| begins_formula(text))
}

fn begins_formula(text: &str) -> bool {
    text.trim_start_matches(GUARD).starts_with(SIGNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_a_formula_and_every_text_is_read_back() {
        for (text, cell) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
            ("+46701234567", "'+46701234567"),
            ("-12.5", "'-12.5"),
            ("-inf", "'-inf"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("\n=1", "'\n=1"),
            ("＝1", "'＝1"),
            ("=x'", "'=x'"),
            ("'=1", "''=1"),
            ("''-1", "'''-1"),
            ("a=b", "a=b"),
            ("'n Roll", "'n Roll"),
            ("'", "'"),
            ("", ""),
        ] {
            let written = guarded(text.to_owned());
            assert_eq!(written, cell);
            assert_eq!(unguarded(&written).unwrap_or(&written), text);
        }
    }
}
