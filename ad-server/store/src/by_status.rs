//! Ads of all dealers by their status, for operators; those of a scope that have a failure, for people.

use std::{collections::BTreeSet, fmt};

use ad_core::{
    model::{AdStatus, ChannelStatus, Market, StatusWords, Timestamp},
    ports::{Scope, StoreError},
    violation::Code,
};
use serde::Serialize;

use super::{
    Columns, Database, Statement,
    rows::FromColumns,
    sql::ads as sql,
    statement::{Dialect, Values},
};

/// A filter of ads; `None` or empty matches any.
#[derive(Debug, Clone, Default)]
pub struct StatusFilter {
    pub statuses: Vec<AdStatus>,
    pub dealer_code: Option<String>,
    pub code: Option<Code>,
    /// Of a category that this marketplace has, and not live there.
    pub not_live_on: Option<Market>,
    /// With their status since this time or longer.
    pub since_before: Option<Timestamp>,
}

/// As in the audit log: `status failed, code marketplace_refused`.
impl fmt::Display for StatusFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statuses, dealer_code, code, not_live_on, since_before } = self;
        let statuses: Vec<_> = statuses.iter().map(|status| status.name()).collect();
        let conditions = [
            (!statuses.is_empty()).then(|| format!("status {}", statuses.join(","))),
            dealer_code.as_ref().map(|code| format!("dealer {code}")),
            code.map(|code| format!("code {}", code.name())),
            not_live_on.map(|market| format!("not live on {market}")),
            since_before.map(|since| format!("since {since} or longer")),
        ];
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        formatter.write_str(if conditions.is_empty() { "all ads" } else { "" })?;
        formatter.write_str(&conditions.join(", "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdByStatus {
    pub dealer_code: String,
    pub source_id: String,
    pub status: AdStatus,
    /// When the status became this.
    pub since: Timestamp,
    /// Why it failed: the code of the first channel that has one, or else of a missing image.
    pub code: Option<Code>,
    /// Its number in the database.
    #[serde(skip)]
    pub seq: i64,
}

impl Database {
    /// A page of ads by status, in the order of their dealers, after an ad or from the start.
    pub async fn ads_by_status(
        &self,
        filter: &StatusFilter,
        behind: Option<&AdByStatus>,
        limit: u32,
    ) -> Result<Vec<AdByStatus>, StoreError> {
        let StatusFilter { statuses, dealer_code, code, not_live_on, since_before } = filter;
        let names = match statuses.as_slice() {
            [] => AdStatus::NAMES.iter().map(|name| (*name).to_owned()).collect(),
            some => some.iter().map(|status| status.name().to_owned()).collect(),
        };
        let read = sql::AdsByStatus {
            statuses: names,
            dealer_code: dealer_code.as_deref(),
            code: code.map(Code::name),
            live: not_live_on.map(|market| like(market, ChannelStatus::Live.name())),
            unused: not_live_on.map(|market| like(market, "-")),
            since_before: *since_before,
            behind_dealer: behind.map_or("", |ad| &ad.dealer_code),
            behind_seq: behind.map_or(0, |ad| ad.seq),
            limit,
        };
        Columns::all(&self.read(read).await?)
    }

    /// Some ads of a scope with one of these statuses.
    pub async fn ads_with_status(
        &self,
        scope: Scope<'_>,
        statuses: &[AdStatus],
        limit: u32,
    ) -> Result<Vec<AdByStatus>, StoreError> {
        self.ads_in_scope(in_scope(self.dialect(), scope, statuses, None, limit)).await
    }

    /// Some ads of a scope with a status and with channels and a failure among those of these words.
    pub async fn ads_with_words(
        &self,
        scope: Scope<'_>,
        words: impl IntoIterator<Item = StatusWords>,
        limit: u32,
    ) -> Result<Vec<AdByStatus>, StoreError> {
        let (statuses, channels): (BTreeSet<_>, BTreeSet<_>) =
            words.into_iter().map(|words| (words.status, words.channels())).unzip();
        if statuses.is_empty() {
            return Ok(Vec::new());
        }
        let (statuses, channels) = (Vec::from_iter(statuses), Vec::from_iter(channels));
        self.ads_in_scope(in_scope(self.dialect(), scope, &statuses, Some(channels), limit)).await
    }

    async fn ads_in_scope(&self, statement: Statement) -> Result<Vec<AdByStatus>, StoreError> {
        let mut ads = Vec::new();
        self.list(statement, |ad| ads.push(ad)).await?;
        Ok(ads)
    }
}

/// A pattern of channels with this word for a marketplace.
fn like(market: Market, word: &str) -> String {
    match market {
        Market::Primary => format!("{word} %"),
        Market::Secondary => format!("% {word} %"),
    }
}

impl FromColumns for AdByStatus {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let ((seq, dealer_code, source_id), (status, since)) = columns.read()?;
        let code = StatusWords::from_store(status, &columns.text()?).and_then(|words| words.failure);
        Ok(Self { dealer_code, source_id, status, since, code, seq })
    }
}

/// Ads with these statuses and, if given, these words of their channels, from the index that has both.
pub(super) fn in_scope(
    dialect: Dialect,
    scope: Scope<'_>,
    statuses: &[AdStatus],
    channels: Option<Vec<String>>,
    limit: u32,
) -> Statement {
    let mut values = Values::new(dialect);
    let dealers = values.within(scope, "dealer_code");
    let statuses: Vec<_> = statuses.iter().map(|status| status.name().to_owned()).collect();
    let has_status = values.one_of("status", statuses);
    let has_channels = channels.map_or_else(|| "true".to_owned(), |channels| values.one_of("channels", channels));
    let limit = values.add(limit);
    let index = if dialect == Dialect::Sqlite { " INDEXED BY ads_status" } else { "" };
    values.statement(format!(
        "SELECT seq, dealer_code, source_id, status, status_since, channels FROM ads{index} WHERE {dealers} AND {has_status} AND {has_channels} LIMIT {limit}"
    ))
}
