//! A client of the API.

use std::net::IpAddr;

use reqwest::{Method, StatusCode, header::HeaderMap};
use serde_json::Value;

use crate::eventually;

/// Speaks to a server with one token.
#[derive(Debug, Clone)]
pub struct Client {
    /// Address of the server, without a slash at its end.
    pub base: String,
    /// What is sent as `X-Auth-Token`.
    pub token: Option<String>,
    address: Option<IpAddr>,
    http: reqwest::Client,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body as it came.
    pub bytes: bytes::Bytes,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", String::from_utf8_lossy(&self.bytes)))
    }

    /// The body as JSON, which must have come with this status.
    ///
    /// # Panics
    /// When the status is another.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
        self.json()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Client {
    /// A client of the server at this address.
    ///
    /// # Panics
    /// When no client can be built at all.
    pub fn new(base: impl Into<String>, token: Option<String>) -> Self {
        Self { base: base.into(), token, address: None, http: http(None) }
    }

    /// The same from this address, such as 127.0.0.2, with connections of its own.
    #[must_use]
    pub fn from_address(&self, address: IpAddr) -> Self {
        Self { address: Some(address), http: http(Some(address)), ..self.clone() }
    }

    /// The same with connections of its own.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { http: http(self.address), ..self.clone() }
    }

    /// The same with another token.
    #[must_use]
    pub fn with_token(&self, token: Option<String>) -> Self {
        Self { token, ..self.clone() }
    }

    /// Sends a request with these bytes as its body.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn send(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.send_with(method, path, &[], body).await
    }

    /// Sends a request with these headers too.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn send_with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, String)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        let sent = self.try_send_with(method.clone(), path, headers, body).await;
        sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request that may find nobody.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn try_send(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> reqwest::Result<Answer> {
        self.try_send_with(method, path, &[], body).await
    }

    /// The same with these headers too.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn try_send_with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, String)],
        body: Option<Vec<u8>>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.header("X-Auth-Token", token);
        }
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body);
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer { status, headers, bytes: response.bytes().await? })
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body.to_string().into_bytes())).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PATCH, path, Some(body.to_string().into_bytes())).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, Some(body.to_string().into_bytes())).await
    }

    /// Waits until an ad's log holds an entry of this action that is `done` or `error`, for the given request if there is
    /// one, and returns that entry.
    pub async fn ended(&self, source_id: &str, action: &str, request_id: Option<&str>) -> Value {
        eventually(&format!("{action} of {source_id}"), || async {
            let log = self.log(source_id).await;
            log.into_iter().rev().find(|entry| {
                entry["action"] == action
                    && entry["state"] != "processing"
                    && request_id.is_none_or(|id| entry["request_id"] == id)
            })
        })
        .await
    }

    /// Waits until an ad has been published, and returns it.
    ///
    /// # Panics
    /// When publishing ended in an error.
    pub async fn published(&self, source_id: &str) -> Value {
        let entry = self.ended(source_id, "publish", None).await;
        assert_eq!(entry["state"], "done", "{entry}");
        self.ad(source_id).await
    }

    /// An ad as it is now.
    pub async fn ad(&self, source_id: &str) -> Value {
        self.get(&format!("/v4/ad/{source_id}")).await.expect(200)
    }

    /// The log of an ad as it is now.
    ///
    /// # Panics
    /// When the ad has none.
    pub async fn log(&self, source_id: &str) -> Vec<Value> {
        self.ad(source_id).await["log"].as_array().expect("a single ad comes with its log").clone()
    }
}

/// Begins a client that talks to local servers.
pub fn http_client() -> reqwest::ClientBuilder {
    // Whoever is second does not replace it.
    let _is_first = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}

fn http(address: Option<IpAddr>) -> reqwest::Client {
    http_client().local_address(address).build().expect("a plain client can be built")
}
