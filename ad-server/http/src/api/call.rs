//! A request that has passed the gates of its operation, as handlers see it.

use std::sync::Arc;

use ad_core::{
    fields::FieldErrors,
    model::{RequestOrigin, Via},
    service::{Access, CreatePath, Target},
};
use ad_parameters::Parameter;
use poem::{
    Body, Request,
    http::{HeaderValue, header},
};
use uuid::Uuid;

use super::{
    ApiError, Context,
    body::{self, Payload},
    compression::{CodedBytes, Coding},
    conditional::Tags,
    handler::ApiResult,
    links,
    lists::Turn,
    operations::{Act, BasePath, Operation, TakenBody},
    perform::OperationPath,
    respond::{self, PageBody},
};
use ad_server_access::auth::Caller;

/// A request of a caller who may make it.
pub(super) struct Call<'a> {
    pub(super) path: &'a OperationPath,
    pub(super) operation: &'static Operation,
    /// Its body is taken already.
    pub(super) request: &'a Request,
    pub(super) caller: Caller,
    pub(super) origin: RequestOrigin,
    pub(super) id: Uuid,
    /// The ad that the path names; empty, if it names none.
    pub(super) source_id: String,
    /// Decoded names and values of the query string.
    pub(super) query: Vec<(String, String)>,
    /// Tags of the versions that the client has (`If-None-Match`), for a read.
    pub(super) known: Option<Tags>,
    /// Revisions that the ad may have (`If-Match`), for a write.
    revisions: Option<Vec<i64>>,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        path: &'a OperationPath,
        operation: &'static Operation,
        request: &'a Request,
        caller: Caller,
    ) -> Result<Self, ApiError> {
        let source_id = path.source_id(request);
        path.state.context.check_faults(&caller.scope, source_id)?;
        let tags = |header| Tags::of(&header, request.headers().get_all(&header));
        let known = if operation.act == Act::Read { tags(header::IF_NONE_MATCH)? } else { None };
        let expected = if operation.changes_one() { tags(header::IF_MATCH)? } else { None };
        Ok(Self {
            path,
            operation,
            request,
            origin: super::origin(&caller, via(request)),
            caller,
            id: path.state.context.request_id(request),
            source_id: source_id.unwrap_or_default().to_owned(),
            query: if operation.act == Act::RefuseCreate { Vec::new() } else { body::query(request)? },
            known,
            revisions: expected.and_then(|tags| tags.revisions()),
        })
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.path.state.context
    }

    /// The dealers that the token gives access to.
    pub(super) fn access(&self) -> &Access {
        &self.caller.scope
    }

    /// A part of the path; empty, if it has none of this name.
    pub(super) fn path_parameter(&self, name: &str) -> &str {
        self.request.raw_path_param(name).unwrap_or_default()
    }

    pub(super) fn parsed<T>(
        &self,
        parse: impl FnOnce(&'static [Parameter], &[(String, String)]) -> Result<T, FieldErrors>,
    ) -> Result<T, ApiError> {
        let parameters = self.operation.parameters;
        Ok(parse(parameters, &self.query).map_err(|errors| suggest(self.context(), parameters, errors))?)
    }

    /// The body that the operation takes. Its text is shown to `seen`.
    pub(super) async fn payload(&self, body: Body, seen: impl FnOnce(&[u8])) -> Result<Payload, ApiError> {
        let (access, limits) = (self.access(), &self.context().limits);
        let warns_of_repeated = match self.operation.body {
            TakenBody::Nothing | TakenBody::Stock => return Ok(Payload::default()),
            TakenBody::Object | TakenBody::ObjectOf(_) => false,
            TakenBody::CheckedObject => true,
        };
        let payload = body::object(self.request, body, limits, access, warns_of_repeated, seen).await?;
        if self.operation.creates() {
            self.context().check_faults(access, payload.source_id())?;
        }
        Ok(payload)
    }

    /// The ad of the path, of a dealer if the query names one.
    pub(super) fn target<'t>(&'t self, dealer_code: Option<&'t String>) -> Target<'t> {
        let (category, revisions) = (self.path.base.category(), self.revisions.as_deref());
        Target { source_id: &self.source_id, dealer_code: dealer_code.map(String::as_str), category, revisions }
    }

    /// Where the payload of a new ad on this path is sent.
    pub(super) fn through(&self) -> CreatePath {
        self.path.base.category().map_or(CreatePath::V3, CreatePath::V4)
    }

    /// The address of an ad on a path, for [`header::LOCATION`].
    pub(super) fn address_of(&self, base: BasePath, source_id: &str, dealer_code: &str) -> Option<HeaderValue> {
        let dealer_code = matches!(self.access(), Access::Group(_)).then_some(dealer_code);
        let root = links::to(self.context(), self.request, "");
        respond::address_of(&format!("{root}{base}"), source_id, dealer_code)
    }

    /// The bytes of its answer in the coding that the client accepts.
    pub(super) async fn coded(&self, bytes: Vec<u8>) -> Result<CodedBytes, ApiError> {
        let coding = self.request.data::<Coding>().copied();
        CodedBytes::of(bytes, coding, &self.context().limits.processor, self.access().name()).await
    }

    /// The answer with a page of a list.
    pub(super) async fn page(&self, turn: Turn, page: PageBody) -> ApiResult {
        let PageBody { bytes, links } = page;
        let mut response = turn.answer(self.coded(bytes).await?);
        response.headers_mut().extend(links.map(|links| (header::LINK, links)));
        Ok(response)
    }
}

/// The errors of a query, with what an operator's names of parameters stand for.
pub(super) fn suggest(context: &Context, parameters: &[Parameter], mut errors: FieldErrors) -> FieldErrors {
    ad_parameters::suggest(&context.service.rulebook().settings.names, parameters, &mut errors);
    errors
}

/// Through what a request of the API was sent: the client of the command lines names itself.
fn via(request: &Request) -> Via {
    let agent = request.headers().get(header::USER_AGENT).map_or(&[][..], |agent| agent.as_bytes());
    if agent.starts_with(b"ad-cli/") { Via::CommandLine } else { Via::Api }
}
