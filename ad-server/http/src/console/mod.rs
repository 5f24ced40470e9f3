//! The console at `/console/`: pages on which dealers, support and operators see and change what the API has.
//!
//! | Module | Purpose |
//! |---|---|
//! | `route`, `visitor` | the table of all pages with what stands before their handlers; the visitor, and the origin of forms |
//! | `session`, `sign_in` | sessions and their cookie; sign-in with a token or a link, sign-out |
//! | `access` | who has access: links that sign in, and sessions |
//! | `page` | the layout, and shared parts |
//! | `texts`, `words` | every text of the console, in English and Swedish; the words of the API for states and failures |
//! | `assets`, `badges` | the stylesheet and the script; states as coloured words |
//! | `import`, `columns`, `stock_file` | a stock file: sent, its columns and their meaning, its rows |
//! | `overview`, `failing`, `stock`, `csv`, `xlsx`, `ad` | the pages; all ads with a failure, by its cause; the stock as files for spreadsheets |
//! | `help` | what each page is for, the usual tasks, and the first steps of who has no ads |
//! | `form`, `editor` | the form of an ad; new ads and changes with it |
//! | `photos`, `publish` | photos from the phone or computer; what buyers will see, and the button that publishes |
//! | `plans`, `bulk`, `bump_all` | changes of many ads with their previews; how they are made; a bump of all ads that match |
//! | `take_back`, `left_out` | takes a change of many ads back, and says what is left then |
//! | `views` | saved filters of the stock |
//! | `paste` | new ads from JSON |
//! | `webhooks`, `requests`, `developers`, `operators` | further pages |
//! | `act`, `promotable` | actions on ads; what promotions would cost |
//! | `account`, `schedules`, `schedule_form`, `schedule_words` | money: the account of a month; promotion schedules, and their form |
//! | `named` | ads by title and plate, money in words |
//! | `show`, `preview`, `prices`, `quality`, `timeline` | parts of ads that pages show; an ad as buyers see it; its prices over time; its quality; its requests |
//!
//! Pages are rendered on the server and work without scripts; the script makes them quicker and shows events as they come. They call the
//! use cases of the API, in the scope and with the permissions of the visitor's token, and contain no rules.

mod access;
mod account;
mod act;
mod ad;
mod assets;
mod badges;
mod bulk;
mod bump_all;
mod columns;
mod csv;
mod cure;
mod developers;
mod editor;
mod failing;
mod form;
mod form_links;
mod help;
mod import;
mod left_out;
mod named;
mod operators;
mod overview;
mod page;
mod paste;
mod photos;
mod plans;
mod preview;
mod prices;
mod promotable;
mod publish;
mod quality;
mod requests;
mod route;
mod schedule_form;
mod schedule_words;
mod schedules;
mod session;
mod show;
mod sign_in;
mod stock;
mod stock_file;
mod take_back;
mod texts;
mod timeline;
mod versions;
mod views;
mod visitor;
mod webhooks;
mod words;
mod xlsx;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{ports::Clock, quotas::DealerQuotas};

pub use self::{
    session::{NewLink, new_sign_in_link},
    sign_in::SignInLinks,
};
use crate::api::{Context, observe::Routes};
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
    pub links: SignInLinks,
    /// The circuit breakers of this process for marketplaces; empty if it calls none.
    pub circuits: Arc<OnceLock<Circuits>>,
    pub quotas: DealerQuotas,
    /// How long sold ads are hidden before they are deleted; `None`: for ever.
    pub sold_kept: Option<Duration>,
    /// How long deleted ads have photos; `None`: for ever.
    pub photos_kept: Option<Duration>,
    /// Where erased images are removed.
    pub media: Media,
}

ad_server_base::debug_by_name!(Console);

/// Adds the pages, their stylesheet and their script to the routes of the API.
pub fn mount(routes: Routes, context: &Arc<Context>, console: &Console) -> Routes {
    route::mount(assets::mount(routes), context, console)
}
