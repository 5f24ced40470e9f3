//! A call runs this program as a process of its own, with limits of time and output.

use std::{io, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// Most bytes of the result of a call: enough for a page of 500 ads, and as much as an assistant can make use of.
pub(super) const MOST_OUTPUT: u64 = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub(super) code: Option<i32>,
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
    #[error("cannot run {program}: {source}")]
    Unstartable { program: String, source: io::Error },
}

/// Runs a program to its end, in an empty folder. When it exceeds a limit, or this future is dropped, it is killed.
pub(super) async fn run(
    program: &Path,
    words: &[String],
    input: Option<String>,
    time_limit: Duration,
) -> Result<Ended, Stopped> {
    let unstartable = |source| Stopped::Unstartable { program: program.display().to_string(), source };
    // Here, a command finds no files of the user, and what it writes, such as the journal of an import, is removed.
    let folder = tempfile::tempdir().map_err(unstartable)?;
    let mut child = Command::new(program)
        .args(words)
        .current_dir(folder.path())
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(unstartable)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A command may end without reading all of it, and its exit code says why.
            let _unread = stdin.write_all(input.as_bytes()).await;
        }
        Ok(())
    };
    let wait = async { child.wait().await.map_err(unstartable) };
    let ended = async { tokio::try_join!(wait, write, bounded(stdout), bounded(stderr)) };
    let ended = tokio::time::timeout(time_limit, ended).await.map_err(|_| Stopped::Late(time_limit))?;
    let (status, (), stdout, stderr) = ended?;
    Ok(Ended { code: status.code(), stdout, stderr })
}

async fn bounded(output: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Stopped> {
    let mut bytes = Vec::new();
    let Some(output) = output else { return Ok(bytes) };
    // What a process wrote before its pipe broke is its output.
    let _broken = output.take(MOST_OUTPUT + 1).read_to_end(&mut bytes).await;
    if bytes.len() as u64 > MOST_OUTPUT { Err(Stopped::TooLarge) } else { Ok(bytes) }
}
