//! `GET /v4/summary`: the number of ads by status (extensions E6.2).

use std::sync::Arc;

use ad_core::parameters::{AdParameters, SUMMARY_PARAMETERS};
use poem::{Request, Response};

use super::{
    ApiError, Context, body,
    compression::{CodedBytes, Coding},
    errors::json_bytes,
    observe::Routes,
    reads,
};
use ad_server_access::auth::Permission;

pub(super) const PATH: &str = "/v4/summary";

pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    route.at(PATH, reads::endpoint(context, answer))
}

async fn answer(context: Arc<Context>, request: Request) -> Result<Response, ApiError> {
    let Context { service, limits, .. } = &*context;
    let access = context.access(&request, Permission::Read)?;
    let query = AdParameters::parse(SUMMARY_PARAMETERS, &body::query(&request)?)?;
    // Ads are counted, as for a list.
    let mut turn = limits.lists.turn(access.name()).await?;
    let summary = service.summary(&access, query.dealer_code.as_deref()).await?;
    turn.has_read();
    let coding = request.data::<Coding>().copied();
    Ok(turn.answer(CodedBytes::of(json_bytes(&summary)?, coding, &limits.processor, access.name()).await?))
}
