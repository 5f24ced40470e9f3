//! The prices of an ad over time: a chart, and what they say about a reduction.

use ad_core::{
    model::{PriceHistory, Timestamp},
    prices,
};
use maud::{Markup, html};

use super::{page, show, texts::Texts};

/// Size of the chart in units of its own.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 120.0;

/// The section of an ad's page; nothing for an ad that never had a price.
pub(super) fn section(texts: &Texts, history: &PriceHistory, now: Timestamp) -> Markup {
    if history.history.iter().all(|period| period.price.is_empty()) {
        return html! {};
    }
    html! {
        div.panel {
            h2 { (texts.price_history) }
            @if history.history.len() > 1 { (chart(texts, history, now)) }
            dl {
                @if let Some(lowest) = &history.lowest_30_days { dt { (texts.lowest_30_days) } dd { (show::amount(texts, &lowest.amount, &lowest.currency)) } }
                @if let Some(reference) = history.reduction.as_ref().and_then(|reduction| reduction.reference.as_ref()) {
                    dt { (texts.reference_price) } dd { (show::amount(texts, &reference.amount, &reference.currency)) }
                }
            }
            details #price-table {
                summary { (texts.as_table) }
                table {
                    thead { tr { th scope="col" { (texts.since) } th.number scope="col" { (texts.price) } } }
                    tbody {
                        @for period in history.history.iter().rev() {
                            tr {
                                td { (page::time(period.since)) }
                                td.number { @for price in &period.price { (show::amount(texts, &price.amount, &price.currency)) " " code.faint { (price.kind) } br; } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The price that applied at each time, as steps from zero to the highest.
fn chart(texts: &Texts, history: &PriceHistory, now: Timestamp) -> Markup {
    let begun = history.recorded_since;
    let lasts = (now.max(begun) - begun).as_secs_f64().max(1.0);
    let x = |at: Timestamp| (at.max(begun) - begun).as_secs_f64() / lasts * WIDTH;
    let of_periods = || {
        let periods = history.history.iter();
        periods.filter_map(|period| Some((period, prices::applied_price(period)?.amount.as_f64()?)))
    };
    let highest = of_periods().map(|(_, amount)| amount).fold(1.0, f64::max);
    let y = |amount: f64| 4.0 + (1.0 - amount / highest) * (HEIGHT - 4.0);
    let mut path = Vec::new();
    let mut ended = None;
    for (period, amount) in of_periods() {
        let (from, until) = (x(period.since), x(period.until.unwrap_or(now)));
        // After a time without a price the line begins again.
        let begins = if ended == Some(period.since) { 'L' } else { 'M' };
        path.push(format!("{begins}{from:.1} {:.1}H{until:.1}", y(amount)));
        ended = period.until;
    }
    html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 24.0) } role="img" aria-label=(texts.price_history) {
            path d=(path.concat()) {}
            text y=(HEIGHT + 20.0) { (begun.to_string().get(..10).unwrap_or_default()) }
            text x=(WIDTH) y=(HEIGHT + 20.0) text-anchor="end" { (texts.price_now) }
        }
    }
}
