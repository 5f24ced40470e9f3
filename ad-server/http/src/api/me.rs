//! `GET /v4/me`: what a token is, and what it gives access to (extensions E3.14). It needs no permission.

use std::sync::Arc;

use ad_core::{
    model::{ApiVersion, Dealer},
    parameters::AdParameters,
};
use poem::{Request, Response};
use serde_json::{Value, json};

use super::{
    ApiError, Context, body,
    compression::{CodedBytes, Coding},
    errors::json_bytes,
    links,
    observe::Routes,
    reads,
};
use ad_server_base::values::Rate;

pub(super) const PATH: &str = "/v4/me";

pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    route.at(PATH, reads::endpoint(context, answer))
}

async fn answer(context: Arc<Context>, request: Request) -> Result<Response, ApiError> {
    let Context { service, limits, .. } = &*context;
    let caller = context.caller(&request)?;
    AdParameters::parse(&[], &body::query(&request)?)?;
    let scope = &caller.scope;
    // Counting ads takes the resources of a list.
    let mut turn = limits.lists.turn(scope.name()).await?;
    let dealers = service.dealers(scope).await?;
    turn.has_read();
    let bytes = json_bytes(&json!({
        "scope": {scope.claim(): scope.name()},
        "dealers": dealers.iter().map(|(dealer, ads)| described(dealer, *ads)).collect::<Vec<_>>(),
        "permissions": caller.permissions.iter().map(|permission| permission.to_string()).collect::<Vec<_>>(),
        "token": {"jti": caller.jti, "label": caller.label, "issued": caller.issued, "expires": caller.expires},
        "rate_limit": limits.rate.as_ref().map(|rate| limit(rate.rate())),
        "versions": ApiVersion::NAMES,
        "documentation": links::to(&context, &request, "/docs/swagger-ui/"),
    }))?;
    let coding = request.data::<Coding>().copied();
    Ok(turn.answer(CodedBytes::of(bytes, coding, &limits.processor, scope.name()).await?))
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
