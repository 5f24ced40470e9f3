//! Reads of ads and of log entries, whose conditions vary. A list is a page and the exact number of the whole, in one statement
//! and so in one state of the database.
//!
//! A page is bounded in rows and in bytes. The statement adds up the lengths of its rows, which does not read the texts
//! themselves, and then reads those that fit.

use std::sync::OnceLock;

use ad_core::{
    categories,
    model::{
        Action, ActionState, AdFilter, AdOrder, AdQuery, AdState, Bound, EarlierPrices, FailedImage, LogQuery, Price,
        Publication, StatusCount, Timestamp,
    },
    ports::{ListedAd, PAGE_BYTES, PageOf, Scope, StatusFacts, StoreError, StoredAd, TagOfAd},
};
use uuid::Uuid;

use super::{
    Columns, Database, Sql, Statement, contents, from_columns,
    rows::FromColumns,
    search::Search,
    sql::ads as sql,
    statement::{Dialect, Values},
};

impl Database {
    /// The columns of each ad of a source id.
    pub(super) async fn find<T: FromColumns>(
        &self,
        columns: &'static BySourceId,
        scope: Scope<'_>,
        source_id: &str,
    ) -> Result<Vec<T>, StoreError> {
        Columns::all(&self.look_up(columns.statement(self.dialect(), scope, source_id)).await?)
    }

    /// A page of a search that finds more than `common` texts or ads of a dealer. Its cost does not grow with what the search finds, because
    /// the count goes to the first ad after the page only. `None` for every other list, which
    /// [`Store::list`](ad_core::ports::Store::list) reads and counts exactly.
    pub async fn common_search(
        &self,
        dealer_code: &str,
        query: &AdQuery,
        common: u32,
    ) -> Result<Option<PageOf<ListedAd>>, StoreError> {
        let searches = Search::all(query);
        let [search] = &*searches else { return Ok(None) };
        if contents::sorts(query.order) {
            return Ok(None);
        }
        let mut values = Values::new(self.dialect());
        let ads = search.found(&mut values, Scope::Dealer(dealer_code));
        let most = values.add(common.saturating_add(1));
        let text = format!("SELECT count(*) FROM (SELECT 1 FROM ({ads}) AS found LIMIT {most}) AS counted");
        let mut found = 0;
        self.list(values.statement(text), |counted| found = counted).await?;
        if found <= common {
            return Ok(None);
        }
        self.page(walk(self.dialect(), dealer_code, query)).await.map(Some)
    }

    pub async fn count_by_status(&self, scope: Scope<'_>) -> Result<Vec<StatusCount>, StoreError> {
        let mut counts = Vec::new();
        self.list(sql::CountByStatus { dealer_codes: codes(scope) }.into(), |count| counts.push(count)).await?;
        Ok(counts)
    }

    pub(super) async fn page<T: FromColumns + Send>(&self, statement: Statement) -> Result<PageOf<T>, StoreError> {
        let mut count = 0;
        let mut rows = Vec::new();
        let take = |of_page: RowOfPage<T>| {
            count = of_page.count;
            rows.extend(of_page.placed);
        };
        self.list(statement, take).await?;
        // Otherwise the database would sort whole rows.
        rows.sort_unstable_by_key(|(place, _)| *place);
        Ok(PageOf { count, rows: rows.into_iter().map(|(_, row)| row).collect() })
    }
}

/// A row of a page with its place, and the number of all rows. An empty page has one without place, with the number.
struct RowOfPage<T> {
    count: u64,
    placed: Option<(i64, T)>,
}

impl<T: FromColumns> FromColumns for RowOfPage<T> {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let (count, place): (_, Option<i64>) = columns.read()?;
        let placed = match place {
            Some(place) => Some((place, columns.read()?)),
            None => None,
        };
        Ok(Self { count, placed })
    }
}

from_columns! {
    ListedAd { ad: listed_ad, words, failed_images: failed_images, log }
    TagOfAd { dealer_code, category_id, tag }
    StatusCount { words, category_id, ads }
}

impl Columns<'_> {
    fn failed_images(&mut self) -> Result<Vec<FailedImage>, StoreError> {
        Ok(self.read::<Publication>()?.failed_images)
    }
}

impl FromColumns for StatusFacts {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let stored: StoredAd = columns.read()?;
        Ok(Self { unfinished: columns.unfinished(&stored.ad)?, stored })
    }
}

impl FromColumns for Vec<EarlierPrices> {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let earlier: Option<Vec<(i64, Option<Vec<Price>>)>> = columns.maybe_json()?;
        let earlier = earlier.unwrap_or_default().into_iter();
        Ok(earlier.map(|(until, prices)| EarlierPrices { until: Timestamp::from_millis(until), prices }).collect())
    }
}

pub(super) fn codes(scope: Scope<'_>) -> Vec<String> {
    match scope {
        Scope::Dealer(code) => vec![code.to_owned()],
        Scope::Dealers(codes) => codes.to_vec(),
    }
}

/// The dealer on whose behalf a scope waits for resources: the first one of a group.
pub(super) fn dealer_to_charge(scope: Scope<'_>) -> &str {
    match scope {
        Scope::Dealer(code) => code,
        Scope::Dealers(codes) => codes.first().map_or("", String::as_str),
    }
}

/// The tag of an ad. Its log has an entry for every number up to the highest.
const TAG: &str = "content_revision, visible_changes + coalesce((SELECT max(n) FROM log WHERE log.ad = ads.seq), 0)";

/// The latest log entries of an ad with their numbers, in any order, as JSON. 100 is `ad_core::model::LATEST_ENTRIES`. They are sorted
/// when they are read, because SQLite would use a temporary table for it.
fn latest_log(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "(SELECT json_group_array(json_array(n, request_id, created, action, state, json(message), code))
              FROM (SELECT * FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest)"
        }
        Dialect::Postgres => {
            "(SELECT CAST(json_agg(
                json_build_array(n, request_id, created, action, state, CAST(message AS JSON), code)) AS TEXT)
              FROM (SELECT * FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest)"
        }
    }
}

/// The unfinished requests of an ad with their log entries, in their order, as JSON. A request's entries stand one behind the other
/// in the ad's log; 20 is `ad_core::model::REQUEST_ENTRIES`.
fn unfinished(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "(SELECT json_group_array(json_array(requests.id, json(plan), json(progress), accepted, claimable,
                (SELECT json_group_array(
                    json_array(n, request_id, log.created, action, log.state, json(message), code))
                 FROM log WHERE log.ad = ads.seq AND log.request_id = requests.id
                    AND n > (SELECT max(n) FROM log AS latest WHERE latest.ad = ads.seq) - 20)) ORDER BY requests.seq)
              FROM requests WHERE requests.ad = ads.seq)"
        }
        Dialect::Postgres => {
            "(SELECT CAST(json_agg(json_build_array(requests.id, CAST(plan AS JSON), CAST(progress AS JSON), accepted, claimable,
                (SELECT json_agg(
                    json_build_array(n, request_id, log.created, action, log.state, CAST(message AS JSON), code))
                 FROM log WHERE log.ad = ads.seq AND log.request_id = requests.id
                    AND n > (SELECT max(n) FROM log AS latest WHERE latest.ad = ads.seq) - 20)) ORDER BY requests.seq) AS TEXT)
              FROM requests WHERE requests.ad = ads.seq)"
        }
    }
}

/// The earlier prices of an ad, oldest first, as JSON.
fn earlier_prices(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "(SELECT json_group_array(json_array(until, json(price)) ORDER BY prices.revision)
              FROM prices WHERE prices.ad = ads.seq)"
        }
        Dialect::Postgres => {
            "(SELECT CAST(json_agg(json_build_array(until, CAST(price AS JSON)) ORDER BY prices.revision) AS TEXT)
              FROM prices WHERE prices.ad = ads.seq)"
        }
    }
}

/// Reads columns of the ads of a source id.
pub(super) struct BySourceId {
    columns: fn(Dialect) -> String,
    of_dealer: OnceLock<Sql>,
}

pub(super) static AD: BySourceId = BySourceId::of(|_| stored_ad("NULL"));
pub(super) static AD_WITH_LOG: BySourceId = BySourceId::of(|dialect| stored_ad(latest_log(dialect)));
pub(super) static AD_WITH_UNFINISHED: BySourceId = BySourceId::of(|dialect| stored_ad(unfinished(dialect)));
pub(super) static AD_WITH_PRICES: BySourceId = BySourceId::of(|dialect| stored_ad(earlier_prices(dialect)));
pub(super) static TAG_OF_AD: BySourceId = BySourceId::of(|_| format!("dealer_code, category_id, {TAG}"));

/// The columns of an ad, and one more.
fn stored_ad(with: &str) -> String {
    format!(
        "id, source_id, dealer_code, category_id, state, api_version, content, image_refs, marketplace_ad_id, offer_id,
    created, updated, revision, intent, pole_position_until, leftover, {TAG}, status, channels, status_since, publication, {with}"
    )
}

/// The ads of a dealer with these source ids. PostgreSQL looks up each, also by a plan that was made while the table was empty.
pub(super) fn ads_of_stock(dialect: Dialect, dealer_code: &str, source_ids: &[String]) -> Statement {
    let mut values = Values::new(dialect);
    let (dealer_code, source_ids) = (values.add(dealer_code), values.add(source_ids));
    let columns = stored_ad("NULL");
    values.statement(match dialect {
        Dialect::Sqlite => format!(
            "SELECT {columns} FROM (SELECT value AS wanted_id FROM json_each({source_ids})) AS wanted CROSS JOIN ads
WHERE ads.source_id = wanted_id AND ads.dealer_code = {dealer_code}"
        ),
        Dialect::Postgres => format!(
            "SELECT {columns} FROM unnest({source_ids}) AS wanted (wanted_id) CROSS JOIN LATERAL (
    SELECT * FROM ads WHERE ads.source_id = wanted_id AND ads.dealer_code = {dealer_code} LIMIT 1
) AS ads"
        ),
    })
}

impl BySourceId {
    const fn of(columns: fn(Dialect) -> String) -> Self {
        Self { columns, of_dealer: OnceLock::new() }
    }

    fn statement(&'static self, dialect: Dialect, scope: Scope<'_>, source_id: &str) -> Statement {
        let statement = match scope {
            Scope::Dealer(code) => {
                Statement::new(self.of_dealer.get_or_init(|| self.of_dealer()), vec![source_id.into(), code.into()])
            }
            Scope::Dealers(_) => self.of_group(dialect, scope, source_id),
        };
        statement.for_client_of(dealer_to_charge(scope))
    }

    /// Of one dealer, which has one such ad. Those of concurrent clients are read together.
    fn of_dealer(&self) -> Sql {
        let [sqlite, postgres] = [Dialect::Sqlite, Dialect::Postgres].map(self.columns);
        Sql::new(vec!["source_id", "dealer_code"])
            .sqlite(&format!(
                "WITH :input SELECT {sqlite}, input_number FROM input CROSS JOIN ads USING (source_id, dealer_code)"
            ))
            .postgres(&format!(
                "WITH :input SELECT {postgres}, input_number FROM input JOIN ads USING (source_id, dealer_code)"
            ))
    }

    fn of_group(&self, dialect: Dialect, scope: Scope<'_>, source_id: &str) -> Statement {
        let mut values = Values::new(dialect);
        let source_id = values.add(source_id);
        let dealers = values.within(scope, "dealer_code");
        let columns = (self.columns)(dialect);
        values.statement(format!("SELECT {columns} FROM ads WHERE source_id = {source_id} AND {dealers} ORDER BY seq"))
    }
}

/// Size of a row of an ad without content, images and log.
const AD_BYTES: u32 = 800;
/// Size of a log entry without its message.
const ENTRY_BYTES: u32 = 200;

/// A page of ads. Counting and paging read indexes only; whole ads are read for the rows of the page alone.
pub(super) fn list(dialect: Dialect, scope: Scope<'_>, query: &AdQuery) -> Statement {
    list_by(dialect, scope, query, &Way::Index)
}

/// The same, if the words of the query find these ads.
pub(super) fn list_few(dialect: Dialect, scope: Scope<'_>, query: &AdQuery, found: Vec<i64>) -> Statement {
    list_by(dialect, scope, query, &Way::Few(found))
}

/// The same of one dealer, walking the ads in the order of the list and reading the text of each until the page is full. The count goes
/// to the first ad after the page.
pub(super) fn walk(dialect: Dialect, dealer_code: &str, query: &AdQuery) -> Statement {
    list_by(dialect, Scope::Dealer(dealer_code), query, &Way::Walk(dealer_code))
}

/// A filter on one dealer of a group leaves out the others.
pub(super) fn narrowed<'s>(scope: Scope<'s>, query: &'s AdQuery) -> Scope<'s> {
    let named = query.filters.iter().find_map(|filter| match filter {
        AdFilter::DealerCode(code) if scope.covers(code) => Some(code),
        _ => None,
    });
    named.map_or(scope, |code| Scope::Dealer(code))
}

/// How a list finds its ads.
enum Way<'w> {
    /// In the index that has its order, of which searches leave some.
    Index,
    /// The same of one dealer, until the page is full.
    Walk(&'w str),
    /// By the numbers of these, which the search for words has found.
    Few(Vec<i64>),
}

fn list_by(dialect: Dialect, scope: Scope<'_>, query: &AdQuery, way: &Way<'_>) -> Statement {
    let mut values = Values::new(dialect);
    let scope = narrowed(scope, query);
    let others = query.filters.iter().filter(|filter| !Search::is_one(filter));
    let others: Vec<_> = others.collect();
    let mut searches = Search::all(query);
    let (few, walks) = match way {
        Way::Index => (None, None),
        Way::Walk(dealer_code) => (None, Some(*dealer_code)),
        Way::Few(found) => {
            searches.retain(|search| !matches!(search, Search::Words(_)));
            (Some(found), None)
        }
    };
    // The result of a search is materialised for the number and the page; anything else is read twice as quickly.
    let is_read_twice = searches.is_empty()
        && few.is_none()
        && !contents::sorts(query.order)
        && !others.iter().any(|filter| contents::reads(filter));
    let materialized = if is_read_twice { "NOT MATERIALIZED" } else { "MATERIALIZED" };
    let mut conditions = values.within(scope, "dealer_code");
    for filter in &others {
        conditions += " AND ";
        conditions += &condition(&mut values, filter);
    }
    let (found, index) = match dialect {
        Dialect::Postgres if walks.is_some() => (String::new(), String::new()),
        Dialect::Postgres => {
            // The scope itself narrows a search, and a filter on a dealer is part of it.
            let narrows = others.iter().any(|filter| !matches!(filter, AdFilter::DealerCode(_)));
            let others = narrows.then_some(conditions.as_str());
            let found = |search: &Search| search.found_table(&mut values, scope, others);
            (searches.iter().map(found).collect(), String::new())
        }
        Dialect::Sqlite if few.is_some() => (String::new(), " NOT INDEXED".to_owned()),
        // SQLite needs the index named: it does not know how many ads the dealers have.
        Dialect::Sqlite => (String::new(), format!(" INDEXED BY {}", index(query))),
    };
    for search in &searches {
        conditions += " AND ";
        conditions += &match walks {
            Some(dealer_code) => search.condition_on_each(&mut values, dealer_code),
            None => search.condition(&mut values, scope),
        };
    }
    if let Some(found) = few {
        conditions += " AND ";
        conditions += &values.one_of("seq", found.clone());
    }
    let (sorted, direction) = (contents::sorted_by(&mut values, query.order), direction(query.descending));
    let (limit, offset) = (values.add(query.page.limit), values.add(query.page.offset));
    let end = match walks {
        Some(_) => {
            let next = query.page.offset.saturating_add(u64::from(query.page.limit)).saturating_add(1);
            format!("\n    ORDER BY sorted{direction}, seq{direction} LIMIT {}", values.add(next))
        }
        None => String::new(),
    };
    let (content, content_bytes) =
        if query.asks_for_content() { ("ads.content", " + octet_length(ads.content)") } else { ("'{}'", "") };
    let (images, image_bytes) =
        if query.asks_for_images() { ("ads.image_refs", " + octet_length(ads.image_refs)") } else { ("'[]'", "") };
    let (log, log_bytes) = if query.included.log {
        let bytes = format!(
            " + coalesce((SELECT sum(octet_length(message) + {ENTRY_BYTES})
        FROM (SELECT message FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest), 0)"
        );
        (latest_log(dialect), bytes)
    } else {
        ("NULL", String::new())
    };
    let publication = if query.included.quality { "ads.publication" } else { "NULL" };
    // The rows of the last select come in any order: sorting them would sort whole ads.
    values.statement(format!(
        "WITH {found}matching AS {materialized} (
    SELECT seq, {sorted} AS sorted FROM ads{index} WHERE {conditions}{end}
), page AS (
    SELECT * FROM matching ORDER BY sorted{direction}, seq{direction} LIMIT {limit} OFFSET {offset}
), sized AS (
    SELECT page.seq, page.sorted, {AD_BYTES}{content_bytes}{image_bytes}{log_bytes} AS size
    FROM page CROSS JOIN ads WHERE ads.seq = page.seq
), cut AS (
    SELECT seq, place
    FROM (
        SELECT seq, sum(size) OVER page AS total, row_number() OVER page AS place FROM sized
        WINDOW page AS (ORDER BY sorted{direction}, seq{direction} ROWS UNBOUNDED PRECEDING)
    ) AS summed
    WHERE place = 1 OR total <= {PAGE_BYTES}
)
SELECT (SELECT count(*) FROM matching), cut.place,
    ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.state, ads.api_version, {content}, {images},
    ads.marketplace_ad_id, ads.offer_id, ads.created, ads.updated, ads.status, ads.channels, {publication}, {log}
FROM (SELECT 1) AS one LEFT JOIN cut ON true LEFT JOIN ads ON ads.seq = cut.seq"
    ))
}

pub(super) fn log(dialect: Dialect, ad: Uuid, query: &LogQuery) -> Statement {
    let mut values = Values::new(dialect);
    let ad = values.add(ad);
    let mut conditions = vec![format!("ad = (SELECT seq FROM ads WHERE id = {ad})")];
    if let Some(action) = query.action {
        conditions.push(format!("action = {}", values.add(Action::name(action))));
    }
    if let Some(state) = query.state {
        conditions.push(format!("state = {}", values.add(ActionState::name(state))));
    }
    if let Some(request) = query.request_id {
        conditions.push(format!("request_id = {}", values.add(request)));
    }
    let conditions = conditions.join(" AND ");
    let direction = direction(query.descending);
    let (limit, offset) = (values.add(query.page.limit), values.add(query.page.offset));
    values.statement(format!(
        "WITH matching AS NOT MATERIALIZED (
    SELECT n, created, octet_length(message) + {ENTRY_BYTES} AS size
    FROM log WHERE {conditions}
), page AS (
    SELECT * FROM matching ORDER BY created{direction}, n{direction} LIMIT {limit} OFFSET {offset}
), cut AS (
    SELECT n, place
    FROM (
        SELECT n, sum(size) OVER page AS total, row_number() OVER page AS place FROM page
        WINDOW page AS (ORDER BY created{direction}, n{direction} ROWS UNBOUNDED PRECEDING)
    ) AS summed
    WHERE place = 1 OR total <= {PAGE_BYTES}
)
SELECT (SELECT count(*) FROM matching), cut.place, log.request_id, log.created, log.action, log.state, log.message, log.code
FROM (SELECT 1) AS one LEFT JOIN cut ON true
    LEFT JOIN log ON log.n = cut.n AND log.ad = (SELECT seq FROM ads WHERE id = {ad})"
    ))
}

/// The index that a list is read from: that of a filter which names a few ads, or one that decides every condition, in the
/// order of the list if possible.
fn index(query: &AdQuery) -> &'static str {
    let is_bound_by_update = |filter: &AdFilter| matches!(filter, AdFilter::Time(AdOrder::Updated, ..));
    let of_few = |filter: &AdFilter| match filter {
        // The one that the database makes for the first UNIQUE column of the table.
        AdFilter::Id(_) => Some("sqlite_autoindex_ads_1"),
        AdFilter::SourceId(_) => Some("ads_source_id"),
        AdFilter::MarketplaceAdId(_) => Some("ads_marketplace_ad_id"),
        AdFilter::RegistrationNumber(_) => Some("ads_registration_number"),
        _ => None,
    };
    query.filters.iter().find_map(of_few).unwrap_or(match query.order {
        _ if query.filters.iter().any(is_bound_by_update) => "ads_updated",
        // Not in the order of the list: the ads that are left are sorted.
        AdOrder::Created | AdOrder::QualityScore | AdOrder::Price => "ads_created",
        AdOrder::Updated => "ads_updated",
        AdOrder::SourceId => "ads_source_id",
    })
}

fn direction(descending: bool) -> &'static str {
    if descending { " DESC" } else { "" }
}

fn condition(values: &mut Values, filter: &AdFilter) -> String {
    match filter {
        AdFilter::Search(_) | AdFilter::SourceIdContains(_) | AdFilter::Words(_) => {
            unreachable!("searches are conditions of their own")
        }
        AdFilter::Id(id) => format!("id = {}", values.add(*id)),
        AdFilter::State(state) => format!("state = {}", values.add(AdState::name(*state))),
        AdFilter::Status(statuses) => {
            values.one_of("status", statuses.iter().map(|status| status.name().to_owned()).collect::<Vec<_>>())
        }
        AdFilter::SourceId(ids) => values.one_of("source_id", ids.as_slice()),
        AdFilter::DealerCode(code) => format!("dealer_code = {}", values.add(code.as_str())),
        AdFilter::CategoryId(ids) => values.one_of("category_id", numbers(ids.iter().copied())),
        AdFilter::MarketplaceAdId(ids) => values.one_of("marketplace_ad_id", ids.as_slice()),
        AdFilter::RegistrationNumber(plate) => {
            let plate = values.add(plate.as_str());
            let with_plates = categories::all().filter(|category| category.is_found_by_plate());
            let with_plates = values.one_of("category_id", numbers(with_plates.map(|category| category.id)));
            format!("registration_number = {plate} AND {with_plates}")
        }
        AdFilter::QualityScore(bound, limit) => format!("quality_score {} {}", operator(*bound), values.add(*limit)),
        AdFilter::Brand(_) | AdFilter::Price(..) | AdFilter::ImageCount(..) | AdFilter::FailedImages(_) => {
            contents::condition(values, filter)
        }
        AdFilter::Time(order, bound, time) => format!("{order} {} {}", operator(*bound), values.add(*time)),
    }
}

pub(super) fn operator(bound: Bound) -> &'static str {
    match bound {
        Bound::Gt => ">",
        Bound::Gte => ">=",
        Bound::Lt => "<",
        Bound::Lte => "<=",
    }
}

pub(super) fn numbers(numbers: impl Iterator<Item = u16>) -> Vec<i64> {
    numbers.map(i64::from).collect()
}
