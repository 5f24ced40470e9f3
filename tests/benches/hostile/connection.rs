//! HTTP/1.1 on a plain socket: cheaper than a client library, so that the attacker's share of the machine goes far, and
//! open to what no client library does.

use std::io;

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) key: Option<String>,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), body: Vec::new(), key: None }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST", path: path.into(), body: body.into(), key: None }
    }

    pub(crate) fn patch(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "PATCH", path: path.into(), body: body.into(), key: None }
    }

    /// The same with an idempotency key.
    pub(crate) fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub(crate) fn bytes(&self, token: &str) -> Vec<u8> {
        let Self { method, path, body, key } = self;
        let length = body.len();
        let key = key.as_ref().map(|key| format!("Idempotency-Key: {key}\r\n")).unwrap_or_default();
        let mut bytes = format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\nX-Auth-Token: {token}\r\nContent-Type: application/json\r\n{key}\
             Content-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

/// What is read of an answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Whether the connection can be used again.
    pub(crate) keeps_open: bool,
}

pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(BufReader::with_capacity(64 * 1024, stream))
    }

    /// Sends bytes without reading anything.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes).await
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        // Who refuses a request may answer before all of it has come, and close.
        let sent = self.send(request).await;
        let mut answer = self.answer().await?;
        answer.keeps_open &= sent.is_ok();
        Ok(answer)
    }

    /// Reads an answer to its end.
    pub(crate) async fn answer(&mut self) -> io::Result<Answer> {
        let status = self.line().await?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut answer = Answer { status: status.ok_or(io::ErrorKind::InvalidData)?, keeps_open: true };
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line().await?.to_ascii_lowercase();
            match line.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
                Some(("transfer-encoding", value)) => chunked = value == "chunked",
                Some(("connection", value)) => answer.keeps_open = value != "close",
                Some(_) => {}
            }
        }
        if chunked {
            self.skip_chunks().await?;
        } else {
            self.skip(length).await?;
        }
        Ok(answer)
    }

    async fn skip_chunks(&mut self) -> io::Result<()> {
        loop {
            let size = u64::from_str_radix(&self.line().await?, 16).map_err(io::Error::other)?;
            // With the line break behind it.
            self.skip(size + 2).await?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    async fn skip(&mut self, length: u64) -> io::Result<()> {
        let read = tokio::io::copy(&mut (&mut self.0).take(length), &mut tokio::io::sink()).await?;
        if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.0.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
