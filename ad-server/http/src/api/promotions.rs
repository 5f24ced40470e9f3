//! `/v4/promotions`: promotions by the clock (extensions E9.4).

use std::sync::Arc;

use ad_core::{
    model::StatusReport,
    service::{Accepted, Access, AnswerWriter, PromotionError, Promotions, ServiceError, Target},
};
use ad_parameters::{AdParameters, PageParameters};
use poem::http::{HeaderValue, StatusCode, header};
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    ApiError, Context, body::Payload, call::Call, errors::json_response, handler::ApiResult, links, lists::Turn,
    respond::PageBody,
};
use ad_server_store::answer::AnswerColumns;

pub(super) const PATH: &str = "/v4/promotions";

/// What the endpoints of promotions use.
#[derive(Clone)]
pub struct PromotionApi {
    /// The use cases of `ad-core`.
    pub promotions: Promotions,
    /// Notified when a schedule may be due.
    pub due: Arc<Notify>,
}

ad_server_base::debug_by_name!(PromotionApi);

impl Context {
    /// The status of an ad, and when schedules promote it next if there are any.
    pub async fn status_of(&self, access: &Access, target: Target<'_>) -> Result<StatusReport, ServiceError> {
        match &self.promotions {
            Some(api) => api.promotions.status(access, target).await,
            None => self.service.status(access, target).await,
        }
    }
}

/// What is kept of the answer to a promotion of a run: nothing but its key is needed.
#[derive(Debug)]
pub struct EmptyAnswer;

impl AnswerWriter for EmptyAnswer {
    fn write(&self, _: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AnswerColumns { status: StatusCode::OK.as_u16(), headers: "[]", body: "null" }.to_string())
    }
}

pub(super) async fn create(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    let made = of_service(call)?.promotions.create(call.access(), &payload.object, &call.origin).await?;
    let mut response = json_response(StatusCode::CREATED, &made);
    let address = links::to(call.context(), call.request, &format!("{PATH}/{}", made.id));
    let location = HeaderValue::try_from(address).ok();
    response.headers_mut().extend(location.map(|address| (header::LOCATION, address)));
    Ok(response)
}

pub(super) async fn list(call: &Call<'_>, PageParameters { page }: PageParameters, mut turn: Turn) -> ApiResult {
    let list = of_service(call)?.promotions.promotions(call.access(), page).await?;
    turn.has_read();
    call.page(turn, PageBody::new(call, page, list.count, list.rows)?).await
}

pub(super) async fn read(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let promotion = of_service(call)?.promotions.promotion(call.access(), id(call)?).await?;
    Ok(json_response(StatusCode::OK, &promotion))
}

pub(super) async fn change(call: &Call<'_>, _: AdParameters, payload: Payload) -> ApiResult {
    let api = of_service(call)?;
    let changed = api.promotions.change(call.access(), id(call)?, &payload.object, &call.origin).await?;
    api.due.notify_one();
    Ok(json_response(StatusCode::OK, &changed))
}

pub(super) async fn delete(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let removed = of_service(call)?.promotions.remove(call.access(), id(call)?).await?;
    Ok(json_response(StatusCode::OK, &removed))
}

pub(super) async fn runs(call: &Call<'_>, PageParameters { page }: PageParameters, mut turn: Turn) -> ApiResult {
    let list = of_service(call)?.promotions.runs(call.access(), id(call)?, page).await?;
    turn.has_read();
    call.page(turn, PageBody::new(call, page, list.count, list.rows)?).await
}

pub(super) async fn preview(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let preview = of_service(call)?.promotions.preview(call.access(), id(call)?).await?;
    Ok(json_response(StatusCode::OK, &preview))
}

fn of_service<'a>(call: &'a Call<'_>) -> Result<&'a PromotionApi, ApiError> {
    call.context().promotions.as_ref().ok_or_else(ApiError::unknown_path)
}

fn id(call: &Call<'_>) -> Result<Uuid, ApiError> {
    call.path_parameter("promotion_id").parse().map_err(|_| PromotionError::NotFound.into())
}
