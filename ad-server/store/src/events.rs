//! Events: log entries as one sequence, by the transaction that wrote them, the ad, and their number in its log.
//!
//! SQLite has one writer, so every transaction has a higher number than those before it. In PostgreSQL transactions run side by side,
//! and one with a lower number may commit later: only entries below the oldest transaction that is still running are read. All of
//! these are committed, and no other entry will ever come among them.

use ad_core::{
    model::{Action, ActionState, Amount, Event, EventPage, EventPosition, EventQuery, PromotionCost},
    ports::{PAGE_BYTES, Scope, StoreError},
};

use super::{
    Columns, Database, Row, Statement, from_columns,
    lists::dealer_to_charge,
    sql::events as sql,
    statement::{Dialect, Values},
};

/// What an event has around its message.
const EVENT_BYTES: u64 = 500;

impl Database {
    pub(super) async fn list_events(&self, scope: Scope<'_>, query: &EventQuery) -> Result<EventPage, StoreError> {
        let (mut events, mut bytes) = (Vec::new(), 0);
        let (mut looked_at, mut last) = (0, query.after);
        let take = |row: Row| {
            let mut columns = Columns::of(&row);
            looked_at = columns.number()?;
            last = columns.read()?;
            // If nothing matches, there is one row, with the position.
            let Some(message_bytes) = columns.value::<Option<i64>>()? else { return Ok(()) };
            bytes += u64::try_from(message_bytes).unwrap_or_default() + EVENT_BYTES;
            if bytes <= PAGE_BYTES || events.is_empty() {
                events.push(columns.read()?);
            }
            Ok(())
        };
        self.look_up_each(after(self.dialect(), scope, query).for_client_of(dealer_to_charge(scope)), take).await?;
        let is_full = events.len() == query.limit as usize || bytes > PAGE_BYTES;
        Ok(EventPage::new(query, events, is_full, looked_at, last))
    }

    pub(super) async fn newest_event(&self) -> Result<EventPosition, StoreError> {
        let newest = self.read_number(sql::NewestTransaction {}).await?;
        Ok(EventPosition::end_of(i64::try_from(newest).unwrap_or(i64::MAX)))
    }
}

// The columns that `after` reads of an event.
from_columns! {
    EventPosition { transaction, ad, sequence }
    Event { position, ad_id, source_id, dealer_code, category_id: number, marketplace_ad_id, offer_id, plan_id, cost: cost, entry }
}

/// The events after a position, with the number of those that were looked at and the last of them. It reads the part of an index
/// behind the position, and whole entries of the page alone.
pub(super) fn after(dialect: Dialect, scope: Scope<'_>, query: &EventQuery) -> Statement {
    let mut values = Values::new(dialect);
    let EventPosition { transaction, ad, sequence } = query.after;
    let (transaction, ad, sequence) = (values.add(transaction), values.add(ad), values.add(sequence));
    let mut is_after = format!("(log.transaction_id, log.ad, log.n) > ({transaction}, {ad}, {sequence})");
    if dialect == Dialect::Postgres {
        is_after += " AND log.transaction_id < (
        SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + added FROM log_transactions)";
    }
    let most = values.add(query.scan_limit());
    let looked_at = match &query.source_id {
        Some(source_id) => of_source_id(&mut values, scope, source_id, &is_after, &most),
        None => of_dealers(&mut values, scope, &is_after, &most),
    };
    let types = if query.types.is_empty() { String::new() } else { has_type(&mut values, query) };
    let limit = values.add(query.limit);
    values.statement(format!(
        "WITH {looked_at}, matching AS MATERIALIZED (
    SELECT looked_at.* FROM looked_at{types} ORDER BY transaction_id, ad, n LIMIT {limit}
)
SELECT (SELECT count(*) FROM looked_at), last.transaction_id, last.ad, last.n, CAST(octet_length(log.message) AS BIGINT),
    log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id, ads.offer_id, log.plan_id,
    {COST},
    log.request_id, log.created, log.action, log.state, log.message, log.code
FROM (SELECT * FROM looked_at ORDER BY transaction_id DESC, ad DESC, n DESC LIMIT 1) AS last
    LEFT JOIN matching ON true
    LEFT JOIN {entry}
    LEFT JOIN {ad}
ORDER BY matching.transaction_id, matching.ad, matching.n",
        entry = join_one(dialect, "log", "log.ad = matching.ad AND log.n = matching.n"),
        ad = join_one(dialect, "ads", "ads.seq = matching.ad"),
    ))
}

/// What a confirmed promotion cost, if its end is the entry: hundredths and currency.
pub(super) const COST: &str = "CASE WHEN log.state = 'done' AND log.action IN ('bump', 'boost') THEN (
        SELECT sum(amount) || ' ' || max(currency) FROM charges
        WHERE charges.request_id = log.request_id AND charges.state = 'charged') END";

impl Columns<'_> {
    fn cost(&mut self) -> Result<Option<Box<PromotionCost>>, StoreError> {
        let Some(cost): Option<String> = self.read()? else { return Ok(None) };
        let (amount, currency) = cost.split_once(' ').unwrap_or_default();
        let amount =
            amount.parse().map_err(|error| StoreError::Faulty(format!("the cost {cost:?}: {error}").into()))?;
        let cost = PromotionCost { amount: Amount::from_hundredths(amount), currency: currency.to_owned() };
        Ok(Some(Box::new(cost)))
    }
}

/// A join with the row of a table that meets a condition. With LIMIT, PostgreSQL looks up each row, also by a plan that was made while the
/// table was empty.
fn join_one(dialect: Dialect, table: &str, condition: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{table} ON {condition}"),
        Dialect::Postgres => format!("LATERAL (SELECT * FROM {table} WHERE {condition} LIMIT 1) AS {table} ON true"),
    }
}

/// The next entries of the dealers of a scope. Of several dealers, only those are read whose next entries come first: the page has no others.
fn of_dealers(values: &mut Values, scope: Scope<'_>, is_after: &str, most: &str) -> String {
    let next = |columns: &str, dealer: &str, limit: &str| {
        format!(
            "SELECT {columns} FROM log WHERE log.dealer_code = {dealer} AND {is_after}
        ORDER BY log.transaction_id, log.ad, log.n LIMIT {limit}"
        )
    };
    let position = "log.transaction_id, log.ad, log.n";
    let of_one = |code: &str| format!("looked_at AS MATERIALIZED (\n    {}\n)", next(position, code, most));
    let codes = match scope {
        Scope::Dealer(code) => return of_one(&values.add(code)),
        Scope::Dealers([code]) => return of_one(&values.add(code.as_str())),
        Scope::Dealers(codes) => values.add(codes.to_vec()),
    };
    match values.dialect {
        Dialect::Sqlite => format!(
            "dealers AS MATERIALIZED (
    SELECT dealer.value AS code FROM json_each({codes}) AS dealer CROSS JOIN log AS first
    WHERE (first.ad, first.n) IN ({first})
    ORDER BY first.transaction_id, first.ad, first.n LIMIT {most}
), looked_at AS MATERIALIZED (
    SELECT own.transaction_id, own.ad, own.n FROM dealers CROSS JOIN log AS own
    WHERE (own.ad, own.n) IN ({all})
    ORDER BY own.transaction_id, own.ad, own.n LIMIT {most}
)",
            first = next("log.ad, log.n", "dealer.value", "1"),
            all = next("log.ad, log.n", "dealers.code", most),
        ),
        Dialect::Postgres => format!(
            "dealers AS MATERIALIZED (
    SELECT dealer.code FROM unnest({codes}) AS dealer (code) CROSS JOIN LATERAL ({first}) AS first
    ORDER BY first.transaction_id, first.ad, first.n LIMIT {most}
), looked_at AS MATERIALIZED (
    SELECT own.* FROM dealers CROSS JOIN LATERAL ({all}) AS own
    ORDER BY own.transaction_id, own.ad, own.n LIMIT {most}
)",
            first = next(position, "dealer.code", "1"),
            all = next(position, "dealers.code", most),
        ),
    }
}

/// The next entries of the ads of a source id, from the logs of these ads.
fn of_source_id(values: &mut Values, scope: Scope<'_>, source_id: &str, is_after: &str, most: &str) -> String {
    let source_id = values.add(source_id);
    let dealers = values.within(scope, "ads.dealer_code");
    format!(
        "looked_at AS MATERIALIZED (
    SELECT log.transaction_id, log.ad, log.n FROM ads CROSS JOIN log
    WHERE ads.source_id = {source_id} AND {dealers} AND log.ad = ads.seq AND {is_after}
    ORDER BY log.transaction_id, log.ad, log.n LIMIT {most}
)"
    )
}

/// The condition that an entry has one of the types of a query.
fn has_type(values: &mut Values, query: &EventQuery) -> String {
    let is_wanted = |action: &str, state: &str| {
        query.types.iter().any(|types| {
            types.action.is_none_or(|own| own.name() == action) && types.state.is_none_or(|own| own.name() == state)
        })
    };
    let names = Action::NAMES.iter().flat_map(|action| ActionState::NAMES.iter().map(move |state| (*action, *state)));
    let names =
        names.filter(|(action, state)| is_wanted(action, state)).map(|(action, state)| format!("{action}.{state}"));
    let is_one = values.one_of("log.action || '.' || log.state", names.collect::<Vec<_>>());
    format!(" WHERE (SELECT {is_one} FROM log WHERE log.ad = looked_at.ad AND log.n = looked_at.n)")
}
