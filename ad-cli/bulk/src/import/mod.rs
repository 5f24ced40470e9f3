//! Imports files of payloads: checks all payloads, creates the ads concurrently, and follows each until it is published or has failed. A
//! journal records every step, so that an interrupted import resumes and sends nothing twice.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Import`] | one import: opened, checked, run |
//! | `journal` | what became of each ad, in a file, and where in it the latest entry of each ad is |
//! | `input`, `feed` | from the file to jobs |
//! | `send` | from a job to an answer, also when the first answer is lost |
//! | `work` | sends all jobs, and follows accepted ads |
//! | `state` | the state that they share |
//! | [`Records`] | the outcome of each payload, in the order of the file |

mod feed;
mod input;
mod journal;
mod records;
mod send;
mod state;
mod work;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_client::Client;
use ad_core::{
    categories::Category,
    model::{ApiVersion, Timestamp},
    violation::Code,
};
use ad_files::Bits;
use feed::Feed;
pub use feed::Task;
use input::Input;
use journal::{Begun, Entry, Journal};
pub use journal::{JournalError, accepted, record_hidden};
pub use records::{Record, Records};
pub use state::Counts;
use state::State;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    BulkError, Identity, Surface,
    check::{Checker, Rating, Totals, Verdict, check_file, show_repetitions},
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

/// What an import does, and how.
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
    /// The reader of findings, which decides how they name commands and what stdin is called.
    pub surface: Surface,
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
    state: State,
    keys: Uuid,
    /// Whether there was an earlier run.
    is_resumed: bool,
    /// After the check: number of ads that the service has from earlier runs.
    accepted: u64,
    /// Counts of the check, and its findings about valid payloads.
    totals: Totals,
    findings: BTreeMap<Code, u64>,
    limit: u64,
    parallel: usize,
    within: Option<Duration>,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// What people call the file.
    pub name: String,
    /// Number of payloads in it, valid or not.
    pub payloads: u64,
    /// The outcome of each payload that the import reached, in the order of the file.
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
        let input = Input::of(options)?;
        let (name, source, sha256) = (&input.name, input.source()?, input.digest()?);
        let journal = match options.journal {
            Some(path) => path.to_owned(),
            // Each input has its own.
            None if options.file.as_os_str() == "-" => PathBuf::from(format!("stdin-{}.journal", &sha256[..12])),
            None => options.file.with_added_extension("journal"),
        };
        let (journal, before) = Journal::open(&journal)?;
        let mut notes = Vec::from_iter(source.is_utf_16.then_some(Note::Utf16));
        let file = options.file.display().to_string();
        let keys = before.as_ref().and_then(|begun| begun.keys).unwrap_or_else(random);
        let begun = Begun { file, sha256, url: client.url().to_owned(), at: now.to_string(), keys: Some(keys) };
        notes.extend(fits(journal.path(), before.as_ref(), &begun, name, options.resume)?);
        let start = journal.write(&Entry::Begun(begun))?;
        // The keys must be known to a later run before anything is sent.
        journal.sync()?;
        let checker =
            Checker::new(options.version, options.of_type).on(options.surface).with_http_images().measuring(now);
        let state = State {
            checker: if input.is_of_rows { checker.of_rows() } else { checker },
            input,
            journal,
            task: options.task,
            start,
            waits: options.within.is_some(),
            rejected: Bits::default(),
            repeated: Vec::new(),
            stop: CancellationToken::new(),
            all_sent: CancellationToken::new(),
            progress: Mutex::default(),
        };
        let import = Self {
            client,
            state,
            keys,
            is_resumed: before.is_some(),
            accepted: 0,
            totals: Totals::default(),
            findings: BTreeMap::new(),
            limit: options.limit.unwrap_or(u64::MAX),
            parallel: options.parallel,
            within: options.within,
        };
        Ok((import, notes))
    }

    /// What people call the file.
    pub fn name(&self) -> &str {
        &self.state.input.name
    }

    /// Path of the journal: [`Options::journal`], or its default.
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
        let State { input, checker, rejected, repeated, .. } = &mut self.state;
        let counts = &mut self.findings;
        let check = |verdict: &Verdict| {
            if verdict.is_valid() {
                for finding in verdict.rating.iter().filter_map(Rating::quality).flat_map(|it| &it.findings) {
                    *counts.entry(finding.code).or_default() += 1;
                }
                return Ok(());
            }
            rejected.add(verdict.index);
            show(verdict)
        };
        let (mut totals, identities) = check_file(input.source()?, checker, check, progress)?;
        show_repetitions(identities.repeated(), &mut totals, |verdict, first_line| {
            rejected.add(verdict.index);
            repeated.push((verdict.index, first_line));
            show(verdict)
        })?;
        self.accepted = self.state.journal.load()?;
        self.totals = totals;
        Ok(totals)
    }

    /// After the check: the number of ads that the service will have, and the number of them that earlier runs have sent.
    pub fn expected(&self) -> (u64, u64) {
        let valid = self.totals.payloads.saturating_sub(self.totals.rejected);
        // The file may have changed since.
        let before = self.accepted.min(valid);
        (valid.min(before.saturating_add(self.limit)), before)
    }

    /// Sends the ads and follows them, and reports progress to the caller. After `stop` nothing more is sent; answers that are pending are
    /// still awaited.
    pub async fn run(self, stop: &CancellationToken, mut progress: impl FnMut(Counts)) -> Imported {
        let Self { client, state, keys, is_resumed, totals, findings, limit, parallel, within, .. } = self;
        let state = Arc::new(state);
        let feed = Feed { keys, run: random(), is_resumed, limit };
        let mut work = pin!(work::work(&client, &state, feed, parallel, within));
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                () = &mut work => break,
                _ = tick.tick() => progress(state.counts()),
                () = stop.cancelled(), if !state.stop.is_cancelled() => state.stop.cancel(),
            }
        }
        if let Err(error) = state.journal.sync() {
            state.fail(error);
        }
        let interrupted = stop.is_cancelled().then_some(BulkError::Interrupted);
        Imported {
            name: state.input.name.clone(),
            payloads: totals.payloads,
            failure: state.failure().or(interrupted),
            records: Records(Arc::clone(&state)),
            findings,
        }
    }
}

fn random() -> Uuid {
    Uuid::from_u128(fastrand::u128(..))
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
