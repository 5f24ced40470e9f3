//! `ad-cli validate`: what the service would refuse, found before it is sent.

use std::path::PathBuf;

use ad_core::model::ApiVersion;
use serde_json::{Map, Value};

use crate::{
    Client, ErrorKind,
    bulk::{
        check::{Checker, Totals, Verdict, check_file, tell_repetitions},
        payloads::{Chunks, Piece, Source, parse},
    },
    cli::through::Through,
    terminal::{
        Context, Exit, Failure, Findings,
        output::{counted, tally},
    },
};

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --online nothing is sent: payloads are validated by the rules and allowed values built into this program. Only the service can check
whether a source_id is unused, and the dealer's salespersons and products.

FILE contains one JSON object, a JSON array of objects, or one object per line (NDJSON), and may have any size.

Examples:
  ad-cli validate car.json
  ad-cli validate stock.ndjson --output csv > errors.csv
  ad-cli new car | ad-cli validate -")]
pub(crate) struct Args {
    /// The file, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    through: Through,
    /// Also send each locally valid payload to the `validate` operation of the service, which stores nothing
    #[arg(long)]
    online: bool,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let checker = Checker::new(args.through.version(), args.through.category());
    // Whom to ask is settled before anything is read.
    let client = args.online.then(|| context.client()).transpose()?;
    let source = context.open(&args.file)?;
    let name = source.name.clone();
    let mut report = Findings::new(&name, context.out);
    let totals = match client {
        None => offline(source, &checker, &mut report),
        Some(client) => online(source, &checker, &client, &mut report).await,
    };
    report.end()?;
    let totals = totals?;
    context.out.note(&summary(&name, totals));
    match totals {
        Totals { payloads: 0, .. } => Err(Failure::usage(format!("{name} contains no payloads"))),
        Totals { refused: 0, .. } if !args.online => {
            context.out.detail("validated locally; use --online for the checks that only the service can do");
            Ok(())
        }
        Totals { refused: 0, .. } => Ok(()),
        _ => Err(Failure::Shown(Exit::Refused)),
    }
}

/// Checks all payloads here.
fn offline(source: Source, checker: &Checker, report: &mut Findings) -> Result<Totals, Failure> {
    let (mut totals, identities) = check_file(source, checker, |verdict| report.show(verdict))?;
    tell_repetitions(identities.repeated(), &mut totals, |verdict| report.show(verdict))?;
    Ok(totals)
}

/// Checks payload by payload: here first, and what has no mistakes there.
async fn online(source: Source, checker: &Checker, client: &Client, report: &mut Findings) -> Result<Totals, Failure> {
    let mut totals = Totals::default();
    let mut chunks = Chunks::new(source);
    while let Some(chunk) = chunks.next(Vec::new())? {
        let mut pieces = Vec::new();
        chunk.each(|piece| pieces.push(piece));
        for piece in pieces {
            let (mut verdict, _) = checker.check(piece, totals.payloads);
            if verdict.is_valid() {
                asked(checker, client, piece, &mut verdict).await?;
            }
            totals.add(&verdict);
            report.show(&verdict)?;
        }
    }
    Ok(totals)
}

/// Adds what the service has to say about a payload.
async fn asked(checker: &Checker, client: &Client, piece: Piece<'_>, verdict: &mut Verdict) -> Result<(), Failure> {
    let object: Map<String, Value> = parse(piece.text).unwrap_or_default();
    let vehicle_type = checker.category(&object).and_then(|category| category.vehicle_type);
    let ads = match (checker.version, vehicle_type) {
        (ApiVersion::V4, Some(vehicle_type)) => client.typed(vehicle_type),
        _ => client.v3(),
    };
    let Err(error) = ads.validate(&object).await else { return Ok(()) };
    match error.kind() {
        ErrorKind::Invalid(errors) | ErrorKind::Conflict(errors) => {
            verdict.source_id = object.get("source_id").and_then(Value::as_str).map(str::to_owned);
            verdict.category = checker.category(&object);
            verdict.findings.extend(checker.explain(errors, piece));
            Ok(())
        }
        _ => Err(error.into()),
    }
}

fn summary(name: &str, totals: Totals) -> String {
    let Totals { payloads, refused, warned } = totals;
    let valid = payloads.saturating_sub(refused);
    let wrong = tally([(refused, "with errors"), (warned, "with warnings")]);
    let comma = if wrong.is_empty() { "" } else { ", " };
    format!("{name}: {}, {valid} valid{comma}{wrong}", counted(payloads, "payload"))
}
