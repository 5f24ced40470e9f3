//! The journal of an import: what became of each ad. A later run resumes from it alone, and the report at the end is read from it.
//!
//! The journal is an append-only file of JSON lines. Its first line, with the idempotency keys of the import, is on the disk before anything is
//! sent. An answer is recorded when it has arrived: an ad whose line is missing is sent again with the same key, and created once.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use ad_client::{FailedImage, Linked};
use ad_core::{fields::FieldErrors, lock::locked};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use uuid::Uuid;

use super::Identity;
use crate::AdOutcome;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum JournalError {
    /// It cannot be opened, locked or created.
    #[error("cannot {doing} the journal {}: {source}", path.display())]
    Unusable { path: PathBuf, doing: &'static str, source: io::Error },
    /// Another process has locked it.
    #[error("another process is using the journal {}", .0.display())]
    InUse(PathBuf),
    /// A line of the file is no entry.
    #[error("{}, line {line}: {reason}", path.display())]
    NotAJournal { path: PathBuf, line: u64, reason: String },
    /// There was an import already.
    #[error("according to {}, this file was imported before, at {at}", path.display())]
    Begun { path: PathBuf, at: String },
    /// It belongs to an import to another service.
    #[error("{} belongs to an import to {begun}, not to {url}", path.display())]
    OtherService { path: PathBuf, begun: String, url: String },
    /// The payloads have changed since.
    #[error("{name} has changed since {} was created", path.display())]
    Changed { path: PathBuf, name: String },
    /// It cannot be written, and so nothing more is sent.
    #[error("cannot write the journal {}: {reason}", path.display())]
    Unwritable { path: PathBuf, reason: String },
}

/// The first line: what is imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The file of payloads, as it was named.
    pub(super) file: String,
    /// Digest of its bytes, in hexadecimal.
    pub(super) sha256: String,
    /// Server URL to which it is sent.
    pub(super) url: String,
    /// When the run began, as RFC 3339.
    pub(super) at: String,
    /// How the keys of its creates begin; journals of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keys: Option<Uuid>,
}

/// What became of an accepted ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) outcome: AdOutcome,
    /// Why it failed, or what was not as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// Its id on the primary marketplace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) marketplace_ad_id: Option<String>,
    /// Its id on the secondary marketplace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) offer_id: Option<String>,
    /// The listings from before to which it was linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) linked: Vec<Linked>,
    /// The images that could not be fetched. Journals of earlier versions have them in the message alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) failed_images: Vec<FailedImage>,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A run begins, or resumes an earlier one.
    Begun(Begun),
    /// Earlier versions recorded what was about to be sent.
    #[serde(alias = "not_sent", skip_serializing)]
    Sending(IgnoredAny),
    /// The service accepted the payload.
    Accepted {
        #[serde(flatten)]
        ad: Identity,
        /// The id of its request, if the answer arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
    },
    /// The service rejected the payload.
    Rejected(Rejection),
    /// The service rejected a later request, which leaves the ad as it was.
    Refused(Rejection),
    /// The request of the payload is finished.
    Ended {
        #[serde(flatten)]
        ad: Identity,
        /// The id of that request, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
        #[serde(flatten)]
        end: End,
    },
}

/// Why the service rejected a request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Rejection {
    #[serde(flatten)]
    pub(super) ad: Identity,
    pub(super) message: String,
    /// The same by field, if the payload was invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) errors: Option<FieldErrors>,
}

impl Entry {
    pub(super) fn ad(&self) -> Option<&Identity> {
        match self {
            Self::Begun(_) | Self::Sending(_) => None,
            Self::Accepted { ad, .. } | Self::Ended { ad, .. } => Some(ad),
            Self::Rejected(rejection) | Self::Refused(rejection) => Some(&rejection.ad),
        }
    }
}

/// A journal that this process alone uses.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    content: Mutex<Content>,
}

#[derive(Debug)]
struct Content {
    file: File,
    /// Bytes of all lines that are whole.
    end: u64,
    /// Where the latest entry of each ad begins, by a hash of the ad, some 25 bytes for each.
    latest: BTreeMap<u64, u64>,
    /// Whether a write has failed, so that the end may be half a line.
    is_broken: bool,
}

impl Journal {
    /// Opens the journal of a path, and finds the latest run in it, if there was one.
    pub(super) fn open(path: &Path) -> Result<(Self, Option<Begun>), JournalError> {
        let cannot = |doing| move |source| JournalError::Unusable { path: path.to_owned(), doing, source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(cannot("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(cannot("lock")(error)),
        }
        let mut begun = None;
        let mut entries = Entries::of(path, file.try_clone().map_err(cannot("open"))?);
        for next in &mut entries {
            if let (_, Entry::Begun(it)) = next? {
                begun = Some(it);
            }
        }
        let Entries { at: end, text: rest, line, .. } = entries;
        if begun.is_none() && !rest.is_empty() && !rest.starts_with(b"{\"begun\":") {
            let reason = "not a journal entry".to_owned();
            return Err(JournalError::NotAJournal { path: path.to_owned(), line, reason });
        }
        file.set_len(end).map_err(cannot("write"))?;
        // The name of a new file must be as durable as its content.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            folder.sync_all().map_err(cannot("write"))?;
        }
        let content = Mutex::new(Content { file, end, latest: BTreeMap::new(), is_broken: false });
        Ok((Self { path: path.to_owned(), content }, begun))
    }

    /// Finds the latest entry of each ad; returns how many ads the service has. Not before the file of payloads is checked, which takes
    /// memory, too.
    pub(super) fn load(&self) -> Result<u64, JournalError> {
        let content = &mut *locked(&self.content);
        let read = || {
            let mut file = content.file.try_clone()?;
            file.rewind().map(|()| file)
        };
        let (latest, mut rejected) = (&mut content.latest, BTreeSet::new());
        for next in Entries::of(&self.path, read().map_err(|error| self.unusable("read", error))?) {
            let (at, entry) = next?;
            let key = match &entry {
                Entry::Begun(_) | Entry::Sending(_) | Entry::Refused(_) => continue,
                Entry::Accepted { ad, .. } | Entry::Ended { ad, .. } | Entry::Rejected(Rejection { ad, .. }) => key(ad),
            };
            if let Entry::Rejected(_) = entry {
                rejected.insert(key)
            } else {
                rejected.remove(&key)
            };
            latest.insert(key, at);
        }
        Ok((latest.len() - rejected.len()) as u64)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an entry, and returns where it begins. After a failure nothing more is written.
    pub(super) fn write(&self, entry: &Entry) -> Result<u64, JournalError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.unwritable(&error.into()))?;
        line.push(b'\n');
        let content = &mut *locked(&self.content);
        let at = content.end;
        if std::mem::replace(&mut content.is_broken, true) {
            return Err(self.unwritable(&io::Error::other("an earlier write has failed")));
        }
        content.file.write_all(&line).map_err(|error| self.unwritable(&error))?;
        content.is_broken = false;
        content.end += line.len() as u64;
        content.latest.extend(entry.ad().map(|ad| (key(ad), at)));
        Ok(at)
    }

    /// Returns when the disk has everything.
    pub(super) fn sync(&self) -> Result<(), JournalError> {
        locked(&self.content).file.sync_data().map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> JournalError {
        JournalError::Unwritable { path: self.path.clone(), reason: error.to_string() }
    }

    fn unusable(&self, doing: &'static str, source: io::Error) -> JournalError {
        JournalError::Unusable { path: self.path.clone(), doing, source }
    }

    /// The latest entry of an ad, and where it begins.
    pub(super) fn latest(&self, ad: &Identity) -> Result<Option<(u64, Entry)>, JournalError> {
        let Some(at) = locked(&self.content).latest.get(&key(ad)).copied() else { return Ok(None) };
        let entry = self.entry(at)?;
        Ok((entry.ad() == Some(ad)).then_some((at, entry)))
    }

    /// The entry that begins there.
    pub(super) fn entry(&self, at: u64) -> Result<Entry, JournalError> {
        let read = || {
            let mut line = Vec::new();
            {
                // Reading does not move the end, at which entries are appended.
                let file = &mut locked(&self.content).file;
                file.seek(SeekFrom::Start(at))?;
                BufReader::with_capacity(512, file).read_until(b'\n', &mut line)?;
            }
            Ok(serde_json::from_slice(&line)?)
        };
        read().map_err(|error| self.unusable("read", error))
    }
}

/// Half of the hash of an ad, which saves a third of the memory; [`Journal::latest`] compares the ad itself.
fn key(ad: &Identity) -> u64 {
    ad.hash()[..8].iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// The entries of a journal, each with the number of bytes before it. A crash may have cut off the last line, which is no entry.
#[derive(Debug)]
struct Entries {
    path: PathBuf,
    file: BufReader<File>,
    /// The line that was read last, and its number.
    text: Vec<u8>,
    line: u64,
    /// Bytes of the lines so far.
    at: u64,
}

impl Entries {
    fn of(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file: BufReader::new(file), text: Vec::new(), line: 0, at: 0 }
    }
}

impl Iterator for Entries {
    type Item = Result<(u64, Entry), JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.text.clear();
        self.line += 1;
        let read = self.file.read_until(b'\n', &mut self.text);
        if read.is_ok() && self.text.last() != Some(&b'\n') {
            return None;
        }
        let at = self.at;
        self.at += self.text.len() as u64;
        let entry = read.and_then(|_| Ok(serde_json::from_slice(&self.text)?));
        Some(entry.map(|entry| (at, entry)).map_err(|error| JournalError::NotAJournal {
            path: self.path.clone(),
            line: self.line,
            reason: error.to_string(),
        }))
    }
}

/// The ads of a finished journal that the service has accepted, each once, in the order of their answers. Memory holds a hash of each.
///
/// # Errors
/// When it cannot be opened; and an ad, when it cannot be read or is not a journal.
pub fn accepted(path: &Path) -> Result<impl Iterator<Item = Result<Identity, JournalError>> + use<>, JournalError> {
    let unusable = |source| JournalError::Unusable { path: path.to_owned(), doing: "open", source };
    let mut seen = HashSet::new();
    Ok(Entries::of(path, File::open(path).map_err(unusable)?).filter_map(move |entry| match entry {
        // An ad of an earlier version whose answer was lost has only an outcome.
        Ok((_, Entry::Accepted { ad, .. } | Entry::Ended { ad, .. })) => seen.insert(key(&ad)).then_some(Ok(ad)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    }))
}

/// Records in the journal of a path that these ads are hidden now, so that [`Task::Show`](super::Task::Show) shows them again.
///
/// # Errors
/// When it is in use, is not a journal, or cannot be written.
pub fn record_hidden<'a>(path: &Path, ads: impl Iterator<Item = &'a Identity>) -> Result<(), JournalError> {
    let (journal, _) = Journal::open(path)?;
    let end = End {
        outcome: AdOutcome::Hidden,
        message: None,
        marketplace_ad_id: None,
        offer_id: None,
        linked: Vec::new(),
        failed_images: Vec::new(),
    };
    for ad in ads {
        journal.write(&Entry::Ended { ad: ad.clone(), request_id: None, end: end.clone() })?;
    }
    journal.sync()
}

#[cfg(test)]
mod tests {
    use ad_core::model::Market;
    use serde_json::json;

    use super::*;

    fn ad(source_id: &str) -> Identity {
        Identity { source_id: source_id.to_owned(), dealer_code: None }
    }

    fn begun() -> Begun {
        let text = |text: &str| text.to_owned();
        Begun { file: text("a.json"), sha256: text("00"), url: text("http://a"), at: text("now"), keys: None }
    }

    fn rejection(source_id: &str) -> Rejection {
        let errors = Some(serde_json::from_value(json!({"title": ["This field is required."]})).unwrap());
        Rejection { ad: ad(source_id), message: "no".to_owned(), errors }
    }

    /// The latest entries of the ads with these source ids, as JSON.
    fn latest(journal: &Journal, ids: &[&str]) -> Vec<serde_json::Value> {
        ids.iter().map(|id| json!(journal.latest(&ad(id)).unwrap().map(|(_, entry)| entry))).collect()
    }

    #[test]
    fn what_was_written_is_what_a_later_run_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, before) = Journal::open(&path).unwrap();
        assert!(before.is_none() && latest(&journal, &["a"]) == [json!(null)]);
        let request_id = Some(Uuid::from_u128(7));
        let end = End {
            outcome: AdOutcome::Published,
            message: None,
            marketplace_ad_id: Some("1".to_owned()),
            offer_id: None,
            linked: vec![Linked { marketplace: Market::Primary, listing: "1".to_owned() }],
            failed_images: vec![FailedImage { url: "https://a.example/1.jpg".to_owned(), error: "404".to_owned() }],
        };
        for entry in [
            Entry::Begun(begun()),
            Entry::Rejected(rejection("b")),
            Entry::Accepted { ad: ad("a"), request_id },
            Entry::Accepted { ad: ad("b"), request_id: None },
            Entry::Rejected(rejection("c")),
            Entry::Ended { ad: ad("a"), request_id, end: end.clone() },
            Entry::Refused(rejection("b")),
        ] {
            journal.write(&entry).unwrap();
        }
        let refused = json!({"refused": rejection("b")});
        assert_eq!(latest(&journal, &["b"]), [refused]);
        drop(journal);
        let (journal, before) = Journal::open(&path).unwrap();
        assert_eq!((before, journal.load().unwrap()), (Some(begun()), 2));
        let expected = [
            json!({"rejected": rejection("c")}),
            json!({"accepted": {"source_id": "b"}}),
            json!(Entry::Ended { ad: ad("a"), request_id, end }),
            json!(null),
        ];
        assert_eq!(latest(&journal, &["c", "b", "a", "f"]), expected);
        let accepted: Vec<_> = accepted(&path).unwrap().map(Result::unwrap).collect();
        assert_eq!(accepted, [ad("a"), ad("b")]);
        drop(journal);
        record_hidden(&path, [ad("a")].iter()).unwrap();
        let (journal, _) = Journal::open(&path).unwrap();
        assert_eq!(journal.load().unwrap(), 2);
        assert_eq!(latest(&journal, &["a"]), [json!({"ended": {"source_id": "a", "outcome": "hidden"}})]);
    }

    #[test]
    fn a_line_that_was_cut_off_is_taken_away_and_a_wrong_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let line = serde_json::to_string(&Entry::Begun(begun())).unwrap();
        std::fs::write(&path, format!("{line}\n{{\"accepted\":{{\"sour")).unwrap();
        let (journal, before) = Journal::open(&path).unwrap();
        assert_eq!((before, journal.load().unwrap()), (Some(begun()), 0));
        assert_eq!(latest(&journal, &["a"]), [json!(null)]);
        journal.write(&Entry::Rejected(rejection("a"))).unwrap();
        drop(journal);
        let (journal, _) = Journal::open(&path).unwrap();
        assert_eq!(journal.load().unwrap(), 0);
        assert_eq!(latest(&journal, &["a"]), [json!({"rejected": rejection("a")})]);
        std::fs::write(&path, "hello\nworld\n").unwrap();
        drop(journal);
        assert!(Journal::open(&path).unwrap_err().to_string().contains("line 1"));
        std::fs::write(&path, "precious data").unwrap();
        assert!(Journal::open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious data");
    }

    #[test]
    fn a_journal_of_the_first_version_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let lines = [
            r#"{"begun":{"file":"a.json","sha256":"00","url":"http://a","at":"now"}}"#,
            r#"{"sending":{"source_id":"a"}}"#,
            r#"{"sending":{"source_id":"b"}}"#,
            r#"{"sending":{"source_id":"c"}}"#,
            r#"{"not_sent":{"source_id":"c"}}"#,
            r#"{"accepted":{"source_id":"a","request_id":"00000000-0000-0000-0000-000000000007"}}"#,
            r#"{"rejected":{"source_id":"b","message":"no"}}"#,
            r#"{"ended":{"source_id":"a","outcome":"failed","message":"publish: no"}}"#,
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let (journal, before) = Journal::open(&path).unwrap();
        assert_eq!((before, journal.load().unwrap()), (Some(begun()), 1));
        let expected = [
            json!({"ended": {"source_id": "a", "outcome": "failed", "message": "publish: no"}}),
            json!({"rejected": {"source_id": "b", "message": "no"}}),
            json!(null),
        ];
        assert_eq!(latest(&journal, &["a", "b", "c"]), expected);
    }

    #[test]
    fn nobody_else_uses_it_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, _) = Journal::open(&path).unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("another process"));
        drop(journal);
        assert!(Journal::open(&path).is_ok());
    }
}
