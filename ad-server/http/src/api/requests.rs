//! Accepted requests by their ids (extensions E2).

use ad_core::service::ServiceError;
use ad_parameters::AdParameters;
use poem::http::StatusCode;
use uuid::Uuid;

use super::{ApiError, body::Payload, call::Call, errors::json_response, handler::ApiResult};

/// What has become of a request.
pub(super) async fn read(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    let id = call.path_parameter("request_id");
    let id: Uuid = id.parse().map_err(|_| unknown(id))?;
    match call.context().service.request(call.access(), id).await {
        Ok(status) => Ok(json_response(StatusCode::OK, &status)),
        Err(ServiceError::NotFound) => Err(unknown(id)),
        Err(error) => Err(error.into()),
    }
}

pub fn unknown(id: impl std::fmt::Display) -> ApiError {
    ApiError::not_found_but(
        format!("No accepted request in the token's scope has the id \"{id}\"."),
        "The id of a request is the X-Request-Id of its answer.",
    )
}
