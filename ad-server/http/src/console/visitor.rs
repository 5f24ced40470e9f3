//! The visitor of a page, what the browser sent, and whether it may have come from another site.

use std::sync::Arc;

use ad_core::model::{RequestOrigin, Via};
use poem::{
    Request, Response, Result,
    http::{HeaderMap, HeaderValue, StatusCode, header, uri::Authority},
};
use uuid::Uuid;

use super::{
    Console,
    texts::{Language, Texts},
};
use crate::api::{self, ApiError, Context, body::ReceivedFile, events::Events, links};
use ad_server_access::auth::{Caller, Permission};

/// Path of the console below the root of the service.
const CONSOLE: &str = "/console";

/// The visitor of a page, signed in or not.
pub(super) struct Visitor {
    pub(super) context: Arc<Context>,
    pub(super) console: Console,
    pub(super) events: Arc<Events>,
    pub(super) language: Language,
    /// Whether the form has chosen the language, so that the browser is to keep it.
    pub(super) is_chosen: bool,
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
    /// Caller whose token signed in, or whom a link signed in.
    pub(super) caller: Caller,
    /// The visitor's session.
    pub(super) session: Uuid,
    /// The token whose revocation ends what the visitor gives to others.
    pub(super) root: String,
    /// Id of the HTTP request, and of what it changes.
    pub(super) request_id: Uuid,
    pub(super) query: Vec<(String, String)>,
    /// The form data; empty on pages.
    pub(super) form: Vec<(String, String)>,
    /// The files that were sent, where a page takes some.
    pub(super) files: Vec<ReceivedFile>,
    pub(super) headers: HeaderMap,
}

/// The answer of a page. An error is shown on a page of its own.
pub(super) type PageResult = Result<Response, ApiError>;

impl Visitor {
    pub(super) fn of(context: &Arc<Context>, console: &Console, events: Arc<Events>, request: &Request) -> Self {
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
        Self { context, console, events, language, is_chosen: false, texts: language.texts(), root, base, here }
    }

    /// The same visitor, who has chosen a language.
    pub(super) fn speaking(&self, language: Language) -> Self {
        Self {
            context: Arc::clone(&self.context),
            console: self.console.clone(),
            events: Arc::clone(&self.events),
            language,
            is_chosen: true,
            texts: language.texts(),
            root: self.root.clone(),
            base: self.base.clone(),
            here: self.here.clone(),
        }
    }

    /// Whether the browser reaches the service by https.
    pub(super) fn is_secure(&self) -> bool {
        self.base.starts_with("https://")
    }

    /// Path of the root of the service without a slash at its end; empty unless the service is below a path of a proxy.
    pub(super) fn service_root(&self) -> &str {
        self.root.strip_suffix(CONSOLE).unwrap_or_default()
    }

    /// The present path and query, without one parameter.
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

    /// The same with scheme and host, to be sent to others.
    pub(super) fn absolute(&self, path: &str) -> String {
        let host = self.base.find("://").map_or(0, |at| at + 3);
        let origin = self.base[host..].find('/').map_or(&*self.base, |at| &self.base[..host + at]);
        format!("{origin}{}", self.address(path))
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
        api::origin(&self.caller, Via::Console)
    }

    /// Whether the visitor's token has a permission.
    pub(super) fn may(&self, permission: impl Into<Option<Permission>>) -> bool {
        Context::check_permission(&self.caller, permission.into()).is_ok()
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

/// Whether an origin is the service: scheme, host and port of its public address. Without one, the host of the request counts, because
/// a proxy may add TLS.
fn is_own_origin(visitor: &Visitor, request: &Request, origin: &str) -> bool {
    let of_service = url::Url::parse(&visitor.base).map(|url| url.origin().ascii_serialization());
    let is_named = || {
        let host = request.header("host").or(request.original_uri().authority().map(Authority::as_str));
        origin.split_once("://").is_some_and(|(_, own)| Some(own) == host)
    };
    of_service.is_ok_and(|own| own == origin) || (visitor.context.public_url.is_none() && is_named())
}
