//! Options of the commands that read a legacy file: the file, the mapping, and how to read it.

use std::{
    io,
    path::{Path, PathBuf},
};

use ad_terminal::Failure;

use crate::{
    check::{CheckError, OpenedFile},
    readers::{ReadError, Settings},
};

/// A legacy file and its mapping.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The legacy file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Mapping: a TOML file, or the name of a built-in mapping
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) mapping: String,
    #[command(flatten)]
    reading: Reading,
}

/// How to read the file, instead of detection and mapping.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading the file")]
pub(crate) struct Reading {
    /// Encoding: utf-8, utf-16, windows-1252, iso-8859-1, iso-8859-15, windows-1250, windows-1251, koi8-r, cp850, cp858, cp865, macintosh, mac-cyrillic, utf-8-twice
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Column separator of CSV, such as `;` or `tab`
    #[arg(long, value_name = "MARK", value_parser = separator)]
    separator: Option<char>,
    /// The CSV file has no header row
    #[arg(long)]
    no_header: bool,
    /// Path of the records, such as lager/fordon in XML, vehicles or dealers.*.vehicles in JSON
    #[arg(long, value_name = "PATH")]
    rows: Option<String>,
    /// File of an archive
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
    /// Sheet of a spreadsheet [default: the first visible one with a table]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Number of lines before the header
    #[arg(long, value_name = "N")]
    skip_first: Option<usize>,
}

impl FileArgs {
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Name of the file in messages; `stdin` for `-`.
    pub(crate) fn name(&self) -> String {
        if self.file.as_os_str() == "-" { "stdin".to_owned() } else { self.file.display().to_string() }
    }

    /// Reads the mapping, which must be valid, and opens the file. `http_images` accepts http addresses of images.
    pub(crate) fn open(&self, http_images: bool) -> Result<OpenedFile, Failure> {
        OpenedFile::open(&self.file, &self.mapping, http_images, |settings| self.reading.over(settings))
            .map_err(not_read)
    }
}

impl Reading {
    /// The settings of the mapping, overridden by the command line.
    pub(crate) fn over(&self, settings: &Settings) -> Settings {
        let over = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        Settings {
            encoding: over(&self.encoding, &settings.encoding),
            separator: self.separator.or(settings.separator),
            header: if self.no_header { Some(false) } else { settings.header },
            rows: over(&self.rows, &settings.rows),
            member: over(&self.member, &settings.member),
            sheet: over(&self.sheet, &settings.sheet),
            skip_first: self.skip_first.unwrap_or(settings.skip_first),
            ..settings.clone()
        }
    }
}

fn separator(text: &str) -> Result<char, &'static str> {
    let mut marks = text.chars();
    match (text, marks.next(), marks.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(mark), None) => Ok(mark),
        _ => Err("expected one character, or tab"),
    }
}

/// A file that cannot be read is a usage error.
pub(crate) fn not_read(error: ReadError) -> Failure {
    error.hints.into_iter().fold(Failure::usage(error.message), Failure::hint)
}

pub(crate) fn not_checked(error: CheckError) -> Failure {
    match error {
        CheckError::Sink(error) if error.kind() == io::ErrorKind::BrokenPipe => Failure::Output(error),
        error @ CheckError::Sink(_) => Failure::failed(error.to_string()),
        error @ CheckError::Temporary(_) => {
            Failure::failed(error.to_string()).hint("set TMPDIR to a folder with free space")
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
            sheet: None,
            skip_first: None,
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
