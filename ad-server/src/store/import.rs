//! Bringing in the stored ads of another system: all of a file or nothing.
//!
//! The lines are gathered in a temporary table of the connection, outside of the database proper: a file may be larger
//! than the memory, and a running server is held up only for as long as the ads are copied over.

use std::io::{self, BufRead, Read};

use ad_core::{
    model::Leftover,
    ports::{Clock, DealerDirectory, Ids, StoreError},
    rulebook::Rulebook,
    service::import::{self, ImportedAd},
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Columns, Database, Link, Row as Fetched, Sql, Statement, Work,
    database::Session,
    rows::{content_text, folded, json, search_text},
    sql::{as_id, both, each},
};
use crate::{api::MAX_BODY, lines::LineError};

/// Lines that go to the temporary table together.
const CHUNK: usize = 500;

/// What is needed to read the lines.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "of borrowed ports, which have none")]
pub struct Importer<'a> {
    /// The database.
    pub database: &'a Database,
    /// The rules that the ads are held against.
    pub rulebook: &'a Rulebook,
    /// The dealers.
    pub directory: &'a dyn DealerDirectory,
    /// When the import is.
    pub clock: &'a dyn Clock,
    /// Ids of ads that have none, and of the import.
    pub ids: &'a dyn Ids,
}

impl Importer<'_> {
    /// Imports ads, one JSON object a line, as [`import::read`] takes them. What is wrong with a line is told to `wrong`
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
        session.write(Steps::of(&GATHER)).await?;
        let (mut chunk, mut ads, mut failed) = (Vec::new(), 0, false);
        let mut tell = |line, message| {
            failed = true;
            wrong(LineError { line, message });
        };
        for number in 1.. {
            match next_line(&mut lines)? {
                Line::End => break,
                Line::TooLong => tell(number, format!("longer than {MAX_BODY} bytes")),
                Line::Text(text) if text.trim_ascii().is_empty() => {}
                // The end of the line is no part of the text, nor of what is said about places in it.
                Line::Text(text) => match self.read(text.trim_ascii_end()) {
                    Ok(import) => chunk.push(Row::of(number, &import, self.database)?),
                    Err(messages) => messages.into_iter().for_each(|message| tell(number, message)),
                },
            }
            if chunk.len() == CHUNK {
                ads += gather(&mut session, &mut chunk).await?;
            }
        }
        ads += gather(&mut session, &mut chunk).await?;
        for row in &session.write(Statement::new(CLASHES)).await?.rows {
            let clash = clash(row)?;
            tell(clash.line, clash.message);
        }
        if !failed {
            let (request, now) = (self.ids.next(), self.clock.now().as_millis());
            let steps = IMPORT.iter().map(|step| Statement::new(*step).bind(request).bind(now)).collect();
            session.write(Steps(steps)).await?;
            self.database.index_texts();
        }
        session.write(Statement::new(FORGET)).await?;
        Ok((!failed).then_some(ads))
    }

    /// One line as an ad, or all that is wrong with it.
    fn read(&self, text: &[u8]) -> Result<ImportedAd, Vec<String>> {
        let value: Value = serde_json::from_slice(text).map_err(|error| vec![not_json(&error)])?;
        let Value::Object(ad) = value else { return Err(vec!["not a JSON object".to_owned()]) };
        import::read(self.rulebook, self.directory, ad, self.ids.next(), self.clock.now()).map_err(|errors| {
            errors.flatten().into_iter().map(|(path, message)| format!("{path}: {message}")).collect()
        })
    }
}

/// Brings lines into the temporary table, and returns how many.
async fn gather(session: &mut Session, chunk: &mut Vec<Row>) -> Result<usize, StoreError> {
    if !chunk.is_empty() {
        session.write(Statement::new(GATHERED).bind(json(chunk)?)).await?;
    }
    Ok(std::mem::take(chunk).len())
}

/// Statements one after the other, each of which sees what those before it did; all of them or none.
struct Steps(Vec<Statement>);

impl Steps {
    fn of(steps: &[Sql]) -> Self {
        Self(steps.iter().map(|step| Statement::new(*step)).collect())
    }
}

impl Work for Steps {
    type Answer = ();

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<()> {
        for step in &self.0 {
            link.run(step).await?;
        }
        Ok(())
    }
}

/// What is wrong with the syntax of a line. Its number within the line, always 1, would mislead.
fn not_json(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    format!("not JSON: {} at column {}", text.strip_suffix(&place).unwrap_or(&text), error.column())
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportAdsError {
    /// The lines cannot be read.
    #[error("cannot read the lines: {0}")]
    Read(#[from] io::Error),
    /// The database did not take them.
    #[error(transparent)]
    Store(#[from] StoreError),
}

enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

/// The next line, of which no more is kept than an ad may have.
fn next_line(lines: &mut impl BufRead) -> io::Result<Line> {
    let limit = MAX_BODY as u64 + 1;
    let mut text = Vec::new();
    let read = (&mut *lines).take(limit).read_until(b'\n', &mut text)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if read as u64 == limit && text.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
        return Ok(Line::TooLong);
    }
    Ok(Line::Text(text))
}

/// A line as the temporary table takes it, by the columns of [`GATHER`].
#[derive(Serialize)]
struct Row(
    usize,
    Uuid,
    String,
    String,
    String,
    u16,
    &'static str,
    &'static str,
    i64,
    i64,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<Leftover>,
    String,
    String,
);

impl Row {
    fn of(line: usize, ImportedAd { ad, leftover }: &ImportedAd, database: &Database) -> Result<Self, StoreError> {
        let text = |text: String| database.storable(text);
        Ok(Self(
            line,
            ad.id,
            text(ad.source_id.clone()),
            text(folded(&ad.source_id)),
            ad.dealer_code.clone(),
            ad.category_id,
            ad.state.name(),
            ad.api_version.name(),
            ad.created.as_millis(),
            ad.updated.as_millis(),
            ad.content.registration_number().map(|plate| text(plate.into_owned())),
            ad.marketplace_ad_id.clone().map(text),
            ad.offer_id.clone().map(text),
            (!leftover.is_empty()).then(|| leftover.clone()),
            content_text(&ad.content)?,
            text(search_text(&ad.content)),
        ))
    }
}

macro_rules! incoming {
    (sqlite) => {
        incoming!("TEXT")
    };
    (postgres) => {
        incoming!("UUID")
    };
    ($id:literal) => {
        concat!(
            "CREATE TEMP TABLE IF NOT EXISTS incoming (line BIGINT PRIMARY KEY, id ",
            $id,
            ", source_id TEXT, source_id_folded TEXT, dealer_code TEXT, category_id BIGINT, state TEXT, api_version TEXT, \
              created BIGINT, updated BIGINT, registration_number TEXT, marketplace_ad_id TEXT, offer_id TEXT, \
              leftover TEXT, content TEXT, search TEXT)"
        )
    };
}

macro_rules! incoming_index {
    (sqlite, $column:literal, $columns:literal) => {
        concat!("CREATE INDEX IF NOT EXISTS temp.incoming_", $column, " ON incoming (", $columns, ")")
    };
    (postgres, $column:literal, $columns:literal) => {
        concat!("CREATE INDEX IF NOT EXISTS incoming_", $column, " ON incoming (", $columns, ")")
    };
}

/// The temporary table, empty.
const GATHER: [Sql; 6] = [
    both!(incoming),
    both!(incoming_index, "source_id", "source_id, dealer_code"),
    both!(incoming_index, "id", "id"),
    both!(incoming_index, "marketplace_ad_id", "marketplace_ad_id"),
    both!(incoming_index, "offer_id", "offer_id"),
    Sql::plain("DELETE FROM incoming"),
];

macro_rules! gathered {
    ($dialect:ident) => {
        concat!(
            "INSERT INTO incoming SELECT CAST(value ->> 0 AS BIGINT), ",
            as_id!($dialect, "value ->> 1"),
            ", value ->> 2, value ->> 3, value ->> 4, CAST(value ->> 5 AS BIGINT), value ->> 6, value ->> 7, \
             CAST(value ->> 8 AS BIGINT), CAST(value ->> 9 AS BIGINT), value ->> 10, value ->> 11, value ->> 12, \
             value ->> 13, value ->> 14, value ->> 15 FROM ",
            each!($dialect, "$1", "row")
        )
    };
}

/// 1 rows as a JSON array.
const GATHERED: Sql = both!(gathered);

const FORGET: Sql = Sql::plain("DROP TABLE incoming");

/// Lines that cannot stand beside another line or beside an ad that is here: line, field, the other line if it is one.
const CLASHES: Sql = Sql::plain(
    "\
SELECT incoming.line, 'source_id', CAST(NULL AS BIGINT) FROM incoming JOIN ads USING (source_id, dealer_code) \
UNION ALL SELECT incoming.line, 'id', NULL FROM incoming JOIN ads USING (id) \
UNION ALL SELECT incoming.line, 'marketplace_ad_id', NULL FROM incoming JOIN ads USING (marketplace_ad_id) \
    WHERE ads.state = 'created' AND incoming.state = 'created' \
UNION ALL SELECT incoming.line, 'offer_id', NULL FROM incoming JOIN ads USING (offer_id) \
    WHERE ads.state = 'created' AND incoming.state = 'created' \
UNION ALL SELECT incoming.line, 'source_id', min(earlier.line) FROM incoming \
    JOIN incoming AS earlier USING (source_id, dealer_code) WHERE earlier.line < incoming.line GROUP BY incoming.line \
UNION ALL SELECT incoming.line, 'id', min(earlier.line) FROM incoming \
    JOIN incoming AS earlier USING (id) WHERE earlier.line < incoming.line GROUP BY incoming.line \
UNION ALL SELECT incoming.line, 'marketplace_ad_id', min(earlier.line) FROM incoming \
    JOIN incoming AS earlier USING (marketplace_ad_id) WHERE earlier.line < incoming.line \
    AND earlier.state = 'created' AND incoming.state = 'created' GROUP BY incoming.line \
UNION ALL SELECT incoming.line, 'offer_id', min(earlier.line) FROM incoming \
    JOIN incoming AS earlier USING (offer_id) WHERE earlier.line < incoming.line \
    AND earlier.state = 'created' AND incoming.state = 'created' GROUP BY incoming.line \
ORDER BY 1",
);

fn clash(row: &Fetched) -> Result<LineError, StoreError> {
    let mut columns = Columns::of(row);
    let line: i64 = columns.value()?;
    let field = columns.text()?;
    let other: Option<i64> = columns.value()?;
    let by = other.map_or_else(|| "an ad that is here".to_owned(), |line| format!("line {line}"));
    let message = match &*field {
        "source_id" => format!("source_id: used by {by}, and a dealer uses each only once"),
        field => format!("{field}: used by {by}"),
    };
    Ok(LineError { line: usize::try_from(line).unwrap_or_default(), message })
}

/// The texts of the ads, as the database searches them.
macro_rules! import_texts {
    (sqlite) => {
        "INSERT INTO texts (place, search, source_id) SELECT (number << 40) + ads.seq, search, source_id_folded \
         FROM incoming JOIN ads USING (id) JOIN dealer_numbers ON dealer_numbers.dealer_code = ads.dealer_code"
    };
    (postgres) => {
        "INSERT INTO texts (ad, dealer_code, search, source_id) SELECT ads.seq, ads.dealer_code, search, source_id_folded \
         FROM incoming JOIN ads USING (id)"
    };
}

macro_rules! import_ties {
    ($market:literal, $id:literal) => {
        Sql::plain(concat!(
            "INSERT INTO ties (market, listing, ad) SELECT '",
            $market,
            "', ads.",
            $id,
            ", ads.seq FROM incoming JOIN ads USING (id) WHERE ads.",
            $id,
            " IS NOT NULL AND ads.state = 'created' ON CONFLICT (market, listing) DO UPDATE SET ad = excluded.ad"
        ))
    };
}

/// 1 id of the import, 2 when. The ads in the order of their lines, their texts, their first log entries, and their
/// listings.
const IMPORT: [Sql; 5] = [
    Sql::plain(
        "INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, \
             registration_number, marketplace_ad_id, offer_id, leftover, image_refs, content) \
         SELECT id, source_id, dealer_code, category_id, state, api_version, 0, state, created, updated, \
             registration_number, marketplace_ad_id, offer_id, leftover, '[]', content FROM incoming ORDER BY line",
    ),
    both!(import_texts),
    Sql::plain(
        "INSERT INTO log (ad, n, request_id, created, action, state, message) \
         SELECT ads.seq, 1, $1, $2, 'create', 'done', '\"Imported\"' FROM incoming JOIN ads USING (id)",
    ),
    import_ties!("primary", "marketplace_ad_id"),
    import_ties!("secondary", "offer_id"),
];
