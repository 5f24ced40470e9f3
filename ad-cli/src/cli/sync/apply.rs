//! A plan carried out: updates, then creates, then deletions, and what became of them.
//!
//! Nothing is remembered between runs. What was accepted before an interruption is seen at the service by the next plan, so that nothing is
//! done twice.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use ad_core::model::AdState;
use futures_util::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    interrupt::Interrupt,
    plan::{Act, Plan, Step},
    states::{self, State},
    stock::Identity,
};
use crate::{
    Client, Creation, Error, ErrorKind, Outcome, Target,
    cli::{Context, Exit, Failure},
};

/// Requests side by side. The rate is the client's business.
const SIDE_BY_SIDE: usize = 8;

/// Pauses between two looks at what is under way.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// What became of a step.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    pub(super) act: Act,
    #[serde(flatten)]
    pub(super) ad: Identity,
    pub(super) line: Option<u64>,
    /// `accepted`, `refused`, `not_sent`, `unclear`, `under_way`, or an [`Outcome`]'s name.
    pub(super) outcome: &'static str,
    pub(super) message: Option<String>,
    pub(super) request_id: Option<String>,
}

impl Row {
    fn new(step: &Step, outcome: &'static str) -> Self {
        Self { act: step.act, ad: step.ad.clone(), line: step.line, outcome, message: None, request_id: None }
    }

    /// Whether it went as planned.
    pub(super) fn is_good(&self) -> bool {
        !matches!(self.outcome, "refused" | "failed" | "not_sent" | "unclear" | "under_way")
    }

    fn request(&self) -> Option<Uuid> {
        self.request_id.as_deref()?.parse().ok()
    }
}

/// What became of a plan.
#[derive(Debug)]
pub(super) struct Applied {
    /// In the order of the plan.
    pub(super) rows: Vec<Row>,
    /// Why it stopped, if it did.
    pub(super) stopped: Option<Failure>,
}

/// Carries out a plan; `within` is for how long its outcomes are waited for, if they are.
pub(super) async fn apply(
    context: &Context,
    client: &Client,
    plan: &mut Plan,
    within: Option<Duration>,
    interrupt: &Interrupt,
) -> Applied {
    let bar = bar(context, plan.steps.len(), "sent");
    let sender = Sender { client, stopped: Mutex::new(None), is_stopping: AtomicBool::new(false), interrupt };
    let mut rows: Vec<_> = plan.steps.iter().map(|step| Row::new(step, "not_sent")).collect();
    let Plan { steps, spool, .. } = plan;
    for phase in Act::PHASES {
        let of_phase = steps.iter().enumerate().filter(|(_, step)| phase.contains(&step.act));
        let requests = of_phase.map(|(index, step)| {
            let body = step.body.map(|kept| spool.object(kept)).transpose();
            let sender = &sender;
            async move { (index, sender.step(step, body).await) }
        });
        let mut done = stream::iter(requests).buffer_unordered(SIDE_BY_SIDE);
        while let Some((index, row)) = done.next().await {
            rows[index] = row;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut stopped = sender.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What was accepted is waited for even if others could not be sent, unless the service is not there or nobody wants to wait.
    if let (Some(within), None) = (within, &stopped)
        && let Err(error) = follow(context, client, &mut rows, within, interrupt).await
    {
        stopped = Some(Failure::from(error));
    }
    if stopped.is_none() && interrupt.is_wanted() {
        stopped = Some(Failure::failed("interrupted"));
    }
    Applied { rows, stopped }
}

fn bar(context: &Context, count: usize, what: &str) -> ProgressBar {
    if !context.out.moves() || count == 0 {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:30}} {{pos}}/{{len}} {what} {{eta}} left");
    // The template is one of ours; without it, the bar is a plain one.
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style)
}

/// Sends steps until something makes it pointless to go on.
struct Sender<'a> {
    client: &'a Client,
    stopped: Mutex<Option<Failure>>,
    is_stopping: AtomicBool,
    interrupt: &'a Interrupt,
}

impl Sender<'_> {
    async fn step(&self, step: &Step, body: Result<Option<Map<String, Value>>, Failure>) -> Row {
        if self.is_stopping.load(Ordering::SeqCst) || self.interrupt.is_wanted() {
            return Row::new(step, "not_sent");
        }
        let body = match body {
            Ok(body) => body.unwrap_or_default(),
            Err(failure) => {
                self.stop(failure);
                return Row::new(step, "not_sent");
            }
        };
        match self.send(step, &body).await {
            Ok(request_id) => Row { request_id, ..Row::new(step, "accepted") },
            Err(error) => {
                let message = Some(told(&error));
                let request_id = error.request_id().map(str::to_owned);
                // Whether it was accepted is seen by the next plan.
                let stopped_at = if error.is_unclear() { "unclear" } else { "not_sent" };
                let failure = Failure::from(error);
                if matches!(failure.exit(), Exit::Unauthorised | Exit::Unreachable) {
                    self.stop(failure);
                    return Row { message, request_id, ..Row::new(step, stopped_at) };
                }
                Row { message, request_id, ..Row::new(step, "refused") }
            }
        }
    }

    async fn send(&self, step: &Step, body: &Map<String, Value>) -> Result<Option<String>, Error> {
        let target = Target::from(&step.ad.source_id).of_dealer(Some(&step.ad.dealer_code));
        let typed = self.client.typed(step.vehicle_type.as_deref().unwrap_or("ad"));
        Ok(match step.act {
            Act::Update | Act::Revive => typed.update(target, body).await?.request_id,
            Act::Delete => self.client.v4().delete(target).await?.request_id,
            Act::Create => match typed.create_or_find(body).await? {
                Creation::Created(answer) => answer.request_id,
                // The id of the request that created it was lost with its answer.
                Creation::Found(_) => None,
            },
        })
    }

    /// Nothing more is sent; what made it so is told, the first of it.
    fn stop(&self, failure: Failure) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

/// What went wrong, in one line.
fn told(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Invalid(errors) => {
            let fields: Vec<_> = errors.flatten().into_iter().map(|(path, it)| format!("{path}: {it}")).collect();
            fields.join("; ")
        }
        ErrorKind::Conflict(_) => format!("{error} It was used after the plan was made."),
        ErrorKind::Identified(refusal) => refusal.message.clone().unwrap_or_else(|| refusal.error.name().to_owned()),
        _ => error.to_string(),
    }
}

/// Waits for what becomes of what was accepted.
async fn follow(
    context: &Context,
    client: &Client,
    rows: &mut [Row],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    let mut pending: Vec<_> = rows.iter_mut().filter(|row| row.outcome == "accepted").collect();
    let bar = bar(context, pending.len(), "finished");
    while !pending.is_empty() && !interrupt.is_wanted() {
        let states = states::of(client, pending.iter().map(|row| &row.ad), true).await?;
        let before = pending.len();
        pending.retain_mut(|row| match states.get(&row.ad).and_then(|state| outcome(row, state)) {
            Some(outcome) => {
                row.outcome = outcome.name();
                row.message = message(outcome);
                false
            }
            None => true,
        });
        bar.inc((before - pending.len()) as u64);
        if pending.is_empty() || began.elapsed() > within {
            break;
        }
        pause = if pending.len() < before { FIRST_PAUSE } else { (pause * 3 / 2).min(LONGEST_PAUSE) };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = interrupt.wanted() => {}
        }
    }
    for row in pending {
        row.outcome = "under_way";
    }
    bar.finish_and_clear();
    Ok(())
}

/// What became of a request, when it has come to its end.
fn outcome(row: &Row, state: &State) -> Option<Outcome> {
    let request = row.request().or_else(|| state.log.last().map(|entry| entry.request_id))?;
    let came = Outcome::of(state.log.iter().filter(|entry| entry.request_id == request));
    // Deleting an ad that was being deleted already leaves no trace of its own.
    came.or_else(|| (row.act == Act::Delete && state.is == AdState::Deleted).then_some(Outcome::Deleted))
}

fn message(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed { action, message } => Some(format!("{action}: {message}")),
        Outcome::Published { warning, .. } => warning,
        _ => None,
    }
}
