//! `interface.md`, 'Endpoints': the table, the numbered rules, and what can migrate to what.

mod migrate;
mod promote;
mod table;
mod writes;

use super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    [table::rules(), writes::rules(), promote::rules(), migrate::rules()].into_iter().flatten().collect()
}
