//! Drives Firefox without geckodriver, which Debian lacks: a server that speaks `WebDriver` to the client, and the protocol of Firefox
//! itself, Marionette, which has the same commands under other names. A message is its length, a colon, and JSON.

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use poem::{
    Request, Response, Server,
    endpoint::make,
    http::{Method, StatusCode},
    listener::{Acceptor, Listener, TcpListener},
};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    sync::Mutex,
    task::JoinHandle,
    time::{Instant, sleep},
};

/// Longest wait for the start of Firefox.
const START: Duration = Duration::from_mins(1);

/// Firefox chooses a port and writes it to its profile. It asks nobody anything, and opens nothing by itself.
const PREFERENCES: &str = r#"user_pref("marionette.port", 0);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.startup.homepage", "about:blank");
"#;

/// Commands of `WebDriver` as they are after the session, with their names for Firefox. `*` is an id.
const COMMANDS: [(Method, &str, &str); 16] = [
    (Method::DELETE, "", "DeleteSession"),
    (Method::POST, "timeouts", "SetTimeouts"),
    (Method::POST, "url", "Navigate"),
    (Method::GET, "url", "GetCurrentURL"),
    (Method::POST, "refresh", "Refresh"),
    (Method::POST, "back", "Back"),
    (Method::POST, "window/rect", "SetWindowRect"),
    (Method::GET, "screenshot", "TakeScreenshot"),
    (Method::POST, "actions", "PerformActions"),
    (Method::POST, "execute/sync", "ExecuteScript"),
    (Method::POST, "element", "FindElement"),
    (Method::POST, "elements", "FindElements"),
    (Method::GET, "element/active", "GetActiveElement"),
    (Method::POST, "element/*/click", "ElementClick"),
    (Method::POST, "element/*/clear", "ElementClear"),
    (Method::POST, "element/*/value", "ElementSendKeys"),
];

/// Firefox, and the server before it. Both end with the value.
#[derive(Debug)]
pub(crate) struct Firefox {
    _process: Child,
    /// Address of the server.
    pub(crate) address: String,
    server: JoinHandle<()>,
}

impl Drop for Firefox {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Firefox {
    pub(crate) async fn start(program: &Path, profile: &Path) -> Self {
        std::fs::write(profile.join("user.js"), PREFERENCES).expect("the profile can be written");
        let mut process = Command::new(program)
            .args(["--headless", "--marionette", "--no-remote", "--profile"])
            .arg(profile)
            .env("HOME", profile)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Firefox starts");
        let begun = Instant::now();
        let link = loop {
            if let Some(link) = Link::to(profile).await {
                break link;
            }
            let ended = process.try_wait().expect("it is a child");
            assert!(ended.is_none() && begun.elapsed() < START, "Firefox does not answer: {ended:?}");
            sleep(Duration::from_millis(50)).await;
        };
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().expect("it is TCP").to_string();
        let link = Arc::new(Mutex::new(link));
        let app = make(move |request: Request| {
            let link = Arc::clone(&link);
            async move { Ok::<_, poem::Error>(link.lock().await.answer(request).await) }
        });
        let server = tokio::spawn(async move {
            Server::new_with_acceptor(acceptor).run(app).await.expect("it serves");
        });
        Self { _process: process, address, server }
    }
}

/// The connection to Firefox.
struct Link {
    stream: BufReader<TcpStream>,
    last: u64,
}

impl Link {
    /// A connection, once Firefox has written its port.
    async fn to(profile: &Path) -> Option<Self> {
        let port: u16 = std::fs::read_to_string(profile.join("MarionetteActivePort")).ok()?.trim().parse().ok()?;
        let stream = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await.ok()?);
        let mut link = Self { stream, last: 0 };
        // It says who it is.
        link.receive().await?;
        Some(link)
    }

    async fn receive(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            match self.stream.read_u8().await.ok()? {
                b':' => break,
                digit => length = length * 10 + usize::from(digit - b'0'),
            }
        }
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message).await.ok()?;
        serde_json::from_slice(&message).ok()
    }

    /// The result of a command, or its error.
    async fn command(&mut self, name: &str, parameters: &Value) -> Result<Value, Value> {
        self.last += 1;
        let message = json!([0, self.last, format!("WebDriver:{name}"), parameters]).to_string();
        let sent = self.stream.write_all(format!("{}:{message}", message.len()).as_bytes()).await;
        let gone = || json!({"error": "unknown error", "message": "Firefox is gone", "stacktrace": ""});
        sent.map_err(|_| gone())?;
        let mut answer = self.receive().await.ok_or_else(gone)?;
        if answer[2].is_null() { Ok(answer[3].take()) } else { Err(answer[2].take()) }
    }

    async fn answer(&mut self, mut request: Request) -> Response {
        let body = request.take_body().into_vec().await.unwrap_or_default();
        let mut parameters: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
        let path = request.uri().path().trim_matches('/').to_owned();
        let rest = path.strip_prefix("session").unwrap_or_default().trim_start_matches('/');
        let rest = rest.split_once('/').map_or("", |(_, rest)| rest);
        let named = COMMANDS.iter().find(|(method, pattern, _)| method == request.method() && is_of(pattern, rest));
        let name = match named {
            _ if path == "session" => {
                parameters.clear();
                "NewSession"
            }
            Some((_, _, name)) => name,
            None => return answer_of(Err(json!({"error": "unknown command", "message": path, "stacktrace": ""}))),
        };
        if let Some(id) = rest.strip_prefix("element/").and_then(|rest| rest.split_once('/')) {
            parameters.insert("id".to_owned(), id.0.into());
        }
        answer_of(self.command(name, &Value::Object(parameters)).await)
    }
}

/// Whether a pattern is that of a path.
fn is_of(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len() && pattern.iter().zip(path).all(|(wanted, part)| *wanted == "*" || *wanted == part)
}

/// A result or an error as `WebDriver` has it.
fn answer_of(result: Result<Value, Value>) -> Response {
    let (status, value) = match result {
        Ok(Value::Object(mut only)) if only.len() == 1 && only.contains_key("value") => {
            (StatusCode::OK, only.remove("value").unwrap_or_default())
        }
        Ok(value) => (StatusCode::OK, value),
        Err(error) if error["error"] == "no such element" => (StatusCode::NOT_FOUND, error),
        Err(error) => (StatusCode::BAD_REQUEST, error),
    };
    Response::builder().status(status).content_type("application/json").body(json!({"value": value}).to_string())
}
