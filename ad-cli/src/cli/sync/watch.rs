//! Runs again whenever a file changes, once it is complete.
//!
//! The file is polled. That works on every file system, also over a network, and whether a program writes to the file or replaces it.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use tokio_util::sync::CancellationToken;

use crate::terminal::{Context, Exit, Failure};

/// Interval at which the file is examined.
const LOOK: Duration = Duration::from_millis(300);

/// Number of polls with the same result after which a file counts as complete.
const QUIET_LOOKS: u32 = 3;

/// Pauses between retries while the service cannot be reached.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Identifies a state of a file; `None` while it does not exist.
type FileState = Option<(u64, Option<SystemTime>)>;

fn stamp(path: &Path) -> FileState {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// Runs now, and again whenever the file has changed, until it is stopped or the token is rejected. An error of one run is reported, and
/// the next change is awaited; an unreachable service is retried.
pub(super) async fn watch(
    context: &Context,
    path: &Path,
    stop: &CancellationToken,
    mut run: impl AsyncFnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut pause = FIRST_PAUSE;
    while let Some(seen) = wait_until_complete(path, stop).await {
        let result = run().await;
        if stop.is_cancelled() {
            return result;
        }
        let again = match result {
            Ok(()) => None,
            Err(failure) if failure.is_broken_pipe() || failure.exit() == Exit::Unauthorised => return Err(failure),
            Err(failure) => {
                context.show_failure(&failure);
                (failure.exit() == Exit::Unreachable).then_some(pause)
            }
        };
        pause = if again.is_some() { (pause * 2).min(LONGEST_PAUSE) } else { FIRST_PAUSE };
        let name = path.display();
        context.out.note(&match again {
            Some(pause) => format!("retrying in {} s, or when {name} changes", pause.as_secs()),
            None => format!("waiting for {name} to change; press Ctrl-C to stop"),
        });
        changed(path, seen, again, stop).await;
        if stop.is_cancelled() {
            break;
        }
    }
    Ok(())
}

/// Waits until the file exists and is complete; `None` if the command is stopped first.
async fn wait_until_complete(path: &Path, stop: &CancellationToken) -> Option<FileState> {
    let (mut last, mut looks) = (stamp(path), 1);
    while last.is_none() || looks < QUIET_LOOKS {
        if !wait_for_poll(stop).await {
            return None;
        }
        let now = stamp(path);
        looks = if now == last { looks + 1 } else { 1 };
        last = now;
    }
    Some(last)
}

/// Waits until the file has changed or the time is over.
async fn changed(path: &Path, seen: FileState, most: Option<Duration>, stop: &CancellationToken) {
    let mut waited = Duration::ZERO;
    while stamp(path) == seen && most.is_none_or(|most| waited < most) && wait_for_poll(stop).await {
        waited += LOOK;
    }
}

/// Waits for the next poll; `false` if the command is stopped.
async fn wait_for_poll(stop: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(LOOK) => {}
        () = stop.cancelled() => {}
    }
    !stop.is_cancelled()
}
