//! The stock as a file for spreadsheets, CSV or .xlsx: the ads that the page shows, all of them.

use std::collections::HashSet;

use ad_core::{
    csv_guard::guarded,
    model::{AdQuery, AdStatus, Included, MAX_LIMIT, QualitySummary, Timestamp},
    ports::ListedAd,
    service::ServiceError,
};
use ad_migrate::inspect::{Choices, ChosenField};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use poem::{Body, Response, http::header};

use super::{
    badges,
    columns::VEHICLE,
    form::named,
    page::Text,
    show, stock,
    texts::Language,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Ads of a file; a stock of more is narrowed by its filters.
const MOST: u64 = 20_000;

/// By this mark spreadsheets know UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What a column is where the file comes back as a stock file.
#[derive(Clone, Copy)]
enum Returned {
    Field(&'static str),
    /// It says how the ad is, which nobody changes by a file.
    Unused,
    /// The currency, which is that of the prices beside it.
    Currency,
}

use Returned::{Currency, Field, Unused};

/// A column of the file.
pub(super) struct Column {
    head: Text,
    returned: Returned,
    /// In a spreadsheet, in characters.
    pub(super) width: f64,
}

const fn column(head: Text, returned: Returned, width: f64) -> Column {
    Column { head, returned, width }
}

/// Number of columns.
const COUNT: usize = 16;

pub(super) const COLUMNS: [Column; COUNT] = [
    column(|texts| texts.plate, Field("category_fields.registration_number"), 12.0),
    column(|texts| texts.name, Unused, 40.0),
    column(|texts| texts.source_id, Field(SOURCE_ID), 20.0),
    column(|texts| texts.dealer, Unused, 16.0),
    column(|texts| texts.vehicle_type, Field(VEHICLE), 14.0),
    column(|texts| texts.status, Unused, 14.0),
    column(|texts| texts.reason, Unused, 40.0),
    column(|texts| texts.price, Field("price.list"), 12.0),
    column(|texts| texts.reduced_price, Unused, 12.0),
    column(|texts| texts.monthly_price, Field("price.monthly"), 12.0),
    column(|texts| texts.leasing_price, Field("price.leasing"), 12.0),
    column(|texts| texts.currency, Currency, 9.0),
    column(|texts| texts.quality, Unused, 9.0),
    column(|texts| texts.photos, Unused, 9.0),
    column(|texts| texts.days_in_stock, Unused, 14.0),
    column(|texts| texts.in_stock_since, Unused, 14.0),
];

const SOURCE_ID: &str = "source_id";

/// Columns by which a file of the console's own is known, beside that of the source ids: others may have been deleted.
const KNOWN_BY: usize = 5;

/// What the columns of a file are, if the console has written it, in any language, and whether it has no others.
pub(super) fn own_choices(names: &[&str]) -> Option<(Choices, bool)> {
    Language::ALL.iter().map(|language| language.texts()).find_map(|texts| {
        let own: Vec<_> = COLUMNS.iter().filter(|column| names.contains(&(column.head)(texts))).collect();
        let has_ids = own.iter().any(|column| matches!(column.returned, Field(SOURCE_ID)));
        if !has_ids || own.len() <= KNOWN_BY {
            return None;
        }
        let chosen = |column: &&Column| {
            let chosen = match column.returned {
                Field(field) => Some(ChosenField { field: field.to_owned(), unit: None }),
                Unused => None,
                Currency => return None,
            };
            Some(((column.head)(texts).to_owned(), chosen))
        };
        let is_own = |name: &&str| own.iter().any(|column| (column.head)(texts) == *name);
        let has_no_others = names.iter().all(is_own);
        Some((Choices { columns: own.iter().filter_map(chosen).collect(), ..Choices::default() }, has_no_others))
    })
}

/// A cell of the file.
pub(super) enum Cell {
    Text(String),
    Number(f64),
    /// A day.
    Day(Timestamp),
}

/// The address of the file `name` with the ads that were asked for.
pub(super) fn address(visit: &Visit, name: &str, asked: &[(String, String)]) -> String {
    let pairs = asked.iter().filter(|(name, _)| !["limit", "offset", "view", "views", "done"].contains(&name.as_str()));
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    visit.visitor.address(&format!("/{name}?{query}"))
}

/// `GET /console/stock.csv`, with the parameters of the stock.
pub(super) async fn download(visit: Visit) -> PageResult {
    // Spreadsheets of a language that writes decimals with a comma separate cells otherwise.
    let separator = if visit.visitor.language == Language::Swedish { ';' } else { ',' };
    let mut file = BYTE_ORDER_MARK.to_owned();
    rows(&visit, |cells| {
        let texts = cells.map(|cell| text(visit.visitor.language, cell));
        file.push_str(&line(separator, &texts));
        Ok(())
    })
    .await?;
    Ok(answer("stock.csv", "text/csv; charset=utf-8", file))
}

/// The answer that is downloaded as a file.
pub(super) fn answer(name: &str, content_type: &str, file: impl Into<Body>) -> Response {
    let response = Response::builder().content_type(content_type);
    let response = response.header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""));
    response.header(header::CACHE_CONTROL, "no-store").body(file.into())
}

/// Passes the head of the file on, and then the row of each ad.
pub(super) async fn rows(
    visit: &Visit,
    mut each: impl FnMut([Cell; COUNT]) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let (texts, context, scope) = (visit.visitor.texts, &visit.visitor.context, &visit.caller.scope);
    let query = AdQuery::parse(AD_PARAMETERS, &stock::asked(visit).await?).map_err(ServiceError::InvalidQuery)?;
    let included = Included { quality: true, ..Included::default() };
    let mut query = AdQuery { fields: None, included, ..query };
    (query.page.limit, query.page.offset) = (MAX_LIMIT, 0);
    let sold: HashSet<_> = stock::hidden_as(visit, "sold").await?.into_iter().collect();
    each(COLUMNS.map(|column| Cell::Text((column.head)(texts).to_owned())))?;
    loop {
        let mut turn = context.limits.lists.turn(scope.name()).await?;
        let page = context.service.list(scope, None, query.clone()).await?;
        turn.has_read();
        let qualities = context.service.quality_summaries(scope, &page.rows);
        for (listed, quality) in page.rows.iter().zip(qualities) {
            let ListedAd { ad, .. } = listed;
            let is_sold = sold.contains(&(ad.dealer_code.clone(), ad.source_id.clone()));
            each(cells(visit, listed, quality, is_sold))?;
        }
        query.page.offset += page.rows.len() as u64;
        if page.rows.is_empty() || query.page.offset >= page.count.min(MOST) {
            return Ok(());
        }
    }
}

fn cells(
    visit: &Visit,
    ListedAd { ad, words, .. }: &ListedAd,
    quality: Option<QualitySummary>,
    is_sold: bool,
) -> [Cell; COUNT] {
    let texts = visit.visitor.texts;
    let status = match words.status {
        AdStatus::Hidden => badges::hidden_as(texts, ad, is_sold),
        status => texts.ad_status(status),
    };
    let prices = show::prices(&ad.content);
    let none = || Cell::Text(String::new());
    let price = |of: &str| {
        let amount = prices.iter().find(|(kind, ..)| *kind == of).map(|(_, amount, _)| *amount);
        amount.map_or_else(none, Cell::Number)
    };
    let currency = prices.iter().find(|(kind, ..)| *kind != "call").map_or("", |(.., currency)| currency);
    let vehicle_type = ad.category().map_or("", |category| named(visit.visitor.language, category.name));
    let days = (visit.visitor.console.clock.now() - ad.created).as_secs() / 86_400;
    [
        Cell::Text(ad.content.registration_number().unwrap_or_default().into_owned()),
        Cell::Text(show::title(ad).to_owned()),
        Cell::Text(ad.source_id.clone()),
        Cell::Text(ad.dealer_code.clone()),
        Cell::Text(vehicle_type.to_owned()),
        Cell::Text(status.to_owned()),
        Cell::Text(words.failure.map_or_else(String::new, |code| texts.failure(code).to_owned())),
        price("list"),
        price("reduced"),
        price("monthly"),
        price("leasing"),
        Cell::Text(currency.to_owned()),
        quality.map_or_else(none, |quality| Cell::Number(quality.score.into())),
        count(ad.image_refs.len() as u64),
        count(days),
        Cell::Day(ad.created),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "nothing is counted that far")]
fn count(count: u64) -> Cell {
    Cell::Number(count as f64)
}

/// The text of a cell of CSV.
fn text(language: Language, cell: Cell) -> String {
    match cell {
        Cell::Text(text) => text,
        Cell::Number(number) if language == Language::Swedish => number.to_string().replace('.', ","),
        Cell::Number(number) => number.to_string(),
        Cell::Day(day) => day.to_string().get(..10).unwrap_or_default().to_owned(),
    }
}

/// A line of the file. No cell begins a formula.
fn line<const N: usize>(separator: char, cells: &[String; N]) -> String {
    let quoted = cells.each_ref().map(|cell| {
        let cell = guarded(cell.clone());
        let needs_quotes = cell.contains([separator, '"', '\n', '\r']);
        if needs_quotes { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    });
    format!("{}\r\n", quoted.join(separator.encode_utf8(&mut [0; 4])))
}
