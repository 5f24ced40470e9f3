//! `ad-cli validate`: what the service would refuse, found before it is sent.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ad_core::model::{ApiVersion, Level, Quality};
use serde_json::{Map, Value};

use crate::{
    Client, ErrorKind,
    bulk::{
        check::{Checker, Rating, Totals, Verdict, check_file, show_repetitions},
        payloads::{Chunks, Piece, Source, parse},
    },
    cli::{
        images::service_accepts_http,
        input::{Input, MappingArg},
        through::ApiOptions,
    },
    terminal::{
        Context, Exit, Failure, Findings,
        causes::Causes,
        output::{counted, grouped, tally},
        quality,
    },
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows errors, warnings, and how to improve a valid ad: its score, 0 to 100, and what would raise it.

Without --online no payload is sent: payloads are validated by the rules and allowed values built into this program. Only the service can check \
whether a source_id is unused, and the dealer's salespersons and products. If a service is set, it is asked once whether images may have http \
addresses, as in a sandbox.

Each FILE contains one JSON object, a JSON array of objects, or one object per line (NDJSON), and may have any size. It may also be a table, as \
for `ad-cli import`.

Examples:
  ad-cli validate car.json
  ad-cli validate stock.ndjson --output csv > errors.csv
  ad-cli validate cars.ndjson boats.ndjson
  ad-cli new car | ad-cli validate -")]
pub(crate) struct ValidateArgs {
    /// The files, or - for stdin
    #[arg(value_name = "FILE|-", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    mapping: MappingArg,
    #[command(flatten)]
    through: ApiOptions,
    /// Also send each locally valid payload to the `validate` operation of the service, which stores nothing
    #[arg(long)]
    online: bool,
}

impl ValidateArgs {
    /// To validate one file without the service.
    pub(super) fn of(file: &Path, mapping: &MappingArg, through: &ApiOptions) -> Self {
        Self { files: vec![file.to_owned()], mapping: mapping.clone(), through: through.clone(), online: false }
    }
}

pub(crate) async fn run(context: &Context, args: &ValidateArgs) -> Result<(), Failure> {
    // Whom to ask is settled before anything is read.
    let client = args.online.then(|| context.client()).transpose()?;
    let http_images = service_accepts_http(context).await;
    let mut report = Findings::new("", context.out);
    let mut causes = Causes::default();
    let mut all = Vec::new();
    for file in &args.files {
        match one(context, file, args, (client.as_ref(), http_images), &mut report, &mut causes).await {
            Ok(of_file) => all.push(of_file),
            Err(failure) => {
                report.end()?;
                return Err(failure);
            }
        }
    }
    report.end()?;
    // People have seen each cause once, with its count.
    if !context.out.is_for_people() && all.iter().map(|(_, totals, _)| totals.payloads).sum::<u64>() > 1 {
        causes.note(context.out);
    }
    if all.iter().any(|(_, totals, _)| totals.rejected > 0) {
        return Err(Failure::Shown(Exit::Rejected));
    }
    if !args.online {
        let online = context.out.argument("online");
        context.out.detail(&format!("validated locally; use {online} for the checks that only the service can do"));
    }
    if let [(name, totals, is_table)] = &all[..]
        && args.files[0].as_os_str() != "-"
        && args.through.is_default()
    {
        let command = if totals.payloads == 1 && !*is_table { "create" } else { "import" };
        let mapping = args.mapping.as_argument();
        context.out.note(&format!("to send: ad-cli {command}{mapping} {name}"));
    }
    Ok(())
}

/// Checks one file, and returns its name, the counts, and whether it is a table.
async fn one(
    context: &Context,
    file: &Path,
    args: &ValidateArgs,
    (client, http_images): (Option<&Client>, bool),
    report: &mut Findings,
    causes: &mut Causes,
) -> Result<(String, Totals, bool), Failure> {
    let input = Input::open(context, file, &args.mapping, http_images).await?;
    let mut checker =
        input.checker(Checker::new(args.through.version(), args.through.category()).on(context.out.surface()));
    if http_images {
        checker = checker.with_http_images();
    }
    // Programs get a row for each error and warning, and nothing else.
    if context.out.is_for_people() {
        checker = checker.scoring(context.now());
    }
    let source = input.source(context)?;
    let name = source.name.clone();
    report.of(&name);
    let mut ratings = Ratings::default();
    let shown = RefCell::new(&mut *report);
    let mut show = |verdict: &Verdict| {
        ratings.add(verdict);
        causes.add(&verdict.findings);
        shown.borrow_mut().show(verdict)
    };
    let progress = |payloads| shown.borrow_mut().validated(payloads);
    let totals = match client {
        None => check_file(source, &checker, &mut show, progress)
            .and_then(|(mut totals, identities)| {
                show_repetitions(identities.repeated(), &mut totals, |verdict, _| show(verdict))?;
                Ok(totals)
            })
            .map_err(Failure::from),
        Some(client) => online(source, &checker, client, &mut show, progress).await,
    };
    report.flush()?;
    let totals = totals?;
    if let (Some(quality), 1) = (&ratings.first, totals.payloads) {
        let mut text = context.out.styled();
        quality::write(&mut text, "quality:", quality, context.out.width());
        context.out.show(&text)?;
    }
    context.out.note(&summary(&name, totals));
    if totals.payloads > 1 && !ratings.levels.is_empty() {
        context.out.note(&ratings.summary());
    }
    if totals.payloads == 0 {
        return Err(Failure::usage(format!("{name} contains no payloads")));
    }
    Ok((name, totals, input.rows().is_some()))
}

/// Checks payload by payload: here first, and what has no mistakes there.
async fn online(
    source: Source,
    checker: &Checker,
    client: &Client,
    mut show: impl FnMut(&Verdict) -> io::Result<()>,
    mut progress: impl FnMut(u64) -> io::Result<()>,
) -> Result<Totals, Failure> {
    let mut totals = Totals::default();
    let mut chunks = Chunks::new(source);
    while let Some(chunk) = chunks.next(Vec::new())? {
        let mut pieces = Vec::new();
        chunk.each(|piece| pieces.push(piece));
        for piece in pieces {
            let (mut verdict, _) = checker.check(piece, totals.payloads);
            if verdict.is_valid() {
                ask_service(checker, client, piece, &mut verdict).await?;
            }
            totals.add(&verdict);
            show(&verdict)?;
            progress(totals.payloads)?;
        }
    }
    Ok(totals)
}

/// Adds what the service has to say about a payload.
async fn ask_service(
    checker: &Checker,
    client: &Client,
    piece: Piece<'_>,
    verdict: &mut Verdict,
) -> Result<(), Failure> {
    let object: Map<String, Value> = parse(piece.text).unwrap_or_default();
    let vehicle_type = checker.category(&object).and_then(|category| category.vehicle_type);
    let ads = match (checker.version, vehicle_type) {
        (ApiVersion::V4, Some(vehicle_type)) => client.typed(vehicle_type),
        _ => client.v3(),
    };
    let error = match ads.validate(&object).await {
        Ok(validation) => {
            // The service knows the dealer's other ads too.
            let measured = validation.body.quality.filter(|_| verdict.rating.is_some());
            verdict.rating = measured.map(|quality| Rating::Quality(quality.into())).or(verdict.rating.take());
            return Ok(());
        }
        Err(error) => error,
    };
    verdict.rating = None;
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

/// The quality of all valid payloads.
#[derive(Default)]
struct Ratings {
    first: Option<Quality>,
    levels: BTreeMap<Level, u64>,
}

impl Ratings {
    fn add(&mut self, verdict: &Verdict) {
        let Some(rating) = &verdict.rating else { return };
        *self.levels.entry(rating.level()).or_default() += 1;
        if let (None, Some(quality)) = (&self.first, rating.quality()) {
            self.first = Some(quality.clone());
        }
    }

    fn summary(&self) -> String {
        let levels = self.levels.iter().rev().map(|(level, count)| (*count, level.name()));
        format!("quality: {}; to see how to improve an ad, validate it alone", tally(levels))
    }
}

fn summary(name: &str, totals: Totals) -> String {
    let Totals { payloads, rejected, warned } = totals;
    let valid = grouped(payloads.saturating_sub(rejected));
    let wrong = tally([(rejected, "with errors"), (warned, "with warnings")]);
    let comma = if wrong.is_empty() { "" } else { ", " };
    format!("{name}: {}, {valid} valid{comma}{wrong}", counted(payloads, "payload"))
}
