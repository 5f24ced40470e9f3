//! Something between a client and a server, as a proxy is: it sees every create, and loses answers when it is told to.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use poem::{
    Endpoint, IntoResponse, Request, Response, Server,
    http::{Method, StatusCode},
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::task::JoinHandle;

/// A relay on a free port; it ends with the value.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) base: String,
    seen: Arc<Seen>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The answers of the server to the creates of each source id, in order, without those that it replayed.
    creates: Mutex<BTreeMap<String, Vec<u16>>>,
    count: AtomicUsize,
    /// Of so many creates, one is passed on and its answer lost, and one is lost itself; 0: none.
    loses: AtomicUsize,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Relay {
    /// Starts one in front of a server.
    pub(crate) async fn before(server: &ad_tests::Server) -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        let seen = Arc::new(Seen::default());
        let http = ad_tests::http_client().build().expect("a plain client can be built");
        let pass = Pass { to: server.client.base.clone(), http, seen: Arc::clone(&seen) };
        let server = tokio::spawn(async move {
            let _ended = Server::new_with_acceptor(acceptor).run(pass).await;
        });
        Self { base: format!("http://{address}"), seen, server }
    }

    /// From now on loses two of so many creates; 0: none.
    pub(crate) fn lose(&self, one_of: usize) {
        self.seen.loses.store(one_of, Ordering::SeqCst);
    }

    /// How many creates have come.
    pub(crate) fn creates(&self) -> usize {
        self.seen.count.load(Ordering::SeqCst)
    }

    /// What the server answered to the creates of each source id.
    pub(crate) fn answers(&self) -> BTreeMap<String, Vec<u16>> {
        self.seen.creates.lock().unwrap().clone()
    }
}

struct Pass {
    to: String,
    http: reqwest::Client,
    seen: Arc<Seen>,
}

impl Endpoint for Pass {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let lost =
            || Ok((StatusCode::BAD_GATEWAY, "<html>Bad gateway</html>").with_content_type("text/html").into_response());
        let path = request.original_uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        let body = request.take_body().into_vec().await?;
        let is_create = request.method() == Method::POST && !path.ends_with("/validate");
        let number = if is_create { self.seen.count.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let loses = self.seen.loses.load(Ordering::SeqCst);
        if is_create && loses > 0 && number % loses == 1 {
            return lost();
        }
        let mut passed = self.http.request(request.method().clone(), format!("{}{path}", self.to));
        for (name, value) in request.headers().iter().filter(|(name, _)| *name != "host" && *name != "content-length") {
            passed = passed.header(name, value);
        }
        let Ok(answer) = passed.body(body.clone()).send().await else { return lost() };
        let (status, headers) = (answer.status(), answer.headers().clone());
        if is_create {
            let payload: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let source_id = payload["source_id"].as_str().unwrap_or_default().to_owned();
            // A replayed answer is that of an earlier create.
            if !headers.contains_key("idempotency-replayed") {
                self.seen.creates.lock().unwrap().entry(source_id).or_default().push(status.as_u16());
            }
            if loses > 0 && number % loses == 0 {
                return lost();
            }
        }
        let mut response = Response::builder().status(status);
        for (name, value) in
            headers.iter().filter(|(name, _)| *name != "transfer-encoding" && *name != "content-length")
        {
            response = response.header(name, value);
        }
        Ok(response.body(answer.bytes().await.map(|bytes| bytes.to_vec()).unwrap_or_default()))
    }
}
