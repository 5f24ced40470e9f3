//! `interface.md`, 'Ad', 'Price object', 'Location object', 'Contact object' and 'Category identifiers'.

mod around;
mod categories;
mod fields;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    [fields::rules(), around::rules(), categories::rules()].into_iter().flatten().collect()
}
