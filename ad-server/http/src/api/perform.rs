//! Every gate of every operation. In this order, a request must have a method that its path has, a valid token, the permission, a
//! request of the dealer's rate, well-formed conditions, parameters that are known and valid, and a body that is JSON; then it waits for what
//! it needs of the shared limits.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::service::{Access, ServiceError};
use poem::{
    Body, Endpoint, Request, Response, Result,
    http::{HeaderValue, Method, header},
};
use uuid::Uuid;

use super::{
    ApiError, Context, RequestId,
    call::Call,
    events::{self, Events, PollInterval},
    handler::{ApiResult, Handler},
    headers,
    lookups::Lookups,
    missing,
    observe::Routes,
    operations::{Act, BasePath, Operation, bases},
};
use ad_server_access::auth::{Caller, Permission};

pub(super) struct ApiState {
    pub(super) context: Arc<Context>,
    pub(super) events: Events,
    pub(super) lookups: Lookups,
}

/// Mounts every operation on every base.
pub(super) fn mount(mut route: Routes, context: &Arc<Context>) -> Routes {
    let (events, lookups) = (Events::new(context, PollInterval::AtOnce), Lookups::default());
    let state = Arc::new(ApiState { context: Arc::clone(context), events, lookups });
    for base in bases().chain([BasePath::Service]) {
        let mut paths: BTreeMap<String, Vec<&'static Operation>> = BTreeMap::new();
        for operation in base.operations().filter(|operation| context.has(operation)) {
            paths.entry(operation.route(base)).or_default().push(operation);
        }
        let prefix = base.to_string();
        let about_one = paths.get(&format!("{prefix}/:source_id")).cloned().unwrap_or_default();
        for (path, mut operations) in paths {
            // A name of the contract may be a source id too: GET /v4/car/validate reads the ad "validate".
            let source_id = path.strip_prefix(&prefix).and_then(|rest| rest.strip_prefix('/'));
            let source_id = source_id.filter(|rest| !about_one.is_empty() && !rest.starts_with(':')).map(str::to_owned);
            if source_id.is_some() {
                operations.extend(&about_one);
            }
            route = route.at(path, OperationPath { state: Arc::clone(&state), base, operations, source_id });
        }
    }
    route
}

pub(super) struct OperationPath {
    pub(super) state: Arc<ApiState>,
    pub(super) base: BasePath,
    pub(super) operations: Vec<&'static Operation>,
    /// The source id that the path itself spells.
    source_id: Option<String>,
}

impl Endpoint for OperationPath {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let operation = match self.operation(&request) {
            Ok(operation) => operation,
            Err(error) => return Ok(headers::to_token(error.response(), headers::PRIVATE)),
        };
        let answer = self.perform(operation, request).await;
        let depends_on_accept = operation.act == Act::Events && answer.is_ok();
        let mut response = headers::to_token(answer.unwrap_or_else(ApiError::response), operation.cache());
        if depends_on_accept {
            response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
        }
        Ok(response)
    }
}

impl OperationPath {
    /// The ad that a request names by its path.
    pub(super) fn source_id<'r>(&'r self, request: &'r Request) -> Option<&'r str> {
        self.source_id.as_deref().or_else(|| request.raw_path_param("source_id"))
    }

    fn operation(&self, request: &Request) -> Result<&'static Operation, ApiError> {
        let method = request.method();
        // Every GET that only reads has HEAD.
        let is_head = *method == Method::HEAD;
        let found = self.operations.iter().copied().find(|operation| match operation.method {
            Method::GET if is_head => !operation.is_action(),
            ref known => known == method,
        });
        found.ok_or_else(|| not_allowed(self.base, &self.operations, request))
    }

    async fn perform(&self, operation: &'static Operation, mut request: Request) -> ApiResult {
        let context = &*self.state.context;
        let body = request.take_body();
        let caller = context.authenticated(&request)?;
        // Those that wait for events have limits of their own.
        if operation.act != Act::Events || !events::waits(&request) {
            context.count(&caller, &request)?;
        }
        Context::check_permission(&caller, operation.permission)?;
        let call = Call::new(self, operation, &request, caller)?;
        match call.run(body).await {
            Err(ApiError::Service(ServiceError::NotFound)) => Err(ApiError::NotFound(missing::ad(&call).await)),
            Err(ApiError::Service(error)) if operation.creates() => Ok(call.refusal(error)),
            answer => answer,
        }
    }
}

impl Call<'_> {
    /// Does the operation, with what it takes of the shared limits.
    async fn run(&self, body: Body) -> ApiResult {
        let limits = &self.context().limits;
        match self.operation.handler {
            Handler::InTurn(handler) => {
                let handler = self.parsed(|parameters, query| handler.parse(parameters, query))?;
                let payload = self.payload(body, |_| ()).await?;
                let is_large = payload.is_large();
                self.context().in_turn(self.access(), None, is_large, handler(self, payload)).await
            }
            Handler::Write(handler) => Box::pin(self.write(handler, body)).await,
            Handler::List(handler) => {
                let handler = self.parsed(|parameters, query| handler.parse(parameters, query))?;
                handler(self, limits.lists.turn(self.access().name()).await?).await
            }
            Handler::Stream(handler) => {
                let handler = self.parsed(|parameters, query| handler.parse(parameters, query))?;
                handler(self, body).await
            }
            Handler::Alone(handler) => {
                let handler = self.parsed(|parameters, query| handler.parse(parameters, query))?;
                handler(self, ()).await
            }
            Handler::Refuse(refuse) => Err(refuse(self, self.payload(body, |_| ()).await)),
        }
    }
}

impl Context {
    fn has(&self, operation: &Operation) -> bool {
        match operation.act {
            Act::PlanStock | Act::Plan => self.stock.is_some(),
            Act::CreatePromotion | Act::Promotion => self.promotions.is_some(),
            _ => operation.permission != Some(Permission::Webhooks) || self.webhooks.is_some(),
        }
    }

    pub(crate) fn request_id(&self, request: &Request) -> Uuid {
        request.data::<RequestId>().map_or_else(|| self.ids.next(), |id| id.0)
    }

    pub(crate) fn check_permission(caller: &Caller, needed: Option<Permission>) -> Result<(), ApiError> {
        match needed.filter(|needed| !caller.permissions.contains(*needed)) {
            Some(missing) => Err(ApiError::Forbidden(missing)),
            None => Ok(()),
        }
    }

    /// Does some work in a turn of the caller's scope: where long computations run, if it is about a large payload, and alone, if it
    /// changes the ad of a source id.
    pub(crate) async fn in_turn<T, E>(
        &self,
        access: &Access,
        changed: Option<&str>,
        is_large: bool,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ApiError>
    where
        ApiError: From<E>,
    {
        let _only = match changed {
            Some(source_id) => Some(self.limits.writes.only(access, source_id).await?),
            None => None,
        };
        let _turn = self.limits.turns.take(access).await?;
        let done = if is_large { self.limits.processor.run(access.name(), work).await } else { work.await };
        Ok(done?)
    }
}

/// The refusal of a method that a path does not have, with those that it has.
pub(super) fn not_allowed(base: BasePath, operations: &[&Operation], request: &Request) -> ApiError {
    let method = request.method();
    if matches!(base, BasePath::Service) {
        let mut methods: Vec<_> = operations.iter().map(|operation| operation.method.as_str()).collect();
        // GET first, as everywhere.
        methods.sort_by_key(|method| *method != "GET");
        return ApiError::only(&methods, Some(method));
    }
    let refused = |operation: &&&Operation| operation.act != Act::RefuseCreate;
    let mut allow: Vec<_> = operations.iter().filter(refused).map(|operation| operation.method.as_str()).collect();
    allow.dedup();
    let is_collection = operations.iter().any(|operation| operation.act == Act::List);
    let instead = match (base, method) {
        (BasePath::Generic, &Method::POST) => " Use the typed path, POST /v4/{vehicle_type}.".to_owned(),
        (BasePath::Generic, &Method::PUT | &Method::PATCH) => {
            format!(" Use the typed path, {method} /v4/{{vehicle_type}}/{{source_id}}.")
        }
        (_, &Method::PUT | &Method::PATCH | &Method::DELETE) if is_collection => {
            format!(" This path has {}; an ad has its own: {method} {base}/{{source_id}}.", allow.join(", "))
        }
        (_, &Method::POST) => format!(" This path has {}; create ads with POST {base}.", allow.join(", ")),
        _ => format!(" This path has {}.", allow.join(", ")),
    };
    let detail = format!("Method {method} is not allowed.{instead}{}", not_overridden(operations, request));
    if operations.iter().any(|operation| operation.method == Method::GET && !operation.is_action()) {
        allow.push("HEAD");
    }
    allow.push("OPTIONS");
    ApiError::MethodNotAllowed { allow: allow.join(", "), detail }
}

/// Headers by which clients say another method than they can send.
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

/// What to send instead of a header that overrides the method.
fn not_overridden(operations: &[&Operation], request: &Request) -> String {
    let header = OVERRIDES.iter().find_map(|name| Some((*name, request.header(name)?.trim().to_ascii_uppercase())));
    let has = |method: &str| operations.iter().any(|operation| operation.method.as_str() == method);
    let Some((name, wanted)) = header.filter(|(_, wanted)| has(wanted)) else { return String::new() };
    let instead = match wanted.as_str() {
        "PATCH" if has("PUT") => "send PUT, which does the same as PATCH".to_owned(),
        _ => format!("send {wanted} itself"),
    };
    format!(" The header {name} is not read: {instead}.")
}
