//! Sends the ads of an import, and follows those that were accepted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ad_client::{Client, Outcome};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    BulkError, State,
    feed::Feed,
    journal::End,
    send::{Job, Sent, send},
};
use crate::follow::{FIRST_PAUSE_OF_MANY, Include, MOST_ADS, Pauses, Status, Statuses};

/// Sends everything and follows it. Stops early when a part fails.
pub(super) async fn work(client: &Client, state: &Arc<State>, feed: Feed, parallel: usize, within: Option<Duration>) {
    let (jobs, mut todo) = mpsc::channel(parallel);
    let feeding = {
        let state = Arc::clone(state);
        tokio::task::spawn_blocking(move || feed.run(&jobs, &state))
    };
    let sending = async {
        let todo = stream::poll_fn(|context| todo.poll_recv(context));
        todo.for_each_concurrent(parallel, |job| send_one(client, state, job)).await;
        if let Err(error) = feeding.await.map_err(BulkError::from).flatten() {
            state.fail(error);
        }
        state.all_sent.cancel();
    };
    let following = async {
        if let Some(within) = within
            && let Err(error) = follow(client, state, within).await
        {
            state.fail(error);
        }
    };
    tokio::join!(sending, following);
}

/// Sends a job, unless the import has stopped.
async fn send_one(client: &Client, state: &State, job: Job) {
    if state.stop.is_cancelled() {
        return;
    }
    match send(client, state, &job).await {
        Sent::Accepted(request_id) => state.sent(job, request_id),
        Sent::Rejected(message, fields) => state.rejected(job, message, fields),
        Sent::Stopped(error) => state.fail(error),
        Sent::Unclear(error) => {
            state.unclear(job);
            state.fail(error);
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
        let batch = state.pending(MOST_ADS)?;
        if batch.is_empty() && !is_sending {
            return Ok(());
        }
        let is_over = !is_sending && waiting_since.get_or_insert_with(Instant::now).elapsed() > within;
        let statuses = if is_over {
            Ok(Statuses::default())
        } else {
            Statuses::of(client, batch.iter().map(|(_, ad, _)| ad), Include::Log).await
        };
        let found = statuses.as_ref().ok();
        let mut progressed = false;
        for (at, ad, request_id) in batch {
            let status = found.and_then(|statuses| statuses.get(&ad));
            match status.and_then(|status| end(status, request_id)) {
                Some(end) => {
                    progressed = true;
                    state.ended(ad, request_id, end);
                }
                None => state.put_back(at),
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
    let (kind, message) = ((&outcome).into(), outcome.message());
    let (linked, failed_images) = match outcome {
        Outcome::Published { linked, failed_images, .. } => (linked, failed_images),
        _ => Default::default(),
    };
    Some(End {
        outcome: kind,
        message,
        marketplace_ad_id: status.marketplace_ad_id.clone(),
        offer_id: status.offer_id.clone(),
        linked,
        failed_images,
    })
}
