//! What the service or the way to it says, as people can act on it: the exit code, one clear message, and what to do.

use ad_core::{fields::FieldErrors, printable, violation::Code};

use crate::{Error, ErrorKind};

use super::{Exit, Failure};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = match error.kind() {
            ErrorKind::Invalid(errors) => {
                let message = format!("the service rejected the request:{}", lines(errors));
                // What is wrong with a question stood on the command line.
                if error.request().starts_with("GET ") { Self::usage(message) } else { Self::refused(message) }
            }
            ErrorKind::Rules(_) | ErrorKind::Conflict(_) | ErrorKind::Malformed(_) | ErrorKind::TooLarge(_) => {
                Self::refused(error.to_string())
            }
            ErrorKind::Identified(refusal) => {
                let failure = Self::refused(refusal.message.as_deref().unwrap_or(known(refusal.error)));
                let ways =
                    refusal.migration_options.iter().map(|way| format!("{}: {}", way.method, way.steps.join(" ")));
                ways.chain(refusal.suggestion.clone()).fold(failure, Self::hint)
            }
            ErrorKind::Unauthorised(_) => Self::unauthorised(error.to_string())
                .hint("to show the token's scope: ad-cli whoami")
                .hint("ask customer support for a new token; then run: ad-cli login"),
            ErrorKind::Forbidden(_) => {
                Self::unauthorised(error.to_string()).hint("to show the token's permissions: ad-cli whoami")
            }
            ErrorKind::NotFound(detail) => Self::failed(format!("{detail} ({})", error.request()))
                .hint("to search the ads visible to the token: ad-cli list --source-id-icontains TEXT"),
            ErrorKind::Other(detail) => Self::failed(format!("{detail} ({})", error.request())),
            ErrorKind::TooMany { .. } => {
                Self::unreachable(error.to_string()).hint("the service limits the request rate; lower yours: --rate 5")
            }
            _ => Self::unreachable(error.to_string()),
        };
        let failure = match error.kind() {
            ErrorKind::Unexpected(_) | ErrorKind::Unreachable(_) => {
                failure.hint("check the server URL, from --url, AD_URL or the profile; to show it: ad-cli whoami")
            }
            ErrorKind::TimedOut(_) => failure.hint("to wait longer: --timeout SECONDS"),
            _ => failure,
        };
        let failure = match error.request_id() {
            Some(id) if matches!(failure.exit(), Exit::Unreachable | Exit::Unauthorised) => {
                failure.hint(format!("for support, use the request id: {id}"))
            }
            _ => failure,
        };
        if error.is_unclear() {
            return failure.hint(
                "it is unknown whether the request was accepted; check before you repeat it: ad-cli get SOURCE_ID",
            );
        }
        failure
    }
}

/// Each field with what is wrong with it, on a line of its own.
fn lines(errors: &FieldErrors) -> String {
    let mut text = String::new();
    let mut last = None;
    for (path, message) in errors.flatten() {
        if last.as_ref() != Some(&path) {
            text.extend(["\n  ", &*printable::line(&path), ":"]);
        }
        text.extend([" ", &*printable::line(&message)]);
        last = Some(path);
    }
    text
}

/// What an identifier without a message means.
fn known(identifier: Code) -> &'static str {
    match identifier {
        Code::TrailerCreateDisabled => "Trailers cannot be created, only updated and deleted (trailer_create_disabled)",
        other => other.name(),
    }
}
