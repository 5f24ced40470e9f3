//! `ad-cli record`: the signed record of an ad, and whether a saved one is genuine.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::Subcommand;
use serde_json::value::RawValue;

use crate::{
    RecordError, RecordKeys, RecordedRows, Target,
    cli::acts::{self, DealerArgs},
    terminal::{Context, Failure, FileKind, Force, Format, OutFile},
};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
The record is one JSON document: the ad, what it said before, its log, the calls of marketplaces and the checksums of its photos, signed by the \
service. Whoever has the record and the public keys of the service can verify it, also years later and without the service. Existing files are \
overwritten only with --force.

Examples:
  ad-cli record car-1 --out car-1.record.json
  ad-cli record keys --out keys.json
  ad-cli record verify car-1.record.json --keys keys.json")]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    command: Option<RecordCommand>,
    /// Source id of the ad, or its plate
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_id: Option<String>,
    /// What does not belong here
    #[arg(hide = true)]
    others: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Debug, Subcommand)]
enum RecordCommand {
    /// Say whether a saved record is whole and unchanged
    #[command(after_help = "\
The signature is of the bytes of the record as the service sent them: a program that formats or sorts JSON breaks it.

Example:
  ad-cli record verify car-1.record.json --keys keys.json")]
    Verify {
        /// File of the record, or - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// File of the public keys, as `ad-cli record keys` saves them [default: the service is asked]
        #[arg(long, value_name = "FILE")]
        keys: Option<PathBuf>,
    },
    /// Save the public keys of the service
    Keys(OutArgs),
}

/// Where something is written.
#[derive(Debug, clap::Args)]
struct OutArgs {
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl OutArgs {
    fn wanted(&self) -> Result<Option<OutFile>, Failure> {
        OutFile::wanted(self.out.as_deref(), FileKind::Draft, self.force)
    }
}

pub(crate) async fn run(context: &Context, args: &RecordArgs) -> Result<(), Failure> {
    match (&args.command, &args.source_id) {
        (Some(RecordCommand::Verify { file, keys }), _) => verify(context, file, keys.as_deref()).await,
        (Some(RecordCommand::Keys(out)), _) => {
            let place = out.wanted()?;
            save(context, place, &public_keys(context).await?)
        }
        (None, _) if !args.others.is_empty() => {
            let others = args.others.join(" ");
            Err(Failure::usage(format!("unexpected {others:?}: a record is of one ad"))
                .hint("to verify a saved record: ad-cli record verify FILE"))
        }
        (None, source_id) => {
            let place = args.out.wanted()?;
            let client = context.client()?;
            let target = Target::from(source_id.as_deref().unwrap_or_default());
            let ask = async |target: Target<'_>| client.v4().record(target).await;
            let record = acts::found(&client, target.of_dealer(args.dealer.dealer_code.as_deref()), ask).await?;
            save(context, place, &record.body)
        }
    }
}

/// Writes what was received, byte for byte.
fn save(context: &Context, place: Option<OutFile>, received: &RawValue) -> Result<(), Failure> {
    let line = format!("{}\n", received.get());
    let Some(place) = place else { return Ok(context.out.bytes(line.as_bytes())?) };
    place.write(line.as_bytes())?;
    context.out.note(&format!("saved {}", place.path().display()));
    Ok(())
}

async fn verify(context: &Context, file: &Path, keys: Option<&Path>) -> Result<(), Failure> {
    let read = |path: &Path| {
        let read = if path.as_os_str() == "-" { read_stdin() } else { fs::read(path) };
        read.map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
    };
    let record = read(file)?;
    let (name, keys) = if let Some(path) = keys {
        (path.display().to_string(), read(path)?)
    } else {
        let hint = "to verify without the service, give its keys: --keys FILE, saved by `ad-cli record keys`";
        let keys = public_keys(context).await.map_err(|failure| failure.hint(hint))?;
        ("the answer of the service".to_owned(), keys.get().as_bytes().to_owned())
    };
    let keys = RecordKeys::parse(&keys).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let verified = keys.verify(&record).map_err(|error| {
        let message = format!("{}: {error}", file.display());
        match error {
            RecordError::Changed => Failure::failed(message)
                .hint("programs that format or sort JSON change it, too; save records with ad-cli record --out"),
            RecordError::UnknownKey => Failure::failed(message),
            RecordError::Keys(_) | RecordError::NotARecord(_) | RecordError::NotASignature => Failure::usage(message),
        }
    })?;
    if matches!(context.out.format(), Format::Json | Format::Ndjson) {
        return Ok(context.out.record(&verified)?);
    }
    let ad = &verified.ad;
    let by = verified.service.as_ref().map(|service| format!(" by {service}")).unwrap_or_default();
    let first = if verified.is_whole() { "whole and unchanged" } else { "unchanged, with the newest rows only" };
    context.out.text(&format!(
        "{first}: the record of {} of dealer {}, made{by} at {}\n{}, {}, {}\nsigned with the key {}\n",
        ad.source_id,
        ad.dealer_code,
        verified.made,
        rows(verified.revisions, "revision", "revisions"),
        rows(verified.log, "log entry", "log entries"),
        rows(verified.calls, "call of a marketplace", "calls of marketplaces"),
        verified.key
    ))?;
    Ok(())
}

/// The public keys of the service; no token is needed for them.
async fn public_keys(context: &Context) -> Result<Box<RawValue>, Failure> {
    Ok(context.client_without_token()?.record_keys().await?.body)
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `12 log entries`, or `the newest 12 of 40 log entries`.
fn rows(RecordedRows { present, all }: RecordedRows, one: &str, many: &str) -> String {
    let name = if all == 1 { one } else { many };
    if present as u64 == all { format!("{present} {name}") } else { format!("the newest {present} of {all} {name}") }
}
