//! `stock`: plans that the service computes and applies (extensions E8).
//!
//! | Part | What it is for |
//! |---|---|
//! | [`upload`] | a file as the body of a plan |
//! | [`select`] | a change of selected ads instead of a stock |
//! | [`show`] | plans and their changes, for people and for programs |

mod select;
mod show;
mod upload;

use std::time::Duration;

use ad_core::model::{ChangeOutcome, DEFAULT_LIMIT, MAX_LIMIT, Page};
use ad_parameters::{CHANGE_PARAMETERS, FromParameters, PLAN_PARAMETERS};
use uuid::Uuid;

pub(crate) use self::select::{SelectArgs, filter};
use self::show::Excerpt;
use crate::{
    ApplyParameters, ChangeQuery, Client, PlanOptions, PlanState, StockPlan, StockPlans,
    bulk::Invocation,
    cli::{
        commands::stock::{ApplyPlanArgs, NewPlanArgs, PlanId, ShowPlanArgs},
        images::service_accepts_http,
        input::Input,
        pages::note_rest,
        parameters,
    },
    terminal::{
        self, ConfirmArgs, Context, Counter, Exit, Failure, Output, confirm, counted, grouped, progress::waiting,
        until_interrupted,
    },
};

/// Changes that people see of a plan, unless they ask for more.
const SHOWN: u32 = 10;

/// For how long the answer to a new plan may be held back.
const FIRST_WAIT: Duration = Duration::from_secs(10);

/// Makes a plan of a stock file, or of a change of selected ads.
pub(crate) async fn plan(context: &Context, args: &NewPlanArgs) -> Result<(), Failure> {
    let out = context.out;
    show::check_fields(out)?;
    let options =
        PlanOptions::parse(PLAN_PARAMETERS, args.options.pairs()).map_err(|errors| parameters::wrong(out, &errors))?;
    let selection = args.select.selection(out)?;
    let client = context.client()?;
    let plans = client.stock_plans();
    let within = args.wait.within();
    let wait = within.unwrap_or_default().min(FIRST_WAIT);
    let made = match (&args.file, &selection) {
        (_, Some(selection)) => computed(out, plans.of_selection(selection, &options, wait)).await?,
        (Some(file), None) => {
            let http_images = service_accepts_http(context).await;
            let input = Input::open(context, file, &args.mapping, http_images).await?;
            computed(out, plans.plan(upload::body(context, input, http_images)?, &options, wait)).await?
        }
        (None, None) => return Err(Failure::usage("neither a file nor a selection")),
    };
    let plan = match within.filter(|_| made.state == PlanState::Computing) {
        Some(within) => computed(out, plans.wait(made.id, within, |_| ())).await?,
        None => made,
    };
    let shown = excerpt(out, &plans, &plan).await?;
    show::plan(out, &plan, &shown)?;
    if shown.count > shown.changes.len() as u64 {
        let all = show_of(plan.id).flag("changes").flag("all");
        out.note(&format!("to show all changes:\n  {}", out.command(&all)));
    }
    next_step(out, &plan);
    match judged(&plan) {
        None if plan.state == PlanState::Computing && within.is_some() => Err(Failure::Shown(Exit::Failed)),
        None => Ok(()),
        Some(exit) => Err(Failure::Shown(exit)),
    }
}

/// Lists the plans, or shows one or its changes.
pub(crate) async fn show(context: &Context, args: &ShowPlanArgs) -> Result<(), Failure> {
    let out = context.out;
    let mut query =
        ChangeQuery::parse(CHANGE_PARAMETERS, args.query.pairs()).map_err(|errors| parameters::wrong(out, &errors))?;
    let has_filter = query.kind.is_some() || query.outcome.is_some() || query.source_id.is_some();
    if args.all && query.page.limit == DEFAULT_LIMIT {
        query.page.limit = MAX_LIMIT;
    }
    let client = context.client()?;
    let plans = client.stock_plans();
    match args.id {
        None if has_filter => {
            Err(Failure::usage("changes are those of a plan").hint(("to list the plans", list_of_plans())))
        }
        None => list(context, &plans, query.page, args.all).await,
        Some(id) if args.changes || has_filter => {
            changes(context, &plans, identified(&plans, id).await?, &query, args.all).await
        }
        Some(id) => {
            let id = identified(&plans, id).await?;
            show::check_fields(out)?;
            let plan = plans.read(id, Duration::ZERO).await?.body;
            show::plan(out, &plan, &excerpt(out, &plans, &plan).await?)?;
            next_step(out, &plan);
            Ok(())
        }
    }
}

async fn list(context: &Context, plans: &StockPlans<'_>, mut page: Page, all: bool) -> Result<(), Failure> {
    let mut rows = context.out.rows(show::PLANS);
    let mut shown = 0;
    let count = loop {
        let answer = plans.list(page).await?.body;
        answer.results.iter().try_for_each(|plan| rows.push(plan))?;
        let length = answer.results.len();
        shown += length;
        page.offset += length as u64;
        if !all || length == 0 || page.offset >= answer.count {
            break answer.count;
        }
    };
    rows.end()?;
    note_rest(context.out, shown, count, "plans", true);
    Ok(())
}

async fn changes(
    context: &Context,
    plans: &StockPlans<'_>,
    id: Uuid,
    query: &ChangeQuery,
    all: bool,
) -> Result<(), Failure> {
    let out = context.out;
    let mut rows = out.rows(show::change_columns(out));
    let progress = Counter::new(out, "change");
    if all {
        progress.rows(&mut rows, plans.changes_all(id, query)).await?;
        return Ok(rows.end()?);
    }
    let page = progress.run(plans.changes(id, query)).await??.body;
    page.results.iter().try_for_each(|change| rows.push(change))?;
    rows.end()?;
    note_rest(out, page.results.len(), page.count, "changes", true);
    Ok(())
}

/// Applies a plan, and waits for the outcomes.
pub(crate) async fn apply(context: &Context, args: &ApplyPlanArgs) -> Result<(), Failure> {
    let out = context.out;
    show::check_fields(out)?;
    let client = context.client()?;
    let plans = client.stock_plans();
    let id = identified(&plans, args.id).await?;
    let mut plan = plans.read(id, Duration::ZERO).await?.body;
    let ConfirmArgs { yes, dry_run } = args.confirm;
    match plan.state {
        // An earlier run has begun it.
        PlanState::Applying if !dry_run => {}
        PlanState::Applied if !dry_run => out.note("the plan was applied before; nothing was changed now"),
        PlanState::Ready => {
            if out.is_for_people() || dry_run {
                show::plan(out, &plan, &excerpt(out, &plans, &plan).await?)?;
            }
            check_guard(&plan, args.allow_removals)?;
            if dry_run {
                out.note("nothing was changed (--dry-run)");
                return judged(&plan).map_or(Ok(()), |exit| Err(Failure::Shown(exit)));
            }
            if show::requests(&show::totals(&plan).0) > 0 {
                confirm(context, &question(&plan), yes).await?;
            }
            // The service takes the number of the plan, so that a limit for other plans allows nothing.
            let allow_removals = args.allow_removals.map(|_| plan.guard.removals);
            plan = plans.apply(id, ApplyParameters { allow_removals }).await?.body;
        }
        state => {
            let failure = Failure::rejected(format!("plan {id} is {state}, so it cannot be applied"));
            return Err(failure.hint(("to show it", show_of(id))).hint(("to list the plans", list_of_plans())));
        }
    }
    let Some(within) = args.wait.within() else {
        if !out.is_for_people() {
            show::plan(out, &plan, &Excerpt::default())?;
        }
        next_step(out, &plan);
        return Ok(());
    };
    let plan = followed(context, &client, &plan, within).await?;
    show::plan(out, &plan, &excerpt(out, &plans, &plan).await?)?;
    next_step(out, &plan);
    judged(&plan).map_or(Ok(()), |exit| Err(Failure::Shown(exit)))
}

/// Cancels a plan.
pub(crate) async fn cancel(context: &Context, id: PlanId) -> Result<(), Failure> {
    let out = context.out;
    show::check_fields(out)?;
    let client = context.client()?;
    let plans = client.stock_plans();
    let plan = plans.cancel(identified(&plans, id).await?).await?.body;
    show::plan(out, &plan, &Excerpt::default())
}

/// The id of a plan; the newest one is the first of the list.
async fn identified(plans: &StockPlans<'_>, id: PlanId) -> Result<Uuid, Failure> {
    match id {
        PlanId::Id(id) => Ok(id),
        PlanId::Last => {
            let newest = plans.list(Page { limit: 1, offset: 0 }).await?.body.results.into_iter().next();
            newest.map(|plan| plan.id).ok_or_else(|| Failure::failed("there is no stock plan"))
        }
    }
}

/// Waits for the service to compute a plan.
async fn computed(
    out: Output,
    work: impl Future<Output = Result<crate::Answer<StockPlan>, crate::Error>>,
) -> Result<StockPlan, Failure> {
    let work = waiting(out, "comparing the stock".to_owned(), Box::pin(work));
    let interrupted = || Failure::interrupted().hint(("nothing was changed; to list the plans", list_of_plans()));
    Ok(until_interrupted(work).await.ok_or_else(interrupted)??.body)
}

/// Waits until a plan is applied, and shows how far it is.
async fn followed(
    context: &Context,
    client: &Client,
    plan: &StockPlan,
    within: Duration,
) -> Result<StockPlan, Failure> {
    let total = show::requests(&show::totals(plan).0);
    let bar = terminal::bar(context.out, total, "{wide_bar} {human_pos}/{human_len} finished {eta} left");
    let plans = client.stock_plans();
    let seen = |plan: &StockPlan| {
        let (_, outcomes) = show::totals(plan);
        bar.set_position(outcomes.done + outcomes.failed + outcomes.conflict);
    };
    let waited = until_interrupted(plans.wait(plan.id, within, seen)).await;
    bar.finish_and_clear();
    let interrupted = || {
        Failure::interrupted()
            .hint(("the service goes on; to see how far it is", show_of(plan.id)))
            .hint(("to stop it", cancel_of(plan.id)))
    };
    Ok(waited.ok_or_else(interrupted)??.body)
}

/// What people see of the changes: the first ones of a plan that is to be applied, those that were not made of one that was.
async fn excerpt(out: Output, plans: &StockPlans<'_>, plan: &StockPlan) -> Result<Excerpt, Failure> {
    if !out.is_for_people() {
        return Ok(Excerpt::default());
    }
    let outcomes: &[_] = match plan.state {
        PlanState::Computing | PlanState::Refused => &[],
        PlanState::Ready | PlanState::Expired => &[None],
        PlanState::Applying | PlanState::Applied | PlanState::Cancelled => {
            &[Some(ChangeOutcome::Failed), Some(ChangeOutcome::Conflict)]
        }
    };
    let mut excerpt = Excerpt::default();
    for outcome in outcomes {
        let page = Page { limit: SHOWN, offset: 0 };
        let query = ChangeQuery { outcome: *outcome, page, ..ChangeQuery::default() };
        let found = plans.changes(plan.id, &query).await?.body;
        excerpt.changes.extend(found.results);
        excerpt.count += found.count;
    }
    Ok(excerpt)
}

/// Says what to do next.
fn next_step(out: Output, plan: &StockPlan) {
    let step = |purpose: &str, command: Invocation| out.note(&format!("{purpose}:\n  {}", out.command(&command)));
    let (counts, outcomes) = show::totals(plan);
    match plan.state {
        PlanState::Computing | PlanState::Applying => step("to see how far it is", show_of(plan.id)),
        PlanState::Ready if show::requests(&counts) == 0 => out.note("nothing to do"),
        PlanState::Ready if plan.guard.exceeded => {
            out.warning(&too_many(plan, None));
            step("to apply it nevertheless", apply_of(plan.id).option("allow_removals", plan.guard.removals));
        }
        PlanState::Ready => step("to apply it", apply_of(plan.id)),
        PlanState::Applied if outcomes.failed + outcomes.conflict > 0 => {
            out.note("plan the stock again to try again what was not made");
        }
        PlanState::Refused => out.note("nothing was changed; correct the errors, and plan the stock again"),
        _ => {}
    }
}

/// The exit code about a plan, unless all is well.
fn judged(plan: &StockPlan) -> Option<Exit> {
    let (counts, outcomes) = show::totals(plan);
    match plan.state {
        PlanState::Refused => Some(Exit::Rejected),
        PlanState::Ready if plan.guard.exceeded => Some(Exit::Rejected),
        PlanState::Applying | PlanState::Cancelled | PlanState::Expired => Some(Exit::Failed),
        PlanState::Applied if outcomes.failed + outcomes.conflict + outcomes.accepted > 0 => Some(Exit::Failed),
        PlanState::Ready | PlanState::Applied if counts.invalid > 0 => Some(Exit::Rejected),
        PlanState::Computing | PlanState::Ready | PlanState::Applied => None,
    }
}

/// Whether a plan may be applied.
fn check_guard(plan: &StockPlan, allowed: Option<u64>) -> Result<(), Failure> {
    let is_exceeded = allowed.map_or(plan.guard.exceeded, |most| plan.guard.removals > most);
    if !is_exceeded {
        return Ok(());
    }
    let command = apply_of(plan.id).option("allow_removals", plan.guard.removals);
    Err(Failure::rejected(format!("{}; nothing was changed", too_many(plan, allowed)))
        .hint("check that the stock is whole, and what becomes of missing ads")
        .hint(("to allow the removals", command)))
}

fn too_many(plan: &StockPlan, allowed: Option<u64>) -> String {
    let most = allowed.unwrap_or(plan.guard.most_removals);
    let (removals, most) = (counted(plan.guard.removals, "ad"), grouped(most));
    format!("{removals} would be hidden or deleted, and at most {most} may be")
}

/// `Make these changes (212 ads; 206 deletions, permanent)?`
fn question(plan: &StockPlan) -> String {
    let (counts, _) = show::totals(plan);
    let deletions = counts.delete;
    let permanent =
        if deletions > 0 { format!("; {}, permanent", counted(deletions, "deletion")) } else { String::new() };
    format!("Make these changes ({}{permanent})?", counted(show::requests(&counts), "ad"))
}

fn list_of_plans() -> Invocation {
    Invocation::new("stock show").as_tool("stock_plans")
}

fn show_of(id: Uuid) -> Invocation {
    Invocation::new("stock show").as_tool("stock_plan").with("id", id.to_string())
}

fn apply_of(id: Uuid) -> Invocation {
    Invocation::new("stock apply").as_tool("apply_stock_plan").with("id", id.to_string())
}

fn cancel_of(id: Uuid) -> Invocation {
    Invocation::new("stock cancel").as_tool("cancel_stock_plan").with("id", id.to_string())
}

#[cfg(test)]
mod tests;
