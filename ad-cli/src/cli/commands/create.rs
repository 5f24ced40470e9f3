//! `ad-cli create`: an ad from a payload.

use std::path::PathBuf;

use ad_core::model::ApiVersion;

use crate::{
    Ad, Answer, Client, Error, ErrorKind, Target,
    bulk::check::Checker,
    cli::{
        acts::{Done, WaitArgs},
        single::Single,
        through::Through,
    },
    terminal::{Context, Failure},
};

/// Arguments of `create`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The payload is validated locally first; an invalid one is not sent (exit code 3). FILE contains one JSON object. To create many ads, use
ad-cli import.

Examples:
  ad-cli new car > car.json   # then edit it
  ad-cli create car.json --wait
  cat car.json | ad-cli create -")]
pub(crate) struct Args {
    /// File with the payload, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    through: Through,
    /// Skip local validation; the service validates in any case
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let payload = Single::read(context, &args.file)?;
    let checker = Checker::new(args.through.version(), args.through.category()).with_http_images();
    if !args.no_check {
        payload.check(context, &checker)?;
    }
    let client = context.client()?;
    let ads = match checker.category(&payload.object).and_then(|category| category.vehicle_type) {
        _ if checker.version == ApiVersion::V3 => client.v3(),
        Some(vehicle_type) => client.typed(vehicle_type),
        None => {
            return Err(Failure::refused(format!("{}: category_id is not a vehicle type of V4", payload.name))
                .hint("set the vehicle type: --type TYPE"));
        }
    };
    let answer = match ads.create(&payload.object).await {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {
            return Err(
                Failure::from(error).hint(format!("to show the existing ad: ad-cli get {}", payload.source_id()))
            );
        }
        Err(error) if error.is_unclear() => found(context, &client, &payload, error).await?,
        Err(error) => return Err(payload.refused(context, &checker, error)),
    };
    let mut done = Done::new(context, &client, &args.wait);
    done.accepted(&answer).await?;
    done.end()
}

/// The answer was lost: looks whether the ad is there. Nothing is sent a second time.
async fn found(context: &Context, client: &Client, payload: &Single, lost: Error) -> Result<Answer<Ad>, Failure> {
    let dealer_code = payload.object.get("dealer_code").and_then(|code| code.as_str());
    match client.v4().read(Target::from(payload.source_id()).of_dealer(dealer_code)).await {
        Ok(answer) => {
            let created = answer.created;
            context.out.warning(&format!("{lost}; the service has an ad with this source_id, created at {created}"));
            // The id is that of the question, and not of the request that created it.
            Ok(answer.without_request_id())
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => Err(Failure::unreachable(lost.to_string())
            .hint(
                "the service does not have the ad yet; check again in a moment, and create it again if it is still missing",
            )),
        Err(_) => Err(lost.into()),
    }
}
