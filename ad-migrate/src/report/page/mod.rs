//! The page to forward: one self-contained HTML file, readable on a phone, on paper, and without JavaScript.
//!
//! Its data comes from a file that cannot be trusted. [`maud`] escapes every text; only http and https addresses are links; and the page's
//! content security policy permits nothing but its own script, by its hash.

mod goes;
mod mend;
mod names;
mod profile;
mod quality;
mod reading;

use std::{
    borrow::Cow,
    ffi::OsStr,
    io::{self, Write},
    path::Path,
};

use ad_files::{
    WholeFile,
    text::{counted, grouped},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use sha2::{Digest, Sha256};

use super::{About, FileReport, kept::Kept};
use crate::{
    check::{Totals, Verdict},
    finding::Severity,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filter.js");

/// The classes of columns: right-aligned numbers, and values that break anywhere.
const TEXT: Option<&str> = None;
const NUMBER: Option<&str> = Some("number");
const VALUE: Option<&str> = Some("value");

/// The page while rows are added.
#[derive(Debug)]
pub struct Page {
    out: WholeFile,
    about: About,
    kept: Kept,
}

impl Page {
    /// Rows from the beginning of the file whose payloads the page wants, to show them.
    pub const PAYLOADS: u64 = 200;

    /// Begins the report.
    ///
    /// # Errors
    /// When the file cannot be created there.
    pub fn create(path: &Path, about: &About) -> io::Result<Self> {
        Ok(Self { out: WholeFile::create(path)?, about: about.clone(), kept: Kept::default() })
    }
}

impl FileReport for Page {
    fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        self.kept.add(verdict);
        Ok(())
    }

    fn end(mut self: Box<Self>, totals: &Totals) -> io::Result<()> {
        let page = whole(&self.about, totals, &self.kept).into_string();
        self.out.write_all(page.as_bytes())?;
        self.out.end()
    }
}

fn whole(about: &About, totals: &Totals, kept: &Kept) -> Markup {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (headline(totals)) " – " (name(&about.file)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (head(about, totals))
                    @if let Some(unread) = &totals.unread {
                        section.alert {
                            h2 { "The file could not be read to its end" }
                            p { (unread.message) }
                            ul { @for hint in &unread.hints { li { (hint) } } }
                        }
                    }
                    (figures(totals))
                    (profile::doubts(totals))
                    (mend::chart(totals))
                    (mend::sections(totals, kept, Severity::Error))
                    (mend::sections(totals, kept, Severity::Warning))
                    (goes::section(totals, kept))
                    (quality::section(totals))
                    (profile::section(totals))
                    (reading::section(about, totals))
                    footer { p { "Checked by ad-migrate, dry run: nothing was sent. " (time(about)) } }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn headline(totals: &Totals) -> String {
    let ads = if totals.rows == 1 { "ad" } else { "ads" };
    format!("{} of {} {ads} valid", grouped(totals.valid), grouped(totals.rows))
}

fn head(about: &About, totals: &Totals) -> Markup {
    html! {
        header {
            p.file { (name(&about.file)) span { " · " (time(about)) } }
            h1 { (headline(totals)) }
            (shares(totals))
            p.lead {
                @if totals.rows == 0 {
                    "The file contains no rows."
                } @else if totals.invalid == 0 {
                    "All rows are valid."
                } @else {
                    (counted(totals.invalid, "row")) " cannot be submitted yet. They are listed below by reason, with what to do."
                }
                @if totals.with_warnings > 0 {
                    " Warnings: " (counted(totals.with_warnings, "valid row")) "."
                }
            }
        }
    }
}

/// A bar with the shares of valid rows, valid rows with warnings, and invalid rows.
fn shares(totals: &Totals) -> Markup {
    let parts = [
        ("valid", totals.valid - totals.with_warnings, "valid"),
        ("doubtful", totals.with_warnings, "valid, with warnings"),
        ("invalid", totals.invalid, "invalid"),
    ];
    let mut from = 0.0;
    let parts = parts.map(|(class, count, what)| {
        let (start, width) = (from, percent(count, totals.rows));
        from += width;
        (class, count, what, start, width)
    });
    html! {
        svg.shares viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=(headline(totals)) {
            @for (class, count, what, start, width) in &parts {
                rect class=(class) x=(format!("{start:.3}")) y="0" width=(format!("{width:.3}")) height="4" {
                    title { (grouped(*count)) " " (what) }
                }
            }
        }
        ul.legend {
            @for (class, count, what, ..) in parts.iter().filter(|(_, count, ..)| *count > 0) {
                li { span.dot.(class) {} (grouped(*count)) " " (what) }
            }
        }
    }
}

fn figures(totals: &Totals) -> Markup {
    let figures = [
        ("Rows in the file", totals.rows),
        ("Valid", totals.valid),
        ("Invalid", totals.invalid),
        ("With warnings", totals.with_warnings),
        ("Pictures", totals.images),
    ];
    html! {
        dl.figures {
            @for (name, count) in figures {
                div { dt { (name) } dd { (grouped(count)) } }
            }
        }
    }
}

/// The headings of a table, and the classes of its columns.
type PageColumns<const N: usize> = ([&'static str; N], [Option<&'static str>; N]);

/// A narrow screen shows the heading beside each value.
fn table<const N: usize, C: Render>(
    class: Option<&str>,
    (headings, classes): PageColumns<N>,
    rows: impl Iterator<Item = [C; N]>,
) -> Markup {
    let columns = || headings.into_iter().zip(classes);
    html! {
        table class=[class] {
            thead { tr { @for (heading, class) in columns() { th class=[class.filter(|_| class == NUMBER)] { (heading) } } } }
            tbody {
                @for row in rows {
                    tr { @for ((heading, class), cell) in columns().zip(row) { td class=[class] data-label=(heading) { (cell) } } }
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bar has no more pixels")]
fn percent(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 * 100.0 / of as f64 }
}

/// The name of the file without its folder, which is not for the recipient of the page.
fn name(path: &str) -> Cow<'_, str> {
    Path::new(path).file_name().map_or(Cow::Borrowed(path), OsStr::to_string_lossy)
}

fn time(about: &About) -> String {
    let time = about.checked.to_string();
    time.get(..16).map_or(time.clone(), |minute| format!("{} UTC", minute.replace('T', " ")))
}

/// Addresses of images, as links if they are web addresses; images are never loaded.
fn pictures(addresses: &[&str]) -> Markup {
    html! {
        @if !addresses.is_empty() {
            details.pictures {
                summary { (counted(addresses.len() as u64, "picture")) }
                ol { @for address in addresses { li { (link(address)) } } }
            }
        }
    }
}

fn link(address: &str) -> Markup {
    let begins = |scheme: &str| address.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    html! {
        @if begins("https://") || begins("http://") {
            a href=(address) rel="noreferrer noopener" target="_blank" { (address) }
        } @else {
            span { (address) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::tests::{finding, totals, verdict},
        finding::Finding,
    };

    fn page(verdicts: Vec<Verdict>) -> String {
        let about = About {
            file: "<stock>.csv".to_owned(),
            mapping: "stock.toml".to_owned(),
            checked: "2026-11-22T03:00:00Z".parse().unwrap(),
        };
        let totals = totals(&verdicts);
        let mut kept = Kept::default();
        for verdict in verdicts {
            kept.add(&verdict);
        }
        whole(&about, &totals, &kept).into_string()
    }

    #[test]
    fn what_a_cell_holds_is_text_and_never_a_part_of_the_page() {
        let evil = "</td><script>alert(1)</script>\"' onmouseover=alert(1) <img src=x onerror=alert(1)>";
        let mut row = verdict(
            1,
            vec![Finding {
                columns: vec![evil.to_owned()],
                advice: Some(evil.to_owned()),
                ..finding(Severity::Error, evil, evil)
            }],
        );
        row.source_id = Some(evil.to_owned());
        row.plate = Some(evil.to_owned());
        row.images = vec![evil.to_owned(), format!("https://a.example/{evil}"), "javascript:alert(1)".to_owned()];
        let mut good = verdict(2, vec![]);
        good.payload = Some(
            serde_json::from_value(serde_json::json!({"title": evil, "image_urls": [evil, "data:text/html,x"],
                "price": [{"amount": 1, "currency": evil}]}))
            .unwrap(),
        );
        let page = page(vec![row, good]);
        assert_eq!(page.matches("<script").count(), 1, "its own");
        assert!(!page.contains("<img") && !page.contains("</td><script") && !page.contains("<stock>"));
        assert!(!page.contains("href=\"javascript:") && !page.contains("href=\"data:"));
        // Quotes too, for some of it stands in attributes.
        assert!(!page.contains("\"' onmouseover"));
    }

    #[test]
    fn the_policy_names_the_script_that_is_there() {
        let page = page(vec![verdict(1, vec![])]);
        let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        assert!(page.contains(&format!("script-src 'sha256-{hash}'")));
    }

    #[test]
    fn a_page_stays_small_however_many_rows_cannot_go() {
        let rows =
            (0..20_000).map(|row| verdict(row, vec![finding(Severity::Error, &format!("reason {}", row % 40), "x")]));
        let page = page(rows.collect());
        assert!(page.len() < 2_000_000, "{}", page.len());
        assert!(page.contains("0 of 20,000 ads valid") && page.contains("more, see the JSON report"));
    }

    #[test]
    fn only_web_addresses_are_links() {
        let shown = |address: &str| link(address).into_string();
        assert!(shown("https://a.example/1.jpg").starts_with("<a href=\"https://a.example/1.jpg\""));
        assert_eq!(shown("javascript:alert(1)"), "<span>javascript:alert(1)</span>");
        assert_eq!(shown("ABC_1.JPG"), "<span>ABC_1.JPG</span>");
        let quoted = shown("https://a.example/\"onclick=\"alert(1)");
        assert!(quoted.contains("&quot;onclick=&quot;") && !quoted.contains("\"onclick"), "{quoted}");
    }
}
