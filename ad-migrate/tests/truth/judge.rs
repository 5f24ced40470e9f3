//! Compares the payloads of a file with the truth.

use ad_migrate::{check::Verdict, finding::Severity, readers::ReadError};
use serde_json::Value;

use super::{Checked, files::StockFile};

/// What the rows of all files come to.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) rows: usize,
    pub(super) right: usize,
    pub(super) rejected: usize,
    /// Rows with a wrong value, about which there is a warning.
    warned: usize,
    /// Wrong values without a warning.
    pub(super) silent: Vec<String>,
    /// Right rows that are not accepted, or not complete.
    pub(super) lost: Vec<String>,
    by_file: Vec<String>,
}

impl Tally {
    /// A file that cannot be read at all, which is said.
    pub(super) fn rejected_file(&mut self, file: &StockFile, rejected: &ReadError) {
        self.rows += file.rows.len();
        self.rejected += file.rows.len();
        self.by_file.push(format!("{}: {rejected}", file.name));
    }

    /// The rows of a file. In a finished mapping, every right row is accepted, complete.
    pub(super) fn add(&mut self, file: &StockFile, checked: &Checked, finished: bool) {
        let before = (self.right, self.rejected, self.warned, self.silent.len());
        self.rows += file.rows.len();
        if checked.rows != file.rows.len() {
            self.rejected += file.rows.len();
            let accepted = checked.verdicts.iter().filter(|verdict| verdict.is_valid()).count();
            if accepted > 0 || finished {
                self.silent.push(format!("{}: {accepted} of {} rows accepted", file.name, checked.rows));
            }
            return;
        }
        // There are no verdicts about rows that are skipped.
        let mut verdicts = checked.verdicts.iter().peekable();
        for (row, truth) in (1..).zip(&file.rows) {
            let place = format!("{} row {row}", file.name);
            let is_bad = truth.is_bad || (truth.is_skipped && finished);
            let verdict = verdicts.next_if(|verdict| verdict.row == row);
            let accepted = verdict.filter(|verdict| verdict.is_valid());
            let Some((verdict, payload)) = accepted.and_then(|verdict| Some((verdict, verdict.payload.as_ref()?)))
            else {
                self.rejected += 1;
                if finished && !is_bad {
                    self.lost.push(format!("{place}: {:?}", verdict.map(|verdict| &verdict.findings)));
                }
                continue;
            };
            let payload = Value::Object(payload.clone());
            let mut wrong: Vec<String> =
                if is_bad { vec![String::new()] } else { differences(&payload, &truth.payload) };
            if wrong.is_empty() {
                self.right += 1;
            } else {
                let count = wrong.len();
                wrong.retain(|path| !is_warned(verdict, path));
                self.warned += usize::from(wrong.len() < count);
            }
            let said = |path: &String| {
                let at = |value: &Value| at(value, path).cloned().unwrap_or_default();
                format!("{place}: {path} is {} and should be {}", at(&payload), at(&truth.payload))
            };
            self.silent.extend(wrong.iter().map(said));
            if finished {
                let missing = differences(&truth.payload, &payload);
                self.lost.extend(missing.iter().map(|path| format!("{place}: {path} is missing or wrong")));
            }
        }
        let (right, rejected, warned, silent) = before;
        self.by_file.push(format!(
            "{}: {} right, {} rejected, {} warned, {} wrong values",
            file.name,
            self.right - right,
            self.rejected - rejected,
            self.warned - warned,
            self.silent.len() - silent
        ));
    }

    pub(super) fn report(&self) -> String {
        let first = |all: &[String]| all.iter().take(25).cloned().collect::<Vec<_>>().join("\n");
        format!("silently wrong:\n{}\nlost:\n{}\n{}", first(&self.silent), first(&self.lost), self.by_file.join("\n"))
    }
}

/// Whether a finding is about the field, or a field around or within it.
fn is_warned(verdict: &Verdict, path: &str) -> bool {
    verdict.findings.iter().any(|finding| {
        let field = finding.field.as_deref().unwrap_or_default();
        finding.severity == Severity::Warning
            && !field.is_empty()
            && (path.starts_with(field) || field.starts_with(path))
    })
}

/// The paths at which the first value has something other than the second. Measures, lists and prices are compared whole.
pub(super) fn differences(one: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(one, other, "", &mut found);
    found
}

fn compare(one: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
    match one {
        Value::Object(members) if !members.contains_key("unit") => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(value, other.get(name).unwrap_or(&Value::Null), &path, found);
            }
        }
        _ if plain(one) == plain(other) => {}
        _ => found.push(path.to_owned()),
    }
}

/// A value in which what means the same is the same: 12 mil are 120 km, and a price without a currency is in the dealer's.
fn plain(value: &Value) -> Value {
    let mut value = value.clone();
    match &mut value {
        Value::Object(measure) => {
            let number = measure.get("value").and_then(Value::as_f64).unwrap_or(f64::NAN);
            let (unit, times) = match measure.get("unit").and_then(Value::as_str).unwrap_or_default() {
                "mil" => ("km", 10.0),
                "l" => ("cc", 1000.0),
                "t" => ("kg", 1000.0),
                unit => (unit, 1.0),
            };
            Value::from(format!("{:.3} {unit}", number * times))
        }
        Value::Array(items) => {
            for item in items.iter_mut().filter_map(Value::as_object_mut).filter(|item| item.contains_key("amount")) {
                item.entry("currency").or_insert(Value::from("SEK"));
            }
            value
        }
        _ => value,
    }
}

pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}
