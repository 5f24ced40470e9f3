//! The operations on ads ('Endpoints'), on any of the service's paths.

use std::time::Duration;

use ad_core::model::{self, LogEntry, MarketplaceCall, PriceHistory, Quality, RevisionEntry, StatusReport, Timestamp};
use ad_parameters::ToParameters;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use reqwest::{
    Method,
    header::{HeaderName, HeaderValue, IF_MATCH},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{
    Ad, AdQuery, Answer, Error, ErrorKind, LogQuery, Page, Target, Validation, pages,
    transport::{Call, Transport, query_string, segment},
};

/// The ads on one of the service's paths; see [`Client::v4`](super::Client::v4), [`typed`](super::Client::typed) and
/// [`v3`](super::Client::v3).
///
/// When the service has trouble or an answer is lost, a request is sent again. Each write carries an `Idempotency-Key`, the same with every
/// try, so that the service executes it once.
#[derive(Debug, Clone)]
pub struct Ads<'a> {
    transport: &'a Transport,
    base: String,
    key: Option<String>,
    if_match: Option<String>,
    wait: Option<Duration>,
    include_quality: bool,
}

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The longest time for which the service holds back an answer, unless it is configured otherwise.
pub(super) const MOST_WAIT: Duration = Duration::from_secs(30);

/// Marketplaces that a bump leaves out; registered vehicles only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Exclude {
    /// None: the ad is renewed wherever the dealer may.
    #[default]
    None,
    /// Exclude the primary marketplace: `exclude_primary`.
    Primary,
    /// Exclude the secondary marketplace: `exclude_secondary`.
    Secondary,
}

impl<'a> Ads<'a> {
    pub(super) fn new(transport: &'a Transport, base: String) -> Self {
        Self { transport, base, key: None, if_match: None, wait: None, include_quality: false }
    }

    /// The same, whose next write has this `Idempotency-Key` (1 to 255 visible ASCII characters) instead of a random one. For 7 days, the
    /// same write with the same key gets the answer of the first and changes nothing, also from another process.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// The same, whose writes are bound to the revision of an ad that an [`Answer::etag`] names. Once the ad has another content they
    /// change nothing and fail with [`PreconditionFailed`](ErrorKind::PreconditionFailed).
    #[must_use]
    pub fn if_match(self, etag: Option<&str>) -> Self {
        Self { if_match: etag.map(str::to_owned), ..self }
    }

    /// The same, whose writes are answered when they have finished, or after this time (at most 30 seconds). The answer shows the ad as
    /// it is then.
    #[must_use]
    pub fn wait(self, time: Duration) -> Self {
        Self { wait: Some(time.min(MOST_WAIT)), ..self }
    }

    /// The same, whose reads of one ad and whose writes are answered with [`Ad::quality`]. Lists have
    /// [`AdQuery::included`].
    #[must_use]
    pub fn include_quality(self) -> Self {
        Self { include_quality: true, ..self }
    }

    /// Creates an ad. The answer is there before the work is done: wait for an entry with action `publish` in its log.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) with all that is wrong with the payload, [`Identified`](ErrorKind::Identified) for a trailer,
    /// [`Conflict`](ErrorKind::Conflict) when the source id was ever used.
    pub async fn create(&self, payload: &impl Serialize) -> Result<Answer<Ad>, Error> {
        self.change(Method::POST, "", Some(self.json(payload)?)).await
    }

    /// Checks a payload as [`create`](Self::create) would, and stores nothing.
    ///
    /// # Errors
    /// As a create.
    pub async fn validate(&self, payload: &impl Serialize) -> Result<Answer<Validation>, Error> {
        let call = Call::new(Method::POST, self.path("/validate"), Some(self.json(payload)?));
        self.transport.ask(call).await
    }

    /// A page of ads.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) naming the parameters that are wrong.
    pub async fn list(&self, query: &AdQuery) -> Result<Answer<Page<Ad>>, Error> {
        self.list_as(query).await
    }

    /// A page of ads as another type, such as one that has only the [`fields`](AdQuery::fields) of the query.
    ///
    /// # Errors
    /// As [`list`](Self::list), and [`Unexpected`](ErrorKind::Unexpected) when the type is not what comes.
    pub async fn list_as<T: DeserializeOwned>(&self, query: &AdQuery) -> Result<Answer<Page<T>>, Error> {
        self.transport.get(self.path(&query_string(query.parameters()))).await
    }

    /// All ads from the page of the query on, page after page as they are needed.
    ///
    /// What is created meanwhile shifts what is ordered newest first; [`AdQuery::oldest_first`] meets every ad once.
    ///
    /// # Errors
    /// The stream ends with the first error, as those of [`list`](Self::list).
    pub fn all(&self, query: &AdQuery) -> BoxStream<'a, Result<Ad, Error>> {
        self.all_as(query)
    }

    /// The same as another type.
    ///
    /// # Errors
    /// As [`list_as`](Self::list_as).
    pub fn all_as<T: DeserializeOwned + Send + 'a>(&self, query: &AdQuery) -> BoxStream<'a, Result<T, Error>> {
        let (ads, query) = (self.clone(), query.clone());
        pages::rows(query.page, move |page| {
            let (ads, query) = (ads.clone(), AdQuery { page, ..query.clone() });
            async move { ads.list_as(&query).await }
        })
    }

    /// One ad with its 100 latest log entries.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); [`Invalid`](ErrorKind::Invalid) naming `dealer_code` when several dealers of a group use the
    /// source id.
    pub async fn read(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.transport.get(self.of(target).path_of_ad(&one(target, ""))).await
    }

    /// Whether an ad is live, and if not, why and who can change that (extensions E6).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn status(&self, target: impl Into<Target<'_>>) -> Result<Answer<StatusReport>, Error> {
        let target = target.into();
        self.transport.get(self.of(target).path(&one(target, "/status"))).await
    }

    /// The quality of an ad: its score, what would raise it, and what is probably wrong (extensions E7).
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Unexpected`](ErrorKind::Unexpected) from a service of an earlier version.
    pub async fn quality(&self, target: impl Into<Target<'_>>) -> Result<Answer<Quality>, Error> {
        #[derive(Deserialize)]
        struct Rated {
            quality: Quality,
        }
        let target = target.into();
        let query = query_string([("fields", "source_id"), ("include", "quality")].into_iter().chain(dealer(target)));
        let path = self.of(target).path(&format!("/{}{query}", segment(target.source_id)));
        let Answer { body: Rated { quality }, request_id, status, etag, time } = self.transport.get(path).await?;
        Ok(Answer { body: quality, request_id, status, etag, time })
    }

    /// The prices of an ad over time, the lowest of the last 30 days, and the reference price of a reduction (extensions E7).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn prices(&self, target: impl Into<Target<'_>>) -> Result<Answer<PriceHistory>, Error> {
        let target = target.into();
        self.transport.get(self.of(target).path(&one(target, "/prices"))).await
    }

    /// A page of what an ad said before, newest first (extensions E10).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn revisions(
        &self,
        target: impl Into<Target<'_>>,
        page: model::Page,
    ) -> Result<Answer<Page<RevisionEntry>>, Error> {
        self.about(target.into(), "revisions", page).await
    }

    /// A page of the calls of marketplaces about an ad, newest first (extensions E10).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn calls(
        &self,
        target: impl Into<Target<'_>>,
        page: model::Page,
    ) -> Result<Answer<Page<MarketplaceCall>>, Error> {
        self.about(target.into(), "calls", page).await
    }

    /// A page of a list about an ad.
    async fn about<T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        name: &str,
        page: model::Page,
    ) -> Result<Answer<Page<T>>, Error> {
        let query = LogQuery { dealer_code: target.dealer_code.map(str::to_owned), page, ..LogQuery::default() };
        let below = format!("/{}/{name}{}", segment(target.source_id), query_string(query.parameters()));
        self.transport.get(self.of(target).path(&below)).await
    }

    /// The signed record of an ad, byte for byte: [`RecordKeys`](crate::RecordKeys) verify it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn record(&self, target: impl Into<Target<'_>>) -> Result<Answer<Box<RawValue>>, Error> {
        let target = target.into();
        self.transport.get(self.of(target).path(&one(target, "/record"))).await
    }

    /// The ad as it was in a revision. [`Ad::more`] has its `image_urls`.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`NotFound`](ErrorKind::NotFound) when there was no such revision or it is not recorded.
    pub async fn revision(&self, target: impl Into<Target<'_>>, revision: u64) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.transport.get(self.of(target).path(&one(target, &format!("/revisions/{revision}")))).await
    }

    /// The ad as it was at a time. [`Ad::more`] has its `revision` and `image_urls`.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Malformed`](ErrorKind::Malformed) when that is not recorded.
    pub async fn read_at(&self, target: impl Into<Target<'_>>, at: Timestamp) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        let at = at.to_string();
        let query = query_string([("at", at.as_str())].into_iter().chain(dealer(target)));
        self.transport.get(self.of(target).path(&format!("/{}{query}", segment(target.source_id)))).await
    }

    /// Updates an ad to what it said in a revision, by the rules of today. Fields that cannot change stay as they are, and
    /// `warnings` in [`Ad::more`] name them.
    ///
    /// # Errors
    /// As [`revision`](Self::revision) and [`update`](Self::update).
    pub async fn restore(&self, target: impl Into<Target<'_>>, revision: u64) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::POST, &one(target, &format!("/revisions/{revision}/restore")), None).await
    }

    /// A page of an ad's whole log.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Invalid`](ErrorKind::Invalid) naming the parameters that are wrong.
    pub async fn log(&self, target: impl Into<Target<'_>>, query: &LogQuery) -> Result<Answer<Page<LogEntry>>, Error> {
        let target = target.into();
        let mut query = query.clone();
        query.dealer_code = target.dealer_code.map(str::to_owned).or(query.dealer_code);
        let below = format!("/{}/log{}", segment(target.source_id), query_string(query.parameters()));
        self.transport.get(self.path(&below)).await
    }

    /// An ad's whole log from the page of the query on, oldest first unless ordered otherwise.
    ///
    /// # Errors
    /// As [`log`](Self::log); the stream ends with the first.
    pub fn log_all<'t>(
        &self,
        target: impl Into<Target<'t>>,
        query: &LogQuery,
    ) -> BoxStream<'a, Result<LogEntry, Error>> {
        let target = target.into();
        let (ads, query) = (self.clone(), query.clone());
        let (source_id, dealer_code) = (target.source_id.to_owned(), target.dealer_code.map(str::to_owned));
        pages::rows(query.page, move |page| {
            let query = LogQuery { page, ..query.clone() };
            let (ads, source_id, dealer_code) = (ads.clone(), source_id.clone(), dealer_code.clone());
            async move { ads.log(Target::from(&source_id).of_dealer(dealer_code.as_deref()), &query).await }
        })
    }

    /// Updates an ad: fields that are left out are kept, `category_fields` is merged deeply, `null` clears, arrays and `location` are
    /// replaced whole. PUT does the same; this sends PATCH. An ad of V3 in a compatible category becomes V4 by it.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid), [`NotFound`](ErrorKind::NotFound), [`Rules`](ErrorKind::Rules) for a deleted ad of a registered
    /// category, [`Identified`](ErrorKind::Identified) for one of V3 that must migrate first.
    pub async fn update(&self, target: impl Into<Target<'_>>, patch: &impl Serialize) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::PATCH, &one(target, ""), Some(self.json(patch)?)).await
    }

    /// Converts an ad of V3 to V4: a complete payload that replaces the data, without `category_id` on a typed path and with it on the
    /// generic one.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`Identified`](ErrorKind::Identified) for an ad of V4.
    pub async fn migrate(&self, target: impl Into<Target<'_>>, payload: &impl Serialize) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::POST, &one(target, "/migrate"), Some(self.json(payload)?)).await
    }

    /// Deletes an ad. The answer still shows it `created`; it is deleted once its log has `delete` `done`. A deleted one stays as it is.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn delete(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::DELETE, &one(target, ""), None).await
    }

    /// Renews an ad: it appears as new. Charges apply.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Rules`](ErrorKind::Rules) when it cannot be renewed.
    pub async fn bump(&self, target: impl Into<Target<'_>>, exclude: Exclude) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        let exclude = match exclude {
            Exclude::None => None,
            Exclude::Primary => Some(("exclude_primary", "true")),
            Exclude::Secondary => Some(("exclude_secondary", "true")),
        };
        let query = query_string(dealer(target).into_iter().chain(exclude));
        self.of(target).change(Method::POST, &format!("/{}/bump{query}", segment(target.source_id)), None).await
    }

    /// Activates pole position for 3 days. Charges apply.
    ///
    /// # Errors
    /// As [`bump`](Self::bump).
    pub async fn pole_position(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::POST, &one(target, "/pole_position"), None).await
    }

    /// Has the service do again what the last request left undone; when all is done, it publishes again.
    ///
    /// # Errors
    /// As [`bump`](Self::bump).
    pub async fn retry(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).change(Method::POST, &one(target, "/retry"), None).await
    }

    /// These ads, on the typed path of the target's category if it has one.
    fn of(&self, target: Target<'_>) -> Self {
        match target.category.and_then(|category| category.vehicle_type) {
            Some(vehicle_type) => Self { base: format!("v4/{vehicle_type}"), ..self.clone() },
            None => self.clone(),
        }
    }

    /// The path of these ads, below the address of the service.
    fn path(&self, rest: &str) -> String {
        format!("{}{rest}", self.base)
    }

    /// The path of an operation whose answer shows an ad.
    fn path_of_ad(&self, rest: &str) -> String {
        let include = match (self.include_quality, rest.contains('?')) {
            (false, _) => "",
            (true, false) => "?include=quality",
            (true, true) => "&include=quality",
        };
        self.path(&format!("{rest}{include}"))
    }

    fn json(&self, payload: &impl Serialize) -> Result<Bytes, Error> {
        serde_json::to_vec(payload).map(Bytes::from).map_err(|error| {
            let problem = ErrorKind::Malformed(format!("cannot serialize the payload: {error}"));
            Error::new(problem, &Method::POST, &format!("/{}", self.base))
        })
    }

    /// Sends a write with its options.
    async fn change(&self, method: Method, rest: &str, body: Option<Bytes>) -> Result<Answer<Ad>, Error> {
        let mut call = Call::new(method, self.path_of_ad(rest), body);
        let Self { key, if_match, wait, .. } = self;
        call.wait = wait.unwrap_or_default();
        let headers = [
            (IDEMPOTENCY_KEY, Some(key.clone().unwrap_or_else(|| Uuid::now_v7().to_string()))),
            (IF_MATCH, if_match.clone()),
            (PREFER, wait.map(|time| format!("wait={}", time.as_secs().max(1)))),
        ];
        for (name, value) in headers {
            let Some(value) = value else { continue };
            let value = HeaderValue::from_str(&value).map_err(|_| {
                let problem = ErrorKind::Malformed(format!("{name} must be visible ASCII characters"));
                Error::new(problem, &call.method, &format!("/{}", call.path))
            })?;
            call.headers.insert(name, value);
        }
        self.transport.ask(call).await
    }
}

/// The path of one ad, or of what is below it, with the dealer in the query.
fn one(target: Target<'_>, below: &str) -> String {
    format!("/{}{below}{}", segment(target.source_id), query_string(dealer(target)))
}

fn dealer(target: Target<'_>) -> Option<(&'static str, &str)> {
    target.dealer_code.map(|code| ("dealer_code", code))
}
