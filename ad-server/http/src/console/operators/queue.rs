//! The queue: its state, reasons for retries, and the oldest requests.

use std::time::Duration;

use ad_core::model::Timestamp;
use maud::{Markup, html};

use super::{
    super::{
        page, show,
        texts::Texts,
        visitor::{PageResult, Visit},
    },
    Filter, ROWS, filter_form, list_page, table,
};
use ad_server_store::{Failing, QueueFilter, QueueSummary, Unfinished, UnreadEvents};

/// The time in which the transactions of the service end.
const SOON: Duration = Duration::from_secs(5);

/// `GET /console/operators/queue`: the oldest unfinished requests.
pub(in crate::console) async fn queue(visit: Visit) -> PageResult {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let text = |name: &str| visit.parameter(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let filter = QueueFilter { dealer_code: text("dealer_code"), reason: text("reason"), ..QueueFilter::default() };
    let requests = visit.visitor.console.database.unfinished(&filter, ROWS).await?;
    let row = |it: &Unfinished| {
        html! {
            td { code { (it.request_id) } }
            td { (it.dealer_code) }
            td { (it.source_id) }
            td { (show::age(texts, it.accepted, now)) }
            td { @match it.claimable { Some(at) => (page::time(at)), None => (texts.blocked) } }
            td.number { (it.tries) }
            td { (it.reason.as_deref().unwrap_or_default()) }
        }
    };
    let header = [texts.request_id, texts.dealer, texts.ad, texts.age, texts.due, texts.attempts, texts.reason];
    let filter = filter_form(
        &visit,
        "/operators/queue",
        &[Filter::text("dealer_code", texts.dealer), Filter::text("reason", texts.reason)],
    );
    Ok(list_page(&visit, texts.queue, &filter, &table(texts, texts.queue, header, requests.iter().map(row))))
}

pub(super) fn state(texts: &Texts, queue: QueueSummary, now: Timestamp) -> Markup {
    let age = |since: Option<Timestamp>| since.map_or_else(|| "–".to_owned(), |since| show::age(texts, since, now));
    html! {
        dl {
            dt { (texts.unfinished) } dd { (page::number(queue.depth)) }
            dt { (texts.due_now) } dd { (page::number(queue.due)) }
            dt { (texts.blocked) } dd { (page::number(queue.behind)) }
            dt { (texts.oldest) } dd { (age(queue.oldest)) }
            dt { (texts.oldest_due) } dd { (age(queue.oldest_due)) }
        }
    }
}

/// What holds the database up; nothing if nothing does.
pub(super) fn holdups(texts: &Texts, holdups: &(Option<UnreadEvents>, u64), now: Timestamp) -> Markup {
    let (unread, waiting_commits) = holdups;
    let unread = unread.as_ref().filter(|unread| now - unread.since > SOON);
    html! {
        @if unread.is_some() || *waiting_commits > 0 {
            dl {
                @if let Some(unread) = unread {
                    dt { (texts.unread_events) } dd { (page::time(unread.since)) }
                    @if let Some(open) = &unread.open {
                        dt { (texts.open_transaction) }
                        dd {
                            @match (&open.gid, open.pid) {
                                (Some(gid), _) => { code { "gid " (gid) } }
                                (None, pid) => { code { "pid " (pid.unwrap_or_default()) } }
                            }
                            " " (open.database)
                            @if let Some(since) = open.since { ", " (page::time(since)) }
                        }
                    }
                }
                @if *waiting_commits > 0 { dt { (texts.waiting_commits) } dd { (page::number(*waiting_commits)) } }
            }
        }
    }
}

pub(super) fn failures(texts: &Texts, failing: &[Failing], now: Timestamp) -> Markup {
    let row = |it: &Failing| {
        html! {
            td.number { (page::number(it.requests)) }
            td { (show::age(texts, it.oldest, now)) }
            td { (page::time(it.next)) }
            td { (it.reason) }
        }
    };
    let header = [texts.requests, texts.oldest, texts.next_attempt, texts.reason];
    html! {
        @if !failing.is_empty() { h3 { (texts.retrying) } (table(texts, texts.retrying, header, failing.iter().map(row))) }
    }
}
