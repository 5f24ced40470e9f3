//! What is listed for the dealer and is not in the file. It is told, and nothing is done about it: a car that the nightly file forgot is
//! not a car that was sold.
//!
//! The service shows ads that came through its API. Listings from before it, which no ad was linked to, stand in the marketplace's own
//! console: an export of them can be named (`--listings`), in any form that the readers know.

use ad_cli::{
    Client, Error, ListQuery,
    cli::{Context, Failure, output::Column},
};
use ad_core::{model::AdState, parameters::MAX_LIMIT, printable};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};

use super::prepare::Stock;
use crate::readers::{ReadError, Reader};

const COLUMNS: &[Column] = &[
    Column::new("LISTED", "listed"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("PLATE", "registration_number"),
    Column::new("LISTING", "marketplace_ad_id"),
    Column::new("WHAT", "title").wrapped(),
];

/// Something that is listed and not in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// `ad` of the service, or `listing` of the export.
    pub listed: &'static str,
    /// The ad's source id.
    pub source_id: Option<String>,
    /// The plate.
    pub registration_number: Option<String>,
    /// The listing on the primary marketplace.
    pub marketplace_ad_id: Option<String>,
    /// What it is, as far as that is known.
    pub title: Option<String>,
}

/// What is asked of an ad.
#[derive(Debug, Deserialize)]
struct Listed {
    source_id: String,
    dealer_code: String,
    title: Option<String>,
    marketplace_ad_id: Option<String>,
}

/// Ads of the service that are not in the file. Of a group's dealers, only those that the file names are looked at.
///
/// # Errors
/// When the service cannot be asked.
pub async fn ads(client: &Client, stock: &Stock) -> Result<Vec<Missing>, Error> {
    let query = ListQuery::new()
        .with("state", AdState::Created)
        .with("ordering", "created")
        .with("fields", "source_id,dealer_code,title,marketplace_ad_id")
        .with("limit", MAX_LIMIT);
    let mut all = client.v4().all_as::<Listed>(&query);
    let mut missing = Vec::new();
    while let Some(ad) = all.try_next().await? {
        let is_asked_for = stock.dealers.is_empty() || stock.dealers.contains(&ad.dealer_code);
        if is_asked_for && !stock.source_ids.contains(ad.source_id.as_str()) {
            missing.push(Missing {
                listed: "ad",
                source_id: Some(ad.source_id),
                registration_number: None,
                marketplace_ad_id: ad.marketplace_ad_id,
                title: ad.title,
            });
        }
    }
    Ok(missing)
}

/// Listings of an export whose plates are not in the file. `plate` is the column of the plates.
///
/// # Errors
/// When the export cannot be read, or has no such column.
pub fn listings(mut export: Reader, plate: &str, stock: &Stock) -> Result<Vec<Missing>, ReadError> {
    let mut missing = Vec::new();
    let (mut batch, mut is_there) = (None, false);
    while let Some(next) = export.next(batch.take())? {
        if let Some(column) = next.columns().id(plate) {
            is_there = true;
            for row in next.rows() {
                let found = ad_core::model::plate(row.value(column).unwrap_or_default());
                if !found.is_empty() && !stock.plates.contains(found.as_str()) {
                    let others = row.cells().filter(|(id, value)| *id != column && !value.trim().is_empty());
                    let title: Vec<_> = others.take(4).map(|(_, value)| value.trim()).collect();
                    missing.push(Missing {
                        listed: "listing",
                        source_id: None,
                        registration_number: Some(found),
                        marketplace_ad_id: None,
                        title: Some(title.join(", ")),
                    });
                }
            }
        }
        batch = Some(next);
    }
    if is_there {
        Ok(missing)
    } else {
        Err(ReadError {
            message: format!("the export of listings has no column {plate:?}"),
            hints: vec!["set the column of registration numbers: --listings-plate COLUMN".to_owned()],
        })
    }
}

/// Tells what is missing. Programs have had their answer, the rows, on stdout; they are told beside it.
///
/// # Errors
/// When it cannot be shown.
pub fn show(context: &Context, missing: &[Missing]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    context.out.note("\nlisted, but not in the file (unchanged):");
    if !context.out.is_for_people() {
        for missing in missing {
            context.out.note(&missing.to_string());
        }
        return Ok(());
    }
    let mut table = context.out.rows(COLUMNS);
    missing.iter().try_for_each(|missing| table.push(missing))?;
    table.end()?;
    Ok(())
}

impl std::fmt::Display for Missing {
    /// `ad sold-long-ago 20000004 Volvo 2019`, on one line.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.listed)?;
        let parts = [&self.source_id, &self.registration_number, &self.marketplace_ad_id, &self.title];
        parts.into_iter().flatten().try_for_each(|part| write!(formatter, " {}", printable::line(part)))
    }
}
