//! From rows to the models, and the other way where a model becomes a column.

use std::borrow::Cow;

use ad_core::{
    model::{
        Action, ActionState, Ad, AdState, AdStatus, AdTag, ApiVersion, AskedBy, CallAction, Content, ContentChange,
        Creation, Dealer, ImageRef, Leftover, LogEntry, Market, MarketplaceCall, Photo, Plan, Progress, Publication,
        QueuedRequest, RecordedChange, Request, RevisionOrigin, StatusWords, StoredRequest, Timestamp, Via,
    },
    ports::{IdempotencyKey, StoreError, StoredAd},
    violation::Code,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type, postgres::PgRow, sqlite::SqliteRow};
use uuid::Uuid;

use super::nul;

/// A row of either database.
#[derive(Debug)]
pub enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The number of the input of a batch that it belongs to: its last column.
    pub(super) fn input(&self) -> sqlx::Result<i64> {
        match self {
            Self::Sqlite(row) => row.try_get(row.len() - 1),
            Self::Postgres(row) => row.try_get(row.len() - 1),
        }
    }
}

/// A type of a column that SQLite and PostgreSQL read.
pub trait Readable<'r>: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres> {}

impl<'r, T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>> Readable<'r> for T {}

pub trait FromColumns: Sized {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError>;
}

/// Implements [`FromColumns`], for structs by their fields, which are in the order of the columns. A field is read by its type, or by
/// the method of [`Columns`] behind its name.
macro_rules! from_columns {
    ($($type:ident { $($field:ident $(: $method:ident)?),+ })+) => {
        $(impl $crate::rows::FromColumns for $type {
            fn read_from(columns: &mut $crate::rows::Columns<'_>) -> Result<Self, ad_core::ports::StoreError> {
                Ok(Self { $($field: $crate::rows::from_columns!(@ columns $($method)?)),+ })
            }
        })+
    };
    (@ $columns:ident) => { $columns.read()? };
    (@ $columns:ident $method:ident) => { $columns.$method()? };
    ($($type:ty = $method:ident($($from_name:path)?)),+ $(,)?) => {
        $(impl FromColumns for $type {
            fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
                columns.$method($($from_name)?)
            }
        })+
    };
}
pub(crate) use from_columns;

from_columns! {
    bool = value(), i64 = value(), Option<i64> = value(), u16 = number(), u32 = number(), u64 = number(), usize = number(),
    String = string(), Option<String> = maybe_string(), Uuid = id(), Option<Uuid> = maybe_id(),
    Timestamp = time(), Option<Timestamp> = maybe_time(),
    Action = named(Action::from_name), ActionState = named(ActionState::from_name), AdState = named(AdState::from_name),
    AdStatus = named(AdStatus::from_name), ApiVersion = named(ApiVersion::from_name), Market = named(Market::from_name),
    ContentChange = json(), Dealer = json(), Photo = json(), Progress = json(), Vec<ImageRef> = json(),
    Leftover = json_or_default(), Publication = json_or_default(), Content = content(), StatusWords = words(),
    Vec<LogEntry> = entries(),
}

// `StoredAd` has its columns from `revision` to `leftover`, which are never shown, the tag, and the columns of the status.
from_columns! {
    Ad {
        id, source_id, dealer_code, category_id, state, api_version, content, image_refs, marketplace_ad_id, offer_id, created,
        updated
    }
    StoredAd { ad, revision, intent, pole_position_until, leftover, tag, words, status_since, publication }
    AdTag { revision, n }
    Request { id, plan: maybe_json, progress, accepted }
    LogEntry { request_id, created, action, state, external_message: json, code: code }
    AskedBy { token, label }
    RevisionOrigin { created, request_id, asked_by, via: via, plan_id }
    Creation { revision, origin, checksum }
    RecordedChange { revision, origin, replaced, version: version, difference, checksum }
}

impl FromColumns for MarketplaceCall {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let (at, marketplace, action) = (columns.read()?, columns.read()?, columns.named(CallAction::from_name)?);
        let request_id = columns.read()?;
        let status: Option<i64> = columns.read()?;
        Ok(Self {
            at,
            marketplace,
            action,
            request_id,
            idempotency_key: IdempotencyKey::of(request_id, action, marketplace).map(|key| key.to_string()),
            status: status.and_then(|status| status.try_into().ok()),
            code: columns.code()?,
            latency_ms: columns.read()?,
            listing_id: columns.read()?,
            content_sha256: columns.read()?,
            revision: columns.read()?,
        })
    }
}

impl<A: FromColumns, B: FromColumns> FromColumns for (A, B) {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok((columns.read()?, columns.read()?))
    }
}

impl<A: FromColumns, B: FromColumns, C: FromColumns> FromColumns for (A, B, C) {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok((columns.read()?, columns.read()?, columns.read()?))
    }
}

/// Reads the columns of a row one after the other.
pub struct Columns<'r> {
    row: &'r Row,
    next: usize,
    /// Whether content is looked at before it is taken for JSON.
    checks_content: bool,
}

ad_server_base::debug_by_name!(Columns<'_>);

impl<'r> Columns<'r> {
    pub fn of(row: &'r Row) -> Self {
        Self { row, next: 0, checks_content: true }
    }

    /// Reads all rows into values.
    pub fn all<T: FromColumns>(rows: &[Row]) -> Result<Vec<T>, StoreError> {
        rows.iter().map(|row| Columns::of(row).read()).collect()
    }

    /// What the first row holds, if there is one.
    pub fn first<T: FromColumns>(rows: &[Row]) -> Result<Option<T>, StoreError> {
        rows.first().map(|row| Columns::of(row).read()).transpose()
    }

    /// The answer of a statement with one Boolean.
    pub fn read_bool(rows: &[Row]) -> Result<bool, StoreError> {
        Columns::first(rows).map(Option::unwrap_or_default)
    }

    pub fn read<T: FromColumns>(&mut self) -> Result<T, StoreError> {
        T::read_from(self)
    }

    /// A number, a Boolean, or an option of them.
    pub fn value<T: Readable<'r>>(&mut self) -> Result<T, StoreError> {
        let value = match self.row {
            Row::Sqlite(row) => row.try_get(self.next),
            Row::Postgres(row) => row.try_get(self.next),
        };
        self.next += 1;
        value.map_err(|error| StoreError::Faulty(error.into()))
    }

    pub fn maybe_text(&mut self) -> Result<Option<Cow<'r, str>>, StoreError> {
        let text: Option<&'r str> = self.value()?;
        Ok(text.map(|text| match self.row {
            Row::Sqlite(_) => Cow::Borrowed(text),
            Row::Postgres(_) => nul::restored(text),
        }))
    }

    /// A text as it was written, of one that stands as it is stored in JSON that the database has composed.
    pub fn as_written<'t>(&self, stored: &'t str) -> Cow<'t, str> {
        match self.row {
            Row::Sqlite(_) => Cow::Borrowed(stored),
            Row::Postgres(_) => nul::restored(stored),
        }
    }

    pub fn text(&mut self) -> Result<Cow<'r, str>, StoreError> {
        self.maybe_text()?.ok_or_else(|| self.faulty("is empty"))
    }

    /// Reads a text into a `String`.
    pub fn string(&mut self) -> Result<String, StoreError> {
        self.text().map(Cow::into_owned)
    }

    /// An owned text, if there is one.
    pub fn maybe_string(&mut self) -> Result<Option<String>, StoreError> {
        Ok(self.maybe_text()?.map(Cow::into_owned))
    }

    /// A number that must not be too large for its type.
    pub fn number<T: TryFrom<i64>>(&mut self) -> Result<T, StoreError> {
        let number: i64 = self.value()?;
        T::try_from(number).map_err(|_| self.faulty(&format!("holds {number}")))
    }

    pub fn id(&mut self) -> Result<Uuid, StoreError> {
        match self.maybe_id()? {
            Some(id) => Ok(id),
            None => Err(self.faulty("is empty")),
        }
    }

    pub fn maybe_id(&mut self) -> Result<Option<Uuid>, StoreError> {
        match self.row {
            Row::Sqlite(_) => {
                let text: Option<&str> = self.value()?;
                text.map(|text| text.parse().map_err(|_| self.faulty(&format!("holds \"{text}\"")))).transpose()
            }
            Row::Postgres(_) => self.value(),
        }
    }

    pub fn named<T>(&mut self, from_name: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let text = self.text()?;
        from_name(&text).ok_or_else(|| self.faulty(&format!("holds \"{text}\"")))
    }

    pub fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.value().map(Timestamp::from_millis)
    }

    pub fn maybe_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.value::<Option<i64>>()?.map(Timestamp::from_millis))
    }

    pub fn json<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        match self.maybe_json()? {
            Some(value) => Ok(value),
            None => Err(self.faulty("is empty")),
        }
    }

    pub fn maybe_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let text = self.maybe_text()?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| self.faulty(&error.to_string()))
    }

    pub fn json_or_default<T: DeserializeOwned + Default>(&mut self) -> Result<T, StoreError> {
        self.maybe_json().map(Option::unwrap_or_default)
    }

    /// An ad whose content is only passed on.
    pub(super) fn listed_ad(&mut self) -> Result<Ad, StoreError> {
        self.checks_content = false;
        let ad = self.read();
        self.checks_content = true;
        ad
    }

    fn content(&mut self) -> Result<Content, StoreError> {
        let text = self.string()?;
        if !self.checks_content {
            return Ok(Content::stored_as_it_is(text));
        }
        Content::stored(text).map_err(|error| self.faulty(&error.to_string()))
    }

    /// Through what a request was sent; `None` also for a word of a later version.
    fn via(&mut self) -> Result<Option<Via>, StoreError> {
        Ok(self.maybe_text()?.as_deref().and_then(Via::from_name))
    }

    /// API version and category, if there are some.
    fn version(&mut self) -> Result<Option<(ApiVersion, u16)>, StoreError> {
        let version = self.maybe_text()?.as_deref().and_then(ApiVersion::from_name);
        let category: Option<i64> = self.read()?;
        Ok(version.zip(category.and_then(|category| category.try_into().ok())))
    }

    /// The words of a status by the columns `status` and `channels`.
    fn words(&mut self) -> Result<StatusWords, StoreError> {
        let (status, channels) = (self.read()?, self.text()?);
        StatusWords::from_store(status, &channels).ok_or_else(|| self.faulty(&format!("holds \"{channels}\"")))
    }

    pub(super) fn unfinished(&mut self, ad: &Ad) -> Result<Vec<(Option<Plan>, StoredRequest)>, StoreError> {
        type RequestRow = (Uuid, Option<Plan>, Progress, i64, Option<i64>, Option<Vec<EntryRow>>);
        let rows: Option<Vec<RequestRow>> = self.maybe_json()?;
        let request = |(id, plan, progress, accepted, claimable, entries): RequestRow| {
            let claimable = claimable.map(Timestamp::from_millis);
            let request = StoredRequest {
                id,
                dealer_code: ad.dealer_code.clone(),
                source_id: ad.source_id.clone(),
                accepted: Timestamp::from_millis(accepted),
                asked_by: progress.origin.asked_by.clone(),
                plan_id: progress.origin.plan_id,
                queued: Some(QueuedRequest { progress, claimable }),
                entries: log_entries(entries),
            };
            (plan, request)
        };
        Ok(rows.unwrap_or_default().into_iter().map(request).collect())
    }

    pub(super) fn code(&mut self) -> Result<Option<Code>, StoreError> {
        Ok(self.value::<Option<&str>>()?.map(Code::from_name))
    }

    /// The latest log entries, which are JSON, oldest first; none where they were not read.
    pub(super) fn entries(&mut self) -> Result<Vec<LogEntry>, StoreError> {
        Ok(log_entries(self.maybe_json()?))
    }

    pub fn faulty(&self, what: &str) -> StoreError {
        let column = match self.row {
            Row::Sqlite(row) => sqlx::Column::name(row.column(self.next - 1)),
            Row::Postgres(row) => sqlx::Column::name(row.column(self.next - 1)),
        };
        StoreError::Faulty(format!("the column {column} cannot be read: {what}").into())
    }
}

/// A row that cannot be read, in the terms of the database.
pub(super) fn unreadable(error: StoreError) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// A log entry as the statements exchange it, after its number in the log of the ad.
type EntryRow = (i64, Uuid, i64, Action, ActionState, Value, Option<Code>);

/// Entries in the order of their numbers.
fn log_entries(rows: Option<Vec<EntryRow>>) -> Vec<LogEntry> {
    let mut rows = rows.unwrap_or_default();
    rows.sort_unstable_by_key(|(n, ..)| *n);
    let entry = |(_, request_id, created, action, state, external_message, code): EntryRow| LogEntry {
        request_id,
        created: Timestamp::from_millis(created),
        action,
        state,
        external_message,
        code,
    };
    rows.into_iter().map(entry).collect()
}

/// Log entries as the JSON that statements parse.
pub(super) fn entry_values(entries: &[LogEntry]) -> Result<String, StoreError> {
    let rows: Vec<_> = entries
        .iter()
        .map(|LogEntry { request_id, created, action, state, external_message, code }| {
            (request_id, created.as_millis(), action, state, external_message, code)
        })
        .collect();
    json(&rows)
}

/// The calls as the statements take them, in the order of the columns.
pub(super) fn call_values(calls: &[MarketplaceCall]) -> Result<String, StoreError> {
    let row = |call: &MarketplaceCall| {
        (
            call.at.as_millis(),
            call.request_id,
            call.marketplace,
            call.action,
            call.revision,
            call.latency_ms,
            call.status,
            call.code,
            call.listing_id.clone(),
            call.content_sha256.clone(),
        )
    };
    json(&calls.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn json_of(list: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(list).expect("texts and numbers are JSON")
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Faulty(error.into()))
}

pub(super) fn content_text(content: &Content) -> Result<String, StoreError> {
    content.stored_text().map_err(|error| StoreError::Faulty(error.into()))
}

/// Folds a text for comparisons in any case.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase()
}

/// Title and body, folded for searches in any case.
pub(super) fn search_text(content: &Content) -> String {
    folded(&format!("{}\n{}", content.title().unwrap_or_default(), content.text("body").unwrap_or_default()))
}
