//! `/v4/account`: what promotions cost, how much is left, and the limit that a dealer sets itself (extensions E9).

use ad_core::{
    model::ChargeQuery,
    service::{Access, ServiceError, parse_own_budget},
};
use ad_parameters::AdParameters;
use poem::http::StatusCode;

use super::{
    ApiError,
    body::Payload,
    call::Call,
    errors::{json_bytes, json_response},
    handler::ApiResult,
    lists::Turn,
    respond::PageBody,
};

pub(super) const PATH: &str = "/v4/account";

/// The account of a dealer's token, or a list of those of a group.
pub(super) async fn read(call: &Call<'_>, _: AdParameters, mut turn: Turn) -> ApiResult {
    let service = &call.context().service;
    let bytes = match call.access() {
        Access::Dealer(code) => json_bytes(&service.account(code).await?)?,
        Access::Group(_) | Access::Operator => json_bytes(&service.accounts(call.access()).await?)?,
    };
    turn.has_read();
    Ok(turn.answer(call.coded(bytes).await?))
}

pub(super) async fn charges(call: &Call<'_>, query: ChargeQuery, mut turn: Turn) -> ApiResult {
    let list = call.context().service.charges(call.access(), &query).await?;
    turn.has_read();
    call.page(turn, PageBody::new(call, query.page, list.count, list.rows)?).await
}

pub(super) async fn set_budget(call: &Call<'_>, query: AdParameters, payload: Payload) -> ApiResult {
    let own = parse_own_budget(&payload.object).map_err(|errors| ApiError::from(ServiceError::Invalid(errors)))?;
    let account = call.context().service.set_own_budget(call.access(), query.dealer_code.as_deref(), own).await?;
    Ok(json_response(StatusCode::OK, &account))
}
