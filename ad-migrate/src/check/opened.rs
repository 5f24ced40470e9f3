//! A file and its mapping, by their names.

use std::{fs, io, path::Path};

use ad_core::{catalogue::Catalogue, categories::RuleSettings, rulebook::Rulebook, violation::nearest};

use crate::{
    mapping::Mapping,
    readers::{ReadError, Reader, Settings},
};

/// A legacy file that is open, with what its rows are mapped and checked by.
#[derive(Debug)]
pub struct OpenedFile {
    /// The rules about ads, with the catalogue of values.
    pub rulebook: Rulebook,
    /// The mapping, valid by the rules.
    pub mapping: Mapping,
    /// The file, of which no row is read yet.
    pub reader: Reader,
}

impl OpenedFile {
    /// Reads a mapping, which is a file or a built-in one and must be valid, and opens a file by its settings as `over` changes them; `-` is
    /// stdin. `http_images` accepts http addresses of images.
    ///
    /// # Errors
    /// When the mapping is unknown or invalid, or the file cannot be read.
    pub fn open(
        file: &Path,
        mapping: &str,
        http_images: bool,
        over: impl FnOnce(&Settings) -> Settings,
    ) -> Result<Self, ReadError> {
        let settings = RuleSettings { http_images, ..RuleSettings::default() };
        let rulebook = Rulebook { settings, ..Rulebook::default() };
        let mapping = named(mapping, &rulebook.catalogue)?;
        let mapping = if http_images { mapping.with_http_images() } else { mapping };
        let reader = Reader::open(file, &over(mapping.reading()))?;
        Ok(Self { rulebook, mapping, reader })
    }
}

/// The mapping of a file, or a built-in one.
fn named(name: &str, catalogue: &Catalogue) -> Result<Mapping, ReadError> {
    let text = match (fs::read_to_string(name), Mapping::builtin(name)) {
        (Ok(text), _) => text,
        (Err(_), Some(text)) => text.to_owned(),
        (Err(error), None) => {
            let failure = ReadError::new(match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("no mapping {name}: neither a file nor a built-in mapping")
                }
                io::ErrorKind::InvalidData => format!("cannot read the mapping {name}: it is not UTF-8"),
                _ => format!("cannot read the mapping {name}: {error}"),
            });
            let meant = nearest::did_you_mean(name, Mapping::builtin_names());
            let failure = meant.into_iter().fold(failure, ReadError::hint);
            let names = Mapping::builtin_names().collect::<Vec<_>>().join(", ");
            return Err(failure.hint(format!("built-in mappings: {names}")));
        }
    };
    Mapping::parse(&text, catalogue).map_err(|error| {
        let failure = ReadError::new(format!("invalid mapping {name}:\n  {}", error.0.join("\n  ")));
        failure.hint("no row was read; correct the mapping first")
    })
}
