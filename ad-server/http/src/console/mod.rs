//! The console at `/console/`: pages on which dealers, support and operators see and change what the API has.
//!
//! | Module | Purpose |
//! |---|---|
//! | `route`, `visitor` | common to all pages: paths, the session, permissions; the visitor, and the origin of forms |
//! | `session` | sign-in with a token, the cookie, sign-out |
//! | `page` | the layout, and shared parts |
//! | `texts`, `words` | every text of the console, in English and Swedish; the words of the API for states and failures |
//! | `assets`, `badges` | the stylesheet and the script; states as coloured words |
//! | `overview`, `stock`, `ad` | the pages |
//! | `form`, `editor` | the form of an ad; new ads and changes with it |
//! | `paste` | new ads from JSON |
//! | `webhooks`, `requests`, `developers`, `operators` | further pages |
//! | `act` | actions on ads |
//! | `show`, `preview`, `prices`, `quality`, `timeline` | parts of ads that pages show; an ad as buyers see it; its prices over time; its quality; its requests |
//!
//! Pages are rendered on the server and work without scripts; the script makes them quicker and shows events as they come. They call the
//! use cases of the API, in the scope and with the permissions of the visitor's token, and contain no rules.

mod act;
mod ad;
mod assets;
mod badges;
mod developers;
mod editor;
mod form;
mod operators;
mod overview;
mod page;
mod paste;
mod preview;
mod prices;
mod quality;
mod requests;
mod route;
mod session;
mod show;
mod stock;
mod texts;
mod timeline;
mod visitor;
mod webhooks;
mod words;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{ports::Clock, quotas::DealerQuotas};
use tokio::time::Instant;

pub use self::session::SignInLinks;
use self::{
    route::path,
    visitor::{PageResult, Visit},
};
use crate::api::{
    ApiError, Context,
    events::{Events, PollInterval},
    observe::Routes,
};
use ad_server_access::auth::Permission;
use ad_server_outside::{marketplace::Circuits, media::Media, webhooks::Vault};
use ad_server_store::Database;

/// How often open pages get new events while there are many; the first one after a quiet time comes at once. Pages are refreshed no faster.
const EVENT_TICK: Duration = Duration::from_secs(2);

/// What the console needs in addition to the API.
#[derive(Clone)]
pub struct Console {
    /// Encrypts sessions. All processes need the same keys.
    pub vault: Arc<Vault>,
    /// Where the newest log entries are read.
    pub database: Database,
    /// The time, by which sessions end.
    pub clock: Arc<dyn Clock>,
    /// Origin of the stored photos if this service does not serve them, such as `https://cdn.example.com`.
    pub media_origin: Option<String>,
    /// One-time links that sign in.
    pub links: SignInLinks,
    /// The circuit breakers of this process for marketplaces; empty if it calls none.
    pub circuits: Arc<OnceLock<Circuits>>,
    /// What dealers may have at most.
    pub quotas: DealerQuotas,
    /// Where erased images are removed.
    pub media: Media,
}

ad_server_base::debug_by_name!(Console);

pub fn mount(routes: Routes, context: &Arc<Context>, console: &Console) -> Routes {
    let events = Arc::new(Events::new(context, PollInterval::Ticks { since: Instant::now(), every: EVENT_TICK }));
    let stream = move |visit: Visit| {
        let events = Arc::clone(&events);
        async move { events.stream(visit.caller, &visit.query, &visit.headers).await }
    };
    let pages = [
        ("", path().get(None, start)),
        ("/stock", path().get(Permission::Read, stock::page)),
        ("/ad", path().get(Permission::Read, ad::page)),
        ("/act", path().post(None, act::act)),
        ("/ad/edit", path().both(Permission::Write, editor::edit, editor::save).with_forms_of(editor::MOST_FORM_BYTES)),
        ("/new", path().both(Permission::Write, editor::new, editor::create).with_forms_of(editor::MOST_FORM_BYTES)),
        ("/paste", path().both(Permission::Write, paste::form, paste::submit).with_forms_of(paste::MOST_FORM_BYTES)),
        ("/webhooks", path().both(Permission::Webhooks, webhooks::list, webhooks::create)),
        ("/webhook", path().both(Permission::Webhooks, webhooks::one, webhooks::change)),
        ("/requests", path().get(Permission::Read, requests::page)),
        ("/developers", path().get(None, developers::page)),
        ("/operators", path().get(Permission::Operate, operators::overview)),
        ("/operators/marketplaces", path().post(Permission::Operate, operators::change_marketplace)),
        ("/operators/queue", path().get(Permission::Operate, operators::queue)),
        ("/operators/ads", path().both(Permission::Operate, operators::ads, operators::retry)),
        ("/operators/dealers", path().get(Permission::Operate, operators::dealers)),
        ("/operators/dealer", path().both(Permission::Operate, operators::dealer, operators::change_dealer)),
        ("/operators/tokens", path().both(Permission::Operate, operators::tokens, operators::revoke)),
        ("/operators/limits", path().get(Permission::Operate, operators::limits)),
        ("/operators/audit", path().get(Permission::Operate, operators::audit)),
        ("/operators/erase", path().both(Permission::Operate, operators::erasure, operators::erase)),
        ("/events", path().get(Permission::Read, stream)),
        ("/*path", path().get(None, async |_: Visit| -> PageResult { Err(ApiError::unknown_path()) })),
    ];
    let routes = session::mount(assets::mount(routes), context, console);
    pages
        .into_iter()
        .fold(routes, |routes, (path, page)| routes.at(format!("/console{path}"), page.of(context, console)))
}

/// The first page: the overview, or that of operators, who have no ads.
async fn start(visit: Visit) -> PageResult {
    if visit.may(Permission::Operate) {
        return Ok(visit.visitor.redirect("/operators"));
    }
    if visit.may(Permission::Read) { overview::page(visit).await } else { Err(ApiError::Forbidden(Permission::Read)) }
}
