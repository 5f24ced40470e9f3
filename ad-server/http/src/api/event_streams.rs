//! Limits on event streams and long polls (extensions E4.3).

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;

use super::{ApiError, prefer::until_stopped};
use ad_server_base::limits::{ConcurrencyLimit, Exceeded, Slot};
use ad_server_base::telemetry::Metrics;

/// Open event streams and long polls. Clones share everything.
#[derive(Debug, Clone)]
pub struct EventStreams {
    /// Open streams of each token, by its `jti`.
    open: ConcurrencyLimit<String>,
    stopped: Option<watch::Receiver<bool>>,
    gauge: Gauge,
}

impl Default for EventStreams {
    fn default() -> Self {
        Self::new(5000, 20)
    }
}

impl EventStreams {
    /// So many in all, and so many of each token.
    pub fn new(most: usize, most_of_token: usize) -> Self {
        Self { open: ConcurrencyLimit::new(most, most_of_token), stopped: None, gauge: Gauge::default() }
    }

    /// Streams end when the service is stopped.
    #[must_use]
    pub fn until(self, stopped: watch::Receiver<bool>) -> Self {
        Self { stopped: Some(stopped), ..self }
    }

    /// The same, counted by a gauge of these metrics.
    #[must_use]
    pub fn counted_by(self, metrics: &Metrics) -> Self {
        Self { gauge: metrics.event_streams().clone(), ..self }
    }

    pub(super) fn open(&self, jti: &str) -> Result<OpenStream, ApiError> {
        let slot = self.open.try_take(Some(jti.to_owned())).map_err(|exceeded| match exceeded {
            Exceeded::Key(most) => ApiError::TooManyStreams { most, of_token: true },
            Exceeded::Total(most) => ApiError::TooManyStreams { most, of_token: false },
        })?;
        self.gauge.inc();
        Ok(OpenStream { gauge: self.gauge.clone(), _slot: slot })
    }

    /// Returns when the service is stopped.
    pub(super) async fn stopped(&self) {
        until_stopped(self.stopped.clone()).await;
    }
}

/// An open stream or long poll. It ends with the value.
#[derive(Debug)]
pub(super) struct OpenStream {
    gauge: Gauge,
    _slot: Slot<String>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_and_all_together_have_a_limit() {
        let streams = EventStreams::new(3, 2);
        let refusal = |jti: &str| match streams.open(jti) {
            Err(ApiError::TooManyStreams { most, of_token }) => Some((most, of_token)),
            _ => None,
        };
        let first = [streams.open("a").unwrap(), streams.open("a").unwrap()];
        assert_eq!(refusal("a"), Some((2, true)));
        let other = streams.open("b").unwrap();
        assert_eq!(refusal("b"), Some((3, false)));
        assert_eq!(streams.gauge.get(), 3);
        drop((first, other));
        assert_eq!((streams.gauge.get(), refusal("a")), (0, None));
    }
}
