//! What is left as it is when a change of many ads is taken back. It is said on the page of the plan, whose address has it.

use maud::{Markup, html};
use url::form_urlencoded;

use super::{page::number, visitor::Visit};

/// Parameters: an ad that somebody has changed since; how many of these there are, and how many new ads.
const CHANGED: &str = "left";
const CHANGED_COUNT: &str = "left_count";
const NEW_COUNT: &str = "new_count";

/// Most ads that are named.
const MOST_NAMED: usize = 10;

/// The ads that are left.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    named: Vec<String>,
    changed: u64,
    new: u64,
}

impl LeftOut {
    /// An ad that somebody has changed since.
    pub(super) fn add_changed(&mut self, source_id: Option<&str>) {
        self.changed += 1;
        self.named.extend(source_id.filter(|_| self.named.len() < MOST_NAMED).map(str::to_owned));
    }

    /// An ad that the change has made.
    pub(super) fn add_new(&mut self) {
        self.new += 1;
    }

    /// As a query.
    pub(super) fn query(&self) -> String {
        let counts = [(CHANGED_COUNT, self.changed), (NEW_COUNT, self.new)];
        let named = self.named.iter().map(|source_id| (CHANGED, source_id.clone()));
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(named).extend_pairs(counts).finish()
    }
}

/// The parameters of a page that say it.
pub(super) fn pairs(visit: &Visit) -> Vec<(String, String)> {
    visit.query.iter().filter(|(name, _)| [CHANGED, CHANGED_COUNT, NEW_COUNT].contains(&&**name)).cloned().collect()
}

/// What the parameters of a page say.
pub(super) fn shown(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let count = |name| visit.parameter(name).and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    let named: Vec<_> =
        visit.query.iter().filter(|(name, _)| name == CHANGED).map(|(_, source_id)| source_id).collect();
    let found = |source_id: &str| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", source_id).finish();
        visit.visitor.address(&format!("/stock?{query}"))
    };
    html! {
        @if let Some(count) = count(CHANGED_COUNT) {
            p {
                (texts.left_changed) ": " (number(count)) " ("
                @for (place, source_id) in named.iter().enumerate() {
                    @if place > 0 { ", " }
                    a href=(found(source_id)) { (source_id) }
                }
                @if count > named.len() as u64 { " …" }
                ")"
            }
        }
        @if let Some(count) = count(NEW_COUNT) { p { (texts.left_new) ": " (number(count)) } }
    }
}
