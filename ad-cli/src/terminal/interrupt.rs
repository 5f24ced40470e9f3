//! Ctrl-C and SIGTERM: the first one stops gracefully, the second one at once.

use tokio_util::sync::CancellationToken;

use crate::terminal::{Context, Exit};

/// Listens for SIGINT and SIGTERM from now on: the first requests a stop, the second ends the process.
pub fn stop_on_interrupt(context: &Context) -> CancellationToken {
    let stop = CancellationToken::new();
    let (heard, out) = (stop.clone(), context.out);
    tokio::spawn(async move {
        signalled().await;
        out.note("stopping after the running requests; press Ctrl-C again to stop at once");
        heard.cancel();
        signalled().await;
        std::process::exit(Exit::Interrupted as i32);
    });
    stop
}

/// Waits for the next SIGINT or SIGTERM. Where signals cannot be caught, they end the process by themselves.
pub(crate) async fn signalled() {
    let ctrl_c = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return ctrl_c.await };
        tokio::select! {
            () = ctrl_c => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    ctrl_c.await;
}
