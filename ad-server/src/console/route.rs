//! Common to all pages of the console: the visitor, permissions, and how errors are shown.

use std::sync::Arc;

use ad_core::model::RequestOrigin;
use futures_util::{FutureExt, future::BoxFuture};
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, uri::Authority},
};
use uuid::Uuid;

use super::{
    Console, page, session,
    texts::{Language, Texts},
};
use crate::{
    api::{self, ApiError, Context, RequestId, body, links},
    auth::{Caller, Permission},
};

/// Path of the console below the root of the service.
const CONSOLE: &str = "/console";

/// Most bytes of a form, unless a page takes more: all ads of the largest page are selected.
const MOST_FORM_BYTES: usize = 256 * 1024;

/// The visitor of a page, signed in or not.
pub(super) struct Visitor {
    pub(super) context: Arc<Context>,
    pub(super) console: Console,
    pub(super) language: Language,
    /// The texts of the language.
    pub(super) texts: &'static Texts,
    /// Path of the console without a slash at its end, such as `/console`; longer below a path of a proxy.
    pub(super) root: String,
    /// Address of the service as the visitor's browser has it, such as `https://ads.example.com`.
    pub(super) base: String,
    /// Path and query of the page behind [`root`](Self::root), such as `/stock?status=failed`.
    pub(super) here: String,
}

/// A visit of a signed-in visitor with the permission of the page.
pub(super) struct Visit {
    pub(super) visitor: Arc<Visitor>,
    /// Who has signed in.
    pub(super) caller: Caller,
    /// Id of the HTTP request, and of what it changes.
    pub(super) request_id: Uuid,
    pub(super) query: Vec<(String, String)>,
    /// The form data; empty on pages.
    pub(super) form: Vec<(String, String)>,
    /// Headers of the request.
    pub(super) headers: HeaderMap,
}

/// The answer of a page. An error is shown on a page of its own.
pub(super) type Answer = Result<Response, ApiError>;

impl Visitor {
    pub(super) fn of(context: &Arc<Context>, console: &Console, request: &Request) -> Self {
        let base = links::base(context, request);
        let origin_end = base.find("://").map_or(0, |at| at + 3);
        let below = base[origin_end..].find('/').map_or("", |at| &base[origin_end + at..]);
        let root = format!("{below}{}{CONSOLE}", links::mounted_at(request));
        let path = request.uri().path().strip_prefix(CONSOLE).unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let here = match request.uri().query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        let language = Language::of(request);
        let (context, console) = (Arc::clone(context), console.clone());
        Self { context, console, language, texts: language.texts(), root, base, here }
    }

    /// Whether the browser reaches the service by https.
    pub(super) fn is_secure(&self) -> bool {
        self.base.starts_with("https://")
    }

    /// Path of the root of the service without a slash at its end; empty unless the service is below a path of a proxy.
    pub(super) fn service_root(&self) -> &str {
        self.root.strip_suffix(CONSOLE).unwrap_or_default()
    }

    /// [`here`](Self::here) without a parameter.
    pub(super) fn here_without(&self, parameter: &str) -> String {
        let (path, query) = self.here.split_once('?').unwrap_or((&self.here, ""));
        let others = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != parameter);
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Address of a page of the console, by the path behind `/console`.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    /// Redirects to another page of the console, always on this host.
    pub(super) fn redirect(&self, path: &str) -> Response {
        let location = HeaderValue::try_from(self.address(path));
        let location = location.or_else(|_| HeaderValue::try_from(self.address("/")));
        let mut response = Response::builder().status(StatusCode::SEE_OTHER).finish();
        response.headers_mut().extend(location.ok().map(|location| (header::LOCATION, location)));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl Visit {
    /// Where what it changes comes from.
    pub(super) fn origin(&self) -> RequestOrigin {
        api::origin(&self.caller)
    }

    /// Whether the visitor's token has a permission.
    pub(super) fn may(&self, permission: Permission) -> bool {
        self.caller.permissions.contains(permission)
    }

    /// A value of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        value(&self.query, name)
    }

    /// A value of the form.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        value(&self.form, name)
    }
}

/// The first value of a name in a query or form.
pub(super) fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Answers a visit.
pub(super) trait Handler: Send + Sync + 'static {
    fn answer(&self, visit: Visit) -> BoxFuture<'static, Answer>;
}

impl<F: Fn(Visit) -> A + Send + Sync + 'static, A: Future<Output = Answer> + Send + 'static> Handler for F {
    fn answer(&self, visit: Visit) -> BoxFuture<'static, Answer> {
        self(visit).boxed()
    }
}

/// The handler of a path for a method, with its permission.
struct Action {
    permission: Option<Permission>,
    handler: Box<dyn Handler>,
}

/// A path with its page and the handler of its forms.
pub(super) struct Path {
    get: Option<Action>,
    post: Option<Action>,
    most_form_bytes: usize,
}

/// A path without handlers.
pub(super) fn path() -> Path {
    Path { get: None, post: None, most_form_bytes: MOST_FORM_BYTES }
}

impl Path {
    /// The page, for those with a permission; `None`: for everybody who has signed in.
    pub(super) fn get(self, permission: impl Into<Option<Permission>>, handler: impl Handler) -> Self {
        Self { get: Some(Action { permission: permission.into(), handler: Box::new(handler) }), ..self }
    }

    /// The handler of its forms, for visitors with a permission.
    pub(super) fn post(self, permission: impl Into<Option<Permission>>, handler: impl Handler) -> Self {
        Self { post: Some(Action { permission: permission.into(), handler: Box::new(handler) }), ..self }
    }

    /// The page and the handler of its forms, for visitors with a permission.
    pub(super) fn both(self, permission: Permission, page: impl Handler, forms: impl Handler) -> Self {
        self.get(permission, page).post(permission, forms)
    }

    /// The same for forms of at most so many bytes.
    pub(super) fn with_forms_of(self, most_form_bytes: usize) -> Self {
        Self { most_form_bytes, ..self }
    }

    /// The same as an endpoint.
    pub(super) fn of(self, context: &Arc<Context>, console: &Console) -> PathEndpoint {
        PathEndpoint { path: self, context: Arc::clone(context), console: console.clone() }
    }
}

/// A [`Path`] as an endpoint.
pub(super) struct PathEndpoint {
    path: Path,
    context: Arc<Context>,
    console: Console,
}

impl Endpoint for PathEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let visitor = Arc::new(Visitor::of(&self.context, &self.console, &request));
        let caller = session::of(&visitor, &request);
        let signed_in = caller.as_ref().ok().cloned();
        let is_page = matches!(*request.method(), Method::GET | Method::HEAD);
        Ok(match self.answer(Arc::clone(&visitor), caller, request).await {
            Ok(response) => response,
            // Only GET can be repeated after sign-in.
            Err(ApiError::NoToken { .. } | ApiError::InvalidToken(_)) if is_page => session::ask(&visitor),
            Err(error) => page::error(&visitor, signed_in.as_ref(), &error),
        })
    }
}

impl PathEndpoint {
    async fn answer(&self, visitor: Arc<Visitor>, caller: Result<Caller, ApiError>, mut request: Request) -> Answer {
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
        if let Some(permission) = action.permission.filter(|needed| !caller.permissions.contains(*needed)) {
            return Err(ApiError::Forbidden(permission));
        }
        let query = body::query(&request)?;
        let form = if *request.method() == Method::POST {
            let scope = &caller.scope;
            body::form(&mut request, &self.context.limits, Some(scope), self.path.most_form_bytes).await?
        } else {
            Vec::new()
        };
        let request_id = request.data::<RequestId>().map_or_else(|| self.context.ids.next(), |id| id.0);
        let headers = std::mem::take(request.headers_mut());
        action.handler.answer(Visit { visitor, caller, request_id, query, form, headers }).await
    }
}

/// The refusal of a method by a path that has these.
pub(super) fn not_allowed(has_get: bool, has_post: bool, method: &Method) -> ApiError {
    let methods = [has_get.then_some("GET"), has_post.then_some("POST")];
    ApiError::only(&methods.into_iter().flatten().collect::<Vec<_>>(), Some(method))
}

/// Refuses forms from other sites, by the headers `Origin` and `Sec-Fetch-Site` of the browser.
pub(super) fn check_origin(visitor: &Visitor, request: &Request) -> Result<(), ApiError> {
    let site = request.header("sec-fetch-site");
    let is_own = site.is_none_or(|site| site == "same-origin")
        && match request.header("origin") {
            None | Some("null") => site.is_some(),
            Some(origin) => is_own_origin(visitor, request, origin),
        };
    if is_own { Ok(()) } else { Err(ApiError::ForeignOrigin) }
}

/// Whether an origin is the service, by its public address or by the host of the request.
fn is_own_origin(visitor: &Visitor, request: &Request, origin: &str) -> bool {
    let of_service = url::Url::parse(&visitor.base).map(|url| url.origin().ascii_serialization());
    let host = request.header("host").or(request.original_uri().authority().map(Authority::as_str));
    of_service.is_ok_and(|own| own == origin) || origin.split_once("://").is_some_and(|(_, own)| Some(own) == host)
}
