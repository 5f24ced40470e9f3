//! `GET /v4/summary`: the number of ads by status (extensions E6.2).

use ad_parameters::AdParameters;

use super::{call::Call, errors::json_bytes, handler::ApiResult, lists::Turn};

pub(super) const PATH: &str = "/v4/summary";

/// Ads are counted, as for a list.
pub(super) async fn read(call: &Call<'_>, query: AdParameters, mut turn: Turn) -> ApiResult {
    let summary = call.context().service.summary(call.access(), query.dealer_code.as_deref()).await?;
    turn.has_read();
    Ok(turn.answer(call.coded(json_bytes(&summary)?).await?))
}
