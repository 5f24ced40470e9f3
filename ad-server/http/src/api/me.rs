//! `GET /v4/me`: what a token is, and what it gives access to (extensions E3.14). It needs no permission.

use std::sync::Arc;

use ad_core::parameters::AdParameters;
use poem::{Request, Response};

use super::{
    ApiError, Context,
    answers::Me,
    body,
    compression::{CodedBytes, Coding},
    errors::json_bytes,
    links,
    observe::Routes,
    reads,
};

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
    let rate = limits.rate.as_ref().map(|rate| rate.rate());
    let bytes = json_bytes(&Me::new(&caller, &dealers, rate, links::to(&context, &request, "/docs/swagger-ui/")))?;
    let coding = request.data::<Coding>().copied();
    Ok(turn.answer(CodedBytes::of(bytes, coding, &limits.processor, scope.name()).await?))
}
