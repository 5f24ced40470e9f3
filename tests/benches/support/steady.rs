//! A load that does not wait for answers: what comes late is late for its own time, not for that of the answer before it.

use std::time::{Duration, Instant};

use reqwest::{Client, Request};

use crate::support::succeed;

/// Sends requests at a steady rate, whether the ones before are answered or not, and returns the milliseconds from when each
/// was due until it was answered.
pub(crate) async fn at_rate(
    client: &Client,
    rate: f64,
    time: Duration,
    request: impl Fn(usize) -> Request,
) -> Vec<f64> {
    let mut sent = tokio::task::JoinSet::new();
    let start = Instant::now();
    for number in 0.. {
        let due = Duration::from_secs_f64(f64::from(u32::try_from(number).unwrap_or(u32::MAX)) / rate);
        if due > time {
            break;
        }
        tokio::time::sleep_until((start + due).into()).await;
        let (client, request) = (client.clone(), request(number));
        sent.spawn(async move {
            succeed(&client, request).await;
            start.elapsed().saturating_sub(due).as_secs_f64() * 1000.0
        });
    }
    sent.join_all().await
}

/// The value that this share of all is not above.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let place = (values.len() as f64 * share) as usize;
    values[place.min(values.len() - 1)]
}
