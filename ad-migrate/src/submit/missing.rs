//! Ads and listings of the dealer without a row in the file. They are reported and not changed: a car that the file lacks was not
//! necessarily sold.
//!
//! The service knows only ads that were created through its API. Earlier listings are in the marketplace's console; an export of them
//! (`--listings`) may have any format that the readers know.

use std::{borrow::Cow, collections::BTreeSet, io};

use ad_bulk::BulkError;
use ad_client::{AdFilter, AdQuery, Client};
use ad_core::{model::AdState, printable};
use ad_files::{
    Place,
    identities::{Identities, Occurrence, hash},
    spool::Spool,
    text::grouped,
};
use ad_terminal::{Context, Failure, output::Column};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    check::Verdict,
    readers::{ReadError, Reader},
};

const COLUMNS: &[Column] = &[
    Column::new("WHERE", "listed"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("PLATE", "registration_number"),
    Column::new("LISTING", "marketplace_ad_id"),
    Column::new("WHAT", "title").wrapped(),
];

/// An ad or a listing without a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Missing {
    /// `ad` of the service, or `listing` of the export.
    pub(crate) listed: Cow<'static, str>,
    pub(crate) source_id: Option<String>,
    pub(crate) registration_number: Option<String>,
    /// The listing on the primary marketplace.
    pub(crate) marketplace_ad_id: Option<String>,
    /// What is known about it.
    pub(crate) title: Option<String>,
}

/// The members of an ad that are read.
#[derive(Debug, Deserialize)]
struct ListedAd {
    source_id: String,
    dealer_code: String,
    title: Option<String>,
    marketplace_ad_id: Option<String>,
    #[serde(default)]
    category_fields: Map<String, Value>,
}

/// Identifiers of rows and listings.
const SOURCE_ID: u8 = 0;
const PLATE: u8 = 1;

/// The identifiers of all rows, also invalid ones; and then everything listed, which is missing if no row has its identifier.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    named: Identities,
    /// Codes of the dealers of valid rows.
    pub(super) dealers: BTreeSet<String>,
    listed: Spool,
    listed_count: u64,
}

impl Stock {
    /// Adds the identifiers of a row.
    pub(crate) fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        for (kind, text) in [(SOURCE_ID, &verdict.source_id), (PLATE, &verdict.plate)] {
            if let Some(text) = text {
                self.name(kind, text, 0)?;
            }
        }
        let dealer = verdict.payload.as_ref().and_then(|payload| payload.get("dealer_code")?.as_str());
        if let Some(dealer) = dealer.filter(|dealer| !self.dealers.contains(*dealer)) {
            self.dealers.insert(dealer.to_owned());
        }
        Ok(())
    }

    fn name(&mut self, kind: u8, text: &str, index: u64) -> io::Result<()> {
        let hash = hash(text, None);
        self.named.add(Occurrence { kind, hash, index, place: Place::default(), is_rejected: false })
    }

    /// Adds an ad or a listing, which is missing unless a row has this identifier.
    fn list(&mut self, kind: u8, text: &str, missing: &Missing) -> io::Result<()> {
        self.listed_count += 1;
        self.name(kind, text, self.listed_count)?;
        self.listed.add_line(missing).map(drop)
    }

    /// Adds the ads of the service; for a dealer group, those of the dealers in the file.
    pub(crate) async fn list_ads(&mut self, client: &Client) -> Result<(), BulkError> {
        let query = AdQuery {
            fields: Some(vec!["source_id", "dealer_code", "title", "marketplace_ad_id", "category_fields"]),
            ..AdQuery::oldest_first([AdFilter::State(AdState::Created)])
        };
        let mut all = client.v4().all_as::<ListedAd>(&query);
        while let Some(ad) = all.try_next().await? {
            if self.dealers.is_empty() || self.dealers.contains(&ad.dealer_code) {
                let ListedAd { source_id, title, marketplace_ad_id, category_fields, .. } = ad;
                let plate = category_fields.get("registration_number").and_then(Value::as_str);
                let missing = Missing {
                    listed: "ad".into(),
                    source_id: Some(source_id.clone()),
                    registration_number: plate.map(str::to_owned),
                    marketplace_ad_id,
                    title,
                };
                self.list(SOURCE_ID, &source_id, &missing)?;
            }
        }
        Ok(())
    }

    /// Adds the listings of an export. `plate` is the column of the plates.
    ///
    /// # Errors
    /// When the export cannot be read, or has no such column.
    pub(crate) fn list_export(&mut self, mut export: Reader, plate: &str) -> Result<(), ReadError> {
        let (mut batch, mut has_column) = (None, false);
        while let Some(next) = export.next(batch.take())? {
            if let Some(column) = next.columns().id(plate) {
                has_column = true;
                for row in next.rows() {
                    let found = ad_core::model::plate(row.value(column).unwrap_or_default());
                    if !found.is_empty() {
                        let others = row.cells().filter(|(id, value)| *id != column && !value.trim().is_empty());
                        let title: Vec<_> = others.take(4).map(|(_, value)| value.trim()).collect();
                        let missing = Missing {
                            listed: "listing".into(),
                            registration_number: Some(found.clone()),
                            title: Some(title.join(", ")),
                            ..Missing::default()
                        };
                        self.list(PLATE, &found, &missing).map_err(|error| {
                            ReadError::new(format!("cannot use a temporary file: {error}"))
                                .hint("set TMPDIR to a folder with free space")
                        })?;
                    }
                }
            }
            batch = Some(next);
        }
        if !has_column {
            return Err(ReadError::new(format!("the export of listings has no column {plate:?}"))
                .hint("set the column of registration numbers: --listings-plate COLUMN"));
        }
        Ok(())
    }

    /// The ads and listings without a row, in the order in which they were added.
    pub(crate) fn missing(mut self) -> io::Result<Vec<Missing>> {
        let (mut missing, mut in_file) = (BTreeSet::new(), None);
        // Rows have index 0 and come first.
        for it in self.named.sorted()? {
            let it = it?;
            if it.index == 0 {
                in_file = Some((it.kind, it.hash));
            } else if in_file != Some((it.kind, it.hash)) {
                missing.insert(it.index);
            }
        }
        let listed = (1..).zip(self.listed.lines()?).filter(|(index, _)| missing.contains(index));
        listed.map(|(_, line)| line).collect()
    }
}

/// Maximum number of lines for people; the others are counted.
const MOST_LINES: usize = 5;

/// Shows what is missing; for programs on stderr, because stdout has the rows.
pub(crate) fn show(context: &Context, missing: &[Missing]) -> Result<(), Failure> {
    if missing.is_empty() || context.out.is_quiet() {
        return Ok(());
    }
    let count = grouped(missing.len() as u64);
    context.out.note(&format!("\nads and listings that are not in the file (unchanged): {count}"));
    if !context.out.is_for_people() {
        // `ad sold-long-ago 20000004 Volvo 2019`, on one line.
        for Missing { listed, source_id, registration_number, marketplace_ad_id, title } in missing {
            let parts = [source_id, registration_number, marketplace_ad_id, title].into_iter().flatten();
            let parts: Vec<_> = parts.map(|part| printable::line(part)).collect();
            context.out.note(&format!("{listed} {}", parts.join(" ")));
        }
        return Ok(());
    }
    context.out.table(COLUMNS, missing.iter().take(MOST_LINES))?;
    if let Some(more) = missing.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        context.out.note(&format!("… and {} more; to list all ads: ad-cli list --all", grouped(more as u64)));
    }
    Ok(())
}
