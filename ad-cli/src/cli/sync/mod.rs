//! `sync`: makes the ads of a dealer equal to a stock file, through the API.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`stock`] | the desired ads of a file |
//! | [`plan`] | all changes |
//! | [`saved`] | plans in files |
//! | [`apply`] | applies a plan |
//! | [`watch`] | again whenever the file changes |
//! | [`show`] | plans and their outcomes, for people and for programs |
//!
//! [`ad_core::stock`] compares one ad with its payload, and says which ads are missing and how many may be deleted; [`ad_core`] has the rules
//! about fields, updates and source ids; the service decides.

mod apply;
mod plan;
mod saved;
mod show;
mod stock;
mod watch;

use std::{path::Path, time::Duration};

use ad_core::{categories::RuleSettings, model::ApiVersion, rulebook::Rulebook, stock::ChangeKind};
use tokio_util::sync::CancellationToken;

use self::{
    plan::{Plan, Planner},
    stock::{Reader, StockScope},
};
use crate::{
    Client,
    bulk::check::Checker,
    cli::{
        images::service_accepts_http,
        input::{Input, MappingArg},
    },
    terminal::{
        BlockingCounter, Context, Counter, Exit, Failure, OutFile, can_ask, confirm, counted, grouped, removals_limit,
        stop_on_interrupt,
    },
};

/// What planning and applying take beside the file.
#[derive(Debug, clap::Args)]
pub(crate) struct StockArgs {
    #[command(flatten)]
    mapping: MappingArg,
    /// Maximum number of removals [default: 10 % of a dealer's ads or 20, whichever is less]
    #[arg(long, value_name = "N")]
    allow_removals: Option<u64>,
    /// Repeat whenever FILE changes
    #[arg(long)]
    pub(crate) watch: bool,
    /// Accept images over http, for development
    #[arg(long, hide = true)]
    http_images: bool,
}

/// How a plan is carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApplyOptions {
    /// Whether to show the plan only.
    pub(crate) dry_run: bool,
    /// Whether to apply without a confirmation.
    pub(crate) yes: bool,
    /// How long to wait for outcomes; `None`: not at all.
    pub(crate) within: Option<Duration>,
}

/// Shows the plan, and saves it if requested.
pub(crate) async fn plan(
    context: &Context,
    file: &Path,
    stock: &StockArgs,
    save: Option<&OutFile>,
) -> Result<(), Failure> {
    show::check_plan_fields(context.out)?;
    let (_, mut plan) = planned(context, file, stock).await?;
    show::plan(context.out, &plan)?;
    if let Some(to) = save {
        saved::save(&mut plan, to)?;
        context.out.note(&format!("plan saved; to apply it: ad-cli sync apply {}", to.path().display()));
    }
    if let Some(deletions) = plan.deletions_beyond_limit() {
        context.out.warning(&format!("{}; to allow them: --allow-removals {deletions}", too_many(&plan, deletions)));
        return Err(Failure::Shown(Exit::Rejected));
    }
    if plan.left.is_empty() { Ok(()) } else { Err(Failure::Shown(Exit::Rejected)) }
}

/// Applies the plan of a file, or a saved plan.
pub(crate) async fn apply(context: &Context, file: &Path, stock: &StockArgs, how: ApplyOptions) -> Result<(), Failure> {
    if how.dry_run {
        show::check_plan_fields(context.out)?;
    } else {
        show::check_applied_fields(context.out)?;
    }
    let (client, mut plan) = if let Some(mut plan) = saved::load(file)? {
        let client = context.client()?;
        plan.about.allowed = stock.allow_removals.or(plan.about.allowed);
        saved::check_unchanged(context, &plan, &client).await?;
        saved::is_current(&plan, &client).await?;
        (client, plan)
    } else {
        planned(context, file, stock).await?
    };
    if how.dry_run {
        show::plan(context.out, &plan)?;
        check_permitted(&plan)?;
        context.out.note("nothing was changed (--dry-run)");
        return if plan.left.is_empty() { Ok(()) } else { Err(Failure::Shown(Exit::Rejected)) };
    }
    show_first(context, &plan)?;
    check_permitted(&plan)?;
    if !how.yes && !plan.steps.is_empty() {
        if file.as_os_str() == "-" || !can_ask() {
            return Err(Failure::usage("nothing was changed: cannot ask for confirmation without a terminal")
                .hint("add --yes, or save and review the plan: ad-cli sync plan FILE --save PLAN"));
        }
        confirm(context, &question(&plan), false).await?;
        // The ads may have changed while the user was deciding.
        saved::is_current(&plan, &client).await?;
    }
    // From here on, Ctrl-C stops gracefully.
    apply_plan(context, &client, &mut plan, how, &stop_on_interrupt(context)).await
}

/// Plans and, if requested, applies the plan, now and whenever the file changes.
pub(crate) async fn watch(
    context: &Context,
    file: &Path,
    stock: &StockArgs,
    how: Option<ApplyOptions>,
) -> Result<(), Failure> {
    if file.as_os_str() == "-" {
        return Err(Failure::usage("stdin cannot be watched; use a file"));
    }
    let stop = stop_on_interrupt(context);
    watch::watch(context, file, &stop, async || {
        let Some(how) = how else { return plan(context, file, stock, None).await };
        show::check_applied_fields(context.out)?;
        let (client, mut plan) = planned(context, file, stock).await?;
        show_first(context, &plan)?;
        check_permitted(&plan)?;
        apply_plan(context, &client, &mut plan, how, &stop).await
    })
    .await
}

/// The plan of a file, with a client of the service that it is for.
async fn planned(context: &Context, file: &Path, args: &StockArgs) -> Result<(Client, Plan), Failure> {
    let StockArgs { mapping, allow_removals, http_images, .. } = args;
    let connection = context.connection()?;
    let client = context.client_for(&connection.url, &connection.token)?;
    let http_images = *http_images || service_accepts_http(context).await;
    let settings = RuleSettings { http_images, ..RuleSettings::default() };
    let scope = StockScope::of(&connection.token)?;
    let rulebook = Rulebook { settings, ..Rulebook::default() };
    let input = Input::open(context, file, mapping, http_images).await?;
    let checker = input.checker(Checker::new(ApiVersion::V4, None));
    let checker = if http_images { checker.with_http_images() } else { checker };
    let reader = Reader { scope, checker, rulebook };
    let mut progress = BlockingCounter::new(context.out, "payload");
    let stock = reader.read(input.source(context)?, |payloads| progress.show(payloads))?;
    progress.hide();
    if stock.wanted.is_empty() {
        show::rejected(context.out, &stock.name, &stock.left)?;
        return Err(Failure::rejected(format!("{} contains no valid payload; nothing was changed", stock.name)));
    }
    let path = if file.as_os_str() == "-" { None } else { std::path::absolute(file).ok() };
    let progress = Counter::new(context.out, "ad");
    let planner = Planner::new(&client, reader, &progress, stock);
    let plan = progress.run(planner.plan(path, *allow_removals)).await;
    let mut plan = plan.map_err(|failure| failure.hint("nothing was changed"))??;
    plan.about.mapping = input.mapping().map(absolute_mapping);
    plan.about.http_images = http_images;
    Ok((client, plan))
}

/// A mapping by which a plan is applied from any folder.
fn absolute_mapping(mapping: &str) -> String {
    let file = Path::new(mapping).canonicalize().ok();
    file.map_or_else(|| mapping.to_owned(), |path| path.display().to_string())
}

/// People see the plan before it is carried out; programs get what became of it.
fn show_first(context: &Context, plan: &Plan) -> Result<(), Failure> {
    if context.out.is_for_people() { show::plan(context.out, plan) } else { Ok(()) }
}

/// Whether a plan is within what is allowed.
fn check_permitted(plan: &Plan) -> Result<(), Failure> {
    let Some(deletions) = plan.deletions_beyond_limit() else { return Ok(()) };
    Err(Failure::rejected(format!("{}; nothing was changed", too_many(plan, deletions))).hint(format!(
        "check that the file contains the whole stock; to allow the deletions: --allow-removals {deletions}"
    )))
}

fn too_many(plan: &Plan, deletions: u64) -> String {
    let allowed = plan.about.allowed;
    let is_named = |dealer: &&plan::Dealer| allowed.map_or(dealer.exceeds_deletion_limit(), |_| dealer.deletions > 0);
    let dealers = plan.about.dealers.iter().filter(is_named);
    let of: Vec<_> = dealers
        .map(|dealer| format!("{} of the {} of {}", grouped(dealer.deletions), counted(dealer.ads, "ad"), dealer.code))
        .collect();
    let limit = removals_limit(allowed);
    format!("{} would be deleted ({}), more than {limit}", counted(deletions, "ad"), of.join(", "))
}

/// `Make these changes (212 ads; 206 deletions, permanent)?`
fn question(plan: &Plan) -> String {
    let deletions = plan.count(ChangeKind::Delete);
    let permanent =
        if deletions > 0 { format!("; {}, permanent", counted(deletions, "deletion")) } else { String::new() };
    format!("Make these changes ({}{permanent})?", counted(plan.steps.len() as u64, "ad"))
}

async fn apply_plan(
    context: &Context,
    client: &Client,
    plan: &mut Plan,
    how: ApplyOptions,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let (rows, stopped) = apply::apply(context, client, plan, how.within, stop).await;
    show::applied(context.out, &rows, &plan.left)?;
    if !plan.steps.is_empty() {
        context.out.note(&show::summary(&rows));
    }
    if let Some(failure) = stopped {
        return Err(failure.hint("accepted requests will be finished; run the command again for the remaining changes"));
    }
    if rows.iter().any(|row| !row.outcome.is_good()) {
        return Err(Failure::Shown(Exit::Failed));
    }
    if plan.left.is_empty() { Ok(()) } else { Err(Failure::Shown(Exit::Rejected)) }
}
