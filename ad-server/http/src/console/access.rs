//! Who has access: links that sign in once, and sessions, which are made, listed and ended here.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{model::Page, ports::PageOf, service::Access};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};
use uuid::Uuid;

use super::{
    page::{self, NoticeKind, Section, Total},
    session::{self, SessionSecret},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_access::auth::{Permission, Permissions};
use ad_server_base::limits::table::{SIGN_IN_LINK_KEPT, SIGN_IN_LINKS};
use ad_server_store::{AccessScope, ConsoleAccess, NewSignInLink};

/// Rows of a page.
const ROWS: u32 = 50;

/// Characters of the label of a link at most.
const MOST_LABEL: usize = 100;

/// `GET /console/access`: links that can be used, sessions, and the form of a new link.
pub(super) async fn page(visit: Visit) -> PageResult {
    show(&visit, StatusCode::OK, None).await
}

/// `POST /console/access`: makes a link, withdraws one, or ends a session.
pub(super) async fn change(visit: Visit) -> PageResult {
    match visit.field("do").unwrap_or_default() {
        "create" => create(&visit).await,
        "end" => end(&visit).await,
        other => Err(ApiError::BadBody(format!("The form has no known action: do is \"{other}\"."))),
    }
}

/// Operators send links too, of every dealer.
fn is_operator(visit: &Visit) -> bool {
    visit.caller.scope == Access::Operator
}

/// The path of the page.
fn path(visit: &Visit) -> &'static str {
    if is_operator(visit) { "/operators/access" } else { "/access" }
}

const fn section(is_operator: bool) -> Section {
    if is_operator { Section::Operators } else { Section::Access }
}

/// The permissions that the visitor can give to others, by their names.
fn own_permissions(visit: &Visit) -> Permissions {
    if is_operator(visit) { Permissions::ALL } else { visit.caller.permissions }
}

/// The scopes whose links and sessions the visitor sees: those of a group include its dealers'.
fn scopes(visit: &Visit) -> Vec<String> {
    let dealers = match &visit.caller.scope {
        Access::Group(_) => visit.visitor.context.service.dealers_of_events(&visit.caller.scope, None),
        Access::Dealer(_) | Access::Operator => Arc::default(),
    };
    let dealers = dealers.iter().map(|code| Access::Dealer(code.clone()).key());
    std::iter::once(visit.caller.scope.key()).chain(dealers).collect()
}

fn seen<'a>(visit: &Visit, scopes: &'a [String]) -> AccessScope<'a> {
    if is_operator(visit) { AccessScope::All } else { AccessScope::Of(scopes) }
}

/// Who the visitor is, for those who see what it has made.
fn name(visit: &Visit) -> String {
    visit.caller.label.clone().unwrap_or_else(|| visit.caller.jti.clone())
}

async fn end(visit: &Visit) -> PageResult {
    let id = visit.field("id").and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| ApiError::BadBody("The form has no id of a link or session.".to_owned()))?;
    let console = &visit.visitor.console;
    if is_operator(visit) {
        super::operators::operator(visit).record("console end", &format!("{id}"), "").await?;
    }
    let scopes = scopes(visit);
    console.database.end_console_access(seen(visit, &scopes), id, console.clock.now()).await?;
    // Its end may be that of the visitor's own session: the next page asks to sign in then.
    Ok(visit.visitor.redirect(&format!("{}?done=1", path(visit))))
}

/// What a form asks for, or what is wrong with it.
async fn wanted(visit: &Visit) -> Result<(Access, Vec<String>, String), ApiError> {
    let texts = visit.visitor.texts;
    let bad = |text: &str| ApiError::BadBody(text.to_owned());
    let label = visit.field("label").map(str::trim).unwrap_or_default();
    if label.is_empty() || label.chars().nth(MOST_LABEL).is_some() {
        return Err(bad(texts.link_label_missing));
    }
    let names: Vec<_> = visit.form.iter().filter(|(name, _)| name == "permission").map(|(_, value)| value).collect();
    let permissions: Result<Permissions, _> = names.iter().map(|name| name.parse::<Permission>()).collect();
    let permissions = permissions.map_err(|error| bad(&error.to_string()))?;
    if !own_permissions(visit).covers(permissions) {
        let lacking = permissions.iter().find(|it| !own_permissions(visit).contains(*it));
        return Err(lacking.map_or(ApiError::Internal, ApiError::Forbidden));
    }
    if permissions == Permissions::default() {
        return Err(bad(texts.link_permission_missing));
    }
    let field = |name: &str| visit.field(name).map(str::trim).filter(|value| !value.is_empty());
    let scope = match (&visit.caller.scope, field("dealer_code"), field("dealer_group")) {
        (Access::Dealer(_) | Access::Group(_), None, _) => visit.caller.scope.clone(),
        (Access::Dealer(_) | Access::Group(_), Some(code), _) => {
            let dealers = visit.visitor.context.service.dealers_of_events(&visit.caller.scope, Some(code));
            dealers.first().cloned().map(Access::Dealer).ok_or_else(|| bad(texts.link_dealer_unknown))?
        }
        (Access::Operator, code, group) => {
            let dealers = visit.visitor.console.database.dealers().await?;
            let is_known = |scope: &Access| match scope {
                Access::Dealer(code) => dealers.iter().any(|dealer| dealer.code == *code),
                Access::Group(group) => dealers.iter().any(|dealer| dealer.group.as_ref() == Some(group)),
                Access::Operator => false,
            };
            let scope = match (code, group) {
                (Some(code), None) => Some(Access::Dealer(code.to_owned())),
                (None, Some(group)) => Some(Access::Group(group.to_owned())),
                _ => None,
            };
            scope.filter(is_known).ok_or_else(|| bad(texts.link_dealer_unknown))?
        }
    };
    Ok((scope, session::names(permissions), label.to_owned()))
}

async fn create(visit: &Visit) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let (scope, permissions, label) = match wanted(visit).await {
        Ok(wanted) => wanted,
        Err(ApiError::BadBody(text)) => return show(visit, StatusCode::BAD_REQUEST, Some(&text)).await,
        Err(error) => return Err(error),
    };
    let (console, secret) = (&visitor.console, SessionSecret::new()?);
    let (now, key, by) = (console.clock.now(), scope.key(), name(visit));
    if is_operator(visit) {
        super::operators::operator(visit).record("sign-in-link", &key, &label).await?;
    }
    let link = NewSignInLink {
        id: visit.request_id,
        scope: &key,
        permissions: &permissions,
        label: Some(&label),
        root: Some(&visit.root),
        made_by: Some(&by),
        hash: &secret.hash(),
        now,
        expires: now + SIGN_IN_LINK_KEPT,
    };
    if !console.database.add_sign_in_link(&link, SIGN_IN_LINKS).await? {
        return show(visit, StatusCode::CONFLICT, Some(texts.too_many_links)).await;
    }
    let address = visitor.absolute(&format!("/link?code={}", secret.reveal()));
    Ok(made(visit, &label, &address))
}

/// Shows a new link, which is not shown again.
fn made(visit: &Visit, label: &str, address: &str) -> Response {
    let texts = visit.visitor.texts;
    let encoded =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    let body = format!("{}\n\n{address}\n\n{}", texts.link_mail, texts.link_once);
    let mail = format!("mailto:?subject={}&body={}", encoded(texts.sign_in_title), encoded(&body));
    let content = html! {
        div.panel {
            h1 { (texts.link_for) " " (label) }
            p.lead { (texts.link_shown_once) }
            pre #link tabindex="0" { code { (address) } }
            p.help { (texts.link_once) }
            div.actions {
                button type="button" hidden data-copy="link" data-copied=(texts.copied) { (texts.copy) }
                a.button.primary href=(mail) { (texts.send_by_mail) }
                a.button href=(visit.visitor.address(path(visit))) { (texts.back) }
            }
        }
    };
    page::page_with_status(visit, StatusCode::CREATED, section(is_operator(visit)), texts.access, &content)
}

async fn show(visit: &Visit, status: StatusCode, problem: Option<&str>) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let page = Page { limit: ROWS, offset: page::offset(visit) };
    let filter = visit.parameter("dealer_code").filter(|code| is_operator(visit) && !code.is_empty());
    let scopes = match filter {
        Some(code) => vec![Access::Dealer(code.to_owned()).key()],
        None => scopes(visit),
    };
    let scope = if filter.is_some() { AccessScope::Of(&scopes) } else { seen(visit, &scopes) };
    let found = visitor.console.database.console_access(scope, visitor.console.clock.now(), page).await?;
    let PageOf { count, rows } = &found;
    let content = html! {
        h1 { (texts.access) }
        @if is_operator(visit) { (super::operators::pages(visit)) }
        p.lead { (texts.access_lead) }
        @if visit.parameter("done").is_some() { (page::notice(NoticeKind::Success, &html! { p { (texts.access_ended) } })) }
        section.panel aria-labelledby="new-link" {
            h2 #new-link { (texts.new_link) }
            @if let Some(problem) = problem { (page::notice(NoticeKind::Error, &html! { p #problem { (problem) } })) }
            (form(visit, problem.is_some()))
        }
        div.panel {
            h2 #who-has-access { (texts.who_has_access) }
            @if is_operator(visit) {
                form.row method="get" action=(visitor.address(path(visit))) role="search" {
                    div {
                        label for="of-dealer" { (texts.dealer) }
                        input #of-dealer type="text" name="dealer_code" value=(filter.unwrap_or_default()) autocomplete="off";
                    }
                    button { (texts.search) }
                }
            }
            @if rows.is_empty() { p { (texts.nobody_has_access) } } @else { (table(visit, rows)) }
            (page::paging(visit, path(visit), &visit.query, page, rows.len(), Total::Exactly(*count)))
        }
    };
    Ok(page::page_with_status(visit, status, section(is_operator(visit)), texts.access, &content))
}

/// The form of a new link; what was wrong stays in it.
fn form(visit: &Visit, is_wrong: bool) -> Markup {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let own = own_permissions(visit);
    let is_chosen = |name: &str| {
        let was_sent = visit.form.iter().any(|(known, value)| known == "permission" && value == name);
        if is_wrong { was_sent } else { matches!(name, "read" | "write") }
    };
    let given = |name: &str| visit.field(name).unwrap_or_default();
    html! {
        form method="post" action=(visitor.address(path(visit))) {
            input type="hidden" name="do" value="create";
            div.field {
                label for="label" { (texts.link_label) }
                input #label type="text" name="label" required maxlength=(MOST_LABEL) autocomplete="off" value=(given("label"))
                    aria-describedby=(if is_wrong { "problem label-help" } else { "label-help" });
                p.help #label-help { (texts.link_label_help) }
            }
            (whose(visit))
            fieldset {
                legend { (texts.may_do) }
                div.choice.column {
                    @for permission in own.iter() {
                        @let name = permission.to_string();
                        label.choice { input type="checkbox" name="permission" value=(name) checked[is_chosen(&name)]; (may(texts, permission)) }
                    }
                }
            }
            button.primary { (texts.make_link) }
        }
    }
}

/// For which dealers a link is, where there are several.
fn whose(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let given = |name: &str| visit.field(name).unwrap_or_default();
    let text = |name: &str, label: &str| {
        html! {
            div {
                label for=(name) { (label) }
                input id=(name) type="text" name=(name) value=(given(name)) autocomplete="off";
            }
        }
    };
    match &visit.caller.scope {
        Access::Dealer(_) => html! {},
        Access::Operator => html! {
            div.field.row { (text("dealer_code", texts.dealer)) (text("dealer_group", texts.dealer_group)) }
        },
        Access::Group(_) => {
            let dealers = visit.visitor.context.service.dealers_in(&visit.caller.scope);
            html! {
                div.field {
                    label for="dealer_code" { (texts.dealer) }
                    select #dealer_code name="dealer_code" {
                        option value="" { (texts.all_of_group) }
                        @for dealer in &dealers {
                            option value=(dealer.code) selected[given("dealer_code") == dealer.code] { (dealer.name) }
                        }
                    }
                }
            }
        }
    }
}

/// What a permission is good for, in the words of a seller.
pub(super) const fn may(texts: &Texts, permission: Permission) -> &'static str {
    match permission {
        Permission::Read => texts.may_read,
        Permission::Write => texts.may_write,
        Permission::Promote => texts.may_promote,
        Permission::Webhooks => texts.may_webhooks,
        Permission::Access => texts.may_access,
        Permission::Operate => texts.operators,
    }
}

fn table(visit: &Visit, rows: &[ConsoleAccess]) -> Markup {
    let texts = visit.visitor.texts;
    let header =
        [texts.link_for, texts.may_do, texts.status, texts.given_by, texts.last_used, texts.expires, texts.change];
    let dealers: BTreeMap<String, String> = match &visit.caller.scope {
        Access::Group(_) => {
            let dealers = visit.visitor.context.service.dealers_in(&visit.caller.scope);
            dealers.into_iter().map(|dealer| (dealer.code.clone(), dealer.name.clone())).collect()
        }
        Access::Dealer(_) | Access::Operator => BTreeMap::new(),
    };
    page::stacked_table(texts.who_has_access, header, rows.iter().map(|access| row(visit, access, &dealers)))
}

fn row(visit: &Visit, access: &ConsoleAccess, dealers: &BTreeMap<String, String>) -> Markup {
    let texts = visit.visitor.texts;
    let scope = session::scope_of(access);
    let own = visit.caller.scope.key();
    let whose = scope.as_ref().map_or("", |scope| dealers.get(scope.name()).map_or(scope.name(), String::as_str));
    let permissions: Vec<_> =
        access.permissions.iter().filter_map(|name| Some(may(texts, name.parse().ok()?))).collect();
    let label = access.label.as_deref().unwrap_or(texts.token);
    html! {
        td {
            strong { (label) }
            @if access.scope != own { br; span.faint { (whose) } }
        }
        td { (permissions.join("; ")) }
        td {
            @if access.is_session {
                span.badge.well { (texts.signed_in) }
                @if access.id == visit.session { " " (texts.this_session) }
                @if access.trusted { br; span.faint { (texts.trusted_device) } }
                @if access.token.is_some() { br; span.faint { (texts.with_token) } }
            } @else {
                span.badge.attention { (texts.link_not_used) }
            }
        }
        td data-name=(texts.given_by) { (access.made_by.as_deref().map_or("–", |by| if by.parse::<Uuid>().is_ok() { texts.token } else { by })) }
        td data-name=(texts.last_used) { (page::maybe_time(access.last_used)) }
        td data-name=(texts.expires) { (page::time(access.expires)) }
        td {
            form method="post" action=(visit.visitor.address(path(visit))) {
                input type="hidden" name="do" value="end";
                input type="hidden" name="id" value=(access.id);
                @let text = if access.is_session { texts.end_session } else { texts.withdraw_link };
                button.quiet aria-label={ (text) ": " (label) } { (text) }
            }
        }
    }
}
