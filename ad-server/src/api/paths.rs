//! From a path and a method to a use case, for every operation of every category.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{
    categories::{self, Category},
    list::{AdQuery, LogQuery, TargetQuery},
    service::{Access, Target},
};
use poem::{
    Endpoint, Request, Response, Result, Route,
    http::{Method, StatusCode},
};
use uuid::Uuid;

use super::{
    ApiError, Context, RequestId, body,
    operations::{Act, OPERATIONS, On, Operation},
    respond,
};

/// Where ads of every category are found.
pub(super) const GENERIC: &str = "/v4/ad";

/// Where ads of one category are found.
pub(super) fn typed(category: &Category) -> String {
    format!("/v4/{}", category.vehicle_type)
}

/// Mounts every operation of every category, and the generic ones.
pub(super) fn mount(mut route: Route, context: &Arc<Context>) -> Route {
    let bases = categories::all().map(|category| (typed(category), Some(category)));
    for (base, category) in bases.chain([(GENERIC.to_owned(), None)]) {
        let mut paths: BTreeMap<String, Vec<&'static Operation>> = BTreeMap::new();
        for operation in OPERATIONS.iter().filter(|operation| category.is_some() || operation.on == On::Both) {
            paths.entry(operation.route(&base)).or_default().push(operation);
        }
        let about_one = paths.get(&format!("{base}/:source_id")).cloned().unwrap_or_default();
        for (path, mut operations) in paths {
            // A name of the contract may be a source id too: GET /v4/car/validate reads the ad "validate".
            let source_id = path.strip_prefix(&base).and_then(|rest| rest.strip_prefix('/'));
            let source_id = source_id.filter(|rest| !rest.starts_with(':')).map(str::to_owned);
            if source_id.is_some() {
                operations.extend(&about_one);
            }
            route = route.at(path, Path { context: Arc::clone(context), category, operations, source_id });
        }
    }
    route
}

/// One path with its operations.
struct Path {
    context: Arc<Context>,
    category: Option<&'static Category>,
    operations: Vec<&'static Operation>,
    /// The source id that the path itself spells.
    source_id: Option<String>,
}

impl Endpoint for Path {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        Ok(self.answer(request).await.unwrap_or_else(ApiError::response))
    }
}

/// What a request about one ad is about, and who asks.
struct Call<'a> {
    context: &'a Context,
    category: Option<&'static Category>,
    access: Access,
    request_id: Uuid,
    source_id: &'a str,
}

impl Path {
    async fn answer(&self, mut request: Request) -> Result<Response, ApiError> {
        let operation = self.operation(request.method())?;
        let access = self.context.caller(&request, operation.permission)?;
        let source_id = self.source_id.clone().or_else(|| request.raw_path_param("source_id").map(str::to_owned));
        let call = Call {
            context: &self.context,
            category: self.category,
            access,
            request_id: request.data::<RequestId>().map_or_else(|| self.context.ids.next(), |id| id.0),
            source_id: source_id.as_deref().unwrap_or_default(),
        };
        match operation.act {
            Act::List => call.list(&request).await,
            Act::Log => call.log(&request).await,
            _ => call.act(operation, &mut request).await,
        }
    }

    fn operation(&self, method: &Method) -> Result<&'static Operation, ApiError> {
        self.operations.iter().find(|operation| operation.method == *method).copied().ok_or_else(|| {
            let mut allow: Vec<_> = self.operations.iter().map(|operation| operation.method.as_str()).collect();
            allow.dedup();
            let generic_write = self.category.is_none() && [Method::POST, Method::PUT, Method::PATCH].contains(method);
            let instead = if generic_write {
                format!(
                    " Use the typed path, {method} /v4/{{vehicle_type}}{}.",
                    if *method == Method::POST { "" } else { "/{source_id}" }
                )
            } else {
                format!(" This path has {}.", allow.join(", "))
            };
            ApiError::MethodNotAllowed {
                allow: allow.join(", "),
                detail: format!("Method {method} is not allowed.{instead}"),
            }
        })
    }
}

impl Call<'_> {
    /// Everything but lists.
    async fn act(self, operation: &Operation, request: &mut Request) -> Result<Response, ApiError> {
        let query = TargetQuery::parse(operation.parameters, &body::query(request))?;
        let payload = if operation.takes_body() { body::object(request).await? } else { serde_json::Map::new() };
        let service = &self.context.service;
        let (access, id) = (&self.access, self.request_id);
        let target = self.target(query.dealer_code.as_deref());
        let ad = match (operation.act, self.category) {
            (Act::Create, Some(category)) => {
                let ad = service.create(access, id, category, payload).await?;
                return Ok(respond::ad(StatusCode::CREATED, &ad, None));
            }
            (Act::Validate, Some(category)) => {
                return Ok(respond::validated(&service.validate(access, category, payload).await?));
            }
            (Act::Read, _) => {
                let (ad, log) = service.read(access, target).await?;
                return Ok(respond::ad(StatusCode::OK, &ad, Some(&log)));
            }
            (Act::Update, _) => service.update(access, id, target, &payload).await?,
            (Act::Delete, _) => service.delete(access, id, target).await?,
            (Act::Bump, _) => service.bump(access, id, target, query.exclude).await?,
            (Act::PolePosition, _) => service.pole_position(access, id, target).await?,
            (Act::Retry, _) => service.retry(access, id, target).await?,
            (Act::Create | Act::Validate | Act::List | Act::Log, _) => return Err(ApiError::unknown_path()),
        };
        Ok(respond::ad(StatusCode::OK, &ad, None))
    }

    async fn list(self, request: &Request) -> Result<Response, ApiError> {
        let pairs = body::query(request);
        let query = AdQuery::parse(&pairs)?;
        let (page, fields) = (query.page, query.fields.clone());
        let include_log = query.include_log;
        let list = self.context.service.list(&self.access, self.category, query).await?;
        let rows =
            list.rows.iter().map(|(ad, log)| ad.view(include_log.then_some(log.as_slice())).only(fields.as_deref()));
        Ok(respond::page(self.context, request, &pairs, page, list.count, rows.collect()))
    }

    async fn log(self, request: &Request) -> Result<Response, ApiError> {
        let pairs = body::query(request);
        let query = LogQuery::parse(&pairs)?;
        let target = self.target(query.dealer_code.as_deref());
        let list = self.context.service.log(&self.access, target, &query).await?;
        Ok(respond::page(self.context, request, &pairs, query.page, list.count, list.rows.iter().collect()))
    }

    fn target<'t>(&'t self, dealer_code: Option<&'t str>) -> Target<'t> {
        Target { source_id: self.source_id, dealer_code, category: self.category }
    }
}
