//! The marketplaces on the first page of operators: statuses of ads, circuit breakers, pauses.

use ad_core::{
    model::{ChannelStatus, Market, Summary, Timestamp},
    ports::StoreError,
    violation::Code,
};
use maud::{Markup, html};
use tokio::time::Instant;

use super::{
    super::{
        badges,
        page::{self, number},
        show,
        visitor::{PageResult, Visit},
    },
    bad_form,
    confirm::{Question, confirmed_reason, is_confirmed},
};
use ad_server_base::breaker::Open;
use ad_server_store::{Database, Hold, HoldTarget};

/// The paused marketplaces, and the numbers of requests that wait for them.
pub(super) struct Pauses {
    pub(super) holds: Vec<(HoldTarget, Hold)>,
    pub(super) waiting: u64,
}

impl Pauses {
    pub(super) async fn read(database: &Database) -> Result<Self, StoreError> {
        let waiting = database.unfinished_with(Code::MarketplacePaused).await?;
        Ok(Self { holds: database.holds().await?, waiting })
    }
}

pub(super) fn section(visit: &Visit, summary: &Summary, pauses: &Pauses, now: Timestamp) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        section.panel #marketplaces data-live {
            h2 { (texts.marketplaces) }
            p { (texts.marketplaces_lead) }
            @for market in [Market::Primary, Market::Secondary] {
                @let hold = pauses.holds.iter().find(|(held, _)| *held == HoldTarget::Marketplace(market)).map(|(_, hold)| hold);
                div.heading {
                    h3 { (texts.market(market)) }
                    (button(visit, market, hold.is_some()))
                }
                @if let Some(Hold { since, reason }) = hold {
                    p {
                        span.badge.attention { (texts.market_paused) } " " (texts.since) " " (page::time(*since)) ": " (reason) ". "
                        (texts.wait_for_pause) ": " (number(pauses.waiting))
                    }
                }
                ul.row.plain {
                    @for (status, ads) in summary.by_channel.get(&market).into_iter().flatten().filter(|(status, ads)| **ads > 0 || **status == ChannelStatus::Live) {
                        li { (badges::channel_status(texts, *status)) " " (number(*ads)) }
                    }
                }
            }
            (circuits(visit, now))
        }
    }
}

fn button(visit: &Visit, market: Market, is_paused: bool) -> Markup {
    let texts = visit.visitor.texts;
    let (act, label) = if is_paused { ("resume", texts.resume) } else { ("pause", texts.pause) };
    html! {
        form method="post" action=(visit.visitor.address("/operators/marketplaces")) {
            input type="hidden" name="marketplace" value=(market.name());
            button name="do" value=(act) aria-label={ (label) ": " (texts.market(market)) } { (label) "…" }
        }
    }
}

/// The circuit breakers of this process: each process has its own.
fn circuits(visit: &Visit, now: Timestamp) -> Markup {
    let texts = visit.visitor.texts;
    let states: Vec<_> =
        visit.visitor.console.circuits.get().map(|it| it.states(Instant::now()).collect()).unwrap_or_default();
    html! {
        h3 { (texts.circuits) }
        p.help { (if states.is_empty() { texts.no_circuits } else { texts.circuits_lead }) }
        ul.plain {
            @for (market, state) in &states {
                li {
                    (texts.market(*market)) " "
                    @match state {
                        Ok(()) => span.badge.well { (texts.circuit_closed) },
                        Err(Open { reason: (code, reason), retry_after }) => {
                            span.badge.attention { (texts.breaker_open) }
                            " " (show::code(visit, *code)) " " span lang="en" { (reason) }
                            " " (texts.next_attempt) " " (page::time(now + *retry_after))
                        }
                    }
                }
            }
        }
    }
}

/// `POST /console/operators/marketplaces`: pauses or resumes one, once that is confirmed.
pub(in crate::console) async fn change(visit: Visit) -> PageResult {
    const PATH: &str = "/operators/marketplaces";
    let texts = visit.visitor.texts;
    let market = visit.field("marketplace").and_then(Market::from_name);
    let market = market.ok_or_else(|| bad_form("no known marketplace"))?;
    let question = |act: &str, button: &'static str, consequence: &'static str| {
        Question {
            path: PATH,
            title: format!("{button}: {}", texts.market(market)),
            button,
            consequence: html! { (consequence) },
            hidden: &[("marketplace", market.name()), ("do", act)],
            asks_reason: act == "pause",
            back: "/operators".to_owned(),
        }
        .page(&visit)
    };
    match visit.field("do") {
        Some("pause") => match confirmed_reason(&visit) {
            None => return Ok(question("pause", texts.pause, texts.pause_does)),
            Some(reason) => super::operator(&visit).pause(market, reason).await?,
        },
        Some("resume") if !is_confirmed(&visit) => return Ok(question("resume", texts.resume, texts.resume_does)),
        // Another operator may have resumed it meanwhile.
        Some("resume") => drop(super::operator(&visit).resume(market).await?),
        _ => return Err(bad_form("no known action")),
    }
    Ok(visit.visitor.redirect("/operators?done=marketplaces"))
}
