//! The pages of the error codes: `/docs/errors/` and `/docs/errors/{code}` (extensions E1.1).

use ad_core::violation::{About, Code};
use maud::{Markup, html};

use super::text::layout;

/// All codes, with links that are relative to an address with a slash at its end.
pub(super) fn index() -> String {
    let content = html! {
        h1 { "Error codes" }
        p {
            "A request whose " code { "Accept" } " prefers " code { "application/problem+json" } " to JSON gets errors as problem \
             details (RFC 9457) with one of these codes. Error messages may change; codes keep their meaning."
        }
        dl {
            @for (code, About { title, explanation, .. }) in Code::ALL.iter().map(|code| (code.name(), code.about())) {
                dt { a href=(code) { code { (code) } } " " (marked_up(title)) }
                dd { (marked_up(explanation)) }
            }
        }
    };
    layout("Error codes", "../", &content)
}

pub(super) fn page_of(code: Code) -> String {
    let About { title, explanation, cure } = code.about();
    let content = html! {
        h1 { (marked_up(title)) }
        p { code { (code.name()) } }
        p { (marked_up(explanation)) }
        h2 { "What to do" }
        p { (marked_up(cure)) }
        p { a href="./" { "All error codes" } }
    };
    layout(code.name(), "../", &content)
}

/// A text of the list as HTML; what stands between backticks is code.
fn marked_up(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_nothing_becomes_markup() {
        assert_eq!(marked_up("a `b<c>` & d").into_string(), "a <code>b&lt;c&gt;</code> &amp; d");
        for code in Code::ALL {
            assert!(index().contains(&format!("href=\"{}\"", code.name())));
        }
    }
}
