//! `extensions.md`: one module for each group of headers or paths.

mod guide;
mod http;
mod quality;
mod requests;
mod status;
mod tags;
mod writes;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    [tags::rules(), writes::rules(), requests::rules(), status::rules(), http::rules(), quality::rules()]
        .into_iter()
        .flatten()
        .collect()
}
