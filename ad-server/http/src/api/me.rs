//! `GET /v4/me`: what a token is, and what it gives access to (extensions E3.14). It needs no permission.

use ad_core::model::{ApiVersion, Dealer};
use ad_parameters::AdParameters;
use serde_json::{Value, json};

use super::{call::Call, errors::json_bytes, handler::ApiResult, links, lists::Turn};
use ad_server_base::values::Rate;

pub(super) const PATH: &str = "/v4/me";

/// Ads are counted, as for a list.
pub(super) async fn read(call: &Call<'_>, _: AdParameters, mut turn: Turn) -> ApiResult {
    let (context, caller) = (call.context(), &call.caller);
    let scope = &caller.scope;
    let dealers = context.service.dealers(scope).await?;
    turn.has_read();
    let bytes = json_bytes(&json!({
        "scope": {scope.claim(): scope.name()},
        "dealers": dealers.iter().map(|(dealer, ads)| described(dealer, *ads)).collect::<Vec<_>>(),
        "permissions": caller.permissions.iter().map(|permission| permission.to_string()).collect::<Vec<_>>(),
        "token": {"jti": caller.jti, "label": caller.label, "issued": caller.issued, "expires": caller.expires},
        "rate_limit": context.limits.rate.as_ref().map(|rate| limit(rate.rate())),
        "versions": ApiVersion::NAMES,
        "documentation": links::to(context, call.request, "/docs/swagger-ui/"),
    }))?;
    Ok(turn.answer(call.coded(bytes).await?))
}

fn described(dealer: &Dealer, ads: u64) -> Value {
    json!({
        "code": dealer.code,
        "name": dealer.name,
        "currency": dealer.currency,
        "products": dealer.products,
        "bump": dealer.bump,
        "salespersons": dealer.salespersons.len(),
        "ads": ads,
    })
}

fn limit(rate: Rate) -> Value {
    json!({"requests": rate.requests, "seconds": rate.per.as_secs(), "burst": rate.burst})
}
