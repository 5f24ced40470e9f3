//! Profiles: server URL and token, saved between commands.
//!
//! They stand in one file, `ad-cli/profiles.toml` in the platform's folder for configuration, which only its owner may read. It is
//! replaced whole: a crash leaves the old one or the new one.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use ad_bulk::Invocation;
use ad_core::violation::nearest;
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};

use super::Failure;

/// The profile that is used when none is named.
pub const DEFAULT: &str = "default";

const HEAD: &str = "# Written by `ad-cli login`. It contains tokens: keep it secret.\n\n";

/// A service, and the token for it.
#[derive(Clone, derive_more::Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Server URL, without a path.
    pub url: String,
    /// Access token that the service has issued.
    #[debug(skip)]
    pub token: String,
}

/// The profiles of the user.
#[derive(Debug)]
pub struct Profiles {
    path: PathBuf,
    file: File,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    profile: BTreeMap<String, Profile>,
}

impl Profiles {
    /// Those of the user who runs this.
    pub fn of_user() -> Result<Self, Failure> {
        let folder = etcetera::base_strategy::choose_native_strategy()
            .map_err(|_| Failure::usage("no home directory for profiles; set AD_URL and AD_TOKEN instead"))?;
        Self::at(folder.config_dir().join("ad-cli").join("profiles.toml"))
    }

    fn at(path: PathBuf) -> Result<Self, Failure> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
        };
        // The error of the library quotes the line, which may contain a token.
        let file = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            Failure::usage(format!("{}, line {line}: {}", path.display(), error.message()))
                .hint(("correct the file, or remove it and run", Invocation::of_user("login")))
        })?;
        Ok(Self { path, file })
    }

    /// The file in which they are saved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether others than its owner may read the file.
    #[cfg(unix)]
    pub fn is_open_to_others(&self) -> bool {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(&self.path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
    }

    /// Whether others than its owner may read the file; that is not known here.
    #[cfg(not(unix))]
    pub fn is_open_to_others(&self) -> bool {
        false
    }

    /// The profile of this name.
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.file.profile.get(name)
    }

    /// The failure when neither an address nor the profile of this name is there.
    pub fn no_address(&self, name: &str) -> Failure {
        let known: Vec<_> = self.all().map(|(name, _)| name).collect();
        let failure = Failure::usage("no server URL");
        if known.is_empty() {
            return failure.hint(("run", Invocation::of_user("login"))).hint("or set AD_URL");
        }
        let names = nearest::quoted(known.into_iter());
        failure.hint(format!("there is no profile {name:?}, but {names}: choose with --profile NAME or AD_PROFILE"))
    }

    /// The failure when there is no profile of a name.
    pub fn missing(&self, name: &str) -> Failure {
        let known = || self.file.profile.keys().map(String::as_str);
        let all = || known().next().map(|_| format!("existing profiles: {}", nearest::quoted(known())));
        let hint = nearest::did_you_mean(name, known()).or_else(all);
        let failure = Failure::usage(format!("no profile {name:?}"));
        hint.into_iter()
            .fold(failure, Failure::hint)
            .hint(("to create it", Invocation::of_user("login").option("profile", name).some_option("url", "URL")))
    }

    /// All profiles with their names.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Profile)> {
        self.file.profile.iter().map(|(name, profile)| (name.as_str(), profile))
    }

    /// Removes a profile; returns whether it existed.
    pub fn remove(&mut self, name: &str) -> Result<bool, Failure> {
        if self.file.profile.remove(name).is_none() {
            return Ok(false);
        }
        self.write().map_err(|error| Failure::usage(format!("cannot write {}: {error}", self.path.display())))?;
        Ok(true)
    }

    /// Saves a profile under a name.
    pub fn put(&mut self, name: &str, profile: Profile) -> Result<(), Failure> {
        self.file.profile.insert(name.to_owned(), profile);
        self.write().map_err(|error| Failure::usage(format!("cannot write {}: {error}", self.path.display())))
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let text = toml::to_string(&self.file).map_err(io::Error::other)?;
        // Made for its owner alone (0600).
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(HEAD.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(url: &str) -> Profile {
        Profile { url: url.to_owned(), token: "s3cret".to_owned() }
    }

    #[test]
    fn what_is_kept_is_there_again_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/ad-cli/profiles.toml");
        let mut profiles = Profiles::at(path.clone()).unwrap();
        profiles.put("b c", profile("https://b.example")).unwrap();
        profiles.put("default", profile("https://a.example")).unwrap();
        let again = Profiles::at(path.clone()).unwrap();
        assert_eq!(again.get("b c"), Some(&profile("https://b.example")));
        assert_eq!(again.get("default"), Some(&profile("https://a.example")));
        assert!(!again.is_open_to_others() && !format!("{again:?}").contains("s3cret"));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left there");
    }

    #[test]
    fn a_broken_file_is_told_by_its_line_and_without_its_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        fs::write(&path, "[profile.default]\nurl = \"https://a.example\"\ntoken = s3cret\n").unwrap();
        let told = Profiles::at(path).unwrap_err().to_string();
        assert!(told.contains("line 3") && !told.contains("s3cret"), "{told}");
    }
}
