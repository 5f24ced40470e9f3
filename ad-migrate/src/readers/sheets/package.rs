//! The parts of a spreadsheet that is a zip archive.

use std::{
    fs::File,
    io::{BufReader, Read},
};

use rustc_hash::FxHashMap;
use zip::ZipArchive;

use super::{
    parser::{Malformed, Parser},
    unreadable,
};
use crate::readers::{
    ReadError,
    packing::{self, Allowance, CountedRead},
    source::Workbook,
};

pub(super) struct Package {
    /// Name of the file in messages.
    name: String,
    archive: ZipArchive<BufReader<CountedRead<File>>>,
    /// The index of each part, by its path in lower case and with slashes.
    parts: FxHashMap<String, usize>,
    allowance: Allowance,
}

impl Package {
    pub(super) fn open(workbook: Workbook) -> Result<Self, ReadError> {
        let Workbook { name, file, progress, .. } = workbook;
        let allowance = Allowance::of(file.metadata().map_or(0, |metadata| metadata.len()));
        let input = BufReader::new(CountedRead { inner: file, read: progress.read });
        let archive = ZipArchive::new(input).map_err(|error| unreadable(&name, &error))?;
        let paths = archive.file_names().map(|path| path.map(|path| packing::plain_path(&path)));
        let parts = (0..).zip(paths).filter_map(|(index, path)| Some((path.ok()?.to_lowercase(), index))).collect();
        Ok(Self { name, archive, parts, allowance })
    }

    /// A part, if the package has it.
    pub(super) fn part(&mut self, path: &str) -> Result<Option<impl Read + '_>, ReadError> {
        let Some(index) = self.parts.get(&path.to_lowercase()) else { return Ok(None) };
        let part = self.archive.by_index(*index).map_err(|error| unreadable(&self.name, &error))?;
        let packed = part.compressed_size();
        Ok(Some(packing::bounded(part, packed, &mut self.allowance)))
    }

    /// A part that every such file has.
    pub(super) fn needed(&mut self, path: &str) -> Result<impl Read + '_, ReadError> {
        let name = self.name.clone();
        self.part(path)?.ok_or_else(|| unreadable(&name, &format!("it has no part {path}")))
    }

    /// What is read from the XML of a part, if the package has it.
    pub(super) fn read<T>(
        &mut self,
        path: &str,
        read: impl FnOnce(Parser<'_>) -> Result<T, Malformed>,
    ) -> Result<Option<T>, ReadError> {
        let found = self.part(path)?.map(|part| read(Parser::new(part)));
        found.transpose().map_err(|error| self.unreadable(&error))
    }

    pub(super) fn unreadable(&self, error: &dyn std::fmt::Display) -> ReadError {
        unreadable(&self.name, error)
    }
}
