//! The stock: ads as a table or as cards, with the filters, the search, the orders and the pages of the API's lists, and what can be
//! done with many ads at once.

use std::{collections::HashSet, time::Duration};

use ad_core::{
    categories,
    fields::Kind,
    model::{Ad, AdOrder, AdQuery, AdStatus, ChannelStatus, Included, Market, QualitySummary, StatusWords},
    ports::{ListedAd, PageOf, Scope},
    service::{Access, ServiceError},
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use maud::{Markup, html};
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};
use url::form_urlencoded;

use super::{
    act::{self, AdAction, AdKey},
    badges, bulk, csv, cure,
    form::named,
    named::dealer_name,
    page::{self, NoticeKind, Section, Text, Total},
    plans, show,
    texts::{Texts, cookie_in},
    views,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_access::auth::Permission;

/// Search results are counted up to this number.
const COMMON: u32 = 1000;

/// Parameters of the page that are not those of a list.
const OWN: [&str; 5] = ["view", "done", "days", "photos", "views"];

/// Parameters that the form shows at once, or that it leaves out.
const FILTERS: [&str; 6] = ["q", "status", "ordering", "offset", "done", "views"];

/// Parameters that the form shows on demand.
const MORE: [&str; 8] =
    ["category_id", "brand", "price__gte", "price__lt", "photos", "quality_score__lt", "days", "dealer_code"];

/// Choices about photos, each with the parameter of a list that it is.
const PHOTOS: [(&str, (&str, &str)); 4] = [
    ("none", ("image_count__lt", "1")),
    ("5", ("image_count__lt", "5")),
    ("10", ("image_count__lt", "10")),
    ("failed", ("failed_images", "true")),
];

/// Of how many of the newest ads the brands are offered.
const BRANDS_OF: u32 = 5000;

/// Longest list that the heads of price and quality sort: these are no index's order.
const SORTED: u64 = 5000;

/// Days in stock to choose from.
const DAYS: [&str; 4] = ["30", "60", "90", "180"];

/// The orders of a list, by their value.
const ORDERS: [(&str, Text); 10] = [
    ("-created", |texts| texts.newest_first),
    ("created", |texts| texts.oldest_first),
    ("-updated", |texts| texts.changed_first),
    ("updated", |texts| texts.changed_last),
    ("source_id", |texts| texts.by_source_id),
    ("-source_id", |texts| texts.by_source_id_reversed),
    ("amount", |texts| texts.by_price),
    ("-amount", |texts| texts.by_price_reversed),
    ("quality_score", |texts| texts.by_quality),
    ("-quality_score", |texts| texts.by_quality_reversed),
];

/// `GET /console/stock`, with the parameters of `GET /v4/ad`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let sent = asked(&visit).await?;
    let (asked, query, wrong) = understood(sent);
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    // Reserves memory for the rows and the page.
    let mut turn = context.limits.lists.turn(scope.name()).await?;
    let list = match query {
        Some(query) => Some(list(&visit, query).await?),
        None => None,
    };
    let brands = brands(&visit).await?;
    turn.has_read();
    let main = html! {
        div.heading {
            h1 { (texts.stock) }
            @if visit.may(Permission::Write) { a.button.primary href=(visit.visitor.address("/new")) { (texts.new_ad) } }
            // On a phone, the first ad is in sight, and this shows the rest of the buttons.
            label.menu { input.unseen #more-stock type="checkbox"; (texts.more_to_do) }
            a.button href=(visit.visitor.address("/plans")) { (texts.bulk_changes) }
            @if visit.may(Permission::Write) && plans::is_there(&visit) { a.button href=(visit.visitor.address("/import")) { (texts.import) } }
            a.button href=(csv::address(&visit, "stock.xlsx", &visit.query)) download { (texts.export_xlsx) }
            a.button href=(csv::address(&visit, "stock.csv", &visit.query)) download { (texts.export_csv) }
            (views(&visit))
        }
        (act::done(&visit))
        (unknown_filters(&visit, &wrong))
        (views::section(&visit))
        (filters(&visit, &brands, &wrong))
        @if let Some(list) = &list { (results(&visit, &asked, list)) }
    };
    let mut response = page::page_with_status(&visit, status, Section::Stock, texts.stock, &main);
    keep_view(&visit, &mut response);
    Ok(response)
}

/// The parameters of the list. A form sends empty fields too, days in stock in the place of a time, a choice about photos, and amounts as
/// people write them. Drafts and sold ads are hidden ones, of which the ids are known.
pub(super) async fn asked(visit: &Visit) -> Result<Vec<(String, String)>, ApiError> {
    let written = |(name, value): &(String, String)| match name.as_str() {
        name if PRICES.contains(&name) => (name.to_owned(), whole_amount(value)),
        _ => (name.clone(), value.clone()),
    };
    let sent = visit.query.iter().filter(|(name, value)| !value.is_empty() && !OWN.contains(&name.as_str()));
    let photos = visit.parameter("photos").and_then(|chosen| PHOTOS.iter().find(|(choice, _)| *choice == chosen));
    let photos = photos.map(|(_, (name, value))| ((*name).to_owned(), (*value).to_owned()));
    let days = visit.parameter("days").and_then(|days| days.parse().ok()).filter(|days| (1..=3650).contains(days));
    let since = days.map(|days| visit.visitor.console.clock.now() - Duration::from_hours(24) * days);
    let since = since.map(|since| ("created__lt".to_owned(), since.to_string()));
    let mut asked: Vec<_> = sent.map(written).chain(since).chain(photos).collect();
    if let Some(status) = asked.iter().position(|(name, value)| name == "status" && HIDDEN_AS.contains(&&**value)) {
        let ids = hidden_as(visit, &asked.remove(status).1).await?.into_iter().map(|(_, id)| id);
        // One that lists would take for two is left out.
        let ids = ids.filter(|id| !id.contains(',')).collect::<Vec<_>>().join(",");
        asked.push(("status".to_owned(), AdStatus::Hidden.name().to_owned()));
        let (name, value) = if ids.is_empty() { ("created__lt", NEVER.to_owned()) } else { ("source_id__in", ids) };
        asked.push((name.to_owned(), value));
    }
    Ok(asked)
}

/// Statuses of the filter by which hidden ads are told apart.
pub(super) const HIDDEN_AS: [&str; 2] = ["draft", "sold"];

/// Ads of one of them that are known at most.
pub(super) const MOST_HIDDEN_AS: u32 = 1000;

/// Before the first ad.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// The drafts or the sold ads of the visitor, by dealer and source id.
pub(super) async fn hidden_as(visit: &Visit, which: &str) -> Result<Vec<(String, String)>, ServiceError> {
    let dealers = visit.visitor.context.service.dealers_of_events(&visit.caller.scope, None);
    let (database, scope) = (&visit.visitor.console.database, Scope::Dealers(&dealers));
    Ok(if which == "sold" {
        database.sold_ads(scope, MOST_HIDDEN_AS).await?
    } else {
        database.draft_ads(scope, MOST_HIDDEN_AS).await?
    })
}

/// Parameters of a list.
type Pairs = Vec<(String, String)>;

/// The parameters that can be used with their query, and the names of those that cannot: the list is then as without them.
fn understood(sent: Pairs) -> (Pairs, Option<AdQuery>, Vec<String>) {
    match AdQuery::parse(AD_PARAMETERS, &sent) {
        Ok(query) => (sent, Some(query), Vec::new()),
        Err(errors) => {
            let wrong: Vec<_> = errors.violations().into_iter().map(|(path, _)| path).collect();
            let is_wrong = |name: &str| wrong.iter().any(|path| path.split('.').next() == Some(name));
            let rest: Pairs = sent.into_iter().filter(|(name, _)| !is_wrong(name)).collect();
            let query = AdQuery::parse(AD_PARAMETERS, &rest).ok();
            (rest, query, wrong)
        }
    }
}

/// An amount as a number: `189 900 kr` is 189900. What is none stays, and is refused.
fn whole_amount(text: &str) -> String {
    let plain = text.to_lowercase().replace("kr", "").replace("sek", "");
    plain.chars().filter(|character| !character.is_whitespace()).collect()
}

/// The brands of the visitor's ads with their names, by name.
async fn brands(visit: &Visit) -> Result<Vec<(String, String)>, ServiceError> {
    let service = &visit.visitor.context.service;
    let codes: Vec<_> = match &visit.caller.scope {
        Access::Dealer(code) => vec![code.clone()],
        scope => service.dealers_in(scope).iter().map(|dealer| dealer.code.clone()).collect(),
    };
    let most = BRANDS_OF / u32::try_from(codes.len()).unwrap_or(BRANDS_OF).clamp(1, BRANDS_OF);
    let mut brands = visit.visitor.console.database.brands(Scope::Dealers(&codes), most).await?;
    // One that is asked for stays to be seen.
    let asked = visit.parameter("brand").filter(|asked| !asked.is_empty() && !brands.iter().any(|it| it == asked));
    brands.extend(asked.map(str::to_owned));
    let catalogue = &service.rulebook().catalogue;
    let lists: Vec<_> = categories::typed()
        .flat_map(|(_, category)| category.fields())
        .filter_map(|field| match field.kind {
            Kind::Slug { list } if field.path == "brand" => Some(catalogue.list(list)),
            _ => None,
        })
        .collect();
    let named = |id: String| {
        let name = lists.iter().find_map(|list| list.name(&id)).unwrap_or(&id).to_owned();
        (id, name)
    };
    let mut named: Vec<_> = brands.into_iter().map(named).collect();
    named.sort_by_cached_key(|(_, name)| name.to_lowercase());
    Ok(named)
}

/// A page of ads with their quality.
struct Stock {
    query: AdQuery,
    page: PageOf<ListedAd>,
    total: Total,
    qualities: Vec<Option<QualitySummary>>,
    /// Dealer and source id of the sold ads.
    sold: HashSet<(String, String)>,
}

async fn list(visit: &Visit, query: AdQuery) -> Result<Stock, ApiError> {
    let query = AdQuery { fields: None, included: Included { quality: true, ..Included::default() }, ..query };
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    let common = match scope {
        Access::Dealer(code) => visit.visitor.console.database.common_search(code, &query, COMMON).await?,
        Access::Group(_) | Access::Operator => None,
    };
    let is_common = common.is_some();
    let page = match common {
        Some(page) => page,
        None => context.service.list(scope, None, query.clone()).await?,
    };
    let end = query.page.offset.saturating_add(page.rows.len() as u64);
    let total = if is_common && page.count > end {
        Total::MoreThan(end.max(COMMON.into()))
    } else {
        Total::Exactly(page.count)
    };
    let qualities = context.service.quality_summaries(scope, &page.rows);
    let has_hidden = page.rows.iter().any(|listed| listed.words.status == AdStatus::Hidden);
    let sold = if has_hidden { hidden_as(visit, "sold").await? } else { Vec::new() };
    Ok(Stock { query, page, total, qualities, sold: sold.into_iter().collect() })
}

/// What an address asks for that the filters have no field for, and that is not known.
fn unknown_filters(visit: &Visit, wrong: &[String]) -> Markup {
    let unknown: Vec<_> = wrong.iter().filter(|name| !PRICES.contains(&name.as_str())).cloned().collect();
    html! {
        @if !unknown.is_empty() {
            (page::notice(NoticeKind::Error, &html! { p { (visit.visitor.texts.filter_unknown) " " code { (unknown.join(", ")) } } }))
        }
    }
}

/// The filters in which somebody writes an amount.
const PRICES: [&str; 2] = ["price__gte", "price__lt"];

/// Name of the cookie that keeps the choice between table and cards.
const VIEW_COOKIE: &str = "console_view";

/// Whether the ads are shown as cards, as somebody has chosen. On a phone, the rows of the table are cards too.
fn is_cards(visit: &Visit) -> bool {
    visit.parameter("view").or(cookie_in(&visit.headers, VIEW_COOKIE)) == Some("cards")
}

/// Keeps what somebody has chosen.
fn keep_view(visit: &Visit, response: &mut Response) {
    if let Some(view @ ("table" | "cards")) = visit.parameter("view") {
        let path = visit.visitor.address("/");
        let cookie = format!("{VIEW_COOKIE}={view}; Path={path}; Max-Age=31536000; HttpOnly; SameSite=Lax");
        response.headers_mut().extend(HeaderValue::try_from(cookie).ok().map(|it| (header::SET_COOKIE, it)));
    }
}

/// The choice between table and cards.
fn views(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let link = |view: &str| {
        let others = visit.query.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        let query =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(others).append_pair("view", view).finish();
        visit.visitor.address(&format!("/stock?{query}"))
    };
    let current = |is: bool| is.then_some("true");
    html! {
        nav.actions.views aria-label=(texts.view) {
            a.button href=(link("table")) aria-current=[current(!is_cards(visit))] { (texts.table) }
            a.button href=(link("cards")) aria-current=[current(is_cards(visit))] { (texts.cards) }
        }
    }
}

/// The search and the filters that most need; the URL takes every parameter of a list.
fn filters(visit: &Visit, brands: &[(String, String)], wrong: &[String]) -> Markup {
    let texts = visit.visitor.texts;
    let value = |name: &str| visit.parameter(name).unwrap_or_default();
    let option =
        |name: &str, own: &str, text: &str| html! { option value=(own) selected[value(name) == own] { (text) } };
    let dealers =
        if is_of_group(visit) { visit.visitor.context.service.dealers_in(&visit.caller.scope) } else { Vec::new() };
    let others = visit.query.iter().filter(|(name, value)| {
        !FILTERS.contains(&name.as_str()) && !MORE.contains(&name.as_str()) && !value.is_empty()
    });
    html! {
        form.panel.row.filters method="get" action=(visit.visitor.address("/stock")) role="search" {
            @for (name, value) in others { input type="hidden" name=(name) value=(value); }
            div.search {
                label for="search" { (texts.search) }
                input #search type="search" name="q" value=(value("q")) maxlength="100" placeholder=(texts.search_hint);
            }
            div {
                label for="status" { (texts.status) }
                select #status name="status" {
                    (option("status", "", texts.all))
                    @for status in AdStatus::NAMES.iter().filter_map(|name| AdStatus::from_name(name)) {
                        (option("status", status.name(), texts.ad_status(status)))
                        @if status == AdStatus::Hidden {
                            @for (name, text) in HIDDEN_AS.into_iter().zip([texts.status_draft, texts.status_sold]) {
                                (option("status", name, &format!("{}: {text}", texts.status_hidden)))
                            }
                        }
                    }
                }
            }
            div {
                label for="ordering" { (texts.order) }
                select #ordering name="ordering" {
                    @for (order, text) in ORDERS { (option("ordering", order, text(texts))) }
                }
            }
            button.primary { (texts.search) }
            a.button href=(visit.visitor.address("/stock")) { (texts.reset) }
            details #more-filters open[MORE.iter().any(|name| !value(name).is_empty())] {
                summary { (texts.more_filters) }
                div.row {
                    @if !dealers.is_empty() {
                        div {
                            label for="dealer_code" { (texts.dealer) }
                            select #dealer_code name="dealer_code" {
                                (option("dealer_code", "", texts.all))
                                @for dealer in &dealers { (option("dealer_code", &dealer.code, &dealer.name)) }
                            }
                        }
                    }
                    div {
                        label for="days" { (texts.days_in_stock) }
                        select #days name="days" {
                            (option("days", "", texts.all))
                            @for days in DAYS { option value=(days) selected[value("days") == days] { (texts.longer_than) " " (days) } }
                        }
                    }
                    div {
                        label for="category_id" { (texts.vehicle_type) }
                        select #category_id name="category_id" {
                            (option("category_id", "", texts.all))
                            @for (_, category) in categories::typed() {
                                (option("category_id", &category.id.to_string(), named(visit.visitor.language, category.name)))
                            }
                        }
                    }
                    @if !brands.is_empty() {
                        div {
                            label for="brand" { (texts.brand) }
                            select #brand name="brand" {
                                (option("brand", "", texts.all))
                                @for (id, name) in brands { (option("brand", id, name)) }
                            }
                        }
                    }
                    (prices(visit, wrong))
                    div {
                        label for="photos" { (texts.photos) }
                        select #photos name="photos" {
                            (option("photos", "", texts.all))
                            (option("photos", "none", texts.without_photos))
                            @for count in ["5", "10"] { option value=(count) selected[value("photos") == count] { (texts.fewer_than) " " (count) } }
                            (option("photos", "failed", texts.some_failed))
                        }
                    }
                    div {
                        label for="quality_score__lt" { (texts.quality) }
                        select #quality_score__lt name="quality_score__lt" {
                            (option("quality_score__lt", "", texts.all))
                            (option("quality_score__lt", "50", texts.below_good))
                            (option("quality_score__lt", "80", texts.below_excellent))
                        }
                    }
                }
            }
        }
    }
}

/// The filters by price; what is no amount is said at the field.
fn prices(visit: &Visit, wrong: &[String]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        @for (name, text) in PRICES.into_iter().zip([texts.price_from, texts.price_to]) {
            @let is_wrong = wrong.iter().any(|it| it == name);
            div {
                label for=(name) { (text) }
                input #(name) name=(name) value=(visit.parameter(name).unwrap_or_default()) inputmode="numeric" size="9" maxlength="20"
                    autocomplete="off" aria-invalid=[is_wrong.then_some("true")]
                    aria-describedby=[is_wrong.then(|| format!("error-{name}"))];
                @if is_wrong { p.field-error #{ "error-" (name) } role="alert" { (texts.write_a_price) } }
            }
        }
    }
}

fn results(visit: &Visit, asked: &[(String, String)], stock: &Stock) -> Markup {
    let texts = visit.visitor.texts;
    let Stock { query, page, total, qualities, sold } = stock;
    if page.rows.is_empty() {
        return html! { div.panel #ads data-live { p { (texts.no_ads_found) } } };
    }
    let linked = visit.query.iter().filter(|(name, value)| !value.is_empty() && !["done", "views"].contains(&&**name));
    let linked: Vec<_> = linked.cloned().collect();
    let is_sold = |ListedAd { ad, .. }: &ListedAd| sold.contains(&(ad.dealer_code.clone(), ad.source_id.clone()));
    let mut ads = page.rows.iter().zip(qualities);
    html! {
        form method="post" action=(visit.visitor.address("/act")) {
            input type="hidden" name="next" value=(visit.visitor.here_without("done"));
            (bulk_bar(visit, asked, *total))
            div.panel #ads data-live {
                @if is_cards(visit) {
                    ul.cards { @for (ad, quality) in ads.by_ref() { (card(visit, ad, *quality, is_sold(ad))) } }
                } @else {
                    div.scrolls tabindex="0" role="region" aria-label=(texts.stock) {
                        table {
                            (head(visit, query, *total))
                            tbody { @for (ad, quality) in ads.by_ref() { (row(visit, ad, *quality, is_sold(ad))) } }
                        }
                    }
                }
                (page::paging(visit, "/stock", &linked, query.page, page.rows.len(), *total))
            }
        }
    }
}

/// What can be done with the ads that are selected, as far as the token may.
fn bulk_bar(visit: &Visit, asked: &[(String, String)], total: Total) -> Markup {
    let texts = visit.visitor.texts;
    // Shown and hidden by a plan, of which there is a preview.
    let is_planned = |action: AdAction| matches!(action, AdAction::Show | AdAction::Hide);
    let has_plans = plans::is_there(visit);
    let single = |action: &AdAction| visit.may(action.permission()) && !(has_plans && is_planned(*action));
    let permitted: Vec<_> = AdAction::OF_MANY.into_iter().filter(single).collect();
    let may_plan = has_plans && visit.may(Permission::Write);
    // With those that match, by a plan or a schedule of their own.
    let takes_matching = |action: AdAction| has_plans && matches!(action, AdAction::Bump | AdAction::Sold);
    html! {
        @if !permitted.is_empty() || may_plan {
            div.actions.bulk role="group" aria-label=(texts.with_selected) {
                // Selecting all needs the script.
                label.choose-all hidden { input type="checkbox" data-select-all; (texts.select_all) }
                @if (may_plan || permitted.contains(&AdAction::Bump) && has_plans) && let Total::Exactly(count) = total {
                    label.choose-all { input type="checkbox" name="matching" value=(bulk::matching(asked)) data-select-matching=(count); (texts.all_matching) " (" (page::number(count)) ")" }
                }
                span { span data-selected { "0" } " " (texts.selected) ":" }
                @if may_plan {
                    @for (change, text) in [("price", texts.change_price), ("hide", texts.hide_ad), ("show", texts.publish)] {
                        button name="change" value=(change) formaction=(visit.visitor.address("/bulk")) data-needs-selection { (text) "…" }
                    }
                }
                // On a phone, the bar is two lines, and this shows the rest of it.
                label.menu { input.unseen #more-bulk type="checkbox"; (texts.more_to_do) }
                @for action in permitted.iter().copied().filter(|action| takes_matching(*action)) {
                    button class=(action.class()) name="change" value=(action.name()) formaction=(visit.visitor.address("/bulk")) data-needs-selection { (action.label(texts)) "…" }
                }
                @for action in permitted.iter().copied().filter(|action| !takes_matching(*action)) {
                    button class=(action.class()) name="action" value=(action.name()) data-needs-selection data-only-ticked {
                        (action.label(texts)) @if action.needs_confirmation() { "…" }
                    }
                }
            }
        }
    }
}

fn can_select(visit: &Visit) -> bool {
    AdAction::OF_MANY.into_iter().any(|action| visit.may(action.permission()))
}

/// The heads of the columns; those by which lists can be ordered say so.
fn head(visit: &Visit, query: &AdQuery, total: Total) -> Markup {
    let texts = visit.visitor.texts;
    let is_short = matches!(total, Total::Exactly(count) if count <= SORTED);
    let sorts_short =
        |order: AdOrder, name: &str| html! { @if is_short { (sorts(visit, query, order, name)) } @else { (name) } };
    let sorted =
        |order: AdOrder| (query.order == order).then_some(if query.descending { "descending" } else { "ascending" });
    html! {
        caption.unseen { (texts.stock) }
        thead {
            tr {
                @if can_select(visit) {
                    th scope="col" { span.unseen { (texts.select) } }
                }
                th scope="col" { span.unseen { (texts.photo) } }
                th scope="col" aria-sort=[sorted(AdOrder::SourceId)] { (texts.ad) }
                th.number scope="col" aria-sort=[sorted(AdOrder::Price)] { (sorts_short(AdOrder::Price, texts.price)) }
                th scope="col" { (texts.status) }
                th scope="col" aria-sort=[sorted(AdOrder::QualityScore)] { (sorts_short(AdOrder::QualityScore, texts.quality)) }
                th scope="col" aria-sort=[sorted(AdOrder::Created)] { (sorts(visit, query, AdOrder::Created, texts.age)) }
            }
        }
    }
}

/// The head of a column as a link that sorts by it, or the other way round.
fn sorts(visit: &Visit, query: &AdQuery, order: AdOrder, name: &str) -> Markup {
    let descends = query.order == order && !query.descending;
    let others = visit.query.iter().filter(|(name, _)| !["ordering", "offset", "done"].contains(&name.as_str()));
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(others)
        .append_pair("ordering", &format!("{}{order}", if descends { "-" } else { "" }))
        .finish();
    html! { a href=(visit.visitor.address(&format!("/stock?{query}"))) { (name) } }
}

fn row(visit: &Visit, listed: &ListedAd, quality: Option<QualitySummary>, is_sold: bool) -> Markup {
    let texts = visit.visitor.texts;
    let ListedAd { ad, words, .. } = listed;
    html! {
        tr {
            @if can_select(visit) { td { (selects(visit, listed)) } }
            td.photo { (photo(visit, listed)) }
            th.title scope="row" {
                (link(visit, listed))
                br;
                @if let Some(plate) = ad.content.registration_number() { span.plate { (plate) } " " }
                @let own = Some(ad.source_id.as_str()).filter(|own| ad.content.registration_number().as_deref() != Some(*own));
                @let dealer = is_of_group(visit).then(|| dealer_name(visit, &ad.dealer_code));
                span.faint { (own.into_iter().chain(dealer.as_deref()).collect::<Vec<_>>().join(" · ")) }
            }
            td.number { (show::price(texts, &ad.content)) }
            td { (state(visit, ad, *words, is_sold)) }
            td.together { (score(texts, quality)) }
            td.together { (show::age(texts, ad.created, visit.visitor.console.clock.now())) }
        }
    }
}

fn card(visit: &Visit, listed: &ListedAd, quality: Option<QualitySummary>, is_sold: bool) -> Markup {
    let texts = visit.visitor.texts;
    let ListedAd { ad, words, .. } = listed;
    html! {
        li.card {
            div.photo { (photo(visit, listed)) }
            div.about {
                h2 { (link(visit, listed)) }
                p { (show::price(texts, &ad.content)) @if let Some(plate) = ad.content.registration_number() { " " span.plate { (plate) } } }
                p.faint { (show::facts(visit.visitor.language, &ad.content, |path, value| show::value(visit, Some(ad), None, path, value)).join(" · ")) }
                div { (state(visit, ad, *words, is_sold)) }
                p.together { (score(texts, quality)) }
                p.faint { (ad.source_id) " · " (show::age(texts, ad.created, visit.visitor.console.clock.now())) }
                @if can_select(visit) { label.choose-all { (selects(visit, listed)) (visit.visitor.texts.select) } }
            }
        }
    }
}

/// The status of an ad, the marketplace that is different, and why.
fn state(visit: &Visit, ad: &Ad, words: StatusWords, is_sold: bool) -> Markup {
    let texts = visit.visitor.texts;
    let channels = || [Market::Primary, Market::Secondary].map(|market| (market, words.channel(market)));
    html! {
        (badges::status_of(texts, ad, words.status, is_sold))
        @if words.status == AdStatus::PartlyLive {
            @for (market, status) in channels() {
                @if let Some(status) = status.filter(|status| *status != ChannelStatus::Live) {
                    br; span.reason { (texts.market(market)) ": " (texts.channel_status(status)) }
                }
            }
        }
        @if let Some(code) = words.failure { br; span.reason { (texts.failure(code)) } br; (cure::link(visit, ad, code, "to-cure")) }
    }
}

/// Whether the ads may be of several dealers.
fn is_of_group(visit: &Visit) -> bool {
    !matches!(visit.caller.scope, Access::Dealer(_))
}

fn link(visit: &Visit, ListedAd { ad, .. }: &ListedAd) -> Markup {
    let address = visit.visitor.address(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    html! { a href=(address) { (show::title(ad)) } }
}

fn selects(visit: &Visit, ListedAd { ad, .. }: &ListedAd) -> Markup {
    let label = format!("{} {}", visit.visitor.texts.select, show::title(ad));
    html! { input type="checkbox" name="ad" value=(AdKey::query(&ad.source_id, &ad.dealer_code)) data-select aria-label=(label); }
}

fn photo(visit: &Visit, ListedAd { ad, .. }: &ListedAd) -> Markup {
    html! {
        @match ad.image_refs.first() {
            Some(image) => img src=(show::rendition(visit, image, 320)) alt="" loading="lazy" width="96" height="72";
            None => span.no-photo role="img" aria-label=(visit.visitor.texts.no_photo) {},
        }
    }
}

fn score(texts: &Texts, quality: Option<QualitySummary>) -> Markup {
    html! {
        @if let Some(QualitySummary { score, level, findings }) = quality {
            (badges::score(texts, score, level))
            @if findings > 0 { " " span.faint { (texts.findings) ": " (findings) } }
        }
    }
}
