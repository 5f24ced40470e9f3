//! Every payload past the service's own rules (`POST /v4/{vehicle_type}/validate`): nothing is stored, and no source id is used up.
//! The service knows what this program does not: its catalogue may be newer, and it knows the dealer.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use ad_cli::{
    Client, Error, ErrorKind,
    terminal::{Context, Failure, output::Column},
};
use ad_core::categories;
use futures_util::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::{Map, Value};

use super::prepare::RowNumbers;

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("COLUMN", "columns"),
    Column::new("FIELD", "field"),
    Column::new("MESSAGE", "message").wrapped(),
];

/// What the service has against a row.
#[derive(Debug, Serialize)]
struct Objection<'a> {
    row: Option<u64>,
    source_id: &'a str,
    columns: Vec<&'a str>,
    field: Option<String>,
    message: String,
}

/// What is rehearsed.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    /// The payloads, one a line.
    pub payloads: &'a Path,
    /// The row of each.
    pub rows: &'a mut RowNumbers,
    /// So many of them.
    pub most: u64,
    /// So many at a time.
    pub parallel: usize,
    /// Whether some were sent before: then it is no news that the service has them.
    pub is_begun: bool,
}

/// How many payloads the service would take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rehearsed {
    /// Payloads that were asked about.
    pub asked: u64,
    /// Those that it would refuse.
    pub refused: u64,
    /// Those that it has.
    pub there: u64,
}

/// Asks about the payloads of a file.
///
/// # Errors
/// When the service cannot be asked.
pub async fn rehearse<'a>(
    context: &Context,
    client: &Client,
    rehearsal: Rehearsal<'_>,
    columns_of: impl Fn(&str) -> Vec<&'a str>,
) -> Result<Rehearsed, Failure> {
    let Rehearsal { payloads, rows, most, parallel, is_begun } = rehearsal;
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot read {}: {error}", payloads.display()));
    let lines = BufReader::new(File::open(payloads).map_err(cannot)?).lines();
    let total = most.min(rows.count);
    let bar = if context.out.moves() { ProgressBar::new(total) } else { ProgressBar::hidden() };
    if let Ok(style) =
        ProgressStyle::with_template("rehearsed {bar:30.green} {pos:>7}/{len} {per_sec:>9} {eta:>5} left")
    {
        bar.set_style(style);
    }
    let numbered = (0_u64..).zip(lines).take(usize::try_from(most).unwrap_or(usize::MAX));
    let asked = numbered.map(|(index, line)| async move {
        let line = line.map_err(cannot)?;
        let payload: Map<String, Value> = serde_json::from_str(&line).map_err(|error| cannot(error.into()))?;
        let answer = ask(client, &payload).await;
        Ok::<_, Failure>((index, payload, answer))
    });
    let mut answers = stream::iter(asked).buffered(parallel.max(1));
    let mut told = context.out.rows(COLUMNS);
    let mut rehearsed = Rehearsed::default();
    while let Some(answer) = answers.next().await {
        let (index, payload, answer) = answer?;
        rehearsed.asked += 1;
        bar.inc(1);
        let Err(error) = answer else { continue };
        if is_begun && matches!(error.kind(), ErrorKind::Conflict(_)) {
            rehearsed.there += 1;
            continue;
        }
        rehearsed.refused += 1;
        let source_id = payload.get("source_id").and_then(Value::as_str).unwrap_or_default();
        let row = rows.get(index);
        for (field, message) in objections(error)? {
            let columns = field.as_deref().map(&columns_of).unwrap_or_default();
            told.push(&Objection { row, source_id, columns, field, message })?;
        }
    }
    bar.finish_and_clear();
    if rehearsed.refused > 0 || !context.out.is_for_people() {
        told.end()?;
    }
    Ok(rehearsed)
}

async fn ask(client: &Client, payload: &Map<String, Value>) -> Result<(), Error> {
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    // What can go has a vehicle type.
    let vehicle_type = category.and_then(|category| category.vehicle_type).unwrap_or_default();
    client.typed(vehicle_type).validate(payload).await.map(|_| ())
}

/// What the service has against a payload, by field; what it has against all of them is an error.
fn objections(error: Error) -> Result<Vec<(Option<String>, String)>, Failure> {
    match error.kind() {
        ErrorKind::Invalid(errors) => {
            Ok(errors.flatten().into_iter().map(|(field, message)| (Some(field), message.into_owned())).collect())
        }
        ErrorKind::Rules(_)
        | ErrorKind::Identified(_)
        | ErrorKind::Malformed(_)
        | ErrorKind::TooLarge(_)
        | ErrorKind::Conflict(_) => Ok(vec![(None, error.to_string())]),
        _ => Err(error.into()),
    }
}
