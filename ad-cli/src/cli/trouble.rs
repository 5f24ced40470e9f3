//! What the service or the way to it says, as people can act on it: the exit code, one clear message, and what to do.

use ad_core::{fields::FieldErrors, printable, violation::Code};

use crate::{Error, ErrorKind};

use super::{Exit, Failure};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = match error.kind() {
            ErrorKind::Invalid(errors) => {
                let message = format!("the service refuses this:{}", lines(errors));
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
                .hint("see what the token says: ad-cli whoami")
                .hint("a new one comes from customer support; then run: ad-cli login"),
            ErrorKind::Forbidden(_) => {
                Self::unauthorised(error.to_string()).hint("see what the token permits: ad-cli whoami")
            }
            ErrorKind::NotFound(detail) => Self::failed(format!("{detail} ({})", error.request()))
                .hint("ads that the token can see: ad-cli list --source-id-icontains TEXT"),
            ErrorKind::Other(detail) => Self::failed(format!("{detail} ({})", error.request())),
            ErrorKind::TooMany { .. } => Self::unreachable(error.to_string())
                .hint("the service limits the requests of a token; ask more slowly: --rate 5"),
            _ => Self::unreachable(error.to_string()),
        };
        let failure = match error.kind() {
            ErrorKind::Unexpected(_) | ErrorKind::Unreachable(_) => {
                failure.hint("is the address right? it is taken from --url, AD_URL or the profile: ad-cli whoami")
            }
            ErrorKind::TimedOut(_) => failure.hint("wait longer: --timeout SECONDS"),
            _ => failure,
        };
        let failure = match error.request_id() {
            Some(id) if matches!(failure.exit(), Exit::Unreachable | Exit::Unauthorised) => {
                failure.hint(format!("support finds the request by its id: {id}"))
            }
            _ => failure,
        };
        if error.is_unclear() {
            return failure
                .hint("whether it was accepted is not known; look before you try again: ad-cli get SOURCE_ID");
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
