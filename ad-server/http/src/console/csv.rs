//! The stock as a file for spreadsheets: the ads that the page shows, all of them.

use ad_core::{
    csv_guard::guarded,
    model::{AdQuery, Included, MAX_LIMIT, QualitySummary},
    ports::ListedAd,
    service::ServiceError,
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use poem::{Response, http::header};

use super::{
    show, stock,
    texts::{Language, Texts},
    visitor::{PageResult, Visit},
};

/// Ads of a file; a stock of more is narrowed by its filters.
const MOST: u64 = 20_000;

/// By this mark spreadsheets know UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The address of the file with the ads that were asked for.
pub(super) fn address(visit: &Visit, asked: &[(String, String)]) -> String {
    let pairs = asked.iter().filter(|(name, _)| !["limit", "offset"].contains(&name.as_str()));
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    visit.visitor.address(&format!("/stock.csv?{query}"))
}

/// `GET /console/stock.csv`, with the parameters of the stock.
pub(super) async fn download(visit: Visit) -> PageResult {
    let (texts, context, scope) = (visit.visitor.texts, &visit.visitor.context, &visit.caller.scope);
    let query = AdQuery::parse(AD_PARAMETERS, &stock::asked(&visit)).map_err(ServiceError::InvalidQuery)?;
    let included = Included { quality: true, ..Included::default() };
    let mut query = AdQuery { fields: None, included, ..query };
    (query.page.limit, query.page.offset) = (MAX_LIMIT, 0);
    // Spreadsheets of a language that writes decimals with a comma separate cells otherwise.
    let separator = if visit.visitor.language == Language::Swedish { ';' } else { ',' };
    let mut file = format!("{BYTE_ORDER_MARK}{}", line(separator, &head(texts).map(str::to_owned)));
    loop {
        let mut turn = context.limits.lists.turn(scope.name()).await?;
        let page = context.service.list(scope, None, query.clone()).await?;
        turn.has_read();
        let qualities = context.service.quality_summaries(scope, &page.rows);
        for (listed, quality) in page.rows.iter().zip(qualities) {
            file.push_str(&line(separator, &cells(&visit, listed, quality)));
        }
        query.page.offset += page.rows.len() as u64;
        if page.rows.is_empty() || query.page.offset >= page.count.min(MOST) {
            break;
        }
    }
    let response = Response::builder().content_type("text/csv; charset=utf-8");
    let response = response.header(header::CONTENT_DISPOSITION, "attachment; filename=\"stock.csv\"");
    Ok(response.header(header::CACHE_CONTROL, "no-store").body(file))
}

fn head(texts: &Texts) -> [&'static str; 11] {
    [
        texts.plate,
        texts.name,
        texts.source_id,
        texts.dealer,
        texts.status,
        texts.reason,
        texts.price,
        texts.currency,
        texts.quality,
        texts.photos,
        texts.days_in_stock,
    ]
}

fn cells(visit: &Visit, ListedAd { ad, words, .. }: &ListedAd, quality: Option<QualitySummary>) -> [String; 11] {
    let texts = visit.visitor.texts;
    let price = show::prices(&ad.content).into_iter().find(|(kind, ..)| *kind != "call");
    let (amount, currency) = price.map_or_else(Default::default, |(_, amount, currency)| {
        let amount = amount.to_string();
        let decimal = if visit.visitor.language == Language::Swedish { amount.replace('.', ",") } else { amount };
        (decimal, currency.to_owned())
    });
    let days = (visit.visitor.console.clock.now() - ad.created).as_secs() / 86_400;
    [
        ad.content.registration_number().unwrap_or_default().into_owned(),
        show::title(ad).to_owned(),
        ad.source_id.clone(),
        ad.dealer_code.clone(),
        texts.ad_status(words.status).to_owned(),
        words.failure.map_or_else(String::new, |code| texts.failure(code).to_owned()),
        amount,
        currency,
        quality.map_or_else(String::new, |quality| quality.score.to_string()),
        ad.image_refs.len().to_string(),
        days.to_string(),
    ]
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
