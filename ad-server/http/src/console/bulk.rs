//! One change of many ads: which ads, and by how much prices change. The change is a stock plan, whose page shows it before it is made.

use ad_core::{
    model::{AdFilter, AdQuery, PlanOptions},
    service::{BulkChange, ServiceError},
    violation::Code,
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use maud::html;
use poem::{Response, http::StatusCode};
use serde_json::{Map, Number};
use url::form_urlencoded;

use super::{
    act::{AdAction, AdKey, act_on_ticked},
    bump_all,
    page::{self, NoticeKind, Section, number},
    plans,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_access::auth::Permission;

/// What is changed in many ads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Price,
    Hide,
    Publish,
    /// Hides the ads, and deletes them after some days.
    Sold,
}

impl Change {
    fn of(visit: &Visit) -> Option<Self> {
        match visit.field("change")? {
            "price" => Some(Self::Price),
            "hide" => Some(Self::Hide),
            "show" => Some(Self::Publish),
            "sold" => Some(Self::Sold),
            _ => None,
        }
    }
}

/// `POST /console/bulk`: asks by how much prices change, or makes the plan and leads to it.
pub(super) async fn create(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    match (visit.field("change").and_then(AdAction::from_name), visit.field("matching").map(str::to_owned)) {
        (Some(action @ AdAction::Bump), Some(matching)) => {
            crate::api::Context::check_permission(&visit.caller, action.permission())?;
            return bump_all::run(visit, &matching).await;
        }
        (Some(action @ (AdAction::Bump | AdAction::Sold)), None) => return act_on_ticked(visit, action).await,
        _ => crate::api::Context::check_permission(&visit.caller, Some(Permission::Write))?,
    }
    let change = Change::of(&visit).ok_or_else(|| ApiError::BadBody("The form has no known change.".to_owned()))?;
    let Some(filters) = selected(&visit)? else {
        let content = page::notice(NoticeKind::Error, &html! { p { (texts.nothing_selected) } });
        let status = StatusCode::BAD_REQUEST;
        return Ok(page::page_with_status(&visit, status, Section::Stock, texts.nothing_selected, &content));
    };
    let bulk = match change {
        Change::Hide | Change::Sold => BulkChange::Set(Map::from_iter([("visible".to_owned(), false.into())])),
        Change::Publish => BulkChange::Set(Map::from_iter([("visible".to_owned(), true.into())])),
        Change::Price => match price_change(&visit) {
            None => return Ok(price_form(&visit, None)),
            Some(Ok(bulk)) => bulk,
            Some(Err(wrong)) => return Ok(price_form(&visit, Some(wrong))),
        },
    };
    // Who has ticked each ad means it.
    let most_removals = visit.field("matching").is_none().then(|| ticked(&visit));
    let options = PlanOptions { most_removals, ..PlanOptions::default() };
    plans::make_room(&visit).await?;
    let plan = match plans::stock(&visit)?.select(&visit.caller.scope, filters, bulk, options).await {
        Err(error) if error.code() == Code::TooManyPlans => return Ok(plans::too_many(&visit, texts.bulk_changes)),
        plan => plan?,
    };
    if change == Change::Sold {
        let console = &visit.visitor.console;
        console.database.add_sold_plan(plan.id, console.clock.now()).await.map_err(ServiceError::from)?;
    }
    plans::shown(&visit, plan.id, "")
}

/// The number of ads that were ticked.
fn ticked(visit: &Visit) -> u64 {
    visit.form.iter().filter(|(name, _)| name == "ad").count() as u64
}

/// The ads that were ticked, or all that match; `None` if there are none.
fn selected(visit: &Visit) -> Result<Option<Vec<AdFilter>>, ApiError> {
    if let Some(query) = visit.field("matching") {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .filter(|(name, value)| {
                !value.is_empty() && !["limit", "offset", "ordering", "view", "done"].contains(&name.as_str())
            })
            .collect();
        let query = AdQuery::parse(AD_PARAMETERS, &pairs).map_err(ServiceError::InvalidQuery)?;
        return Ok(Some(query.filters));
    }
    let keys: Option<Vec<_>> =
        visit.form.iter().filter(|(name, _)| name == "ad").map(|(_, query)| AdKey::parse(query)).collect();
    let keys = keys.ok_or_else(|| ApiError::BadBody("The form names an ad without source_id.".to_owned()))?;
    let Some(first) = keys.first() else { return Ok(None) };
    if keys.iter().any(|key| key.dealer_code != first.dealer_code) {
        return Err(ApiError::BadBody(visit.visitor.texts.one_dealer_at_a_time.to_owned()));
    }
    let dealer = first.dealer_code.clone().map(AdFilter::DealerCode);
    let ids = keys.into_iter().map(|key| key.source_id).collect();
    Ok(Some(dealer.into_iter().chain([AdFilter::SourceId(ids)]).collect()))
}

/// The change of prices that the form says; `None`: it was not filled in yet.
fn price_change(visit: &Visit) -> Option<Result<BulkChange, &'static str>> {
    let texts = visit.visitor.texts;
    let by = visit.field("by")?.trim();
    let is_percent = visit.field("unit") == Some("percent");
    let as_number = |text: &str| {
        let plain: String = text.chars().filter(|it| !it.is_whitespace() && !matches!(it, '%')).collect();
        let plain = plain.replace(['−', '–'], "-").replace(',', ".").replace("kr", "");
        plain.trim_start_matches('+').parse::<Number>().ok()
    };
    let Some(step) = as_number(by) else { return Some(Err(texts.write_a_number)) };
    let mut change = Map::new();
    change.insert(if is_percent { "price_percent" } else { "price_amount" }.to_owned(), step.into());
    if let Some(round) = visit.field("round").filter(|round| !round.is_empty()) {
        let Some(round) = as_number(round) else { return Some(Err(texts.write_a_number)) };
        change.insert("round".to_owned(), round.into());
    }
    let allowed = if is_percent { texts.percent_out_of_range } else { texts.amount_out_of_range };
    Some(BulkChange::parse(&change).map_err(|_| allowed))
}

/// The form that asks by how much prices change.
fn price_form(visit: &Visit, wrong: Option<&str>) -> Response {
    let texts = visit.visitor.texts;
    let value = |name: &str| visit.field(name).unwrap_or_default();
    // Buyers are used to round prices.
    let round = visit.field("round").unwrap_or("100");
    let selected = ["ad", "matching"];
    let ticked = ticked(visit);
    let content = html! {
        div.panel {
            h1 { (texts.change_price) @if ticked > 0 { " (" (number(ticked)) " " (if ticked == 1 { texts.ad_one } else { texts.ads }) ")" } }
            @if let Some(wrong) = wrong { (page::notice(NoticeKind::Error, &html! { p { (wrong) } })) }
            p.lead { (texts.change_price_does) }
            form method="post" action=(visit.visitor.address("/bulk")) {
                input type="hidden" name="change" value="price";
                @for (name, value) in visit.form.iter().filter(|(name, _)| selected.contains(&name.as_str())) {
                    input type="hidden" name=(name) value=(value);
                }
                div.row {
                    div {
                        label for="by" { (texts.change_by) }
                        input #by name="by" value=(value("by")) inputmode="text" size="8" required placeholder="-5";
                    }
                    div {
                        label for="unit" { (texts.unit_of_change) }
                        select #unit name="unit" {
                            option value="percent" { "%" }
                            option value="amount" selected[value("unit") == "amount"] { (texts.amount_in_currency) }
                        }
                    }
                    div {
                        label for="round" { (texts.round_to) }
                        select #round name="round" {
                            @for step in ["", "10", "100", "500", "1000"] {
                                option value=(step) selected[round == step] { @if step.is_empty() { (texts.no_rounding) } @else { (step) } }
                            }
                        }
                    }
                    button.primary { (texts.preview_changes) }
                    a.button href=(visit.visitor.address("/stock")) { (texts.cancel) }
                }
                p.help { (texts.change_by_help) }
            }
        }
    };
    let status = if wrong.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    page::question_with_status(visit, status, Section::Stock, texts.change_price, &content)
}

/// The query of the page that all matching ads are found by.
pub(super) fn matching(query: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish()
}
