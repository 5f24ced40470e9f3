//! Promotion schedules: a calendar of the next two weeks with what they cost, the schedules, each with what its next run would do and what
//! its runs did, and the form of a schedule.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use ad_core::{
    model::{
        Amount, LastDay, MOST_AT_ONCE, Page, Promotion, PromotionPreview, PromotionRules, PromotionRun, TimeOfDay,
        Timestamp,
    },
    ports::PageOf,
};
use futures_util::{StreamExt, stream};
use maud::{Markup, html};
use serde_json::{Map, Value};
use tokio::time::timeout;
use uuid::Uuid;

use super::{
    named::{NamedAds, cost, date, money, not_promoted},
    page::{self, NoticeKind, Section, Total, number},
    schedule_words::{summary, weekday},
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, PromotionApi};
use ad_server_access::auth::Permission;

/// Schedules of a page.
const ROWS: u32 = 10;

/// Runs of a page.
const RUNS: u32 = 10;

/// Ads of a preview, or of a run that is under way, that are shown, and of an ended run those with their titles.
const ADS: usize = 25;

/// Days of the calendar.
const DAYS: usize = 14;

/// Time for the previews of all schedules of a page. Of those that are not done by then, the page says what they do at most.
const PREVIEWS_WITHIN: Duration = Duration::from_secs(2);

/// Previews that are computed at once.
const AT_ONCE: usize = 4;

/// The use cases of schedules.
pub(super) fn api(visit: &Visit) -> Result<&PromotionApi, ApiError> {
    visit.visitor.context.promotions.as_ref().ok_or_else(ApiError::unknown_path)
}

/// The schedule that a page is about.
pub(super) fn id(visit: &Visit) -> Option<Uuid> {
    visit.parameter("id").and_then(|id| id.parse().ok())
}

fn wanted(visit: &Visit) -> Result<Uuid, ApiError> {
    id(visit).ok_or_else(|| ad_core::service::PromotionError::NotFound.into())
}

/// `GET /console/schedules`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let page = Page { limit: ROWS, offset: page::offset(&visit) };
    let found = api(&visit)?.promotions.promotions(&visit.caller.scope, page).await?;
    let PageOf { count, rows } = &found;
    let previews = previews(&visit, rows).await?;
    let content = html! {
        div.heading {
            h1 { (texts.schedules) }
            @if visit.may(Permission::Promote) { a.button.primary href=(visitor.address("/schedule/edit")) { (texts.new_schedule) } }
        }
        p.lead { (texts.schedules_lead) }
        (done(&visit))
        @if rows.is_empty() {
            div.panel { p { (texts.no_schedules) } }
        } @else {
            section.panel aria-labelledby="calendar-heading" { (calendar(&visit, rows, &previews)) }
            section aria-labelledby="list-heading" {
                h2 #list-heading { (texts.schedules) " (" (number(*count)) ")" }
                @for schedule in rows {
                    div.panel { (one_of_list(&visit, schedule, previews.get(&schedule.id))) }
                }
                (page::paging(&visit, "/schedules", &visit.query, page, rows.len(), Total::Exactly(*count)))
            }
        }
    };
    Ok(page::page(&visit, Section::Schedules, texts.schedules, &content))
}

fn done(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let said = match visit.parameter("done") {
        Some("saved") => texts.schedule_saved,
        Some("pause") => texts.schedule_changed,
        Some("resume") => texts.schedule_resumed,
        Some("deleted") => texts.schedule_deleted,
        Some("ordered") => texts.bumps_ordered,
        _ => return html! {},
    };
    page::notice(NoticeKind::Success, &html! { p { (said) } })
}

/// What the next runs of schedules would do now, as far as there is time to find out.
async fn previews(visit: &Visit, schedules: &[Promotion]) -> Result<HashMap<Uuid, PromotionPreview>, ApiError> {
    let (promotions, scope) = (&api(visit)?.promotions, &visit.caller.scope);
    let mut previews = HashMap::new();
    let due: Vec<_> =
        schedules.iter().filter(|schedule| schedule.next_run.is_some()).map(|schedule| schedule.id).collect();
    let compute = async {
        let preview = |id: Uuid| async move { Ok::<_, ApiError>((id, promotions.preview(scope, id).await?)) };
        let mut computed = stream::iter(due).map(preview).buffer_unordered(AT_ONCE);
        while let Some(preview) = computed.next().await {
            previews.extend([preview?]);
        }
        Ok(())
    };
    let result: Result<Result<(), ApiError>, _> = timeout(PREVIEWS_WITHIN, compute).await;
    result.unwrap_or(Ok(()))?;
    Ok(previews)
}

/// A run on the calendar.
struct PlannedRun<'a> {
    at: String,
    schedule: &'a Promotion,
    preview: Option<&'a PromotionPreview>,
}

/// A time by the clock of a schedule, such as `3 December 2026 08:00`. The script leaves out which clock that is where it is the browser's.
fn at(visit: &Visit, rules: &PromotionRules, time: Timestamp) -> Markup {
    let zone = rules.time_zone();
    let day = LastDay::of(time, &zone).to_string();
    let day = date(visit.visitor.language, &day).unwrap_or(day);
    let place = rules.zone.rsplit('/').next().unwrap_or_default().replace('_', " ");
    html! {
        span { (day) " " (TimeOfDay::of(time, &zone)) }
        span.faint data-clock=(rules.zone) { " (" (visit.visitor.texts.clock_of) " " (place) ")" }
    }
}

/// The time of day of a run in the time zone of its schedule.
fn time_of_day(schedule: &Promotion) -> String {
    schedule.rules.at.to_string()
}

/// The runs of the next two weeks by day, each with the number of its ads and its cost, if all stays as it is now.
fn calendar(visit: &Visit, schedules: &[Promotion], previews: &HashMap<Uuid, PromotionPreview>) -> Markup {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let zone = schedules[0].rules.time_zone();
    let days: Vec<_> =
        std::iter::successors(Some(LastDay::of(now, &zone)), |day| Some(day.next())).take(DAYS).collect();
    let mut runs = BTreeMap::<LastDay, Vec<PlannedRun<'_>>>::new();
    let mut sums = BTreeMap::<&str, Amount>::new();
    for schedule in schedules {
        let zone = schedule.rules.time_zone();
        let preview = previews.get(&schedule.id);
        let upcoming =
            std::iter::successors(schedule.next_run, |run: &Timestamp| schedule.rules.next_run(*run)).take(DAYS + 1);
        for day in upcoming.map(|run| LastDay::of(run, &zone)).filter(|day| days.contains(day)) {
            runs.entry(day).or_default().push(PlannedRun { at: time_of_day(schedule), schedule, preview });
            if let Some((preview, cost)) = preview.and_then(|preview| Some((preview, preview.cost?))) {
                let sum = sums.entry(&preview.currency).or_default();
                *sum = *sum + cost;
            }
        }
    }
    for of_day in runs.values_mut() {
        of_day.sort_by(|one, other| one.at.cmp(&other.at));
    }
    html! {
        h2 #calendar-heading { (texts.next_two_weeks) }
        p {
            @for (currency, sum) in &sums { strong { (money(visit.visitor.language, *sum, currency)) } " " }
            (texts.if_nothing_changes)
        }
        ol.calendar {
            @for day in &days {
                @let of_day = runs.get(day);
                li class=[of_day.is_none().then_some("empty")] {
                    h3 { (weekday(texts, day.weekday())) " " (short(*day)) }
                    @if let Some(of_day) = of_day {
                        ul { @for run in of_day { li { (planned(visit, run)) } } }
                    }
                }
            }
        }
    }
}

/// Day and month, such as `30/11`.
fn short(day: LastDay) -> String {
    let text = day.to_string();
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().trim_start_matches('0').to_owned();
    format!("{}/{}", part(8..10), part(5..7))
}

fn planned(visit: &Visit, run: &PlannedRun<'_>) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        a href=(address(visit, run.schedule.id)) { (run.at) " " (super::account::kind_of(visit, run.schedule.rules.kind)) }
        br;
        @match run.preview {
            Some(preview) => { (number(preview.promoted.len() as u64)) " " (ads(visit, preview.promoted.len())) ", " (cost(visit, preview.cost, &preview.currency)) }
            None => { (texts.at_most) " " (number(run.schedule.rules.most_per_run.into())) " " (texts.ads) }
        }
    }
}

fn ads(visit: &Visit, count: usize) -> &'static str {
    if count == 1 { visit.visitor.texts.ad_one } else { visit.visitor.texts.ads }
}

pub(super) fn address(visit: &Visit, id: Uuid) -> String {
    visit.visitor.address(&format!("/schedule?id={id}"))
}

fn one_of_list(visit: &Visit, schedule: &Promotion, preview: Option<&PromotionPreview>) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.heading {
            h3 { a href=(address(visit, schedule.id)) { (summary(visit, schedule)) } }
            (state(visit, schedule))
        }
        @if let (Some(next), Some(preview)) = (schedule.next_run, preview) {
            p { (texts.next_run) " " (at(visit, &schedule.rules, next)) ": " (number(preview.promoted.len() as u64)) " " (ads(visit, preview.promoted.len())) ", " (cost(visit, preview.cost, &preview.currency)) }
        } @else if let Some(next) = schedule.next_run {
            p { (texts.next_run) " " (at(visit, &schedule.rules, next)) }
        }
        (actions(visit, schedule))
    }
}

fn state(visit: &Visit, schedule: &Promotion) -> Markup {
    let texts = visit.visitor.texts;
    let (class, text) = match (schedule.paused, schedule.next_run) {
        (true, _) => ("attention", texts.schedule_paused),
        (false, Some(_)) => ("well", texts.schedule_runs),
        (false, None) => ("at-rest", texts.schedule_over),
    };
    html! { span class={ "badge " (class) } { (text) } }
}

/// What the visitor may do with a schedule.
fn actions(visit: &Visit, schedule: &Promotion) -> Markup {
    let texts = visit.visitor.texts;
    let name = summary(visit, schedule);
    let button = |what: &str, text: &str, class: &str| {
        html! {
            form method="post" action=(address(visit, schedule.id)) {
                button class=(class) name="do" value=(what) aria-label={ (text) ": " (name) } { (text) }
            }
        }
    };
    html! {
        @if visit.may(Permission::Promote) {
            div.actions {
                a.button href=(visit.visitor.address(&format!("/schedule/edit?id={}", schedule.id))) aria-label={ (texts.change) ": " (name) } { (texts.change) }
                @if schedule.paused { (button("resume", texts.resume_schedule, "")) } @else { (button("pause", texts.pause, "")) }
                (button("delete", texts.delete_schedule, "danger"))
            }
        }
    }
}

/// `GET /console/schedule?id=…`: a schedule, what its next run would do, and what its runs did.
pub(super) async fn one(visit: Visit) -> PageResult {
    let (visitor, texts, scope) = (&visit.visitor, visit.visitor.texts, &visit.caller.scope);
    let (id, promotions) = (wanted(&visit)?, &api(&visit)?.promotions);
    let schedule = promotions.promotion(scope, id).await?;
    let preview = match schedule.next_run {
        Some(_) => Some(promotions.preview(scope, id).await?),
        None => None,
    };
    let page = Page { limit: RUNS, offset: page::offset(&visit) };
    let runs = promotions.runs(scope, id, page).await?;
    let names = NamedAds::read(&visit, shown_ads(&schedule.dealer_code, preview.as_ref(), &runs.rows)).await?;
    let content = html! {
        div.heading {
            div {
                p.crumbs { a href=(visitor.address("/schedules")) { (texts.schedules) } }
                h1 { (summary(&visit, &schedule)) }
            }
            (state(&visit, &schedule))
        }
        (done(&visit))
        (actions(&visit, &schedule))
        @if let Some(preview) = &preview { (previewed(&visit, &schedule, preview, &names)) }
        section.panel #runs data-live aria-labelledby="runs-heading" {
            @let is_under_way = runs.rows.iter().any(|run| run.ended.is_none()) || schedule.is_once() && schedule.next_run.is_some();
            h2 #runs-heading data-under-way[is_under_way] { (texts.runs) }
            @if runs.rows.is_empty() { p { (texts.no_runs) } }
            ol.plain { @for run in &runs.rows { li { (ran(&visit, &schedule, run, &names)) } } }
            (page::paging(&visit, "/schedule", &visit.query, page, runs.rows.len(), Total::Exactly(runs.count)))
        }
    };
    Ok(page::page(&visit, Section::Schedules, texts.schedules, &content))
}

/// The ads of a preview and of runs that are shown, by dealer code and source id.
fn shown_ads(
    dealer_code: &str,
    preview: Option<&PromotionPreview>,
    runs: &[PromotionRun],
) -> BTreeSet<(String, String)> {
    let mut ids = BTreeSet::new();
    if let Some(preview) = preview {
        ids.extend(preview.promoted.iter().map(|ad| &ad.source_id).take(ADS));
        ids.extend(preview.skipped.iter().map(|ad| &ad.source_id).take(ADS));
    }
    for run in runs {
        ids.extend(run.promoted.iter().map(|ad| &ad.source_id).take(ADS));
        ids.extend(run.skipped.iter().map(|ad| &ad.source_id).take(ADS));
    }
    ids.into_iter().map(|source_id| (dealer_code.to_owned(), source_id.clone())).collect()
}

/// The names of the ads of a preview.
pub(super) async fn names_of_preview(
    visit: &Visit,
    dealer_code: &str,
    preview: &PromotionPreview,
) -> Result<NamedAds, ApiError> {
    NamedAds::read(visit, shown_ads(dealer_code, Some(preview), &[])).await
}

/// What the next run would do now, and what that would cost.
pub(super) fn previewed(visit: &Visit, schedule: &Promotion, preview: &PromotionPreview, names: &NamedAds) -> Markup {
    let (texts, dealer_code) = (visit.visitor.texts, &schedule.dealer_code);
    let promoted = preview.promoted.iter().map(|ad| (ad.source_id.as_str(), ad.cost));
    let skipped = preview.skipped.iter().map(|ad| (ad.source_id.as_str(), ad.code));
    html! {
        section.panel #preview aria-labelledby="preview-heading" {
            h2 #preview-heading { (texts.next_run) @if let Some(due) = preview.due { " " (at(visit, &schedule.rules, due)) } }
            p {
                strong.count { (cost(visit, preview.cost, &preview.currency)) }
                " " (texts.for_ads) " " (number(preview.promoted.len() as u64)) " " (ads(visit, preview.promoted.len())) ". " (texts.if_nothing_changes)
            }
            @if preview.due.is_none() { p { (texts.schedule_over_means) } }
            (listed(visit, dealer_code, promoted.map(|(id, amount)| (id, cost(visit, amount, &preview.currency))), preview.promoted.len(), names, ADS))
            (skipped_list(visit, dealer_code, skipped, preview.skipped.len(), names, ADS))
        }
    }
}

fn listed<'a>(
    visit: &Visit,
    dealer_code: &str,
    ads: impl Iterator<Item = (&'a str, String)>,
    count: usize,
    names: &NamedAds,
    most: usize,
) -> Markup {
    html! {
        @if count > 0 {
            ol { @for (source_id, text) in ads.take(most) { li { (names.link(visit, dealer_code, source_id)) " " span.faint { (text) } } } }
            (more(visit, count, most))
        }
    }
}

fn more(visit: &Visit, count: usize, most: usize) -> Markup {
    html! { @if count > most { p.help { (visit.visitor.texts.and_more) " " (number((count - most) as u64)) } } }
}

fn skipped_list<'a>(
    visit: &Visit,
    dealer_code: &str,
    skipped: impl Iterator<Item = (&'a str, ad_core::violation::Code)>,
    count: usize,
    names: &NamedAds,
    most: usize,
) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        @if count > 0 {
            details open[count <= 5] {
                summary { (texts.skipped) ": " (number(count as u64)) }
                ul { @for (source_id, code) in skipped.take(most) { li { (names.link(visit, dealer_code, source_id)) ": " (not_promoted(texts, code)) } } }
                (more(visit, count, most))
            }
        }
    }
}

fn ran(visit: &Visit, schedule: &Promotion, run: &PromotionRun, names: &NamedAds) -> Markup {
    let (texts, dealer_code) = (visit.visitor.texts, &schedule.dealer_code);
    let (promoted, skipped) = (run.promoted.len(), run.skipped.len());
    // Once it has ended, the others by their ids: the page is not sent again and again then.
    let most = if run.ended.is_some() { MOST_AT_ONCE as usize } else { ADS };
    let of_promoted = run.promoted.iter().map(|ad| (ad.source_id.as_str(), cost(visit, ad.cost, &run.currency)));
    html! {
        p {
            strong { (at(visit, &schedule.rules, run.due)) } " " (number(promoted as u64)) " " (ads(visit, promoted)) ", " (cost(visit, run.cost, &run.currency))
            @if run.ended.is_none() { " " span.badge.under-way { (texts.under_way) } }
        }
        @if promoted > 0 {
            details { summary { (texts.promoted) ": " (number(promoted as u64)) } (listed(visit, dealer_code, of_promoted, promoted, names, most)) }
        }
        (skipped_list(visit, dealer_code, run.skipped.iter().map(|ad| (ad.source_id.as_str(), ad.code)), skipped, names, most))
    }
}

/// `POST /console/schedule?id=…`: pauses, resumes or deletes a schedule.
pub(super) async fn change(visit: Visit) -> PageResult {
    let (id, promotions, scope) = (wanted(&visit)?, &api(&visit)?.promotions, &visit.caller.scope);
    let sent = |paused: bool| Map::from_iter([("paused".to_owned(), Value::Bool(paused))]);
    match visit.field("do").unwrap_or_default() {
        "pause" => drop(promotions.change(scope, id, &sent(true), &visit.origin()).await?),
        "resume" => drop(promotions.change(scope, id, &sent(false), &visit.origin()).await?),
        "delete" if visit.field("confirmed").is_none() => {
            let schedule = promotions.promotion(scope, id).await?;
            return Ok(confirm_deletion(&visit, &schedule));
        }
        "delete" => {
            promotions.remove(scope, id).await?;
            return Ok(visit.visitor.redirect("/schedules?done=deleted"));
        }
        other => return Err(ApiError::BadBody(format!("The form has no known action: do is \"{other}\"."))),
    }
    api(&visit)?.due.notify_one();
    let done = visit.field("do").unwrap_or_default();
    Ok(visit.visitor.redirect(&format!("/schedule?id={id}&done={done}")))
}

fn confirm_deletion(visit: &Visit, schedule: &Promotion) -> poem::Response {
    let texts = visit.visitor.texts;
    let content = html! {
        div.panel {
            h1 { (texts.delete_schedule) "?" }
            p.lead { (summary(visit, schedule)) }
            p { (texts.delete_schedule_does) }
            form.actions method="post" action=(address(visit, schedule.id)) {
                input type="hidden" name="confirmed" value="yes";
                button.primary name="do" value="delete" { (texts.delete_schedule) }
                a.button href=(address(visit, schedule.id)) { (texts.back) }
            }
        }
    };
    page::question(visit, Section::Schedules, texts.delete_schedule, &content)
}
