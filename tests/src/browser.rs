//! Browsers that tests open pages in, driven by `WebDriver`. Most tests use a headless Chromium through Debian's chromedriver. Sizes, colour
//! schemes and memory, which `WebDriver` does not know, are `DevTools` commands there; chromedriver passes them on. Firefox and `WebKitGTK` are
//! for what differs between engines.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    error::CmdError,
    key::Key,
    wd::{Capabilities, TimeoutConfiguration, WebDriverCompatibleCommand},
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{
    marionette::Firefox,
    ports,
    tools::{self, Tool},
};

/// How often chromedriver is started at most.
const STARTS: usize = 5;

/// Longest wait for anything in the browser. Two tests may share one processor.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser with one page; it ends with the value.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    /// Address of the driver, and path of the session there.
    session: (String, String),
    engine: Engine,
    /// The browser ends with it.
    _driver: Driver,
    _profile: TempDir,
}

/// What shows the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Chromium,
    Firefox,
    WebKit,
}

/// What a browser is driven through; it ends with the value.
#[derive(Debug)]
enum Driver {
    /// Connected to Chromium by a pipe.
    Chromium {
        _driver: Child,
    },
    Firefox {
        _bridge: Firefox,
    },
    /// It has no mode without a display.
    WebKit {
        _driver: Child,
        _display: Child,
    },
}

impl Drop for Browser {
    /// Closes the browser and waits for that: while it runs, its profile cannot be removed. The client cannot do so where nobody awaits.
    /// Firefox is killed: who waits keeps the server from running by which it would be closed.
    fn drop(&mut self) {
        if self.engine == Engine::Firefox {
            return;
        }
        let (driver, path) = &self.session;
        if let Ok(mut stream) = TcpStream::connect(driver) {
            let closed = stream
                .set_read_timeout(Some(PATIENCE))
                .and_then(|()| write!(stream, "DELETE {path} HTTP/1.1\r\nHost: {driver}\r\nContent-Length: 0\r\n\r\n"))
                .and_then(|()| stream.read_exact(&mut [0]));
            if let Err(error) = closed {
                eprintln!("{:?} was not closed: {error}", self.engine);
            }
        }
    }
}

/// Size of a page in the memory of the browser.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Elements and texts of the document.
    pub nodes: u64,
    /// Bytes of JavaScript objects after a garbage collection.
    pub heap: u64,
}

impl Browser {
    /// A browser, if Chromium and its driver are installed.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start() -> Option<Self> {
        let chromium = tools::find(Tool::Program("chromium"))?;
        let driver = tools::find(Tool::Program("chromedriver"))?;
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let (driver, port) = start_driver(&driver, profile.path()).await;
        let profile_argument = format!("--user-data-dir={}", profile.path().display());
        let capabilities = json!({
            "goog:chromeOptions": {"binary": chromium, "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--remote-debugging-pipe",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                "--window-size=1280,1024", profile_argument,
            ]},
            "goog:loggingPrefs": {"browser": "SEVERE"},
        });
        let address = format!("127.0.0.1:{port}");
        let browser =
            Self::drive(Engine::Chromium, Driver::Chromium { _driver: driver }, address, capabilities, profile).await;
        browser.devtools("Performance.enable", json!({})).await;
        Some(browser)
    }

    /// A browser of another engine, if it is installed.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_engine(engine: Engine) -> Option<Self> {
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let (driver, address) = match engine {
            Engine::Chromium => return Self::start().await,
            Engine::Firefox => {
                let firefox = Firefox::start(&tools::find(Tool::Program("firefox-esr"))?, profile.path()).await;
                let address = firefox.address.clone();
                (Driver::Firefox { _bridge: firefox }, address)
            }
            Engine::WebKit => {
                let driver = tools::find(Tool::Program("WebKitWebDriver"))?;
                let display = tools::find(Tool::Program("Xvfb"))?;
                start_webkit(&driver, &display, profile.path()).await
            }
        };
        Some(Self::drive(engine, driver, address, json!({}), profile).await)
    }

    async fn drive(engine: Engine, driver: Driver, address: String, capabilities: Value, profile: TempDir) -> Self {
        let capabilities: Capabilities = serde_json::from_value(capabilities).expect("it is an object");
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let connected = builder.capabilities(capabilities).connect(&format!("http://{address}")).await;
        let client = connected.unwrap_or_else(|error| panic!("{engine:?} does not start: {error}"));
        let timeouts = TimeoutConfiguration::new(Some(PATIENCE), Some(PATIENCE), None);
        client.update_timeouts(timeouts).await.expect("the driver takes timeouts");
        let id = client.session_id().await.expect("the client answers").expect("a session has an id");
        let session = (address, format!("/session/{id}"));
        Self { client, session, engine, _driver: driver, _profile: profile }
    }

    /// Opens an address, and waits until it is loaded.
    ///
    /// # Panics
    /// When nobody answers at the address.
    pub async fn open(&self, address: &str) {
        self.client.goto(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
    }

    /// Shows pages as a phone does, of 390 × 844 points.
    pub async fn become_phone(&self) {
        let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true});
        self.devtools("Emulation.setDeviceMetricsOverride", phone).await;
    }

    /// Shows pages in a window of this size.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn resize(&self, width: u32, height: u32) {
        if self.engine != Engine::Chromium {
            return self.client.set_window_size(width, height).await.expect("windows have sizes");
        }
        let window = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", window).await;
    }

    /// Prefers the colour scheme `dark` or `light`.
    pub async fn prefer(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Runs no scripts of pages from now on, or does so again.
    pub async fn disable_scripts(&self, disabled: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({"value": disabled})).await;
    }

    /// Runs a script in every page that is opened from now on, before its own.
    pub async fn add_script(&self, source: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": source})).await;
    }

    /// Presses and releases a key.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn press(&self, key: Key) {
        let value = char::from(key);
        let keys = KeyActions::new("keyboard".to_owned());
        let keys = keys.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        self.client.perform_actions(keys).await.expect("the browser has a keyboard");
    }

    /// Types a text into the element that has the focus, key by key.
    ///
    /// # Panics
    /// When that takes no text.
    pub async fn type_text(&self, text: &str) {
        let focused = self.client.active_element().await.expect("an element has the focus");
        focused.send_keys(text).await.expect("it takes texts");
    }

    /// Clicks what a CSS selector finds with the mouse, once it is there and nothing covers it.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn click(&self, selector: &str) {
        let begun = Instant::now();
        loop {
            let clicked = async { self.client.find(Locator::Css(selector)).await?.click().await };
            // Pages replace their parts meanwhile.
            let Err(error) = clicked.await else { return };
            assert!(begun.elapsed() < PATIENCE, "{selector}: {error}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Replaces the text of the input that a CSS selector finds, key by key.
    ///
    /// # Panics
    /// When there is none.
    pub async fn fill(&self, selector: &str, text: &str) {
        let filled = async {
            let input = self.client.find(Locator::Css(selector)).await?;
            input.clear().await?;
            input.send_keys(text).await
        };
        filled.await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Chooses files in the file input that a CSS selector finds.
    ///
    /// # Panics
    /// When there is none.
    pub async fn choose(&self, selector: &str, files: &[PathBuf]) {
        let paths = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join("\n");
        let chosen = async { self.client.find(Locator::Css(selector)).await?.send_keys(&paths).await };
        chosen.await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// What the window shows, as PNG.
    ///
    /// # Panics
    /// When the browser sends no picture.
    pub async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("the browser sends a picture")
    }

    /// Loads the page again.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn reload(&self) {
        self.client.refresh().await.expect("pages can be loaded again");
    }

    /// The value of a JavaScript expression in the page, a promise's when it is there.
    ///
    /// # Panics
    /// When it throws.
    pub async fn eval(&self, expression: &str) -> Value {
        self.try_eval(expression).await.unwrap_or_else(|thrown| panic!("{expression}: {thrown}"))
    }

    async fn try_eval(&self, expression: &str) -> Result<Value, CmdError> {
        self.client.execute(&format!("return ({expression})"), Vec::new()).await
    }

    /// Waits until an expression is neither false nor null, and returns it.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn until(&self, expression: &str) -> Value {
        let begun = Instant::now();
        loop {
            // A page that is being replaced throws.
            let value = self.try_eval(expression).await.unwrap_or_default();
            if !matches!(value, Value::Null | Value::Bool(false)) && value != "" {
                return value;
            }
            if begun.elapsed() > PATIENCE {
                let shown = self.eval("location.href + '\\n' + document.body.innerText.slice(0, 2000)").await;
                panic!("never: {expression}\n{:?}\n{}", self.complaints().await, shown.as_str().unwrap_or_default());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What the page costs now.
    pub async fn cost(&self) -> Cost {
        self.devtools("HeapProfiler.collectGarbage", json!({})).await;
        let metrics = self.devtools("Performance.getMetrics", json!({})).await;
        let metric = |name: &str| {
            let mut all = metrics["metrics"].as_array().into_iter().flatten();
            all.find(|metric| metric["name"] == name).and_then(|metric| metric["value"].as_f64()).unwrap_or(0.0)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        let whole = |name| metric(name) as u64;
        Cost { nodes: whole("Nodes"), heap: whole("JSHeapUsedSize") }
    }

    /// Errors in the console of the browser since the last call: what scripts threw, what could not be loaded, and violations of the
    /// security policy. Errors of the pages of the browser itself, such as its first tab, do not count.
    /// Only Chromium says them.
    pub async fn complaints(&self) -> Vec<String> {
        if self.engine != Engine::Chromium {
            return Vec::new();
        }
        let log = self.extension("se/log", json!({"type": "browser"})).await;
        let messages = log.as_array().into_iter().flatten().filter_map(|entry| entry["message"].as_str());
        messages.filter(|message| !message.starts_with("chrome://")).map(str::to_owned).collect()
    }

    /// Waits until the browser has complained of all `expected`, and forgets what it has complained of until then. It complains some time
    /// after it has shown the page.
    ///
    /// # Panics
    /// When one of them does not come.
    pub async fn complains_of(&self, expected: &[&str]) {
        if self.engine != Engine::Chromium {
            return;
        }
        let (begun, mut heard) = (Instant::now(), String::new());
        while !expected.iter().all(|text| heard.contains(text)) {
            assert!(begun.elapsed() < PATIENCE, "{expected:?} are not all in: {heard}");
            heard.extend(self.complaints().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.extension("goog/cdp/execute", json!({"cmd": method, "params": parameters})).await
    }

    async fn extension(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Extension { path, body }).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// Starts chromedriver, and returns the port that it has chosen. It ends if the port is free for IPv4 and in use for IPv6; then it is
/// started again.
async fn start_driver(driver: &Path, folder: &Path) -> (Child, u16) {
    for _ in 0..STARTS {
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .env("TMPDIR", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("chromedriver starts");
        let output = driver.stdout.as_mut().expect("it is piped");
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await.expect("chromedriver writes lines") {
            if let Some((_, port)) = line.split_once("successfully on port ") {
                let port = port.trim_end_matches('.').parse().expect("a port is a number");
                return (driver, port);
            }
        }
    }
    panic!("chromedriver has ended {STARTS} times");
}

/// Starts the driver of `WebKitGTK` on a display of its own; returns its address.
async fn start_webkit(driver: &Path, display: &Path, folder: &Path) -> (Driver, String) {
    let mut display = Command::new(display)
        .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("Xvfb starts");
    let mut lines = BufReader::new(display.stdout.as_mut().expect("it is piped")).lines();
    let number = lines.next_line().await.expect("Xvfb writes lines").expect("Xvfb says its number");
    let port = ports::lasting();
    let driver = Command::new(driver)
        .arg(format!("--port={port}"))
        .env("DISPLAY", format!(":{number}"))
        .env("HOME", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("WebKitWebDriver starts");
    let address = format!("127.0.0.1:{port}");
    let begun = Instant::now();
    while TcpStream::connect(&address).is_err() {
        assert!(begun.elapsed() < PATIENCE, "WebKitWebDriver does not listen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (Driver::WebKit { _driver: driver, _display: display }, address)
}

/// A command that chromedriver has beyond `WebDriver`.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
