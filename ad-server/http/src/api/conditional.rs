//! Entity tags and conditional requests (RFC 9110, 13; extensions E3.1).

use ad_core::model::AdTag;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use poem::{
    Body, Request, Response,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
};
use sha2::{Digest, Sha256};

use super::ApiError;

/// A tag of a client, without its quotes.
#[derive(Debug, PartialEq, Eq)]
struct EntityTag {
    is_weak: bool,
    opaque: Vec<u8>,
}

/// What `If-Match` or `If-None-Match` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tags(Option<Vec<EntityTag>>);

impl Tags {
    /// The tags in the lines of a header, if it was sent.
    pub(super) fn of<'h>(
        name: &HeaderName,
        lines: impl IntoIterator<Item = &'h HeaderValue>,
    ) -> Result<Option<Self>, ApiError> {
        let lines: Vec<_> = lines.into_iter().map(|line| line.as_bytes().trim_ascii()).collect();
        if lines.is_empty() {
            return Ok(None);
        }
        if lines == [b"*"] {
            return Ok(Some(Self(None)));
        }
        let mut tags = Vec::new();
        let is_list = lines.into_iter().all(|line| read_list(line, &mut tags).is_some());
        if is_list && !tags.is_empty() { Ok(Some(Self(Some(tags)))) } else { Err(ApiError::BadTags(name.clone())) }
    }

    /// Whether the client has the version of this tag, by the weak comparison of `If-None-Match`.
    pub(super) fn have(&self, tag: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|tags| tags.iter().any(|known| known.opaque == tag))
    }

    /// The revisions that an ad may have: the part of each tag before the point. Weak tags match nothing, by the strong comparison
    /// of `If-Match`. `None` allows any.
    pub(super) fn revisions(&self) -> Option<Vec<i64>> {
        let strong = self.0.as_ref()?.iter().filter(|tag| !tag.is_weak);
        Some(strong.filter_map(|tag| revision(&tag.opaque)).collect())
    }
}

/// Adds the tags of a header line. Elements of the list may be empty (RFC 9110, 5.6.1).
fn read_list(line: &[u8], tags: &mut Vec<EntityTag>) -> Option<()> {
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(behind) = rest.strip_prefix(b",") {
            rest = behind;
            continue;
        }
        if rest.is_empty() {
            return Some(());
        }
        let weak = rest.strip_prefix(b"W/");
        let quoted = weak.unwrap_or(rest).strip_prefix(b"\"")?;
        let end = quoted.iter().position(|byte| *byte == b'"')?;
        let (opaque, behind) = (&quoted[..end], quoted[end + 1..].trim_ascii_start());
        let is_tag = opaque.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
        if !is_tag || !(behind.is_empty() || behind.starts_with(b",")) {
            return None;
        }
        tags.push(EntityTag { is_weak: weak.is_some(), opaque: opaque.to_vec() });
        rest = behind;
    }
}

/// The revision of a tag: what [`AdTag`] writes before the point.
fn revision(opaque: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(opaque).ok()?;
    let text = text.split_once('.').map_or(text, |(revision, _)| revision);
    text.parse().ok().filter(|revision: &i64| revision.to_string() == text)
}

pub(super) fn etag(tag: AdTag) -> HeaderValue {
    quoted(&tag.to_string())
}

/// The tag of content that does not change while the process runs, as a header.
pub(super) fn etag_of(bytes: &[u8]) -> HeaderValue {
    quoted(&URL_SAFE_NO_PAD.encode(Sha256::digest(bytes)))
}

fn quoted(opaque: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{opaque}\"")).expect("numbers and base64 are visible characters")
}

/// The 304 for a client that has the version of this tag.
pub(super) fn not_modified(etag: HeaderValue) -> Response {
    Response::builder().status(StatusCode::NOT_MODIFIED).header(header::ETAG, etag).finish()
}

/// The header `If-None-Match` of a request that only reads.
pub(super) struct IfNoneMatch(Vec<HeaderValue>);

impl IfNoneMatch {
    pub(super) fn of(request: &Request) -> Self {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let lines = request.headers().get_all(header::IF_NONE_MATCH);
        Self(lines.iter().filter(|_| reads).cloned().collect())
    }

    /// Replaces an answer by 304 if the client has it already.
    pub(super) fn answer(&self, mut response: Response) -> Response {
        if self.0.is_empty() || response.status() != StatusCode::OK {
            return response;
        }
        let Some(etag) = response.headers().get(header::ETAG) else { return response };
        let tag = etag.as_bytes();
        let tag = tag.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\"")).unwrap_or(tag);
        match Tags::of(&header::IF_NONE_MATCH, &self.0) {
            Ok(Some(known)) if known.have(tag) => {
                response.set_status(StatusCode::NOT_MODIFIED);
                response.set_body(Body::empty());
                response.headers_mut().remove(header::CONTENT_TYPE);
                response.headers_mut().remove(header::CONTENT_LENGTH);
                response
            }
            Ok(_) => response,
            Err(error) => error.response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lines: &[&[u8]]) -> Option<Tags> {
        let lines: Vec<_> = lines.iter().map(|line| HeaderValue::from_bytes(line).unwrap()).collect();
        Tags::of(&header::IF_MATCH, &lines).ok().flatten()
    }

    #[test]
    fn a_list_may_have_empty_elements_and_several_lines() {
        let lists: [&[&[u8]]; 4] = [
            &[b"\"3.12\",\"4\""],
            &[b" , \"3.12\" ,,W/\"a,b\"\t, \"4\","],
            &[b"\"3.12\"", b"", b"\"4\""],
            &[b"\"4\", \"3\xc3\xa5\", \"3.12\""],
        ];
        for list in lists {
            let tags = tags(list).unwrap_or_else(|| panic!("{list:?}"));
            assert!(tags.have(b"3.12") && tags.have(b"4") && !tags.have(b"3") && !tags.have(b"12"));
            assert_eq!(tags.revisions().map(|revisions| revisions.len()), Some(2), "{list:?}");
        }
        assert!(Tags::of(&header::IF_MATCH, &[]).unwrap().is_none());
    }

    #[test]
    fn what_is_no_list_of_tags_is_malformed() {
        let lists: [&[&[u8]]; 9] = [
            &[b""],
            &[b",", b" "],
            &[b"3"],
            &[b"\"3"],
            &[b"\"a b\""],
            &[b"\"3\" \"4\""],
            &[b"w/\"3\""],
            &[b"*", b"\"3\""],
            &[b"*, *"],
        ];
        assert!(lists.iter().all(|list| tags(list).is_none()));
    }

    #[test]
    fn a_star_stands_for_any_tag_and_a_weak_tag_for_no_revision() {
        let any = tags(&[b" * "]).unwrap();
        assert!(any.have(b"7.1") && any.revisions().is_none());
        let weak = tags(&[b"W/\"3.12\""]).unwrap();
        assert!(weak.have(b"3.12") && weak.revisions() == Some(vec![]));
        let odd = tags(&[b"\"03.1\", \"+3\", \"\", \".3\", \"99999999999999999999\", \"3.x.y\""]).unwrap();
        assert_eq!(odd.revisions(), Some(vec![3]));
    }
}
