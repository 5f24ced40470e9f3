//! Lists of ads and of log entries: a part and the exact number of the whole, in one statement and so in one state of
//! the database.
//!
//! A part is bounded in rows and in bytes. The statement adds up how long its rows are, which reads none of them, and reads
//! those that fit.

use std::borrow::Cow;

use ad_core::{
    categories,
    model::{Action, ActionState, Ad, AdFilter, AdOrder, AdQuery, AdState, Bound, LogEntry, LogQuery, Page},
    ports::{PAGE_BYTES, PageOf, Scope, StoreError},
};
use uuid::Uuid;

use super::{
    Columns, DatabaseStore, Row, Statement,
    rows::{folded, log_entry},
    sql::{ad_columns, latest_log},
    sqlite,
    statement::Dialect,
};

/// A text that is searched.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text {
    /// Title and body.
    Search,
    /// The client's reference.
    SourceId,
}

impl Text {
    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::Search => "texts.search",
            Self::SourceId => "texts.source_id",
        }
    }

    /// The table of what has been found in it.
    const fn found(self) -> &'static str {
        match self {
            Self::Search => "found_text",
            Self::SourceId => "found_source_id",
        }
    }
}

impl DatabaseStore {
    pub(super) async fn list_ads(
        &self,
        scope: Scope<'_>,
        query: &AdQuery,
    ) -> Result<PageOf<(Ad, Vec<LogEntry>)>, StoreError> {
        let mut sql = Statement::build(self.database.dialect());
        push_list(&mut sql, scope, query);
        self.page(sql, |columns| Ok((columns.ad()?, columns.entries()?))).await
    }

    pub(super) async fn list_log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        let mut sql = Statement::build(self.database.dialect());
        sql.push("WITH matching AS NOT MATERIALIZED (SELECT n, created, octet_length(message) + ");
        sql.push(ENTRY_BYTES).push(" AS size FROM log WHERE ad = (SELECT seq FROM ads WHERE id = ");
        sql.push_bind(ad).push(")");
        if let Some(action) = query.action {
            sql.push(" AND action = ").push_bind(Action::name(action));
        }
        if let Some(state) = query.state {
            sql.push(" AND state = ").push_bind(ActionState::name(state));
        }
        if let Some(request) = query.request_id {
            sql.push(" AND request_id = ").push_bind(request);
        }
        push_page(&mut sql, ["created", "n"], query.descending, query.page);
        push_cut(&mut sql, "page", ["created", "n"], query.descending);
        sql.push(", log.request_id, log.created, log.action, log.state, log.message, log.code");
        sql.push(" FROM (SELECT 1) AS one LEFT JOIN cut ON true LEFT JOIN log ON log.n = cut.n AND log.ad = ");
        sql.push("(SELECT seq FROM ads WHERE id = ").push_bind(ad).push(")");
        self.page(sql, log_entry).await
    }

    async fn page<T: Send>(
        &self,
        sql: Statement,
        read: fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<PageOf<T>, StoreError> {
        let mut count = 0;
        let mut rows = Vec::new();
        let take = |row: &Row| {
            let mut columns = Columns::of(row);
            count = columns.number()?;
            // The one row that is there even if the page is empty, for the sake of the number, has no place.
            if let Some(place) = columns.value::<Option<i64>>()? {
                rows.push((place, read(&mut columns)?));
            }
            Ok(())
        };
        self.database.list(sql, take).await?;
        // The database would sort whole rows.
        rows.sort_unstable_by_key(|(place, _)| *place);
        Ok(PageOf { count, rows: rows.into_iter().map(|(_, row)| row).collect() })
    }
}

/// What a row of an ad has around its content, images and log.
const AD_BYTES: u32 = 800;
/// What a log entry has around its message.
const ENTRY_BYTES: u32 = 200;

/// Counting and paging read indexes only; whole ads are read for the rows of the page alone.
pub(super) fn push_list(sql: &mut Statement, scope: Scope<'_>, query: &AdQuery) {
    // A group that asks for one of its dealers need not look at the others.
    let named = query.filters.iter().find_map(|filter| match filter {
        AdFilter::DealerCode(code) if scope.covers(code) => Some(code),
        _ => None,
    });
    let scope = named.map_or(scope, |code| Scope::Dealer(code));
    // What a search has found is kept for both; anything else is as quickly walked twice.
    let searches = query.filters.iter().any(|filter| searched(filter).is_some());
    sql.push("WITH ");
    if sql.dialect() == Some(Dialect::Postgres) {
        push_found(sql, scope, query);
    }
    sql.push(if searches { "matching AS MATERIALIZED (" } else { "matching AS NOT MATERIALIZED (" });
    sql.push("SELECT seq, ").push(column(query.order)).push(" AS sorted FROM ads");
    if sql.dialect() == Some(Dialect::Sqlite) {
        // It is told the index, not left to choose: it knows nothing of how large the dealers are.
        sql.push(" INDEXED BY ").push(index(query));
    }
    sql.push(" WHERE ");
    push_dealers(sql, "dealer_code", scope);
    for filter in &query.filters {
        sql.push(" AND ");
        push_filter(sql, scope, filter);
    }
    push_page(sql, ["sorted", "seq"], query.descending, query.page);
    sql.push(", sized AS (SELECT page.seq, page.sorted, ").push(AD_BYTES);
    if query.asks_for_content() {
        sql.push(" + octet_length(ads.content)");
    }
    if query.asks_for_images() {
        sql.push(" + octet_length(ads.image_refs)");
    }
    if query.include_log {
        sql.push(" + coalesce((SELECT sum(octet_length(message) + ").push(ENTRY_BYTES);
        sql.push(") FROM (SELECT message FROM log WHERE log.ad = ads.seq ORDER BY n DESC LIMIT 100) AS latest), 0)");
    }
    // In this order, which SQLite keeps to.
    sql.push(" AS size FROM page CROSS JOIN ads WHERE ads.seq = page.seq)");
    push_cut(sql, "sized", ["sorted", "seq"], query.descending);
    let mut columns = Cow::Borrowed(ad_columns!());
    if !query.asks_for_content() {
        columns = columns.replace("ads.content", "'{}'").into();
    }
    if !query.asks_for_images() {
        columns = columns.replace("ads.image_refs", "'[]'").into();
    }
    sql.push(", ").push(columns).push(", ");
    sql.push(match sql.dialect() {
        _ if !query.include_log => "NULL",
        Some(Dialect::Postgres) => latest_log!(postgres),
        _ => latest_log!(sqlite),
    });
    sql.push(" FROM (SELECT 1) AS one LEFT JOIN cut ON true LEFT JOIN ads ON ads.seq = cut.seq");
}

/// The index that a list is read from: that of a filter which names a few ads, or one in which every condition is
/// decided, in the order of the list if possible.
fn index(query: &AdQuery) -> &'static str {
    let is_bound_by = |filter: &AdFilter| matches!(filter, AdFilter::Time(AdOrder::Updated, ..));
    query.filters.iter().find_map(index_of_few).unwrap_or(match query.order {
        _ if query.filters.iter().any(is_bound_by) => "ads_updated",
        AdOrder::Created => "ads_created",
        AdOrder::Updated => "ads_updated",
        AdOrder::SourceId => "ads_source_id",
    })
}

/// The index of a filter that names a few ads; what else is asked about them is read in the ads themselves.
fn index_of_few(filter: &AdFilter) -> Option<&'static str> {
    match filter {
        // The one that the database makes for the first UNIQUE column of the table.
        AdFilter::Id(_) => Some("sqlite_autoindex_ads_1"),
        AdFilter::SourceId(_) => Some("ads_source_id"),
        AdFilter::MarketplaceAdId(_) => Some("ads_marketplace_ad_id"),
        AdFilter::RegistrationNumber(_) => Some("ads_registration_number"),
        _ => None,
    }
}

/// Whose ads they are.
pub(super) fn push_dealers(sql: &mut Statement, column: &str, scope: Scope<'_>) {
    match scope {
        Scope::Dealer(code) => sql.push(column).push(" = ").push_bind(code),
        Scope::Dealers(codes) => sql.push_in(column, codes.to_vec()),
    };
}

fn column(order: AdOrder) -> &'static str {
    match order {
        AdOrder::Created => "created",
        AdOrder::Updated => "updated",
        AdOrder::SourceId => "source_id",
    }
}

/// Ends `matching`, and takes the page out of it: the rows by their number.
fn push_page(sql: &mut Statement, order: [&str; 2], descending: bool, page: Page) {
    sql.push("), page AS (SELECT * FROM matching ORDER BY ");
    push_order(sql, order, descending);
    sql.push(" LIMIT ").push_bind(i64::from(page.limit));
    sql.push(" OFFSET ").push_bind(i64::try_from(page.offset).unwrap_or(i64::MAX)).push(")");
}

/// Cuts the page where its rows have too many bytes, by the `size` that this table has of each; the first row stays, however
/// long. Begins the outer list of columns with the number of all and with the place of the row.
fn push_cut(sql: &mut Statement, sized: &str, order: [&str; 2], descending: bool) {
    let tie = order[1];
    sql.push(format_args!(
        ", cut AS (SELECT {tie}, place FROM (SELECT {tie}, size, sum(size) OVER page AS total, row_number() OVER page AS place \
         FROM {sized} WINDOW page AS (ORDER BY "
    ));
    push_order(sql, order, descending);
    sql.push(format_args!(
        " ROWS UNBOUNDED PRECEDING)) AS summed WHERE place = 1 OR total <= {PAGE_BYTES}) \
         SELECT (SELECT count(*) FROM matching), cut.place"
    ));
}

fn push_order(sql: &mut Statement, order: [&str; 2], descending: bool) {
    let direction = if descending { " DESC" } else { "" };
    sql.push(format_args!("{}{direction}, {}{direction}", order[0], order[1]));
}

/// Most characters of a piece that PostgreSQL looks for by `strpos`, whose time grows with the product of both lengths.
const SHORT: usize = 16;

/// What a filter searches for, in which text. The databases fold only some letters by themselves, so both sides are folded
/// before they get there.
fn searched(filter: &AdFilter) -> Option<(Text, String)> {
    match filter {
        AdFilter::Search(part) => Some((Text::Search, folded(part))),
        AdFilter::SourceIdContains(part) => Some((Text::SourceId, folded(part))),
        _ => None,
    }
}

/// Tables of what each search has found, for PostgreSQL: it might otherwise search each text once for each ad.
fn push_found(sql: &mut Statement, scope: Scope<'_>, query: &AdQuery) {
    for (text, part) in query.filters.iter().filter_map(searched) {
        let column = text.column();
        sql.push(text.found()).push(" AS MATERIALIZED (SELECT texts.ad FROM texts WHERE ");
        push_dealers(sql, "texts.dealer_code", scope);
        let piece: String = part.chars().take(SHORT).collect();
        if piece == part {
            sql.push(" AND strpos(").push(column).push(", ").push_bind(piece).push(") > 0");
        } else {
            // A regular expression that is plain text is searched for in linear time, but costs more than a short piece of
            // it, which nearly always decides. `AND` would have the database choose which is first.
            sql.push(" AND CASE WHEN strpos(").push(column).push(", ").push_bind(piece).push(") > 0 THEN ");
            sql.push(column).push(" ~ ").push_bind(format!("***={part}")).push(" ELSE false END");
        }
        sql.push("), ");
    }
}

/// Adds the condition that a text contains a part, in any case.
fn push_contains<'s>(sql: &'s mut Statement, scope: Scope<'_>, text: Text, part: &str) -> &'s mut Statement {
    if sql.dialect() == Some(Dialect::Postgres) {
        return sql.push("seq IN (SELECT ad FROM ").push(text.found()).push(")");
    }
    sqlite::text::push_contains(sql, scope, text, part);
    sql
}

fn push_filter(sql: &mut Statement, scope: Scope<'_>, filter: &AdFilter) {
    match filter {
        AdFilter::Search(part) => push_contains(sql, scope, Text::Search, &folded(part)),
        AdFilter::SourceIdContains(part) => push_contains(sql, scope, Text::SourceId, &folded(part)),
        AdFilter::Id(id) => sql.push("id = ").push_bind(*id),
        AdFilter::State(state) => sql.push("state = ").push_bind(AdState::name(*state)),
        AdFilter::SourceId(ids) => sql.push_in("source_id", ids.clone()),
        AdFilter::DealerCode(code) => sql.push("dealer_code = ").push_bind(code.as_str()),
        AdFilter::CategoryId(ids) => sql.push_in("category_id", numbers(ids)),
        AdFilter::MarketplaceAdId(ids) => sql.push_in("marketplace_ad_id", ids.clone()),
        AdFilter::RegistrationNumber(plate) => {
            sql.push("registration_number = ").push_bind(plate.as_str()).push(" AND ");
            let found = categories::all().filter(|category| category.is_found_by_plate());
            let found: Vec<_> = found.map(|category| i64::from(category.id)).collect();
            sql.push_in("category_id", found)
        }
        AdFilter::Time(order, bound, time) => {
            let operator = match bound {
                Bound::Gt => " > ",
                Bound::Gte => " >= ",
                Bound::Lt => " < ",
                Bound::Lte => " <= ",
            };
            sql.push(column(*order)).push(operator).push_bind(time.as_millis())
        }
    };
}

fn numbers(numbers: &[u16]) -> Vec<i64> {
    numbers.iter().copied().map(i64::from).collect()
}
