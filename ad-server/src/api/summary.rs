//! `GET /v4/summary`: the number of ads by status (extensions E6.2).

use std::sync::Arc;

use ad_core::parameters::{AdParameters, SUMMARY_PARAMETERS};
use poem::{Endpoint, Request, Response, Result, http::Method};

use super::{
    ApiError, Context, body,
    compression::{CodedBytes, Coding},
    errors::json_bytes,
    headers,
    observe::Routes,
};
use crate::auth::Permission;

/// Its path.
pub(super) const PATH: &str = "/v4/summary";

/// Mounts it.
pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    route.at(PATH, SummaryOfAds { context: Arc::clone(context) })
}

struct SummaryOfAds {
    context: Arc<Context>,
}

impl Endpoint for SummaryOfAds {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let response = self.answer(&request).await.unwrap_or_else(ApiError::response);
        Ok(headers::to_token(response, headers::PRIVATE))
    }
}

impl SummaryOfAds {
    async fn answer(&self, request: &Request) -> Result<Response, ApiError> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(ApiError::read_only(Some(request.method())));
        }
        let Context { service, limits, .. } = &*self.context;
        let access = self.context.access(request, Permission::Read)?;
        let query = AdParameters::parse(SUMMARY_PARAMETERS, &body::query(request)?)?;
        // Ads are counted, as for a list.
        let mut turn = limits.lists.turn(access.name()).await?;
        let summary = service.summary(&access, query.dealer_code.as_deref()).await?;
        turn.has_read();
        let coding = request.data::<Coding>().copied();
        Ok(turn.answer(CodedBytes::of(json_bytes(&summary)?, coding, &limits.processor, access.name()).await?))
    }
}
