//! The pages of the console as one table, and every gate before their handlers: method, origin of forms, session, rate, permission, query,
//! form, turn. The answer to a request that does not pass is a page too.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use poem::{
    Endpoint, Request, Response, Result,
    http::{Method, header},
};
use tokio::time::Instant;
use url::form_urlencoded;

use super::{
    Console, EVENT_TICK, access, account, act, ad, bulk, csv, developers, editor, failing, help, import, operators,
    overview, page, paste, photos, plans, publish, requests, schedule_form, schedules,
    session::{self, Session},
    sign_in::{self, Guest},
    stock, take_back,
    texts::{self, Language},
    versions, views,
    visitor::{PageResult, Visit, Visitor, check_origin, value},
    webhooks, xlsx,
};
use crate::api::{
    ApiError, Context, body,
    events::{Events, PollInterval},
    observe::Routes,
};
use ad_server_access::auth::Permission;

/// A row of the table.
struct Page {
    method: Method,
    /// Path below `/console`.
    path: &'static str,
    body: PageBody,
    /// Whether forms may lead back to it.
    is_target: bool,
    handler: PageHandler,
}

/// What a page is sent.
#[derive(Debug, Clone, Copy)]
enum PageBody {
    Nothing,
    /// A form of at most so many bytes.
    Form(usize),
    /// A file of at most so many bytes.
    File(usize),
    /// A form with files, of at most so many bytes all in all.
    Files(usize),
}

enum PageHandler {
    /// Needs no session.
    Open(fn(Guest) -> BoxFuture<'static, PageResult>),
    /// Answers those who have signed in, with this permission if there is one, in a turn of their scope.
    InTurn(Option<Permission>, AsyncHandler),
    /// The same with limits of its own, or with none.
    Alone(Option<Permission>, AsyncHandler),
}

type AsyncHandler = fn(Visit) -> BoxFuture<'static, PageResult>;

const fn page(path: &'static str, handler: PageHandler) -> Page {
    Page { method: Method::GET, path, body: PageBody::Nothing, is_target: true, handler }
}

/// What answers GET and is no page to come back to.
const fn other(path: &'static str, handler: PageHandler) -> Page {
    Page { method: Method::GET, path, body: PageBody::Nothing, is_target: false, handler }
}

const fn form(path: &'static str, form_bytes: usize, handler: PageHandler) -> Page {
    Page { method: Method::POST, path, body: PageBody::Form(form_bytes), is_target: false, handler }
}

/// What takes files.
const fn files(path: &'static str, body: PageBody, handler: PageHandler) -> Page {
    Page { method: Method::POST, path, body, is_target: false, handler }
}

/// An asynchronous function that needs no session.
macro_rules! open {
    ($handler:path) => {
        PageHandler::Open(|guest| Box::pin($handler(guest)))
    };
}

/// An asynchronous function that takes a turn.
macro_rules! turn {
    ($permission:expr, $handler:path) => {
        PageHandler::InTurn($permission, |visit| Box::pin($handler(visit)))
    };
}

/// An asynchronous function with limits of its own, or with none.
macro_rules! alone {
    ($permission:expr, $handler:path) => {
        PageHandler::Alone($permission, |visit| Box::pin($handler(visit)))
    };
}

const ANY: Option<Permission> = None;
const READ: Option<Permission> = Some(Permission::Read);
const WRITE: Option<Permission> = Some(Permission::Write);
const PROMOTE: Option<Permission> = Some(Permission::Promote);
const WEBHOOKS: Option<Permission> = Some(Permission::Webhooks);
const ACCESS: Option<Permission> = Some(Permission::Access);
const OPERATE: Option<Permission> = Some(Permission::Operate);

/// Bytes of a form in which all ads of the largest page are selected.
const FORM: usize = 256 * 1024;

/// Those of one path follow each other.
static PAGES: &[Page] = &[
    page("", alone!(ANY, start)),
    page("/failing", turn!(READ, failing::page)),
    page("/help", open!(help::page)),
    page("/stock", alone!(READ, stock::page)),
    other("/stock.csv", alone!(READ, csv::download)),
    other("/stock.xlsx", alone!(READ, xlsx::download)),
    page("/import", alone!(WRITE, import::form)),
    files("/import", PageBody::Files(import::MOST_FORM_BYTES), alone!(WRITE, import::upload)),
    page("/import/columns", alone!(WRITE, import::columns)),
    form("/import/columns", FORM, alone!(WRITE, import::compare)),
    page("/ad", turn!(READ, ad::page)),
    page("/ad/version", turn!(READ, versions::page)),
    form("/ad/version", FORM, alone!(WRITE, versions::restore)),
    form("/act", FORM, alone!(ANY, act::act)),
    page("/ad/edit", alone!(WRITE, editor::edit)),
    form("/ad/edit", editor::MOST_FORM_BYTES, alone!(WRITE, editor::save)),
    page("/new", alone!(WRITE, editor::new)),
    form("/new", editor::MOST_FORM_BYTES, alone!(WRITE, editor::create)),
    page("/ad/publish", turn!(WRITE, publish::page)),
    files("/photos", PageBody::File(photos::MOST_BYTES), alone!(WRITE, photos::add)),
    files("/ad/photos", PageBody::Files(photos::MOST_FORM_BYTES), alone!(WRITE, photos::add_to_ad)),
    form("/bulk", FORM, alone!(ANY, bulk::create)),
    form("/views", FORM, alone!(READ, views::change)),
    page("/plans", turn!(READ, plans::list)),
    page("/plan", turn!(READ, plans::one)),
    form("/plan", FORM, turn!(WRITE, plans::change)),
    form("/plan/take-back", FORM, alone!(WRITE, take_back::run)),
    page("/paste", alone!(WRITE, paste::form)),
    form("/paste", paste::MOST_FORM_BYTES, alone!(WRITE, paste::submit)),
    page("/webhooks", turn!(WEBHOOKS, webhooks::list)),
    form("/webhooks", FORM, turn!(WEBHOOKS, webhooks::create)),
    page("/webhook", turn!(WEBHOOKS, webhooks::one)),
    form("/webhook", FORM, turn!(WEBHOOKS, webhooks::change)),
    page("/requests", turn!(READ, requests::page)),
    page("/developers", alone!(ANY, developers::page)),
    page("/operators", turn!(OPERATE, operators::overview)),
    form("/operators/marketplaces", FORM, turn!(OPERATE, operators::change_marketplace)),
    page("/operators/queue", turn!(OPERATE, operators::queue)),
    page("/operators/ads", turn!(OPERATE, operators::ads)),
    form("/operators/ads", FORM, turn!(OPERATE, operators::retry)),
    page("/operators/dealers", turn!(OPERATE, operators::dealers)),
    page("/operators/dealer", turn!(OPERATE, operators::dealer)),
    form("/operators/dealer", FORM, turn!(OPERATE, operators::change_dealer)),
    page("/operators/tokens", turn!(OPERATE, operators::tokens)),
    form("/operators/tokens", FORM, turn!(OPERATE, operators::revoke)),
    page("/operators/limits", alone!(OPERATE, operators::limits)),
    page("/operators/audit", turn!(OPERATE, operators::audit)),
    page("/operators/erase", turn!(OPERATE, operators::erasure)),
    form("/operators/erase", FORM, turn!(OPERATE, operators::erase)),
    other("/events", alone!(READ, events)),
    page("/sign-in", open!(sign_in::ask_for_token)),
    form("/sign-in", session::MOST_FORM_BYTES, open!(sign_in::sign_in)),
    form("/sign-out", session::MOST_FORM_BYTES, open!(sign_in::sign_out)),
    other("/link", open!(sign_in::link)),
    form("/link", session::MOST_FORM_BYTES, open!(sign_in::use_link)),
    form("/language", session::MOST_FORM_BYTES, open!(sign_in::choose_language)),
    page("/access", turn!(ACCESS, access::page)),
    form("/access", FORM, turn!(ACCESS, access::change)),
    page("/operators/access", turn!(OPERATE, access::page)),
    form("/operators/access", FORM, turn!(OPERATE, access::change)),
    page("/account", turn!(READ, account::page)),
    form("/account/budget", FORM, turn!(PROMOTE, account::set_budget)),
    page("/schedules", turn!(READ, schedules::page)),
    page("/schedule", turn!(READ, schedules::one)),
    form("/schedule", FORM, turn!(PROMOTE, schedules::change)),
    page("/schedule/edit", turn!(PROMOTE, schedule_form::edit)),
    form("/schedule/edit", FORM, turn!(PROMOTE, schedule_form::save)),
    other("/*path", alone!(ANY, unknown)),
];

/// The first page: the overview, or that of operators, who have no ads.
async fn start(visit: Visit) -> PageResult {
    if visit.may(Permission::Operate) {
        return Ok(visit.visitor.redirect("/operators"));
    }
    if visit.may(Permission::Read) { overview::page(visit).await } else { Err(ApiError::Forbidden(Permission::Read)) }
}

/// The events of the API, for the script.
async fn events(mut visit: Visit) -> PageResult {
    session::soon(&mut visit.caller, visit.visitor.console.clock.now());
    visit.visitor.events.stream(visit.caller, &visit.query, &visit.headers).await
}

async fn unknown(_: Visit) -> PageResult {
    Err(ApiError::unknown_path())
}

/// A path and query behind `/console`, if the path is exactly that of a page. The query is encoded anew, so what comes out has nothing
/// that a browser or proxy could read as another path, however often it decodes.
pub(super) fn target(text: &str) -> Option<String> {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let path = PAGES
        .iter()
        .filter(|page| page.is_target)
        .map(|page| page.path)
        .find(|known| *known == path.trim_end_matches('/'))?;
    let path = if path.is_empty() { "/" } else { path };
    let pairs = form_urlencoded::parse(query.as_bytes());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    Some(if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") })
}

pub(super) fn mount(routes: Routes, context: &Arc<Context>, console: &Console) -> Routes {
    let events = Arc::new(Events::new(context, PollInterval::Ticks { since: Instant::now(), every: EVENT_TICK }));
    PAGES.chunk_by(|page, next| page.path == next.path).fold(routes, |routes, pages| {
        let (context, console, events) = (Arc::clone(context), console.clone(), Arc::clone(&events));
        routes.at(format!("/console{}", pages[0].path), PagePath { pages, context, console, events })
    })
}

/// The language that somebody has chosen on a page that asks something. What was asked is then asked again, and never done.
fn chosen_again(form: &mut Vec<(String, String)>) -> Option<Language> {
    let language = value(form, page::LANGUAGE).and_then(Language::from_code)?;
    form.retain(|(name, _)| name != page::LANGUAGE && name != "confirmed");
    for (_, wanted) in form.iter_mut().filter(|(name, wanted)| name == "do" && wanted == "save") {
        "check".clone_into(wanted);
    }
    Some(language)
}

struct PagePath {
    pages: &'static [Page],
    context: Arc<Context>,
    console: Console,
    events: Arc<Events>,
}

impl Endpoint for PagePath {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let events = Arc::clone(&self.events);
        let visitor = Arc::new(Visitor::of(&self.context, &self.console, events, &request));
        let is_open = matches!(self.pages[0].handler, PageHandler::Open(_));
        let cookie = texts::cookie(&request, session::COOKIE).map(str::to_owned);
        let had_cookie = cookie.as_ref().is_some_and(|cookie| !cookie.is_empty());
        let session = if is_open {
            Err(ApiError::NoToken { in_authorization: false })
        } else {
            session::of(&visitor, cookie.as_deref()).await
        };
        let signed_in = session.as_ref().ok().map(|session| session.caller.clone());
        let is_page = matches!(*request.method(), Method::GET | Method::HEAD);
        Ok(match self.answer(Arc::clone(&visitor), session, cookie, request).await {
            Ok(response) => response,
            // Only GET can be repeated after sign-in.
            Err(ApiError::NoToken { .. } | ApiError::InvalidToken(_)) if is_page => {
                session::redirect_to_sign_in(&visitor, had_cookie)
            }
            Err(error) => page::error(&visitor, signed_in.as_ref(), &error),
        })
    }
}

impl PagePath {
    async fn answer(
        &self,
        visitor: Arc<Visitor>,
        session: Result<Session, ApiError>,
        cookie: Option<String>,
        mut request: Request,
    ) -> PageResult {
        let page = self.page(request.method())?;
        let limits = &self.context.limits;
        if page.method == Method::POST {
            check_origin(&visitor, &request)?;
        }
        match page.handler {
            PageHandler::Open(handler) => {
                let sent = match page.body {
                    PageBody::Form(most) => body::form(&mut request, limits, None, most).await?,
                    _ => body::query(&request)?,
                };
                let address = request.remote_addr().as_socket_addr();
                let is_local = address.is_some_and(|address| address.ip().is_loopback());
                handler(Guest { visitor, cookie, is_local, sent }).await
            }
            PageHandler::InTurn(permission, handler) | PageHandler::Alone(permission, handler) => {
                let Session { caller, id: session, root } = session?;
                self.context.count(&caller, &request)?;
                Context::check_permission(&caller, permission)?;
                let query = body::query(&request)?;
                let (mut form, mut files, mut visitor) = (Vec::new(), Vec::new(), visitor);
                match page.body {
                    PageBody::Nothing => {}
                    PageBody::Form(most) => {
                        form = body::form(&mut request, limits, Some(&caller.scope), most).await?;
                        if let Some(language) = chosen_again(&mut form) {
                            visitor = Arc::new(visitor.speaking(language));
                        }
                    }
                    PageBody::File(most) => files.push(body::file(&mut request, limits, &caller.scope, most).await?),
                    PageBody::Files(most) => {
                        files = body::files(&mut request, limits, &caller.scope, most).await?;
                    }
                }
                let _turn = match page.handler {
                    PageHandler::InTurn(..) => Some(limits.turns.take(&caller.scope).await?),
                    PageHandler::Alone(..) | PageHandler::Open(_) => None,
                };
                let request_id = self.context.request_id(&request);
                let headers = std::mem::take(request.headers_mut());
                let spoken = Arc::clone(&visitor);
                let visit = Visit { visitor, caller, session, root, request_id, query, form, files, headers };
                let mut response = handler(visit).await?;
                if spoken.is_chosen {
                    response.headers_mut().append(header::SET_COOKIE, sign_in::language_cookie(&spoken)?);
                }
                Ok(response)
            }
        }
    }

    fn page(&self, method: &Method) -> Result<&'static Page, ApiError> {
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        self.pages.iter().find(|page| page.method == *wanted).ok_or_else(|| {
            let methods: Vec<_> = self.pages.iter().map(|page| page.method.as_str()).collect();
            ApiError::only(&methods, Some(method))
        })
    }
}
