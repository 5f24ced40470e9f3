//! A document of text with sheets. It is kept in a temporary file, because it is read several times.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, Write},
    sync::atomic::Ordering,
};

use super::unreadable;
use crate::readers::{
    ReadError,
    feed::Feed,
    packing::{Allowance, Progress},
};

pub(in crate::readers) struct Document {
    /// Name of the file in messages.
    name: String,
    file: File,
    /// Bytes of the file on the disk, which may be packed.
    size: u64,
    allowance: Allowance,
}

impl Document {
    /// Takes all of a file, which is UTF-8.
    pub(in crate::readers) fn of(name: String, mut feed: Feed, progress: &Progress) -> Result<Self, ReadError> {
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
        let size = progress.read.load(Ordering::Relaxed);
        Ok(Self { name, file, size, allowance: Allowance::of(size) })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The document from its beginning.
    pub(super) fn bytes(&mut self) -> Result<impl Read + '_, ReadError> {
        self.file.rewind().map_err(|error| ReadError::io(&error, "Cannot read a temporary file"))?;
        Ok(self.allowance.read(&self.file))
    }

    pub(super) fn unreadable(&self, error: &dyn fmt::Display) -> ReadError {
        unreadable(&self.name, error)
    }
}
