//! Ctrl-C and SIGTERM. A command that does something about them says so by [`stop_on_interrupt`] or [`until_interrupted`]; any other ends at once.

use std::{
    io::{self, IsTerminal},
    sync::{LazyLock, Mutex, MutexGuard},
};

use ad_core::lock::locked;
use indicatif::ProgressBar;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Context, Exit};

/// Tells the parts of the command that handle signals that one has come.
static SIGNALS: LazyLock<watch::Sender<()>> = LazyLock::new(|| watch::Sender::new(()));

/// The spinner of work that blocks its thread. It stays locked once a signal ends the process, and so is not drawn again.
static BLOCKING: Mutex<Option<ProgressBar>> = Mutex::new(None);

pub(super) fn blocking() -> MutexGuard<'static, Option<ProgressBar>> {
    locked(&BLOCKING)
}

/// Listens for signals from now on, in a runtime. Without a part of the command that handles them, the first one ends the process.
///
/// # Errors
/// Where signals cannot be caught, they end the process by themselves.
#[cfg(unix)]
pub(super) fn listen() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            forward_signal();
        }
    })
}

/// As on Unix, for Ctrl-C alone.
#[cfg(windows)]
pub(super) fn listen() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        loop {
            interrupt.recv().await;
            forward_signal();
        }
    })
}

fn forward_signal() {
    if SIGNALS.send(()).is_err() {
        let mut spinner = blocking();
        *spinner = None;
        end_now();
    }
}

/// Ends the process, with the terminal as the shell expects it: with an echo, and the cursor at the beginning of a line.
fn end_now() -> ! {
    #[cfg(unix)]
    if let Some(settings) = BEFORE_PROMPT.get() {
        // A terminal that has gone needs no echo.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, settings);
    }
    if io::stderr().is_terminal() {
        let _ = io::Write::write_all(&mut io::stderr(), b"\n");
    }
    std::process::exit(Exit::Interrupted as i32)
}

/// The terminal before a prompt without echo.
#[cfg(unix)]
static BEFORE_PROMPT: std::sync::OnceLock<rustix::termios::Termios> = std::sync::OnceLock::new();

/// Asks on the terminal for a text that it does not show. Blocks; a signal in the meantime turns the echo on again.
///
/// # Errors
/// When there is no terminal.
pub fn ask_hidden(question: &str) -> io::Result<String> {
    #[cfg(unix)]
    if let Ok(settings) = rustix::termios::tcgetattr(io::stdin()) {
        BEFORE_PROMPT.get_or_init(|| settings);
    }
    rpassword::prompt_password(question)
}

/// Runs a task; `None` if a signal came first.
pub async fn until_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut signals = SIGNALS.subscribe();
    tokio::select! {
        done = work => Some(done),
        _ = signals.changed() => None,
    }
}

/// Waits for the next signal.
pub async fn wait_for_signal() {
    // The sender is static, so that there is always one.
    let _ = SIGNALS.subscribe().changed().await;
}

/// From now on, the first signal requests a stop, and the second one ends the process.
pub fn stop_on_interrupt(context: &Context) -> CancellationToken {
    let stop = CancellationToken::new();
    let (heard, out, mut signals) = (stop.clone(), context.out, SIGNALS.subscribe());
    tokio::spawn(async move {
        // The sender is static, so that there is always one.
        let _ = signals.changed().await;
        out.note("stopping after the running requests; press Ctrl-C again to stop at once");
        heard.cancel();
        let _ = signals.changed().await;
        end_now();
    });
    stop
}
