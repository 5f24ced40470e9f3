//! The file of an import: read several times, under one name in messages.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::PathBuf,
};

use ad_core::ports::Checksum;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::{BulkError, Options};
use crate::payloads::{Chunks, NotPayloads, Piece, Source};

/// The file of payloads, which can be read several times.
#[derive(Debug)]
pub(super) struct Input {
    /// Its name in messages: the path as it was given; for stdin, [`Surface::payloads`](crate::Surface::payloads).
    pub(super) name: String,
    path: PathBuf,
    pub(super) is_of_rows: bool,
    /// The copy of stdin, if that is the file.
    _kept: Option<NamedTempFile>,
}

impl Input {
    pub(super) fn of(options: &Options<'_>) -> Result<Self, BulkError> {
        let is_stdin = options.file.as_os_str() == "-";
        let name = if is_stdin { options.surface.payloads().to_owned() } else { options.file.display().to_string() };
        let kept = || {
            let mut kept = NamedTempFile::new()?;
            io::copy(&mut io::stdin(), &mut kept)?;
            kept.flush().map(|()| kept)
        };
        let (path, kept) = match options.rows.or(options.stdin) {
            Some(path) => (path.to_owned(), None),
            None if is_stdin => {
                let kept = kept().map_err(BulkError::temporary("for stdin"))?;
                (kept.path().to_owned(), Some(kept))
            }
            None => (options.file.to_owned(), None),
        };
        Ok(Self { name, path, is_of_rows: options.rows.is_some(), _kept: kept })
    }

    /// The payloads, from the beginning.
    pub(super) fn source(&self) -> Result<Source, NotPayloads> {
        let Self { name, path, .. } = self;
        if self.is_of_rows { Source::of_lines(name, path) } else { Source::named(name, path) }
    }

    /// Shows each payload, in order, until one fails.
    pub(super) fn each<E: From<NotPayloads>>(&self, show: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        Chunks::new(self.source()?).try_each(show)
    }

    /// SHA-256 of its bytes, in hexadecimal.
    pub(super) fn digest(&self) -> Result<String, NotPayloads> {
        let digest = || {
            let mut digest = Sha256::new();
            io::copy(&mut BufReader::with_capacity(256 * 1024, File::open(&self.path)?), &mut digest)?;
            Ok(Checksum::from(<[u8; 32]>::from(digest.finalize())).to_string())
        };
        digest()
            .map_err(|error: io::Error| NotPayloads::Unreadable { name: self.name.clone(), reason: error.to_string() })
    }
}
