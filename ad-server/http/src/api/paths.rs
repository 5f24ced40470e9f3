//! Maps paths and methods to use cases, for every operation of every category.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{
    categories::{self, TRAILER},
    fields::FieldErrors,
    model::{AdQuery, AdTag, Included, LogQuery, RequestOrigin},
    parameters::{self, AD_PARAMETERS, AdParameters, LOG_PARAMETERS, Parameter},
    ports::ListedAd,
    rulebook::versions::VersionError,
    service::{Access, CreatePath, ServiceError, TaggedAd, Target},
};
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};
use uuid::Uuid;

use super::{
    ApiError, Context, RequestId,
    body::{self, Payload},
    compression::{CodedBytes, Coding},
    conditional::{self, Tags},
    errors::{json_bytes, json_response},
    headers, links,
    lists::{AnswerMemory, Turn, held},
    missing,
    observe::Routes,
    operations::{Act, BasePath, Operation, bases},
    respond::{self, PageBody},
};

/// Mounts every operation on every base.
pub(super) fn mount(mut route: Routes, context: &Arc<Context>) -> Routes {
    for base in bases() {
        let mut paths: BTreeMap<String, Vec<&'static Operation>> = BTreeMap::new();
        for operation in base.operations() {
            paths.entry(operation.route(base)).or_default().push(operation);
        }
        let prefix = base.to_string();
        let about_one = paths.get(&format!("{prefix}/:source_id")).cloned().unwrap_or_default();
        for (path, mut operations) in paths {
            // A name of the contract may be a source id too: GET /v4/car/validate reads the ad "validate".
            let source_id = path.strip_prefix(&prefix).and_then(|rest| rest.strip_prefix('/'));
            let source_id = source_id.filter(|rest| !rest.starts_with(':')).map(str::to_owned);
            if source_id.is_some() {
                operations.extend(&about_one);
            }
            route = route.at(path, Path { context: Arc::clone(context), base, operations, source_id });
        }
    }
    route
}

/// One path with its operations.
struct Path {
    context: Arc<Context>,
    base: BasePath,
    operations: Vec<&'static Operation>,
    /// The source id that the path itself spells.
    source_id: Option<String>,
}

impl Endpoint for Path {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let operation = self.operation(request.method());
        let acts = operation.as_ref().is_ok_and(|operation| operation.is_action());
        let response = match operation {
            Ok(operation) => self.answer(operation, request).await.unwrap_or_else(ApiError::response),
            Err(error) => error.response(),
        };
        Ok(headers::to_token(response, if acts { headers::NO_STORE } else { headers::PRIVATE }))
    }
}

/// A request about one ad: the ad, the caller and the conditions.
pub(super) struct AdCall<'a> {
    pub(super) context: &'a Context,
    pub(super) base: BasePath,
    pub(super) access: Access,
    pub(super) origin: RequestOrigin,
    pub(super) request_id: Uuid,
    pub(super) source_id: &'a str,
    pub(super) operations: &'a [&'static Operation],
    /// Tags of the versions that the client has (`If-None-Match`), for a read.
    pub(super) known: Option<Tags>,
    /// Revisions that the ad may have (`If-Match`), for a write.
    pub(super) revisions: Option<Vec<i64>>,
    /// The coding that the client accepts.
    coding: Option<Coding>,
    /// Base address of the API, for answers with `Location`.
    root: String,
}

impl Path {
    async fn answer(&self, operation: &Operation, mut request: Request) -> Result<Response, ApiError> {
        let caller = self.context.permitted(&request, operation.permission)?;
        let origin = super::origin(&caller);
        let access = caller.scope;
        let source_id = self.source_id.clone().or_else(|| request.raw_path_param("source_id").map(str::to_owned));
        self.context.check_faults(&access, source_id.as_deref())?;
        let tags = |header| Tags::of(&header, request.headers().get_all(&header));
        let known = if operation.act == Act::Read { tags(header::IF_NONE_MATCH)? } else { None };
        let expected = if operation.changes_one() { tags(header::IF_MATCH)? } else { None };
        let call = AdCall {
            context: &self.context,
            base: self.base,
            access,
            origin,
            request_id: request.data::<RequestId>().map_or_else(|| self.context.ids.next(), |id| id.0),
            source_id: source_id.as_deref().unwrap_or_default(),
            operations: &self.operations,
            known,
            revisions: expected.and_then(|tags| tags.revisions()),
            coding: request.data::<Coding>().copied(),
            root: if operation.creates() { links::to(&self.context, &request, "") } else { String::new() },
        };
        let answer = match operation.act {
            Act::List => call.list(&request).await,
            Act::Log => call.log(&request).await,
            // It is several times as large as the others.
            _ if operation.is_write() => Box::pin(call.write(operation, &mut request)).await,
            _ => call.act(operation, &mut request).await,
        };
        match answer {
            Err(ApiError::Service(ServiceError::NotFound)) => {
                let text = missing::ad(&self.context.service, &call.access, self.base, call.source_id).await;
                Err(ApiError::NotFound(text))
            }
            Err(ApiError::Service(error)) if operation.creates() => Ok(call.refusal(error)),
            answer => answer,
        }
    }

    fn operation(&self, method: &Method) -> Result<&'static Operation, ApiError> {
        // Every GET that only reads has HEAD.
        let is_head = *method == Method::HEAD;
        let found = self.operations.iter().copied().find(|operation| match operation.method {
            Method::GET if is_head => !operation.is_action(),
            ref known => known == method,
        });
        found.ok_or_else(|| not_allowed(self.base, &self.operations, method))
    }
}

/// The refusal of a method that a path does not have, with those that it has.
pub(super) fn not_allowed(base: BasePath, operations: &[&Operation], method: &Method) -> ApiError {
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
    let detail = format!("Method {method} is not allowed.{instead}");
    if operations.iter().any(|operation| operation.method == Method::GET && !operation.is_action()) {
        allow.push("HEAD");
    }
    allow.push("OPTIONS");
    ApiError::MethodNotAllowed { allow: allow.join(", "), detail }
}

impl AdCall<'_> {
    /// Everything but lists and writes.
    async fn act(&self, operation: &Operation, request: &mut Request) -> Result<Response, ApiError> {
        if operation.act == Act::RefuseCreate {
            return Err(self.refuse_create(operation, request).await);
        }
        let query = self.query(operation, request)?;
        let (access, limits) = (&self.access, &self.context.limits);
        let payload = if operation.takes_body() {
            body::object(request, limits, access, operation.act == Act::Validate, |_| ()).await?
        } else {
            Payload::default()
        };
        self.context.check_faults(access, payload.source_id())?;
        // Lists have limits of their own.
        let _turn = limits.turns.take(access).await?;
        if payload.is_large() {
            limits.processor.run(access.name(), self.perform(operation, query, payload)).await
        } else {
            self.perform(operation, query, payload).await
        }
    }

    /// Why the path creates nothing, whatever else is wrong with the request.
    async fn refuse_create(&self, operation: &Operation, request: &mut Request) -> ApiError {
        match body::object(request, &self.context.limits, &self.access, false, |_| ()).await {
            Ok(payload) if payload.object.get("category_id").and_then(categories::sent_id) == Some(TRAILER) => {
                ServiceError::from(VersionError::TrailerCreateDisabled).into()
            }
            _ => not_allowed(self.base, self.operations, &operation.method),
        }
    }

    async fn perform(
        &self,
        operation: &Operation,
        query: AdParameters,
        payload: Payload,
    ) -> Result<Response, ApiError> {
        let Payload { object: payload, repeated, memory: _memory } = payload;
        let (service, access) = (&self.context.service, &self.access);
        let target = self.target(query.dealer_code.as_deref());
        match operation.act {
            Act::Validate => {
                let mut validated = service.validate(access, self.through(), payload).await?;
                validated.warnings.extend(repeated);
                Ok(respond::validated(&validated))
            }
            Act::Status => Ok(json_response(StatusCode::OK, &service.status(access, target).await?)),
            Act::Prices => Ok(json_response(StatusCode::OK, &service.prices(access, target).await?)),
            Act::Read => self.read(target, &query).await,
            _ => Err(ApiError::unknown_path()),
        }
    }

    async fn list(&self, request: &Request) -> Result<Response, ApiError> {
        let pairs = body::query(request)?;
        let query = AdQuery::parse(&pairs).map_err(|errors| self.suggest(AD_PARAMETERS, errors))?;
        let (page, fields) = (query.page, query.fields.clone());
        let Included { log: with_log, status: with_status, quality: with_quality } = query.included;
        let mut turn = self.context.limits.lists.turn(self.access.name()).await?;
        let list = self.context.service.list(&self.access, self.base.category(), query).await?;
        turn.has_read();
        let mut qualities = Vec::new();
        if with_quality {
            qualities = self.context.service.quality_summaries(&self.access, &list.rows);
        }
        let mut qualities = qualities.into_iter();
        let rows = list.rows.iter().map(|ListedAd { ad, log, words, .. }| {
            let view = ad.view(with_log.then_some(log.as_slice())).with_status(with_status.then_some(words.status));
            view.with_quality_summary(qualities.next().flatten()).only(fields.as_deref())
        });
        let body = PageBody::new(self.context, request, &pairs, page, list.count, rows.collect())?;
        // Compression reuses the memory reserved for the rows.
        drop(list);
        self.page(turn, body).await
    }

    async fn log(&self, request: &Request) -> Result<Response, ApiError> {
        let pairs = body::query(request)?;
        let query = LogQuery::parse(&pairs).map_err(|errors| self.suggest(LOG_PARAMETERS, errors))?;
        let target = self.target(query.dealer_code.as_deref());
        let mut turn = self.context.limits.lists.turn(self.access.name()).await?;
        let list = self.context.service.log(&self.access, target, &query).await?;
        turn.has_read();
        let body = PageBody::new(self.context, request, &pairs, query.page, list.count, list.rows.iter().collect())?;
        drop(list);
        self.page(turn, body).await
    }

    /// The answer with a page of a list.
    async fn page(&self, turn: Turn, page: PageBody) -> Result<Response, ApiError> {
        let PageBody { bytes, links } = page;
        let mut response = turn.answer(self.coded(bytes).await?);
        if let Some(links) = links {
            response.headers_mut().insert(header::LINK, links);
        }
        Ok(response)
    }

    /// The bytes of an answer in the coding that the client accepts.
    async fn coded(&self, bytes: Vec<u8>) -> Result<CodedBytes, ApiError> {
        CodedBytes::of(bytes, self.coding, &self.context.limits.processor, self.access.name()).await
    }

    /// One ad, or 304 if the client has it, for which the ad itself is not read. If there is no memory for a large answer, it is
    /// dropped and read again when there is.
    async fn read(&self, target: Target<'_>, query: &AdParameters) -> Result<Response, ApiError> {
        if let Some(known) = &self.known
            && let Some(tag) = self.context.service.tag(&self.access, target).await?
            && known.have(tag.to_string().as_bytes())
        {
            return Ok(conditional::not_modified(conditional::etag(tag)));
        }
        let (lists, holder) = (&self.context.limits.lists, self.access.name());
        let mut memory = None;
        loop {
            let (bytes, tag) = self.read_bytes(target, query).await?;
            let granted = memory.take().map_or_else(|| lists.memory_for(holder, bytes.len()), AnswerMemory::Granted);
            match granted {
                AnswerMemory::NotNeeded => {
                    let response = Response::builder().header(header::ETAG, conditional::etag(tag));
                    return Ok(response.content_type("application/json").body(bytes));
                }
                AnswerMemory::Granted(mut share) => {
                    let body = self.coded(bytes).await?;
                    share.shrink(body.bytes.len());
                    let mut response = held(StatusCode::OK, body, share);
                    response.headers_mut().insert(header::ETAG, conditional::etag(tag));
                    return Ok(response);
                }
                AnswerMemory::Taken => {
                    let length = bytes.len();
                    drop(bytes);
                    memory = Some(lists.wait_for(holder, length).await?);
                }
            }
        }
    }

    pub(super) fn query(&self, operation: &Operation, request: &Request) -> Result<AdParameters, ApiError> {
        let query = AdParameters::parse(operation.parameters, &body::query(request)?);
        Ok(query.map_err(|errors| self.suggest(operation.parameters, errors))?)
    }

    /// The errors of a query, with suggestions by the operator's names of parameters.
    fn suggest(&self, parameters: &[Parameter], mut errors: FieldErrors) -> FieldErrors {
        parameters::suggest(&self.context.service.rulebook().settings.names, parameters, &mut errors);
        errors
    }

    async fn read_bytes(&self, target: Target<'_>, query: &AdParameters) -> Result<(Vec<u8>, AdTag), ApiError> {
        let service = &self.context.service;
        let (shown, log) = if query.included.log {
            let (shown, log) = service.read(&self.access, target).await?;
            (shown, Some(log))
        } else {
            (service.read_without_log(&self.access, target).await?, None)
        };
        let TaggedAd { ad, tag, status, failed_images } = &shown;
        let quality =
            if query.included.quality { Some(service.quality_among_ads(ad, failed_images).await?) } else { None };
        let view = ad.view(log.as_deref()).with_status(query.included.status.then_some(*status));
        let view = view.with_quality(quality.as_ref()).only(query.fields.as_deref());
        Ok((json_bytes(&view)?, *tag))
    }

    /// The refusal of a new ad or of its validation. A duplicate source id comes with the location of the ad that has it.
    fn refusal(&self, error: ServiceError) -> Response {
        let generic = if matches!(self.base, BasePath::V3) { BasePath::V3 } else { BasePath::Generic };
        let address = match &error {
            ServiceError::Duplicate { source_id, dealer_code } => self.address_of(generic, source_id, dealer_code),
            _ => None,
        };
        let mut response = ApiError::from(error).response();
        response.headers_mut().extend(address.map(|address| (header::LOCATION, address)));
        response
    }

    /// The address of an ad on a path, for [`header::LOCATION`].
    pub(super) fn address_of(&self, base: BasePath, source_id: &str, dealer_code: &str) -> Option<HeaderValue> {
        let dealer_code = matches!(self.access, Access::Group(_)).then_some(dealer_code);
        respond::address_of(&format!("{}{base}", self.root), source_id, dealer_code)
    }

    pub(super) fn target<'t>(&'t self, dealer_code: Option<&'t str>) -> Target<'t> {
        let (category, revisions) = (self.base.category(), self.revisions.as_deref());
        Target { source_id: self.source_id, dealer_code, category, revisions }
    }

    /// Where the payload of a new ad on this path is sent.
    pub(super) fn through(&self) -> CreatePath {
        self.base.category().map_or(CreatePath::V3, CreatePath::V4)
    }
}
