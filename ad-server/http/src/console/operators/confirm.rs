//! The confirmation page for acts of operators.

use maud::{Markup, html};
use poem::{Response, http::StatusCode};

use super::super::{
    page::{self, NoticeKind, Section},
    visitor::Visit,
};

/// An act that is to be confirmed by a form, which is sent to `path` again.
pub(super) struct Question<'a> {
    pub(super) path: &'a str,
    /// The act with its object, and the text of the button.
    pub(super) title: String,
    pub(super) button: &'a str,
    /// What the act does, for the question.
    pub(super) consequence: Markup,
    /// What the form sends besides `confirmed`.
    pub(super) hidden: &'a [(&'a str, &'a str)],
    pub(super) asks_reason: bool,
    /// The page to which people go back.
    pub(super) back: String,
}

impl Question<'_> {
    /// The page; with an error if the reason was left out.
    pub(super) fn page(&self, visit: &Visit) -> Response {
        let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
        let lacks_reason = self.asks_reason && is_confirmed(visit);
        let content = html! {
            div.panel {
                h1 { (self.title) "?" }
                p.lead { (self.consequence) }
                @if lacks_reason { (page::notice(NoticeKind::Error, &html! { p #problem { (texts.reason_missing) } })) }
                form method="post" action=(visitor.address(self.path)) {
                    @for (name, value) in self.hidden { input type="hidden" name=(name) value=(value); }
                    input type="hidden" name="confirmed" value="yes";
                    @if self.asks_reason {
                        div.field {
                            label for="reason" { (texts.reason_for_dealers) }
                            input.full #reason type="text" name="reason" required maxlength="500" autocomplete="off"
                                aria-invalid=[lacks_reason.then_some("true")] aria-describedby=[lacks_reason.then_some("problem")];
                        }
                    }
                    div.actions {
                        button.primary { (self.button) }
                        a.button href=(visitor.address(&self.back)) { (texts.back) }
                    }
                }
            }
        };
        let status = if lacks_reason { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        page::question_with_status(visit, status, Section::Operators, &self.title, &content)
    }
}

/// Whether the form confirms the act.
pub(super) fn is_confirmed(visit: &Visit) -> bool {
    visit.field("confirmed").is_some()
}

/// The reason in the form, if the act is confirmed.
pub(super) fn confirmed_reason(visit: &Visit) -> Option<String> {
    let reason = visit.field("reason").map(str::trim).filter(|reason| !reason.is_empty())?;
    is_confirmed(visit).then(|| reason.to_owned())
}
