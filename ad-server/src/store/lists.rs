//! Lists of ads and of log entries: a part and the exact number of the whole, in one statement and so in one state of
//! the database.

use ad_core::{
    ad::{Ad, AdState},
    categories,
    list::{AdFilter, AdOrder, AdQuery, Bound, LogQuery},
    log::{Action, ActionState, LogEntry},
    ports::{Page, PageOf, Scope, StoreError},
};
use uuid::Uuid;

use super::{
    Columns, DatabaseStore, Statement,
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
        sql.push(
            "WITH matching AS NOT MATERIALIZED (SELECT n, created, request_id, action, state, message FROM log \
             WHERE ad = (SELECT seq FROM ads WHERE id = ",
        );
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
        push_page(&mut sql, "created", "n", query.descending, query.page);
        sql.push(", page.request_id, page.created, page.action, page.state, page.message");
        sql.push(" FROM (SELECT 1) AS one LEFT JOIN page ON true");
        push_order(&mut sql, "page.created", "page.n", query.descending);
        self.page(sql, log_entry).await
    }

    async fn page<T>(
        &self,
        sql: Statement,
        read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<PageOf<T>, StoreError> {
        let rows = self.database.read(sql).await?;
        let mut page = PageOf { count: 0, rows: Vec::with_capacity(rows.len()) };
        for row in &rows {
            let mut columns = Columns::of(row);
            page.count = columns.number()?;
            // The one row that is there even if the page is empty, for the sake of the number.
            if columns.value::<bool>()? {
                page.rows.push(read(&mut columns)?);
            }
        }
        Ok(page)
    }
}

/// Counting and paging read indexes only; whole ads are read for the rows of the page alone.
pub(super) fn push_list(sql: &mut Statement, scope: Scope<'_>, query: &AdQuery) {
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
    push_page(sql, "sorted", "seq", query.descending, query.page);
    sql.push(concat!(", ", ad_columns!(), ", "));
    sql.push(match sql.dialect() {
        _ if !query.include_log => "NULL",
        Some(Dialect::Postgres) => latest_log!(postgres),
        _ => latest_log!(sqlite),
    });
    sql.push(" FROM (SELECT 1) AS one LEFT JOIN page ON true LEFT JOIN ads ON ads.seq = page.seq");
    push_order(sql, "page.sorted", "page.seq", query.descending);
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

/// Ends `matching`, cuts the page out of it, and begins the outer list of columns with the number of all and with
/// whether there is a row.
fn push_page(sql: &mut Statement, sorted: &str, tie: &str, descending: bool, page: Page) {
    sql.push("), page AS (SELECT * FROM matching");
    push_order(sql, sorted, tie, descending);
    sql.push(" LIMIT ").push_bind(i64::from(page.limit));
    sql.push(" OFFSET ").push_bind(i64::try_from(page.offset).unwrap_or(i64::MAX));
    sql.push(") SELECT (SELECT count(*) FROM matching), page.").push(tie).push(" IS NOT NULL");
}

fn push_order(sql: &mut Statement, sorted: &str, tie: &str, descending: bool) {
    let direction = if descending { " DESC" } else { "" };
    sql.push(format_args!(" ORDER BY {sorted}{direction}, {tie}{direction}"));
}

/// Adds the condition that a text contains a part, in any case. The databases fold only some letters by themselves, so
/// both sides are folded before they get there.
fn push_contains<'s>(sql: &'s mut Statement, scope: Scope<'_>, text: Text, part: &str) -> &'s mut Statement {
    let part = folded(part);
    if sql.dialect() == Some(Dialect::Sqlite) {
        sqlite::text::push_contains(sql, scope, text, &part);
        return sql;
    }
    sql.push("seq IN (SELECT texts.ad FROM texts WHERE ");
    push_dealers(sql, "texts.dealer_code", scope);
    sql.push(" AND strpos(").push(text.column()).push(", ").push_bind(part).push(") > 0)")
}

fn push_filter(sql: &mut Statement, scope: Scope<'_>, filter: &AdFilter) {
    match filter {
        AdFilter::Id(id) => sql.push("id = ").push_bind(*id),
        AdFilter::State(state) => sql.push("state = ").push_bind(AdState::name(*state)),
        AdFilter::SourceId(ids) => sql.push_in("source_id", ids.clone()),
        AdFilter::SourceIdContains(part) => push_contains(sql, scope, Text::SourceId, part),
        AdFilter::DealerCode(code) => sql.push("dealer_code = ").push_bind(code.as_str()),
        AdFilter::CategoryId(ids) => sql.push_in("category_id", numbers(ids)),
        AdFilter::Search(part) => push_contains(sql, scope, Text::Search, part),
        AdFilter::MarketplaceAdId(ids) => sql.push_in("marketplace_ad_id", ids.clone()),
        AdFilter::RegistrationNumber(plate) => {
            sql.push("registration_number = ").push_bind(plate.as_str()).push(" AND ");
            let registered = categories::all().filter(|category| category.registered);
            let registered: Vec<_> = registered.map(|category| i64::from(category.id)).collect();
            sql.push_in("category_id", registered)
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
