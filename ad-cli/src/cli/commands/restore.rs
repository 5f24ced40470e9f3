//! `ad-cli restore`: an ad back to what it said before.

use ad_core::{categories, violation::Warning};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Ad, Client, Target,
    bulk::{
        self,
        desired::{Change, difference, differences},
    },
    cli::{
        acts::{self, Done, TargetArgs, WaitOptions},
        change::doubtful_price,
    },
    terminal::{ConfirmArgs, Context, Failure, confirm_on_terminal},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Updates the ad to what it said in a revision, after the change that `history` lists beside its number; to undo a change, restore the number below \
it. What changes is shown, and has to be confirmed on a terminal. The rules of today apply: fields that cannot change stay as they are, and a value \
that is not valid any more is refused. To list the revisions: ad-cli history SOURCE_ID

Examples:
  ad-cli restore car-1 3 --dry-run
  ad-cli restore car-1 3 --wait")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Number of the revision, as `history` lists them
    #[arg(value_name = "REVISION", value_parser = revision)]
    revision: u64,
    /// Restore only while the ad has this revision
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    wait: WaitOptions,
}

fn revision(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected the number of a revision, as `ad-cli history SOURCE_ID` lists them")
}

pub(crate) async fn run(context: &Context, args: &RestoreArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let mut done = Done::new(context, &client, &args.wait)?;
    let read = acts::read(&client, args.target.target()).await?;
    let ad = &read.body;
    let changes = changes(&client, ad, args.revision).await?;
    for change in &changes {
        context.out.note(&format!("{}: {}: {}", ad.source_id, change.field, difference(change)));
    }
    let patch: Map<_, _> = changes.iter().map(|change| (change.field.clone(), change.new.clone())).collect();
    if let Some(doubt) = doubtful_price(&ad.price, &patch) {
        context.out.warning(&doubt);
    }
    if changes.is_empty() {
        context.out.note(&format!("{} says already what it said in revision {}", ad.source_id, args.revision));
    }
    let ConfirmArgs { yes, dry_run } = args.confirm;
    if dry_run {
        context.out.note(&format!("nothing was changed ({})", context.out.argument("dry_run")));
        return Ok(());
    }
    if !yes && !changes.is_empty() {
        confirm_on_terminal(context, &format!("Restore revision {}?", args.revision)).await?;
    }
    // What was shown is what happens.
    let etag = args.if_match.as_deref().or(read.etag.as_deref());
    let answer = args.wait.of(client.v4().if_match(etag)).restore(ad, args.revision).await?;
    for warning in warnings(&answer.body) {
        context.out.warning(&format!("{}: {}", warning.field, warning.message));
    }
    done.accepted(&answer).await?;
    done.end()
}

/// What restoring a revision changes.
async fn changes(client: &Client, ad: &Ad, revision: u64) -> Result<Vec<Change>, Failure> {
    let then = client.v4().revision(Target::from(ad), revision).await?.body;
    let Some(category) = categories::by_id(ad.category_id) else { return Ok(Vec::new()) };
    let mut content = bulk::as_written(&then);
    if let Some(urls @ Value::Array(_)) = then.more.get("image_urls") {
        content.insert("image_urls".to_owned(), urls.clone());
    }
    Ok(differences(category, &bulk::as_written(ad), &content))
}

/// The warnings of an accepted write, if its answer has some.
fn warnings(ad: &Ad) -> Vec<Warning> {
    ad.more.get("warnings").and_then(|warnings| Vec::deserialize(warnings).ok()).unwrap_or_default()
}
