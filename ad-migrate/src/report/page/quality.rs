//! How good the ads will be: their scores, and findings about values that are probably wrong. None keeps an ad from being submitted.

use ad_files::text::grouped;
use maud::{Markup, html};

use super::{NUMBER, PageColumns, TEXT, table};
use crate::check::{CountedFinding, Totals};

const COLUMNS: PageColumns<4> = (["Finding", "Rows", "First", "What to do"], [TEXT, NUMBER, TEXT, TEXT]);

pub(super) fn section(totals: &Totals) -> Markup {
    html! {
        @if totals.valid > 0 {
            section {
                h2 { "Quality of the valid ads" }
                p {
                    "Each ad has a score from 0 to 100 for what makes it better, such as photos, a price and a description: "
                    (totals.levels()) ". Findings are values that are probably wrong; they keep no ad from being submitted."
                }
                @if !totals.quality.is_empty() { (table(None, COLUMNS, totals.quality.iter().map(row))) }
            }
        }
    }
}

fn row(finding: &CountedFinding) -> [String; 4] {
    let about = finding.code.about();
    [about.title.to_owned(), grouped(finding.rows), finding.first(), about.cure.to_owned()]
}
