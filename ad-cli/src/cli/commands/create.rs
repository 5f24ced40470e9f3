//! `ad-cli create`: an ad from a payload.

use std::path::PathBuf;

use ad_core::model::ApiVersion;

use crate::{
    ErrorKind,
    bulk::{Invocation, check::Checker},
    cli::{
        acts::{Done, WaitOptions},
        single::SinglePayload,
        through::ApiOptions,
    },
    terminal::{Context, Failure, Hint},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The payload is validated locally first; an invalid one is not sent (exit code 3). FILE contains one JSON object. To create many ads, use \
ad-cli import.

Examples:
  ad-cli new car > car.json   # then edit it
  ad-cli create car.json --dry-run
  ad-cli create car.json --wait
  cat car.json | ad-cli create -")]
pub(crate) struct CreateArgs {
    /// File with the payload, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    through: ApiOptions,
    /// Skip local validation; the service validates in any case
    #[arg(long)]
    no_check: bool,
    /// Have the service validate the payload without creating the ad
    #[arg(long, conflicts_with = "wait")]
    dry_run: bool,
    #[command(flatten)]
    wait: WaitOptions,
}

pub(crate) async fn run(context: &Context, args: &CreateArgs) -> Result<(), Failure> {
    let payload = SinglePayload::read(context, &args.file)?;
    let checker = Checker::new(args.through.version(), args.through.category());
    let checker = checker.on(context.out.surface()).with_http_images();
    if !args.no_check {
        payload.check(context, &checker)?;
    }
    let client = context.client()?;
    let ads = match checker.category(&payload.object).and_then(|category| category.vehicle_type) {
        _ if checker.version == ApiVersion::V3 => client.v3(),
        Some(vehicle_type) => client.typed(vehicle_type),
        None => {
            return Err(Failure::rejected(format!("{}: category_id is not a vehicle type of V4", payload.name))
                .hint(Hint::Argument("set the vehicle type".to_owned(), "type", "TYPE".to_owned())));
        }
    };
    if args.dry_run {
        let validation = ads.validate(&payload.object).await;
        validation.map_err(|error| payload.rejected(context, &checker, error))?;
        let dry_run = context.out.argument("dry_run");
        context.out.note(&format!("{} is valid; nothing was changed ({dry_run})", payload.name));
        return Ok(());
    }
    let mut done = Done::new(context, &client, &args.wait)?;
    let answer = args.wait.of(ads).create(&payload.object).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict(_) => {
            let get = Invocation::new("get").with("source_id", payload.source_id());
            Failure::from(error).hint(("to show the existing ad", get))
        }
        _ => payload.rejected(context, &checker, error),
    })?;
    done.accepted(&answer).await?;
    done.end()
}
