//! The layout of the pages, their headers, and pieces that several of them have.

use ad_core::{
    model::{Action, ActionState, Page, Timestamp},
    service::{Access, ServiceError},
    violation::Code,
};
use maud::{DOCTYPE, Markup, html};
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};
use url::form_urlencoded;

use super::{
    access,
    assets::{MODULE, STYLESHEET},
    named,
    texts::{Language, Texts},
    visitor::{Visit, Visitor},
};
use crate::api::ApiError;
use ad_server_access::auth::{Caller, Permission};

/// Name of the buttons that choose a language.
pub(super) const LANGUAGE: &str = "language";

/// A part of the console in its navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Overview,
    Stock,
    NewAd,
    Account,
    Schedules,
    Access,
    Webhooks,
    Requests,
    Developers,
    Operators,
}

/// A text in each language.
pub(super) type Text = fn(&Texts) -> &'static str;

/// The navigation: each part with its path, its name, and the permission without which it is not offered.
const NAVIGATION: &[(Section, &str, Text, Option<Permission>)] = &[
    (Section::Overview, "/", |texts| texts.overview, Some(Permission::Read)),
    (Section::Stock, "/stock", |texts| texts.stock, Some(Permission::Read)),
    (Section::NewAd, "/new", |texts| texts.new_ad, Some(Permission::Write)),
    (Section::Account, "/account", |texts| texts.account, Some(Permission::Read)),
    (Section::Schedules, "/schedules", |texts| texts.schedules, Some(Permission::Read)),
    (Section::Access, "/access", |texts| texts.access, Some(Permission::Access)),
    (Section::Operators, "/operators", |texts| texts.operators, Some(Permission::Operate)),
];

/// The pages below the technical head of the navigation, likewise. The first one that the visitor may see stands for all.
const TECHNICAL: &[(Section, &str, Text, Option<Permission>)] = &[
    (Section::Webhooks, "/webhooks", |texts| texts.webhooks, Some(Permission::Webhooks)),
    (Section::Requests, "/requests", |texts| texts.requests, Some(Permission::Read)),
    (Section::Developers, "/developers", |texts| texts.developers, None),
];

fn is_technical(section: Option<Section>) -> bool {
    TECHNICAL.iter().any(|(own, ..)| section == Some(*own))
}

/// A page for a signed-in visitor.
pub(super) fn page(visit: &Visit, section: Section, title: &str, content: &Markup) -> Response {
    page_with_status(visit, StatusCode::OK, section, title, content)
}

/// The same with another status, as when a form is shown again with its errors.
pub(super) fn page_with_status(
    visit: &Visit,
    status: StatusCode,
    section: Section,
    title: &str,
    content: &Markup,
) -> Response {
    answer(&visit.visitor, status, layout(&visit.visitor, Some(&visit.caller), Some(section), title, content, None))
}

/// A page that answers a form and has only asked. A change of the language asks the same again.
pub(super) fn question(visit: &Visit, section: Section, title: &str, content: &Markup) -> Response {
    question_with_status(visit, StatusCode::OK, section, title, content)
}

/// The same with another status.
pub(super) fn question_with_status(
    visit: &Visit,
    status: StatusCode,
    section: Section,
    title: &str,
    content: &Markup,
) -> Response {
    let asked = Some(visit.form.as_slice()).filter(|form| !form.is_empty());
    answer(&visit.visitor, status, layout(&visit.visitor, Some(&visit.caller), Some(section), title, content, asked))
}

/// A page that everybody sees, signed in or not.
pub(super) fn for_everybody(visitor: &Visitor, caller: Option<&Caller>, title: &str, content: &Markup) -> Response {
    answer(visitor, StatusCode::OK, layout(visitor, caller, None, title, content, None))
}

/// A page that needs no session.
pub(super) fn without_session(visitor: &Visitor, status: StatusCode, title: &str, content: &Markup) -> Response {
    answer(visitor, status, layout(visitor, None, None, title, content, None))
}

/// The page of an error, with the status that the API would answer.
pub(super) fn error(visitor: &Visitor, caller: Option<&Caller>, error: &ApiError) -> Response {
    let texts = visitor.texts;
    let answered = error.default_response();
    let status = answered.status();
    let title = match status {
        StatusCode::NOT_FOUND => texts.not_found,
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => texts.not_permitted,
        _ => texts.error,
    };
    let content = html! {
        div.notice.error role="alert" {
            h1 { (title) }
            @if let ApiError::Forbidden(permission) = error {
                p { (texts.permission_needed) " " (access::may(texts, *permission)) ". " (texts.ask_who_invited) }
            } @else if let ApiError::TooLarge(most) = error {
                p { (texts.too_large_to_send) " " (most / 1_000_000) }
            } @else {
                p { (in_words(texts, error, status)) }
                details {
                    summary { (texts.technical) }
                    @for text in reasons(error) { p lang="en" { (text) } }
                    p { code { (error.code().name()) } }
                }
            }
        }
        p {
            @if caller.is_some() {
                a.button href=(visitor.address("/")) { (texts.to_overview) }
            } @else {
                a.button href=(visitor.address("/sign-in")) { (texts.sign_in) }
            }
        }
    };
    let mut response = answer(visitor, status, layout(visitor, caller, None, title, &content, None));
    for name in [header::RETRY_AFTER, header::ALLOW] {
        if let Some(value) = answered.headers().get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// An error in the words of a seller; what the API says about it is folded away below.
fn in_words(texts: &Texts, error: &ApiError, status: StatusCode) -> &'static str {
    match status {
        _ if error.code() == Code::TooManyPlans => texts.too_many_plans,
        StatusCode::NOT_FOUND | StatusCode::GONE => texts.no_such_page,
        StatusCode::METHOD_NOT_ALLOWED => texts.not_again,
        StatusCode::TOO_MANY_REQUESTS => texts.too_many_now,
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => texts.ask_who_invited,
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => texts.not_possible_now,
        status if status.is_server_error() => texts.service_fails,
        _ => texts.form_not_understood,
    }
}

/// Why something was refused: in Swedish in the words of a seller, in English as the API says it.
pub(super) fn why(visitor: &Visitor, error: &ApiError) -> Vec<String> {
    let texts = visitor.texts;
    let denied = |code: Code| {
        let said = named::not_promoted(texts, code);
        if said == code.about().title { texts.not_possible_now } else { said }
    };
    match error {
        ApiError::Service(ServiceError::NotFound) => vec![texts.no_such_page.to_owned()],
        _ if visitor.language == Language::English => reasons(error),
        ApiError::Service(ServiceError::Refused(denials)) => {
            denials.iter().map(|denial| denied(denial.code).to_owned()).collect()
        }
        _ => vec![in_words(texts, error, error.default_response().status()).to_owned()],
    }
}

/// The message of an error, as the API answers it.
pub(super) fn reasons(error: &ApiError) -> Vec<String> {
    let located =
        |(path, text): (String, _)| if path.is_empty() { String::from(text) } else { format!("{path}: {text}") };
    match (error, error.fields()) {
        (_, Some((fields, _))) => fields.flatten_for_people().into_iter().map(located).collect(),
        (ApiError::Service(ServiceError::Refused(denials)), _) => {
            denials.iter().map(|denial| denial.text.clone()).collect()
        }
        _ => vec![error.detail()],
    }
}

fn answer(visitor: &Visitor, status: StatusCode, page: Markup) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: {}; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        visitor.console.media_origin.as_deref().unwrap_or_default(),
    );
    let mut response =
        Response::builder().status(status).content_type("text/html; charset=utf-8").body(page.into_string());
    let headers = response.headers_mut();
    let policy = HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    // After sign-out, the browser's Back button must show nothing.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(visitor.language.code()));
    headers.append(header::VARY, HeaderValue::from_static("Cookie, Accept-Language"));
    response
}

fn layout(
    visitor: &Visitor,
    caller: Option<&Caller>,
    section: Option<Section>,
    title: &str,
    content: &Markup,
    asked: Option<&[(String, String)]>,
) -> Markup {
    let texts = visitor.texts;
    let assets = visitor.address("/");
    html! {
        (DOCTYPE)
        html lang=(visitor.language.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // The header forbids referrers altogether, and browsers then send no origin with forms either. Other sites get none.
                meta name="referrer" content="same-origin";
                meta name="robots" content="noindex";
                // None, so that browsers do not request one.
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(STYLESHEET.address(&assets));
                script type="module" src=(MODULE.address(&assets)) {}
                title { (title) " – " (texts.console) }
            }
            @let reads = caller.filter(|it| it.permissions.contains(Permission::Read));
            body data-events=[reads.map(|_| visitor.address("/events"))] data-event-types=[reads.map(|_| event_types())] {
                a.skip href="#content" { (texts.skip_to_content) }
                header.top {
                    a.brand href=(visitor.address("/")) { (texts.console) }
                    @if let Some(caller) = caller { (navigation(visitor, caller, section)) }
                    div.account {
                        @if caller.is_none() { a.help-link href=(visitor.address("/help")) { (texts.help) } }
                        @if let Some(caller) = caller { (account(visitor, caller)) }
                        (languages(visitor, asked))
                    }
                }
                main #content tabindex="-1" {
                    @if let Some(caller) = caller.filter(|_| is_technical(section)) { (technical(visitor, caller, section)) }
                    (content)
                    div #stream role="status" data-may-be-old=(texts.may_be_old) {}
                }
                div #announcements .unseen aria-live="polite" {}
            }
        }
    }
}

/// The rows of a table of pages that a caller may see.
fn permitted(
    pages: &'static [(Section, &str, Text, Option<Permission>)],
    caller: &Caller,
) -> impl Iterator<Item = (Section, &'static str, Text)> {
    let permissions = caller.permissions;
    let may = move |permission: &Option<Permission>| permission.is_none_or(|it| permissions.contains(it));
    pages.iter().filter(move |(.., permission)| may(permission)).map(|(own, path, name, _)| (*own, *path, *name))
}

fn navigation(visitor: &Visitor, caller: &Caller, section: Option<Section>) -> Markup {
    let texts = visitor.texts;
    let link = |path: &str, name: &str, is_current: bool| {
        html! { li { a href=(visitor.address(path)) aria-current=[is_current.then_some("page")] { (name) } } }
    };
    html! {
        // On a phone, the header is one line, and this shows the rest of it.
        label.menu { input.unseen #menu type="checkbox"; (texts.menu) }
        nav aria-label=(texts.navigation) {
            ul {
                @for (own, path, name) in permitted(NAVIGATION, caller) {
                    (link(path, name(texts), section == Some(own)))
                }
                @if let Some((_, path, _)) = permitted(TECHNICAL, caller).next() {
                    (link(path, texts.technical, is_technical(section)))
                }
                (link("/help", texts.help, visitor.here.starts_with("/help")))
            }
        }
    }
}

/// The links between the technical pages.
fn technical(visitor: &Visitor, caller: &Caller, section: Option<Section>) -> Markup {
    html! {
        nav.actions.sections aria-label=(visitor.texts.technical) {
            @for (own, path, name) in permitted(TECHNICAL, caller) {
                a.button href=(visitor.address(path)) aria-current=[(section == Some(own)).then_some("page")] { (name(visitor.texts)) }
            }
        }
    }
}

/// The types of all events, for the script: browsers pass on only the types that are named.
fn event_types() -> String {
    let of = |action: &'static str| ActionState::NAMES.iter().map(move |state| format!("ad.{action}.{state}"));
    Action::NAMES.iter().copied().flat_map(of).collect::<Vec<_>>().join(" ")
}

/// The signed-in visitor, and the sign-out button.
fn account(visitor: &Visitor, caller: &Caller) -> Markup {
    let texts = visitor.texts;
    let scope = match &caller.scope {
        Access::Dealer(_) => texts.dealer,
        Access::Group(_) => texts.dealer_group,
        Access::Operator => texts.operator,
    };
    html! {
        span.who {
            span.unseen { (texts.signed_in_as) " " }
            span.scope { (scope) " " }
            // The scope of operators is everything.
            @if caller.scope != Access::Operator { strong { (named::scope_name(visitor, &caller.scope)) } }
            @if let Some(label) = &caller.label { " " span.faint { (label) } }
        }
        form method="post" action=(visitor.address("/sign-out")) data-sign-out {
            button.quiet { (texts.sign_out) }
        }
    }
}

/// The choice of the language. It leads back to the same page, or asks the same again.
fn languages(visitor: &Visitor, asked: Option<&[(String, String)]>) -> Markup {
    let action = if asked.is_some() { &visitor.here } else { "/language" };
    html! {
        form.languages method="post" action=(visitor.address(action)) aria-label=(visitor.texts.language) {
            @match asked {
                Some(asked) => { @for (name, value) in asked { input type="hidden" name=(name) value=(value); } },
                None => input type="hidden" name="next" value=(visitor.here);,
            }
            @for language in Language::ALL {
                button.quiet name=(LANGUAGE) value=(language.code()) lang=(language.code())
                    aria-pressed=(if language == visitor.language { "true" } else { "false" }) { (language.name()) }
            }
        }
    }
}

/// A point in time. The script shows it in the visitor's time zone.
pub(super) fn time(at: Timestamp) -> Markup {
    let text = at.to_string();
    let shown = text.get(..16).unwrap_or(&text).replace('T', " ");
    html! { time datetime=(text) { (shown) " UTC" } }
}

/// A point in time that may be missing.
pub(super) fn maybe_time(at: Option<Timestamp>) -> Markup {
    html! { @match at { Some(at) => (time(at)), None => "–" } }
}

/// A notice at the top of a page, read out when it appears.
pub(super) fn notice(kind: NoticeKind, content: &Markup) -> Markup {
    match kind {
        NoticeKind::Success => html! { div.notice.success role="status" { (content) } },
        NoticeKind::Error => html! { div.notice.error role="alert" { (content) } },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoticeKind {
    Success,
    Error,
}

/// How many rows a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Total {
    Exactly(u64),
    /// The list has more items than were counted.
    MoreThan(u64),
}

/// Where the page of a list begins that the query asks for.
pub(super) fn offset(visit: &Visit) -> u64 {
    visit.parameter("offset").and_then(|offset| offset.parse().ok()).unwrap_or_default()
}

/// The links between the pages of a list: `path` is that of the list, `query` what it was asked for.
pub(super) fn paging(
    visit: &Visit,
    path: &str,
    query: &[(String, String)],
    page: Page,
    shown: usize,
    total: Total,
) -> Markup {
    let texts = visit.visitor.texts;
    let limit = u64::from(page.limit);
    let end = page.offset.saturating_add(shown as u64);
    let link = |offset: u64| {
        let others = query.iter().filter(|(name, _)| name != "offset");
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair("offset", &offset.to_string())
            .finish();
        visit.visitor.address(&format!("{path}?{query}"))
    };
    html! {
        nav.paging aria-label=(texts.pages) {
            @if page.offset > 0 {
                a.button rel="prev" href=(link(page.offset.saturating_sub(limit))) { "← " (texts.previous) }
            }
            @if shown > 0 {
                span { (number(page.offset + 1)) "–" (number(end)) " " (texts.of_in_all) " " @match total { Total::Exactly(count) => (number(count)), Total::MoreThan(count) => { (texts.more_than) " " (number(count)) } } }
            }
            @if !matches!(total, Total::Exactly(count) if count <= end) {
                a.button rel="next" href=(link(end)) { (texts.next) " →" }
            }
        }
    }
}

/// A table that scrolls, with a name for those who do not see it.
pub(super) fn table<const N: usize>(name: &str, header: [&str; N], rows: impl Iterator<Item = Markup>) -> Markup {
    table_of(name, header, rows, false)
}

/// A table whose rows are cards on a phone. A cell says in `data-name` what it is, unless that is plain.
pub(super) fn stacked_table<const N: usize>(
    name: &str,
    header: [&str; N],
    rows: impl Iterator<Item = Markup>,
) -> Markup {
    table_of(name, header, rows, true)
}

fn table_of<const N: usize>(
    name: &str,
    header: [&str; N],
    rows: impl Iterator<Item = Markup>,
    is_stacked: bool,
) -> Markup {
    html! {
        div.scrolls.stacked[is_stacked] tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr { @for title in header { th { (title) } } } }
                tbody { @for row in rows { tr { (row) } } }
            }
        }
    }
}

/// A number with thin spaces between thousands.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join("\u{202f}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        for (value, expected) in
            [(0, "0"), (999, "999"), (1000, "1\u{202f}000"), (1_234_567, "1\u{202f}234\u{202f}567")]
        {
            assert_eq!(number(value), expected);
        }
    }
}
