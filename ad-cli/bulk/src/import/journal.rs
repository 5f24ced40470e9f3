//! The journal of an import: a create is recorded before it is sent, and its result afterwards. A later run needs nothing else to resume
//! without sending an ad twice.
//!
//! The journal is an append-only file of JSON lines. One thread writes and syncs it; lines that arrive during a sync are written together
//! with the next one. A create waits until its line is durable, a result does not: when a result is missing, the next run looks the ad up.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use ad_client::Linked;
use ad_files::identities::hash;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{BulkError, Identity};
use crate::AdOutcome;

/// Capacity of the queue of the writer.
const WAITING: usize = 1024;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It cannot be opened, locked or created.
    #[error("cannot {doing} the journal {}: {source}", path.display())]
    Unusable {
        /// The journal.
        path: PathBuf,
        /// The failed operation, as a verb.
        doing: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// Another process uses it.
    #[error("another process is using the journal {}", .0.display())]
    InUse(PathBuf),
    /// It is something else.
    #[error("{}, line {line}: {reason}", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// The line that is no entry.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// There was an import already.
    #[error("according to {}, this file was imported before, at {at}", path.display())]
    Begun {
        /// The journal.
        path: PathBuf,
        /// When.
        at: String,
    },
    /// It belongs to an import to another service.
    #[error("{} belongs to an import to {begun}, not to {url}", path.display())]
    OtherService {
        /// The journal.
        path: PathBuf,
        /// Where that import went.
        begun: String,
        /// Where this one goes.
        url: String,
    },
    /// The payloads have changed since.
    #[error("{name} has changed since {} was created", path.display())]
    Changed {
        /// The journal.
        path: PathBuf,
        /// The file of payloads.
        name: String,
    },
    /// It cannot be written, and so nothing more is sent.
    #[error("cannot write the journal {}: {reason}", path.display())]
    Unwritable {
        /// The journal.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// The first line: what is imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The file of payloads.
    pub(super) file: String,
    /// What it held.
    pub(super) sha256: String,
    /// Where it is sent.
    pub(super) url: String,
    /// When it began.
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
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A run begins, or resumes an earlier one.
    Begun(Begun),
    /// The payload is about to be sent.
    Sending(Identity),
    /// The payload was not sent after all.
    NotSent(Identity),
    /// The service accepted the payload.
    Accepted {
        #[serde(flatten)]
        ad: Identity,
        /// The id of its request, if the answer arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
    },
    /// The service rejected the payload.
    Rejected {
        #[serde(flatten)]
        ad: Identity,
        message: String,
    },
    /// The request of the payload is finished.
    Ended {
        #[serde(flatten)]
        ad: Identity,
        /// The id of that request, where it is known; in journals of earlier versions, the entry before has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
        #[serde(flatten)]
        end: End,
    },
}

impl Entry {
    fn ad(&self) -> Option<&Identity> {
        match self {
            Self::Begun(_) => None,
            Self::Sending(ad)
            | Self::NotSent(ad)
            | Self::Accepted { ad, .. }
            | Self::Rejected { ad, .. }
            | Self::Ended { ad, .. } => Some(ad),
        }
    }
}

/// What earlier runs left. Memory holds the hash of each ad and where its latest entry begins, some 25 bytes; the rest is read when it is needed.
#[derive(Debug)]
pub(super) struct Past {
    /// What they were about; `None` when there was none.
    pub(super) begun: Option<Begun>,
    ads: BTreeMap<u64, u64>,
    /// The entries with the request ids of finished ads, of journals of earlier versions.
    requests: BTreeMap<u64, u64>,
    /// Number of ads that the service has.
    pub(super) accepted: u64,
    file: File,
}

/// A journal that is being written.
#[derive(Debug)]
pub(super) struct Journal {
    writer: Option<(SyncSender<PendingLines>, JoinHandle<()>)>,
    broken: Arc<OnceLock<String>>,
    path: PathBuf,
}

#[derive(Debug)]
struct PendingLines {
    text: Vec<u8>,
    confirm: Option<SyncSender<()>>,
}

impl Journal {
    /// Opens the journal of a path for this process alone, and reads what earlier runs left in it.
    pub(super) fn open(path: &Path) -> Result<(Self, Past), BulkError> {
        let cannot = |doing| move |source| JournalError::Unusable { path: path.to_owned(), doing, source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(cannot("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(path.to_owned()).into()),
            Err(TryLockError::Error(error)) => return Err(cannot("lock")(error).into()),
        }
        let past = read(file.try_clone().map_err(cannot("open"))?, path)?;
        // The name of a new file must be as durable as its content.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            folder.sync_all().map_err(cannot("write"))?;
        }
        let broken = Arc::new(OnceLock::new());
        let (to_writer, lines) = sync_channel(WAITING);
        let its = Arc::clone(&broken);
        let writer = std::thread::spawn(move || write(file, &lines, &its));
        let journal = Self { writer: Some((to_writer, writer)), broken, path: path.to_owned() };
        Ok((journal, past))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes entries, and returns when the disk has them. Not for tasks: it blocks.
    pub(super) fn write_durably(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let (confirm, confirmed) = sync_channel(1);
        self.send(entries, Some(confirm));
        // Without a confirmation the journal is broken, and the check reports that.
        let _ = confirmed.recv();
        self.check()
    }

    /// Writes an entry soon.
    pub(super) fn write(&self, entry: Entry) {
        self.send(&[entry], None);
    }

    fn send(&self, entries: &[Entry], confirm: Option<SyncSender<()>>) {
        let mut text = Vec::new();
        for entry in entries {
            if let Err(error) = serde_json::to_writer(&mut text, entry) {
                // Names and texts can always be serialised. If they could not, nothing must be sent.
                let _ = self.broken.set(error.to_string());
                return;
            }
            text.push(b'\n');
        }
        if let Some((to_writer, _)) = &self.writer {
            // The writer has reported its error.
            let _ = to_writer.send(PendingLines { text, confirm });
        }
    }

    /// Checks that it can be written. Otherwise nothing may be sent.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        match self.broken.get() {
            None => Ok(()),
            Some(reason) => Err(JournalError::Unwritable { path: self.path.clone(), reason: reason.clone() }),
        }
    }
}

impl Drop for Journal {
    /// Waits until the disk has everything.
    fn drop(&mut self) {
        if let Some((to_writer, writer)) = self.writer.take() {
            drop(to_writer);
            // A writer that panicked has confirmed nothing, and so nothing was sent.
            let _ = writer.join();
        }
    }
}

/// Writes lines until the last sender is dropped.
fn write(mut file: File, lines: &Receiver<PendingLines>, broken: &OnceLock<String>) {
    while let Ok(first) = lines.recv() {
        let (mut text, mut confirm) = (first.text, Vec::from_iter(first.confirm));
        while let Ok(next) = lines.try_recv() {
            text.extend(next.text);
            confirm.extend(next.confirm);
        }
        if let Err(error) = file.write_all(&text).and_then(|()| file.sync_data()) {
            let _ = broken.set(error.to_string());
            return;
        }
        for confirm in confirm {
            // A sender that no longer waits does not need the confirmation.
            let _ = confirm.send(());
        }
    }
}

/// The accepted ads of a finished journal, in the order of their answers.
///
/// # Errors
/// When it cannot be read, or is not a journal.
pub fn accepted(path: &Path) -> Result<Vec<Identity>, JournalError> {
    let unusable = |source| JournalError::Unusable { path: path.to_owned(), doing: "open", source };
    let (mut ads, mut seen) = (Vec::new(), HashSet::new());
    for (line, text) in (1..).zip(BufReader::new(File::open(path).map_err(unusable)?).split(b'\n')) {
        match serde_json::from_slice(&text.map_err(unusable)?) {
            // An ad whose answer was lost has only an outcome.
            Ok(Entry::Accepted { ad, .. } | Entry::Ended { ad, .. }) if seen.insert(ad.clone()) => ads.push(ad),
            Ok(_) => {}
            // A crash may have cut off the last line.
            Err(error) if error.is_eof() => {}
            Err(error) => {
                return Err(JournalError::NotAJournal { path: path.to_owned(), line, reason: error.to_string() });
            }
        }
    }
    Ok(ads)
}

/// Reads the entries. A crash may have cut off the last line, which is then removed.
fn read(file: File, path: &Path) -> Result<Past, BulkError> {
    let not_a_journal = |line: u64, reason: String| JournalError::NotAJournal { path: path.to_owned(), line, reason };
    let (mut begun, mut ads, mut requests, mut accepted) = (None, BTreeMap::new(), BTreeMap::new(), 0);
    let mut lines = BufReader::new(&file);
    let (mut text, mut at, mut number) = (Vec::new(), 0, 0);
    loop {
        text.clear();
        number += 1;
        let length = lines.read_until(b'\n', &mut text).map_err(|error| not_a_journal(number, error.to_string()))?;
        if text.last() != Some(&b'\n') {
            break;
        }
        let entry = serde_json::from_slice(&text).map_err(|error| not_a_journal(number, error.to_string()))?;
        match &entry {
            Entry::Begun(it) => begun = Some(it.clone()),
            Entry::Sending(ad) | Entry::NotSent(ad) | Entry::Rejected { ad, .. } => _ = ads.insert(key(ad), at),
            Entry::Accepted { ad, .. } | Entry::Ended { ad, .. } => {
                let before = ads.insert(key(ad), at | ACCEPTED);
                accepted += u64::from(before.is_none_or(|before| before & ACCEPTED == 0));
                if let (Entry::Ended { request_id: None, .. }, Some(before)) = (&entry, before) {
                    requests.insert(key(ad), before & !ACCEPTED);
                }
            }
        }
        at += length as u64;
    }
    if begun.is_none() && !text.is_empty() && !text.starts_with(b"{\"begun\":") {
        return Err(not_a_journal(number, "not a journal entry".to_owned()).into());
    }
    file.set_len(at).map_err(|error| not_a_journal(number, error.to_string()))?;
    Ok(Past { begun, ads, requests, accepted, file })
}

/// The bit of a position that says that the service has the ad.
const ACCEPTED: u64 = 1 << 63;

/// Half of the hash of an ad, which saves a third of the memory; [`Past::latest`] compares the ad itself.
fn key(ad: &Identity) -> u64 {
    hash(&ad.source_id, ad.dealer_code.as_deref())[..8].iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

impl Past {
    /// The latest entry of an ad.
    pub(super) fn latest(&self, ad: &Identity) -> io::Result<Option<Entry>> {
        let key = key(ad);
        let Some(at) = self.ads.get(&key) else { return Ok(None) };
        let mut latest = self.entry(at & !ACCEPTED)?;
        if latest.ad() != Some(ad) {
            return Ok(None);
        }
        if let (Entry::Ended { request_id: request_id @ None, .. }, Some(before)) =
            (&mut latest, self.requests.get(&key))
            && let Entry::Accepted { request_id: before, .. } | Entry::Ended { request_id: before, .. } =
                self.entry(*before)?
        {
            *request_id = before;
        }
        Ok(Some(latest))
    }

    fn entry(&self, at: u64) -> io::Result<Entry> {
        // Reading does not move the end, at which entries are appended.
        (&self.file).seek(SeekFrom::Start(at))?;
        let mut line = Vec::new();
        BufReader::with_capacity(512, &self.file).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

#[cfg(test)]
mod tests {
    use ad_core::model::Market;

    use super::*;

    fn ad(source_id: &str) -> Identity {
        Identity { source_id: source_id.to_owned(), dealer_code: None }
    }

    fn begun() -> Begun {
        let text = |text: &str| text.to_owned();
        Begun { file: text("a.json"), sha256: text("00"), url: text("http://a"), at: text("now"), keys: None }
    }

    /// The latest entries of the ads with these source ids.
    fn latest(past: &Past, ids: &[&str]) -> Vec<Option<Entry>> {
        ids.iter().map(|id| past.latest(&ad(id)).unwrap()).collect()
    }

    #[test]
    fn what_was_written_is_what_a_later_run_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, past) = Journal::open(&path).unwrap();
        assert!(past.begun.is_none() && latest(&past, &["a"]) == [None]);
        let request_id = Some(Uuid::from_u128(7));
        let end = End {
            outcome: AdOutcome::Published,
            message: None,
            marketplace_ad_id: Some("1".to_owned()),
            offer_id: None,
            linked: vec![Linked { marketplace: Market::Primary, listing: "1".to_owned() }],
        };
        let sending = ["a", "b", "c", "d", "e"].map(|id| Entry::Sending(ad(id)));
        journal.write_durably(&[&[Entry::Begun(begun())], &sending[..]].concat()).unwrap();
        journal.write(Entry::Accepted { ad: ad("a"), request_id });
        journal.write(Entry::Accepted { ad: ad("b"), request_id: None });
        journal.write(Entry::Rejected { ad: ad("c"), message: "no".to_owned() });
        journal.write(Entry::NotSent(ad("d")));
        journal.write(Entry::Ended { ad: ad("a"), request_id, end: end.clone() });
        drop((journal, past));
        let (_, past) = Journal::open(&path).unwrap();
        assert_eq!((&past.begun, past.accepted), (&Some(begun()), 2));
        let expected = [
            Some(Entry::Sending(ad("e"))),
            Some(Entry::NotSent(ad("d"))),
            Some(Entry::Rejected { ad: ad("c"), message: "no".to_owned() }),
            Some(Entry::Accepted { ad: ad("b"), request_id: None }),
            Some(Entry::Ended { ad: ad("a"), request_id, end }),
            None,
        ];
        assert_eq!(latest(&past, &["e", "d", "c", "b", "a", "f"]), expected);
    }

    #[test]
    fn a_line_that_was_cut_off_is_taken_away_and_a_wrong_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let line = serde_json::to_string(&Entry::Begun(begun())).unwrap();
        std::fs::write(&path, format!("{line}\n{{\"sending\":{{\"sour")).unwrap();
        let (journal, past) = Journal::open(&path).unwrap();
        assert!(past.begun.is_some() && latest(&past, &["a"]) == [None]);
        journal.write(Entry::Sending(ad("a")));
        drop((journal, past));
        assert_eq!(latest(&Journal::open(&path).unwrap().1, &["a"]), [Some(Entry::Sending(ad("a")))]);
        std::fs::write(&path, "hello\nworld\n").unwrap();
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
            r#"{"accepted":{"source_id":"a","request_id":"00000000-0000-0000-0000-000000000007"}}"#,
            r#"{"rejected":{"source_id":"b","message":"no"}}"#,
            r#"{"ended":{"source_id":"a","outcome":"failed","message":"publish: no"}}"#,
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let (_, past) = Journal::open(&path).unwrap();
        assert_eq!(past.begun, Some(begun()));
        let [Some(Entry::Ended { request_id, end, .. }), rejected, sending] = &latest(&past, &["a", "b", "c"])[..]
        else {
            panic!("{past:?}")
        };
        assert_eq!((*request_id, end.outcome), (Some(Uuid::from_u128(7)), AdOutcome::Failed));
        assert_eq!(end.message.as_deref(), Some("publish: no"));
        assert_eq!(rejected, &Some(Entry::Rejected { ad: ad("b"), message: "no".to_owned() }));
        assert_eq!(sending, &Some(Entry::Sending(ad("c"))));
    }

    #[test]
    fn nobody_else_uses_it_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, past) = Journal::open(&path).unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("another process"));
        drop((journal, past));
        assert!(Journal::open(&path).is_ok());
    }
}
