//! The newest log entries of a scope, newest first: what people look at. A client that follows events reads them forwards.

use std::collections::{BTreeMap, HashMap};

use ad_core::{
    model::{Event, Timestamp},
    ports::{Scope, StoreError},
};

use super::{
    Columns, Database, Statement,
    events::COST,
    lists::{codes, dealer_to_charge},
    statement::{Dialect, Values},
};

/// Log entries that are looked at to count publications: those of about a thousand ads.
const MOST_COUNTED: usize = 5000;

/// Log entries of each dealer of a large group that are looked at in any case.
const LEAST_COUNTED: usize = 20;

const HOUR: i64 = 3_600_000;

/// How often ads were published, by hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedByHour {
    /// The hours with log entries, each as its begin with the number of publications.
    pub hours: BTreeMap<Timestamp, u64>,
    /// The hour from which on publications were counted, in part in that hour; `None`: all of them were.
    pub counted_from: Option<Timestamp>,
}

impl Database {
    /// The newest log entries of a scope, newest first.
    pub async fn newest_events(&self, scope: Scope<'_>, limit: u32) -> Result<Vec<Event>, StoreError> {
        let rows = self.look_up(newest(self.dialect(), scope, limit).for_client_of(dealer_to_charge(scope))).await?;
        Columns::all(&rows)
    }

    /// How often ads of a scope were published, by hour, from a time on; counted from the newest log entries of each dealer.
    pub async fn published_by_hour(&self, scope: Scope<'_>, since: Timestamp) -> Result<PublishedByHour, StoreError> {
        let codes = codes(scope);
        let most = (MOST_COUNTED / codes.len().max(1)).max(LEAST_COUNTED);
        // Of each dealer, the first hour and the number of entries.
        let mut counted: HashMap<String, (Timestamp, usize)> = HashMap::new();
        let mut published = PublishedByHour::default();
        let take = |((dealer_code, hour), (entries, publications)): ((String, i64), (usize, u64))| {
            let hour = Timestamp::from_millis(hour * HOUR);
            counted.entry(dealer_code).or_insert((hour, 0)).1 += entries;
            *published.hours.entry(hour).or_default() += publications;
        };
        self.list(by_hour(self.dialect(), codes, most), take).await?;
        let cut = counted.into_values().filter(|(_, entries)| *entries >= most);
        published.counted_from = cut.map(|(first_hour, _)| first_hour).max();
        let from = published.counted_from.map_or(since, |hour| hour.max(since));
        published.hours.retain(|hour, _| *hour >= from);
        Ok(published)
    }
}

/// The newest entries of some dealers in this order, by the index of events.
fn own_newest(columns: &str, dealer: &str, limit: &str) -> String {
    format!(
        "SELECT {columns} FROM log WHERE log.dealer_code = {dealer}
        ORDER BY log.transaction_id DESC, log.ad DESC, log.n DESC LIMIT {limit}"
    )
}

/// The newest entries, with the columns of an [`Event`].
pub(super) fn newest(dialect: Dialect, scope: Scope<'_>, limit: u32) -> Statement {
    let mut values = Values::new(dialect);
    let (codes, limit) = (values.add(codes(scope)), values.add(limit));
    let newest = match dialect {
        Dialect::Sqlite => format!(
            "SELECT own.transaction_id, own.ad, own.n FROM json_each({codes}) AS dealer CROSS JOIN log AS own
    WHERE (own.ad, own.n) IN ({})",
            own_newest("log.ad, log.n", "dealer.value", &limit),
        ),
        Dialect::Postgres => format!(
            "SELECT own.* FROM unnest({codes}) AS dealer (code) CROSS JOIN LATERAL ({}) AS own",
            own_newest("log.transaction_id, log.ad, log.n", "dealer.code", &limit),
        ),
    };
    values.statement(format!(
        "WITH newest AS MATERIALIZED (
    {newest}
    ORDER BY own.transaction_id DESC, own.ad DESC, own.n DESC LIMIT {limit}
)
SELECT log.transaction_id, log.ad, log.n, ads.id, ads.source_id, ads.dealer_code, ads.category_id, ads.marketplace_ad_id, ads.offer_id,
    log.plan_id, {COST}, log.request_id, log.created, log.action, log.state, log.message, log.code
FROM newest CROSS JOIN log CROSS JOIN ads
WHERE log.ad = newest.ad AND log.n = newest.n AND ads.seq = newest.ad
ORDER BY newest.transaction_id DESC, newest.ad DESC, newest.n DESC"
    ))
}

/// The newest entries of each dealer by hour: their number, and that of publications among them.
pub(super) fn by_hour(dialect: Dialect, codes: Vec<String>, most: usize) -> Statement {
    let mut values = Values::new(dialect);
    let (codes, most) = (values.add(codes), values.add(most));
    let newest = match dialect {
        Dialect::Sqlite => format!(
            "json_each({codes}) AS dealer CROSS JOIN log AS own WHERE (own.ad, own.n) IN ({})",
            own_newest("log.ad, log.n", "dealer.value", &most),
        ),
        Dialect::Postgres => format!(
            "unnest({codes}) AS dealer (code) CROSS JOIN LATERAL ({}) AS own",
            own_newest("log.dealer_code, log.created, log.action, log.state", "dealer.code", &most),
        ),
    };
    values.statement(format!(
        "SELECT own.dealer_code, own.created / {HOUR} AS hour, count(*),
    count(CASE WHEN own.action = 'publish' AND own.state = 'done' THEN 1 END)
FROM {newest}
GROUP BY own.dealer_code, hour ORDER BY own.dealer_code, hour"
    ))
}
