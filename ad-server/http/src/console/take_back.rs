//! Takes a change of many ads back: a plan whose rows have what each ad had before, of the fields that nobody has changed since.

use ad_core::{
    model::{Ad, ChangeKind, ChangeOutcome, ChangeQuery, Page, PlanOptions, PlannedChange},
    service::Access,
    stock::put,
    violation::Code,
};
use maud::html;
use poem::http::StatusCode;
use serde_json::{Map, Value};

use super::{
    page::{self, NoticeKind, Section},
    plans::{self, NO_LINE, SHOWN, ads, stock},
    visitor::{PageResult, Visit},
};
use crate::api::StockRow;

/// An estimate of the bytes of a row.
const ROW_BYTES: usize = 500;

/// `POST /console/plan/take-back?id=…`: makes the plan, and leads to its page.
pub(super) async fn run(visit: Visit) -> PageResult {
    let (stock, access, id) = (stock(&visit)?, &visit.caller.scope, plans::id(&visit)?);
    let of_group = matches!(access, Access::Group(_));
    let mut rows = Vec::new();
    loop {
        let page = Page { limit: SHOWN, offset: rows.len() as u64 };
        let query = ChangeQuery { kind: None, outcome: Some(ChangeOutcome::Done), source_id: None, page };
        let changes = stock.plans.changes(access, id, &query).await?.rows;
        if changes.is_empty() {
            break;
        }
        let ads = ads(&visit, &changes).await?;
        rows.extend(changes.iter().zip(ads).map(|(change, ad)| before(change, ad.as_ref()?, of_group)));
    }
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    if rows.is_empty() {
        let texts = visit.visitor.texts;
        let content = page::notice(NoticeKind::Error, &html! { p { (texts.nothing_to_take_back) } });
        return Ok(page::page_with_status(&visit, StatusCode::CONFLICT, Section::Stock, texts.take_back, &content));
    }
    plans::make_room(&visit).await?;
    let plan = stock.compare(access, PlanOptions::default(), move |each| {
        each(rows);
        Ok(())
    });
    match plan.await {
        Err(error) if error.code() == Code::TooManyPlans => Ok(plans::too_many(&visit, visit.visitor.texts.take_back)),
        plan => plans::shown(&visit, plan?.id, ""),
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
