//! What reads ads, and checks payloads.

use ad_core::{
    categories::{self, TRAILER},
    model::{AdQuery, AdTag, Included, LogQuery, Quality},
    ports::ListedAd,
    rulebook::versions::VersionError,
    service::{ServiceError, TaggedAd, Target},
};
use ad_parameters::AdParameters;
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::{
    ApiError,
    body::Payload,
    call::Call,
    conditional,
    errors::{json_bytes, json_response},
    handler::ApiResult,
    lists::{AnswerMemory, Turn, response_holding},
    operations::BasePath,
    perform::not_allowed,
    respond::{self, PageBody},
    revisions,
};

pub(super) async fn validate(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    let Payload { object, repeated, memory: _memory } = payload;
    let mut validated = call.context().service.validate(call.access(), call.through(), object).await?;
    validated.warnings.extend(repeated);
    Ok(respond::validated(&validated))
}

pub(super) async fn status(call: &Call<'_>, query: AdParameters, _: Payload) -> ApiResult {
    let status = call.context().status_of(call.access(), call.target(query.dealer_code.as_ref())).await?;
    Ok(json_response(StatusCode::OK, &status))
}

pub(super) async fn prices(call: &Call<'_>, query: AdParameters, _: Payload) -> ApiResult {
    let prices = call.context().service.prices(call.access(), call.target(query.dealer_code.as_ref())).await?;
    Ok(json_response(StatusCode::OK, &prices))
}

/// Why the path creates nothing.
pub(super) fn refuse_create(call: &Call<'_>, payload: Result<Payload, ApiError>) -> ApiError {
    match payload {
        Ok(payload) if payload.object.get("category_id").and_then(categories::sent_id) == Some(TRAILER) => {
            ServiceError::from(VersionError::TrailerCreateDisabled).into()
        }
        _ => not_allowed(call.path.base, &call.path.operations, call.request),
    }
}

pub(super) async fn list(call: &Call<'_>, query: AdQuery, mut turn: Turn) -> ApiResult {
    let service = &call.context().service;
    let (page, fields) = (query.page, query.fields.clone());
    let Included { log: with_log, status: with_status, quality: with_quality, warnings: _ } = query.included;
    let list = service.list(call.access(), call.path.base.category(), query).await?;
    turn.has_read();
    let mut qualities = Vec::new();
    if with_quality {
        qualities = service.quality_summaries(call.access(), &list.rows);
    }
    let mut qualities = qualities.into_iter();
    let rows = list.rows.iter().map(|ListedAd { ad, log, words, .. }| {
        let view = ad.view(with_log.then_some(log.as_slice())).with_status(with_status.then_some(words.status));
        view.with_quality_summary(qualities.next().flatten()).only(fields.as_deref())
    });
    let body = PageBody::new(call, page, list.count, rows.collect())?;
    // Compression reuses the memory reserved for the rows.
    drop(list);
    call.page(turn, body).await
}

pub(super) async fn log(call: &Call<'_>, query: LogQuery, mut turn: Turn) -> ApiResult {
    let target = call.target(query.dealer_code.as_ref());
    let list = call.context().service.log(call.access(), target, &query).await?;
    turn.has_read();
    let body = PageBody::new(call, query.page, list.count, list.rows.iter().collect())?;
    drop(list);
    call.page(turn, body).await
}

/// One ad, or 304 if the client has it, for which the ad itself is not read. If there is no memory for a large answer, it is
/// dropped and read again when there is.
pub(super) async fn read(call: &Call<'_>, query: AdParameters, _: Payload) -> ApiResult {
    if let Some(at) = query.at {
        return revisions::at(call, &query, at).await;
    }
    let target = call.target(query.dealer_code.as_ref());
    if let Some(known) = &call.known
        && let Some(tag) = call.context().service.tag(call.access(), target).await?
        && known.have(tag.to_string().as_bytes())
    {
        return Ok(conditional::not_modified(conditional::etag(tag)));
    }
    let (lists, holder) = (&call.context().limits.lists, call.access().name());
    let mut memory = None;
    loop {
        let (bytes, tag) = read_bytes(call, target, &query).await?;
        let granted = memory.take().map_or_else(|| lists.memory_for(holder, bytes.len()), AnswerMemory::Granted);
        match granted {
            AnswerMemory::NotNeeded => {
                let response = Response::builder().header(header::ETAG, conditional::etag(tag));
                return Ok(response.content_type("application/json").body(bytes));
            }
            AnswerMemory::Granted(mut share) => {
                let body = call.coded(bytes).await?;
                share.shrink(body.bytes.len());
                let mut response = response_holding(StatusCode::OK, body, share);
                response.headers_mut().insert(header::ETAG, conditional::etag(tag));
                return Ok(response);
            }
            AnswerMemory::Taken => {
                let length = bytes.len();
                drop(bytes);
                memory = Some(lists.wait_for(holder, length).await?);
            }
        }
    }
}

async fn read_bytes(call: &Call<'_>, target: Target<'_>, query: &AdParameters) -> Result<(Vec<u8>, AdTag), ApiError> {
    let service = &call.context().service;
    let (shown, log) = if query.included.log {
        let (shown, log) = service.read(call.access(), target).await?;
        (shown, Some(log))
    } else {
        (service.read_without_log(call.access(), target).await?, None)
    };
    let TaggedAd { ad, tag, status, failed_images } = &shown;
    let mut quality = None;
    if query.included.quality {
        let promotions = Some(call.context().status_of(call.access(), target).await?.promotions);
        quality = Some(Quality { promotions, ..service.quality_among_ads(ad, failed_images).await? });
    }
    let view = ad.view(log.as_deref()).with_status(query.included.status.then_some(*status));
    let view = view.with_quality(quality.as_ref()).only(query.fields.as_deref());
    Ok((json_bytes(&view)?, *tag))
}

impl Call<'_> {
    /// The refusal of a new ad or of its validation. A duplicate source id comes with the location of the ad that has it.
    pub(super) fn refusal(&self, error: ServiceError) -> Response {
        let generic = if matches!(self.path.base, BasePath::V3) { BasePath::V3 } else { BasePath::Generic };
        let address = match &error {
            ServiceError::Duplicate { source_id, dealer_code, .. } => self.address_of(generic, source_id, dealer_code),
            _ => None,
        };
        let mut response = ApiError::from(error).response();
        response.headers_mut().extend(address.map(|address| (header::LOCATION, address)));
        response
    }
}
