//! `extensions.md`: one module for each group of headers or paths.

mod requests;
mod tags;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    [tags::rules(), requests::rules()].into_iter().flatten().collect()
}
