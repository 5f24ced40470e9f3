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
    left_out::LeftOut,
    page::{self, NoticeKind, Section},
    plans::{self, NO_LINE, SHOWN, ads, stock},
    visitor::{PageResult, Visit},
};
use crate::api::StockRow;

/// An estimate of the bytes of a row.
const ROW_BYTES: usize = 500;

/// What taking a change back comes to.
enum Back {
    /// The ad gets what it had.
    Row(StockRow),
    /// It has something else by now, or is gone.
    Changed,
    /// The change has made it.
    New,
    /// The change has left it as it was.
    Untouched,
}

/// `POST /console/plan/take-back?id=…`: makes the plan, and leads to its page.
pub(super) async fn run(visit: Visit) -> PageResult {
    let (stock, access, id) = (stock(&visit)?, &visit.caller.scope, plans::id(&visit)?);
    if !plans::can_be_taken_back(&stock.plans.plan(access, id).await?) {
        // Its page says how far it is, and has no such button.
        return Ok(visit.visitor.redirect(&format!("/plan?id={id}")));
    }
    let of_group = matches!(access, Access::Group(_));
    let (mut rows, mut left_out) = (Vec::new(), LeftOut::default());
    // Also of what has failed, such as at a marketplace, the ad may have changed.
    for outcome in [ChangeOutcome::Done, ChangeOutcome::Failed] {
        let mut offset = 0;
        loop {
            let page = Page { limit: SHOWN, offset };
            let query = ChangeQuery { kind: None, outcome: Some(outcome), source_id: None, page };
            let changes = stock.plans.changes(access, id, &query).await?.rows;
            if changes.is_empty() {
                break;
            }
            offset += changes.len() as u64;
            let ads = ads(&visit, &changes).await?;
            for (change, ad) in changes.iter().zip(ads) {
                match back(change, ad.as_ref(), of_group) {
                    Back::Row(row) => rows.push(row),
                    Back::New => left_out.add_new(),
                    Back::Changed => left_out.add_changed(change.source_id.as_deref()),
                    Back::Untouched => {}
                }
            }
        }
    }
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
        plan => plans::shown(&visit, plan?.id, &format!("&{}", left_out.query())),
    }
}

/// What an ad had before a change, as far as it has what the change made.
fn back(change: &PlannedChange, ad: Option<&Ad>, of_group: bool) -> Back {
    if change.kind == ChangeKind::Create {
        return if change.outcome == Some(ChangeOutcome::Done) { Back::New } else { Back::Untouched };
    }
    let Some(ad) = ad else { return Back::Changed };
    let mut object = Map::new();
    let mut has_before = true;
    for field in &change.details.fields {
        let path = field.pointer.trim_start_matches('/').replace('/', ".");
        let now = ad.content.get(&path).cloned().unwrap_or_default();
        has_before &= now == field.from;
        if now == field.to {
            put(&mut object, &path, field.from.clone());
        }
    }
    if change.kind == ChangeKind::Hide && !ad.content.visible() {
        object.insert("visible".to_owned(), Value::Bool(true));
    }
    if object.is_empty() {
        let is_untouched = has_before && change.outcome == Some(ChangeOutcome::Failed);
        return if is_untouched { Back::Untouched } else { Back::Changed };
    }
    object.insert("source_id".to_owned(), ad.source_id.as_str().into());
    object.insert("category_id".to_owned(), ad.category_id.into());
    if of_group {
        object.insert("dealer_code".to_owned(), ad.dealer_code.as_str().into());
    }
    Back::Row(StockRow::Payload { line: NO_LINE, bytes: ROW_BYTES, object })
}
