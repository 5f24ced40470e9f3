//! Files that commands write: a report, a plan, payloads. Where a file stands already, it is replaced only if it is recognised as an earlier one of
//! the same kind, so that a nightly run replaces its report, and a wrong name costs no file of somebody else.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use ad_files::WholeFile;
use clap::Args;

use super::Failure;

/// Bytes from the beginning of a file by which it is recognised.
const HEAD: u64 = 16 * 1024;

/// Begins a file of payloads that a command writes. JSON permits white space there, and readers of payloads pass over it.
pub const PAYLOADS_MARK: &str = " \t \t";

/// The option that overwrites files of any kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Force {
    /// Overwrite files that this command has not written
    #[arg(long)]
    force: bool,
}

/// What a file has in it, by which an earlier one is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// The outcomes of an import, a migration, a sync or its removal.
    Outcomes,
    /// The findings of a check, as JSON.
    Findings,
    /// The page of a check.
    Page,
    /// Of each row, an object with its number, its line and its payload, one per line.
    RowsAndPayloads,
    /// Payloads, behind [`PAYLOADS_MARK`].
    Payloads,
    /// A plan of a sync.
    Plan,
    /// A page of the manual of `ad-cli`.
    ManualPage,
    /// What people edit, a mapping or a sheet, or keep, the record of an ad. It is never recognised, because it would be lost.
    Draft,
}

impl FileKind {
    /// What a file begins with, and what comes somewhere behind that.
    const fn signs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Outcomes => &[("{\n\"file\": ", "\"summary\": {"), ("{\n  \"rows\": [", "")],
            Self::Findings => &[("{\"file\":", ",\n\"rows\":[")],
            Self::Page => &[(
                "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src \
                 'none'; style-src 'unsafe-inline'; script-src 'sha256-",
                "",
            )],
            Self::RowsAndPayloads => &[("{\"row\":", ",\"line\":")],
            Self::Payloads => &[(PAYLOADS_MARK, "{")],
            Self::Plan => &[("{\"ad_cli_plan\":", "\"steps\":")],
            Self::ManualPage => &[(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH ad-cli", "")],
            Self::Draft => &[],
        }
    }

    fn is_begun_by(self, head: &[u8]) -> bool {
        let is_in = |text: &str, rest: &[u8]| {
            text.is_empty() || rest.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let mut signs = self.signs().iter();
        signs.any(|(first, then)| head.strip_prefix(first.as_bytes()).is_some_and(|rest| is_in(then, rest)))
    }
}

/// A place where a file may be written.
#[derive(Debug, Clone)]
pub struct OutFile {
    path: PathBuf,
}

impl OutFile {
    /// Checks that no file of another kind is at the path, or that it may be overwritten. Commands call it before they begin their work.
    ///
    /// # Errors
    /// When there is such a file, or what is there cannot be read.
    pub fn new(path: &Path, kind: FileKind, force: Force) -> Result<Self, Failure> {
        let place = Self { path: path.to_owned() };
        let head = match head(path) {
            Ok(None) => return Ok(place),
            Ok(Some(head)) => head,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(place),
            Err(error) => return Err(place.unwritable(&error)),
        };
        if force.force || (head.is_empty() && kind != FileKind::Draft) || kind.is_begun_by(&head) {
            return Ok(place);
        }
        let why = match kind {
            FileKind::Draft => "exists and is not overwritten",
            _ => "exists, and this command did not write it",
        };
        Err(Failure::usage(format!("{} {why}", path.display()))
            .hint("choose another name, or overwrite it with --force"))
    }

    /// The same for a file that may not be wanted.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn wanted(path: Option<&Path>, kind: FileKind, force: Force) -> Result<Option<Self>, Failure> {
        path.map(|path| Self::new(path, kind, force)).transpose()
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins the file, which appears when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(&self) -> Result<WholeFile, Failure> {
        WholeFile::create(&self.path).map_err(|error| self.unwritable(&error))
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut file = self.create()?;
        file.write_all(bytes).and_then(|()| file.end()).map_err(|error| self.unwritable(&error))
    }

    /// The error that it cannot be written.
    pub fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::usage(format!("cannot write {}: {error}", self.path.display()))
    }
}

/// The first bytes of a file; `None` of what keeps nothing, such as a terminal or a pipe.
fn head(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(Some(head))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KINDS: [(FileKind, &str); 8] = [
        (FileKind::Outcomes, "{\n\"file\": \"stock.csv\",\n\"summary\": {\"ads\": 1},\n\"ads\": ["),
        (FileKind::Outcomes, "{\n  \"rows\": [\n"),
        (FileKind::Findings, "{\"file\":\"stock.csv\",\"checked\":\"2026-01-01\",\n\"rows\":["),
        (FileKind::RowsAndPayloads, "{\"row\":1,\"line\":2,\"payload\":{}}\n"),
        (FileKind::Payloads, " \t \t{\"source_id\":\"1\"}\n"),
        (FileKind::Plan, "{\"ad_cli_plan\":1,\"url\":\"x\",\"steps\":1}\n"),
        (
            FileKind::ManualPage,
            ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH ad-cli-create 1  \"ad-cli-create 0.1.0\" \n",
        ),
        (FileKind::Draft, "[vehicle]\n"),
    ];

    #[test]
    fn only_an_earlier_file_of_the_kind_is_replaced_without_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let may = |kind, force| {
            OutFile::new(&path, kind, Force { force }).map(|place| place.path).map_err(|it| it.to_string())
        };
        for (kind, _) in KINDS {
            assert_eq!(may(kind, false), Ok(path.clone()), "there is none");
        }
        for (own, text) in KINDS {
            fs::write(&path, text).unwrap();
            for (kind, _) in KINDS {
                assert_eq!(may(kind, false).is_ok(), kind == own && kind != FileKind::Draft, "{kind:?} over {text}");
                assert_eq!(may(kind, true), Ok(path.clone()));
            }
        }
        for text in
            ["id;brand\n1;volvo\n", "{\"source_id\":\"1\"}\n", "{}", "<!DOCTYPE html><html lang=\"en\"><head>", "x"]
        {
            fs::write(&path, text).unwrap();
            for (kind, _) in KINDS {
                assert!(may(kind, false).unwrap_err().contains("exists"), "{kind:?} over {text}");
            }
        }
        // A run that was interrupted, or a shell, leaves an empty file.
        fs::write(&path, "").unwrap();
        assert_eq!(may(FileKind::Plan, false), Ok(path.clone()));
    }
}
