//! The transport: one message a line on stdin and stdout. A line that is no message gets a JSON-RPC error, which `rmcp` leaves out.

use std::{io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ErrorCode, JsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use serde::{
    Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, Stdout},
    sync::{Mutex, mpsc},
};

use crate::terminal::Output;

/// Most bytes of a line: a call with thousands of payloads.
const MOST: usize = 16 * 1024 * 1024;

/// Bytes at a time in which the rest of a line that is too long is skipped.
const SKIPPED: u64 = 64 * 1024;

/// The client at the other end.
#[derive(Debug)]
pub(super) struct LineTransport<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    out: Arc<Mutex<W>>,
}

impl LineTransport<Stdout> {
    /// Reads stdin in a task of its own, and logs refused lines to `log`.
    pub(super) fn stdio(log: Output) -> Self {
        let (sender, messages) = mpsc::channel(1);
        let out = Arc::new(Mutex::new(tokio::io::stdout()));
        let task =
            read(BufReader::new(tokio::io::stdin()), MOST, out.clone(), sender, move |refused| log.note(refused));
        tokio::spawn(async move {
            // An unreadable stdin and a closed stdout end the session as the end of stdin does.
            let _ = task.await;
        });
        Self { messages, out }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for LineTransport<W> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move { write(&out, &message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close();
        self.out.lock().await.flush().await
    }
}

/// Writes a message as one line.
async fn write<W: AsyncWrite + Unpin>(out: &Mutex<W>, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = out.lock().await;
    out.write_all(&line).await?;
    out.flush().await
}

/// Reads messages to the end of `input`, and answers lines that are none.
async fn read<W: AsyncWrite + Unpin>(
    mut input: impl AsyncBufRead + Unpin,
    most: usize,
    out: Arc<Mutex<W>>,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    log: impl Fn(&str),
) -> io::Result<()> {
    let (mut line, mut has_begun) = (Vec::new(), false);
    loop {
        line.clear();
        if (&mut input).take(most as u64 + 1).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n") || line.len() <= most;
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
        let refused = if is_whole {
            if text.is_empty() {
                continue;
            }
            match serde_json::from_slice(text) {
                // `rmcp` ends a session that does not begin with a request.
                Ok(message) if has_begun || matches!(message, JsonRpcMessage::Request(_)) => {
                    has_begun = true;
                    if messages.send(message).await.is_err() {
                        return Ok(());
                    }
                    None
                }
                Ok(_) => None,
                Err(_) => Refusal::of(text),
            }
        } else {
            let refused = Refusal::too_long(text, most);
            while !line.ends_with(b"\n") {
                line.clear();
                if (&mut input).take(SKIPPED).read_until(b'\n', &mut line).await? == 0 {
                    break;
                }
            }
            Some(refused)
        };
        if let Some(Refusal { id, code, message }) = refused {
            log(&format!("invalid message: {message}"));
            let error = json!({"code": code, "message": message});
            write(&out, &json!({"jsonrpc": "2.0", "id": id, "error": error})).await?;
        }
    }
}

/// The answer to a line that is no message.
#[derive(Debug, PartialEq)]
struct Refusal {
    /// That of the request, if it can be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// What is wrong with a line; `None` if it expects no answer.
    fn of(line: &[u8]) -> Option<Self> {
        let seen = Envelope::of(line);
        if seen.expects_no_answer() {
            return None;
        }
        let (code, message) = match std::str::from_utf8(line) {
            Err(error) => {
                let at = error.valid_up_to();
                (ErrorCode::PARSE_ERROR, format!("not UTF-8: byte 0x{:02x} at offset {at}", line[at]))
            }
            Ok(line) => match serde_json::from_str::<Value>(line) {
                Err(error) => (
                    ErrorCode::PARSE_ERROR,
                    format!("not JSON, or nested more than 127 levels: {error}; a message is one line"),
                ),
                Ok(message) => {
                    let (code, message) = reason(&message);
                    (code, message.to_owned())
                }
            },
        };
        Some(Self { id: seen.id(), code, message })
    }

    /// About a line of which only the beginning was read.
    fn too_long(beginning: &[u8], most: usize) -> Self {
        let message = format!("longer than {most} bytes; send less in one call");
        Self { id: Envelope::of(beginning).id(), code: ErrorCode::PARSE_ERROR, message }
    }
}

/// Why JSON is no message.
fn reason(message: &Value) -> (ErrorCode, &'static str) {
    let reason = match message {
        Value::Array(_) => "batches are not supported; send each message as an object on a line of its own",
        Value::Object(message) if message.get("jsonrpc") != Some(&json!("2.0")) => "`jsonrpc` must be \"2.0\"",
        Value::Object(message) if !message.get("method").is_some_and(Value::is_string) => "`method` must be a string",
        Value::Object(message) if !message.get("id").is_none_or(|id| id.is_string() || id.is_i64()) => {
            "`id` must be a string or an integer"
        }
        Value::Object(message) if message.contains_key("result") || message.contains_key("error") => {
            "a request has no `result` and no `error`"
        }
        Value::Object(_) => return (ErrorCode::INVALID_PARAMS, "`params` and its `_meta` must be objects"),
        _ => "expected a message as a JSON object",
    };
    (ErrorCode::INVALID_REQUEST, reason)
}

/// What can be read of a message up to the first byte that is no JSON. Values are skipped, so neither depth nor encoding matter.
#[derive(Debug, Default)]
struct Envelope {
    id: Option<Value>,
    has_method: bool,
    has_result: bool,
    is_whole: bool,
}

impl Envelope {
    fn of(line: &[u8]) -> Self {
        let mut seen = Self::default();
        let mut json = serde_json::Deserializer::from_slice(line);
        let is_object = json.deserialize_map(&mut seen).is_ok();
        seen.is_whole = is_object && json.end().is_ok();
        seen
    }

    /// Notifications and answers are not answered.
    fn expects_no_answer(&self) -> bool {
        self.is_whole && if self.has_method { self.id.is_none() } else { self.has_result }
    }

    fn id(self) -> Value {
        self.id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default()
    }
}

impl<'de> Visitor<'de> for &mut Envelope {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match &*name {
                "id" => self.id = Some(members.next_value()?),
                name => {
                    self.has_method |= name == "method";
                    self.has_result |= matches!(name, "result" | "error");
                    let IgnoredAny = members.next_value()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers to lines of at most 100 bytes, and the methods of those that are forwarded.
    async fn answers(lines: &[u8]) -> (Vec<Value>, usize) {
        let (sender, mut messages) = mpsc::channel(100);
        let out = Arc::new(Mutex::new(Vec::new()));
        read(lines, 100, out.clone(), sender, |_| ()).await.unwrap();
        let mut forwarded = 0;
        while messages.recv().await.is_some() {
            forwarded += 1;
        }
        let answers = String::from_utf8(out.lock().await.clone()).unwrap();
        (answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), forwarded)
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_answered() {
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        let long = |length| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(length));
        let answer = json!({
            "jsonrpc": "2.0", "id": 1, "error": {"code": -32700, "message": "longer than 100 bytes; send less in one call"},
        });
        for length in [100, 70_000, 200_000] {
            let lines = format!("{}\n{ping}\n{}", long(length), long(length));
            assert_eq!(answers(lines.as_bytes()).await, (vec![answer.clone(), answer.clone()], 1), "{length}");
        }
        // 100 bytes without the end of the line are allowed.
        let most = long(100 - long(0).len());
        assert_eq!(most.len(), 100);
        for end in ["", "\n"] {
            assert_eq!(answers(format!("{most}{end}").as_bytes()).await, (vec![], 1));
        }
    }

    #[test]
    fn what_expects_no_answer_gets_none() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for line in [
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{deep}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#),
            r#"{"jsonrpc":"2.0","id":null,"error":7}"#.to_owned(),
        ] {
            assert_eq!(Refusal::of(line.as_bytes()), None, "{line}");
        }
    }
}
