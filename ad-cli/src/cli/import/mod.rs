//! Many ads at once: checked first, sent side by side, followed until something has become of each, and told in a report. What is done
//! stands in a journal, so that an import that was interrupted goes on where it was and sends nothing twice.
//!
//! | Part | What it is for |
//! |---|---|
//! | `journal` | what is to be sent and what came of it, on the disk |
//! | `feed` | from the file to jobs |
//! | `send` | from a job to an answer, also when the first one got lost |
//! | `outcomes` | from an accepted ad to what became of it |
//! | `state` | what all of them share |
//! | `progress`, `report` | what people and programs see of it |

mod feed;
mod journal;
mod outcomes;
mod progress;
mod report;
mod send;
mod state;

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ad_core::{categories::Category, model::ApiVersion, ports::Checksum};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinSet,
};

use super::{
    Context, Failure,
    check::{Checker, Report, Totals, check_file},
    interrupt::interrupted,
    output::Format,
    payloads::Source,
};
use crate::Client;
pub use feed::Task;
use feed::{Feed, Job};
use journal::{Begun, Entry, Journal, Known, Past};
use progress::{Progress, TICK};
use send::Sent;
pub use state::Record;
use state::State;

/// Whether to go on where an earlier run was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// There must not have been one.
    No,
    /// There was one, and it was about the same file, unless that may have changed.
    Yes {
        /// Whether it may.
        accept_changes: bool,
    },
    /// If there was one, whatever has become of the file.
    IfBegun,
}

/// What is to be imported, and how.
#[derive(Debug)]
pub struct Import<'a> {
    /// The file; `-` is stdin.
    pub file: &'a Path,
    /// The journal; otherwise it stands beside the file.
    pub journal: Option<&'a Path>,
    /// What is done with its ads.
    pub task: Task,
    /// With how many of them at most.
    pub limit: Option<u64>,
    /// Whether to go on where an earlier run was.
    pub resume: Resume,
    /// The command that goes on where this one was interrupted.
    pub again: &'a str,
    /// Requests that are out at the same time.
    pub parallel: usize,
    /// How long to wait without anything happening once all are sent; `None`: not at all.
    pub within: Option<Duration>,
    /// The version through which they are sent.
    pub version: ApiVersion,
    /// The category of all of them; otherwise each says its own.
    pub of_type: Option<&'static Category>,
}

/// What came of it.
#[derive(Debug)]
pub struct Imported {
    /// What people call the file.
    pub name: String,
    /// Payloads in it.
    pub payloads: u64,
    /// What became of each, by its place in the file; those to which it did not come are missing.
    pub records: BTreeMap<u64, Record>,
    /// Why not everything was done that was to be done: the service could not be reached, or somebody interrupted it.
    pub failure: Option<Failure>,
}

/// A file that can be read twice.
struct Input {
    name: String,
    path: PathBuf,
    /// What came from stdin is kept here.
    _kept: Option<NamedTempFile>,
    sha256: String,
}

/// What is known before anything is sent.
struct Checked {
    totals: Totals,
    refused: HashSet<u64>,
}

/// Imports a file, and reports.
pub(crate) async fn run(context: &Context, import: Import<'_>, report: Option<&Path>) -> Result<(), Failure> {
    let done = carry_out(context, import).await?;
    let exit = report::show(context, &done, report)?;
    match (done.failure, exit) {
        (Some(failure), _) => Err(failure),
        (None, None) => Ok(()),
        (None, Some(exit)) => Err(Failure::Said(exit)),
    }
}

/// Imports a file.
///
/// # Errors
/// When it does not come to sending anything: the file cannot be read, the journal is of another import, nobody says where the service is.
pub async fn carry_out(context: &Context, import: Import<'_>) -> Result<Imported, Failure> {
    let connection = context.connection()?;
    let client = context.client_for(&connection.url, &connection.token)?;
    let input = input(import.file)?;
    let (journal, past) = open_journal(context, &import, &input, client.url())?;
    let rules = Arc::new(Checker::new(import.version, import.of_type));
    let state = Arc::new(State::new(journal, rules, import.within.is_some()));
    let checked = check(context, &input, &state)?;
    let Totals { payloads, refused, .. } = checked.totals;
    if payloads == 0 {
        return Err(Failure::usage(format!("{} contains no payloads", input.name)));
    }
    let before = past.ads.values().filter(|known| matches!(known, Known::Accepted(_) | Known::Ended(..)));
    let before = before.count() as u64;
    let limit = import.limit.unwrap_or(u64::MAX);
    let to_send = payloads.saturating_sub(refused).min(before.saturating_add(limit));
    let mut progress = Progress::new(context.out, to_send, before);
    let feed = Feed {
        checker: Arc::clone(&state.checker),
        refused: checked.refused,
        known: past.ads,
        block: import.parallel,
        task: import.task,
        limit,
    };
    let source = Source::open(&input.path)?;
    let mut work = tokio::spawn(work(client, Arc::clone(&state), feed, source, import.parallel, import.within));
    let interrupted = supervise(context, &state, &mut progress, &mut work).await;
    progress.end();
    let flushed = state.journal.write_durably(&[]);
    let failure = match (state.take_failure(), flushed) {
        (Some(failure), _) | (None, Err(failure)) => Some(failure),
        (None, Ok(())) => interrupted.then(|| Failure::failed("interrupted")),
    };
    let failure = failure.map(|failure| failure.hint(format!("to resume: {}", import.again)));
    Ok(Imported { name: input.name, payloads, records: state.take_records(), failure })
}

/// Makes sure that the input can be read twice, and knows it by its content.
fn input(file: &Path) -> Result<Input, Failure> {
    let (mut kept, path, name) = if file.as_os_str() == "-" {
        let kept = NamedTempFile::new()
            .map_err(|error| Failure::failed(format!("cannot store stdin in a temporary file: {error}")))?;
        let path = kept.path().to_owned();
        (Some(kept), path, "stdin".to_owned())
    } else {
        // What it is instead of a file of payloads is told before anything else.
        drop(Source::open(file)?);
        (None, file.to_owned(), file.display().to_string())
    };
    let cannot = |error: io::Error| Failure::usage(format!("cannot read {name}: {error}"));
    let mut digest = Sha256::new();
    let mut block = vec![0; 256 * 1024];
    let mut from: Box<dyn Read> = match &kept {
        Some(_) => Box::new(io::stdin()),
        None => Box::new(File::open(&path).map_err(cannot)?),
    };
    loop {
        let read = from.read(&mut block).map_err(cannot)?;
        if read == 0 {
            break;
        }
        digest.update(&block[..read]);
        if let Some(kept) = &mut kept {
            kept.write_all(&block[..read]).map_err(cannot)?;
        }
    }
    let sha256 = Checksum::from(<[u8; 32]>::from(digest.finalize())).to_string();
    Ok(Input { name, path, _kept: kept, sha256 })
}

/// Opens the journal, and makes sure that it is about this file and this service.
fn open_journal(context: &Context, import: &Import<'_>, input: &Input, url: &str) -> Result<(Journal, Past), Failure> {
    let path = match import.journal {
        Some(path) => path.to_owned(),
        None if import.file.as_os_str() == "-" => PathBuf::from("stdin.journal"),
        None => {
            let mut name = import.file.as_os_str().to_owned();
            name.push(".journal");
            PathBuf::from(name)
        }
    };
    let (journal, past) = Journal::open(&path)?;
    if let Some(begun) = &past.begun {
        let shown = path.display();
        if import.resume == Resume::No {
            return Err(Failure::usage(format!(
                "according to {shown}, this file was imported before, at {}",
                begun.at
            ))
            .hint(format!("to resume: {}", import.again))
            .hint(format!("to start again, remove {shown}; the service rejects ads that it already has")));
        }
        if begun.url != url {
            return Err(Failure::usage(format!("{shown} belongs to an import to {}, not to {url}", begun.url))
                .hint("use a separate journal for each service"));
        }
        if begun.sha256 != input.sha256 && import.resume == (Resume::Yes { accept_changes: false }) {
            return Err(Failure::usage(format!("{} has changed since {shown} was created", input.name))
                .hint("accepted ads are not sent again, even if they have changed; the others are")
                .hint("to continue, add --accept-changes"));
        }
        if begun.sha256 != input.sha256 && import.resume == Resume::IfBegun {
            let since = "the file has changed since the last run; accepted ads are not sent again";
            context.out.note(since);
        }
    } else if matches!(import.resume, Resume::Yes { .. }) {
        context.out.note(&format!("{} is new; nothing has been imported yet", path.display()));
    }
    let file = import.file.display().to_string();
    let at = context.now().to_string();
    let begun = Begun { file, sha256: input.sha256.clone(), url: url.to_owned(), at };
    journal.write_durably(&[Entry::Begun(begun)])?;
    context.out.detail(&format!("journal: {}", journal.path().display()));
    Ok((journal, past))
}

/// Checks all payloads; what is wrong is shown to people now, and to programs in the report.
fn check(context: &Context, input: &Input, state: &State) -> Result<Checked, Failure> {
    let source = Source::open(&input.path)?;
    if let Some(note) = &source.note {
        context.out.note(&format!("{} {note}", input.name));
    }
    let mut told = (context.out.format() == Format::Table).then(|| Report::new(&input.name, context.out));
    let mut refused = HashSet::new();
    let totals = check_file(source, &state.checker, |verdict| {
        if verdict.is_valid() {
            return Ok(());
        }
        refused.insert(verdict.index);
        state.invalid(verdict);
        told.as_mut().map_or(Ok(()), |told| told.show(verdict))
    });
    told.map_or(Ok(()), Report::end)?;
    Ok(Checked { totals: totals?, refused })
}

/// Shows how far it has come until the work is done; whether somebody interrupted it.
async fn supervise(
    context: &Context,
    state: &State,
    progress: &mut Progress,
    work: &mut tokio::task::JoinHandle<()>,
) -> bool {
    let mut tick = tokio::time::interval(TICK);
    let mut interrupts = 0;
    loop {
        tokio::select! {
            ended = &mut *work => {
                if let Err(error) = ended {
                    state.fail(Failure::failed(format!("internal error: {error}")));
                }
                return interrupts > 0;
            }
            _ = tick.tick() => progress.show(state.counts()),
            () = interrupted() => {
                interrupts += 1;
                if interrupts > 1 {
                    work.abort();
                    return true;
                }
                state.stop();
                context.out.note("stopping after the running requests; press Ctrl-C again to stop at once");
            }
        }
    }
}

/// Sends everything and follows it.
async fn work(
    client: Client,
    state: Arc<State>,
    feed: Feed,
    source: Source,
    parallel: usize,
    within: Option<Duration>,
) {
    let (jobs, todo) = mpsc::channel(parallel);
    let feeding = {
        let state = Arc::clone(&state);
        tokio::task::spawn_blocking(move || {
            if let Err(failure) = feed.run(source, &jobs, &state) {
                state.fail(failure);
            }
        })
    };
    let following = within.map(|within| {
        let (client, state) = (client.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            if let Err(error) = outcomes::follow(&client, &state, within).await {
                state.fail(error.into());
            }
        })
    });
    let todo = Arc::new(Mutex::new(todo));
    let mut senders = JoinSet::new();
    for _ in 0..parallel {
        senders.spawn(send_all(client.clone(), Arc::clone(&state), Arc::clone(&todo)));
    }
    while let Some(ended) = senders.join_next().await {
        if let Err(error) = ended {
            state.fail(Failure::failed(format!("internal error: {error}")));
        }
    }
    // What nobody took is taken back, so that the feed comes to its end.
    {
        let mut todo = todo.lock().await;
        todo.close();
        while let Some(job) = todo.recv().await {
            state.not_sent(job);
        }
    }
    if let Err(error) = feeding.await {
        state.fail(Failure::failed(format!("internal error: {error}")));
    }
    state.all_sent();
    if let Some(following) = following
        && let Err(error) = following.await
    {
        state.fail(Failure::failed(format!("internal error: {error}")));
    }
}

/// Sends jobs until there are none, or everybody is to stop.
async fn send_all(client: Client, state: Arc<State>, todo: Arc<Mutex<mpsc::Receiver<Job>>>) {
    loop {
        let next = todo.lock().await.recv().await;
        let Some(job) = next else { return };
        if let Err(failure) = state.journal.check() {
            state.fail(failure);
        }
        if state.is_stopping() {
            state.not_sent(job);
            return;
        }
        match send::send(&client, &state, &job).await {
            Sent::Accepted(request_id) => state.sent(job, request_id),
            Sent::Refused(refusal) => state.refused(job, refusal),
            Sent::Stopped(failure) => {
                state.not_sent(job);
                state.fail(failure);
                return;
            }
            Sent::Unclear(failure) => {
                state.unclear(job);
                state.fail(failure);
                return;
            }
        }
    }
}
