//! Validates every payload at the service (`POST /v4/{vehicle_type}/validate`), which stores nothing and uses up no source id. The service
//! knows the dealer, and its catalogue may be newer.

use std::collections::HashMap;

use ad_client::{Client, Error, ErrorKind};
use ad_core::categories;
use ad_files::text::{counted, grouped, tally};
use ad_terminal::{Context, Failure, bar, output::Column};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::{Map, Value};

use super::prepare::{self, Sending};

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("COLUMN", "columns"),
    Column::new("FIELD", "field"),
    Column::new("MESSAGE", "message").wrapped(),
];

/// Errors with the same cause that people see.
const MOST_OF_A_CAUSE: u64 = 3;

/// An error that the service reports about a row.
#[derive(Debug, Serialize)]
struct Objection<'a> {
    row: Option<u64>,
    source_id: &'a str,
    columns: Vec<String>,
    field: Option<String>,
    message: String,
}

/// Validates the payloads of a file at the service, and shows the errors. Returns how many payloads it would reject. If ads `exist`,
/// because some were created before, that is no error.
///
/// # Errors
/// When a request fails for another reason.
pub(crate) async fn rehearse(
    context: &Context,
    client: &Client,
    sending: Sending<'_>,
    exist: bool,
    columns_of: impl Fn(&str) -> Vec<String>,
) -> Result<u64, Failure> {
    let Sending { payloads, rows, most, parallel } = sending;
    let payloads = prepare::payloads(payloads)?.take(usize::try_from(most).unwrap_or(usize::MAX));
    let template = "rehearsed {bar:30.green} {human_pos:>7}/{human_len} {rate:>7} {eta:>5} left";
    let bar = bar(context.out, most.min(rows.count), template);
    let asked = payloads.map(|payload| async move {
        let (index, payload) = payload?;
        let answer = ask(client, &payload).await;
        Ok::<_, Failure>((index, payload, answer))
    });
    let mut answers = stream::iter(asked).buffered(parallel.max(1));
    let mut errors = context.out.rows(COLUMNS);
    let (mut count, mut rejected, mut existing, mut left) = (0, 0, 0, 0);
    let mut causes = HashMap::new();
    while let Some(answer) = answers.next().await {
        let (index, payload, answer) = answer?;
        count += 1;
        bar.inc(1);
        let Err(error) = answer else { continue };
        if exist && matches!(error.kind(), ErrorKind::Conflict(_)) {
            existing += 1;
            continue;
        }
        rejected += 1;
        let source_id = payload.get("source_id").and_then(Value::as_str).unwrap_or_default();
        let row = rows.get(index);
        for (field, message) in objections(error)? {
            // A cause that all rows have is shown of the first ones.
            let times = causes.entry((field.clone(), message.clone())).or_insert(0_u64);
            *times += 1;
            if *times > MOST_OF_A_CAUSE && context.out.is_for_people() {
                left += 1;
                continue;
            }
            let columns = field.as_deref().map(&columns_of).unwrap_or_default();
            errors.push(&Objection { row, source_id, columns, field, message })?;
        }
    }
    bar.finish_and_clear();
    if rejected > 0 || !context.out.is_for_people() {
        errors.end()?;
    }
    if left > 0 {
        context
            .out
            .note(&format!("… and {} of the same causes; to list all: add --output csv", counted(left, "error")));
    }
    let others = tally([(existing, "already exist"), (rejected, "would be rejected")]);
    let comma = if others.is_empty() { "" } else { ", " };
    let accepted = grouped(count - rejected - existing);
    let ads = counted(count, "ad");
    context
        .out
        .note(&format!("rehearsed {ads}: the service would accept {accepted}{comma}{others}; nothing was stored"));
    Ok(rejected)
}

pub(super) async fn ask(client: &Client, payload: &Map<String, Value>) -> Result<(), Error> {
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    // Valid rows have a vehicle type.
    let vehicle_type = category.and_then(|category| category.vehicle_type).unwrap_or_default();
    client.typed(vehicle_type).validate(payload).await.map(|_| ())
}

/// The errors of a payload in one line; an error that concerns all payloads fails.
pub(super) fn text(error: Error) -> Result<String, Failure> {
    let texts = objections(error)?.into_iter();
    let texts = texts.map(|(field, text)| field.map_or(text.clone(), |field| format!("{field}: {text}")));
    Ok(texts.collect::<Vec<_>>().join(" "))
}

/// The errors of a payload, by field; an error that concerns all payloads fails.
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
