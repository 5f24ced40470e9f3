//! Output of commands: results on stdout in the requested format, messages on stderr.
//!
//! A command passes values with their columns for people, and does not depend on the format. Errors of stdout are returned (a broken pipe
//! ends a command quietly, see [`Failure`](super::Failure)), those of stderr are ignored.
//!
//! Texts may come from a service, a file or the command line. Whatever is printed for people passes
//! [`printable`] here, so that no such text controls the terminal.

mod cells;
mod record;
mod rows;
mod selection;
mod streams;
mod styled;
mod table;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    io::{self, BufRead, IsTerminal, Write},
    sync::Mutex,
};

use ad_bulk::{Invocation, Surface};
use ad_core::{lock::locked, printable};
pub use ad_files::{
    WholeFile,
    text::{counted, grouped, plain, readable, tally},
};
pub use cells::{Cell, Column};
use clap::{
    ValueEnum,
    builder::styling::{AnsiColor, Style},
};
pub use rows::Rows;
use rows::Screen;
use selection::Selection;
pub use selection::UnknownField;
use serde::Serialize;
pub use streams::{Capture, Stream, Streams};
pub use styled::Styled;
pub use table::{text_of_help, wrapped};

/// The form of an answer: a table that fits the terminal, a table of all columns, one JSON value (an array of rows), a row on each line,
/// columns with a header, whose texts are [guarded](ad_core::csv_guard) against spreadsheets.
#[expect(missing_docs, reason = "clap would show them beside each value, where the names say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Table,
    Wide,
    Json,
    Ndjson,
    Csv,
}

/// When texts have colours (`--color`).
#[expect(missing_docs, reason = "clap would show them beside each value, where the names say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    /// Whether the environment turns colours off.
    pub fn is_unwanted() -> bool {
        std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
    }

    fn on(self, stream: Stream) -> bool {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => stream.is_terminal() && !Self::is_unwanted() && !is_dumb,
        }
    }
}

/// The meaning of a text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Success: green.
    Good,
    /// In progress, or needs attention.
    Warning,
    /// Failure: red.
    Bad,
    /// A detail: dimmed.
    Faint,
    /// A heading, or what one looks for first.
    Strong,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
        }
    }
}

/// A text in the colour of its tone; one that came from outside has passed [`printable`].
fn painted(text: &str, tone: Option<Tone>, colors: bool) -> String {
    match tone.filter(|_| colors).map(Tone::style) {
        Some(style) => format!("{style}{text}{style:#}"),
        None => text.to_owned(),
    }
}

/// How much is written to stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only (`--quiet`).
    Quiet,
    /// What people want to know.
    Usual,
    /// All there is to say.
    Verbose,
}

/// The output streams of a command.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    format: Format,
    colors_out: bool,
    colors_err: bool,
    talk: Verbosity,
    /// Paths of the fields that are wanted; none for all.
    fields: &'static [String],
    streams: Streams,
}

impl Output {
    /// For a terminal or for programs, as `color` and what the streams are say.
    pub fn new(format: Format, color: ColorWhen, talk: Verbosity, streams: Streams) -> Self {
        let (colors_out, colors_err) = (color.on(streams.stdout()), color.on(streams.stderr()));
        Self { format, colors_out, colors_err, talk, fields: &[], streams }
    }

    /// With only these fields of rows and values. They are kept until the process ends, equal ones once.
    #[must_use]
    pub fn selecting(self, fields: Vec<String>) -> Self {
        static KEPT: Mutex<BTreeSet<&[String]>> = Mutex::new(BTreeSet::new());
        let mut kept = locked(&KEPT);
        let known = kept.get(fields.as_slice()).copied();
        let fields = known.unwrap_or_else(|| fields.leak());
        kept.insert(fields);
        Self { fields, ..self }
    }

    /// The reader of hints: an assistant if the output is captured, otherwise a person at a command line.
    pub fn surface(self) -> Surface {
        match self.streams {
            Streams::Process => Surface::CommandLine,
            Streams::Captured(_) => Surface::Tools,
        }
    }

    /// A command as a hint names it.
    pub fn command(self, command: &Invocation) -> String {
        command.on(self.surface())
    }

    /// An argument of a command as a hint names it.
    pub fn argument(self, name: &str) -> String {
        self.surface().argument(name)
    }

    /// The stream of answers and data; everything else goes to stderr.
    pub fn stdout(self) -> Stream {
        self.streams.stdout()
    }

    /// With all fields, for what is shown before the answer.
    #[must_use]
    pub fn with_all_fields(self) -> Self {
        Self { fields: &[], ..self }
    }

    /// The paths of the fields that are wanted; none for all.
    pub fn fields(self) -> &'static [String] {
        self.fields
    }

    /// Checks the selected fields before a command acts: rows have the fields of these columns and `further` ones, and no others.
    ///
    /// # Errors
    /// The first unknown field.
    pub fn check_fields(self, columns: &[Column], further: &[&str]) -> Result<(), UnknownField> {
        let of_columns = columns.iter().map(|column| column.path.split('.').next().unwrap_or_default());
        self.check_names(of_columns.chain(further.iter().copied()))
    }

    /// The same for rows with members of these names.
    ///
    /// # Errors
    /// The first unknown field.
    pub fn check_names<'a>(self, known: impl Iterator<Item = &'a str> + Clone) -> Result<(), UnknownField> {
        selection::check(self.fields, known)
    }

    /// The form of the answer.
    pub fn format(self) -> Format {
        self.format
    }

    /// Whether the result is for people, and not for programs. Selected fields are a table of their values.
    pub fn is_for_people(self) -> bool {
        self.is_table() && self.fields.is_empty()
    }

    /// Whether rows become a table, which is printed when it is complete.
    pub fn is_table(self) -> bool {
        matches!(self.format, Format::Table | Format::Wide)
    }

    /// Whether rows become lines of CSV.
    pub fn is_csv(self) -> bool {
        self.format == Format::Csv
    }

    /// Whether a person sees the answer at a terminal, and no file or program has it.
    pub fn is_at_terminal(self) -> bool {
        self.streams == Streams::Process && self.stdout().is_terminal()
    }

    /// Whether people want to see all columns.
    pub fn is_wide(self) -> bool {
        self.format == Format::Wide || (self.format == Format::Table && self.is_verbose())
    }

    /// Whether details are shown (`--verbose`).
    pub fn is_verbose(self) -> bool {
        self.talk == Verbosity::Verbose
    }

    /// Whether only errors are printed beside the answer.
    pub fn is_quiet(self) -> bool {
        self.talk == Verbosity::Quiet
    }

    /// Whether stderr can show progress bars.
    pub fn shows_progress(self) -> bool {
        self.talk > Verbosity::Quiet && self.streams.stderr().is_terminal()
    }

    /// Answers with a text for people.
    pub fn text(self, text: &str) -> io::Result<()> {
        self.bytes(printable::lines(text).as_bytes())
    }

    /// The width of lines for people: that of the terminal, within limits at which text can be read, or 80.
    pub fn width(self) -> usize {
        self.columns().unwrap_or(80).clamp(20, 120)
    }

    /// The width of the terminal, if there is one.
    fn columns(self) -> Option<usize> {
        columns_of_terminal().filter(|_| self.streams == Streams::Process)
    }

    fn screen(self) -> Screen {
        let terminal = self.stdout().is_terminal().then(|| self.columns().unwrap_or(80));
        Screen { terminal, colors: self.colors_out }
    }

    /// An empty text with colours, for [`show`](Self::show).
    pub fn styled(self) -> Styled {
        Styled::new(self.colors_out, self.screen().terminal.unwrap_or(usize::MAX))
    }

    /// Answers with a text that has colours.
    pub fn show(self, text: &Styled) -> io::Result<()> {
        self.bytes(text.as_str().as_bytes())
    }

    /// Answers with bytes as they are: nothing in them may come from outside.
    pub fn bytes(self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.stdout();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Answers with rows, one after the other; see [`Rows`].
    pub fn rows(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        self.rows_as(self.format, columns.into(), self.screen())
    }

    /// Rows of which there may be any number, for keeping: one a line (NDJSON), where no other form for programs was asked for.
    pub fn rows_for_programs(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        let format = if self.is_table() { Format::Ndjson } else { self.format };
        self.rows_as(format, columns.into(), Screen { colors: false, ..self.screen() })
    }

    /// Rows that people see as they come, in columns as wide as their [width](Column::wide) says.
    pub fn live_rows(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        self.rows(columns).live()
    }

    fn rows_as(self, format: Format, columns: Cow<'static, [Column]>, screen: Screen) -> Rows {
        let selection = Selection::new(self.fields, &columns);
        Rows::new(self.stdout(), format, self.shown(columns), screen, selection)
    }

    /// Answers with all of these rows.
    pub fn table<T: Serialize>(
        self,
        columns: impl Into<Cow<'static, [Column]>>,
        rows: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let mut table = self.rows(columns);
        rows.into_iter().try_for_each(|row| table.push(&row))?;
        table.end()
    }

    fn shown(self, mut columns: Cow<'static, [Column]>) -> Cow<'static, [Column]> {
        if !self.fields.is_empty() {
            return selection::columns(self.fields, &columns).into();
        }
        if self.is_for_people() && !self.is_wide() && columns.iter().any(|column| !column.in_tables) {
            columns.to_mut().retain(|column| column.in_tables);
        }
        columns
    }

    /// Answers with one value: for people, each of its fields on a line, those without a value left out.
    pub fn record(self, value: &impl Serialize) -> io::Result<()> {
        self.record_in(value, &[])
    }

    /// The same; people see the fields of these names first, in this order.
    pub fn record_in(self, value: &impl Serialize, first: &[&str]) -> io::Result<()> {
        let mut value = serde_json::to_value(value)?;
        if let Some(mut selection) = Selection::new(self.fields, &[]) {
            if self.format == Format::Csv {
                return self.table(&[], [value]);
            }
            value = selection.of(&value)?;
            let first: Vec<_> = self.fields.iter().map(String::as_str).collect();
            return self.bytes(record::written(self.format, &value, &first, self.screen())?.as_bytes());
        }
        self.bytes(record::written(self.format, &value, first, self.screen())?.as_bytes())
    }

    /// Answers with values behind their names; without what is empty.
    pub fn named(self, indent: usize, fields: &[(&str, Cell)]) -> io::Result<()> {
        let Screen { terminal, colors } = self.screen();
        self.bytes(table::named(fields, indent, terminal, colors).as_bytes())
    }

    /// Writes a note to stderr, unless `--quiet` is given.
    pub fn note(self, text: &str) {
        if self.talk > Verbosity::Quiet {
            self.say(&self.fitted(text, 0));
        }
    }

    /// The same with texts behind names, in lines that fit the terminal.
    pub fn note_named(self, fields: &[(String, Cell)]) {
        if self.talk > Verbosity::Quiet {
            let width = self.columns().filter(|_| self.streams.stderr().is_terminal());
            self.say(table::named(fields, 0, width, self.colors_err).trim_end());
        }
    }

    /// The same, under a heading.
    pub fn headed_note(self, heading: &str, text: &str) {
        if self.talk > Verbosity::Quiet {
            self.say_headed(Tone::Strong, heading, text);
        }
    }

    /// Writes a dimmed detail to stderr, with `--verbose` only.
    pub fn detail(self, text: &str) {
        if self.is_verbose() {
            self.say(&painted(&self.fitted(text, 0), Some(Tone::Faint), self.colors_err));
        }
    }

    /// Says what should be looked at.
    pub fn warning(self, text: &str) {
        if self.talk > Verbosity::Quiet {
            self.say_headed(Tone::Warning, "warning:", text);
        }
    }

    /// Prints an error with hints.
    pub fn error(self, text: &str, hints: &[super::Hint]) {
        self.say_headed(Tone::Bad, "error:", text);
        for hint in hints {
            self.say_headed(Tone::Strong, "  help:", &hint.on(self.surface()));
        }
    }

    fn say_headed(self, tone: Tone, heading: &str, text: &str) {
        let heading_text = painted(heading, Some(tone), self.colors_err);
        self.say(&format!("{heading_text} {}", self.fitted(text, heading.len() + 1)));
    }

    /// Writes a line to stderr, of a text that has passed [`printable`]; errors are ignored.
    fn say(self, text: &str) {
        // In one piece, so that lines of several threads do not mix.
        let _ = self.streams.stderr().write_all(format!("{text}\n").as_bytes());
    }

    /// A message as stderr shows it, behind so many characters: in lines that fit, where it is a terminal.
    fn fitted(self, text: &str, before: usize) -> String {
        let text = printable::lines(text);
        match self.columns().filter(|_| self.streams.stderr().is_terminal()) {
            Some(width) => table::message(&text, before, width),
            None => text.into_owned(),
        }
    }
}

/// The width of the terminal, if there is one.
pub fn columns_of_terminal() -> Option<usize> {
    terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width).max(1))
}

/// Asks a question on stderr, and reads the answer, a line of stdin; empty at its end. Blocks.
///
/// # Errors
/// When stdin cannot be read.
pub fn ask(question: &str) -> io::Result<String> {
    Ok(answered(question)?.unwrap_or_default())
}

/// The same; `None` at the end of stdin, for questions that are asked again.
///
/// # Errors
/// When stdin cannot be read.
pub fn answered(question: &str) -> io::Result<Option<String>> {
    // If stderr is closed, the question is asked nevertheless.
    let mut stderr = io::stderr().lock();
    let question = printable::line(question);
    let asked = match columns_of_terminal().filter(|_| stderr.is_terminal()) {
        // The space behind the question stays.
        Some(width) => format!("{} ", table::message(question.trim_end(), 0, width)),
        None => question.into_owned(),
    };
    let _ = write!(stderr, "{asked}").and_then(|()| stderr.flush());
    drop(stderr);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}
