//! The journal of an import: what is to be sent, before it goes out, and what came of it. It is all that a later run needs to go on
//! without sending anything twice.
//!
//! A file of JSON lines, only ever appended to. A thread writes it and has the disk confirm; lines that come while it waits for the disk go
//! out together. Who is about to send waits for that, who has an answer does not: an answer that was not written is one that is looked for.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Linked, Outcome, cli::Failure};

/// Messages to the writer that may wait.
const WAITING: usize = 1024;

/// Which ad, as its payload says it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The client's reference.
    pub(crate) source_id: String,
    /// The dealer, where the payload names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dealer_code: Option<String>,
}

/// What an import is about; the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The file of payloads.
    pub(crate) file: String,
    /// What it held.
    pub(crate) sha256: String,
    /// Where it is sent.
    pub(crate) url: String,
    /// When it began.
    pub(crate) at: String,
}

/// What became of an accepted ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// Name of the outcome, such as `published`.
    pub(crate) outcome: String,
    /// Why it failed, or what was not as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// Its id on the primary marketplace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) marketplace_ad_id: Option<String>,
    /// Its id on the secondary marketplace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) offer_id: Option<String>,
    /// The listings from before to which it was linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) linked: Vec<Linked>,
}

impl End {
    /// Whether it came to nothing.
    pub(crate) fn is_failure(&self) -> bool {
        self.outcome == "failed"
    }

    /// Whether it is stored and not shown.
    pub(crate) fn is_hidden(&self) -> bool {
        self.outcome == Outcome::Hidden.name()
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A run begins or goes on.
    Begun(Begun),
    /// It may go out from now on.
    Sending(Identity),
    /// It did not.
    NotSent(Identity),
    /// The service has it.
    Accepted {
        /// Which.
        #[serde(flatten)]
        ad: Identity,
        /// The request that its log calls it by, where the answer was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
    },
    /// The service does not want it.
    Refused {
        /// Which.
        #[serde(flatten)]
        ad: Identity,
        /// Why.
        message: String,
    },
    /// Its request has come to an end.
    Ended {
        /// Which.
        #[serde(flatten)]
        ad: Identity,
        /// What became of it.
        #[serde(flatten)]
        end: End,
    },
}

/// What the journal knows of an ad from earlier runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// It may have been sent; no answer was seen.
    Unclear,
    /// The service did not want it.
    Refused,
    /// The service has it.
    Accepted(Option<Uuid>),
    /// All is done.
    Ended(Option<Uuid>, End),
}

/// What earlier runs left.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// What they were about; `None` when there was none.
    pub(crate) begun: Option<Begun>,
    /// The ads that need not, or may not, be sent as if nothing had been.
    pub(crate) ads: HashMap<Identity, Known>,
}

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    to_writer: Option<SyncSender<Lines>>,
    writer: Option<JoinHandle<()>>,
    broken: Arc<OnceLock<String>>,
    path: PathBuf,
}

#[derive(Debug)]
struct Lines {
    text: Vec<u8>,
    confirm: Option<SyncSender<()>>,
}

impl Journal {
    /// Opens the journal of a path for this process alone, and reads what earlier runs left in it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Past), Failure> {
        let cannot = |what: &str, error: &io::Error| {
            Failure::usage(format!("cannot {what} the journal {}: {error}", path.display()))
                .hint("the journal must be a writable file on a file system with locks")
        };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).append(true).create(true).open(path).map_err(|error| cannot("open", &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!("another process is using the journal {}", path.display()))
                    .hint("wait until it has finished, or set another journal"));
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", &error)),
        }
        let past = read(&mut file, path)?;
        // That a new file is there has to be as durable as what is in it.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            folder.sync_all().map_err(|error| cannot("write", &error))?;
        }
        let broken = Arc::new(OnceLock::new());
        let (to_writer, lines) = sync_channel(WAITING);
        let its = Arc::clone(&broken);
        let writer = std::thread::spawn(move || write(file, &lines, &its));
        let journal = Self { to_writer: Some(to_writer), writer: Some(writer), broken, path: path.to_owned() };
        Ok((journal, past))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes entries, and returns when the disk has them. Not for tasks: it blocks.
    pub(crate) fn write_durably(&self, entries: &[Entry]) -> Result<(), Failure> {
        let (confirm, confirmed) = sync_channel(1);
        self.send(entries, Some(confirm));
        // Without a confirmation it is broken, and that is told below.
        let _ = confirmed.recv();
        self.check()
    }

    /// Writes an entry soon.
    pub(crate) fn write(&self, entry: Entry) {
        self.send(&[entry], None);
    }

    fn send(&self, entries: &[Entry], confirm: Option<SyncSender<()>>) {
        let mut text = Vec::new();
        for entry in entries {
            match serde_json::to_vec(entry) {
                Ok(line) => text.extend(line),
                Err(error) => {
                    // Names and texts always are JSON; were they not, nothing must be sent.
                    let _ = self.broken.set(error.to_string());
                    return;
                }
            }
            text.push(b'\n');
        }
        if let Some(writer) = &self.to_writer {
            // A writer that has ended has said why.
            let _ = writer.send(Lines { text, confirm });
        }
    }

    /// Whether it can be written: without that nothing may be sent.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.broken.get() {
            None => Ok(()),
            Some(reason) => Err(Failure::failed(format!("cannot write the journal {}: {reason}", self.path.display()))
                .hint("nothing is sent without a journal; free space, then resume")),
        }
    }
}

impl Drop for Journal {
    /// Waits until the disk has everything.
    fn drop(&mut self) {
        self.to_writer = None;
        if let Some(writer) = self.writer.take() {
            // One that has panicked has confirmed nothing, and so nothing was sent.
            let _ = writer.join();
        }
    }
}

/// Writes what comes until nobody can send any more.
fn write(mut file: File, lines: &Receiver<Lines>, broken: &OnceLock<String>) {
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
            // Who does not wait for it any more does not need it.
            let _ = confirm.send(());
        }
    }
}

/// Reads the entries. A last line without an end is one that a crash cut off: it is taken away.
fn read(file: &mut File, path: &Path) -> Result<Past, Failure> {
    let unreadable = |line: u64, why: &dyn std::fmt::Display| {
        Failure::usage(format!("{}, line {line}: {why}", path.display()))
            .hint("the file is not a journal or is damaged; set another journal")
    };
    let mut past = Past::default();
    let mut lines = BufReader::new(&mut *file);
    let (mut text, mut whole, mut number) = (Vec::new(), 0, 0);
    loop {
        text.clear();
        number += 1;
        let length = lines.read_until(b'\n', &mut text).map_err(|error| unreadable(number, &error))?;
        if text.last() != Some(&b'\n') {
            break;
        }
        let entry = serde_json::from_slice(&text).map_err(|error| unreadable(number, &error))?;
        past.add(entry);
        whole += length as u64;
    }
    if past.begun.is_none() && !text.is_empty() && !text.starts_with(b"{\"begun\":") {
        return Err(unreadable(number, &"not a journal entry"));
    }
    file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|error| unreadable(number, &error))?;
    Ok(past)
}

impl Past {
    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Begun(begun) => self.begun = Some(begun),
            Entry::Sending(ad) => {
                self.ads.insert(ad, Known::Unclear);
            }
            Entry::NotSent(ad) => {
                self.ads.remove(&ad);
            }
            Entry::Refused { ad, .. } => {
                self.ads.insert(ad, Known::Refused);
            }
            Entry::Accepted { ad, request_id } => {
                self.ads.insert(ad, Known::Accepted(request_id));
            }
            Entry::Ended { ad, end } => {
                let request_id = match self.ads.get(&ad) {
                    Some(Known::Accepted(request_id)) => *request_id,
                    _ => None,
                };
                self.ads.insert(ad, Known::Ended(request_id, end));
            }
        }
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
        Begun { file: text("a.json"), sha256: text("00"), url: text("http://a"), at: text("now") }
    }

    #[test]
    fn what_was_written_is_what_a_later_run_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, past) = Journal::open(&path).unwrap();
        assert!(past.begun.is_none() && past.ads.is_empty());
        let request_id = Some(Uuid::from_u128(7));
        let end = End {
            outcome: "published".to_owned(),
            message: None,
            marketplace_ad_id: Some("1".to_owned()),
            offer_id: None,
            linked: vec![Linked { marketplace: Market::Primary, listing: "1".to_owned() }],
        };
        let sending = ["a", "b", "c", "d", "e"].map(|id| Entry::Sending(ad(id)));
        journal.write_durably(&[&[Entry::Begun(begun())], &sending[..]].concat()).unwrap();
        journal.write(Entry::Accepted { ad: ad("a"), request_id });
        journal.write(Entry::Accepted { ad: ad("b"), request_id: None });
        journal.write(Entry::Refused { ad: ad("c"), message: "no".to_owned() });
        journal.write(Entry::NotSent(ad("d")));
        journal.write(Entry::Ended { ad: ad("a"), end: end.clone() });
        drop(journal);
        let (_, past) = Journal::open(&path).unwrap();
        assert_eq!(past.begun, Some(begun()));
        let known = [
            (ad("a"), Known::Ended(request_id, end)),
            (ad("b"), Known::Accepted(None)),
            (ad("c"), Known::Refused),
            (ad("e"), Known::Unclear),
        ];
        assert_eq!(past.ads, HashMap::from(known));
    }

    #[test]
    fn a_line_that_was_cut_off_is_taken_away_and_a_wrong_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let line = serde_json::to_string(&Entry::Begun(begun())).unwrap();
        std::fs::write(&path, format!("{line}\n{{\"sending\":{{\"sour")).unwrap();
        let (journal, past) = Journal::open(&path).unwrap();
        assert!(past.begun.is_some() && past.ads.is_empty());
        journal.write(Entry::Sending(ad("a")));
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().1.ads, HashMap::from([(ad("a"), Known::Unclear)]));
        std::fs::write(&path, "hello\nworld\n").unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("line 1"));
        std::fs::write(&path, "precious data").unwrap();
        assert!(Journal::open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious data");
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
