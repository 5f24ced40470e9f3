//! The failures that a sandbox provokes, one row each. `docs/sandbox.md` and the tests of the sandbox are made from these rows.

use ad_core::{model::Action, violation::Code};

/// A failure that clients can provoke in the sandbox.
#[derive(Debug, Clone, Copy)]
pub struct SandboxFailure {
    /// What provokes it: a source id or, in [`IMAGES`], the name of a sample image.
    pub trigger: &'static str,
    pub effect: &'static str,
    pub outcome: FailureOutcome,
    /// What the client should do.
    pub cure: &'static str,
}

/// What a client sees of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureOutcome {
    /// The request is answered with this status and code.
    Answer(u16, Code),
    /// The ad's log gets an `error` entry of this action with this code.
    Error(Action, Code),
    /// The action succeeds in the end.
    Done(Action),
}

const fn row(
    trigger: &'static str,
    outcome: FailureOutcome,
    effect: &'static str,
    cure: &'static str,
) -> SandboxFailure {
    SandboxFailure { trigger, effect, outcome, cure }
}

/// The sample image that does not exist.
pub(super) const MISSING: &str = "missing.jpg";
/// The sample image whose host does not answer in time.
pub(super) const SLOW: &str = "slow.jpg";
/// Name of the truncated sample image.
pub(super) const TRUNCATED: &str = "truncated.jpg";
/// The sample image that is an HTML page.
pub(super) const NOT_AN_IMAGE: &str = "not-an-image.jpg";

use self::FailureOutcome::{Answer, Done, Error};

/// Failures of the API itself, by source id.
#[rustfmt::skip]
pub const API: &[SandboxFailure] = &[
    row("fault-api-401-car1", Answer(401, Code::TokenInvalid),
        "The API answers as if the token had expired.",
        "Stop sending, get a new token, and repeat the request with it. Do not repeat it with the same token."),
    row("fault-api-429-car1", Answer(429, Code::RateLimited),
        "The API answers as if the dealer had sent too many requests.",
        "Wait for the seconds of `Retry-After`, then repeat the request."),
    row("fault-api-503-car1", Answer(503, Code::Unavailable),
        "The API answers as if its database could not be reached. Nothing is stored.",
        "Wait for the seconds of `Retry-After`, then repeat the request. Stop after some attempts."),
];

/// Failures of marketplaces, by source id.
#[rustfmt::skip]
pub const MARKETPLACES: &[SandboxFailure] = &[
    row("fault-refused-car1", Error(Action::Publish, Code::MarketplaceRefused),
        "The marketplaces reject the ad.",
        "Show the reason to the dealer. An update with corrected data publishes again; repeating the same data does not help."),
    row("fault-429-car1", Error(Action::Publish, Code::MarketplaceBusy),
        "The marketplaces are busy: they answer 429 to every attempt.",
        "Send `retry` later."),
    row("fault-500-car1", Error(Action::Publish, Code::MarketplaceUnreachable),
        "Outage: the marketplaces answer 500 to every attempt.",
        "Send `retry` later."),
    row("fault-timeout-car1", Error(Action::Publish, Code::MarketplaceUnreachable),
        "Outage: the marketplaces do not answer at all.",
        "Send `retry` later."),
    row("fault-lost-car1", Error(Action::Publish, Code::MarketplaceUnreachable),
        "The marketplaces list the ad, and every answer is lost.",
        "Send `retry` later. The ad is listed once, not twice."),
    row("fault-401-car1", Error(Action::Publish, Code::MarketplaceCredentials),
        "The marketplaces reject the credentials of the service.",
        "Tell the operator of the service, who has to correct them; then send `retry`."),
    row("fault-500-3x-car1", Error(Action::Publish, Code::MarketplaceUnreachable),
        "The marketplaces answer 500 as often as the service calls them for one request, and then work again.",
        "Send `retry`, which succeeds."),
    row("fault-429-1x-car1", Done(Action::Publish),
        "The marketplaces are busy once.",
        "Nothing: the service repeats the call."),
    row("fault-500-2x-car1", Done(Action::Publish),
        "The marketplaces fail twice.",
        "Nothing: the service repeats the call."),
    row("fault-lost-1x-car1", Done(Action::Publish),
        "The marketplaces list the ad, and the first answer is lost.",
        "Nothing: the service repeats the call. The ad is listed once, not twice."),
    row("fault-refused-bump-car1", Error(Action::Bump, Code::MarketplaceRefused),
        "The ad is published; the marketplaces reject every bump.",
        "Show the reason to the dealer. The ad stays published."),
];

/// Failures of images, by the name of a sample image.
#[rustfmt::skip]
pub const IMAGES: &[SandboxFailure] = &[
    row(MISSING, Error(Action::HandleMedia, Code::ImageFailed),
        "The image host answers 404.",
        "Update `image_urls` with the right address."),
    row(SLOW, Error(Action::HandleMedia, Code::ImageFailed),
        "The image host does not answer in time. The service repeats the request; the failure is final after about ten seconds.",
        "Send `retry` when the host works again."),
    row(TRUNCATED, Error(Action::HandleMedia, Code::ImageFailed),
        "The file ends in the middle of the image.",
        "Store the whole file at the address, then send `retry`."),
    row(NOT_AN_IMAGE, Error(Action::HandleMedia, Code::ImageFailed),
        "The address holds an HTML page.",
        "Update `image_urls` with the address of a JPEG or PNG file."),
];

/// The guide to failures, rendered for `docs/sandbox.md`.
pub fn page() -> String {
    [("{api}", "`source_id`", API), ("{marketplaces}", "`source_id`", MARKETPLACES), ("{images}", "Image", IMAGES)]
        .into_iter()
        .fold(include_str!("page.md").to_owned(), |page, (place, of, rows)| page.replace(place, &table(of, rows)))
}

fn table(of: &str, rows: &[SandboxFailure]) -> String {
    let header = format!("| {of} | What happens | What you see | What to do |\n|---|---|---|---|");
    let rows = rows.iter().map(|SandboxFailure { trigger, effect, outcome, cure }| {
        format!("| `{trigger}` | {effect} | {} | {cure} |", shown(*outcome))
    });
    std::iter::once(header).chain(rows).collect::<Vec<_>>().join("\n")
}

fn shown(outcome: FailureOutcome) -> String {
    let linked = |code: Code| format!("[`{0}`](errors.md#{0})", code.name());
    match outcome {
        Answer(status, code) => format!("{status} {}", linked(code)),
        Error(action, code) => format!("`{action}` `error`, {}", linked(code)),
        Done(action) => format!("`{action}` `done`"),
    }
}
