//! Endpoints that only read; other methods are refused.

use std::sync::Arc;

use poem::{Endpoint, Request, Response, endpoint::make, http::Method};

use super::{ApiError, Context, headers};

/// An endpoint whose GET is answered by `answer`. Answers depend on the token; other methods are refused.
pub(super) fn endpoint<F, A>(context: &Arc<Context>, answer: F) -> impl Endpoint<Output = Response> + use<F, A>
where
    F: Fn(Arc<Context>, Request) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Response, ApiError>> + Send + 'static,
{
    let context = Arc::clone(context);
    make(move |request: Request| {
        let read = match *request.method() {
            Method::GET | Method::HEAD => Ok(answer(Arc::clone(&context), request)),
            ref other => Err(ApiError::read_only(Some(other))),
        };
        async move {
            let answered = async { read?.await };
            let response = answered.await.unwrap_or_else(ApiError::response);
            Ok::<_, poem::Error>(headers::to_token(response, headers::PRIVATE))
        }
    })
}
