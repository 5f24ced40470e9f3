//! Accepted requests by their ids (extensions E2).

use std::sync::Arc;

use ad_core::{parameters::AdParameters, service::ServiceError};
use poem::{Request, Response, http::StatusCode};
use uuid::Uuid;

use super::{ApiError, Context, body, errors::json_response, observe::Routes, reads};
use ad_server_access::auth::Permission;

pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    route.at("/v4/requests/:request_id", reads::endpoint(context, answer))
}

/// What has become of a request.
async fn answer(context: Arc<Context>, request: Request) -> Result<Response, ApiError> {
    let access = context.access(&request, Permission::Read)?;
    AdParameters::parse(&[], &body::query(&request)?)?;
    let id = request.raw_path_param("request_id").unwrap_or_default();
    let id: Uuid = id.parse().map_err(|_| unknown(id))?;
    let _turn = context.limits.turns.take(&access).await?;
    match context.service.request(&access, id).await {
        Ok(status) => Ok(json_response(StatusCode::OK, &status)),
        Err(ServiceError::NotFound) => Err(unknown(id)),
        Err(error) => Err(error.into()),
    }
}

/// The refusal of an id.
pub fn unknown(id: impl std::fmt::Display) -> ApiError {
    ApiError::NotFound(format!(
        "No accepted request in the token's scope has the id \"{id}\". The id of a request is the X-Request-Id of its answer."
    ))
}
