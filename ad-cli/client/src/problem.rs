//! Problem details (RFC 9457; extensions E1.2): errors with a code, whose texts have no terms of the API.

use ad_core::{
    fields::FieldErrors,
    rulebook::versions::{MigrationOption, Refusal},
    violation::{Code, Violation},
};
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::Deserialize;

use super::ErrorKind;

const MEDIA_TYPE: &str = "application/problem+json";

/// An error as problem details.
#[derive(Debug, Deserialize)]
pub(super) struct Problem {
    pub(super) code: Code,
    detail: String,
    request: Option<String>,
    pub(super) suggestion: Option<String>,
    #[serde(default)]
    migration_options: Vec<MigrationOption>,
    #[serde(default)]
    errors: Vec<FieldProblem>,
}

#[derive(Debug, Deserialize)]
struct FieldProblem {
    pointer: Option<String>,
    parameter: Option<String>,
    detail: String,
}

impl Problem {
    /// Of an answer, if it has problem details.
    pub(super) fn of(headers: &HeaderMap, bytes: &[u8]) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        if !kind.starts_with(MEDIA_TYPE) {
            return None;
        }
        serde_json::from_slice(bytes).ok()
    }

    /// What the contract has a shape without `detail` for; `None` for the others.
    pub(super) fn kind(&self, status: u16) -> Option<ErrorKind> {
        let detail = || self.detail.clone();
        Some(match (status, self.code) {
            (400, Code::ValidationFailed) => ErrorKind::Invalid(self.fields()),
            (400, Code::IncompatibleApiVersion | Code::TrailerCreateDisabled | Code::AdAlreadyV4) => {
                ErrorKind::Identified(Refusal {
                    error: self.code,
                    message: Some(detail()),
                    migration_options: self.migration_options.clone(),
                    suggestion: self.request.clone(),
                })
            }
            (400, Code::NotJson | Code::BadRequest | Code::NotRecorded | Code::Unknown) => return None,
            (400, _) => ErrorKind::Rules(vec![detail()]),
            (409, Code::DuplicateSourceId) => {
                let mut errors = FieldErrors::default();
                errors.push("source_id", Violation::Answered(detail()));
                ErrorKind::Conflict(errors)
            }
            _ => return None,
        })
    }

    fn fields(&self) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for field in &self.errors {
            let path = match (&field.pointer, &field.parameter) {
                (Some(pointer), _) => names(pointer),
                (None, Some(parameter)) => vec![parameter.clone()],
                (None, None) => Vec::new(),
            };
            let at = path.iter().fold(&mut errors, |errors, name| errors.at(name));
            at.here(Violation::Answered(field.detail.clone()));
        }
        errors
    }
}

/// The names and indices of a JSON pointer that is a fragment (RFC 6901, 6).
fn names(pointer: &str) -> Vec<String> {
    let pointer = percent_decode_str(pointer.trim_start_matches('#')).decode_utf8_lossy();
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_their_pointers_lead() {
        let headers = [(CONTENT_TYPE, "application/problem+json".parse().unwrap())].into_iter().collect();
        let answer = r##"{"code": "validation_failed", "detail": "The request has 3 errors; see `errors`.", "errors": [
            {"pointer": "#/price/0/type", "code": "required", "detail": "This field is required."},
            {"pointer": "#/a~1b%20c", "code": "a_newer_code", "detail": "Unknown field."},
            {"parameter": "limit", "code": "out_of_range", "detail": "Must be 1 to 500."}]}"##;
        let problem = Problem::of(&headers, answer.as_bytes()).unwrap();
        let Some(ErrorKind::Invalid(errors)) = problem.kind(400) else { panic!("{problem:?}") };
        let texts = errors.flatten().into_iter().map(|(path, text)| format!("{path}: {text}")).collect::<Vec<_>>();
        let expected = ["a/b c: Unknown field.", "limit: Must be 1 to 500.", "price.0.type: This field is required."];
        assert_eq!(texts, expected);
        assert!(Problem::of(&HeaderMap::new(), answer.as_bytes()).is_none());
    }
}
