//! The typed client of the service's API.
//!
//! [`Client`] has the address of the service, the token and the request rate. [`Ads`] has the operations on one of the service's
//! paths ([`Client::v4`], [`Client::typed`], [`Client::v3`]), [`Lookups`] those under `/v4/vehicles/`. What comes back is an
//! [`Answer`], or an [`Error`] with its kind and whether the request may have been accepted nevertheless.
//!
//! The client does not validate payloads: they are JSON objects, and the service checks them.
#![warn(missing_docs)]

mod accounts;
mod ads;
mod answer;
mod builder;
mod error;
mod events;
mod lookups;
mod models;
mod outcome;
mod pace;
mod pages;
mod plans;
mod problem;
mod promotions;
mod record;
mod sse;
mod stock_body;
mod transport;
mod webhooks;

use std::sync::Arc;

pub use ad_core::{
    model::{
        Account, AdFilter, AdOrder, AdQuery, AdStatus, Amount, AppliedPrice, ChangeQuery, Charge, ChargeQuery,
        DeliveryState, Included, LogQuery, MarketplaceCall, PlanOptions, PlanState, PlannedChange, PriceHistory,
        PricePeriod, Promotion, PromotionPreview, PromotionRun, Quality, QualitySummary, Reduction, RequestStatus,
        RevisionEntry, StatusReport, StockPlan, Summary, ValueChange,
    },
    service::Target,
};
pub use ad_parameters::ApplyParameters;
pub use ads::{Ads, Exclude};
pub use answer::Answer;
pub use builder::{BuildError, ClientBuilder, DEFAULT_RATE, DEFAULT_TIMEOUT, provide_tls};
pub use error::{Error, ErrorKind};
pub use events::{After, Connection, Event, EventPage, EventQuery};
pub use lookups::Lookups;
pub use models::{
    Ad, AdQuality, Contact, DealerAccess, Image, Location, Me, Page, Price, RateLimit, Rendition, Scope, TokenInfo,
    Validation,
};
pub use outcome::{FailedImage, Linked, Outcome, text as message_text};
pub use plans::{BulkChange, Selection, StockPlans};
pub use promotions::{PromotionFields, Promotions, selecting};
pub use record::{RecordError, RecordKeys, RecordedAd, RecordedRows, VerifiedRecord};
pub use stock_body::{BodyStream, StockBody, StockFormat};
pub use transport::Exchange;
pub use webhooks::{
    Delivery, DeliveryAttempt, DeliveryQuery, NewWebhook, ReplayAfter, Resume, Webhook, WebhookChanges, Webhooks,
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;
use transport::Transport;
use uuid::Uuid;

/// A client of one service with one token. Cloning it is cheap, and clones share connections and pace.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Arc<Transport>,
}

impl Client {
    /// A client with the default settings: 10 requests per second, 30 seconds for an answer, and a few retries.
    ///
    /// # Errors
    /// When the URL or the token is invalid.
    pub fn new(url: &str, token: &str) -> Result<Self, BuildError> {
        Self::builder(url).token(token).build()
    }

    /// A client with settings of its own.
    pub fn builder(url: &str) -> ClientBuilder {
        ClientBuilder::new(url)
    }

    /// The address of the service.
    pub fn url(&self) -> &str {
        self.transport.base.as_str().trim_end_matches('/')
    }

    /// Ads of every category and of both versions, on `/v4/ad`. Nothing is created, updated or validated there: that goes through
    /// [`typed`](Self::typed).
    pub fn v4(&self) -> Ads<'_> {
        Ads::new(&self.transport, "v4/ad".to_owned())
    }

    /// Ads of one vehicle type, on `/v4/{vehicle_type}`.
    pub fn typed(&self, vehicle_type: &str) -> Ads<'_> {
        Ads::new(&self.transport, format!("v4/{}", transport::segment(vehicle_type)))
    }

    /// The same as a client of V3 has it, on `/v3/ad`. There is no [`migrate`](Ads::migrate) there.
    pub fn v3(&self) -> Ads<'_> {
        Ads::new(&self.transport, "v3/ad".to_owned())
    }

    /// What has become of an accepted request, by its id ([`Answer::request_id`]).
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) for an id that no accepted request of the token's ads has.
    pub async fn request(&self, id: Uuid) -> Result<Answer<RequestStatus>, Error> {
        self.transport.get(format!("v4/requests/{id}")).await
    }

    /// The number of ads by status (extensions E6).
    ///
    /// # Errors
    /// [`Forbidden`](ErrorKind::Forbidden) for a token that may not read.
    pub async fn summary(&self) -> Result<Answer<Summary>, Error> {
        self.summary_of(None).await
    }

    /// The same, of one dealer's ads where one is named.
    ///
    /// # Errors
    /// As [`summary`](Self::summary).
    pub async fn summary_of(&self, dealer_code: Option<&str>) -> Result<Answer<Summary>, Error> {
        let query = transport::query_string(dealer_code.map(|code| ("dealer_code", code)));
        self.transport.get(format!("v4/summary{query}")).await
    }

    /// The version of the service; no token is needed for it.
    ///
    /// # Errors
    /// [`Unexpected`](ErrorKind::Unexpected) where there is no such service.
    pub async fn version(&self) -> Result<Answer<String>, Error> {
        #[derive(Deserialize)]
        struct Document {
            info: Info,
        }
        #[derive(Deserialize)]
        struct Info {
            version: String,
        }
        // The shortest of its documents.
        let answer = self.transport.get("openapi.json?tag=moped".to_owned()).await?;
        let Answer { body: Document { info }, request_id, status, etag, time } = answer;
        Ok(Answer { body: info.version, request_id, status, etag, time })
    }

    /// The public keys that verify the records of ads, byte for byte ([`RecordKeys::parse`] reads them); no token is needed for them.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub async fn record_keys(&self) -> Result<Answer<Box<RawValue>>, Error> {
        self.transport.get(".well-known/jwks.json".to_owned()).await
    }

    /// Whether the service has a console: pages for people below `/console`.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub async fn has_console(&self) -> Result<bool, Error> {
        match self.transport.get::<IgnoredAny>("console".to_owned()).await {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => Ok(false),
            // A page, or the redirect to the sign-in.
            Err(error) if !matches!(error.kind(), ErrorKind::Unexpected(_)) => Err(error),
            _ => Ok(true),
        }
    }

    /// What the token is, and what it gives access to.
    ///
    /// # Errors
    /// [`Unauthorised`](ErrorKind::Unauthorised) for a token that the service rejects.
    pub async fn me(&self) -> Result<Answer<Me>, Error> {
        self.transport.get("v4/me".to_owned()).await
    }

    /// Addresses to which the service sends events.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks::new(&self.transport)
    }

    /// A dealer's whole stock, compared before anything changes.
    pub fn stock_plans(&self) -> StockPlans<'_> {
        StockPlans::new(&self.transport)
    }

    /// Promotions by the clock.
    pub fn promotions(&self) -> Promotions<'_> {
        Promotions::new(&self.transport)
    }

    /// Vehicle types' attributes, and their allowed values.
    pub fn lookups(&self) -> Lookups<'_> {
        Lookups::new(&self.transport)
    }
}
