//! The calls of the contract, executed by a local marketplace. Their documentation here is part of the contract.

use std::sync::Arc;

use ad_core::{
    model::{Timestamp, plate},
    ports::{Clock, IdempotencyKey, Listing, Marketplace, MarketplaceError},
};
use poem_openapi::{
    ApiResponse, OpenApi, OpenApiService, SecurityScheme,
    auth::Bearer,
    param::{Header, Path, Query},
    payload::Json,
    types::ToJSON,
};
use serde_json::{Value, json};

use ad_server_outside::marketplace::{
    Local,
    wire::{
        Boost, ErrorBody, FoundListings, IDEMPOTENCY_KEY, Listed, ListedByPlate, ListingBody, NO_SUCH_LISTING,
        example_id,
    },
};

pub(super) const TITLE: &str = "Marketplace adapter";

const DESCRIPTION: &str = "The API of a marketplace on which the vehicle ad import service publishes. \
    `docs/marketplace-adapter.md` explains the calls, when the service repeats them, and the effect of each \
    answer.\n\nEvery write carries an `Idempotency-Key`. A call with a key that has succeeded before must change nothing and \
    return the earlier answer, whatever its body.";

/// The token that the marketplace issued to the ad service.
#[derive(SecurityScheme)]
#[oai(ty = "bearer", rename = "Bearer")]
struct Token(
    // Checked before a call comes here.
    #[expect(dead_code, reason = "it is in the document")] Bearer,
);

/// Reason of a failed call.
#[derive(ApiResponse)]
pub(super) enum ErrorResponse {
    /// The call does not match this document. The ad is rejected with the message as the reason.
    #[oai(status = 400)]
    Malformed(Json<ErrorBody>),
    /// Missing or invalid token. The ad service reports it to its operator; ads wait, and the call is repeated.
    #[oai(status = 401)]
    Unauthorized(Json<ErrorBody>),
    /// The listing does not exist; `code` is `no_such_listing`. Equivalent to 410.
    #[oai(status = 404)]
    Gone(Json<ErrorBody>),
    /// The body is too large. The ad is rejected.
    #[oai(status = 413)]
    TooLarge(Json<ErrorBody>),
    /// The marketplace rejects the ad. The dealer reads the message. Equivalent to 409.
    #[oai(status = 422)]
    Refused(Json<ErrorBody>),
    /// Too many calls. The call is repeated, not before `Retry-After`.
    #[oai(status = 429)]
    TooMany(
        Json<ErrorBody>,
        /// Seconds, or an HTTP date.
        #[oai(header = "Retry-After")]
        String,
    ),
    /// Internal error, as any other 5xx. The call is repeated.
    #[oai(status = 500)]
    Error(
        Json<ErrorBody>,
        /// Seconds, or an HTTP date.
        #[oai(header = "Retry-After")]
        Option<String>,
    ),
}

pub(super) fn problem(code: &str, message: impl Into<String>) -> Json<ErrorBody> {
    Json(ErrorBody { code: code.to_owned(), message: message.into() })
}

impl From<MarketplaceError> for ErrorResponse {
    fn from(error: MarketplaceError) -> Self {
        match error {
            MarketplaceError::Refused { reason, .. } => Self::Refused(problem("refused", reason)),
            MarketplaceError::Gone { .. } | MarketplaceError::NotListed => {
                Self::Gone(problem(NO_SUCH_LISTING, "There is no such listing."))
            }
            MarketplaceError::Transient { reason, .. } | MarketplaceError::NotAsked { reason, .. } => {
                tracing::warn!(reason, "marketplace call failed");
                Self::Error(problem("unavailable", "The marketplace is temporarily unavailable."), Some("2".to_owned()))
            }
        }
    }
}

/// Success.
#[derive(ApiResponse)]
enum Done {
    /// Success, now or in an earlier call with this key.
    #[oai(status = 204)]
    Done,
}

pub(super) struct Api {
    pub(super) local: Local,
    pub(super) clock: Arc<dyn Clock>,
}

fn key(text: &str) -> Result<IdempotencyKey, ErrorResponse> {
    text.parse().map_err(|error| ErrorResponse::Malformed(problem("malformed", format!("{IDEMPOTENCY_KEY}: {error}"))))
}

#[OpenApi]
impl Api {
    /// Publish an ad
    ///
    /// Shows a listing for an ad. An ad (`reference`) has at most one listing: if it already has one, visible or
    /// unpublished, that listing is shown with this content, and its id is returned.
    #[oai(path = "/listings", method = "post", operation_id = "publish")]
    async fn publish(
        &self,
        _token: Token,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<ListingBody>,
    ) -> Result<Json<Listed>, ErrorResponse> {
        let key = self::key(&key.0)?;
        let ad = body.0.into_ad(self.clock.now());
        let published = self.local.publish(key, Listing { ad: &ad, images: &ad.image_refs }).await?;
        Ok(Json(Listed { id: published.value }))
    }

    /// Publish an ad by its registration number
    ///
    /// As publish, for an ad with a registration number that has no listing yet. If a visible listing of the dealer has that
    /// number and shows no ad, it shows this one from now on and is linked to it (`linked`). If it shows another ad, nothing
    /// is done (`taken`), and the key is not kept. This call is optional: a marketplace without it answers 404 or 405, and
    /// is asked with find instead.
    #[oai(path = "/listings/by-plate", method = "post", operation_id = "publish_by_plate")]
    async fn publish_by_plate(
        &self,
        _token: Token,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<ListingBody>,
    ) -> Result<Json<ListedByPlate>, ErrorResponse> {
        let key = self::key(&key.0)?;
        let ad = body.0.into_ad(self.clock.now());
        let listing = Listing { ad: &ad, images: &ad.image_refs };
        let Some(plate) = ad.content.registration_number() else {
            let missing = "content.category_fields.registration_number: missing; publish at /listings";
            return Err(ErrorResponse::Malformed(problem("malformed", missing)));
        };
        match self.local.publish_by_plate(key, listing, &plate).await?.value {
            Some(published) => Ok(Json(published.into())),
            None => Err(MarketplaceError::unreachable("another call has linked the listing", None).into()),
        }
    }

    /// Update a listing
    ///
    /// Shows this content in the listing and links it to this ad. The listing may have belonged to another ad or to none,
    /// and is shown again if it was unpublished. A visible listing keeps its position in the listing order. If the ad has
    /// another listing, that one is unpublished.
    #[oai(path = "/listings/:id", method = "put", operation_id = "update")]
    async fn update(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<ListingBody>,
    ) -> Result<Json<Listed>, ErrorResponse> {
        let key = self::key(&key.0)?;
        let ad = body.0.into_ad(self.clock.now());
        self.local.update(key, &id.0, Listing { ad: &ad, images: &ad.image_refs }).await?;
        Ok(Json(Listed { id: id.0 }))
    }

    /// Unpublish a listing
    ///
    /// Removes the listing from view and ends its pole position. Succeeds also if there is no such listing; 404 and 410
    /// are treated as success.
    #[oai(path = "/listings/:id", method = "delete", operation_id = "unpublish")]
    async fn unpublish(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
    ) -> Result<Done, ErrorResponse> {
        self.local.unpublish(self::key(&key.0)?, &id.0).await?;
        Ok(Done::Done)
    }

    /// Bump a listing
    ///
    /// Moves the listing to the first position, as if it were new.
    #[oai(path = "/listings/:id/bump", method = "post", operation_id = "bump")]
    async fn bump(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
    ) -> Result<Done, ErrorResponse> {
        self.local.bump(self::key(&key.0)?, &id.0).await?;
        Ok(Done::Done)
    }

    /// Give a listing pole position
    ///
    /// Shows the listing before all others until the given time. A call with another key replaces the time. Only the
    /// primary marketplace gets this call.
    #[oai(path = "/listings/:id/boost", method = "post", operation_id = "boost")]
    async fn boost(
        &self,
        _token: Token,
        /// The listing.
        id: Path<String>,
        /// Calls with the same key are repetitions of one call.
        #[oai(name = "Idempotency-Key")]
        key: Header<String>,
        body: Json<Boost>,
    ) -> Result<Done, ErrorResponse> {
        let key = self::key(&key.0)?;
        let until: Timestamp = body.0.until.parse().map_err(|_| {
            let expected = "until: expected a UTC time such as 2026-01-18T10:00:00Z";
            ErrorResponse::Malformed(problem("malformed", expected))
        })?;
        self.local.boost(key, &id.0, until).await?;
        Ok(Done::Done)
    }

    /// Find listings by registration number
    ///
    /// Called before an ad with a registration number is published for the first time, so that it is linked to the
    /// dealer's existing listing instead of getting a second one.
    #[oai(path = "/listings", method = "get", operation_id = "find_by_plate")]
    async fn find_by_plate(
        &self,
        _token: Token,
        /// The dealer; listings of other dealers are not returned.
        dealer_code: Query<String>,
        /// The registration number; case and spaces are ignored.
        registration_number: Query<String>,
    ) -> Result<Json<FoundListings>, ErrorResponse> {
        let plate = plate(&registration_number.0);
        let found = self.local.find_by_plate(&dealer_code.0, &plate).await?;
        Ok(Json(FoundListings { results: found.value.into_iter().map(Into::into).collect() }))
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
        ("/listings~1by-plate/post", &["404"]),
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
    let refused = ErrorBody { code: "refused".to_owned(), message: "Wheels are missing.".to_owned() };
    for (schema, example) in [
        ("Listed", json!({"id": "20000001"})),
        ("Boost", until.to_json().unwrap_or_default()),
        ("FoundListings", found),
        ("ListedByPlate", json!({"id": "20000001", "result": "linked"})),
        ("Problem", refused.to_json().unwrap_or_default()),
    ] {
        document["components"]["schemas"][schema]["example"] = example;
    }
    document
}
