//! Changes of many ads, which are stock plans: what each changes, how far it is, and whether it is made. They go on when the page is left.

use std::{borrow::Cow, time::Duration};

use ad_core::{
    categories,
    model::{
        Ad, AdFilter, AdQuery, ChangeCounts, ChangeError, ChangeKind, ChangeOutcome, ChangeQuery, Content,
        MOST_UNFINISHED_PLANS, OutcomeCounts, Page, PlanState, PlannedChange, StockPlan,
    },
    prices::is_far,
    service::{Access, ServiceError, StockPlanError, Target},
    violation::Code,
};
use maud::{Markup, html};
use poem::{
    Response,
    http::{StatusCode, header},
};
use serde_json::{Map, Value};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    act::AdKey,
    form::{by_code, label, named},
    left_out,
    named::dealer,
    page::{self, NoticeKind, Section, Text, Total, number},
    session::set_cookie,
    show,
    texts::{Texts, cookie_in},
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, StockApi};

/// Changes on a page. For each, its prices are read.
pub(super) const SHOWN: u32 = 50;

/// Name of the cookie with the plan that was shown last.
const PREVIEW: &str = "console_preview";

/// For how long the browser remembers it: as long as a plan waits.
const REMEMBERED: Duration = Duration::from_hours(24);

/// Changes that are taken back at most.
const MOST_TAKEN_BACK: u64 = 5_000;

/// The line of rows that are of no file.
pub(super) const NO_LINE: u64 = 0;

/// Plans on the page of all.
const PLANS: u32 = 20;

/// Leads to a plan that was just made, and has the browser remember it: where it is left as it is, it makes room for another.
pub(super) fn shown(visit: &Visit, id: Uuid, query: &str) -> PageResult {
    let mut response = visit.visitor.redirect(&format!("/plan?id={id}{query}"));
    let cookie = set_cookie(&visit.visitor, PREVIEW, &id.to_string(), REMEMBERED)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Where as many plans wait as may, cancels one that nobody needs: one that changes nothing, or the last one that this browser has left.
pub(super) async fn make_room(visit: &Visit) -> Result<(), ApiError> {
    let (plans, access) = (&stock(visit)?.plans, &visit.caller.scope);
    let listed = plans.plans(access, Page { limit: PLANS, offset: 0 }).await?.rows;
    let is_unfinished =
        |plan: &&StockPlan| matches!(plan.state, PlanState::Computing | PlanState::Ready | PlanState::Applying);
    if listed.iter().filter(is_unfinished).count() < MOST_UNFINISHED_PLANS as usize {
        return Ok(());
    }
    let left = cookie_in(&visit.headers, PREVIEW).and_then(|id| id.parse().ok());
    let ready = || listed.iter().filter(|plan| plan.state == PlanState::Ready);
    let unneeded = ready().find(|plan| wanted(plan) == 0).or_else(|| ready().find(|plan| Some(plan.id) == left));
    if let Some(plan) = unneeded {
        plans.cancel(access, plan.id).await?;
    }
    Ok(())
}

/// As many plans wait as may, and others have made them.
pub(super) fn too_many(visit: &Visit, title: &str) -> Response {
    let texts = visit.visitor.texts;
    let content = html! {
        (page::notice(NoticeKind::Error, &html! { p { (texts.too_many_plans) } }))
        p { a.button.primary href=(visit.visitor.address("/plans")) { (texts.bulk_changes) } }
    };
    page::page_with_status(visit, StatusCode::CONFLICT, Section::Stock, title, &content)
}

/// `GET /console/plans`: the latest changes of many ads.
pub(super) async fn list(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let plans = &stock(&visit)?.plans;
    let listed = plans.plans(&visit.caller.scope, Page { limit: PLANS, offset: 0 }).await?.rows;
    let mut names = Vec::new();
    for plan in &listed {
        let first = ChangeQuery { kind: None, outcome: None, source_id: None, page: Page { limit: 1, offset: 0 } };
        let found = plans.changes(&visit.caller.scope, plan.id, &first).await?.rows.into_iter().next();
        let Some(first) = found else {
            names.push(String::new());
            continue;
        };
        let is_sold = first.kind == ChangeKind::Hide
            && visit.visitor.console.database.is_sold_plan(plan.id).await.map_err(ServiceError::from)?;
        names.push(name(&visit, &first, is_sold));
    }
    let content = html! {
        div.heading { h1 { (texts.bulk_changes) } }
        div.panel #plans data-live {
            @if listed.is_empty() { p { (texts.no_bulk_changes) } }
            ul.plain {
                @for (plan, name) in listed.iter().zip(&names) {
                    li {
                        a href=(visit.visitor.address(&format!("/plan?id={}", plan.id))) { @if !name.is_empty() { (name) ", " } (page::time(plan.created)) }
                        " " (state(texts, plan)) " " (counts(texts, plan))
                    }
                }
            }
        }
    };
    Ok(page::page(&visit, Section::Stock, texts.bulk_changes, &content))
}

/// What a plan does, by its first change: all that the console makes change the same in each ad.
fn name(visit: &Visit, first: &PlannedChange, is_sold: bool) -> String {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    match first.line {
        Some(NO_LINE) => return texts.taken_back.to_owned(),
        Some(_) => return texts.plan_of_stock.to_owned(),
        None => {}
    }
    match (first.kind, first.details.fields.first()) {
        (ChangeKind::Hide, _) if is_sold => texts.mark_as_sold.to_owned(),
        (ChangeKind::Hide, _) => texts.hide_ad.to_owned(),
        (_, Some(field)) if field.pointer == "/visible" => texts.publish.to_owned(),
        (_, Some(field)) if field.pointer == "/price" => {
            let by = price_step(&field.from, &field.to).map_or_else(String::new, |by| format!(" ({by})"));
            format!("{}{by}", texts.change_price)
        }
        (_, Some(_)) => {
            let of = |pointer: &str| label(language, pointer.rsplit('/').next().unwrap_or_default()).to_owned();
            let names: Vec<_> = first.details.fields.iter().map(|field| of(&field.pointer)).collect();
            format!("{}: {}", texts.changed, names.join(", "))
        }
        (_, None) => String::new(),
    }
}

/// By how much the first price is higher or lower, about, as amounts may be rounded; `None`: by less than a percent.
fn price_step(from: &Value, to: &Value) -> Option<String> {
    let amount = |prices: &Value| prices.get(0)?.get("amount")?.as_f64().filter(|amount| *amount > 0.0);
    let percent = ((amount(to)? / amount(from)? - 1.0) * 100.0).round();
    let sign = if percent < 0.0 { "−" } else { "+" };
    (percent != 0.0).then(|| format!("≈ {sign}{} %", percent.abs()))
}

/// `GET /console/plan?id=…`: what changes in each ad, and how far it is.
pub(super) async fn one(visit: Visit) -> PageResult {
    let (texts, access) = (visit.visitor.texts, &visit.caller.scope);
    let plans = &stock(&visit)?.plans;
    let id = id(&visit)?;
    let plan = plans.plan(access, id).await?;
    let offset = visit.parameter("offset").and_then(|offset| offset.parse().ok()).unwrap_or_default();
    let page = Page { limit: SHOWN, offset };
    let kind = visit.parameter("kind").and_then(ChangeKind::from_name);
    let outcome = visit.parameter("outcome").and_then(ChangeOutcome::from_name);
    let changes = plans.changes(access, id, &ChangeQuery { kind, outcome, source_id: None, page }).await?;
    let ads = ads(&visit, &changes.rows).await?;
    let mut lowest = Vec::new();
    for change in &changes.rows {
        // Afterwards, the new price is one of those that count.
        let is_before = plan.state == PlanState::Ready;
        lowest.push(if is_before { lowest_price(&visit, change).await? } else { None });
    }
    let has_lowest = lowest.iter().any(Option::is_some);
    let lowest_cell = |lowest: &Option<String>| {
        if has_lowest {
            lowest_cell(texts, lowest.as_deref())
        } else {
            html! {}
        }
    };
    let rows = changes.rows.iter().zip(&ads).zip(lowest.iter().map(lowest_cell));
    let of = |name: &str| visit.parameter(name).map(|value| (name.to_owned(), value.to_owned()));
    let file: Vec<_> = of("file").into_iter().chain(of("dealer_code")).collect();
    let left = left_out::pairs(&visit);
    let linked: Vec<_> =
        [("id".to_owned(), id.to_string())].into_iter().chain(file.iter().cloned()).chain(left).collect();
    let paged: Vec<_> = linked.iter().cloned().chain(of("kind")).chain(of("outcome")).collect();
    let is_sold = visit.visitor.console.database.is_sold_plan(id).await.map_err(ServiceError::from)?;
    let is_taken_back = changes.rows.first().is_some_and(|change| change.line == Some(NO_LINE));
    let content = html! {
        div.heading {
            div {
                p.crumbs { a href=(visit.visitor.address("/stock")) { (texts.stock) } " › " a href=(visit.visitor.address("/plans")) { (texts.bulk_changes) } }
                h1 #title data-live { (heading(texts, &plan, is_taken_back)) }
            }
        }
        @if is_sold { p.lead { (texts.sold_all_does) } }
        div.panel #plan data-live="announced" { (summary(&visit, &plan, &file, is_sold)) }
        (left_out::shown(&visit))
        div.panel #changes data-live {
            (kinds(&visit, &plan, (kind, outcome), &linked))
            @if changes.rows.is_empty() && plan.state == PlanState::Ready { p { (texts.plan_nothing) } }
            div.scrolls.stacked tabindex="0" role="region" aria-label=(texts.changed) {
                table {
                    thead { tr {
                        th scope="col" { (texts.ad) } th scope="col" { (texts.changed) }
                        @if has_lowest { th scope="col" { (texts.lowest_30_days) } }
                        th scope="col" { (texts.status) }
                    } }
                    tbody { @for ((change, ad), lowest) in rows { (row(&visit, change, ad.as_ref(), &lowest)) } }
                }
            }
            (page::paging(&visit, "/plan", &paged, page, changes.rows.len(), Total::Exactly(changes.count)))
        }
    };
    Ok(page::page(&visit, Section::Stock, texts.preview_of_changes, &content))
}

/// `POST /console/plan?id=…`: applies or cancels it.
pub(super) async fn change(visit: Visit) -> PageResult {
    let (stock, access, id) = (stock(&visit)?, &visit.caller.scope, id(&visit)?);
    if visit.field("do") == Some("cancel") {
        stock.plans.cancel(access, id).await?;
    } else {
        let allowed = visit.field("allow_removals").and_then(|allowed| allowed.parse().ok());
        stock.plans.apply(access, id, allowed, &visit.origin()).await?;
        stock.due.notify_one();
    }
    Ok(visit.visitor.redirect(&visit.visitor.here))
}

pub(super) fn stock(visit: &Visit) -> Result<&StockApi, ApiError> {
    visit.visitor.context.stock.as_ref().ok_or_else(ApiError::unknown_path)
}

pub(super) fn id(visit: &Visit) -> Result<Uuid, ApiError> {
    let id = visit.parameter("id").and_then(|id| id.parse().ok());
    id.ok_or_else(|| StockPlanError::NotFound.into())
}

/// How far it is, with what can be done.
fn summary(visit: &Visit, plan: &StockPlan, file: &[(String, String)], is_sold: bool) -> Markup {
    let texts = visit.visitor.texts;
    let (invalid, wanted) = (sum(plan, ChangeKind::Invalid), wanted(plan));
    let action = visit.visitor.address(&address(plan.id, &left_out::pairs(visit)));
    let guard = plan.guard;
    html! {
        h2 data-under-way[plan.is_under_way()] { (state(texts, plan)) " " (counts(texts, plan)) }
        @if matches!(plan.state, PlanState::Applying | PlanState::Applied) {
            progress max=(wanted.max(1)) value=(plan.made() - plan.unfinished()) aria-label=(texts.progress) {}
        }
        @for error in &plan.errors {
            p {
                (number(error.count)) " " (if error.count == 1 { texts.ad_one } else { texts.ads }) ": "
                @if let Some(pointer) = &error.pointer { (name_of(visit, pointer)) ": " }
                @match by_code(error.code, None, visit.visitor.language) {
                    Some(text) => (text),
                    None => span lang="en" { (error.detail) },
                }
            }
        }
        @if !file.is_empty() && (invalid > 0 || plan.state == PlanState::Refused) { p.help { (texts.plan_invalid_stay) } }
        @if plan.state == PlanState::Ready && !file.is_empty() && sum(plan, ChangeKind::Create) > 0 { p { strong { (texts.plan_publishes) } } }
        @if plan.state == PlanState::Ready && wanted > 0 {
            form method="post" action=(action) {
                @if guard.exceeded {
                    label.choice {
                        input type="checkbox" name="allow_removals" value=(guard.removals) required;
                        " " (texts.many_are_hidden) " " (number(guard.removals))
                    }
                }
                div.actions {
                    button.primary name="do" value="apply" { (if is_sold { texts.mark_as_sold } else { texts.apply_changes }) }
                    @if !file.is_empty() { (columns_link(visit, file)) }
                    button name="do" value="cancel" formnovalidate { (texts.cancel) }
                }
            }
        }
        @let changes_nothing = plan.state == PlanState::Ready && wanted == 0;
        @if !file.is_empty() && (plan.state == PlanState::Refused || changes_nothing) {
            p.actions { (columns_link(visit, file)) }
        }
        @if changes_nothing {
            form.actions method="post" action=(action) {
                button name="do" value="cancel" { (texts.plan_close) }
            }
        }
        @if !is_sold && can_be_taken_back(plan) {
            form.actions method="post" action=(visit.visitor.address(&format!("/plan/take-back?id={}", plan.id))) {
                button { (texts.take_back) "…" }
                span.help { (texts.take_back_does) }
            }
        }
        @if plan.state == PlanState::Applying {
            form.actions method="post" action=(action) {
                button name="do" value="cancel" { (texts.stop) }
            }
        }
    }
}

/// The page of a plan, with further parameters.
fn address(id: Uuid, pairs: &[(String, String)]) -> String {
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("id", &id.to_string()).extend_pairs(pairs).finish();
    format!("/plan?{query}")
}

/// The number of ads that a plan changes.
fn wanted(plan: &StockPlan) -> u64 {
    ChangeKind::PHASES.into_iter().flatten().map(|kind| sum(plan, *kind)).sum()
}

/// Whether a plan was made and has changed ads that were there, not too many for one request.
pub(super) fn can_be_taken_back(plan: &StockPlan) -> bool {
    let changed = sum(plan, ChangeKind::Update) + sum(plan, ChangeKind::Hide);
    let done = ended(plan, ChangeOutcome::Done) + ended(plan, ChangeOutcome::Failed);
    plan.state == PlanState::Applied && plan.unfinished() == 0 && changed > 0 && (1..=MOST_TAKEN_BACK).contains(&done)
}

/// What may be a mistake about new prices: another kind of them, or one that is far from what it was.
fn doubt(texts: &Texts, from: &Value, to: &Value) -> Option<String> {
    let prices = |of: &Value| -> Vec<(String, f64)> {
        let price = |price: &Value| Some((price.get("type")?.as_str()?.to_owned(), price.get("amount")?.as_f64()?));
        of.as_array().into_iter().flatten().filter_map(price).collect()
    };
    let (before, after) = (prices(from), prices(to));
    let same_kind = |(kind, now): &(String, f64)| Some((before.iter().find(|(it, _)| it == kind)?.1, *now));
    let pairs: Vec<_> = after.iter().filter_map(same_kind).collect();
    if pairs.is_empty() {
        return (!before.is_empty() && !after.is_empty()).then(|| format!("{}.", texts.other_kind_of_price));
    }
    let (was, is) = pairs.into_iter().find(|(was, is)| *was > 0.0 && is_far(*was, *is))?;
    let how = if is < was { texts.much_lower } else { texts.much_higher };
    Some(format!("{:.0} % {how}", (is / was - 1.0).abs() * 100.0))
}

/// The way back to the columns of the file that a plan is of.
fn columns_link(visit: &Visit, file: &[(String, String)]) -> Markup {
    let renamed = file.iter().map(|(name, value)| (if name == "file" { "id" } else { name }, value));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(renamed).finish();
    html! { a.button href=(visit.visitor.address(&format!("/import/columns?{query}"))) { (visit.visitor.texts.plan_columns) } }
}

/// The number of changes of a kind.
fn sum(plan: &StockPlan, kind: ChangeKind) -> u64 {
    let of = |counts: &ChangeCounts| match kind {
        ChangeKind::Create => counts.create,
        ChangeKind::Update => counts.update,
        ChangeKind::Revive => counts.revive,
        ChangeKind::Unchanged => counts.unchanged,
        ChangeKind::Hide => counts.hide,
        ChangeKind::Delete => counts.delete,
        ChangeKind::Invalid => counts.invalid,
    };
    plan.dealers.iter().map(|dealer| of(&dealer.counts)).sum()
}

/// The kinds of changes, in the order in which they are told.
const KINDS: [(ChangeKind, Text); 7] = [
    (ChangeKind::Create, |texts| texts.plan_create),
    (ChangeKind::Update, |texts| texts.plan_update),
    (ChangeKind::Revive, |texts| texts.plan_revive),
    (ChangeKind::Hide, |texts| texts.plan_hide),
    (ChangeKind::Delete, |texts| texts.plan_delete),
    (ChangeKind::Unchanged, |texts| texts.plan_unchanged),
    (ChangeKind::Invalid, |texts| texts.plan_invalid),
];

/// Links to the changes of each kind, if there are several kinds, and to those that others or a failure have left as they were.
fn kinds(
    visit: &Visit,
    plan: &StockPlan,
    shown: (Option<ChangeKind>, Option<ChangeOutcome>),
    linked: &[(String, String)],
) -> Markup {
    let texts = visit.visitor.texts;
    // Ads that stay as they are are counted only.
    let listed = KINDS.iter().filter(|(kind, _)| *kind != ChangeKind::Unchanged && sum(plan, *kind) > 0);
    let listed: Vec<_> = listed.map(|(kind, text)| (*kind, sum(plan, *kind), text(texts))).collect();
    let left = [(ChangeOutcome::Failed, texts.plan_failed), (ChangeOutcome::Conflict, texts.plan_conflict)];
    let left = left.map(|(outcome, text)| (outcome, ended(plan, outcome), text));
    let left: Vec<_> = left.into_iter().filter(|(_, count, _)| *count > 0).collect();
    let link = |by: Option<(&str, &str)>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(linked);
        query.extend_pairs(by);
        visit.visitor.address(&format!("/plan?{}", query.finish()))
    };
    let current = |is: bool| is.then_some("true");
    html! {
        @if listed.len() > 1 || !left.is_empty() {
            nav.actions aria-label=(texts.changed) {
                a.button href=(link(None)) aria-current=[current(shown == (None, None))] { (texts.plan_of_all) }
                @for (kind, count, text) in listed {
                    a.button href=(link(Some(("kind", kind.name())))) aria-current=[current(shown.0 == Some(kind))] { (number(count)) " " (text) }
                }
                @for (outcome, count, text) in left {
                    a.button href=(link(Some(("outcome", outcome.name())))) aria-current=[current(shown.1 == Some(outcome))] { (number(count)) " " (text) }
                }
            }
        }
        @if sum(plan, ChangeKind::Unchanged) > 0 { p.help { (texts.plan_unchanged_why) } }
    }
}

/// The number of changes with an outcome.
fn ended(plan: &StockPlan, outcome: ChangeOutcome) -> u64 {
    let of = |mut outcomes: OutcomeCounts| *outcomes.of(outcome);
    plan.dealers.iter().map(|dealer| of(dealer.outcomes)).sum()
}

/// What the changes of a plan are: to be made, made, or dropped.
fn heading(texts: &Texts, plan: &StockPlan, is_taken_back: bool) -> &'static str {
    match plan.state {
        PlanState::Cancelled | PlanState::Expired if ended(plan, ChangeOutcome::Done) == 0 => texts.nothing_was_changed,
        PlanState::Applied | PlanState::Cancelled if is_taken_back => texts.taken_back,
        PlanState::Applied | PlanState::Cancelled => texts.changes_made,
        _ if is_taken_back => texts.take_back,
        _ => texts.preview_of_changes,
    }
}

/// How far a plan is, in a coloured word.
fn state(texts: &Texts, plan: &StockPlan) -> Markup {
    let left = ended(plan, ChangeOutcome::Failed) + ended(plan, ChangeOutcome::Conflict);
    let (class, text) = match plan.state {
        PlanState::Computing => ("under-way", texts.plan_computing),
        PlanState::Ready => ("attention", texts.plan_ready),
        PlanState::Refused => ("failure", texts.refused),
        PlanState::Applying => ("under-way", texts.plan_applying),
        PlanState::Applied if plan.unfinished() > 0 => ("under-way", texts.plan_applying),
        PlanState::Applied if left > 0 => ("attention", texts.plan_partly),
        PlanState::Applied => ("well", texts.done),
        PlanState::Cancelled => ("at-rest", texts.plan_cancelled),
        PlanState::Expired => ("at-rest", texts.expired),
    };
    html! { span class={ "badge " (class) } { (text) } }
}

/// How many ads change, stay, or have failed.
fn counts(texts: &Texts, plan: &StockPlan) -> Markup {
    // Once all is done, its outcomes say it.
    let is_told = |kind: ChangeKind| {
        plan.state != PlanState::Applied || matches!(kind, ChangeKind::Unchanged | ChangeKind::Invalid)
    };
    let planned = KINDS.iter().filter(|(kind, _)| is_told(*kind)).map(|(kind, text)| (sum(plan, *kind), text(texts)));
    let counted = planned.chain([
        (ended(plan, ChangeOutcome::Done), texts.plan_done),
        (ended(plan, ChangeOutcome::Failed), texts.plan_failed),
        (ended(plan, ChangeOutcome::Conflict), texts.plan_conflict),
    ]);
    let parts: Vec<_> =
        counted.filter(|(count, _)| *count > 0).map(|(count, text)| format!("{} {text}", number(count))).collect();
    html! { span.faint { (parts.join(", ")) } }
}

/// The ads of changes, as far as they are stored.
pub(super) async fn ads(visit: &Visit, changes: &[PlannedChange]) -> Result<Vec<Option<Ad>>, ApiError> {
    let ids: Vec<_> = changes.iter().filter_map(|change| change.source_id.clone()).collect();
    if ids.is_empty() {
        return Ok(changes.iter().map(|_| None).collect());
    }
    let filters = [AdFilter::SourceId(ids)];
    let query = AdQuery { page: Page { limit: 2 * SHOWN, offset: 0 }, ..AdQuery::oldest_first(&filters) };
    let ads = visit.visitor.context.service.list(&visit.caller.scope, None, query).await?.rows;
    let of = |change: &PlannedChange| {
        let is_its = |ad: &Ad| {
            Some(&ad.source_id) == change.source_id.as_ref() && Some(&ad.dealer_code) == change.dealer_code.as_ref()
        };
        ads.iter().map(|listed| &listed.ad).find(|ad| is_its(ad)).cloned()
    };
    Ok(changes.iter().map(of).collect())
}

/// The title and plate of the ad of a change, or else its source id.
fn title(change: &PlannedChange, ad: Option<&Ad>) -> String {
    let new = |pointer: &str| details_of(change, pointer).and_then(Value::as_str);
    let (title, plate) = match ad {
        Some(ad) => (Some(show::title(ad)), ad.content.registration_number()),
        None => {
            (new("/title").or(change.source_id.as_deref()), new("/category_fields/registration_number").map(Cow::from))
        }
    };
    let title = title.unwrap_or_default();
    plate.map_or_else(|| title.to_owned(), |plate| format!("{title} · {plate}"))
}

/// The lowest price of the last 30 days, with which the law has a reduction compared, for a change of prices.
async fn lowest_price(visit: &Visit, change: &PlannedChange) -> Result<Option<String>, ApiError> {
    let (Some(source_id), true) =
        (&change.source_id, change.kind != ChangeKind::Create && details_of(change, "/price").is_some())
    else {
        return Ok(None);
    };
    let target = Target::from(source_id).of_dealer(change.dealer_code.as_deref());
    let history = visit.visitor.context.service.prices(&visit.caller.scope, target).await?;
    let lowest = history.lowest_30_days;
    Ok(lowest.map(|price| show::amount(visit.visitor.texts, &price.amount, &price.currency)))
}

/// The cell of the lowest price of 30 days.
fn lowest_cell(texts: &Texts, lowest: Option<&str>) -> Markup {
    html! { td.number.nothing[lowest.is_none()] data-name=(texts.lowest_30_days) { (lowest.unwrap_or("–")) } }
}

/// A row of the table, with the cell of the lowest price if the table has that column.
fn row(visit: &Visit, change: &PlannedChange, ad: Option<&Ad>, lowest: &Markup) -> Markup {
    let texts = visit.visitor.texts;
    let title = title(change, ad);
    let brand = change.details.fields.iter().find(|field| field.pointer == "/category_fields/brand");
    let value = |pointer: &str, brand: Option<&Value>, of: &Value| value(visit, change, ad, brand, pointer, of);
    let (source_id, dealer) =
        (change.source_id.as_deref().unwrap_or_default(), change.dealer_code.as_deref().unwrap_or_default());
    html! {
        tr {
            th.title scope="row" {
                @if is_stored(change) {
                    a href=(visit.visitor.address(&format!("/ad?{}", AdKey::query(source_id, dealer)))) { (title) }
                } @else {
                    (title)
                }
                @if let Some(line) = change.line.filter(|line| *line != NO_LINE) { br; span.faint { (texts.plan_row) " " (number(line)) } }
            }
            td {
                @match change.kind {
                    ChangeKind::Unchanged => span.faint { (texts.plan_unchanged) },
                    ChangeKind::Create => {
                        (new_ad(visit, change))
                        @if let Some(other) = &change.details.links_to { p { (texts.plan_same_plate) " " (other) } }
                    },
                    ChangeKind::Invalid => ul.plain { @for error in &change.details.errors { li.field-error { (wrong(visit, change, error)) } } },
                    _ => @for field in &change.details.fields {
                        p { (label(visit.visitor.language, field.pointer.rsplit('/').next().unwrap_or_default())) ": " (value(&field.pointer, brand.map(|brand| &brand.from), &field.from)) " → " strong { (value(&field.pointer, brand.map(|brand| &brand.to), &field.to)) } }
                        @if field.pointer == "/price" && change.outcome.is_none() && let Some(doubt) = doubt(texts, &field.from, &field.to) { p.to-check { (doubt) } }
                    },
                }
            }
            (lowest)
            td.nothing[change.outcome.is_none()] {
                @match change.outcome {
                    None => "–",
                    Some(ChangeOutcome::Accepted) => span.badge.under-way { (texts.status_processing) },
                    Some(ChangeOutcome::Done) => span.badge.well { (texts.done) },
                    Some(ChangeOutcome::Conflict) => span.badge.attention { (texts.plan_conflict_one) },
                    Some(ChangeOutcome::Failed) => span.badge.failure { (texts.status_failed) },
                }
                @if let Some(code) = change.code { " " (texts.failure(code)) }
            }
        }
    }
}

/// The value that a field of a change is to have.
fn details_of<'a>(change: &'a PlannedChange, pointer: &str) -> Option<&'a Value> {
    change.details.fields.iter().find(|field| field.pointer == pointer).map(|field| &field.to)
}

/// Whether a change is about an ad that can be looked at.
fn is_stored(change: &PlannedChange) -> bool {
    match change.kind {
        ChangeKind::Create => change.outcome == Some(ChangeOutcome::Done),
        // Of a row that cannot be used, it is not known.
        ChangeKind::Invalid => change.line.is_none(),
        _ => true,
    }
}

/// The field of a pointer in the words of a seller.
fn name_of(visit: &Visit, pointer: &str) -> String {
    let texts = visit.visitor.texts;
    let is_name = |part: &&str| !matches!(*part, "value" | "unit") && part.parse::<u64>().is_err();
    match pointer.rsplit('/').find(is_name).unwrap_or_default() {
        "" => texts.plan_row.to_owned(),
        "category_id" => texts.vehicle_type.to_owned(),
        "price" | "amount" | "list" => texts.price.to_owned(),
        name => label(visit.visitor.language, name).to_owned(),
    }
}

/// What is wrong with a row of a file, or with an ad.
fn wrong(visit: &Visit, change: &PlannedChange, error: &ChangeError) -> Markup {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let sent = details_of(change, &error.pointer).and_then(Value::as_str);
    html! {
        @if !error.pointer.is_empty() { (name_of(visit, &error.pointer)) ": " }
        @match (sent, by_code(error.code, error.rule.as_deref(), language)) {
            (Some(sent), _) => {
                (language.pick("“", "”")) span data-foreign { (sent) } "” "
                (if error.code == Code::DuplicateItem { texts.in_another_row } else { texts.cannot_be_read })
            },
            (None, Some(text)) => (text),
            (None, None) => span lang="en" { (error.detail) },
        }
    }
}

/// A value before or after a change, in the words of the pages.
fn value(
    visit: &Visit,
    change: &PlannedChange,
    ad: Option<&Ad>,
    brand: Option<&Value>,
    pointer: &str,
    of: &Value,
) -> Markup {
    if pointer == "/price" {
        return price(visit, change, of);
    }
    html! { (show::value(visit, ad, brand, &path_of(pointer), of)) }
}

fn path_of(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// Prices in short, those without a currency in the dealer's.
fn price(visit: &Visit, change: &PlannedChange, prices: &Value) -> Markup {
    let mut prices = prices.clone();
    if let Some(Ok(dealer)) = change.dealer_code.as_deref().map(|code| dealer(visit, Some(code))) {
        for price in prices.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            price.entry("currency").or_insert_with(|| dealer.currency.clone().into());
        }
    }
    show::price(visit.visitor.texts, &Content::from(Map::from_iter([("price".to_owned(), prices)])))
}

/// What a new ad has: what people look for first, and the rest on demand.
fn new_ad(visit: &Visit, change: &PlannedChange) -> Markup {
    const FIRST: [&str; 3] = ["/price", "/category_fields/model_year", "/category_fields/condition/mileage"];
    // These are in the name of the ad.
    const NAMED: [&str; 2] = ["/title", "/category_fields/registration_number"];
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let category = details_of(change, "/category_id").and_then(categories::sent_id).and_then(categories::by_id);
    let brand = details_of(change, "/category_fields/brand").and_then(Value::as_str).unwrap_or_default();
    let said = |pointer: &str, of: &Value| match (pointer, category) {
        ("/price", _) => price(visit, change, of),
        ("/category_id", Some(category)) => html! { (named(language, category.name)) },
        _ => html! { (show::value_of(visit, (category, brand), &path_of(pointer), of)) },
    };
    let first = FIRST.into_iter().filter_map(|pointer| Some(said(pointer, details_of(change, pointer)?)));
    let is_rest = |pointer: &str| ![&FIRST[..], &NAMED].concat().contains(&pointer);
    let fields = change.details.fields.iter().map(|field| (&*field.pointer, field.to.clone()));
    // The first one of several prices is not all.
    let prices = details_of(change, "/price").and_then(Value::as_array).filter(|prices| prices.len() > 1);
    let prices = prices.into_iter().flatten().map(|price| ("/price", Value::from(vec![price.clone()])));
    let rest: Vec<_> = fields.filter(|(pointer, _)| is_rest(pointer)).chain(prices).collect();
    html! {
        span.badge.well { (texts.plan_new_ad) }
        @for (at, value) in first.enumerate() { (if at == 0 { " " } else { " · " }) (value) }
        @if !rest.is_empty() {
            details id={ "new-" (change.n) } {
                summary { (texts.details) }
                dl { @for (pointer, of) in &rest { dt { (name_of(visit, pointer)) } dd { (said(pointer, of)) } } }
            }
        }
    }
}

/// Whether plans can be made.
pub(super) fn is_there(visit: &Visit) -> bool {
    visit.visitor.context.stock.is_some() && visit.caller.scope != Access::Operator
}
