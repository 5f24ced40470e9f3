//! The operations on ads ('Endpoints'), on any of the service's paths.

use ad_core::model::LogEntry;
use futures_util::stream::BoxStream;
use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Ad, AdQuery, Answer, Error, ErrorKind, LogQuery, Page, Target, Validation, pages,
    transport::{Call, Repeat, Transport, query_string, segment},
};

/// The ads on one of the service's paths; see [`Client::v4`](super::Client::v4), [`typed`](super::Client::typed) and
/// [`v3`](super::Client::v3).
///
/// What only reads is asked again when the service has trouble or the answer is lost, and so are [`update`](Self::update) and
/// [`delete`](Self::delete): twice is the same as once, but for another request in the ad's log. The other writes are sent again only
/// when they were surely not accepted.
#[derive(Debug, Clone)]
pub struct Ads<'a> {
    transport: &'a Transport,
    base: String,
    if_match: Option<String>,
}

/// Marketplaces that a bump leaves out; registered vehicles only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Exclude {
    /// None: the ad is renewed wherever the dealer may.
    #[default]
    None,
    /// The primary marketplace.
    Primary,
    /// The secondary marketplace.
    Secondary,
}

impl<'a> Ads<'a> {
    pub(super) fn new(transport: &'a Transport, base: String) -> Self {
        Self { transport, base, if_match: None }
    }

    /// The same, whose writes are bound to the revision of an ad that an [`Answer::etag`] names. Once the ad has another content they
    /// change nothing and fail with [`PreconditionFailed`](ErrorKind::PreconditionFailed).
    #[must_use]
    pub fn if_match(self, etag: Option<&str>) -> Self {
        Self { if_match: etag.map(str::to_owned), ..self }
    }

    /// Creates an ad. The answer is there before the work is done: wait for an entry with action `publish` in its log.
    ///
    /// It is sent once. When the answer is lost, [`is_unclear`](Error::is_unclear) says so, and a 409 to another try means that the
    /// first one was accepted; [`create_or_find`](Self::create_or_find) does that.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) with all that is wrong with the payload, [`Identified`](ErrorKind::Identified) for a trailer,
    /// [`Conflict`](ErrorKind::Conflict) when the source id was ever used.
    pub async fn create(&self, payload: &impl Serialize) -> Result<Answer<Ad>, Error> {
        self.write(Method::POST, String::new(), payload, Repeat::IfRefused).await
    }

    /// Checks a payload as [`create`](Self::create) would, and stores nothing.
    ///
    /// # Errors
    /// As a create.
    pub async fn validate(&self, payload: &impl Serialize) -> Result<Answer<Validation>, Error> {
        self.write(Method::POST, "/validate".to_owned(), payload, Repeat::Safe).await
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
        self.transport.get(self.of(target).path(&one(target, ""))).await
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
        self.of(target).write(Method::PATCH, one(target, ""), patch, Repeat::Safe).await
    }

    /// Converts an ad of V3 to V4: a complete payload that replaces the data, without `category_id` on a typed path and with it on the
    /// generic one.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`Identified`](ErrorKind::Identified) for an ad of V4: after an unclear try that means that it was
    /// accepted.
    pub async fn migrate(&self, target: impl Into<Target<'_>>, payload: &impl Serialize) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).write(Method::POST, one(target, "/migrate"), payload, Repeat::IfRefused).await
    }

    /// Deletes an ad. The answer still shows it `created`; it is deleted once its log has `delete` `done`. A deleted one stays as it is.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn delete(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        let path = self.of(target).path(&one(target, ""));
        let if_match = self.if_match.clone();
        self.transport.ask(Call { method: Method::DELETE, path, body: None, if_match, repeat: Repeat::Safe }).await
    }

    /// Renews an ad: it appears as new. Charges apply, so it is never sent again by itself when its answer is lost.
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
        self.of(target).promote(&format!("/{}/bump{query}", segment(target.source_id))).await
    }

    /// Activates pole position for 3 days. Charges apply, so it is never sent again by itself when its answer is lost.
    ///
    /// # Errors
    /// As [`bump`](Self::bump).
    pub async fn pole_position(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).promote(&one(target, "/pole_position")).await
    }

    /// Has the service do again what the last request left undone; when all is done, it publishes again.
    ///
    /// # Errors
    /// As [`bump`](Self::bump).
    pub async fn retry(&self, target: impl Into<Target<'_>>) -> Result<Answer<Ad>, Error> {
        let target = target.into();
        self.of(target).promote(&one(target, "/retry")).await
    }

    pub(super) fn transport(&self) -> &Transport {
        self.transport
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

    /// A GET that does something.
    async fn promote(&self, rest: &str) -> Result<Answer<Ad>, Error> {
        let (path, if_match) = (self.path(rest), self.if_match.clone());
        self.transport.ask(Call { method: Method::GET, path, body: None, if_match, repeat: Repeat::IfRefused }).await
    }

    async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        rest: String,
        body: &impl Serialize,
        repeat: Repeat,
    ) -> Result<Answer<T>, Error> {
        let path = self.path(&rest);
        let bytes = serde_json::to_vec(body).map_err(|error| {
            Error::new(ErrorKind::Malformed(format!("cannot serialize the payload: {error}")), &method, &path)
        })?;
        let if_match = self.if_match.clone();
        self.transport.ask(Call { method, path, body: Some(bytes.into()), if_match, repeat }).await
    }
}

/// The path of one ad, or of what is below it, with the dealer in the query.
fn one(target: Target<'_>, below: &str) -> String {
    format!("/{}{below}{}", segment(target.source_id), query_string(dealer(target)))
}

fn dealer(target: Target<'_>) -> Option<(&'static str, &str)> {
    target.dealer_code.map(|code| ("dealer_code", code))
}
