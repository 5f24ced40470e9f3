//! The console at `/console/`: pages on which dealers, support and operators see and change what the API has.
//!
//! | Module | Purpose |
//! |---|---|
//! | `route` | common to all pages: the visitor, the session, permissions, the origin of forms |
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
mod webhooks;
mod words;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{ports::Clock, quotas::DealerQuotas};
use tokio::time::Instant;

use self::route::{Visit, path};
pub use self::session::SignInLinks;
use crate::{
    api::{
        ApiError, Context,
        events::{Events, Rhythm},
        observe::Routes,
    },
    auth::Permission,
    marketplace::Circuits,
    media::Media,
    store::Database,
    webhooks::Vault,
};

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

debug_by_name!(Console);

/// Mounts the console.
pub(crate) fn mount(routes: Routes, context: &Arc<Context>, console: &Console) -> Routes {
    let at = |path: route::Path| path.of(context, console);
    let events = Arc::new(Events::new(context, Rhythm::Ticks { since: Instant::now(), every: EVENT_TICK }));
    let stream = move |visit: Visit| {
        let events = Arc::clone(&events);
        async move { events.stream(visit.session.caller, &visit.query, &visit.headers).await }
    };
    session::mount(assets::mount(routes), context, console)
        .at("/console", at(path().get(None, start)))
        .at("/console/stock", at(path().get(Permission::Read, stock::page)))
        .at("/console/ad", at(path().get(Permission::Read, ad::page)))
        .at("/console/act", at(path().post(None, act::act)))
        .at(
            "/console/ad/edit",
            at(path()
                .get(Permission::Write, editor::edit)
                .post(Permission::Write, editor::save)
                .with_forms_of(editor::MOST_FORM_BYTES)),
        )
        .at(
            "/console/new",
            at(path()
                .get(Permission::Write, editor::new)
                .post(Permission::Write, editor::create)
                .with_forms_of(editor::MOST_FORM_BYTES)),
        )
        .at(
            "/console/paste",
            at(path()
                .get(Permission::Write, paste::form)
                .post(Permission::Write, paste::submit)
                .with_forms_of(paste::MOST_FORM_BYTES)),
        )
        .at(
            "/console/webhooks",
            at(path().get(Permission::Webhooks, webhooks::list).post(Permission::Webhooks, webhooks::create)),
        )
        .at(
            "/console/webhook",
            at(path().get(Permission::Webhooks, webhooks::one).post(Permission::Webhooks, webhooks::change)),
        )
        .at("/console/requests", at(path().get(Permission::Read, requests::page)))
        .at("/console/developers", at(path().get(None, developers::page)))
        .at("/console/operators", at(path().get(Permission::Operate, operators::overview)))
        .at("/console/operators/marketplaces", at(path().post(Permission::Operate, operators::change_marketplace)))
        .at("/console/operators/queue", at(path().get(Permission::Operate, operators::queue)))
        .at(
            "/console/operators/ads",
            at(path().get(Permission::Operate, operators::ads).post(Permission::Operate, operators::retry)),
        )
        .at("/console/operators/dealers", at(path().get(Permission::Operate, operators::dealers)))
        .at(
            "/console/operators/dealer",
            at(path().get(Permission::Operate, operators::dealer).post(Permission::Operate, operators::change_dealer)),
        )
        .at(
            "/console/operators/tokens",
            at(path().get(Permission::Operate, operators::tokens).post(Permission::Operate, operators::revoke)),
        )
        .at("/console/operators/limits", at(path().get(Permission::Operate, operators::limits)))
        .at("/console/operators/audit", at(path().get(Permission::Operate, operators::audit)))
        .at(
            "/console/operators/erase",
            at(path().get(Permission::Operate, operators::erasure).post(Permission::Operate, operators::erase)),
        )
        .at("/console/events", at(path().get(Permission::Read, stream)))
        .at("/console/*path", at(path().get(None, async |_| Err(ApiError::unknown_path()))))
}

/// The first page: the overview, or that of operators, who have no ads.
async fn start(visit: Visit) -> route::Answer {
    if visit.may(Permission::Operate) {
        return Ok(visit.visitor.redirect("/operators"));
    }
    if visit.may(Permission::Read) { overview::page(visit).await } else { Err(ApiError::Forbidden(Permission::Read)) }
}
