//! Imports files of payloads: checks all payloads, creates the ads concurrently, and follows each until it is published or has failed. A
//! journal records every step, so that an interrupted import resumes and sends nothing twice.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Import`] | one import: opened, checked, run |
//! | `journal` | the record of all runs on the disk, and what earlier runs did with each ad |
//! | `feed` | from the file to jobs |
//! | `send` | from a job to an answer, also when the first answer is lost |
//! | `state` | the state that they share |
//! | [`Records`] | the outcome of each payload, in the order of the file |

mod feed;
mod job;
mod journal;
mod records;
mod send;
mod state;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use ad_client::{Client, Outcome};
use ad_core::{
    categories::Category,
    model::{ApiVersion, Timestamp},
    ports::Checksum,
    violation::Code,
};
use ad_files::Bits;
use feed::Feed;
pub use feed::Task;
use job::Job;
use journal::{Begun, End, Entry, Journal, Past};
pub use journal::{JournalError, accepted};
pub use records::{Record, Records};
use send::Sent;
use sha2::{Digest, Sha256};
pub use state::Counts;
use state::{State, no_record};
use tempfile::NamedTempFile;
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    BulkError, Identity,
    check::{Checker, Rating, Totals, Verdict, check_file, tell_repetitions},
    follow::{FIRST_PAUSE_OF_MANY, Include, MOST_ADS, Pauses, Status, Statuses},
    payloads::{NotPayloads, Source},
};

/// Time between two calls for progress.
const TICK: Duration = Duration::from_millis(100);

/// Whether to resume an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// There must not have been one.
    No,
    /// There must be an earlier run of the same file.
    Same,
    /// There must be an earlier run; the file may have changed.
    Changed,
    /// If there is an earlier run; the file may have changed.
    IfBegun,
}

/// Options of an import.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The file; `-` is stdin.
    pub file: &'a Path,
    /// What stands for stdin, if `file` is that and the import runs within another program.
    pub stdin: Option<&'a Path>,
    /// If `file` is a table, the file of its payloads, each on the line of its row.
    pub rows: Option<&'a Path>,
    /// The journal; by default `FILE.journal`, or `stdin-DIGEST.journal` of what came from stdin.
    pub journal: Option<&'a Path>,
    /// What is done with its ads.
    pub task: Task,
    /// With how many of them at most.
    pub limit: Option<u64>,
    /// Whether to resume an earlier run.
    pub resume: Resume,
    /// Maximum number of concurrent requests.
    pub parallel: usize,
    /// How long to wait for outcomes without progress after all are sent; `None`: not at all.
    pub within: Option<Duration>,
    /// The version through which they are sent.
    pub version: ApiVersion,
    /// The category of all of them; otherwise each says its own.
    pub of_type: Option<&'static Category>,
}

/// A note for users before an import begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The file is UTF-16; the service gets UTF-8.
    Utf16,
    /// There is no earlier run: the journal is new.
    NewJournal,
    /// The file has changed since the last run; ads that were accepted are not sent again.
    Changed,
}

/// An import: [opened](Self::open), then [checked](Self::check), then [run](Self::run).
#[derive(Debug)]
pub struct Import {
    client: Client,
    name: String,
    path: PathBuf,
    is_of_rows: bool,
    /// The copy of stdin.
    _kept: Option<NamedTempFile>,
    state: Arc<State>,
    past: Past,
    /// After the check: which payloads it has rejected.
    rejected: Option<Bits>,
    keys: Uuid,
    totals: Totals,
    findings: BTreeMap<Code, u64>,
    task: Task,
    limit: u64,
    parallel: usize,
    within: Option<Duration>,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// What people call the file.
    pub name: String,
    /// Payloads in it.
    pub payloads: u64,
    /// What became of them.
    pub records: Records,
    /// Numbers of quality findings about valid payloads, by code. These payloads are sent.
    pub findings: BTreeMap<Code, u64>,
    /// Why the import ended early.
    pub failure: Option<BulkError>,
}

impl Import {
    /// Opens the file and its journal, which must belong to this file and this service. `now` is written to the journal.
    ///
    /// # Errors
    /// When the file cannot be read, or the journal is in use or of another import.
    pub fn open(client: Client, options: &Options<'_>, now: Timestamp) -> Result<(Self, Vec<Note>), BulkError> {
        let (kept, path, name) = match options.rows.or(options.stdin) {
            None => input(options.file)?,
            Some(path) => (None, path.to_owned(), name_of(options.file)),
        };
        let is_of_rows = options.rows.is_some();
        let source = open(&path, &name, is_of_rows)?;
        let unreadable = |error: io::Error| NotPayloads::Unreadable { name: name.clone(), reason: error.to_string() };
        let sha256 = digest(&path).map_err(unreadable)?;
        let journal = match options.journal {
            Some(path) => path.to_owned(),
            // Each input has its own.
            None if options.file.as_os_str() == "-" => PathBuf::from(format!("stdin-{}.journal", &sha256[..12])),
            None => options.file.with_added_extension("journal"),
        };
        let (journal, past) = Journal::open(&journal)?;
        let mut notes = Vec::from_iter(source.is_utf_16.then_some(Note::Utf16));
        let file = options.file.display().to_string();
        let keys = past.begun.as_ref().and_then(|begun| begun.keys).unwrap_or_else(random);
        let begun = Begun { file, sha256, url: client.url().to_owned(), at: now.to_string(), keys: Some(keys) };
        notes.extend(fits(journal.path(), past.begun.as_ref(), &begun, &name, options.resume)?);
        journal.write_durably(&[Entry::Begun(begun)])?;
        let checker = Checker::new(options.version, options.of_type).with_http_images().measuring(now);
        let checker = Arc::new(if is_of_rows { checker.of_rows() } else { checker });
        let import = Self {
            client,
            name,
            path,
            is_of_rows,
            _kept: kept,
            state: Arc::new(State::new(journal, checker, options.within.is_some())),
            past,
            rejected: None,
            keys,
            totals: Totals::default(),
            findings: BTreeMap::new(),
            task: options.task,
            limit: options.limit.unwrap_or(u64::MAX),
            parallel: options.parallel,
            within: options.within,
        };
        Ok((import, notes))
    }

    /// What people call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the journal is.
    pub fn journal(&self) -> &Path {
        self.state.journal.path()
    }

    /// Checks all payloads, shows those that cannot be sent and how many have been checked, and counts the findings about the others.
    ///
    /// # Errors
    /// When the file cannot be read, or it cannot be shown.
    pub fn check(
        &mut self,
        mut show: impl FnMut(&Verdict) -> io::Result<()>,
        progress: impl FnMut(u64) -> io::Result<()>,
    ) -> Result<Totals, BulkError> {
        let (state, source) = (Arc::clone(&self.state), self.source()?);
        let (counts, mut rejected) = (&mut self.findings, Bits::default());
        let mut show = |verdict: &Verdict| {
            if verdict.is_valid() {
                for finding in verdict.rating.iter().filter_map(Rating::quality).flat_map(|it| &it.findings) {
                    *counts.entry(finding.code).or_default() += 1;
                }
                return Ok(());
            }
            rejected.add(verdict.index);
            state.invalid(verdict);
            show(verdict)
        };
        let (mut totals, identities) = check_file(source, &self.state.checker, &mut show, progress)?;
        tell_repetitions(identities.repeated(), &mut totals, show)?;
        (self.rejected, self.totals) = (Some(rejected), totals);
        Ok(totals)
    }

    /// After the check: the number of ads that the service will have, and the number of them that earlier runs have sent.
    pub fn expected(&self) -> (u64, u64) {
        let valid = self.totals.payloads.saturating_sub(self.totals.rejected);
        // The file may have changed since.
        let before = self.past.accepted.min(valid);
        (valid.min(before.saturating_add(self.limit)), before)
    }

    /// Sends the ads and follows them, and reports progress to the caller. After `stop` nothing more is sent; answers that are pending are
    /// still awaited.
    pub async fn run(mut self, stop: &CancellationToken, mut progress: impl FnMut(Counts)) -> Imported {
        let (name, payloads, state) = (self.name.clone(), self.totals.payloads, Arc::clone(&self.state));
        let findings = std::mem::take(&mut self.findings);
        let mut work = tokio::spawn(self.work());
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                ended = &mut work => {
                    if let Err(error) = ended.map_err(BulkError::from).flatten() {
                        state.fail(error);
                    }
                    break;
                }
                _ = tick.tick() => progress(state.counts()),
                () = stop.cancelled(), if !state.stop.is_cancelled() => state.stop.cancel(),
            }
        }
        if let Err(error) = state.journal.write_durably(&[]) {
            state.fail(error);
        }
        let (failure, records) = state.end();
        let (records, unread) = match records {
            Ok(records) => (records, None),
            Err(error) => (Records::default(), Some(no_record()(error))),
        };
        let interrupted = stop.is_cancelled().then_some(BulkError::Interrupted);
        Imported { name, payloads, records, findings, failure: failure.or(unread).or(interrupted) }
    }

    /// The payloads, from the beginning.
    fn source(&self) -> Result<Source, BulkError> {
        open(&self.path, &self.name, self.is_of_rows)
    }

    /// Sends everything and follows it.
    async fn work(self) -> Result<(), BulkError> {
        let source = self.source()?;
        let Self { client, state, parallel, past, keys, task, limit, .. } = self;
        // Nothing is sent before the check.
        let Some(rejected) = self.rejected else { return Ok(()) };
        let checker = Arc::clone(&state.checker);
        let feed = Feed { checker, rejected, past, keys, run: random(), block: parallel, task, limit };
        let (jobs, todo) = mpsc::channel(parallel);
        let feeding = {
            let state = Arc::clone(&state);
            tokio::task::spawn_blocking(move || {
                if let Err(error) = feed.run(source, &jobs, &state) {
                    state.fail(error);
                }
            })
        };
        let following = self.within.map(|within| {
            let (client, state) = (client.clone(), Arc::clone(&state));
            tokio::spawn(async move {
                if let Err(error) = follow(&client, &state, within).await {
                    state.fail(error);
                }
            })
        });
        let todo = Arc::new(Mutex::new(todo));
        let mut senders = JoinSet::new();
        for _ in 0..parallel {
            senders.spawn(send_all(client.clone(), Arc::clone(&state), Arc::clone(&todo)));
        }
        while let Some(ended) = senders.join_next().await {
            ended.unwrap_or_else(|panicked| state.fail(panicked));
        }
        // Drains jobs that no sender took, so that the feed can end.
        {
            let mut todo = todo.lock().await;
            todo.close();
            while let Some(job) = todo.recv().await {
                state.not_sent(job);
            }
        }
        feeding.await.unwrap_or_else(|panicked| state.fail(panicked));
        state.all_sent.cancel();
        match following {
            Some(following) => Ok(following.await?),
            None => Ok(()),
        }
    }
}

/// A file that can be read several times, with its name for messages; stdin is copied to one.
fn input(file: &Path) -> Result<(Option<NamedTempFile>, PathBuf, String), BulkError> {
    if file.as_os_str() != "-" {
        return Ok((None, file.to_owned(), name_of(file)));
    }
    let keep = || {
        let mut kept = NamedTempFile::new()?;
        io::copy(&mut io::stdin(), &mut kept)?;
        kept.flush().map(|()| kept)
    };
    let kept = keep().map_err(BulkError::temporary("for stdin"))?;
    let path = kept.path().to_owned();
    Ok((Some(kept), path, name_of(file)))
}

/// The name of a file for messages.
fn name_of(file: &Path) -> String {
    if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() }
}

fn open(path: &Path, name: &str, is_of_rows: bool) -> Result<Source, BulkError> {
    Ok(if is_of_rows { Source::of_lines(name, path)? } else { Source::named(name, path)? })
}

fn random() -> Uuid {
    Uuid::from_u128(fastrand::u128(..))
}

fn digest(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut BufReader::with_capacity(256 * 1024, File::open(path)?), &mut digest)?;
    Ok(Checksum::from(<[u8; 32]>::from(digest.finalize())).to_string())
}

/// Whether a journal is of this file and this service.
fn fits(
    path: &Path,
    before: Option<&Begun>,
    now: &Begun,
    name: &str,
    resume: Resume,
) -> Result<Option<Note>, JournalError> {
    let path = || path.to_owned();
    let Some(before) = before else {
        return Ok(matches!(resume, Resume::Same | Resume::Changed).then_some(Note::NewJournal));
    };
    if resume == Resume::No {
        return Err(JournalError::Begun { path: path(), at: before.at.clone() });
    }
    if before.url != now.url {
        return Err(JournalError::OtherService { path: path(), begun: before.url.clone(), url: now.url.clone() });
    }
    match resume {
        Resume::Same if before.sha256 != now.sha256 => {
            Err(JournalError::Changed { path: path(), name: name.to_owned() })
        }
        Resume::IfBegun if before.sha256 != now.sha256 => Ok(Some(Note::Changed)),
        _ => Ok(None),
    }
}

/// Sends jobs until there are none left, or the import stops.
async fn send_all(client: Client, state: Arc<State>, todo: Arc<Mutex<mpsc::Receiver<Job>>>) {
    loop {
        let next = todo.lock().await.recv().await;
        let Some(job) = next else { return };
        if let Err(error) = state.journal.check() {
            state.fail(error);
        }
        if state.stop.is_cancelled() {
            state.not_sent(job);
            return;
        }
        match send::send(&client, &state, &job).await {
            Sent::Accepted(request_id) => state.sent(job, request_id),
            Sent::Rejected(message, fields) => state.rejected(job, message, fields),
            Sent::Stopped(error) => {
                state.not_sent(job);
                return state.fail(error);
            }
            Sent::Unclear(error) => {
                state.unclear(job);
                return state.fail(error);
            }
        }
    }
}

/// Follows accepted ads until all are finished, or nothing has happened for the time `within` after the last was sent. Only the ads of one
/// request are in memory.
async fn follow(client: &Client, state: &State, within: Duration) -> Result<(), BulkError> {
    let mut pauses = Pauses::from(FIRST_PAUSE_OF_MANY);
    let mut waiting_since = None;
    while !state.stop.is_cancelled() {
        let is_sending = !state.all_sent.is_cancelled();
        let batch = state.pending(MOST_ADS).map_err(no_record())?;
        if batch.is_empty() && !is_sending {
            return Ok(());
        }
        let is_over = !is_sending && waiting_since.get_or_insert_with(Instant::now).elapsed() > within;
        let statuses = if is_over {
            Ok(Statuses::default())
        } else {
            Statuses::of(client, batch.iter().map(|pending| &pending.ad), Include::Log).await
        };
        let found = statuses.as_ref().ok();
        let mut progressed = false;
        for pending in batch {
            let status = found.and_then(|statuses| statuses.get(&pending.ad));
            match status.and_then(|status| end(status, pending.request_id)) {
                Some(end) => {
                    progressed = true;
                    state.ended(pending, end);
                }
                None => state.put_back(&pending),
            }
        }
        statuses?;
        if is_over {
            return Ok(());
        }
        if progressed {
            pauses.reset();
            waiting_since = None;
        }
        if !progressed || is_sending {
            state.pause(pauses.next()).await;
        }
    }
    Ok(())
}

/// The outcome of a request; `None` while it is under way.
fn end(status: &Status, request_id: Option<Uuid>) -> Option<End> {
    let outcome = status.outcome(request_id.or_else(|| status.log.first().map(|entry| entry.request_id))?)?;
    Some(End {
        outcome: (&outcome).into(),
        message: outcome.message(),
        marketplace_ad_id: status.marketplace_ad_id.clone(),
        offer_id: status.offer_id.clone(),
        linked: match outcome {
            Outcome::Published { linked, .. } => linked,
            _ => Vec::new(),
        },
    })
}
