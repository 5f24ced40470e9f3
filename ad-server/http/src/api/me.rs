//! `GET /v4/me`: what a token is, and what it gives access to (extensions E3.14). It needs no permission.

use ad_parameters::AdParameters;
use ad_server_base::limits::RateLimiter;

use super::{answers::Me, call::Call, errors::json_bytes, handler::ApiResult, links, lists::Turn};

pub(super) const PATH: &str = "/v4/me";

/// Ads are counted, as for a list.
pub(super) async fn read(call: &Call<'_>, _: AdParameters, mut turn: Turn) -> ApiResult {
    let (context, caller) = (call.context(), &call.caller);
    let scope = &caller.scope;
    let dealers = context.service.dealers(scope).await?;
    turn.has_read();
    let rate = context.limits.rate.as_ref().map(RateLimiter::rate);
    let documentation = links::to(context, call.request, "/docs/swagger-ui/");
    let http_images = context.service.rulebook().settings.http_images;
    let bytes = json_bytes(&Me::new(caller, &dealers, rate, documentation, http_images))?;
    Ok(turn.answer(call.coded(bytes).await?))
}
