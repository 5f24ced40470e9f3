//! What is recorded of ads (extensions E10).

use ad_core::{
    fields::FieldErrors,
    model::{LogQuery, PastAd, Timestamp},
    service::{Accepted, AdRecord, ServiceError},
    violation::{Expected, Violation},
};
use ad_parameters::AdParameters;
use poem::{Response, http::StatusCode};
use serde::Serialize;

use super::{
    body::Payload,
    call::Call,
    errors::{json_bytes, json_response},
    handler::{ApiResult, WriteInput},
    lists::Turn,
    respond::PageBody,
};

pub(super) async fn list(call: &Call<'_>, query: LogQuery, mut turn: Turn) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    let list = call.context().service.revisions(call.access(), target, query.page).await?;
    turn.has_read();
    let body = PageBody::new(call, query.page, list.count, list.rows)?;
    call.page(turn, body).await
}

pub(super) async fn calls(call: &Call<'_>, query: LogQuery, mut turn: Turn) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    let list = call.context().service.calls(call.access(), target, query.page).await?;
    turn.has_read();
    let body = PageBody::new(call, query.page, list.count, list.rows)?;
    call.page(turn, body).await
}

/// The record as it is signed.
#[derive(Serialize)]
struct SentRecord<'a> {
    /// The address of the service, if the operator has set it: that of a request is the client's word.
    service: Option<&'a str>,
    #[serde(flatten)]
    record: &'a AdRecord,
}

pub(super) async fn record(call: &Call<'_>, query: AdParameters, mut turn: Turn) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    let record = call.context().service.record(call.access(), target).await?;
    turn.has_read();
    let service = call.context().public_url.as_deref();
    let payload = json_bytes(&SentRecord { service, record: &record })?;
    let signature = call.context().record_keys.sign(&payload);
    // The signature is of these bytes.
    let bytes = [br#"{"signature":""#, signature.as_bytes(), br#"","record":"#, &payload, b"}"].concat();
    call.page(turn, PageBody { bytes, links: None }).await
}

pub(super) async fn read(call: &Call<'_>, query: AdParameters, _: Payload) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    let past = call.context().service.revision(call.access(), target, revision(call)?).await?;
    Ok(shown(&past, &query))
}

/// `GET /v4/ad/{source_id}?at=…`.
pub(super) async fn at(call: &Call<'_>, query: &AdParameters, at: Timestamp) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    Ok(shown(&call.context().service.ad_at(call.access(), target, at).await?, query))
}

pub(super) async fn restore(call: &Call<'_>, write: WriteInput<'_>) -> Result<Accepted, ServiceError> {
    let WriteInput { query, incoming, .. } = write;
    let (version, target) = (call.path.base.version(), call.target(query.dealer_code.as_ref()));
    call.context().service.restore(call.access(), incoming, version, target, revision(call)?).await
}

fn shown(PastAd { ad, revision }: &PastAd, query: &AdParameters) -> Response {
    let view = ad.view(None).of_revision(*revision).only(query.fields.as_deref());
    json_response(StatusCode::OK, &view)
}

/// The number in the path.
fn revision(call: &Call<'_>) -> Result<i64, ServiceError> {
    call.path_parameter("revision").parse().map_err(|_| {
        let mut errors = FieldErrors::default();
        errors.push("revision", Violation::WrongType(Expected::Integer));
        ServiceError::InvalidQuery(errors)
    })
}
