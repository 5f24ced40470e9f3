//! Requests that the HTTP library refuses, with a cause in the answer (decision 9).
//!
//! hyper answers a malformed request of HTTP/1.1 itself, by a status alone, before any endpoint sees it. Such an answer is recognised where
//! it is written. The endpoint is then asked for a better one, by a request that carries a [`MalformedRequest`].

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::future::BoxFuture;
use poem::{
    Response,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::table::{HEADER_BYTES, HTTP_HEADERS, HTTP1_BUFFER};

/// How much of a request is kept to find what is wrong with it, in bytes.
const KEPT: usize = 8 * 1024;

/// Data of a request that stands for one that could not be read: the answer to it, which needs this status.
#[derive(Debug, Clone)]
pub struct MalformedRequest {
    pub status: StatusCode,
    /// What is wrong and what to send instead.
    pub detail: String,
}

impl MalformedRequest {
    /// One of HTTP/2 with too many or too long headers. They count as RFC 9113, 6.5.2 says: 32 bytes more than their texts.
    pub(super) fn with_headers(version: Version, headers: &HeaderMap) -> Option<Self> {
        let bytes = || headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum::<usize>();
        let is_too_large =
            version == Version::HTTP_2 && (headers.len() > HTTP_HEADERS || bytes() > HEADER_BYTES as usize);
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        is_too_large.then(|| Self { status, detail: too_many_headers(HEADER_BYTES as usize) })
    }
}

fn too_many_headers(most: usize) -> String {
    format!(
        "The headers of the request are too many or too long: at most {HTTP_HEADERS} headers, and {} KiB together.",
        most / 1024
    )
}

/// Answers a malformed request; `None` to send the library's answer.
pub(super) type Refuse = Box<dyn Fn(MalformedRequest) -> BoxFuture<'static, Option<Refusal>> + Send>;

/// The header lines of an answer, and its body.
pub(super) struct Refusal {
    headers: Vec<u8>,
    body: Vec<u8>,
}

/// A connection whose answers to malformed requests have a cause.
pub(super) struct Explained<Io> {
    inner: Io,
    /// The first bytes of the latest request.
    head: Vec<u8>,
    /// Whether something has been written since the last bytes were read.
    is_answered: bool,
    refuse: Refuse,
    replacement: Option<Replacement>,
}

/// An answer in place of the library's.
enum Replacement {
    Asked(BoxFuture<'static, Option<Refusal>>),
    /// Its bytes, and how many of them are written.
    Written(Vec<u8>, usize),
}

impl<Io> Explained<Io> {
    pub(super) fn new(inner: Io, refuse: Refuse) -> Self {
        Self { inner, head: Vec::new(), is_answered: false, refuse, replacement: None }
    }

    fn received(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.is_answered) {
            self.head.clear();
        }
        self.head.extend_from_slice(&bytes[..bytes.len().min(KEPT - self.head.len())]);
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Explained<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(context, buffer));
        self.received(&buffer.filled()[before..]);
        Poll::Ready(read)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Explained<Io> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.is_answered = true;
        loop {
            match &mut this.replacement {
                None => match automatic(bytes) {
                    None => return Pin::new(&mut this.inner).poll_write(context, bytes),
                    Some(status) => {
                        let malformed = MalformedRequest { status, detail: detail(&this.head, status) };
                        this.replacement = Some(Replacement::Asked((this.refuse)(malformed)));
                    }
                },
                Some(Replacement::Asked(answer)) => {
                    let answer = ready!(answer.as_mut().poll(context));
                    let bytes = answer.map_or_else(|| bytes.to_vec(), |refusal| refusal.in_place_of(bytes));
                    this.replacement = Some(Replacement::Written(bytes, 0));
                }
                Some(Replacement::Written(answer, written)) => {
                    while *written < answer.len() {
                        *written += ready!(Pin::new(&mut this.inner).poll_write(context, &answer[*written..]))?;
                    }
                    this.replacement = None;
                    return Poll::Ready(Ok(bytes.len()));
                }
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && (self.replacement.is_some() || automatic(only).is_some())
        {
            return self.poll_write(context, only);
        }
        self.is_answered = true;
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl Refusal {
    /// The answer of an endpoint to a malformed request, if it knows of such requests.
    pub(super) async fn of(malformed: &MalformedRequest, mut response: Response) -> Option<Self> {
        let body = response.take_body().into_bytes().await.ok().filter(|_| response.status() == malformed.status)?;
        let mut headers = Vec::new();
        for (name, value) in response.headers().iter().filter(|(name, _)| *name != header::CONNECTION) {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                headers.extend_from_slice(part);
            }
        }
        headers.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
        Some(Self { headers, body: body.into() })
    }

    /// The library's answer, with these headers and this body.
    fn in_place_of(self, automatic: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in automatic.split_inclusive(|byte| *byte == b'\n') {
            bytes.extend_from_slice(if is_empty_length(line) { &self.headers } else { line });
        }
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn is_empty_length(line: &[u8]) -> bool {
    line.trim_ascii().eq_ignore_ascii_case(b"content-length: 0")
}

/// The status of an answer that hyper wrote by itself: it has no content.
fn automatic(bytes: &[u8]) -> Option<StatusCode> {
    let status = StatusCode::from_bytes(bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?).ok()?;
    let is_refusal = matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    let closes = |line: &[u8]| line.trim_ascii().eq_ignore_ascii_case(b"connection: close");
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let is_automatic =
        is_refusal && bytes.ends_with(b"\r\n\r\n") && lines.clone().any(is_empty_length) && lines.any(closes);
    is_automatic.then_some(status)
}

/// What is wrong with a request and what to send instead.
fn detail(head: &[u8], status: StatusCode) -> String {
    match status {
        StatusCode::URI_TOO_LONG => {
            return format!("The address of the request is too long: at most {} bytes.", u16::MAX - 1);
        }
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            return too_many_headers(HTTP1_BUFFER);
        }
        _ => {}
    }
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let request_line = lines.next().unwrap_or_default();
    wrong_with_line(request_line).or_else(|| wrong_with_headers(lines)).unwrap_or_else(|| {
        "The request is not valid HTTP/1.1: send a request line, headers and an empty line, each ended by CR LF."
            .to_owned()
    })
}

/// What is wrong with a request line.
fn wrong_with_line(line: &[u8]) -> Option<String> {
    if line.first() == Some(&0x16) {
        return Some("The request begins a TLS connection, and this is plain HTTP: use an http:// address.".to_owned());
    }
    let (method, rest) = split_at_space(line)?;
    if Method::from_bytes(method).is_err() {
        return Some("The method of the request is malformed: send GET, POST, PUT, PATCH or DELETE.".to_owned());
    }
    let (target, version) = match rest.iter().rposition(|byte| *byte == b' ') {
        Some(space) if rest[space + 1..].starts_with(b"HTTP/") => (&rest[..space], &rest[space + 1..]),
        _ => return Some("The request line has no version: send it as METHOD /path HTTP/1.1.".to_owned()),
    };
    if ![&b"HTTP/1.1"[..], b"HTTP/1.0"].contains(&version) {
        return Some("The version in the request line is not supported: send HTTP/1.1.".to_owned());
    }
    wrong_with_target(target)
}

/// What is wrong with a path and its query.
fn wrong_with_target(target: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(target);
    let invalid = text.as_ref().err().map(|error| target[error.valid_up_to()]);
    if let Some(byte) = invalid {
        // Most likely it is Latin-1, whose bytes are the first characters of Unicode.
        let meant = char::from(byte).to_string();
        let encoded = percent_encoding::utf8_percent_encode(&meant, percent_encoding::NON_ALPHANUMERIC);
        return Some(format!(
            "The path or query has the byte 0x{byte:02X}, which is not UTF-8: encode texts in UTF-8, then each byte with %; {meant} \
             is {encoded}."
        ));
    }
    let forbidden =
        |byte: &&u8| byte.is_ascii_control() || byte.is_ascii_whitespace() || b"\"<>\\^`{|}#".contains(byte);
    let suspect = target.iter().find(forbidden).filter(|_| Uri::try_from(target).is_err())?;
    let name = match suspect {
        b' ' => "a space".to_owned(),
        byte if byte.is_ascii_control() => format!("the byte 0x{byte:02X}"),
        byte => char::from(*byte).to_string(),
    };
    Some(format!("The path or query has {name} as it is: {name} must be sent as %{suspect:02X}."))
}

/// What is wrong with headers. Their values are not repeated: one may be a token.
fn wrong_with_headers<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    for (number, line) in lines.take_while(|line| !line.is_empty()).enumerate() {
        let number = number + 1;
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Some(format!("Header {number} of the request has no colon: send \"Name: value\"."));
        };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let shown = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        if name.iter().any(u8::is_ascii_whitespace) {
            return Some(format!(
                "Header {number} of the request, \"{shown}\", has a space in or beside its name; remove it."
            ));
        }
        if HeaderName::from_bytes(name).is_err() {
            return Some(format!(
                "Header {number} of the request has an invalid name; use letters, digits and hyphens."
            ));
        }
        let allowed = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
        if !value.iter().all(allowed) {
            return Some(format!("The header {shown} has a control character in its value; remove it."));
        }
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        if is_length && !value.trim_ascii().iter().all(u8::is_ascii_digit) {
            return Some("The header Content-Length must be one whole number: the bytes of the body.".to_owned());
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") && !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
            return Some("The header Transfer-Encoding must be chunked, or left out.".to_owned());
        }
    }
    None
}

fn split_at_space(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(|byte| *byte == b' ')?;
    Some((&line[..space], &line[space + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(head: &[u8]) -> String {
        detail(head, StatusCode::BAD_REQUEST)
    }

    #[test]
    fn a_malformed_request_is_told_what_to_send() {
        for (head, expected) in [
            (&b"GET /v4/car/a b HTTP/1.1\r\n"[..], "a space must be sent as %20"),
            (b"GET /v4/car/a\tb HTTP/1.1\r\n", "the byte 0x09 must be sent as %09"),
            (b"GET /v4/car/\xe5 HTTP/1.1\r\n", "\u{e5} is %C3%A5"),
            (b"GET /v4/car/a<b HTTP/1.1\r\n", "< must be sent as %3C"),
            (b"G(T /v4/car HTTP/1.1\r\n", "method"),
            (b"GET /v4/car\r\n", "no version"),
            (b"GET /v4/car HTTP/3.7\r\n", "send HTTP/1.1"),
            (
                b"GET / HTTP/1.1\r\nHost: a\r\nX-Auth-Token : secret\r\n\r\n",
                "Header 2 of the request, \"X-Auth-Token\", has a space",
            ),
            (b"GET / HTTP/1.1\r\nsecret\r\n\r\n", "Header 1 of the request has no colon"),
            (b"GET / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n", "Content-Length"),
            (b"GET / HTTP/1.1\r\nX-A: \x01\r\n\r\n", "X-A has a control character"),
            (b"\x16\x03\x01\x02\x00", "http://"),
            (b"", "not valid HTTP/1.1"),
        ] {
            let text = detail_of(head);
            assert!(text.contains(expected) && !text.contains("secret"), "{}: {text}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn only_answers_without_content_are_replaced() {
        let answer = |status: &str, headers: &str| format!("HTTP/1.1 {status}\r\n{headers}\r\n").into_bytes();
        let plain = "connection: close\r\ncontent-length: 0\r\n";
        assert_eq!(automatic(&answer("400 Bad Request", plain)), Some(StatusCode::BAD_REQUEST));
        assert_eq!(automatic(&answer("404 Not Found", plain)), None);
        assert_eq!(automatic(&answer("400 Bad Request", "connection: close\r\ncontent-length: 10\r\n")), None);
        assert_eq!(automatic(&answer("400 Bad Request", "content-length: 0\r\n")), None);
    }
}
