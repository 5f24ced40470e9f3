//! A register over HTTP, by the contract in `docs/vehicle-registry.md`. A call that fails costs its client the findings of the
//! register and nothing else: its time is limited, so is the number of concurrent calls, and a circuit breaker stops calls to a register
//! that keeps failing.

use std::time::Duration;

use ad_core::{
    model::RegisteredVehicle,
    ports::{VehicleId, VehicleRegistry},
};
use async_trait::async_trait;
use reqwest::{Client, StatusCode};
use tokio::{sync::Semaphore, time::Instant};
use url::Url;

use crate::outbound::{self, UnreadBody};
use ad_server_base::limits::table::REGISTRY_CALLS;
use ad_server_base::{
    breaker::{Breaker, BreakerOptions, Transition},
    secret::Secret,
};

/// Largest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// When calls to a register that fails are stopped.
const BREAKER: BreakerOptions = BreakerOptions { failures: 5, pause: Duration::from_secs(10) };

/// A client of a register over HTTP.
pub struct HttpRegistry {
    base: Url,
    client: Client,
    calls: Semaphore,
    breaker: Breaker<()>,
}

ad_server_base::debug_by_name!(HttpRegistry);

impl HttpRegistry {
    /// A register with connections of its own, at this address: the path of the contract is below it. It may want a bearer token. A
    /// call has `timeout` from name resolution to the end of the answer.
    ///
    /// # Errors
    /// When there can be no HTTP client.
    pub fn new(base: Url, token: Option<&Secret>, timeout: Duration) -> Result<Self, reqwest::Error> {
        let client = outbound::json_client(token).timeout(timeout).build()?;
        Ok(Self {
            base,
            client,
            calls: Semaphore::new(REGISTRY_CALLS),
            breaker: Breaker::new(BREAKER, BREAKER.pause / 4),
        })
    }

    fn url(&self, vehicle: VehicleId<'_>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("vehicles");
        }
        let known = [("registration_number", vehicle.plate), ("vin", vehicle.vin)];
        url.query_pairs_mut().extend_pairs(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
        url
    }

    async fn call(&self, vehicle: VehicleId<'_>) -> Result<Option<RegisteredVehicle>, CallError> {
        let response = self.client.get(self.url(vehicle)).send().await?;
        match response.status() {
            StatusCode::NOT_FOUND => return Ok(None),
            StatusCode::OK => {}
            status => return Err(CallError::Status(status)),
        }
        let body = outbound::body(response, MAX_ANSWER).await.map_err(|unread| match unread {
            UnreadBody::TooLarge => CallError::TooLarge,
            UnreadBody::Broken(error) => error.into(),
        })?;
        Ok(Some(serde_json::from_slice(&body)?))
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("no answer: {0}")]
    NoAnswer(reqwest::Error),
    #[error("answered {0}")]
    Status(StatusCode),
    #[error("the answer is larger than {MAX_ANSWER} bytes")]
    TooLarge,
    #[error("the answer cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl From<reqwest::Error> for CallError {
    /// Without the address, which names the vehicle.
    fn from(error: reqwest::Error) -> Self {
        Self::NoAnswer(error.without_url())
    }
}

#[async_trait]
impl VehicleRegistry for HttpRegistry {
    async fn look_up(&self, vehicle: VehicleId<'_>) -> Option<RegisteredVehicle> {
        let _place = self.calls.try_acquire().ok()?;
        let permit = self.breaker.enter(Instant::now()).ok()?;
        let result = self.call(vehicle).await;
        let transition = match &result {
            Ok(_) => permit.answered(),
            Err(_) => permit.failed(Instant::now(), (), None),
        };
        match (&result, transition) {
            (Err(error), Some(Transition::Opened)) => {
                tracing::warn!(%error, "vehicle registry fails; it is not asked for a while");
            }
            (Err(error), _) => tracing::debug!(%error, "vehicle registry call failed"),
            (Ok(_), Some(Transition::Closed)) => tracing::info!("vehicle registry answers again"),
            (Ok(_), _) => {}
        }
        result.ok().flatten()
    }
}
