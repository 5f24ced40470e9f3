//! Injects faults into the calls of the contract.

use std::{sync::Arc, time::Duration};

use ad_core::model::Market;
use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, Response,
    endpoint::make,
    http::{Method, StatusCode},
};
use serde_json::Value;

use ad_server_outside::marketplace::Local;

use super::{
    api::{ErrorResponse, problem},
    faults::{CallAction, Fault, Faults, MarketplaceCall, Rule, Rules},
};
use ad_server_base::http_server::CloseConnection;
use ad_server_http::api::errors::json_response;

/// How long a call without answer takes, for a caller that never gives up.
pub(super) const HANG: Duration = Duration::from_mins(10);
/// `Retry-After` of 429 when its rule names none, in seconds.
const RETRY_AFTER: &str = "2";

const ON_PURPOSE: &str = "Injected fault.";

/// The calls of one marketplace, with faults.
pub(super) fn faulty<E>(inner: E, local: Local, market: Market, faults: Arc<Faults>) -> impl Endpoint<Output = Response>
where
    E: poem::IntoEndpoint,
    E::Endpoint: Endpoint + 'static,
    <E::Endpoint as Endpoint>::Output: IntoResponse,
{
    let inner = Arc::new(inner.into_endpoint().map_to_response());
    make(move |mut request: Request| {
        let (inner, local, faults) = (Arc::clone(&inner), local.clone(), Arc::clone(&faults));
        async move {
            if !faults.is_on() {
                return inner.call(request).await;
            }
            let body = request.take_body().into_bytes().await?;
            let call = call(&request, &body, market, &local).await;
            request.set_body(body);
            let Some((call, rule)) = call.and_then(|call| faults.find_rule(&call).map(|rule| (call, rule))) else {
                return inner.call(request).await;
            };
            tracing::info!(%market, action = ?call.action, source_id = call.source_id, fault = ?rule.fault, "fault injected");
            match rule.fault {
                Fault::Lost => drop(inner.call(request).await?),
                Fault::Timeout => tokio::time::sleep(HANG).await,
                Fault::TooMany | Fault::Error | Fault::Unauthorized | Fault::Refused => {}
            }
            Ok(answer(&rule))
        }
    })
}

/// What a request is about, as far as rules can ask; `None` when it is no call of the contract.
async fn call(request: &Request, body: &[u8], market: Market, local: &Local) -> Option<MarketplaceCall> {
    let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
    let call =
        |action| MarketplaceCall { market, action, dealer_code: None, source_id: None, registration_number: None };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (id, action) = match (request.method(), path.as_slice()) {
        (&Method::POST, ["listings"] | ["listings", "by-plate"]) | (&Method::PUT, ["listings", _]) => {
            let body: Value = serde_json::from_slice(body).ok()?;
            return Some(MarketplaceCall {
                dealer_code: text(&body["dealer_code"]),
                source_id: text(&body["source_id"]),
                registration_number: text(&body["content"]["category_fields"]["registration_number"]),
                ..call(CallAction::Publish)
            });
        }
        (&Method::GET, ["listings"]) => {
            let query = request.uri().query().unwrap_or_default();
            let value = |name| {
                url::form_urlencoded::parse(query.as_bytes())
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.into())
            };
            let (dealer_code, registration_number) = (value("dealer_code"), value("registration_number"));
            return Some(MarketplaceCall { dealer_code, registration_number, ..call(CallAction::Find) });
        }
        (&Method::DELETE, ["listings", id]) => (id, CallAction::Unpublish),
        (&Method::POST, ["listings", id, "bump"]) => (id, CallAction::Bump),
        (&Method::POST, ["listings", id, "boost"]) => (id, CallAction::Boost),
        _ => return None,
    };
    // The ad is found by its listing. Without a readable database no rule applies.
    let known = local.about(id).await.ok().flatten();
    let (dealer_code, source_id, registration_number) = known.unwrap_or_default();
    Some(MarketplaceCall { dealer_code: Some(dealer_code), source_id, registration_number, ..call(action) })
}

/// The answer to a call with a fault; an extension may say that there is none.
fn answer(rule: &Rule) -> Response {
    let retry_after = rule.retry_after.map(|seconds| seconds.to_string());
    match rule.fault {
        Fault::TooMany => {
            let retry_after = retry_after.unwrap_or_else(|| RETRY_AFTER.to_owned());
            ErrorResponse::TooMany(problem("too_many_calls", ON_PURPOSE), retry_after).into_response()
        }
        Fault::Error => ErrorResponse::Error(problem("error", ON_PURPOSE), retry_after).into_response(),
        Fault::Unauthorized => ErrorResponse::Unauthorized(problem("unauthorized", ON_PURPOSE)).into_response(),
        Fault::Refused => {
            let reason = rule.reason.as_deref().unwrap_or("Rejected by an injected fault");
            ErrorResponse::Refused(problem("refused", reason)).into_response()
        }
        Fault::Lost | Fault::Timeout => Response::builder().extension(CloseConnection).finish(),
    }
}

/// `GET`: returns the present rules.
pub(super) fn show(faults: Arc<Faults>) -> impl Endpoint<Output = Response> {
    make(move |_| {
        let answer = json_response(StatusCode::OK, &faults.rules());
        async move { Ok::<_, poem::Error>(answer) }
    })
}

/// `PUT`: replaces all rules.
pub(super) fn replace(faults: Arc<Faults>) -> impl Endpoint<Output = Response> {
    make(move |mut request: Request| {
        let faults = Arc::clone(&faults);
        async move {
            let body = request.take_body().into_bytes().await?;
            let rules =
                serde_json::from_slice::<Rules>(&body).map_err(|error| error.to_string()).and_then(Rules::check);
            match rules {
                Ok(rules) => {
                    faults.replace(rules);
                    Ok::<_, poem::Error>(json_response(StatusCode::OK, &faults.rules()))
                }
                Err(error) => Err(ErrorResponse::Malformed(problem("malformed", error)).into()),
            }
        }
    })
}
