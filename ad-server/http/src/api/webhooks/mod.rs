//! `/v4/webhooks`: the endpoints of a token's scope (extensions E5.1).

mod scoped;

use ad_parameters::{AdParameters, WebhookParameters};
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};

pub use self::scoped::{ScopedWebhooks, WebhookState};
use super::{
    ApiError, answers::WebhookView, body::Payload, call::Call, errors::json_response, handler::ApiResult, links,
    respond::PageBody,
};

pub(super) async fn create(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    let (state, secret) = of_scope(call)?.create(&payload.object).await?;
    let mut response = json_response(StatusCode::CREATED, &WebhookView::new(&state).with(&secret));
    let address = links::to(call.context(), call.request, &format!("/v4/webhooks/{}", state.webhook.id));
    let location = HeaderValue::try_from(address).ok();
    response.headers_mut().extend(location.map(|address| (header::LOCATION, address)));
    Ok(response)
}

pub(super) async fn list(call: &Call<'_>, WebhookParameters { page, .. }: WebhookParameters, _: Payload) -> ApiResult {
    // A scope has only a few.
    let all = of_scope(call)?.all().await?;
    let skipped = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let rows = all.iter().skip(skipped).take(page.limit as usize);
    let rows: Vec<_> = rows.map(WebhookView::new).collect();
    Ok(listed(PageBody::new(call, page, all.len() as u64, rows)?))
}

pub(super) async fn read(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    Ok(shown(&of_scope(call)?.find(id(call)).await?))
}

pub(super) async fn change(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    Ok(shown(&of_scope(call)?.change(id(call), &payload.object).await?))
}

pub(super) async fn delete(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    Ok(shown(&of_scope(call)?.delete(id(call)).await?))
}

pub(super) async fn replay(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    Ok(shown(&of_scope(call)?.replay(id(call), &payload.object).await?))
}

pub(super) async fn rotate_secret(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let (state, secret) = of_scope(call)?.rotate_secret(id(call)).await?;
    Ok(json_response(StatusCode::OK, &WebhookView::new(&state).with(&secret)))
}

pub(super) async fn test(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    Ok(json_response(StatusCode::OK, &of_scope(call)?.test(id(call)).await?))
}

pub(super) async fn resend(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let delivery = of_scope(call)?.resend(id(call), call.path_parameter("event_id")).await?;
    Ok(json_response(StatusCode::OK, &delivery))
}

pub(super) async fn deliveries(call: &Call<'_>, query: WebhookParameters, _: Payload) -> ApiResult {
    let WebhookParameters { state, page } = query;
    let (rows, count) = of_scope(call)?.deliveries(id(call), state, page).await?;
    Ok(listed(PageBody::new(call, page, count, rows)?))
}

fn of_scope<'a>(call: &'a Call<'_>) -> Result<ScopedWebhooks<'a>, ApiError> {
    let context = &**call.context();
    let webhooks = context.webhooks.as_ref().ok_or_else(ApiError::unknown_path)?;
    Ok(ScopedWebhooks { context, webhooks, access: call.access() })
}

fn id<'a>(call: &'a Call<'_>) -> &'a str {
    call.path_parameter("webhook_id")
}

fn shown(state: &WebhookState) -> Response {
    json_response(StatusCode::OK, &WebhookView::new(state))
}

fn listed(page: PageBody) -> Response {
    let mut response = Response::builder().content_type("application/json").body(page.bytes);
    response.headers_mut().extend(page.links.map(|links| (header::LINK, links)));
    response
}
