//! A document of text with sheets. It is kept in a temporary file, because it is read several times.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, Write},
};

use super::unreadable;
use crate::readers::{ReadError, feed::Feed};

pub(in crate::readers) struct Document {
    /// Name of the file in messages.
    name: String,
    file: File,
}

impl Document {
    /// Takes all of a file, which is UTF-8.
    pub(in crate::readers) fn of(name: String, mut feed: Feed) -> Result<Self, ReadError> {
        let failed = |error: io::Error| ReadError::io(&error, "Cannot write a temporary file");
        let mut file = tempfile::tempfile().map_err(failed)?;
        loop {
            file.write_all(feed.rest()).map_err(failed)?;
            feed.skip(feed.rest().len());
            if !feed.more() {
                break;
            }
        }
        feed.check()?;
        Ok(Self { name, file })
    }

    pub(super) fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// The document from its beginning.
    pub(super) fn bytes(&mut self) -> Result<impl Read + '_, ReadError> {
        self.file.rewind().map_err(|error| ReadError::io(&error, "Cannot read a temporary file"))?;
        Ok(&self.file)
    }

    pub(super) fn unreadable(&self, error: &dyn fmt::Display) -> ReadError {
        unreadable(&self.name, error)
    }
}
