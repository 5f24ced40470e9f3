//! The import of stored ads of another system: all ads of a file or none.
//!
//! The lines are collected in a temporary table of the connection, because a file may be larger than the memory. A running server
//! waits only while the ads are copied from there.

use std::io::{self, BufRead, Read};

use ad_core::{
    model::{Leftover, Publication},
    ports::{Clock, DealerDirectory, Ids, StoreError},
    quality,
    rulebook::{Rulebook, size::MOST_BYTES},
    service::import::{self, ImportedAd},
    violation::Violation,
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Columns, Database, Link, Row, Statement, Work,
    database::Session,
    nul::storable,
    rows::{content_text, folded, json, search_text},
    sql::import as sql,
    statement::Dialect,
};
use ad_server_base::lines::LineError;

/// Lines that are added to the temporary table together.
const CHUNK: usize = 500;

/// What is needed to read the lines.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "of borrowed ports, which have none")]
pub struct Importer<'a> {
    /// The database that receives the ads.
    pub database: &'a Database,
    /// The rules that the ads are checked against.
    pub rulebook: &'a Rulebook,
    /// Knows the dealers that ads belong to.
    pub directory: &'a dyn DealerDirectory,
    /// The time of the import.
    pub clock: &'a dyn Clock,
    /// Ids of ads that have none, and of the import.
    pub ids: &'a dyn Ids,
}

impl Importer<'_> {
    /// Imports ads, one JSON object a line, as [`import::read`] takes them. Errors of a line are passed to `wrong`
    /// as soon as it is known; then nothing is imported. Returns how many ads were, `None` when there were wrong lines.
    ///
    /// # Errors
    /// When the lines cannot be read, or the database does not take them.
    pub async fn import(
        &self,
        mut lines: impl BufRead,
        mut wrong: impl FnMut(LineError),
    ) -> Result<Option<usize>, ImportAdsError> {
        let mut session = self.database.session().await?;
        let create = vec![
            sql::CreateIncoming {}.into(),
            sql::IndexIncomingLine {}.into(),
            sql::IndexIncomingSourceId {}.into(),
            sql::IndexIncomingId {}.into(),
            sql::IndexIncomingMarketplaceAdId {}.into(),
            sql::IndexIncomingOfferId {}.into(),
            sql::EmptyIncoming {}.into(),
        ];
        session.write(Steps(create)).await?;
        let (mut chunk, mut ads, mut failed) = (Vec::new(), 0, false);
        let mut tell = |line, message| {
            failed = true;
            wrong(LineError { line, message });
        };
        for number in 1.. {
            match next_line(&mut lines)? {
                InputLine::End => break,
                InputLine::TooLong => tell(number, format!("longer than {MOST_BYTES} bytes")),
                InputLine::Text(text) if text.trim_ascii().is_empty() => {}
                // The line break is not part of the text, and positions in errors do not count it.
                InputLine::Text(text) => match self.read(text.trim_ascii_end()) {
                    Ok(import) => chunk.push(IncomingAd::of(number, &import, self.database.dialect())?),
                    Err(messages) => messages.into_iter().for_each(|message| tell(number, message)),
                },
            }
            if chunk.len() == CHUNK {
                ads += add(&mut session, &mut chunk).await?;
            }
        }
        ads += add(&mut session, &mut chunk).await?;
        for row in &session.write(Statement::from(sql::IncomingConflicts {})).await?.rows {
            let LineError { line, message } = conflict(row)?;
            tell(line, message);
        }
        if !failed {
            let now = self.clock.now();
            let import = vec![
                sql::ImportAds {}.into(),
                sql::ImportTexts {}.into(),
                sql::ImportPrices { now }.into(),
                sql::ImportLog { import: self.ids.next(), now }.into(),
                sql::ImportTies {}.into(),
            ];
            session.write(Steps(import)).await?;
            self.database.index_texts();
            self.database.logged();
        }
        session.write(Statement::from(sql::DropIncoming {})).await?;
        Ok((!failed).then_some(ads))
    }

    /// One line as an ad, or all its errors.
    fn read(&self, text: &[u8]) -> Result<ImportedAd, Vec<String>> {
        let value: Value = serde_json::from_slice(text).map_err(|error| vec![not_json(&error)])?;
        let Value::Object(ad) = value else { return Err(vec!["not a JSON object".to_owned()]) };
        import::read(self.rulebook, self.directory, ad, self.ids.next(), self.clock.now()).map_err(|errors| {
            let line = |(path, violation): (String, &Violation)| format!("{path}: {}", violation.texts().join(" "));
            errors.violations().into_iter().map(line).collect()
        })
    }
}

/// Adds lines to the temporary table, and returns how many.
async fn add(session: &mut Session, chunk: &mut Vec<IncomingAd>) -> Result<usize, StoreError> {
    if !chunk.is_empty() {
        session.write(Statement::from(sql::AddIncoming { lines: json(chunk)? })).await?;
    }
    Ok(std::mem::take(chunk).len())
}

/// Statements in one transaction, each of which sees what those before it did.
struct Steps(Vec<Statement>);

impl Work for Steps {
    type Answer = ();

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<()> {
        for step in &self.0 {
            link.run(step).await?;
        }
        Ok(())
    }
}

/// A syntax error of a line, without the line number of the parser, which is always 1.
fn not_json(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    format!("not JSON: {} at column {}", text.strip_suffix(&place).unwrap_or(&text), error.column())
}

/// Why no ad was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportAdsError {
    #[error("cannot read the lines: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

enum InputLine {
    Text(Vec<u8>),
    TooLong,
    End,
}

/// The next line, truncated to the maximum size of an ad.
fn next_line(lines: &mut impl BufRead) -> io::Result<InputLine> {
    let limit = MOST_BYTES as u64 + 1;
    let mut text = Vec::new();
    let read = (&mut *lines).take(limit).read_until(b'\n', &mut text)?;
    if read == 0 {
        return Ok(InputLine::End);
    }
    if read as u64 == limit && text.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
        return Ok(InputLine::TooLong);
    }
    Ok(InputLine::Text(text))
}

/// A line of the temporary table; its fields are the columns.
#[derive(Serialize)]
struct IncomingAd {
    line: usize,
    id: Uuid,
    source_id: String,
    source_id_folded: String,
    dealer_code: String,
    category_id: u16,
    state: &'static str,
    api_version: &'static str,
    created: i64,
    updated: i64,
    registration_number: Option<String>,
    vin: Option<String>,
    marketplace_ad_id: Option<String>,
    offer_id: Option<String>,
    leftover: Option<Leftover>,
    status: &'static str,
    channels: String,
    quality_score: u8,
    publication: Publication,
    content: String,
    search: String,
}

impl IncomingAd {
    fn of(line: usize, import: &ImportedAd, dialect: Dialect) -> Result<Self, StoreError> {
        let (ImportedAd { ad, leftover, publication }, words) = (import, import.words());
        let text = |text: &str| match dialect {
            Dialect::Sqlite => text.to_owned(),
            // Nested in JSON, which the database parses.
            Dialect::Postgres => storable(text).into_owned(),
        };
        Ok(Self {
            line,
            id: ad.id,
            source_id: text(&ad.source_id),
            source_id_folded: text(&folded(&ad.source_id)),
            dealer_code: ad.dealer_code.clone(),
            category_id: ad.category_id,
            state: ad.state.name(),
            api_version: ad.api_version.name(),
            created: ad.created.as_millis(),
            updated: ad.updated.as_millis(),
            registration_number: ad.content.registration_number().as_deref().map(text),
            vin: ad.content.vin(),
            marketplace_ad_id: ad.marketplace_ad_id.as_deref().map(text),
            offer_id: ad.offer_id.as_deref().map(text),
            leftover: (!leftover.is_empty()).then(|| leftover.clone()),
            status: words.status.name(),
            channels: words.channels(),
            quality_score: quality::score(ad, &publication.failed_images),
            publication: publication.clone(),
            content: content_text(&ad.content)?,
            search: text(&search_text(&ad.content)),
        })
    }
}

fn conflict(row: &Row) -> Result<LineError, StoreError> {
    let (line, field, other): (usize, String, Option<i64>) = Columns::of(row).read()?;
    let by = other.map_or_else(|| "an ad that is here".to_owned(), |line| format!("line {line}"));
    let message = match field.as_str() {
        "source_id" => format!("source_id: used by {by}, and a dealer uses each only once"),
        field => format!("{field}: used by {by}"),
    };
    Ok(LineError { line, message })
}
