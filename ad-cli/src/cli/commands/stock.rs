//! `ad-cli stock`: stock plans, which the service computes and applies.

use std::{path::PathBuf, time::Duration};

use ad_parameters::{CHANGE_PARAMETERS, PLAN_PARAMETERS, Parameter};
use uuid::Uuid;

use crate::{
    ChangeQuery, PlanOptions,
    cli::{
        input::MappingArg,
        parameters::{GivenParameters, Table},
        stock::{self, SelectArgs},
    },
    terminal::{ConfirmArgs, Context, Failure, duration},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The service compares a whole stock with its ads and keeps what it finds as a plan. Nothing changes until the plan is applied; then the service \
makes the changes by itself. A plan expires after a day. `ad-cli sync` compares on this computer instead, and needs it until the end.

Examples:
  ad-cli stock plan stock.ndjson --missing hide
  ad-cli stock show
  ad-cli stock apply last
  ad-cli stock plan --select status=live --price-percent -5 --round 100")]
pub(crate) struct StockPlanArgs {
    #[command(subcommand)]
    step: StockCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StockCommand {
    /// Compare a stock with the ads at the service, without changing them
    Plan(NewPlanArgs),
    /// Show a stock plan or its changes, or list the plans
    Show(ShowPlanArgs),
    /// Make the changes of a stock plan
    Apply(ApplyPlanArgs),
    /// Cancel a stock plan
    #[command(after_help = "\
Of a plan that is being applied, the changes that have been made stay.

Example:
  ad-cli stock cancel 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90")]
    Cancel {
        /// Id of the plan, or `last`: the newest one
        #[arg(value_name = "ID", value_parser = plan_id)]
        id: PlanId,
    },
}

/// A plan: its id, or the newest one.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) enum PlanId {
    Id(Uuid),
    Last,
}

fn plan_id(text: &str) -> Result<PlanId, &'static str> {
    if text == "last" {
        return Ok(PlanId::Last);
    }
    let id = text.parse().map(PlanId::Id);
    id.map_err(|_| "expected the whole id of a plan, as `ad-cli stock show` lists them, or `last`")
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE is the desired state of the stock: ads that are missing at the service are to be created, and ads that differ are to be updated. --missing \
says what becomes of ads that are not in FILE. Fields of an ad that its payload does not contain are cleared. Nothing is planned if FILE is \
empty, cannot be read to its end, contains no valid payload, or contains duplicate source_ids.

With --select, the same change of many ads is planned instead. The filters are those of `ad-cli list`; of several, an ad passes all.

Exit code 0: the plan is ready. 1: it is not ready after --within. 3: the stock was refused, some ads are invalid, or there are more removals \
than allowed.

Examples:
  ad-cli stock plan stock.ndjson --missing hide
  ad-cli stock plan stock.xlsx --missing delete --vehicle-types car,motorcycle
  ad-cli stock plan --select category_id=1020 --price-percent -5 --round 100
  ad-cli stock plan --select source_id_in=car-1,car-2 --price-percent -10")]
pub(crate) struct NewPlanArgs {
    /// Stock file, in any format of `import`, or - for stdin
    #[arg(value_name = "FILE|-", required_unless_present = "select", conflicts_with = "select")]
    pub(in crate::cli) file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) mapping: MappingArg,
    #[command(flatten)]
    pub(in crate::cli) options: GivenParameters<PlanOptions>,
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) wait: PlanWait,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without ID, the plans are listed. With --changes, --kind, --outcome or --source-id, the changes of the plan are.

Examples:
  ad-cli stock show
  ad-cli stock show 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90
  ad-cli stock show 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90 --kind delete
  ad-cli stock show 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90 --changes --all")]
pub(crate) struct ShowPlanArgs {
    /// Id of the plan, or `last`: the newest one
    #[arg(value_name = "ID", value_parser = plan_id)]
    pub(in crate::cli) id: Option<PlanId>,
    /// Show the changes of the plan
    #[arg(long, requires = "id")]
    pub(in crate::cli) changes: bool,
    /// Print all pages
    #[arg(long)]
    pub(in crate::cli) all: bool,
    #[command(flatten)]
    pub(in crate::cli) query: GivenParameters<ChangeQuery>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The service makes updates first, then creates, then removals, and goes on when this command is interrupted. A change is made only if its ad has \
not changed since the plan was made; otherwise its outcome is a conflict, and the ad stays as it is.

Exit code 0: all changes are made. 1: some failed or were conflicts, or the plan is unfinished after --within. 3: some ads of the stock are \
invalid, or nothing was changed for safety.

Examples:
  ad-cli stock apply last
  ad-cli stock apply 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90 --allow-removals 25")]
pub(crate) struct ApplyPlanArgs {
    /// Id of the plan, or `last`: the newest one
    #[arg(value_name = "ID", value_parser = plan_id)]
    pub(in crate::cli) id: PlanId,
    /// Maximum number of removals [default: that of the plan: 10 % of a dealer's ads or 20, whichever is less]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    pub(in crate::cli) allow_removals: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(in crate::cli) wait: PlanWait,
}

/// Whether to wait until the service has done its part.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct PlanWait {
    /// Do not wait; the service goes on by itself
    #[arg(long)]
    no_wait: bool,
    /// How long to wait, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration, conflicts_with = "no_wait")]
    within: Duration,
}

impl PlanWait {
    /// How long to wait; `None`: not at all.
    pub(in crate::cli) fn within(self) -> Option<Duration> {
        (!self.no_wait).then_some(self.within)
    }
}

impl Table for PlanOptions {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        PLAN_PARAMETERS.iter()
    }
}

impl Table for ChangeQuery {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        CHANGE_PARAMETERS.iter()
    }
}

pub(crate) async fn run(context: &Context, args: &StockPlanArgs) -> Result<(), Failure> {
    match &args.step {
        StockCommand::Plan(args) => stock::plan(context, args).await,
        StockCommand::Show(args) => stock::show(context, args).await,
        StockCommand::Apply(args) => stock::apply(context, args).await,
        StockCommand::Cancel { id } => stock::cancel(context, *id).await,
    }
}
