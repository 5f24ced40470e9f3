//! Reads TOML files; an error is one line with path, line and key.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

/// Why a file is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum TomlFileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    /// Its content is wrong; lines count from 1.
    #[error("{path}:{line}: {problem}")]
    Content { path: PathBuf, line: usize, problem: String },
}

/// The content of a file, and its text, for [`line_of`].
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<(T, String), TomlFileError> {
    let text = fs::read_to_string(path).map_err(|source| TomlFileError::Read { path: path.to_owned(), source })?;
    let content =
        parse(&text).map_err(|(line, problem)| TomlFileError::Content { path: path.to_owned(), line, problem })?;
    Ok((content, text))
}

/// The content of a text, or the line and what is wrong with it.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, (usize, String)> {
    let located = |key: Option<String>, error: &toml::de::Error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        let message = error.message().replace('\n', ", ");
        (line, key.map_or(message.clone(), |key| format!("{key}: {message}")))
    };
    let document = toml::Deserializer::parse(text).map_err(|error| located(None, &error))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let key = Some(error.path().to_string()).filter(|path| path != ".");
        located(key, error.inner())
    })
}

/// The line, from 1, of a place in a text.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(default)]
        _items: Vec<Item>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        #[serde(rename = "count")]
        _count: u8,
    }

    #[test]
    fn errors_name_line_and_key() {
        let table = [
            ("\n_items = 5", 2, "_items: invalid type"),
            ("[[_items]]\ncount = 1\n[[_items]]\n\ncount = \"2\"", 5, "_items[1].count: invalid type"),
            ("[[_items]]\ncount = 1\nconut = 1", 3, "unknown field `conut`"),
            ("\n[[_items]]\n", 2, "_items[0]: missing field `count`"),
            ("a = 1\na = 2", 2, "duplicate key"),
            ("\n\nhello", 3, "expected"),
        ];
        for (text, line, problem) in table {
            let (at, message) = parse::<Sample>(text).unwrap_err();
            assert!(message.contains(problem), "{text:?} gave {message:?}");
            assert_eq!(at, line, "{text:?} gave {message:?}");
        }
    }
}
