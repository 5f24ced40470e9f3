//! Takes a change of many ads back: a plan whose rows have what each ad had before, of the fields that nobody has changed since.

use ad_core::{
    model::{Ad, ChangeKind, ChangeOutcome, ChangeQuery, Page, PlanOptions, PlanState, PlannedChange, StockPlan},
    service::Access,
    stock::put,
    violation::Code,
};
use maud::html;
use poem::http::StatusCode;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    page::{self, NoticeKind, Section},
    plans::{self, SHOWN, ads},
    visitor::{PageResult, Visit},
};
use crate::api::{StockApi, StockRow};

/// Changes that are taken back at most.
const MOST: u64 = 5_000;

/// An estimate of the bytes of a row.
const ROW_BYTES: usize = 500;

/// The line of rows that are of no file.
pub(super) const NO_LINE: u64 = 0;

/// Whether a plan was made and has changed ads that were there, not too many for one request.
pub(super) fn is_possible(plan: &StockPlan) -> bool {
    let done = plans::ended(plan, ChangeOutcome::Done);
    let changed = plans::sum(plan, ChangeKind::Update) + plans::sum(plan, ChangeKind::Hide);
    plan.state == PlanState::Applied && plan.unfinished() == 0 && changed > 0 && (1..=MOST).contains(&done)
}

/// Makes the plan, and leads to its page.
pub(super) async fn run(visit: &Visit, stock: &StockApi, id: Uuid) -> PageResult {
    let access = &visit.caller.scope;
    let of_group = matches!(access, Access::Group(_));
    let mut rows = Vec::new();
    loop {
        let page = Page { limit: SHOWN, offset: rows.len() as u64 };
        let query = ChangeQuery { kind: None, outcome: Some(ChangeOutcome::Done), source_id: None, page };
        let changes = stock.plans.changes(access, id, &query).await?.rows;
        if changes.is_empty() {
            break;
        }
        let ads = ads(visit, &changes).await?;
        rows.extend(changes.iter().zip(ads).map(|(change, ad)| before(change, ad.as_ref()?, of_group)));
    }
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    if rows.is_empty() {
        let texts = visit.visitor.texts;
        let content = page::notice(NoticeKind::Error, &html! { p { (texts.nothing_to_take_back) } });
        return Ok(page::page_with_status(visit, StatusCode::CONFLICT, Section::Stock, texts.take_back, &content));
    }
    plans::make_room(visit).await?;
    let plan = stock.compare(access, PlanOptions::default(), move |each| {
        each(rows);
        Ok(())
    });
    match plan.await {
        Err(error) if error.code() == Code::TooManyPlans => Ok(plans::too_many(visit, visit.visitor.texts.take_back)),
        plan => plans::shown(visit, plan?.id, ""),
    }
}

/// What an ad had before a change, as far as it has what the change made; `None` if it has something else.
fn before(change: &PlannedChange, ad: &Ad, of_group: bool) -> Option<StockRow> {
    let mut object = Map::new();
    for field in &change.details.fields {
        let path = field.pointer.trim_start_matches('/').replace('/', ".");
        let now = ad.content.get(&path).cloned().unwrap_or_default();
        if now == field.to {
            put(&mut object, &path, field.from.clone());
        }
    }
    if change.kind == ChangeKind::Hide && !ad.content.visible() {
        object.insert("visible".to_owned(), Value::Bool(true));
    }
    if object.is_empty() || change.kind == ChangeKind::Create {
        return None;
    }
    object.insert("source_id".to_owned(), ad.source_id.as_str().into());
    object.insert("category_id".to_owned(), ad.category_id.into());
    if of_group {
        object.insert("dealer_code".to_owned(), ad.dealer_code.as_str().into());
    }
    Some(StockRow::Payload { line: NO_LINE, bytes: ROW_BYTES, object })
}
