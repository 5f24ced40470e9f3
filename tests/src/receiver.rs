//! A receiver of webhooks for tests, with every way in which a receiver can fail.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use futures_util::stream;
use poem::{
    Body, Endpoint, IntoResponse, Request, Response, Server,
    http::{HeaderMap, StatusCode},
    listener::{Acceptor, Listener, TcpListener},
};
use serde_json::Value;
use tokio::task::JoinHandle;

/// What a path of the receiver answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Status(u16),
    /// 429 with `Retry-After` in seconds.
    Busy(u32),
    /// A redirect to the path `/redirected`.
    Redirect,
    /// No answer, on an open connection.
    Hang,
    /// 500 with a body that does not end before a gigabyte.
    Gigabyte,
}

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: String,
    pub at: Instant,
}

impl Received {
    /// A header as text.
    ///
    /// # Panics
    /// When it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().expect("headers of webhooks are ASCII")
    }

    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("bodies of webhooks are JSON")
    }
}

#[derive(Debug, Default)]
struct State {
    behaviours: HashMap<String, Behaviour>,
    received: Vec<Received>,
    /// Bytes of [`Behaviour::Gigabyte`] that were taken.
    sent: usize,
}

/// A receiver on a free port; it ends with the value.
#[derive(Debug)]
pub struct WebhookReceiver {
    pub base: String,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl WebhookReceiver {
    /// Starts it. Every path answers 200 until it [behaves](Self::behave) in another way.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0").await
    }

    /// Starts it at this address.
    ///
    /// # Panics
    /// When the port is not free.
    pub async fn start_at(address: &str) -> Self {
        let acceptor = TcpListener::bind(address.to_owned()).into_acceptor().await.expect("the port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        let state = Arc::new(Mutex::new(State::default()));
        let endpoint = Receive { state: Arc::clone(&state) };
        let server = tokio::spawn(async move {
            let _ended = Server::new_with_acceptor(acceptor).run(endpoint).await;
        });
        Self { base: format!("http://{address}"), state, server }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// How a path answers from now on.
    pub fn behave(&self, path: &str, behaviour: Behaviour) {
        self.state().behaviours.insert(path.to_owned(), behaviour);
    }

    /// What came in at a path, oldest first.
    pub fn received(&self, path: &str) -> Vec<Received> {
        self.state().received.iter().filter(|received| received.path == path).cloned().collect()
    }

    /// How many bytes of endless bodies were taken.
    pub fn sent(&self) -> usize {
        self.state().sent
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no handler panics")
    }
}

struct Receive {
    state: Arc<Mutex<State>>,
}

impl Endpoint for Receive {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let path = request.uri().path().to_owned();
        let body = request.take_body().into_string().await?;
        let behaviour = {
            let mut state = self.state.lock().expect("no handler panics");
            let headers = request.headers().clone();
            state.received.push(Received { path: path.clone(), headers, body, at: Instant::now() });
            state.behaviours.get(&path).copied().unwrap_or(Behaviour::Status(200))
        };
        let status = |status| StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Ok(match behaviour {
            Behaviour::Status(code) => format!("answer {code}").with_status(status(code)).into_response(),
            Behaviour::Busy(seconds) => status(429).with_header("retry-after", seconds.to_string()).into_response(),
            Behaviour::Redirect => status(301).with_header("location", "/redirected").into_response(),
            Behaviour::Hang => std::future::pending().await,
            Behaviour::Gigabyte => {
                const PIECE: usize = 64 * 1024;
                let state = Arc::clone(&self.state);
                let body = stream::unfold(0, move |sent: usize| {
                    let state = Arc::clone(&state);
                    async move {
                        if sent >= 1 << 30 {
                            return None;
                        }
                        // A little time for the reader to disconnect.
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        state.lock().expect("no handler panics").sent += PIECE;
                        Some((Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b'x'; PIECE])), sent + PIECE))
                    }
                });
                Response::builder().status(status(500)).body(Body::from_bytes_stream(body))
            }
        })
    }
}
