//! How the file was read: format, encoding, inferences, and unused columns.

use maud::{Markup, html};

use super::name;
use crate::{check::Totals, readers::Detected, report::About};

pub(super) fn section(about: &About, totals: &Totals) -> Markup {
    html! {
        section {
            h2 { "How the file was read" }
            dl.facts {
                @for (name, value) in facts(about, &totals.detected) {
                    div { dt { (name) } dd { (value) } }
                }
            }
            @if !totals.detected.notes.is_empty() {
                h3 { "Inferences" }
                ul { @for note in &totals.detected.notes { li { (note) } } }
            }
            @if !totals.missing.is_empty() {
                h3 { "Columns of the mapping that the file lacks" }
                ul { @for column in &totals.missing { li { (column) } } }
            }
            @if !totals.unused.is_empty() {
                h3 { "Unused columns" }
                p.tags { @for column in &totals.unused { span { (column) } " " } }
            }
        }
    }
}

fn facts(about: &About, detected: &Detected) -> Vec<(&'static str, String)> {
    let separator = detected.separator.map(|mark| match mark {
        '\t' => "tab".to_owned(),
        mark => mark.to_string(),
    });
    let header = detected.header.map(|has| if has { "yes" } else { "no, columns are numbered" }.to_owned());
    [
        ("File", Some(name(&about.file).into_owned())),
        ("Mapping", Some(name(&about.mapping).into_owned())),
        ("Format", Some(detected.form.name().to_owned())),
        ("Encoding", Some(detected.encoding.clone())),
        ("Separator", separator),
        ("Header", header),
        ("Records", detected.rows.clone()),
        ("Sheet", detected.sheet.clone()),
        ("Packed", detected.packing.clone()),
        ("File in the archive", detected.member.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}
