//! Lists of ads and of log entries: a part and the exact number of the whole, in one statement and so in one state of
//! the database.

use ad_core::{
    ad::{Ad, AdState},
    categories,
    list::{AdFilter, AdOrder, AdQuery, Bound, LogQuery},
    log::{Action, ActionState, LogEntry},
    ports::{Page, PageOf, Scope, StoreError},
};
use serde::Serialize;
use sqlx::{QueryBuilder, Sqlite};
use uuid::Uuid;

use super::{
    Columns, SqliteStore,
    rows::{json, log_entry},
    sql::{ad_columns, latest_log},
    statement::store_error,
    text::{Text, push_contains},
};

pub(super) type Builder = QueryBuilder<Sqlite>;

impl SqliteStore {
    pub(super) async fn list_ads(
        &self,
        scope: Scope<'_>,
        query: &AdQuery,
    ) -> Result<PageOf<(Ad, Vec<LogEntry>)>, StoreError> {
        let mut sql = Builder::new("");
        push_list(&mut sql, scope, query)?;
        self.page(sql, |columns| Ok((columns.ad()?, columns.entries()?))).await
    }

    pub(super) async fn list_log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        let mut sql = Builder::new(
            "WITH matching AS NOT MATERIALIZED (SELECT n, created, request_id, action, state, message FROM log \
             WHERE ad = (SELECT seq FROM ads WHERE id = ",
        );
        sql.push_bind(ad.to_string()).push(")");
        if let Some(action) = query.action {
            sql.push(" AND action = ").push_bind(Action::name(action));
        }
        if let Some(state) = query.state {
            sql.push(" AND state = ").push_bind(ActionState::name(state));
        }
        if let Some(request) = query.request_id {
            sql.push(" AND request_id = ").push_bind(request.to_string());
        }
        push_page(&mut sql, "created", "n", query.descending, query.page);
        sql.push(", page.request_id, page.created, page.action, page.state, page.message");
        sql.push(" FROM (SELECT 1) LEFT JOIN page ON true");
        push_order(&mut sql, "page.created", "page.n", query.descending);
        self.page(sql, log_entry).await
    }

    async fn page<T>(
        &self,
        mut sql: Builder,
        read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<PageOf<T>, StoreError> {
        let rows = sql.build().fetch_all(self.database.readers()).await.map_err(|error| store_error(&error))?;
        let mut page = PageOf { count: 0, rows: Vec::with_capacity(rows.len()) };
        for row in &rows {
            let mut columns = Columns::of(row);
            page.count = count(&mut columns)?;
            // The one row that is there even if the page is empty, for the sake of the number.
            if columns.value::<bool>()? {
                page.rows.push(read(&mut columns)?);
            }
        }
        Ok(page)
    }
}

/// Counting and paging read indexes only; whole ads are read for the rows of the page alone.
pub(super) fn push_list(sql: &mut Builder, scope: Scope<'_>, query: &AdQuery) -> Result<(), StoreError> {
    // A group that asks for one of its dealers need not look at the others.
    let named = query.filters.iter().find_map(|filter| match filter {
        AdFilter::DealerCode(code) if scope.covers(code) => Some(code),
        _ => None,
    });
    let scope = named.map_or(scope, |code| Scope::Dealer(code));
    // What a search has found is kept for both; anything else is as quickly walked twice.
    let searches =
        query.filters.iter().any(|filter| matches!(filter, AdFilter::Search(_) | AdFilter::SourceIdContains(_)));
    sql.push(if searches { "WITH matching AS MATERIALIZED (" } else { "WITH matching AS NOT MATERIALIZED (" });
    // The index is told, not left to the database to choose: it knows nothing of how large the dealers are.
    sql.push("SELECT seq, ").push(column(query.order)).push(" AS sorted FROM ads INDEXED BY ").push(index(query));
    sql.push(" WHERE ");
    push_dealers(sql, "dealer_code", scope)?;
    for filter in &query.filters {
        sql.push(" AND ");
        push_filter(sql, scope, filter)?;
    }
    push_page(sql, "sorted", "seq", query.descending, query.page);
    sql.push(concat!(", ", ad_columns!(), ", "));
    sql.push(if query.include_log { latest_log!() } else { "NULL" });
    sql.push(" FROM (SELECT 1) LEFT JOIN page ON true LEFT JOIN ads ON ads.seq = page.seq");
    push_order(sql, "page.sorted", "page.seq", query.descending);
    Ok(())
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
pub(super) fn push_dealers(sql: &mut Builder, column: &str, scope: Scope<'_>) -> Result<(), StoreError> {
    match scope {
        Scope::Dealer(code) => sql.push(column).push(" = ").push_bind(code.to_owned()),
        Scope::Dealers(codes) => push_in(sql, column, codes)?,
    };
    Ok(())
}

fn count(columns: &mut Columns<'_>) -> Result<u64, StoreError> {
    let count: i64 = columns.value()?;
    u64::try_from(count).map_err(|_| StoreError::Faulty("a negative number of rows".to_owned()))
}

fn column(order: AdOrder) -> &'static str {
    match order {
        AdOrder::Created => "created",
        AdOrder::Updated => "updated",
        AdOrder::SourceId => "source_id",
    }
}

/// Ends `matching`, cuts the page out of it, and begins the outer list of columns with the number of all and with
/// whether there is a row.
fn push_page(sql: &mut Builder, sorted: &str, tie: &str, descending: bool, page: Page) {
    sql.push("), page AS (SELECT * FROM matching");
    push_order(sql, sorted, tie, descending);
    sql.push(" LIMIT ").push_bind(i64::from(page.limit));
    sql.push(" OFFSET ").push_bind(i64::try_from(page.offset).unwrap_or(i64::MAX));
    sql.push(") SELECT (SELECT count(*) FROM matching), page.").push(tie).push(" IS NOT NULL");
}

fn push_order(sql: &mut Builder, sorted: &str, tie: &str, descending: bool) {
    let direction = if descending { " DESC" } else { "" };
    sql.push(format_args!(" ORDER BY {sorted}{direction}, {tie}{direction}"));
}

fn push_in<'b>(
    sql: &'b mut Builder,
    column: &str,
    values: &(impl Serialize + ?Sized),
) -> Result<&'b mut Builder, StoreError> {
    // One value, however many there are, so that the statement stays the same.
    let values = json(&values)?;
    Ok(sql.push(column).push(" IN (SELECT value FROM json_each(").push_bind(values).push("))"))
}

fn push_filter(sql: &mut Builder, scope: Scope<'_>, filter: &AdFilter) -> Result<(), StoreError> {
    match filter {
        AdFilter::Id(id) => sql.push("id = ").push_bind(id.to_string()),
        AdFilter::State(state) => sql.push("state = ").push_bind(AdState::name(*state)),
        AdFilter::SourceId(ids) => push_in(sql, "source_id", ids)?,
        AdFilter::SourceIdContains(part) => return push_contains(sql, scope, Text::SourceId, part),
        AdFilter::DealerCode(code) => sql.push("dealer_code = ").push_bind(code.clone()),
        AdFilter::CategoryId(ids) => push_in(sql, "category_id", ids)?,
        AdFilter::Search(part) => return push_contains(sql, scope, Text::Search, part),
        AdFilter::MarketplaceAdId(ids) => push_in(sql, "marketplace_ad_id", ids)?,
        AdFilter::RegistrationNumber(plate) => {
            sql.push("registration_number = ").push_bind(plate.clone()).push(" AND ");
            let registered = categories::all().filter(|category| category.registered);
            push_in(sql, "category_id", &registered.map(|category| category.id).collect::<Vec<_>>())?
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
    Ok(())
}
