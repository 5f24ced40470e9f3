//! Limits on event streams and long polls (extensions E4.3).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use ad_core::lock::locked;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;

use super::{ApiError, prefer::until_stopped};
use ad_server_base::telemetry::Metrics;

/// Open event streams and long polls. Clones share everything.
#[derive(Debug, Clone)]
pub struct EventStreams {
    most: usize,
    most_of_token: usize,
    open: Arc<Mutex<OpenStreams>>,
    stopped: Option<watch::Receiver<bool>>,
    gauge: Gauge,
}

#[derive(Debug, Default)]
struct OpenStreams {
    all: usize,
    /// Open streams of each token, by its `jti`.
    of_tokens: HashMap<String, usize>,
}

impl Default for EventStreams {
    fn default() -> Self {
        Self::new(5000, 20)
    }
}

impl EventStreams {
    /// So many in all, and so many of each token.
    pub fn new(most: usize, most_of_token: usize) -> Self {
        Self { most, most_of_token, open: Arc::default(), stopped: None, gauge: Gauge::default() }
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

    /// Opens one with a token.
    pub(super) fn open(&self, jti: &str) -> Result<OpenStream, ApiError> {
        let mut open = locked(&self.open);
        let of_token = open.of_tokens.get(jti).copied().unwrap_or_default();
        if of_token >= self.most_of_token {
            return Err(ApiError::TooManyStreams { most: self.most_of_token, of_token: true });
        }
        if open.all >= self.most {
            return Err(ApiError::TooManyStreams { most: self.most, of_token: false });
        }
        open.all += 1;
        open.of_tokens.insert(jti.to_owned(), of_token + 1);
        self.gauge.inc();
        Ok(OpenStream { streams: self.clone(), jti: jti.to_owned() })
    }

    /// Returns when the service is stopped.
    pub(super) async fn stopped(&self) {
        until_stopped(self.stopped.clone()).await;
    }
}

/// An open stream or long poll. It ends with the value.
#[derive(Debug)]
pub(super) struct OpenStream {
    streams: EventStreams,
    jti: String,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = locked(&self.streams.open);
        open.all -= 1;
        if let Some(of_token) = open.of_tokens.get_mut(&self.jti) {
            *of_token -= 1;
            if *of_token == 0 {
                open.of_tokens.remove(&self.jti);
            }
        }
        self.streams.gauge.dec();
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
        assert!(locked(&streams.open).of_tokens.is_empty());
        assert_eq!((streams.gauge.get(), refusal("a")), (0, None));
    }
}
