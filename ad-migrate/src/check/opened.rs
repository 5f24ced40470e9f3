//! A file and its mapping, by their names.

use std::{fs, io, path::Path};

use ad_core::{catalogue::Catalogue, categories::RuleSettings, rulebook::Rulebook, violation::nearest};

use crate::{
    mapping::Mapping,
    readers::{Form, ReadError, Reader, Settings},
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
        let name = mapping;
        let mapping = named(name, &rulebook.catalogue)?;
        let mapping = if http_images { mapping.with_http_images() } else { mapping };
        check_form(file, name, &mapping)?;
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
        if !is_like_a_mapping(&text) {
            return ReadError::new(format!(
                "{name} is not a mapping, which is a TOML file; it looks like a stock file"
            ))
            .hint("to draft a mapping of a stock file: ad-migrate inspect FILE --out FILE.toml");
        }
        let (shown, more) = error.0.split_at(error.0.len().min(MOST_PROBLEMS));
        let more = if more.is_empty() { String::new() } else { format!("\n  … and {} more", more.len()) };
        let failure = ReadError::new(format!("invalid mapping {name}:\n  {}{more}", shown.join("\n  ")));
        failure.hint("no row was read; correct the mapping first")
    })
}

/// Problems of a mapping that are shown; the others are counted.
const MOST_PROBLEMS: usize = 20;

/// Whether a text has a line as a mapping has, and not those of CSV, XML or JSON: a table, or a key with a value.
fn is_like_a_mapping(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(20);
    lines.any(|line| {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || "_-.\"".contains(letter);
        let is_key = |key: &str| !key.is_empty() && key.chars().all(is_of_key);
        line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).or(key).is_some_and(is_key)
    })
}

/// Refuses a mapping for XML or JSON with a file that is something else, and the other way round: such a file would have no rows.
fn check_form(file: &Path, name: &str, mapping: &Mapping) -> Result<(), ReadError> {
    let Some(wanted) = mapping.reading().form.filter(|_| file.as_os_str() != "-") else { return Ok(()) };
    let Ok(detected) = Reader::open(file, &Settings::default()) else { return Ok(()) };
    let [wanted, is] = [wanted, detected.detected().form].map(|form| match form {
        Form::Xml => "XML",
        Form::Json | Form::Ndjson => "JSON",
        _ => "a table",
    });
    if wanted == is {
        return Ok(());
    }
    let file = file.display();
    Err(ReadError::new(format!("the mapping {name} is for {wanted}, and {file} is {is}"))
        .hint(format!("choose another mapping, or draft one: ad-migrate inspect {file} --out stock.toml")))
}
