//! The pages of the error codes: `/docs/errors/` and `/docs/errors/{code}` (extensions E1.1).

use std::fmt::Write;

use ad_core::violation::{About, Code};

/// All codes, with links that are relative to an address with a slash at its end.
pub(super) fn index() -> String {
    let mut rows = String::new();
    for code in Code::ALL {
        let About { title, explanation, .. } = code.about();
        let name = code.name();
        write!(
            rows,
            "<dt><a href=\"{name}\"><code>{name}</code></a> {}</dt><dd>{}</dd>",
            marked_up(title),
            marked_up(explanation)
        )
        .expect("text takes any text");
    }
    let introduction = "A request whose <code>Accept</code> prefers <code>application/problem+json</code> to JSON gets errors as \
                        problem details (RFC 9457) with one of these codes. Error messages may change; codes keep their meaning.";
    document("Error codes", &format!("<h1>Error codes</h1><p>{introduction}</p><dl>{rows}</dl>"))
}

/// One code.
pub(super) fn page_of(code: Code) -> String {
    let About { title, explanation, cure } = code.about();
    let body = format!(
        "<h1>{}</h1><p><code>{}</code></p><p>{}</p><h2>What to do</h2><p>{}</p><p><a href=\"./\">All error codes</a></p>",
        marked_up(title),
        code.name(),
        marked_up(explanation),
        marked_up(cure)
    );
    document(code.name(), &body)
}

fn document(title: &str, body: &str) -> String {
    let style = "body{font:1rem/1.5 system-ui,sans-serif;max-width:45rem;margin:2rem auto;padding:0 1rem}\
                 dt{margin-top:1rem}dd{margin:0}code{background:#8882;padding:0 .2em}";
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{style}</style></head>\
         <body>{body}</body></html>"
    )
}

/// A text of the list as HTML; what stands between backticks is code.
fn marked_up(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = escaped.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_nothing_becomes_markup() {
        assert_eq!(marked_up("a `b<c>` & d"), "a <code>b&lt;c&gt;</code> &amp; d");
        for code in Code::ALL {
            assert!(index().contains(&format!("href=\"{}\"", code.name())));
        }
    }
}
