//! Interprets the responses of a marketplace.
//!
//! An ad is refused only when the marketplace itself says so. What may be a configuration error (a wrong token or address, or a
//! proxy that answers instead) is logged for the operator, and ads wait.

use std::time::Duration;

use ad_core::{
    ports::{Answered, MarketplaceError},
    violation::Code,
};
use reqwest::StatusCode;

use super::super::wire::{ErrorBody, NO_SUCH_LISTING};

/// Most characters of a reason that are passed on.
const LONGEST_REASON: usize = 500;

/// An answer that was read whole.
#[derive(Debug)]
pub(super) struct MarketplaceAnswer {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

/// Reason of a failed call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallFailure {
    pub(super) error: MarketplaceError,
    pub(super) advice: Option<&'static str>,
}

impl CallFailure {
    /// A transient failure: the marketplace has not answered.
    pub(super) fn unanswered(reason: String) -> Self {
        Self::of(MarketplaceError::unreachable(reason, None))
    }

    /// A failure that the operator has to correct. The ad waits until then.
    fn misconfigured(code: Code, reason: String, status: u16, advice: &'static str) -> Self {
        let error = MarketplaceError::Transient { code, reason, retry_after: None, status: Some(status) };
        Self { error, advice: Some(advice) }
    }

    fn of(error: MarketplaceError) -> Self {
        Self { error, advice: None }
    }
}

const CREDENTIAL: &str = "set the token that the marketplace issued, in the environment or in its token file";
const ADDRESS: &str = "check the address of the marketplace, and that no proxy answers instead of it";

impl MarketplaceAnswer {
    /// The body of a successful answer to a call that not every marketplace has; `None` if this one has not.
    pub(super) fn if_offered(self) -> Result<Option<Answered<Vec<u8>>>, CallFailure> {
        match self.status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Ok(None),
            _ => self.done().map(Some),
        }
    }

    /// The body of a successful answer.
    pub(super) fn done(self) -> Result<Answered<Vec<u8>>, CallFailure> {
        let status = self.status;
        if status.is_success() {
            return Ok(Answered { status: status.as_u16(), value: self.body });
        }
        let problem = serde_json::from_slice::<ErrorBody>(&self.body).unwrap_or_default();
        let answered = || format!("the marketplace answered {status}");
        let passing = |code| {
            let (reason, retry_after, status) = (answered(), self.retry_after, Some(status.as_u16()));
            CallFailure::of(MarketplaceError::Transient { code, reason, retry_after, status })
        };
        Err(match status {
            StatusCode::GONE => CallFailure::of(MarketplaceError::Gone { status: 410 }),
            StatusCode::NOT_FOUND if problem.code == NO_SUCH_LISTING => CallFailure::of(MarketplaceError::GONE),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                let reason = format!("the marketplace does not let this service in ({status})");
                CallFailure::misconfigured(Code::MarketplaceCredentials, reason, status.as_u16(), CREDENTIAL)
            }
            StatusCode::TOO_MANY_REQUESTS => passing(Code::MarketplaceBusy),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => passing(Code::MarketplaceUnreachable),
            status if status.is_server_error() => passing(Code::MarketplaceUnreachable),
            StatusCode::BAD_REQUEST
            | StatusCode::CONFLICT
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNPROCESSABLE_ENTITY => {
                let reason = shortened(&problem.message);
                let reason = if reason.is_empty() { answered() } else { reason };
                CallFailure::of(MarketplaceError::Refused { reason, status: status.as_u16() })
            }
            // A redirect is not followed: it would carry the credential elsewhere.
            _ => CallFailure::misconfigured(Code::MarketplaceUnreachable, answered(), status.as_u16(), ADDRESS),
        })
    }
}

/// A successful answer whose body cannot be read.
pub(super) fn unreadable(status: u16) -> CallFailure {
    let reason = "the answer of the marketplace cannot be read".to_owned();
    CallFailure::misconfigured(Code::MarketplaceUnreachable, reason, status, ADDRESS)
}

/// One line of limited length.
fn shortened(text: &str) -> String {
    let text: Vec<_> =
        text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let text = text.join(" ");
    match text.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16, body: &str) -> CallFailure {
        let retry_after = Some(Duration::from_secs(7));
        let status = StatusCode::from_u16(status).unwrap();
        MarketplaceAnswer { status, retry_after, body: body.as_bytes().to_vec() }.done().unwrap_err()
    }

    fn refused(status: u16, body: &str) -> String {
        match failed(status, body) {
            CallFailure { error: MarketplaceError::Refused { reason, status: answered }, advice: None } => {
                assert_eq!(answered, status);
                reason
            }
            other => panic!("{status}: {other:?}"),
        }
    }

    #[test]
    fn what_the_marketplace_says_of_an_ad_is_passed_on() {
        for status in [400, 409, 413, 422] {
            assert_eq!(refused(status, r#"{"code": "refused", "message": "No wheels"}"#), "No wheels", "{status}");
        }
        assert_eq!(refused(422, "<html>"), "the marketplace answered 422 Unprocessable Entity");
        assert_eq!(refused(400, "{}"), "the marketplace answered 400 Bad Request");
        let long =
            refused(422, &serde_json::json!({"message": format!(" a\n\u{7}b {}", "å".repeat(9000))}).to_string());
        assert!(long.starts_with("a b ååå") && long.ends_with("å…"), "{long}");
        assert_eq!(long.chars().count(), LONGEST_REASON + 1);
    }

    #[test]
    fn a_listing_is_gone_only_when_the_marketplace_itself_says_so() {
        assert_eq!(failed(404, r#"{"code": "no_such_listing"}"#).error, MarketplaceError::GONE);
        assert_eq!(failed(410, "").error, MarketplaceError::Gone { status: 410 });
        let elsewhere = failed(404, "<html>Not found</html>");
        assert!(matches!(elsewhere.error, MarketplaceError::Transient { .. }) && elsewhere.advice == Some(ADDRESS));
    }

    #[test]
    fn what_passes_comes_with_its_pause() {
        for status in [408, 425, 429, 500, 502, 503, 504] {
            let CallFailure {
                error: MarketplaceError::Transient { code, reason, retry_after, status: answered },
                advice: None,
            } = failed(status, "")
            else {
                panic!("{status}")
            };
            let busy = if status == 429 { Code::MarketplaceBusy } else { Code::MarketplaceUnreachable };
            assert_eq!((code, answered), (busy, Some(status)));
            assert_eq!(retry_after, Some(Duration::from_secs(7)));
            assert!(reason.starts_with(&format!("the marketplace answered {status} ")), "{reason}");
        }
    }

    #[test]
    fn a_mistake_of_the_operator_refuses_no_ad() {
        for status in [301, 307, 401, 403, 405, 407, 415, 418] {
            let failed = failed(status, r#"{"message": "No"}"#);
            assert!(matches!(failed.error, MarketplaceError::Transient { retry_after: None, .. }), "{status}");
            assert!(failed.advice.is_some(), "{status}");
            let is_credentials = failed.error.code() == Code::MarketplaceCredentials;
            assert_eq!(is_credentials, matches!(status, 401 | 403 | 407), "{status}");
        }
    }
}
