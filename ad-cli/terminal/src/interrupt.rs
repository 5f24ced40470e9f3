//! Ctrl-C and SIGTERM. A command that does something about them says so by [`stop_on_interrupt`] or [`until_interrupted`]; any other ends at once.

use std::{
    io::{self, IsTerminal},
    sync::{LazyLock, Mutex, MutexGuard},
};

use ad_core::lock::locked;
use indicatif::ProgressBar;
#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
use super::output::ask;
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
    // It stays locked, so that no prompt turns the echo off from now on.
    #[cfg(unix)]
    let mut hidden = locked(&HIDDEN);
    #[cfg(unix)]
    show_echo(&mut hidden);
    if io::stderr().is_terminal() {
        let _ = io::Write::write_all(&mut io::stderr(), b"\n");
    }
    std::process::exit(Exit::Interrupted as i32)
}

/// The settings of the terminal before a prompt without echo, while there is one.
#[cfg(unix)]
static HIDDEN: Mutex<Option<Termios>> = Mutex::new(None);

#[cfg(unix)]
fn show_echo(hidden: &mut Option<Termios>) {
    if let Some(settings) = hidden.take() {
        // A terminal that has gone needs no echo.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &settings);
    }
}

/// Asks on the terminal that is stdin for a text that it does not show. Blocks; a signal in the meantime turns the echo on again.
///
/// # Errors
/// When there is no terminal.
#[cfg(unix)]
pub fn ask_hidden(question: &str) -> io::Result<String> {
    {
        let mut hidden = locked(&HIDDEN);
        let settings = tcgetattr(io::stdin())?;
        let mut silent = settings.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Now, &silent)?;
        *hidden = Some(settings);
    }
    let answer = ask(question);
    show_echo(&mut locked(&HIDDEN));
    answer
}

/// As on Unix.
#[cfg(windows)]
pub fn ask_hidden(question: &str) -> io::Result<String> {
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
