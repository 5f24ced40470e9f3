//! The paths of pages: the session, permissions, and how errors are shown.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use poem::{Endpoint, Request, Response, Result, http::Method};

use super::{
    Console, page, session,
    visitor::{PageResult, Visit, Visitor, check_origin, not_allowed},
};
use crate::api::{ApiError, Context, body};
use ad_server_access::auth::{Caller, Permission};

/// Most bytes of a form, unless a page takes more: all ads of the largest page are selected.
const MOST_FORM_BYTES: usize = 256 * 1024;

/// Answers a visit.
pub(super) trait PageHandler: Send + Sync + 'static {
    fn answer(&self, visit: Visit) -> BoxFuture<'static, PageResult>;
}

impl<F: Fn(Visit) -> A + Send + Sync + 'static, A: Future<Output = PageResult> + Send + 'static> PageHandler for F {
    fn answer(&self, visit: Visit) -> BoxFuture<'static, PageResult> {
        self(visit).boxed()
    }
}

/// The handler of a path for a method, with its permission.
struct PageAction {
    permission: Option<Permission>,
    handler: Box<dyn PageHandler>,
}

/// A path with its page and the handler of its forms.
pub(super) struct PagePath {
    get: Option<PageAction>,
    post: Option<PageAction>,
    most_form_bytes: usize,
}

/// A path without handlers.
pub(super) fn path() -> PagePath {
    PagePath { get: None, post: None, most_form_bytes: MOST_FORM_BYTES }
}

impl PagePath {
    /// The page, for those with a permission; `None`: for everybody who has signed in.
    pub(super) fn get(self, permission: impl Into<Option<Permission>>, handler: impl PageHandler) -> Self {
        Self { get: Some(PageAction { permission: permission.into(), handler: Box::new(handler) }), ..self }
    }

    /// The handler of its forms, for visitors with a permission.
    pub(super) fn post(self, permission: impl Into<Option<Permission>>, handler: impl PageHandler) -> Self {
        Self { post: Some(PageAction { permission: permission.into(), handler: Box::new(handler) }), ..self }
    }

    /// The page and the handler of its forms, for visitors with a permission.
    pub(super) fn both(self, permission: Permission, page: impl PageHandler, forms: impl PageHandler) -> Self {
        self.get(permission, page).post(permission, forms)
    }

    /// The same for forms of at most so many bytes.
    pub(super) fn with_forms_of(self, most_form_bytes: usize) -> Self {
        Self { most_form_bytes, ..self }
    }

    pub(super) fn of(self, context: &Arc<Context>, console: &Console) -> PageEndpoint {
        PageEndpoint { path: self, context: Arc::clone(context), console: console.clone() }
    }
}

pub(super) struct PageEndpoint {
    path: PagePath,
    context: Arc<Context>,
    console: Console,
}

impl Endpoint for PageEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let visitor = Arc::new(Visitor::of(&self.context, &self.console, &request));
        let caller = session::of(&visitor, &request);
        let signed_in = caller.as_ref().ok().cloned();
        let is_page = matches!(*request.method(), Method::GET | Method::HEAD);
        Ok(match self.answer(Arc::clone(&visitor), caller, request).await {
            Ok(response) => response,
            // Only GET can be repeated after sign-in.
            Err(ApiError::NoToken { .. } | ApiError::InvalidToken(_)) if is_page => {
                session::redirect_to_sign_in(&visitor)
            }
            Err(error) => page::error(&visitor, signed_in.as_ref(), &error),
        })
    }
}

impl PageEndpoint {
    async fn answer(
        &self,
        visitor: Arc<Visitor>,
        caller: Result<Caller, ApiError>,
        mut request: Request,
    ) -> PageResult {
        let action = match *request.method() {
            Method::GET | Method::HEAD => self.path.get.as_ref(),
            Method::POST => self.path.post.as_ref(),
            _ => None,
        };
        let action =
            action.ok_or_else(|| not_allowed(self.path.get.is_some(), self.path.post.is_some(), request.method()))?;
        if *request.method() == Method::POST {
            check_origin(&visitor, &request)?;
        }
        let caller = caller?;
        self.context.count(&caller, &request)?;
        Context::check_permission(&caller, action.permission)?;
        let query = body::query(&request)?;
        let form = if *request.method() == Method::POST {
            let scope = &caller.scope;
            body::form(&mut request, &self.context.limits, Some(scope), self.path.most_form_bytes).await?
        } else {
            Vec::new()
        };
        let request_id = self.context.request_id(&request);
        let headers = std::mem::take(request.headers_mut());
        action.handler.answer(Visit { visitor, caller, request_id, query, form, headers }).await
    }
}
