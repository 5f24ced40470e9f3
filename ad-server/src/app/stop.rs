//! How processes learn that they are to stop.

use tokio::sync::watch;

/// Exit code after a second stop signal.
const STOPPED_AT_ONCE: i32 = 1;

/// Ends when a process is to stop.
pub(super) async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone.
    let _gone = stopped.wait_for(|stop| *stop).await;
}

/// Ctrl-C, or SIGTERM where there is one.
pub(crate) async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _asked = tokio::signal::ctrl_c().await;
}

pub(super) async fn exit_on_second_signal() {
    stop_signal().await;
    tracing::warn!("second stop signal: stopping at once; unfinished requests continue at the next start");
    std::process::exit(STOPPED_AT_ONCE);
}
