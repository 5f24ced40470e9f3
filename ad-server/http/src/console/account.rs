//! The account of a month: what promotions have cost by day, the charges, prices, slots, and the budget with the dealer's own limit.
//! However many charges there are, a page reads the newest ones of the month only, and says so; the sums are of all of them.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{
    model::{Account, AdFilter, AdQuery, Amount, Charge, ChargeState, Dealer, Month, Page, PromotionKind, plate},
    ports::PageOf,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use maud::{Markup, html};
use poem::http::StatusCode;
use url::form_urlencoded;

use super::{
    named::{self, NamedAds, cost, money},
    page::{self, NoticeKind, Section, Total, number},
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_access::auth::Permission;
use ad_server_store::{ChargesOfQuarter, NewestCharges};

/// Charges of a month that are looked at: the newest ones.
const MOST_CHARGES: u32 = 10_000;

/// Charges of a page.
const ROWS: u32 = 25;

/// Dealers of a page of a group.
const DEALERS: usize = 50;

/// Accounts that are read at once.
const AT_ONCE: usize = 8;

/// `GET /console/account?month=…&kind=…&ad=…&dealer_code=…`.
pub(super) async fn page(visit: Visit) -> PageResult {
    show(&visit, visit.parameter("dealer_code"), None).await
}

/// `POST /console/account/budget`: sets the limit that the dealer sets itself, or removes it.
pub(super) async fn set_budget(visit: Visit) -> PageResult {
    let code = visit.field("dealer_code");
    let dealer = named::dealer(&visit, code)?;
    let own = match visit.field("own").map(str::trim).unwrap_or_default() {
        "" => None,
        text => match amount(text) {
            Some(own) => Some(own),
            None => return show(&visit, code, Some(visit.visitor.texts.not_an_amount)).await,
        },
    };
    visit.visitor.context.service.set_own_budget(&visit.caller.scope, Some(&dealer.code), own).await?;
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("dealer_code", &dealer.code)
        .append_pair("done", "budget")
        .finish();
    Ok(visit.visitor.redirect(&format!("/account?{query}")))
}

/// An amount as people write it: `1 500`, `29,50`.
pub(super) fn amount(text: &str) -> Option<Amount> {
    let text: String = text.chars().filter(|it| !it.is_whitespace() && *it != '\u{202f}').collect();
    let text = text.trim_end_matches("kr").trim_end_matches("SEK").replace(',', ".");
    text.parse().ok()
}

async fn show(visit: &Visit, code: Option<&str>, problem: Option<&str>) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    if named::is_group(visit) && code.is_none() {
        return of_group(visit).await;
    }
    let (service, database) = (&visitor.context.service, &visitor.console.database);
    let dealer = named::dealer(visit, code)?;
    let zone = dealer.time_zone();
    let present = Month::of(visitor.console.clock.now(), &zone);
    let month = visit.parameter("month").and_then(|month| month.parse().ok()).unwrap_or(present).min(present);
    let account = service.account_in(&dealer.code, month).await?;
    let sums = database.charges_by_quarter(&dealer.code, month, MOST_CHARGES).await?;
    let charges = charges(visit, &dealer, month).await?;
    let wanted = charges.0.rows.iter().filter_map(|it| Some((it.dealer_code.clone(), it.source_id.clone()?))).collect();
    let ads = NamedAds::read(visit, wanted).await?;
    let content = html! {
        div.heading {
            div {
                @if named::is_group(visit) { p.crumbs { a href=(visitor.address("/account")) { (texts.account) } } }
                h1 { (texts.account) @if named::is_group(visit) { ": " (dealer.name) } }
            }
            (months(visit, &dealer, month, present))
        }
        @if visit.parameter("done").is_some() { (page::notice(NoticeKind::Success, &html! { p { (texts.limit_saved) } })) }
        div.columns {
            section.panel aria-labelledby="budget-heading" { (budget(visit, &account, month == present, problem)) }
            section.panel aria-labelledby="prices-heading" { (prices(visit, &account)) }
        }
        section.panel aria-labelledby="chart-heading" { (chart(visit, &account, &sums, &dealer, month)) }
        div.panel { (list(visit, &dealer, month, &charges, &ads)) }
    };
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(page::page_with_status(visit, status, Section::Account, texts.account, &content))
}

/// The accounts of the dealers of a group.
async fn of_group(visit: &Visit) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let dealers = visitor.context.service.dealers_in(&visit.caller.scope);
    let offset = page::offset(visit);
    let shown: Vec<_> =
        dealers.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(DEALERS).map(Arc::clone).collect();
    let service = &visitor.context.service;
    let read = |dealer: Arc<Dealer>| async move {
        let account = service.account(&dealer.code).await?;
        Ok::<_, ApiError>((dealer, account))
    };
    let accounts: Vec<_> = stream::iter(shown).map(read).buffered(AT_ONCE).try_collect().await?;
    let row = |(dealer, account): &(Arc<Dealer>, Account)| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("dealer_code", &dealer.code).finish();
        let amount = |amount: Amount| money(visitor.language, amount, &account.currency);
        html! {
            td { a href=(visitor.address(&format!("/account?{query}"))) { (dealer.name) } }
            td { (named::month(visitor.language, account.month)) }
            td.number data-name=(texts.spent) { (amount(account.budget.spent)) }
            td.number data-name=(texts.reserved) { (amount(account.budget.reserved)) }
            td.number data-name=(texts.left) { @match account.budget.left { Some(left) => (amount(left)), None => (texts.no_limit) } }
        }
    };
    let header = [texts.dealer, texts.month, texts.spent, texts.reserved, texts.left];
    let page = Page { limit: u32::try_from(DEALERS).unwrap_or(u32::MAX), offset };
    let content = html! {
        h1 { (texts.account) }
        p.lead { (texts.account_lead) }
        div.panel {
            (page::stacked_table(texts.account, header, accounts.iter().map(row)))
            (page::paging(visit, "/account", &visit.query, page, accounts.len(), Total::Exactly(dealers.len() as u64)))
        }
    };
    Ok(page::page(visit, Section::Account, texts.account, &content))
}

/// The query of this page for another month.
fn of_month(visit: &Visit, dealer: &Dealer, month: Month) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("month", &month.to_string());
    if named::is_group(visit) {
        query.append_pair("dealer_code", &dealer.code);
    }
    visit.visitor.address(&format!("/account?{}", query.finish()))
}

fn months(visit: &Visit, dealer: &Dealer, month: Month, present: Month) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        nav.actions aria-label=(texts.month) {
            a.button rel="prev" href=(of_month(visit, dealer, month.previous())) { "← " (named::month(visit.visitor.language, month.previous())) }
            strong { (named::month(visit.visitor.language, month)) }
            @if month < present {
                a.button rel="next" href=(of_month(visit, dealer, month.next())) { (named::month(visit.visitor.language, month.next())) " →" }
            }
        }
    }
}

/// What the month may cost and has cost, and the form of the dealer's own limit.
fn budget(visit: &Visit, account: &Account, is_present: bool, problem: Option<&str>) -> Markup {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let amount = |amount: Amount| money(language, amount, &account.currency);
    let or_none = |limit: Option<Amount>| limit.map_or_else(|| texts.no_limit.to_owned(), amount);
    let budget = &account.budget;
    let typed = visit.field("own").map_or_else(|| budget.own.map(|own| own.to_string()), |own| Some(own.to_owned()));
    html! {
        h2 #budget-heading { (texts.budget) }
        dl {
            dt { (texts.spent) } dd { strong { (amount(budget.spent)) } }
            dt { (texts.reserved) } dd { (amount(budget.reserved)) }
            @if is_present {
                dt { (texts.left) } dd { strong { (or_none(budget.left)) } }
                dt { (texts.limit_of_operator) } dd { (or_none(budget.most)) }
                dt { (texts.own_limit) } dd { (or_none(budget.own)) }
            }
        }
        @if budget.reserved > Amount::ZERO { p.help { (texts.reserved_means) } }
        @if is_present && visit.may(Permission::Promote) {
            form.apart method="post" action=(visit.visitor.address("/account/budget")) {
                input type="hidden" name="dealer_code" value=(account.dealer_code);
                @if let Some(problem) = problem { p.field-error #problem role="alert" { (problem) } }
                label for="own" { (texts.own_limit) " (" (account.currency) ")" }
                div.row {
                    input #own name="own" inputmode="decimal" size="10" autocomplete="off" value=(typed.unwrap_or_default())
                        aria-describedby=(if problem.is_some() { "problem own-help" } else { "own-help" }) aria-invalid=[problem.map(|_| "true")];
                    button { (texts.save) }
                }
                p.help #own-help { (texts.own_limit_help) }
            }
        }
    }
}

fn prices(visit: &Visit, account: &Account) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        h2 #prices-heading { (texts.prices_now) }
        dl {
            dt { (texts.bump) } dd { (cost(visit, account.prices.bump, &account.currency)) @if account.prices.bump.is_some() { " " (texts.for_each_marketplace) } }
            dt { (texts.pole_position) } dd { (cost(visit, account.prices.pole_position, &account.currency)) @if account.prices.pole_position.is_some() { " " (texts.for_each_ad) } }
            @if let Some(most) = account.slots.most {
                dt { (texts.slots) }
                dd { (number(account.slots.used.unwrap_or_default())) " " (texts.of_in_all) " " (number(most.into())) " " (texts.slots_used) }
            }
            dt { (texts.bumps_done) } dd { (number(account.charges.bump)) }
            dt { (texts.pole_positions_done) } dd { (number(account.charges.pole_position)) }
        }
    }
}

/// What promotions have cost by day, as a chart and a table.
fn chart(visit: &Visit, account: &Account, sums: &[ChargesOfQuarter], dealer: &Dealer, month: Month) -> Markup {
    const WIDTH: u32 = 20;
    const HEIGHT: i64 = 120;
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let (zone, mut days) = (dealer.time_zone(), BTreeMap::<u32, Amount>::new());
    for sum in sums.iter().filter(|sum| sum.state != ChargeState::Released && sum.currency == account.currency) {
        if let Some(day) = month.day_of(sum.begins, &zone) {
            let of_day = days.entry(day).or_default();
            *of_day = *of_day + sum.amount;
        }
    }
    let of = |day: u32| days.get(&day).copied().unwrap_or_default();
    let most = days.values().map(|it| it.hundredths()).max().unwrap_or_default().max(1);
    let all = money(language, account.budget.spent + account.budget.reserved, &account.currency);
    let counted: u64 = sums.iter().map(|sum| sum.count).sum();
    html! {
        h2 #chart-heading { (texts.cost_by_day) }
        p { strong.count { (all) } " " (texts.in_month) " " (named::month(language, month)) }
        svg.chart.low preserveAspectRatio="xMinYMid meet" viewBox={ "0 0 " (WIDTH * month.days()) " " (HEIGHT + 24) } role="img" aria-label={ (texts.cost_by_day) ": " (all) } {
            @for day in 1..=month.days() {
                @let height = (i128::from(of(day).hundredths()) * i128::from(HEIGHT) / i128::from(most)).max(1);
                rect x=((day - 1) * WIDTH + 2) y=(i128::from(HEIGHT) - height) width=(WIDTH - 4) height=(height) rx="2" {
                    title { (month) "-" (format!("{day:02}")) ": " (money(language, of(day), &account.currency)) }
                }
                @if day % 5 == 1 { text x=((day - 1) * WIDTH + 2) y=(HEIGHT + 20) { (day) } }
            }
        }
        @if counted >= u64::from(MOST_CHARGES) { (only_newest(visit, sums.iter().map(|sum| sum.oldest).min())) }
        details #days {
            summary { (texts.as_table) }
            table {
                thead { tr { th scope="col" { (texts.day) } th.number scope="col" { (texts.amount) } } }
                tbody { @for day in (1..=month.days()).filter(|day| days.contains_key(day)) { tr { td { (day) } td.number { (money(language, of(day), &account.currency)) } } } }
            }
        }
    }
}

fn only_newest(visit: &Visit, from: Option<ad_core::model::Timestamp>) -> Markup {
    html! { p.help { (visit.visitor.texts.only_newest_charges) " " (number(MOST_CHARGES.into())) @if let Some(from) = from { " (" (page::time(from)) " →)" } } }
}

/// A page of charges, and whether only some are looked at for an ad that is named.
struct Charges(PageOf<Charge>, Page);

async fn charges(visit: &Visit, dealer: &Dealer, month: Month) -> Result<Charges, ApiError> {
    let kind = visit.parameter("kind").and_then(PromotionKind::from_name);
    let source_ids = match visit.parameter("ad").map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => Some(named_ads(visit, dealer, text).await?),
        None => None,
    };
    let page = Page { limit: ROWS, offset: page::offset(visit).min(MOST_CHARGES.into()) };
    let query = NewestCharges {
        dealer_code: &dealer.code,
        month,
        most: MOST_CHARGES,
        kind,
        source_ids: source_ids.as_deref(),
        page,
    };
    Ok(Charges(visit.visitor.console.database.newest_charges(query).await?, page))
}

/// The ads that a seller means by a plate or a source id.
async fn named_ads(visit: &Visit, dealer: &Dealer, text: &str) -> Result<Vec<String>, ApiError> {
    let query = AdQuery {
        filters: vec![AdFilter::RegistrationNumber(plate(text)), AdFilter::DealerCode(dealer.code.clone())],
        page: Page { limit: ROWS, offset: 0 },
        fields: Some(vec!["source_id"]),
        ..AdQuery::default()
    };
    let found = visit.visitor.context.service.list(&visit.caller.scope, None, query).await?;
    let ids = found.rows.into_iter().map(|row| row.ad.source_id);
    Ok(ids.chain([text.to_owned()]).collect())
}

fn list(visit: &Visit, dealer: &Dealer, month: Month, charges: &Charges, ads: &NamedAds) -> Markup {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let Charges(PageOf { count, rows }, page) = charges;
    let kind = visit.parameter("kind").unwrap_or_default();
    let header = [texts.time, texts.ad, texts.what, texts.marketplaces, texts.amount, texts.status];
    let row = |charge: &Charge| {
        html! {
            td { (page::time(charge.at)) }
            td { @match &charge.source_id { Some(id) => (ads.link(visit, &charge.dealer_code, id)), None => span.faint { (texts.erased_ad) } } }
            td { (kind_of(visit, charge.kind)) }
            td { (texts.market(charge.marketplace)) }
            td.number { (money(visitor.language, charge.amount, &charge.currency)) }
            td { (state(visit, charge.state)) }
        }
    };
    html! {
        h2 #charges-heading { (texts.charges) }
        form.row method="get" action=(visitor.address("/account")) role="search" {
            input type="hidden" name="month" value=(month);
            @if named::is_group(visit) { input type="hidden" name="dealer_code" value=(dealer.code); }
            div {
                label for="kind" { (texts.what) }
                select #kind name="kind" {
                    option value="" { (texts.all) }
                    @for known in [PromotionKind::Bump, PromotionKind::PolePosition] {
                        option value=(known.name()) selected[known.name() == kind] { (kind_of(visit, known)) }
                    }
                }
            }
            div {
                label for="ad" { (texts.plate_or_id) }
                input #ad type="search" name="ad" value=(visit.parameter("ad").unwrap_or_default()) maxlength="255" autocomplete="off";
            }
            button { (texts.search) }
        }
        @if rows.is_empty() { p { (texts.no_charges) } } @else { (page::table(texts.charges, header, rows.iter().map(row))) }
        @let query: Vec<_> = visit.query.iter().filter(|(name, _)| name != "done").cloned().collect();
        (page::paging(visit, "/account", &query, *page, rows.len(), Total::Exactly(*count)))
    }
}

pub(super) fn kind_of(visit: &Visit, kind: PromotionKind) -> &'static str {
    match kind {
        PromotionKind::Bump => visit.visitor.texts.bump,
        PromotionKind::PolePosition => visit.visitor.texts.pole_position,
    }
}

fn state(visit: &Visit, state: ChargeState) -> Markup {
    let texts = visit.visitor.texts;
    let (class, text) = match state {
        ChargeState::Reserved => ("under-way", texts.charge_reserved),
        ChargeState::Charged => ("well", texts.charge_charged),
        ChargeState::Released => ("at-rest", texts.charge_released),
    };
    html! { span class={ "badge " (class) } { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, hundredths) in
            [("1 500", 150_000), ("29,50", 2950), ("29.5", 2950), ("1\u{a0}500 kr", 150_000), ("0", 0)]
        {
            assert_eq!(amount(text), Some(Amount::from_hundredths(hundredths)), "{text}");
        }
        for text in ["", "-1", "many", "1,5,0", "29.505"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}
