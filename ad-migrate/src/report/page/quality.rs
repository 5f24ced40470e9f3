//! How good the ads will be: their scores, and findings about values that are probably wrong. None keeps an ad from being submitted.

use ad_cli::terminal::output::grouped;
use maud::{Markup, html};

use crate::check::Totals;

pub(super) fn section(totals: &Totals) -> Markup {
    html! {
        @if totals.valid > 0 {
            section {
                h2 { "Quality of the valid ads" }
                p {
                    "Each ad has a score from 0 to 100 for what makes it better, such as photos, a price and a description: "
                    (totals.levels()) ". Findings are values that are probably wrong; they keep no ad from being submitted."
                }
                @if !totals.quality.is_empty() {
                    table {
                        thead { tr { th { "Finding" } th.number { "Rows" } th { "First" } th { "What to do" } } }
                        tbody {
                            @for finding in &totals.quality {
                                @let about = finding.code.about();
                                tr {
                                    td data-label="Finding" { (about.title) }
                                    td.number data-label="Rows" { (grouped(finding.rows)) }
                                    td data-label="First" { (finding.first()) }
                                    td data-label="What to do" { (about.cure) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
