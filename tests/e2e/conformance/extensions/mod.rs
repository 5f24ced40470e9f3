//! `extensions.md`: one module for each group of headers or paths.

mod events;
mod guide;
mod http;
mod promotions;
mod quality;
mod record;
mod requests;
mod status;
mod stock;
mod tags;
mod webhooks;
mod writes;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    let before = [tags::rules(), writes::rules(), requests::rules(), http::rules()];
    let since = [events::rules(), webhooks::rules(), status::rules(), quality::rules(), record::rules()];
    before.into_iter().chain(since).chain([stock::rules(), promotions::rules()]).flatten().collect()
}
