//! What the table of [operations](super::operations) says about what does an operation.

use ad_core::{
    fields::FieldErrors,
    service::{Accepted, Incoming, ServiceError},
};
use ad_parameters::{AdParameters, FromParameters, Parameter};
use futures_util::future::BoxFuture;
use poem::{Body, Response};

use super::{ApiError, body::Payload, call::Call, lists};

/// The answer of an operation.
pub(super) type ApiResult = Result<Response, ApiError>;

/// What does an operation, and which of the shared limits it takes.
pub(super) enum Handler {
    /// In a turn. If its payload is large, it runs where long computations run.
    InTurn(&'static dyn QueryHandler<Payload>),
    /// As [`InTurn`](Self::InTurn), one write of an ad at a time. It may have an idempotency key, and wait until the request is finished.
    Write(WriteHandler),
    /// With slot, memory and connection of a list.
    List(&'static dyn QueryHandler<lists::Turn>),
    /// With the body as it comes, and limits of its own.
    Stream(&'static dyn QueryHandler<Body>),
    /// With limits of its own, or with none.
    Alone(&'static dyn QueryHandler<()>),
    /// It refuses every request, whatever its parameters and body are.
    Refuse(fn(&Call<'_>, Result<Payload, ApiError>) -> ApiError),
}

pub(super) type WriteHandler =
    for<'a> fn(&'a Call<'a>, WriteInput<'a>) -> BoxFuture<'a, Result<Accepted, ServiceError>>;

pub(super) struct WriteInput<'a> {
    pub(super) query: AdParameters,
    pub(super) payload: Payload,
    pub(super) incoming: Incoming<'a>,
}

/// A handler that takes a query of some type, and `I`.
pub(super) trait QueryHandler<I>: Sync {
    /// The handler with its query, which is parsed before the body is read and before the request waits for a limit.
    fn parse(
        &self,
        parameters: &'static [Parameter],
        query: &[(String, String)],
    ) -> Result<ParsedHandler<I>, FieldErrors>;
}

pub(super) type ParsedHandler<I> = Box<dyn for<'a> FnOnce(&'a Call<'a>, I) -> BoxFuture<'a, ApiResult> + Send>;

pub(super) struct TypedHandler<Q, I>(pub(super) for<'a> fn(&'a Call<'a>, Q, I) -> BoxFuture<'a, ApiResult>);

impl<Q: FromParameters + Send + 'static, I: 'static> QueryHandler<I> for TypedHandler<Q, I> {
    fn parse(
        &self,
        parameters: &'static [Parameter],
        query: &[(String, String)],
    ) -> Result<ParsedHandler<I>, FieldErrors> {
        let (query, run) = (Q::parse(parameters, query)?, self.0);
        let parsed: ParsedHandler<I> = Box::new(move |call, input| run(call, query, input));
        Ok(parsed)
    }
}

/// An asynchronous function that is a [`QueryHandler`].
macro_rules! run {
    ($handler:path) => {
        &$crate::api::handler::TypedHandler(|call, query, input| Box::pin($handler(call, query, input)))
    };
}

/// An asynchronous function that is a [`WriteHandler`].
macro_rules! accepts {
    ($handler:path) => {
        |call, write| Box::pin($handler(call, write))
    };
}

pub(super) use {accepts, run};
