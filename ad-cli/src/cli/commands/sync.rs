//! `ad-cli sync`: a dealer's whole stock as a file wants it.

use std::{path::PathBuf, time::Duration};

use crate::cli::{
    Context, Failure,
    sync::{self, Way, Wish},
    waiting,
};

/// Arguments of `sync`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE is the whole stock: ads that are not in it are deleted, ads that differ from it are updated, ads that are not there are created. \
What an ad has and its payload in the file has not is cleared. With a group's token, each payload's dealer_code says whose stock it is; \
dealers that are not in the file are left alone.

Nothing is changed when FILE is empty, cannot be read to its end, has no ad in order, or names an ad twice. An ad whose payload has \
mistakes is left as it is. More deletions than 10 % of a dealer's ads or 20, whichever is less, need --allow-removals.

Examples:
  ad-cli sync plan stock.ndjson
  ad-cli sync apply stock.ndjson
  ad-cli sync plan stock.ndjson --save plan.ndjson && ad-cli sync apply plan.ndjson
  ad-cli sync apply stock.ndjson --yes --watch")]
pub(crate) struct Args {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, clap::Subcommand)]
enum Step {
    /// Show what there is to do, and change nothing
    Plan(PlanArgs),
    /// Do what there is to do, or what a saved plan says
    Apply(ApplyArgs),
}

/// What both take.
#[derive(Debug, clap::Args)]
struct StockArgs {
    /// Allow so many deletions; without it, 10 % of a dealer's ads or 20, whichever is less
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    allow_removals: u64,
    /// Run again whenever FILE changes
    #[arg(long)]
    watch: bool,
    /// Take images over http too, for services of developers
    #[arg(long, hide = true)]
    http_images: bool,
}

/// Arguments of `sync plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit code 0: there is a plan, or nothing to do. 3: some ads are left as they are, or there are more deletions than are allowed.")]
struct PlanArgs {
    /// The stock, in any form that import takes; - is stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    stock: StockArgs,
    /// Keep the plan in a file, for `sync apply`
    #[arg(long, value_name = "PLAN", conflicts_with = "watch")]
    save: Option<PathBuf>,
}

/// Arguments of `sync apply`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Updates go first, then creates, then deletions; ads that are unchanged cost no request. A saved plan is carried out only while FILE and \
its ads at the service are as they were. After an interruption, run it again: it does what is left.

Exit code 0: all is as the file wants it. 1: some ads failed. 3: some were left as they are, or nothing was done for safety.")]
struct ApplyArgs {
    /// The stock, in any form that import takes, or a saved plan; - is stdin
    #[arg(value_name = "FILE|PLAN|-")]
    file: PathBuf,
    #[command(flatten)]
    stock: StockArgs,
    /// Do it without asking
    #[arg(long, short)]
    yes: bool,
    /// End when all is accepted; the service does the work in the background
    #[arg(long)]
    no_wait: bool,
    /// How long to wait for what becomes of it, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = waiting::duration, conflicts_with = "no_wait")]
    within: Duration,
}

impl StockArgs {
    fn wish(&self, file: &std::path::Path) -> Wish {
        Wish { file: file.to_owned(), allow_removals: self.allow_removals, http_images: self.http_images }
    }
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.step {
        Step::Plan(args) => {
            let wish = args.stock.wish(&args.file);
            if args.stock.watch {
                return sync::watch(context, &wish, None).await;
            }
            sync::plan(context, &wish, args.save.as_deref()).await
        }
        Step::Apply(args) => {
            let wish = args.stock.wish(&args.file);
            let way = Way { yes: args.yes, within: (!args.no_wait).then_some(args.within) };
            if !args.stock.watch {
                return sync::apply(context, &wish, way).await;
            }
            if !args.yes {
                return Err(Failure::usage("--watch asks nobody, and needs --yes"));
            }
            sync::watch(context, &wish, Some(way)).await
        }
    }
}
