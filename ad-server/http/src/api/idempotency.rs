//! The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07; extensions E3.2).

use ad_core::{
    ports::{AnswerKey, KeptAnswer, StoreError},
    service::{Access, AnswerWriter, Keep},
};
use ad_server_store::answer::AnswerColumns;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use poem::{
    Request, Response,
    http::{HeaderName, HeaderValue, StatusCode},
};
use sha2::{Digest, Sha256};

use super::{ApiError, errors::json_text};

const NAME: &str = "idempotency-key";

/// Most characters of a key.
const LONGEST: usize = 255;

/// Characters of a key that precede its hash in the index of kept answers. Keys that are sent in order, such as UUIDs of version 7, are then
/// neighbours, and share the pages that a commit writes.
const IN_ORDER: usize = 24;

/// The idempotency key of a request, with the fingerprint of the request.
pub(super) struct RequestKey {
    key: AnswerKey,
    fingerprint: Sha256,
}

impl RequestKey {
    pub(super) fn of(request: &Request, access: &Access) -> Result<Option<Self>, ApiError> {
        let mut lines = request.headers().get_all(NAME).iter();
        let Some(line) = lines.next() else { return Ok(None) };
        let is_only = lines.next().is_none();
        let key = parsed(line.as_bytes()).filter(|_| is_only).ok_or(ApiError::BadIdempotencyKey)?;
        let uri = request.uri();
        // Methods, paths and queries contain no spaces, so a space separates them.
        let hash = Sha256::new().chain_update(format!("{} {} ", request.method(), uri.path())).chain_update(&key);
        let start = key.get(..IN_ORDER).unwrap_or(&key);
        Ok(Some(Self {
            key: AnswerKey {
                holder: access.key(),
                digest: format!("{start} {}", URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])),
            },
            fingerprint: Sha256::new().chain_update(uri.query().unwrap_or_default()).chain_update(" "),
        }))
    }

    pub(super) fn add_body(&mut self, body: &[u8]) {
        self.fingerprint.update(body);
    }

    pub(super) fn keep(self, writer: &dyn AnswerWriter) -> Keep<'_> {
        Keep { key: self.key, fingerprint: URL_SAFE_NO_PAD.encode(self.fingerprint.finalize()), writer }
    }
}

/// The key in a header: a string of structured fields (RFC 9651, 3.3.3), or its characters alone.
fn parsed(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    let key = match line.strip_prefix(b"\"") {
        Some(quoted) => unquoted(quoted)?,
        None => line.to_vec(),
    };
    let key = String::from_utf8(key).ok()?;
    ((1..=LONGEST).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())).then_some(key)
}

/// The characters of a quoted string whose first quote has been removed.
fn unquoted(quoted: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut rest = quoted.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return rest.as_slice().is_empty().then_some(text),
            b'\\' => text.push(*rest.next().filter(|escaped| matches!(escaped, b'"' | b'\\'))?),
            byte => text.push(*byte),
        }
    }
    None
}

pub(super) struct WriteAnswer {
    pub(super) status: StatusCode,
    /// Headers that are particular to it.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The JSON text.
    pub(super) body: String,
}

impl WriteAnswer {
    /// The answer as the client gets it.
    pub(super) fn response(self) -> Response {
        let mut response = Response::builder().status(self.status).content_type("application/json").body(self.body);
        response.headers_mut().extend(self.headers);
        response
    }

    pub(super) fn text(&self) -> Result<String, ApiError> {
        let value = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers: Vec<_> = self.headers.iter().map(|(name, it)| (name.as_str(), value(it))).collect();
        let headers = json_text(&headers)?;
        Ok(AnswerColumns { status: self.status.as_u16(), headers: &headers, body: &self.body }.to_string())
    }
}

/// A kept answer as the client gets it.
pub(super) fn replayed(kept: &KeptAnswer) -> Result<Response, ApiError> {
    let AnswerColumns { status, headers, body } = AnswerColumns::of(&kept.answer)?;
    let headers: Vec<(String, String)> =
        serde_json::from_str(headers).map_err(|error| StoreError::Faulty(error.into()))?;
    let headers = headers.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?))).collect();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut response = WriteAnswer { status, headers, body: body.to_owned() }.response();
    let headers = response.headers_mut();
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    headers.extend(kept.request_id.to_string().parse().ok().map(|id| (REQUEST_ID, id)));
    Ok(response)
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_order_are_neighbours_and_count_for_their_method_and_path() {
        let access = Access::Dealer("north-cars".to_owned());
        let digest = |path: &str, key: &str| {
            let request = Request::builder().uri(path.parse().unwrap()).header(NAME, key).finish();
            RequestKey::of(&request, &access).unwrap().unwrap().key.digest
        };
        let long = "k".repeat(LONGEST);
        assert!(digest("/v4/car", "import-1") < digest("/v4/car", "import-2"));
        assert!(digest("/v4/car", "import-2") < digest("/v4/car", "import-3"));
        assert_eq!(digest("/v4/car", "import-1"), digest("/v4/car", "import-1"));
        assert_ne!(digest("/v4/car", "import-1"), digest("/v4/boat", "import-1"));
        assert_ne!(digest("/v4/car", &long), digest("/v4/car", &long[1..]));
    }

    #[test]
    fn a_key_is_quoted_or_bare() {
        let longest = "k".repeat(LONGEST);
        let quoted_longest = format!("\"{longest}\"");
        for (header, key) in [
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("\"8e03978e\"", "8e03978e"),
            (" \"a\" ", "a"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            (r#"a"b\c"#, r#"a"b\c"#),
            (&longest, &longest),
            (&quoted_longest, &longest),
        ] {
            assert_eq!(parsed(header.as_bytes()).as_deref(), Some(key), "{header}");
        }
        let too_long = "k".repeat(LONGEST + 1);
        for header in
            ["", "\"\"", "\"", "\"a", "\"a\"b", "\"a\";p=1", r#""a\n""#, r#""a\"#, "a b", "\"a b\"", "ä", &too_long]
        {
            assert_eq!(parsed(header.as_bytes()), None, "{header}");
        }
    }
}
