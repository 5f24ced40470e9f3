//! The pages that show an OpenAPI document, Swagger UI and Redoc, and their scripts and styles.
//!
//! Scripts and styles come from poem-openapi, which bundles them; they are served at addresses of their own, so that a browser keeps
//! them compiled. A page loads them and its document, and nothing from the internet.

use std::sync::LazyLock;

use bytes::Bytes;
use maud::{DOCTYPE, html};
use poem_openapi::OpenApiService;

use crate::api::{
    headers, openapi,
    static_document::{Content, IMMUTABLE, StaticDocument},
};

/// A script or style that the service serves.
pub struct Asset {
    /// Name of the file below `assets/`.
    pub name: &'static str,
    content_type: &'static str,
    text: LazyLock<String>,
}

ad_server_base::debug_by_name!(Asset);

pub const SCRIPT: &str = "text/javascript; charset=utf-8";
pub const STYLE: &str = "text/css; charset=utf-8";

/// Scripts and styles that the viewers load.
pub static ASSETS: [Asset; 5] = [
    Asset::new("swagger-ui.js", SCRIPT, || element(&empty().swagger_ui_html(), "script")),
    Asset::new("swagger-ui.css", STYLE, || element(&empty().swagger_ui_html(), "style")),
    Asset::new("redoc.js", SCRIPT, || element(&empty().redoc_html(), "script")),
    Asset::new("viewer.js", SCRIPT, || include_str!("viewer.js").to_owned()),
    Asset::new("viewer.css", STYLE, || include_str!("viewer.css").to_owned()),
];

impl Asset {
    pub const fn new(name: &'static str, content_type: &'static str, text: fn() -> String) -> Self {
        Self { name, content_type, text: LazyLock::new(text) }
    }

    /// The endpoint. Pages name the content in the query, so it may be cached for ever.
    pub fn document(&'static self) -> StaticDocument {
        StaticDocument::new(self.content_type, IMMUTABLE, || Content {
            bytes: Bytes::from_static(self.text.as_bytes()),
            headers: Vec::new(),
        })
    }

    fn named(name: &str) -> &'static Self {
        ASSETS.iter().find(|asset| asset.name == name).expect("pages load what is in the list")
    }

    /// Its SHA-256, as the attribute `integrity` and a content security policy have it.
    fn integrity(&self) -> String {
        headers::hash(&self.text)
    }

    /// Its address, which changes with its content.
    pub fn address(&self, docs: &str) -> String {
        let version: String = self.integrity().chars().filter(char::is_ascii_alphanumeric).skip(6).take(12).collect();
        format!("{docs}assets/{}?{version}", self.name)
    }
}

/// A service without operations, for its pages.
fn empty() -> OpenApiService<(), ()> {
    OpenApiService::new((), "", "")
}

/// The text of the first element of this name.
fn element(html: &str, name: &str) -> String {
    let text = html.split_once(&format!("<{name}")).and_then(|(_, tag)| tag.split_once('>'));
    let text = text.and_then(|(_, text)| text.split_once(&format!("</{name}>")));
    text.map_or_else(String::new, |(text, _)| text.to_owned())
}

/// A program that shows OpenAPI documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    SwaggerUi,
    Redoc,
}

#[derive(Debug, Clone)]
pub struct ViewerPage {
    pub viewer: Viewer,
    pub title: &'static str,
    /// Address of `docs/`, relative to the page.
    pub docs: &'static str,
    /// Address of the document, relative to the page.
    pub source: &'static str,
    /// The tags of which the page shows one at a time, the first by default; all operations if there are none.
    pub tags: Vec<&'static str>,
}

impl ViewerPage {
    /// The page of a service at this address.
    pub fn document(self, public_url: Option<String>) -> StaticDocument {
        StaticDocument::page(public_url, move || self.html())
    }

    fn html(&self) -> String {
        let (name, other) = match self.viewer {
            Viewer::SwaggerUi => ("Swagger UI", ("Redoc", "redoc/")),
            Viewer::Redoc => ("Redoc", ("Swagger UI", "swagger-ui/")),
        };
        let (scripts, styles) = match self.viewer {
            Viewer::SwaggerUi => (["viewer.js", "swagger-ui.js"], &["swagger-ui.css", "viewer.css"][..]),
            Viewer::Redoc => (["viewer.js", "redoc.js"], &["viewer.css"][..]),
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // None, so that browsers do not request one.
                    link rel="icon" href="data:,";
                    title { (self.title) " – " (name) }
                    @for asset in styles.iter().map(|name| Asset::named(name)) {
                        link rel="stylesheet" href=(asset.address(self.docs));
                    }
                    @for asset in scripts.map(Asset::named) {
                        script defer src=(asset.address(self.docs)) integrity=(asset.integrity()) {}
                    }
                }
                body {
                    header id="bar" {
                        @if self.tags.is_empty() {
                            span { (self.title) }
                        } @else {
                            a href=(self.docs) { (self.title) }
                            label {
                                "Vehicle type: "
                                select id="tag" {
                                    @for tag in &self.tags {
                                        option value=(tag) { (shown(tag)) }
                                    }
                                }
                            }
                            a data-keeps-tag href={ (self.docs) (other.1) } { (other.0) }
                            a href={ (self.docs) "errors/" } { "Error codes" }
                        }
                        a data-keeps-tag href=(self.source) { "OpenAPI document" }
                    }
                    main id="document" data-source=(self.source) { "Loading…" }
                    noscript { "This page needs JavaScript." }
                }
            }
        };
        page.into_string()
    }
}

/// The tags that are no vehicle types, in words.
fn shown(tag: &str) -> &str {
    match tag {
        "ad" => "all (generic paths)",
        "v3" => "API V3",
        openapi::COMMON => "none (events, plans, webhooks)",
        vehicle_type => vehicle_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poem_openapi_has_the_scripts_and_styles() {
        for asset in &ASSETS {
            assert!(asset.text.len() > 500, "{} has {} bytes", asset.name, asset.text.len());
        }
        assert!(Asset::named("swagger-ui.js").text.contains("SwaggerUIBundle"));
        assert!(Asset::named("redoc.js").text.contains("Redoc"));
    }
}
