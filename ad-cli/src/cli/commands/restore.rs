//! `ad-cli restore`: an ad back to what it said before.

use ad_core::violation::Warning;
use serde::Deserialize;

use crate::{
    Ad, Target,
    cli::acts::{self, Done, TargetArgs, WaitOptions},
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Updates the ad to what it said in a revision, by the rules of today: fields that cannot change stay as they are, and a value that is not valid any \
more is refused. To list the revisions: ad-cli history SOURCE_ID. To see one first: ad-cli get SOURCE_ID --revision N

Examples:
  ad-cli restore car-1 3
  ad-cli restore car-1 3 --wait")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Number of the revision, as `history` lists them
    #[arg(value_name = "REVISION")]
    revision: u64,
    /// Restore only while the ad has this revision
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
    #[command(flatten)]
    wait: WaitOptions,
}

pub(crate) async fn run(context: &Context, args: &RestoreArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let mut done = Done::new(context, &client, &args.wait)?;
    let restore = async |target: Target<'_>| {
        let ads = args.wait.of(client.v4().if_match(args.if_match.as_deref()));
        ads.restore(target, args.revision).await
    };
    let answer = acts::found(&client, args.target.target(), restore).await?;
    for warning in warnings(&answer.body) {
        context.out.warning(&format!("{}: {}", warning.field, warning.message));
    }
    done.accepted(&answer).await?;
    done.end()
}

/// The warnings of an accepted write, if its answer has some.
fn warnings(ad: &Ad) -> Vec<Warning> {
    ad.more.get("warnings").and_then(|warnings| Vec::deserialize(warnings).ok()).unwrap_or_default()
}
