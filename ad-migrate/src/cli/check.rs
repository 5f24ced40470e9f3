//! `ad-migrate check`: what would be submitted and what cannot be, without sending anything.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ad_cli::cli::{Context, Exit, Failure, output::Output};
use ad_core::{catalogue::Catalogue, nearest, rulebook::Rulebook};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    mapping::Mapping,
    plan::{self, CheckError, Options, Payloads, Sink, Totals, Unread, Verdict},
    readers::{ReadError, Reader, Settings},
    report::{About, Json, Page, Terminal},
};

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is sent anywhere: rows are mapped, and checked by the rules and allowed values that come with this program.

Exit codes:
  0  all rows can go
  1  the file cannot be read to its end
  2  the command line, the mapping or the file named on it is wrong
  3  some rows cannot go

Examples:
  ad-migrate check stock.csv --mapping stock.toml --report report.html
  ad-migrate check stock.zip --mapping stock.toml --member lager.xml
  ad-migrate check stock.csv --mapping stock.toml --output csv > mistakes.csv")]
pub(crate) struct Args {
    /// The legacy file
    file: PathBuf,
    /// The mapping: a TOML file, or the name of one that comes with this program
    #[arg(short, long, value_name = "FILE|NAME")]
    mapping: String,
    #[command(flatten)]
    reading: Reading,
    /// Write a page to forward: one HTML file
    #[arg(long, value_name = "FILE.html", help_heading = "Reports")]
    report: Option<PathBuf>,
    /// Write everything that was found as JSON
    #[arg(long, value_name = "FILE.json", help_heading = "Reports")]
    json: Option<PathBuf>,
    /// Rows that cannot go that are shown on the terminal
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=10_000), help_heading = "Reports")]
    limit_shown: u64,
}

/// How the file is to be read, where neither what is detected nor what the mapping says will do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading the file")]
pub(crate) struct Reading {
    /// Its encoding: utf-8, utf-16, windows-1252, iso-8859-1
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// What separates the columns of CSV; `tab` is one
    #[arg(long, value_name = "MARK", value_parser = separator)]
    separator: Option<char>,
    /// The first row of CSV is a vehicle already
    #[arg(long)]
    no_header: bool,
    /// Where the records are: lager/fordon in XML, vehicles in JSON
    #[arg(long, value_name = "PATH")]
    rows: Option<String>,
    /// Which file of an archive
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
}

impl Reading {
    /// What the mapping says, and what the command line says otherwise.
    pub(crate) fn over(&self, settings: &Settings) -> Settings {
        let over = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        Settings {
            form: settings.form,
            encoding: over(&self.encoding, &settings.encoding),
            separator: self.separator.or(settings.separator),
            quote: settings.quote,
            header: if self.no_header { Some(false) } else { settings.header },
            rows: over(&self.rows, &settings.rows),
            member: over(&self.member, &settings.member),
        }
    }
}

fn separator(text: &str) -> Result<char, &'static str> {
    let mut marks = text.chars();
    match (text, marks.next(), marks.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(mark), None) => Ok(mark),
        _ => Err("give one character, or tab"),
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let rulebook = Rulebook::default();
    let mapping = mapping(&args.mapping, &rulebook.catalogue)?;
    let reader = Reader::open(&args.file, &args.reading.over(mapping.reading())).map_err(not_read)?;
    let about = About { file: args.file.display().to_string(), mapping: args.mapping.clone(), checked: context.now() };
    let mut reports = Reports::begin(context.out, args, &about)?;
    let payloads = if args.report.is_some() { Payloads::First(Page::PAYLOADS) } else { Payloads::None };
    let totals = plan::check(reader, &mapping, &rulebook, Options { payloads }, &mut reports).map_err(not_checked)?;
    reports.end(&totals)?;
    ended(&about.file, &totals)
}

/// The mapping of a file, or one that comes with the program.
pub(crate) fn mapping(name: &str, catalogue: &Catalogue) -> Result<Mapping, Failure> {
    let text = match (fs::read_to_string(name), Mapping::builtin(name)) {
        (Ok(text), _) => text,
        (Err(_), Some(text)) => text.to_owned(),
        (Err(error), None) => {
            let failure = Failure::usage(match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("there is no mapping {name}: no such file, and no such built-in one")
                }
                io::ErrorKind::InvalidData => format!("cannot read the mapping {name}: it is not UTF-8"),
                _ => format!("cannot read the mapping {name}: {error}"),
            });
            let failure = match nearest::did_you_mean(name, Mapping::builtin_names()) {
                Some(hint) => failure.hint(hint),
                None => failure,
            };
            let names = Mapping::builtin_names().collect::<Vec<_>>().join(", ");
            return Err(failure.hint(format!("these come with the program: {names}")));
        }
    };
    Mapping::parse(&text, catalogue).map_err(|error| {
        let failure = Failure::usage(format!("the mapping {name} is wrong:\n  {}", error.0.join("\n  ")));
        failure.hint("nothing has been read; mend the mapping first")
    })
}

/// That a file is not what it should be is found before any row is read.
pub(crate) fn not_read(error: ReadError) -> Failure {
    error.hints.into_iter().fold(Failure::usage(error.message), Failure::hint)
}

/// That a check could not be made.
pub(crate) fn not_checked(error: CheckError) -> Failure {
    match error {
        CheckError::Sink(error) if error.kind() == io::ErrorKind::BrokenPipe => Failure::Output(error),
        error @ CheckError::Sink(_) => Failure::failed(error.to_string()),
        error @ CheckError::Temporary(_) => {
            Failure::failed(error.to_string()).hint("set TMPDIR to a folder with some room")
        }
    }
}

fn ended(file: &str, totals: &Totals) -> Result<(), Failure> {
    match totals {
        Totals { unread: Some(Unread { message, hints }), .. } => {
            let failure = Failure::failed(format!("{message}; the rows before were checked"));
            Err(hints.iter().fold(failure, Failure::hint))
        }
        Totals { rows: 0, .. } => Err(Failure::usage(format!("{file} has no rows"))),
        Totals { refused: 0, .. } => Ok(()),
        _ => Err(Failure::Said(Exit::Refused)),
    }
}

/// The reports that were asked for.
struct Reports {
    terminal: Terminal,
    json: Option<(PathBuf, Json)>,
    page: Option<(PathBuf, Page)>,
    bar: Bar,
    out: Output,
}

impl Reports {
    fn begin(out: Output, args: &Args, about: &About) -> Result<Self, Failure> {
        // That a report cannot be written is told before the file is read.
        let unwritable = |path: &Path, error: &io::Error| {
            Failure::usage(format!("cannot write the report {}: {error}", path.display()))
        };
        let json = match &args.json {
            Some(path) => Some((path.clone(), Json::create(path, about).map_err(|error| unwritable(path, &error))?)),
            None => None,
        };
        let page = match &args.report {
            Some(path) => Some((path.clone(), Page::create(path, about).map_err(|error| unwritable(path, &error))?)),
            None => None,
        };
        Ok(Self { terminal: Terminal::new(out, about, args.limit_shown), json, page, bar: Bar::new(out), out })
    }

    fn end(self, totals: &Totals) -> Result<(), Failure> {
        let unwritable = |path: &Path, error: &io::Error| {
            Failure::failed(format!("cannot write the report {}: {error}", path.display()))
        };
        self.bar.end();
        self.terminal.end(totals)?;
        if let Some((path, json)) = self.json {
            json.end(totals).map_err(|error| unwritable(&path, &error))?;
            self.out.note(&format!("all findings: {}", path.display()));
        }
        if let Some((path, page)) = self.page {
            page.end(totals).map_err(|error| unwritable(&path, &error))?;
            self.out.note(&format!("the page to forward: {}", path.display()));
        }
        Ok(())
    }
}

impl Sink for Reports {
    fn progress(&mut self, read: u64, of: u64) {
        self.bar.show(read, of);
    }

    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        // What is printed and what moves would be in each other's way.
        self.bar.end();
        self.terminal.add(&verdict)?;
        if let Some((path, json)) = &mut self.json {
            let named = |error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
            json.add(&verdict).map_err(named)?;
        }
        if let Some((_, page)) = &mut self.page {
            page.add(verdict);
        }
        Ok(())
    }
}

/// How far the file has been read, on a terminal.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(out: Output) -> Self {
        // A template that cannot be read is a slip of the pen; the plain bar does then.
        let style = ProgressStyle::with_template("checking {bar:30.green} {bytes:>10} of {total_bytes} {eta:>5} left");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(out.moves().then(|| ProgressBar::new(0).with_style(style)))
    }

    fn show(&self, read: u64, of: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(of);
            bar.set_position(read);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.0.as_ref().filter(|bar| !bar.is_finished()) {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_counts_more_than_the_mapping() {
        let reading = Reading {
            encoding: Some("latin-1".to_owned()),
            separator: None,
            no_header: true,
            rows: None,
            member: Some("b.csv".to_owned()),
        };
        let settings = Settings {
            encoding: Some("utf-8".to_owned()),
            separator: Some('|'),
            header: Some(true),
            rows: Some("vehicles".to_owned()),
            ..Settings::default()
        };
        let expected = Settings {
            encoding: Some("latin-1".to_owned()),
            header: Some(false),
            member: Some("b.csv".to_owned()),
            ..settings.clone()
        };
        assert_eq!(reading.over(&settings), expected);
    }

    #[test]
    fn a_separator_is_one_character() {
        assert_eq!(separator("tab"), Ok('\t'));
        assert_eq!(separator("§"), Ok('§'));
        assert!(separator(";;").is_err() && separator("").is_err());
    }
}
