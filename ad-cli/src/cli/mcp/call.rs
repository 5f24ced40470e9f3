//! A call runs its command on a thread of its own, with limits of time and output.

use std::{fs, io, thread, time::Duration};

use tokio::{
    runtime,
    sync::{OwnedSemaphorePermit, oneshot},
};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::Cli,
    terminal::{self, Capture, STDIN},
};

/// Most bytes of the result of a call: enough for a page of 500 ads, and as much as an assistant can make use of.
pub(super) const MOST_OUTPUT: usize = 1024 * 1024;

/// Bytes of the stack of a command, as the main thread of a process has them.
const STACK: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: u8,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error(
        "no result within {} s, the time limit of a call (--time-limit); a request that was already sent stays accepted",
        .0.as_secs()
    )]
    Late(Duration),
    #[error("the result is larger than {} KiB; ask for less, such as fewer `fields` or a lower `limit`", MOST_OUTPUT / 1024)]
    TooLarge,
    #[error("cannot run the command: {0}")]
    Unstartable(#[from] io::Error),
    #[error("internal error: the command panicked")]
    Panicked,
}

/// Runs a command to its end. When it exceeds a limit, or this future is dropped, it is stopped with all its tasks;
/// `slot` is free when it has ended.
pub(super) async fn run(
    words: Vec<String>,
    input: Option<String>,
    time_limit: Duration,
    slot: OwnedSemaphorePermit,
) -> Result<Ended, Stopped> {
    // What the command writes, such as the journal of an import, is removed.
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join(STDIN), input.unwrap_or_default())?;
    let capture = Capture::new(MOST_OUTPUT);
    let (streams, stop) = (capture.streams(), CancellationToken::new());
    let (stopped, _stops) = (stop.clone(), stop.drop_guard());
    let (done, ended) = oneshot::channel();
    let tasks = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let work = move || {
        let (name, within) = ("ad-cli".to_owned(), folder.path().to_owned());
        let command = terminal::run_within(
            [name].into_iter().chain(words),
            streams,
            within,
            |line: &Cli| &line.global,
            async |line, context| line.command.run(context).await,
        );
        let code = tasks.block_on(async {
            tokio::select! {
                code = command => Some(code),
                () = stopped.cancelled() => None,
            }
        });
        // Nobody waits for a command that was stopped.
        let _ = code.map(|code| done.send(code));
        tasks.shutdown_background();
        drop((folder, slot));
    };
    thread::Builder::new().name("command".to_owned()).stack_size(STACK).spawn(work)?;
    let code = tokio::select! {
        biased;
        () = capture.filled() => return Err(Stopped::TooLarge),
        code = ended => code.map_err(|_| Stopped::Panicked)?,
        () = tokio::time::sleep(time_limit) => return Err(Stopped::Late(time_limit)),
    };
    let (stdout, stderr) = capture.end();
    Ok(Ended { code, stdout, stderr })
}
