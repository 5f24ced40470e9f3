//! A headless Chromium that tests open pages in. It is told what to do by the Chrome `DevTools` Protocol, over its pipe.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::tools;

/// Longest wait for anything in the browser. Two tests may share one processor.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser with one page; it ends with the value.
#[derive(Debug)]
pub struct Browser {
    _process: Child,
    _profile: TempDir,
    commands: ChildStdin,
    messages: BufReader<ChildStdout>,
    session: String,
    last_id: u64,
    complaints: Vec<String>,
}

/// What a page costs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Elements and texts of the document.
    pub nodes: u64,
    /// Bytes of JavaScript objects after a garbage collection.
    pub heap: u64,
}

impl Browser {
    /// A browser, if Chromium is installed.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start() -> Option<Self> {
        let chromium = tools::find("chromium", &[], "apt-get install chromium")?;
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let (process, commands, messages) = spawn(&chromium, profile.path());
        let mut browser = Self {
            _process: process,
            _profile: profile,
            commands,
            messages,
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"})).await["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
        browser.session = attached["sessionId"].as_str().expect("a session has an id").to_owned();
        for domain in ["Page", "Runtime", "Log", "Performance"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        Some(browser)
    }

    /// Opens an address.
    pub async fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address})).await;
    }

    /// Shows pages as a phone does, of 390 × 844 points.
    pub async fn become_phone(&mut self) {
        let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true});
        self.call("Emulation.setDeviceMetricsOverride", phone).await;
    }

    /// Shows pages in a window of this size.
    pub async fn resize(&mut self, width: u32, height: u32) {
        let window = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", window).await;
    }

    /// Prefers the colour scheme `dark` or `light`.
    pub async fn prefer(&mut self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features).await;
    }

    /// Runs no scripts of pages from now on, or does so again.
    pub async fn disable_scripts(&mut self, disabled: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": disabled})).await;
    }

    /// Presses and releases a key, such as `Tab` or `Enter`.
    pub async fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            " " => (32, " "),
            _ => (0, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event).await;
        }
    }

    /// Types a text into the element that has the focus, key by key.
    pub async fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text})).await;
    }

    /// What the window shows, as PNG in base64.
    ///
    /// # Panics
    /// When the browser sends no picture.
    pub async fn screenshot(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png"})).await;
        picture["data"].as_str().expect("a screenshot has data").to_owned()
    }

    /// Loads the page again.
    pub async fn reload(&mut self) {
        // Gone as soon as the new page is there.
        self.eval("window.isOld = true").await;
        self.call("Page.reload", json!({})).await;
        self.until("!window.isOld").await;
    }

    /// The value of a JavaScript expression in the page, a promise's when it is there.
    ///
    /// # Panics
    /// When it throws.
    pub async fn eval(&mut self, expression: &str) -> Value {
        self.try_eval(expression).await.unwrap_or_else(|thrown| panic!("{expression}: {thrown}"))
    }

    async fn try_eval(&mut self, expression: &str) -> Result<Value, Value> {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        // The browser refuses when the page goes away meanwhile.
        let answer = self.try_call("Runtime.evaluate", asked).await?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(thrown.clone()),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Waits until an expression is neither false nor null, and returns it.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn until(&mut self, expression: &str) -> Value {
        let begun = tokio::time::Instant::now();
        loop {
            // A page that is being replaced throws.
            let value = self.try_eval(expression).await.unwrap_or_default();
            if !matches!(value, Value::Null | Value::Bool(false)) && value != "" {
                return value;
            }
            if begun.elapsed() > PATIENCE {
                let shown = self.eval("document.body.innerText.slice(0, 2000)").await;
                panic!("never: {expression}\n{:?}\n{shown}", self.complaints);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Types a text into the element that an expression returns, as React expects it.
    pub async fn fill(&mut self, element: &str, text: &str) {
        let text = json!(text);
        self.eval(&format!(
            "(() => {{ const element = {element}; const prototype = Object.getPrototypeOf(element);
              Object.getOwnPropertyDescriptor(prototype, 'value').set.call(element, {text});
              element.dispatchEvent(new Event('input', {{bubbles: true}}));
              element.dispatchEvent(new Event('change', {{bubbles: true}})); }})()"
        ))
        .await;
    }

    /// What the page costs now.
    pub async fn cost(&mut self) -> Cost {
        self.call("HeapProfiler.collectGarbage", json!({})).await;
        let metrics = self.call("Performance.getMetrics", json!({})).await;
        let metric = |name: &str| {
            let all = metrics["metrics"].as_array().into_iter().flatten();
            all.clone().find(|metric| metric["name"] == name).and_then(|metric| metric["value"].as_f64()).unwrap_or(0.0)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        let whole = |name| metric(name) as u64;
        Cost { nodes: whole("Nodes"), heap: whole("JSHeapUsedSize") }
    }

    /// Errors that scripts threw and the browser reported, violations of the security policy among them.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Sends a command, which must succeed, and returns its result.
    async fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.try_call(method, parameters).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command and returns its result, or the error of the browser.
    async fn try_call(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let bytes = [command.to_string().as_bytes(), b"\0"].concat();
        self.commands.write_all(&bytes).await.expect("the browser reads commands");
        loop {
            let message = tokio::time::timeout(PATIENCE, self.next()).await;
            let message = message.unwrap_or_else(|_| panic!("no answer to {command}"));
            if message["id"] == self.last_id {
                return message.get("error").map_or_else(|| Ok(message["result"].clone()), |error| Err(error.clone()));
            }
            self.note(&message);
        }
    }

    async fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.messages.read_until(0, &mut bytes).await.expect("the browser writes messages");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).expect("messages are JSON")
    }

    fn note(&mut self, message: &Value) {
        let entry = &message["params"]["entry"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(message["params"]["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if entry["level"] == "error" => self.complaints.push(entry.to_string()),
            _ => {}
        }
    }
}

/// Chromium reads commands from file descriptor 3 and writes messages to 4.
fn spawn(chromium: &Path, profile: &Path) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut process = Command::new("sh")
        .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
        .arg(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--remote-debugging-pipe",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
        ])
        .arg("--window-size=1280,1024")
        .arg(format!("--user-data-dir={}", profile.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("sh starts");
    let commands = process.stdin.take().expect("it is piped");
    let messages = process.stdout.take().expect("it is piped");
    (process, commands, BufReader::new(messages))
}
