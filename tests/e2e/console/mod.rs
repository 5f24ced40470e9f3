//! The console: sessions, permissions, what other sites may do, and the pages, over HTTP and in a browser.

mod access;
mod accessibility;
mod browser;
mod editor;
mod engines;
pub(crate) mod excel;
mod following;
mod form_browser;
mod help;
mod hostile;
mod many;
mod money;
mod operators;
mod pages;
mod paste;
mod permissions;
mod photos;
mod session;
mod speed;
mod stock;
mod swedish;
mod tools;
mod walk;
mod walk_day;

use ad_tests::{Answer, Client, Server};
use reqwest::{Method, redirect::Policy};

/// A visitor of the console as a browser without scripts is one: it sends its cookies, states where its forms come from, and follows
/// no redirect.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) cookies: Vec<(String, String)>,
}

impl Visitor {
    /// One who has not signed in.
    pub(crate) fn of(client: &Client) -> Self {
        let http = ad_tests::http_client().redirect(Policy::none()).build().unwrap();
        Self { http, base: client.base.clone(), cookies: Vec::new() }
    }

    /// One who has signed in with the token of a client.
    pub(crate) async fn signed_in(client: &Client) -> Self {
        let mut visitor = Self::of(client);
        let answer = visitor.post("/console/sign-in", &[("token", client.token.as_deref().unwrap())]).await;
        assert_eq!(answer.status, 303, "{}", html(&answer));
        visitor.keep_cookies(&answer);
        visitor
    }

    /// One who has signed in with a token that these arguments of `token issue` give.
    pub(crate) async fn with_token(server: &Server, args: &[&str]) -> Self {
        Self::signed_in(&server.client_of(args).await).await
    }

    /// Keeps the cookies of an answer.
    pub(crate) fn keep_cookies(&mut self, answer: &Answer) {
        for cookie in answer.headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), rest.split(';').next().unwrap().to_owned()));
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], None).await
    }

    /// The page at a path, which must be there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", html(&answer));
        html(&answer)
    }

    /// Sends a form of a page.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let own = [("origin", self.base.as_str()), ("sec-fetch-site", "same-origin")];
        self.post_from(path, form, &own).await
    }

    /// Sends a form with these headers.
    pub(crate) async fn post_from(&self, path: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        self.send(Method::POST, path, headers, Some(encoded(form))).await
    }

    /// Sends a file as the script of a page does, or a form with files.
    pub(crate) async fn post_file(&self, path: &str, content_type: &str, file: Vec<u8>) -> Answer {
        let own = [("origin", self.base.as_str()), ("sec-fetch-site", "same-origin")];
        self.send_body(Method::POST, path, &own, Some((content_type, file))).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        form: Option<String>,
    ) -> Answer {
        let body = form.map(|form| ("application/x-www-form-urlencoded", form.into_bytes()));
        self.send_body(method, path, headers, body).await
    }

    async fn send_body(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<(&str, Vec<u8>)>,
    ) -> Answer {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if !self.cookies.is_empty() {
            let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
            request = request.header("cookie", cookies.collect::<Vec<_>>().join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some((content_type, body)) = body {
            request = request.header("content-type", content_type).body(body);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, bytes: response.bytes().await.unwrap() }
    }
}

/// A form, or a query, as browsers encode it.
pub(crate) fn encoded(form: &[(&str, &str)]) -> String {
    let url = reqwest::Url::parse_with_params("http://form/", form).unwrap();
    url.query().unwrap_or_default().to_owned()
}

/// The body of an answer as text.
pub(crate) fn html(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// The query that names an ad of `north-cars`.
pub(crate) fn ad_query(source_id: &str) -> String {
    encoded(&[("source_id", source_id), ("dealer_code", "north-cars")])
}

/// The pages that need no more than the permission to read. `{ad}` stands for the query of an ad.
pub(crate) const PAGES: [&str; 4] =
    ["/console/", "/console/stock", "/console/stock?view=cards&status=live,processing", "/console/ad?{ad}"];
