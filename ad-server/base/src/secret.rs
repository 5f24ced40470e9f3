//! Credentials from environment, file or settings. Neither logs nor `Debug` output show them.

use std::{
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// A text that `Debug` and logs do not show.
#[derive(Clone, PartialEq, Eq, Deserialize, derive_more::From)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The value of an environment variable; an empty one counts as missing.
    pub fn from_environment(name: &str) -> Option<Self> {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(Self(value.to_string_lossy().into_owned()))
    }

    /// The text. It must not be printed.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// From the environment or the settings file.
    Text(Secret),
    /// From a file of its own, as container platforms hand out secrets.
    File(PathBuf),
}

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenSourceError {
    #[error("cannot read the token file {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the token {place} must be one line of printable ASCII characters without spaces")]
    Malformed { place: String },
}

impl TokenSource {
    /// The token, without the white space around it that files end with.
    pub fn load(&self) -> Result<Secret, TokenSourceError> {
        let (token, place) = match self {
            Self::Text(secret) => (secret.reveal().trim().to_owned(), "in the environment or settings".to_owned()),
            Self::File(path) => (read(path)?.trim().to_owned(), format!("in {}", path.display())),
        };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenSourceError::Malformed { place });
        }
        Ok(Secret(token))
    }
}

fn read(path: &Path) -> Result<String, TokenSourceError> {
    fs::read_to_string(path).map_err(|source| TokenSourceError::Read { path: path.to_owned(), source })
}

/// A file of keys cannot be used; `what` it holds, such as `token keys`.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("cannot read the {what} {}: {source}", .path.display())]
    Read { what: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot create the {what} {}: {source}", .path.display())]
    Create { what: &'static str, path: PathBuf, source: io::Error },
}

/// The text of a file of keys, and whether it is new: if there is none, one is created with what `make` returns. Processes that start at
/// once get the same text.
pub fn read_or_create(
    what: &'static str,
    path: &Path,
    make: impl FnOnce() -> io::Result<String>,
) -> Result<(String, bool), KeyFileError> {
    let unreadable = |source| KeyFileError::Read { what, path: path.to_owned(), source };
    let failed = |source| KeyFileError::Create { what, path: path.to_owned(), source };
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return Ok((read.map_err(unreadable)?, false)),
    }
    let text = make().map_err(failed)?;
    match write_new(path, &text) {
        Ok(()) => Ok((text, true)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok((fs::read_to_string(path).map_err(unreadable)?, false))
        }
        Err(source) => Err(failed(source)),
    }
}

/// Creates the file completely or not at all, and never replaces one: no process reads half a key, and after a power
/// cut it is the key that signed. (Temporary files are made with mode 0600, and keep it under their new name.)
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".key-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    if cfg!(unix) {
        // Makes the new name durable. Only Unix can open a folder.
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_printable_word_and_never_shown() {
        let token = |text: &str| TokenSource::Text(Secret::from(text.to_owned())).load();
        assert_eq!(token(" t0p-secret\n").unwrap().reveal(), "t0p-secret");
        for text in ["", " ", "two words", "line\nline", "å"] {
            let error = token(text).unwrap_err().to_string();
            assert!(error.contains("printable"), "{error}");
        }
        let shown = format!("{:?}", TokenSource::Text(Secret::from("t0p-secret".to_owned())));
        assert_eq!(shown, "Text(…)");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "t0p-secret\n").unwrap();
        assert_eq!(TokenSource::File(file.path().to_owned()).load().unwrap().reveal(), "t0p-secret");
        let missing = TokenSource::File("no/such".into()).load().unwrap_err().to_string();
        assert!(missing.contains("no/such"), "{missing}");
    }
}
