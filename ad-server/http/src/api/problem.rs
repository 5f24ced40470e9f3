//! Problem details (RFC 9457; extensions E1.2): the same errors with codes, for clients that prefer them.

use std::sync::Arc;

use ad_core::{fields::FieldErrors, violation::Code};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use poem::{
    Request, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde::Serialize;
use uuid::Uuid;

use super::{
    accept::weighted,
    errors::{ApiError, RequestPart, json_bytes},
};

pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// What a fragment of an address must encode (RFC 3986).
const IN_FRAGMENTS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The body of a problem details answer (RFC 9457).
#[derive(Debug, Serialize)]
struct ProblemDetails<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    instance: String,
    code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<FieldProblem<'a>>>,
}

/// One error of a field or parameter.
#[derive(Debug, Serialize)]
struct FieldProblem<'a> {
    #[serde(flatten)]
    place: ErrorLocation,
    code: Code,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum ErrorLocation {
    /// A JSON pointer into the payload, as a fragment.
    Pointer(String),
    Parameter(String),
}

/// A client that prefers problem details to the default bodies: where they are explained, and the request's id.
#[derive(Debug)]
pub(super) struct ProblemRequest {
    /// The address of the page of all codes, with a slash at its end.
    pub(super) pages: String,
    pub(super) request_id: Uuid,
}

/// Whether a request prefers problem details to JSON.
pub(super) fn is_preferred(request: &Request) -> bool {
    quality(request.headers(), MEDIA_TYPE) > quality(request.headers(), "application/json")
}

/// The quality that the most specific range of `Accept` gives to a media type, in thousandths (RFC 9110).
fn quality(headers: &HeaderMap, wanted: &str) -> u16 {
    let mut best = (0, 0);
    for (range, weight) in weighted(headers, header::ACCEPT) {
        let specific = match range {
            name if name.eq_ignore_ascii_case(wanted) => 3,
            "application/*" => 2,
            "*/*" => 1,
            _ => continue,
        };
        best = best.max((specific, weight));
    }
    best.1
}

/// An error answer, as problem details if they are asked for.
pub(super) fn answer(mut response: Response, asked: Option<&ProblemRequest>) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
    let Some((asked, error)) = asked.zip(response.extensions().get::<Arc<ApiError>>().cloned()) else {
        return response;
    };
    if let Ok(bytes) = json_bytes(&details(&error, status, asked)) {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.set_body(bytes);
    }
    response
}

pub(super) fn details<'a>(error: &'a ApiError, status: StatusCode, asked: &ProblemRequest) -> impl Serialize + use<'a> {
    let code = error.code();
    ProblemDetails {
        r#type: format!("{}{}", asked.pages, code.name()),
        title: code.about().title,
        status: status.as_u16(),
        detail: error.detail(),
        instance: format!("urn:uuid:{}", asked.request_id),
        code,
        errors: error.fields().map(|(errors, part)| fields(errors, part)),
    }
}

fn fields(errors: &FieldErrors, part: RequestPart) -> Vec<FieldProblem<'_>> {
    let fields = errors.located().into_iter();
    fields
        .map(|(path, violation)| FieldProblem {
            place: place(&path, part),
            code: violation.code().unwrap_or(Code::Unknown),
            detail: violation.texts().join(" "),
            suggestion: violation.suggestions().first().copied(),
            allowed: violation.allowed(),
            rule: violation.rule(),
        })
        .collect()
}

fn place(path: &[String], part: RequestPart) -> ErrorLocation {
    if part == RequestPart::Query {
        return ErrorLocation::Parameter(path.join("."));
    }
    let mut pointer = "#".to_owned();
    for name in path {
        let name = name.replace('~', "~0").replace('/', "~1");
        pointer.push('/');
        pointer.extend(utf8_percent_encode(&name, IN_FRAGMENTS));
    }
    ErrorLocation::Pointer(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_details_are_for_those_who_prefer_them() {
        for (accept, preferred) in [
            ("application/problem+json", true),
            ("application/problem+json, application/json;q=0.9", true),
            ("application/problem+json, application/json", false),
            ("application/problem+json;q=0.5, application/*", false),
            ("application/problem+json;q=0.5, */*;q=0.1", true),
            ("application/json", false),
            ("*/*", false),
            ("application/problem+json;q=0", false),
            ("text/html, application/problem+json; q=0.2", true),
            ("application/problem+json;q=x", false),
            ("", false),
        ] {
            let request = Request::builder().header("accept", accept).finish();
            assert_eq!(is_preferred(&request), preferred, "{accept}");
        }
        assert!(!is_preferred(&Request::default()));
    }

    #[test]
    fn pointers_are_escaped() {
        let path = ["category_fields", "a/b~c", "1", "å b"].map(str::to_owned);
        let ErrorLocation::Pointer(pointer) = place(&path, RequestPart::Payload) else {
            panic!("a payload has pointers")
        };
        assert_eq!(pointer, "#/category_fields/a~1b~0c/1/%C3%A5%20b");
    }
}
