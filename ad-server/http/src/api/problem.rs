//! Problem details (RFC 9457; extensions E1.2): the same errors with codes, for clients that prefer them.

use std::sync::Arc;

use ad_core::{fields::FieldErrors, rulebook::versions::MigrationOption, violation::Code};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use poem::{
    Request, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde::Serialize;
use uuid::Uuid;

use super::{
    accept::weighted,
    answers::{Address, Of, answers},
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

answers! {
    // An error in the contract's shape.
    #[derive(Serialize)]
    Detail {
        detail: String,
    }

    /// Problem details (RFC 9457), if `Accept` prefers them to JSON
    #[derive(Serialize)]
    Problem {
        r#type: Of<Address> => "Address of the documentation of the code",
        title: String,
        #[oai(validator(minimum(value = "400"), maximum(value = "599")))] status: u16,
        detail: String,
        #[serde(skip_serializing_if = "Option::is_none")] request: Option<String> => "The request that helps, in a sentence",
        #[serde(skip_serializing_if = "Option::is_none")] suggestion: Option<String> => "The source id that was probably meant, if the code is `not_found`",
        #[serde(skip_serializing_if = "Option::is_none")] #[oai(validator(min_items = 1))] migration_options: Option<Vec<WayToV4>> => "The ways from V3 to V4, if the code is `incompatible_api_version`",
        instance: String => "`urn:uuid:` followed by the id of the request",
        code: Of<Code> => "See `/docs/errors/`",
        #[serde(skip_serializing_if = "Option::is_none")] #[oai(validator(min_items = 1))] errors: Option<Vec<FieldProblem>> => "All invalid fields and parameters, if the code is `validation_failed`",
    }

    /// One way from V3 to V4
    #[derive(Serialize)]
    WayToV4 {
        method: String => "`migrate` or `delete_and_create`",
        #[oai(validator(min_items = 1))] steps: Vec<String> => "The requests, one after the other",
    }

    #[derive(Serialize)]
    FieldProblem {
        #[serde(skip_serializing_if = "Option::is_none")] pointer: Option<String> => "JSON pointer into the payload, as a fragment: `#/category_fields/model_year`",
        #[serde(skip_serializing_if = "Option::is_none")] parameter: Option<String> => "Query parameter, instead of `pointer`",
        code: Of<Code> => "See `/docs/errors/`",
        detail: String,
        #[serde(skip_serializing_if = "Option::is_none")] request: Option<String> => "The request that helps, in a sentence",
        #[serde(skip_serializing_if = "Option::is_none")] suggestion: Option<String> => "Nearest valid value or name",
        #[serde(skip_serializing_if = "Option::is_none")] allowed: Option<Vec<String>> => "All allowed values, if there are few",
        #[serde(skip_serializing_if = "Option::is_none")] rule: Option<String> => "The violated rule over several fields",
    }
}

impl Detail {
    pub(super) fn new(text: &dyn std::fmt::Display) -> Self {
        Self { detail: text.to_string() }
    }
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

impl From<MigrationOption> for WayToV4 {
    fn from(way: MigrationOption) -> Self {
        Self { method: way.method.into_owned(), steps: way.steps }
    }
}

pub(super) fn details(error: &ApiError, status: StatusCode, asked: &ProblemRequest) -> Problem {
    let code = error.code();
    Problem {
        r#type: Of(Address(format!("{}{}", asked.pages, code.name()))),
        title: code.about().title.to_owned(),
        status: status.as_u16(),
        detail: error.detail(),
        request: error.request(),
        suggestion: error.suggestion(),
        migration_options: error.migration_options().map(|ways| ways.into_iter().map(WayToV4::from).collect()),
        instance: format!("urn:uuid:{}", asked.request_id),
        code: Of(code),
        errors: error.fields().map(|(errors, part)| fields(errors, part)),
    }
}

fn fields(errors: &FieldErrors, part: RequestPart) -> Vec<FieldProblem> {
    let fields = errors.located().into_iter();
    fields
        .map(|(path, violation)| FieldProblem {
            pointer: (part == RequestPart::Payload).then(|| pointer(&path)),
            parameter: (part == RequestPart::Query).then(|| path.join(".")),
            code: Of(violation.code().unwrap_or(Code::Unknown)),
            detail: violation.texts_for_people().join(" "),
            request: violation.request().map(str::to_owned),
            suggestion: violation.suggestions().first().map(|text| (*text).to_owned()),
            allowed: violation.allowed().map(<[String]>::to_vec),
            rule: violation.rule().map(str::to_owned),
        })
        .collect()
}

/// A JSON pointer into the payload, as a fragment.
fn pointer(path: &[String]) -> String {
    let mut pointer = "#".to_owned();
    for name in path {
        let name = name.replace('~', "~0").replace('/', "~1");
        pointer.push('/');
        pointer.extend(utf8_percent_encode(&name, IN_FRAGMENTS));
    }
    pointer
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
        assert_eq!(pointer(&path), "#/category_fields/a~1b~0c/1/%C3%A5%20b");
    }
}
