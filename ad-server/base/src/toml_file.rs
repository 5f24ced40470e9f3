//! Reads TOML files; an error is one line with path, line and key.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

/// Why a file is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum TomlFileError {
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
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, (usize, String)> {
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

/// All mistakes of a file whose keys are read one by one: what is wrong with one hides nothing about the others.
pub fn mistakes<T: DeserializeOwned>(path: &Path) -> Vec<TomlFileError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(source) => return vec![TomlFileError::Read { path: path.to_owned(), source }],
    };
    let mistake = |(line, problem)| TomlFileError::Content { path: path.to_owned(), line, problem };
    let table = match toml::de::DeTable::parse(&text) {
        Ok(table) => table.into_inner(),
        Err(_) => return parse::<T>(&text).err().map(mistake).into_iter().collect(),
    };
    let mut keys: Vec<_> = table.keys().map(toml::Spanned::span).collect();
    keys.sort_by_key(|span| span.start);
    let ends = keys.iter().skip(1).map(|span| span.start).chain([text.len()]);
    let one = |(key, end): (&std::ops::Range<usize>, usize)| {
        // Blank lines stand for what is before it, so that lines are counted right.
        let before = "\n".repeat(line_of(&text, key.start) - 1);
        parse::<T>(&(before + &text[key.start..end])).err().map(mistake)
    };
    keys.iter().zip(ends).filter_map(one).collect()
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
    struct SampleFile {
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
            let (at, message) = parse::<SampleFile>(text).unwrap_err();
            assert!(message.contains(problem), "{text:?} gave {message:?}");
            assert_eq!(at, line, "{text:?} gave {message:?}");
        }
    }

    #[test]
    fn all_mistakes_are_found() {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[derive(Default)]
        struct Numbers {
            _one: u8,
            _two: u8,
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.toml");
        fs::write(&path, "# A comment\n_one = \"a\"\nthree = 3\n\n_two = [\n  1,\n]\n").unwrap();
        let mistakes: Vec<_> = mistakes::<Numbers>(&path).iter().map(ToString::to_string).collect();
        let [one, three, two] = mistakes.as_slice() else { panic!("{mistakes:?}") };
        assert!(one.contains("numbers.toml:2: _one: invalid type"), "{one}");
        assert!(three.contains("numbers.toml:3: three: unknown field"), "{three}");
        assert!(two.contains("numbers.toml:5: _two: invalid type"), "{two}");
    }
}
