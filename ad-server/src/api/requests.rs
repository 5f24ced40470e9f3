//! Accepted requests by their ids (extensions E2).

use std::sync::Arc;

use ad_core::{parameters::AdParameters, service::ServiceError};
use poem::{
    Endpoint, Request, Response, Result,
    http::{Method, StatusCode},
};
use uuid::Uuid;

use super::{ApiError, Context, body, errors::json_response, headers, observe::Routes};
use crate::auth::Permission;

/// Mounts the endpoint.
pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    route.at("/v4/requests/:request_id", Requests { context: Arc::clone(context) })
}

/// What has become of a request.
struct Requests {
    context: Arc<Context>,
}

impl Endpoint for Requests {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let response = self.answer(&request).await.unwrap_or_else(ApiError::response);
        Ok(headers::to_token(response, headers::PRIVATE))
    }
}

impl Requests {
    async fn answer(&self, request: &Request) -> Result<Response, ApiError> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(ApiError::read_only(Some(request.method())));
        }
        let access = self.context.access(request, Permission::Read)?;
        AdParameters::parse(&[], &body::query(request)?)?;
        let id = request.raw_path_param("request_id").unwrap_or_default();
        let id: Uuid = id.parse().map_err(|_| unknown(id))?;
        let _turn = self.context.limits.turns.take(&access).await?;
        match self.context.service.request(&access, id).await {
            Ok(status) => Ok(json_response(StatusCode::OK, &status)),
            Err(ServiceError::NotFound) => Err(unknown(id)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The refusal of an id.
pub(crate) fn unknown(id: impl std::fmt::Display) -> ApiError {
    ApiError::NotFound(format!(
        "No accepted request in the token's scope has the id \"{id}\". The id of a request is the X-Request-Id of its answer."
    ))
}
