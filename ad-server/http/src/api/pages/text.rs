//! Pages of text: the start page, the changelog, and the layout that they share with the error codes.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, Parser, Tag, html::push_html};

use crate::api::openapi::TITLE;

const CHANGELOG: &str = include_str!("../../../../../CHANGELOG.md");

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// A page with this content below a link to the start page.
pub(super) fn layout(title: &str, docs: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // None, so that browsers do not request one.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                @if !docs.is_empty() {
                    nav { a href=(docs) { (TITLE) } }
                }
                (content)
            }
        }
    };
    page.into_string()
}

/// The addresses that the start page has at two paths, relative to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartPage {
    /// Relative to the root of the service.
    pub(super) root: &'static str,
    /// Relative to the folder `docs/`.
    pub(super) docs: &'static str,
    /// Whether the service has a console.
    pub(super) has_console: bool,
}

impl StartPage {
    /// The page; `sample` is a request that creates an ad.
    pub(super) fn html(self, sample: &str) -> String {
        let Self { root, docs, has_console } = self;
        let content = html! {
            h1 { (TITLE) }
            p {
                "Manage vehicle and machinery ads on two marketplaces through one JSON API. Writes are answered at once and processed \
                 afterwards; the log of each ad shows the progress. "
                span.faint { "Version " (env!("CARGO_PKG_VERSION")) "." }
            }
            @if has_console {
                p { a href={ (root) "console/" } { "Console" } ": see and change ads in the browser" }
            }
            h2 { "Documentation" }
            ul {
                li { a href={ (docs) "swagger-ui/" } { "Swagger UI" } ": send requests from the browser" }
                li { a href={ (docs) "redoc/" } { "Redoc" } ": guide and reference of all operations and fields" }
                li { a href={ (docs) "errors/" } { "Error codes" } ": what each means and what to do" }
                li { a href={ (docs) "changelog" } { "Changelog" } }
                li {
                    "OpenAPI documents to generate clients from: " a href={ (root) "openapi.json" } { "openapi.json" } " (3.0), "
                    a href={ (root) "openapi-3.1.json" } { "openapi-3.1.json" } " (3.1); with "
                    code { "?tag=car" } " of one vehicle type"
                }
                li { a href=(REPOSITORY) { "Source code" } ", with the guides for clients and operators" }
                li { "Health: " a href={ (root) "healthz" } { "healthz" } ", " a href={ (root) "readyz" } { "readyz" } }
            }
            h2 { "First request" }
            p {
                "Every request of the API needs a token; the operator of the service issues one (" code { "ad-server token issue" }
                "). Put address and token in the environment, create an ad, and read it until its log shows that it is published."
            }
            pre { code id="sample" {
                "export AD_URL=" span data-server-url { "https://…" } " AD_TOKEN=…\n\n"
                (sample)
                "\n\ncurl \"$AD_URL/v4/car/car-1001\" --header \"X-Auth-Token: $AD_TOKEN\""
            } }
            button data-copies="sample" hidden { "Copy" }
            script data-server=(root) { (PreEscaped(include_str!("home.js"))) }
        };
        layout(TITLE, "", &content)
    }
}

/// The changelog. Its links into the repository lead there.
pub(super) fn changelog() -> String {
    let absolute = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) if !dest_url.contains("://") => {
            let dest_url = CowStr::from(format!("{REPOSITORY}/blob/main/{dest_url}"));
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        other => other,
    };
    let mut content = String::new();
    push_html(&mut content, Parser::new(CHANGELOG).map(absolute));
    layout("Changelog", "./", &PreEscaped(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_changelog_lead_out_of_the_server() {
        let page = changelog();
        assert!(page.contains("<h2>Unreleased</h2>"), "{page}");
        assert!(page.contains(&format!("<a href=\"{REPOSITORY}/blob/main/docs/errors.md\">")), "{page}");
        assert!(!page.contains("href=\"docs/"), "{page}");
    }
}
