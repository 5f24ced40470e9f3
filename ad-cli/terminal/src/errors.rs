//! Errors of the service and the network for people: the exit code, one clear message, and what to do.

use ad_bulk::{Invocation, Surface, import::JournalError, payloads::NotPayloads};
use ad_client::{Error, ErrorKind};
use ad_core::{categories::by_vehicle_type, fields::FieldErrors, printable, violation::Code};

use super::{Exit, Failure, Hint};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = match error.kind() {
            ErrorKind::Invalid(errors) => {
                let message = format!("the service rejected the request:{}", lines(errors));
                // The parameters of a read come from the command line, so their errors are usage errors.
                if is_ambiguous(&error.request(), errors) {
                    Self::usage(message).hint(Hint::Argument(
                        "choose the dealer of the ad".to_owned(),
                        "dealer_code",
                        "CODE".to_owned(),
                    ))
                } else if error.request().starts_with("GET ") {
                    Self::usage(format!("the service rejected the request:{}", lines_of_options(errors)))
                } else {
                    Self::rejected(message)
                }
            }
            // Too many plans, or one that cannot be applied.
            ErrorKind::Malformed(detail) | ErrorKind::Other(detail) if is_of_plans(&error) => {
                Self::rejected(detail).hint(("to list the stock plans", list_of_plans()))
            }
            ErrorKind::Rules(_) | ErrorKind::Conflict(_) | ErrorKind::Malformed(_) | ErrorKind::TooLarge(_) => {
                Self::rejected(error.to_string())
            }
            ErrorKind::PreconditionFailed(detail) => Self::rejected(format!("nothing was changed: {detail}")).hint((
                "to show the ad and its ETag as they are now",
                Invocation::new("get").with_some("source_id", "SOURCE_ID"),
            )),
            ErrorKind::Identified(refusal) => {
                Self::rejected(refusal.message.as_deref().unwrap_or(refusal.error.about().explanation))
            }
            ErrorKind::Unauthorised(_) => Self::unauthorised(error.to_string())
                .hint(("ask customer support for a new token; then run", Invocation::of_user("login"))),
            ErrorKind::Forbidden(_) => Self::unauthorised(error.to_string())
                .hint(("to show the token's permissions", Invocation::new("whoami"))),
            ErrorKind::NotFound(detail) => not_found(&error, detail),
            ErrorKind::Body(reason) => {
                Self::rejected(reason).hint("nothing was changed, because the file cannot be read to its end")
            }
            ErrorKind::Other(detail) => Self::failed(detail),
            ErrorKind::TooMany { .. } => {
                let lower = "the service limits the request rate; lower yours".to_owned();
                Self::unreachable(error.to_string()).hint(Hint::Setting(lower, "rate", "5".to_owned()))
            }
            ErrorKind::Unexpected(_) | ErrorKind::Unreachable(_) | ErrorKind::Lost(_) => {
                let failure = Self::unreachable(error.to_string())
                    .hint((
                        "check the server URL, from --url, AD_URL or the profile; to show it",
                        Invocation::of_user("config"),
                    ))
                    .hint("if it worked before, the service may be down: try again later");
                let proxy = proxy().filter(|_| !matches!(error.kind(), ErrorKind::Unexpected(_)));
                let proxy = proxy.map(|name| format!("{name} is set: the request may have gone to that proxy"));
                proxy.into_iter().fold(failure, Self::hint)
            }
            ErrorKind::TimedOut(_) => {
                let longer = Hint::Setting("to wait longer".to_owned(), "timeout", "SECONDS".to_owned());
                Self::unreachable(error.to_string()).hint(longer)
            }
            _ => Self::unreachable(error.to_string()),
        };
        let failure = match error.code() {
            Some(code) => advised(failure, code),
            None => failure,
        };
        let failure = match error.request_id() {
            Some(id) if matches!(failure.exit(), Exit::Unreachable | Exit::Unauthorised) => {
                failure.hint(format!("for support, use the request id: {id}"))
            }
            _ => failure,
        };
        if error.is_unclear() {
            let check = if is_of_plans(&error) {
                list_of_plans()
            } else {
                Invocation::new("get").with_some("source_id", "SOURCE_ID")
            };
            return failure.hint(("it is unknown whether the request was accepted; check before you repeat it", check));
        }
        failure
    }
}

impl From<NotPayloads> for Failure {
    fn from(error: NotPayloads) -> Self {
        const EXPECTED: &str =
            "expected one ad as a JSON object, several as a JSON array, or one object per line (NDJSON)";
        let failure = Self::usage(error.to_string());
        match error {
            NotPayloads::Unreadable { name, .. } if by_vehicle_type(&name).is_some() => {
                failure.hint(format!("to name the type of vehicle, add --type {name}"))
            }
            NotPayloads::Unreadable { name, .. } if name.contains('=') => {
                failure.hint(format!("to set a field, add --set {name}"))
            }
            NotPayloads::Unreadable { .. } => failure,
            NotPayloads::Utf32(_) => failure.hint("save it as UTF-8"),
            NotPayloads::Else { name, .. } => failure.hint(EXPECTED).hint(format!(
                "a table, such as CSV, a spreadsheet or XML, is imported: ad-cli import {name} --dry-run"
            )),
            _ => failure.hint(EXPECTED),
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let exit = if matches!(error, JournalError::Unwritable { .. }) { Exit::Failed } else { Exit::Usage };
        let failure = Self::new(exit, error.to_string());
        match error {
            JournalError::Unusable { .. } => {
                failure.hint("the journal must be a writable file on a file system with locks")
            }
            JournalError::InUse(_) => failure.hint("wait until it has finished, or set another journal"),
            JournalError::NotAJournal { .. } => {
                failure.hint("the file is not a journal or is damaged; set another journal")
            }
            JournalError::Begun { path, .. } => failure.hint("to resume: add --resume").hint(format!(
                "to start again, remove {}; the service rejects ads that it already has",
                path.display()
            )),
            JournalError::OtherService { .. } => failure.hint("use a separate journal for each service"),
            JournalError::Changed { .. } => failure
                .hint("accepted ads are not sent again, even if they have changed; the others are")
                .hint("to continue, add --accept-changes"),
            JournalError::Unwritable { .. } => {
                failure.hint("nothing is sent without a journal; free space, then resume")
            }
            _ => failure,
        }
    }
}

impl From<ad_bulk::BulkError> for Failure {
    fn from(error: ad_bulk::BulkError) -> Self {
        match error {
            ad_bulk::BulkError::Input(error) => error.into(),
            ad_bulk::BulkError::Journal(error) => error.into(),
            ad_bulk::BulkError::Output(error) => error.into(),
            ad_bulk::BulkError::Service(error) => error.into(),
            ad_bulk::BulkError::Temporary { .. } => {
                Self::failed(error.to_string()).hint("set TMPDIR to a folder with free space")
            }
            ad_bulk::BulkError::Interrupted => Self::interrupted(),
            error => Self::failed(error.to_string()),
        }
    }
}

/// What is missing, and where to look for it.
fn not_found(error: &Error, detail: &str) -> Failure {
    let hint = if error.request().contains(" /v4/webhooks/") {
        ("to list the webhooks", Invocation::of_user("webhooks list"))
    } else if error.request().contains(" /v4/promotions/") {
        ("to list the schedules", list_of_promotions())
    } else if is_of_plans(error) {
        ("to list the stock plans", list_of_plans())
    } else if error.request().contains("/revisions/") {
        ("to list the revisions", of_ad("history"))
    } else if names_nothing(&error.request()) {
        ("check the server URL, from --url, AD_URL or the profile; to show it", Invocation::of_user("config"))
    } else {
        let list = Invocation::new("list");
        let search = match ad_of(&error.request()).filter(|text| !text.contains('%')) {
            Some(text) => list.with("q", text),
            None => list.with_some("q", "WORDS"),
        };
        ("to search your ads", search)
    };
    // The service says how to create the ad by its own operation.
    let detail = match ad_of(&error.request()) {
        Some(text) => format!("you have no ad with the source id or plate {text}"),
        None => detail.to_owned(),
    };
    let meant = error.suggestion().map(|meant| format!("did you mean {meant}?"));
    meant.into_iter().fold(Failure::failed(detail), Failure::hint).hint(hint)
}

/// The source id in a request about an ad, as it is in the path; not one about an earlier content of it.
fn ad_of(request: &str) -> Option<&str> {
    const OF_THE_AD: &[&str] =
        &["log", "status", "quality", "prices", "calls", "revisions", "bump", "pole_position", "retry", "migrate"];
    let (_, path) = request.split_once(" /v4/")?;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (kind, ad) = path.split_once('/')?;
    let is_of_ads = kind == "ad" || by_vehicle_type(kind).is_some();
    let (source_id, part) = ad.split_once('/').unwrap_or((ad, "log"));
    let is_of_now = !["at=", "revision="].iter().any(|name| query.contains(name));
    (is_of_ads && is_of_now && OF_THE_AD.contains(&part)).then_some(source_id)
}

/// Whether a request is about nothing that may be missing, such as a list of ads.
fn names_nothing(request: &str) -> bool {
    let path = request.split_once(" /v4/").map(|(_, path)| path.split('?').next().unwrap_or(path));
    path.is_some_and(|path| !path.contains('/'))
}

fn is_of_plans(error: &Error) -> bool {
    error.request().contains(" /v4/stock/plans")
}

fn list_of_plans() -> Invocation {
    Invocation::new("stock show").as_tool("stock_plans")
}

/// Whether a request without a payload names a source id that several dealers have.
fn is_ambiguous(request: &str, errors: &FieldErrors) -> bool {
    let names_one_ad = request.split('/').count() > 3 && !request.ends_with("/validate");
    let has_payload = request.starts_with("PATCH ") || request.ends_with("/migrate");
    names_one_ad && !has_payload && errors.flatten().iter().any(|(path, _)| path == "dealer_code")
}

/// The variable that names a proxy, if one does.
fn proxy() -> Option<&'static str> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].into_iter().find(is_set)
}

/// Each field with its error, one per line.
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

/// The same of the parameters of a read, which are options here.
fn lines_of_options(errors: &FieldErrors) -> String {
    let mut text = String::new();
    for (name, message) in errors.flatten() {
        text.extend([
            "\n  ",
            &*Surface::CommandLine.argument(&printable::line(&name)),
            ": ",
            &*printable::line(&message),
        ]);
    }
    text
}

/// What a command says about a code of the service in the place of its text, which is about the protocol.
const TEXTS: &[(Code, &str)] = &[
    (Code::TooLarge, "the service does not take so much at once; shorten the longest texts, or split the file"),
    (Code::RequestTimeout, "the data did not reach the service in time; try again over a faster connection"),
    (Code::MethodNotAllowed, "the service does not have what this command needs; it is probably older than ad-cli"),
    (Code::IdempotencyKeyReused, "the key of this command was used with other data before; nothing was done"),
    (Code::UnsupportedContentEncoding, "the service does not take compressed data"),
    (Code::TokenMissing, "the service got no token"),
];

/// The next step after a code of the service: what for, and the command.
type NextStep = (Code, &'static str, fn() -> Invocation);

const NEXT_STEPS: &[NextStep] = &[
    (Code::AdHidden, "to publish it first", || of_ad("show")),
    (Code::AdDeleted, "a deleted ad does not come back; to create one with another source id", || {
        Invocation::of_user("create FILE")
    }),
    (Code::AdNotPublished, "to see why it is not live", || {
        Invocation::new("status").with_some("source_ids", "SOURCE_ID")
    }),
    (Code::AdAlreadyV4, "to change it", || of_ad("update")),
    (Code::NotRecorded, "to list what is recorded", || of_ad("history")),
    (Code::TooManyRequestsOfAd, "to wait until they are finished", || of_ad("wait")),
    (Code::HeldByImages, "to check the photos", || Invocation::of_user("photos check")),
    (Code::BudgetExceeded, "to show the budget and what is left of it", || Invocation::new("account")),
    (Code::TooManyPromotions, "to list the schedules", list_of_promotions),
    (Code::WebhookDisabled, "to enable it", || Invocation::of_user("webhooks update ID --enable")),
];

fn of_ad(command: &'static str) -> Invocation {
    Invocation::new(command).with_some("source_id", "SOURCE_ID")
}

fn list_of_promotions() -> Invocation {
    Invocation::new("promotions list").as_tool("promotions")
}

/// A failure in the terms of commands.
fn advised(failure: Failure, code: Code) -> Failure {
    let failure = match TEXTS.iter().find(|(known, _)| *known == code) {
        Some((_, text)) => failure.with_message(*text),
        None => failure,
    };
    match NEXT_STEPS.iter().find(|(known, ..)| *known == code) {
        Some((_, purpose, command)) => failure.hint((*purpose, command())),
        None => failure,
    }
}
