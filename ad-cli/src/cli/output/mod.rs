//! What commands print: answers on stdout, in the form that was asked for, and talk on stderr.
//!
//! A command hands over values, with the columns that people want to see of them; it does not know the form. Errors of stdout are
//! returned (a broken pipe ends a command quietly, see [`Failure`](super::Failure)), those of stderr do not matter.

mod cells;
mod record;
mod rows;

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
};

use clap::{
    ValueEnum,
    builder::styling::{AnsiColor, Style},
};
use serde::Serialize;

pub use cells::{Cell, Column, no_formula, on_one_line, plain};
pub use rows::Rows;

/// The form of an answer: a table that fits the terminal, one JSON value (an array of rows), a row on each line, columns with a header.
#[expect(missing_docs, reason = "clap would show them beside each value, where the names say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Table,
    Json,
    Ndjson,
    Csv,
}

/// When there are colours.
#[expect(missing_docs, reason = "clap would show them beside each value, where the names say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    fn on(self, stream: &impl IsTerminal) -> bool {
        let unwanted = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => stream.is_terminal() && !unwanted("NO_COLOR") && !is_dumb,
        }
    }
}

/// What a text means, and so its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It went well.
    Good,
    /// It goes on, or should be looked at.
    Warning,
    /// It went wrong.
    Bad,
    /// It matters less.
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

    /// A text in its colour.
    fn paint(self, text: &str) -> String {
        let style = self.style();
        format!("{style}{text}{style:#}")
    }
}

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Nothing but errors.
    Quiet,
    /// What people want to know.
    Usual,
    /// All there is to say.
    Verbose,
}

/// Where a command answers and talks.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    format: Format,
    colors_out: bool,
    colors_err: bool,
    talk: Talk,
}

impl Output {
    /// For a terminal or for programs, as `color` and what the streams are say.
    pub fn new(format: Format, color: ColorWhen, talk: Talk) -> Self {
        Self { format, colors_out: color.on(&io::stdout()), colors_err: color.on(&io::stderr()), talk }
    }

    /// The form of the answer.
    pub fn format(self) -> Format {
        self.format
    }

    /// Whether the answer is for people, and not for programs.
    pub fn is_for_people(self) -> bool {
        self.format == Format::Table
    }

    /// Whether more is to be said than usual.
    pub fn is_verbose(self) -> bool {
        self.talk == Talk::Verbose
    }

    /// Whether something that moves may be shown on stderr, such as a progress bar.
    pub fn moves(self) -> bool {
        self.talk > Talk::Quiet && io::stderr().is_terminal()
    }

    /// Answers with a text as it is.
    pub fn text(self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Answers with bytes as they are.
    pub fn bytes(self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Answers with rows, one after the other; see [`Rows`].
    pub fn rows(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        Rows::new(self.format, self.shown(columns.into()), io::stdout().is_terminal(), self.colors_out)
    }

    /// Rows of which there may be any number, for keeping: one a line (NDJSON), where no other form for programs was asked for.
    pub fn rows_for_programs(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        let format = if self.is_for_people() { Format::Ndjson } else { self.format };
        Rows::new(format, columns.into(), false, false)
    }

    /// Rows that people see as they come, in columns as wide as their [width](Column::wide) says.
    pub fn live_rows(self, columns: impl Into<Cow<'static, [Column]>>) -> Rows {
        Rows::live(self.format, self.shown(columns.into()), self.colors_out)
    }

    fn shown(self, mut columns: Cow<'static, [Column]>) -> Cow<'static, [Column]> {
        if self.is_for_people() && !self.is_verbose() && columns.iter().any(|column| !column.in_tables) {
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
        let value = serde_json::to_value(value)?;
        self.text(&record::written(self.format, &value, first, self.colors_out)?)
    }

    /// A text in its colour, for stdout.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if self.colors_out { tone.paint(text) } else { text.to_owned() }
    }

    /// A text in its colour, for stderr.
    pub fn paint_err(self, tone: Tone, text: &str) -> String {
        if self.colors_err { tone.paint(text) } else { text.to_owned() }
    }

    /// Says something besides.
    pub fn note(self, text: &str) {
        if self.talk > Talk::Quiet {
            say(text);
        }
    }

    /// Says something that only some want to know (`--verbose`).
    pub fn detail(self, text: &str) {
        if self.is_verbose() {
            say(&self.paint_err(Tone::Faint, text));
        }
    }

    /// Says what should be looked at.
    pub fn warning(self, text: &str) {
        if self.talk > Talk::Quiet {
            say(&format!("{} {text}", self.paint_err(Tone::Warning, "warning:")));
        }
    }

    /// Says what went wrong, and what to do about it.
    pub fn error(self, text: &str, hints: &[String]) {
        say(&format!("{} {text}", self.paint_err(Tone::Bad, "error:")));
        for hint in hints {
            say(&format!("  {} {hint}", self.paint_err(Tone::Strong, "help:")));
        }
    }
}

/// A line on stderr. Where nobody listens, nothing is lost.
fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
