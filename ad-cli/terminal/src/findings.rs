//! Findings as people read them, and as rows for programs.

use std::{
    collections::HashMap,
    io::{self, BufWriter, Write},
};

use ad_bulk::{
    Surface,
    check::{Finding, Verdict},
};
use ad_core::printable;
use ad_files::{
    Place, Severity,
    json::attribute,
    text::{counted, grouped, shortened},
};
use serde::Serialize;

use super::{Column, Output, Rows, Stream, Styled, Tone, progress::BlockingCounter};

/// What programs get of each finding; the names are the row's.
#[rustfmt::skip]
const COLUMNS: &[Column] = &Column::at_paths([
    "file", "line", "column", "index", "source_id", "vehicle_type", "severity", "field", "value", "message",
    "suggestions", "command",
]);

#[derive(Debug, Serialize)]
struct PrintedFinding<'a> {
    file: &'a str,
    index: u64,
    source_id: Option<&'a str>,
    vehicle_type: Option<&'static str>,
    #[serde(flatten)]
    finding: &'a Finding,
}

const LONGEST_SHOWN: usize = 60;

/// What the further lines of a finding's first line begin with, in spaces.
const HANGING: usize = 4;

/// Most findings of a command that people see. Nobody reads more, and a short file can have a million.
const MOST_SHOWN: usize = 1000;

/// Most source ids that people see of a cause.
const MOST_IDS: usize = 3;

/// What is the same in several ads: whether it is an error, the field without indices, and why.
type Cause = (bool, Option<String>, Vec<String>);

/// Findings with the same cause: the first of them, and the ads.
#[derive(Debug)]
struct Group {
    first: Finding,
    /// Whether all have the value of the first.
    is_same_value: bool,
    count: u64,
    source_ids: Vec<String>,
}

impl Group {
    fn of(source_id: Option<&str>, finding: &Finding) -> Self {
        let source_ids = source_id.map(str::to_owned).into_iter().collect();
        Self { first: finding.clone(), is_same_value: true, count: 1, source_ids }
    }

    fn add(&mut self, source_id: Option<&str>, finding: &Finding) {
        self.count += 1;
        self.is_same_value &= self.first.value == finding.value;
        if self.source_ids.len() < MOST_IDS
            && let Some(source_id) = source_id.filter(|it| self.source_ids.iter().all(|known| known != it))
        {
            self.source_ids.push(source_id.to_owned());
        }
    }

    /// Whose finding it is: `car-3`, or `car-3, car-7, car-9 …: 240 times`.
    fn whose(&self) -> Option<String> {
        let ids: Vec<_> = self.source_ids.iter().map(|it| shortened(it, LONGEST_SHOWN)).collect();
        let ids = ids.join(", ");
        Some(match (self.count, ids.as_str()) {
            (1, "") => return None,
            (1, ids) => ids.to_owned(),
            (count, "") => format!("{} times", grouped(count)),
            (count, ids) if self.source_ids.len() as u64 == count => ids.to_owned(),
            (count, ids) => format!("{ids} …, {} times", grouped(count)),
        })
    }
}

/// Writes findings, and shows the number of validated payloads on a terminal.
#[derive(Debug)]
pub struct Findings {
    file: String,
    out: Output,
    /// Stdout, buffered.
    text: BufWriter<Stream>,
    /// What programs get, unless that is something else.
    rows: Option<Rows>,
    /// What people see of the file: the same cause of many ads once.
    groups: Vec<Group>,
    /// The places of the groups, by what is the same.
    known: HashMap<Cause, usize>,
    /// Findings that people do not see, not even counted.
    more: u64,
    /// Whether a cause was shown in the place of several findings.
    is_grouped: bool,
    progress: BlockingCounter,
}

impl Findings {
    /// The findings of a file, in the requested format.
    pub fn new(file: &str, out: Output) -> Self {
        let (file, text) = (file.to_owned(), BufWriter::new(out.stdout()));
        let rows = (!out.is_for_people()).then(|| out.rows(COLUMNS));
        let (groups, known) = (Vec::new(), HashMap::new());
        Self {
            file,
            out,
            text,
            rows,
            groups,
            known,
            more: 0,
            is_grouped: false,
            progress: BlockingCounter::new(out, "payload"),
        }
    }

    /// The same for people only: programs get something else.
    pub fn for_people(file: &str, out: Output) -> Self {
        Self { rows: None, ..Self::new(file, out) }
    }

    /// So many payloads have been validated.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn validated(&mut self, payloads: u64) -> io::Result<()> {
        if self.progress.is_due() {
            // A row that is not printed to its end would be overwritten.
            self.rows.as_mut().map_or(Ok(()), Rows::flush)?;
        }
        self.progress.show(payloads);
        Ok(())
    }

    /// Shows the findings of one payload.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn show(&mut self, verdict: &Verdict) -> io::Result<()> {
        if !verdict.findings.is_empty() {
            self.progress.hide();
        }
        for finding in &verdict.findings {
            if let Some(rows) = &mut self.rows {
                rows.push(&PrintedFinding {
                    file: &self.file,
                    index: verdict.index,
                    source_id: verdict.source_id.as_deref(),
                    vehicle_type: verdict.category.and_then(|category| category.vehicle_type),
                    finding,
                })?;
            } else if self.out.is_for_people() {
                self.group(verdict, finding);
            }
        }
        Ok(())
    }

    /// Adds a finding to those with the same cause.
    fn group(&mut self, verdict: &Verdict, finding: &Finding) {
        let source_id = verdict.source_id.as_deref();
        let cause: Cause =
            (finding.severity == Severity::Error, finding.field.as_deref().map(attribute), finding.messages.clone());
        if let Some(place) = self.known.get(&cause) {
            self.groups[*place].add(source_id, finding);
            self.is_grouped = true;
        } else if self.groups.len() < MOST_SHOWN {
            self.known.insert(cause, self.groups.len());
            self.groups.push(Group::of(source_id, finding));
        } else {
            self.more += 1;
        }
    }

    /// Writes what people see of the file.
    fn write_groups(&mut self) -> io::Result<()> {
        self.known.clear();
        for group in std::mem::take(&mut self.groups) {
            self.text.write_all(for_people(self.out, &self.file, &group).as_str().as_bytes())?;
        }
        Ok(())
    }

    /// What follows is about this file.
    pub fn of(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Shows what there is so far, and no progress until more has been validated.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.progress.hide();
        self.write_groups()?;
        self.text.flush()?;
        self.rows.as_mut().map_or(Ok(()), Rows::flush)
    }

    /// Ends the answer.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn end(mut self) -> io::Result<()> {
        self.progress.hide();
        self.write_groups()?;
        self.text.flush()?;
        if self.more > 0 {
            let more = counted(self.more, "more finding");
            self.out.note(&format!("… and {more}; to list all: ad-cli validate {} --output csv", self.file));
        } else if self.is_grouped && self.out.surface() == Surface::CommandLine {
            let file = &self.file;
            self.out
                .note(&format!("each cause is shown once; to list every line: ad-cli validate {file} --output csv"));
        }
        self.rows.map_or(Ok(()), Rows::end)
    }
}

/// Where, what, why, and what to do:
///
/// ```text
/// cars.ndjson:3:118: error: category_fields.brand is "wolvo" (car-3)
///   "wolvo" is not a valid choice. Did you mean "volvo"?
///   see: ad-cli values car brand
/// ```
fn for_people(out: Output, file: &str, group: &Group) -> Styled {
    let finding = &group.first;
    let (tone, severity) = match finding.severity {
        Severity::Error => (Tone::Bad, "error:"),
        Severity::Warning => (Tone::Warning, "warning:"),
    };
    let mut text = out.styled();
    let place = match finding.place {
        Place { line, column: 0 } => format!("{file}:{line}:"),
        Place { line, column } => format!("{file}:{line}:{column}:"),
    };
    let value = finding.value.as_ref().filter(|_| group.is_same_value);
    let value = value.map(|value| format!("is {}", shortened(&value.to_string(), LONGEST_SHOWN))).unwrap_or_default();
    let whose = group.whose().map(|whose| format!("({whose})")).unwrap_or_default();
    let why = finding.messages.join(" ");
    let field = finding.field.as_deref();
    text.flow(
        HANGING,
        &[
            (Some(Tone::Strong), &place),
            (Some(tone), severity),
            (Some(Tone::Strong), field.unwrap_or_default()),
            (None, &value),
            (Some(Tone::Faint), &whose),
            // Without a field, the line has no other text.
            (None, if field.is_none() { &why } else { "" }),
        ],
    );
    text.end_line();
    if field.is_none() {
        return text;
    }
    let is_new = |suggestion: &&String| !finding.messages.iter().any(|it| it.contains(&format!("\"{suggestion}\"")));
    let more: Vec<_> = finding.suggestions.iter().filter(is_new).map(|it| format!("\"{it}\"")).collect();
    let meant = if more.is_empty() { String::new() } else { format!(" Did you mean {}?", more.join(" or ")) };
    text.block(2, &printable::line(&format!("{why}{meant}")));
    if let Some(command) = &finding.command {
        text.push("  ").flow(HANGING, &[(Some(Tone::Faint), "see:"), (None, command)]).end_line();
    }
    text
}
