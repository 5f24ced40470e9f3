//! `decisions.md`, sentence by sentence, as far as the documents' own rules do not hold it already: a rule that holds a
//! sentence of decision 14 too says so with `.decided(&[14])`.

mod access;
mod ads;
mod behaviour;
mod lists;
mod payloads;
mod writes;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    [lists::rules(), payloads::rules(), writes::rules(), ads::rules(), behaviour::rules(), access::rules()]
        .into_iter()
        .flatten()
        .collect()
}
