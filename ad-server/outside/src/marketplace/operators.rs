//! Operations on local marketplaces for operators: import existing listings, and list them.

use std::{
    collections::HashMap,
    io::{self, BufRead},
};

use ad_core::{
    model::{Market, Timestamp, plate},
    ports::StoreError,
};
use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};

use super::listing_id;
use ad_server_base::lines::{ImportError, LineError};
use ad_server_store::sql::listings as sql;
use ad_server_store::{Columns, Database, Link, Row, Work};

/// Lines that go to the database together.
const CHUNK: usize = 1000;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListingLine {
    #[serde(skip_deserializing)]
    number: usize,
    marketplace: Market,
    dealer_code: String,
    registration_number: String,
    title: String,
}

/// Imports listings, one JSON object a line: `{"marketplace": "primary", "dealer_code", "registration_number", "title"}`.
/// All of them or none; a later line comes before an earlier one in the listing order. Returns how many.
///
/// # Errors
/// [`ImportError::Lines`] with every line that is wrong, that repeats a plate, or whose plate is listed already.
pub async fn import_listings(database: &Database, lines: impl BufRead, now: Timestamp) -> Result<usize, ImportError> {
    let lines = read_lines(lines)?;
    let chunks = lines.chunks(CHUNK).map(serde_json::to_string).collect::<Result<_, _>>().map_err(io::Error::from)?;
    let listed = database.write(ImportLines { chunks, now }).await?;
    let errors = listed.iter().map(already_listed).collect::<Result<Vec<_>, _>>()?;
    if errors.is_empty() { Ok(lines.len()) } else { Err(ImportError::Lines(errors)) }
}

fn read_lines(lines: impl BufRead) -> Result<Vec<ListingLine>, ImportError> {
    let mut read = Vec::new();
    let mut errors = Vec::new();
    let mut plates = HashMap::new();
    for (index, text) in lines.lines().enumerate() {
        let (text, number) = (text?, index + 1);
        if text.trim().is_empty() {
            continue;
        }
        let parsed = parse(&text, number).and_then(|line| {
            let plate = (line.marketplace, line.dealer_code.clone(), line.registration_number.clone());
            match plates.insert(plate, number) {
                None => Ok(line),
                Some(earlier) => Err(format!("the same plate of the same dealer as in line {earlier}")),
            }
        });
        match parsed {
            Ok(line) => read.push(line),
            Err(message) => errors.push(LineError { line: number, message }),
        }
    }
    if errors.is_empty() { Ok(read) } else { Err(ImportError::Lines(errors)) }
}

fn parse(text: &str, number: usize) -> Result<ListingLine, String> {
    let mut line: ListingLine = serde_json::from_str(text).map_err(|error| error.to_string())?;
    line.number = number;
    line.registration_number = plate(&line.registration_number);
    let fields = [
        ("dealer_code", &line.dealer_code),
        ("registration_number", &line.registration_number),
        ("title", &line.title),
    ];
    match fields.iter().find(|(_, value)| value.trim().is_empty()) {
        Some((name, _)) => Err(format!("{name} is empty")),
        None => Ok(line),
    }
}

fn already_listed(row: &Row) -> Result<LineError, StoreError> {
    let (line, market, seq): (i64, Market, _) = Columns::of(row).read()?;
    let id = listing_id(market, seq);
    let message = format!("this plate of this dealer is already listed as {id} on the {market} marketplace");
    Ok(LineError { line: usize::try_from(line).unwrap_or_default(), message })
}

/// Adds the lines unless some of them are listed already; then it returns those.
struct ImportLines {
    chunks: Vec<String>,
    now: Timestamp,
}

impl Work for ImportLines {
    type Answer = Vec<Row>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<Row>> {
        let mut listed = Vec::new();
        for lines in &self.chunks {
            listed.extend(link.run(&sql::AlreadyListed { lines }.into()).await?.rows);
        }
        if listed.is_empty() {
            for lines in &self.chunks {
                link.run(&sql::ImportListings { lines, now: self.now }.into()).await?;
            }
        }
        Ok(listed)
    }
}

/// A filter of listings; `None` matches any.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ListingFilter {
    /// Only listings of this marketplace
    #[arg(long, value_name = "primary|secondary", value_parser = market)]
    pub marketplace: Option<Market>,
    /// Only those of this dealer
    #[arg(long, value_name = "CODE")]
    pub dealer_code: Option<String>,
    /// Only listings with this registration number, ignoring case and spaces
    #[arg(long, value_name = "PLATE")]
    pub registration_number: Option<String>,
}

fn market(text: &str) -> Result<Market, &'static str> {
    Market::from_name(text).ok_or("expected primary or secondary")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingState {
    Active,
    Removed,
}

impl ListingState {
    /// The state in answers and lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Removed => "removed",
        }
    }
}

/// A listing, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListingRow {
    pub id: String,
    pub marketplace: Market,
    pub dealer_code: String,
    pub registration_number: Option<String>,
    pub title: Option<String>,
    /// The client's reference of the ad; `None` for a listing that did not come through this service.
    pub source_id: Option<String>,
    /// Its place in the listing order of its marketplace, from 1; `None` when it was removed.
    pub position: Option<i64>,
    pub pole_position_until: Option<Timestamp>,
    pub state: ListingState,
    /// Time of the latest call that changed it.
    pub changed: Timestamp,
    /// How many calls have changed it.
    pub changes: i64,
}

/// The listings, marketplace by marketplace in their order, removed ones last. They come as they are read, for there
/// may be many.
pub fn list_listings<'d>(
    database: &'d Database,
    filter: &ListingFilter,
) -> impl Stream<Item = Result<ListingRow, StoreError>> + Send + use<'d> {
    let list = sql::ListListings {
        market: filter.marketplace.map(Market::name),
        dealer_code: filter.dealer_code.as_deref(),
        registration_number: filter.registration_number.as_deref().map(plate),
    };
    database.stream(&list.into()).map(|row| listing(&row?))
}

fn listing(row: &Row) -> Result<ListingRow, StoreError> {
    let mut columns = Columns::of(row);
    let marketplace = columns.read()?;
    Ok(ListingRow {
        id: listing_id(marketplace, columns.value()?),
        marketplace,
        dealer_code: columns.string()?,
        registration_number: columns.maybe_string()?,
        title: columns.maybe_string()?,
        source_id: columns.maybe_string()?,
        position: columns.value()?,
        pole_position_until: columns.maybe_time()?,
        state: columns.named(|name| match name {
            "active" => Some(ListingState::Active),
            "removed" => Some(ListingState::Removed),
            _ => None,
        })?,
        changed: columns.time()?,
        changes: columns.value()?,
    })
}
