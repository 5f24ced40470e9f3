//! Groups errors by cause: a thousand invalid payloads usually have few different errors.

use std::{cmp::Reverse, collections::BTreeMap};

use ad_bulk::check::Finding;
use ad_files::{Severity, json::attribute, text::shortened};

use super::output::{Output, grouped};

/// Causes that are kept; further ones are only counted.
const MOST_KEPT: usize = 1000;

/// Most causes that are shown; the others are counted.
const MOST_SHOWN: usize = 8;

const LONGEST: usize = 160;

/// How often each mistake was made.
#[derive(Debug, Default)]
pub struct Causes {
    counts: BTreeMap<String, (u64, u64)>,
    others: u64,
}

impl Causes {
    /// Counts what is wrong with a payload.
    pub fn add(&mut self, findings: &[Finding]) {
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            let field = finding.field.as_deref().map(|path| format!("{}: ", attribute(path))).unwrap_or_default();
            let cause = format!("{field}{}", finding.messages.join(" "));
            let cause = shortened(&cause, LONGEST).into_owned();
            if self.counts.len() >= MOST_KEPT && !self.counts.contains_key(&cause) {
                self.others += 1;
                continue;
            }
            self.counts.entry(cause).or_insert((0, finding.place.line)).0 += 1;
        }
    }

    /// Prints the most frequent errors, if there are several.
    pub fn note(&self, out: Output) {
        let all = self.counts.values().map(|(count, _)| count).sum::<u64>() + self.others;
        // If no error is repeated, the findings are enough.
        if self.counts.values().all(|(count, _)| *count < 2) {
            return;
        }
        let mut causes: Vec<_> = self.counts.iter().collect();
        causes.sort_by_key(|(_, (count, line))| (Reverse(*count), *line));
        out.note("mistakes by cause:");
        for (cause, (count, line)) in causes.iter().take(MOST_SHOWN) {
            out.note(&format!("  {:>6}  {cause} (first on line {line})", grouped(*count)));
        }
        let shown: u64 = causes.iter().take(MOST_SHOWN).map(|(_, (count, _))| count).sum();
        if all > shown {
            out.note(&format!("  {:>6}  others", grouped(all - shown)));
        }
    }
}
