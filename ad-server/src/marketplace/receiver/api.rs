//! The calls of the contract, done by the local marketplace. Their documentation here is that of the contract: what any
//! marketplace has to do.

use std::sync::Arc;

use ad_core::{
    fields,
    ports::{Clock, Key, Listing, Marketplace, MarketplaceError},
    time::Timestamp,
};
use poem_openapi::{
    ApiResponse, OpenApi, OpenApiService, SecurityScheme,
    auth::Bearer,
    param::{Header, Path, Query},
    payload::Json,
    types::ToJSON,
};
use serde_json::{Value, json};

use super::super::{
    Local,
    wire::{Boost, FoundListings, IDEMPOTENCY_KEY, Listed, ListingBody, NO_SUCH_LISTING, Problem, example_id},
};

pub(super) const TITLE: &str = "Marketplace adapter";

const DESCRIPTION: &str = "What a marketplace serves so that the vehicle ad import service can publish on it. \
    `docs/marketplace-adapter.md` tells the whole of it: what the calls are for, when they are repeated, and what the service \
    makes of each answer.\n\nEvery write carries an `Idempotency-Key`. A call with a key that was done before is answered as \
    it was then, and changes nothing, whatever its body says.";

/// The token that the marketplace issued to the ad service.
#[derive(SecurityScheme)]
#[oai(ty = "bearer", rename = "Bearer")]
struct Token(
    // Checked before a call comes here.
    #[expect(dead_code, reason = "it is in the document")] Bearer,
);

/// Why a call was not done.
#[derive(ApiResponse)]
pub(super) enum Failure {
    /// The call is not what this document describes. The ad is refused with the message as the reason.
    #[oai(status = 400)]
    Malformed(Json<Problem>),
    /// No token, or a wrong one. The operator of the ad service is told; ads wait and are tried again.
    #[oai(status = 401)]
    Unauthorized(Json<Problem>),
    /// There is no such listing (any more); `code` is `no_such_listing`. 410 says the same.
    #[oai(status = 404)]
    Gone(Json<Problem>),
    /// The body is too large. The ad is refused.
    #[oai(status = 413)]
    TooLarge(Json<Problem>),
    /// The marketplace will not show the ad as it is. The dealer reads the message. 409 does the same.
    #[oai(status = 422)]
    Refused(Json<Problem>),
    /// Too many calls. It is tried again, not before `Retry-After`.
    #[oai(status = 429)]
    TooMany(
        Json<Problem>,
        /// Seconds, or an HTTP date.
        #[oai(header = "Retry-After")]
        String,
    ),
    /// Something went wrong, as with any other 5xx. It is tried again.
    #[oai(status = 500)]
    Error(
        Json<Problem>,
        /// Seconds, or an HTTP date.
        #[oai(header = "Retry-After")]
        Option<String>,
    ),
}

/// A problem for an answer.
pub(super) fn problem(code: &str, message: impl Into<String>) -> Json<Problem> {
    Json(Problem { code: code.to_owned(), message: message.into() })
}

impl From<MarketplaceError> for Failure {
    fn from(error: MarketplaceError) -> Self {
        match error {
            MarketplaceError::Refused(reason) => Self::Refused(problem("refused", reason)),
            MarketplaceError::Gone | MarketplaceError::NotListed => {
                Self::Gone(problem(NO_SUCH_LISTING, "There is no such listing."))
            }
            MarketplaceError::Transient { reason, .. } | MarketplaceError::NotAsked { reason, .. } => {
                tracing::warn!(reason, "a call could not be done");
                Self::Error(problem("unavailable", "The marketplace cannot do this just now."), Some("2".to_owned()))
            }
        }
    }
}

/// It was done.
#[derive(ApiResponse)]
enum Done {
    /// Done, or done before.
    #[oai(status = 204)]
    Done,
}

pub(super) struct Api {
    pub(super) local: Local,
    pub(super) clock: Arc<dyn Clock>,
}

fn key(text: &str) -> Result<Key, Failure> {
    text.parse().map_err(|error| Failure::Malformed(problem("malformed", format!("{IDEMPOTENCY_KEY}: {error}"))))
}

#[OpenApi]
impl Api {
    /// Publish an ad
    ///
    /// Shows a listing for an ad. An ad (`reference`) has at most one: if it has one already, shown or not, that one is
    /// shown with this content and its id is answered.
    #[oai(path = "/listings", method = "post", operation_id = "publish")]
    async fn publish(
        &self,
        _token: Token,
        /// The same again means the same call again.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<ListingBody>,
    ) -> Result<Json<Listed>, Failure> {
        let key = self::key(&key.0)?;
        let ad = body.0.into_ad(self.clock.now());
        let id = self.local.publish(key, Listing { ad: &ad, images: &ad.image_refs }).await?;
        Ok(Json(Listed { id }))
    }

    /// Update a listing
    ///
    /// Shows this content in a listing, from now on for this ad. It may be one that showed another ad before, or none, and
    /// one that was taken off is shown again. It keeps its place in the listing order while it is shown. If the ad has
    /// another listing, that one is taken off.
    #[oai(path = "/listings/:id", method = "put", operation_id = "update")]
    async fn update(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// The same again means the same call again.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<ListingBody>,
    ) -> Result<Json<Listed>, Failure> {
        let key = self::key(&key.0)?;
        let ad = body.0.into_ad(self.clock.now());
        self.local.update(key, &id.0, Listing { ad: &ad, images: &ad.image_refs }).await?;
        Ok(Json(Listed { id: id.0 }))
    }

    /// Take a listing off
    ///
    /// It is shown no more, and has no pole position any more. Also done when there is no such listing; 404 and 410 are
    /// taken for done as well.
    #[oai(path = "/listings/:id", method = "delete", operation_id = "unpublish")]
    async fn unpublish(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// The same again means the same call again.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
    ) -> Result<Done, Failure> {
        self.local.unpublish(self::key(&key.0)?, &id.0).await?;
        Ok(Done::Done)
    }

    /// Bump a listing
    ///
    /// Moves it to the first place, as if it were new.
    #[oai(path = "/listings/:id/bump", method = "post", operation_id = "bump")]
    async fn bump(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// The same again means the same call again.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
    ) -> Result<Done, Failure> {
        self.local.bump(self::key(&key.0)?, &id.0).await?;
        Ok(Done::Done)
    }

    /// Give a listing pole position
    ///
    /// It is shown before all others until then. Asked for again with another key, the new time counts. Only the primary
    /// marketplace is asked for it.
    #[oai(path = "/listings/:id/boost", method = "post", operation_id = "boost")]
    async fn boost(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// The same again means the same call again.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<Boost>,
    ) -> Result<Done, Failure> {
        let key = self::key(&key.0)?;
        let until: Timestamp = body.0.until.parse().map_err(|_| {
            let expected = "until: expected a time in UTC such as 2026-01-18T10:00:00Z";
            Failure::Malformed(problem("malformed", expected))
        })?;
        self.local.boost(key, &id.0, until).await?;
        Ok(Done::Done)
    }

    /// Find listings by their plate
    ///
    /// Asked before an ad with a plate is published for the first time, so that it takes over a listing that the dealer
    /// has already, instead of standing beside it.
    #[oai(path = "/listings", method = "get", operation_id = "find_by_plate")]
    async fn find_by_plate(
        &self,
        _token: Token,
        /// The dealer: listings of others are not found.
        dealer_code: Query<String>,
        /// The plate. Case and spaces do not count.
        registration_number: Query<String>,
    ) -> Result<Json<FoundListings>, Failure> {
        let plate = fields::plate(&registration_number.0);
        let found = self.local.find_by_plate(&dealer_code.0, &plate).await?;
        Ok(Json(FoundListings { results: found.into_iter().map(Into::into).collect() }))
    }
}

/// The calls, to be served.
pub(super) fn service(api: Api) -> OpenApiService<Api, ()> {
    OpenApiService::new(api, TITLE, env!("CARGO_PKG_VERSION"))
        .description(DESCRIPTION)
        .server("/primary")
        .server("/secondary")
}

/// The document, with examples of what has none of its own.
pub(super) fn document(service: &OpenApiService<Api, ()>) -> Value {
    let mut document: Value = serde_json::from_str(&service.spec()).unwrap_or_default();
    for (operation, statuses) in [
        // What is not about one listing is never gone.
        ("/listings/get", &["404", "413", "422"][..]),
        ("/listings/post", &["404"]),
        // What carries no content is not refused for it.
        ("/listings~1{id}/delete", &["404", "413", "422"]),
    ] {
        let operation = operation.replacen("/listings", "/paths/~1listings", 1);
        if let Some(Value::Object(responses)) = document.pointer_mut(&format!("{operation}/responses")) {
            responses.retain(|status, _| !statuses.contains(&status.as_str()));
        }
    }
    document["components"]["schemas"]["FoundListing"]["properties"]["reference"]["nullable"] = json!(true);
    let until = Boost { until: "2026-01-18T10:00:00.000Z".to_owned() };
    let found = json!({"results": [{"id": "20000001", "reference": example_id(1)}]});
    let refused = Problem { code: "refused".to_owned(), message: "Wheels are missing.".to_owned() };
    for (schema, example) in [
        ("Listed", json!({"id": "20000001"})),
        ("Boost", until.to_json().unwrap_or_default()),
        ("FoundListings", found),
        ("Problem", refused.to_json().unwrap_or_default()),
    ] {
        document["components"]["schemas"][schema]["example"] = example;
    }
    document
}
