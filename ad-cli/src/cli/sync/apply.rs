//! Applies a plan: updates, then creates, then deletions, with their outcomes.
//!
//! There is no state between runs. After an interruption, the next plan compares with the service again, so nothing is done twice.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use ad_core::{
    model::AdState,
    stock::{ChangeKind, same, shown},
};
use futures_util::{StreamExt, stream};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    plan::{Plan, Step},
    stock::no_room,
};
use crate::{
    Ad, Client, Error, ErrorKind, Outcome,
    bulk::{
        AdOutcome, Identity, desired,
        follow::{FIRST_PAUSE_OF_MANY, Include, Pauses, Status, Statuses},
        write_if,
    },
    terminal::{self, Context, Failure},
};

/// Number of concurrent requests. The client limits the rate.
const SIDE_BY_SIDE: usize = 8;

#[derive(Debug, Clone, Serialize)]
pub(super) struct AppliedStep {
    pub(super) act: ChangeKind,
    #[serde(flatten)]
    pub(super) ad: Identity,
    pub(super) line: Option<u64>,
    pub(super) outcome: AdOutcome,
    pub(super) message: Option<String>,
    pub(super) request_id: Option<String>,
}

impl AppliedStep {
    fn new(step: &Step, outcome: AdOutcome) -> Self {
        Self { act: step.act, ad: step.ad.clone(), line: step.line, outcome, message: None, request_id: None }
    }
}

/// Applies a plan; `within` is how long to wait for outcomes, if at all. Returns what became of its steps, in their order, and why it
/// stopped, if it did.
pub(super) async fn apply(
    context: &Context,
    client: &Client,
    plan: &mut Plan,
    within: Option<Duration>,
    stop: &CancellationToken,
) -> (Vec<AppliedStep>, Option<Failure>) {
    let bar = bar(context, plan.steps.len(), "sent");
    let sender = Sender { client, stopped: RefCell::default(), stop };
    let mut rows: Vec<_> = plan.steps.iter().map(|step| AppliedStep::new(step, AdOutcome::NotSent)).collect();
    let Plan { steps, spool, .. } = plan;
    for phase in ChangeKind::PHASES {
        let of_phase = steps.iter().enumerate().filter(|(_, step)| phase.contains(&step.act));
        let requests = of_phase.map(|(index, step)| {
            let body = step.body.map(|span| spool.object(span)).transpose().map_err(no_room());
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
    let mut stopped = sender.stopped.into_inner();
    // Accepted requests are awaited even if others failed, unless the service cannot be reached or waiting is off.
    if let (Some(within), None) = (within, &stopped)
        && let Err(error) = follow(context, client, &mut rows, within, stop).await
    {
        stopped = Some(Failure::from(error));
    }
    if stopped.is_none() && stop.is_cancelled() {
        stopped = Some(Failure::interrupted());
    }
    (rows, stopped)
}

fn bar(context: &Context, count: usize, what: &str) -> ProgressBar {
    if count == 0 {
        return ProgressBar::hidden();
    }
    terminal::bar(context.out, count as u64, &format!("{{wide_bar}} {{human_pos}}/{{human_len}} {what} {{eta}} left"))
}

/// Sends steps until a failure concerns all further ones.
struct Sender<'a> {
    client: &'a Client,
    stopped: RefCell<Option<Failure>>,
    stop: &'a CancellationToken,
}

impl Sender<'_> {
    async fn step(&self, step: &Step, body: Result<Option<Map<String, Value>>, crate::bulk::BulkError>) -> AppliedStep {
        if self.stopped.borrow().is_some() || self.stop.is_cancelled() {
            return AppliedStep::new(step, AdOutcome::NotSent);
        }
        let body = match body {
            Ok(body) => body.unwrap_or_default(),
            Err(error) => {
                self.stop(error.into());
                return AppliedStep::new(step, AdOutcome::NotSent);
            }
        };
        match self.send(step, &body).await {
            Ok(Ok(request_id)) => AppliedStep { request_id, ..AppliedStep::new(step, AdOutcome::Accepted) },
            Ok(Err(changed)) => AppliedStep { message: Some(changed), ..AppliedStep::new(step, AdOutcome::Conflict) },
            Err(error) => {
                let (message, request_id) = (Some(text(&error)), error.request_id().map(str::to_owned));
                let outcome = match (error.is_refusal(), error.is_unclear()) {
                    (true, _) => AdOutcome::Rejected,
                    // The next plan shows whether it was accepted.
                    (false, true) => AdOutcome::Unclear,
                    (false, false) => AdOutcome::NotSent,
                };
                if outcome != AdOutcome::Rejected {
                    self.stop(error.into());
                }
                AppliedStep { message, request_id, ..AppliedStep::new(step, outcome) }
            }
        }
    }

    /// Sends the request of a step, unless the ad has changed meanwhile.
    async fn send(&self, step: &Step, body: &Map<String, Value>) -> Result<Result<Option<String>, String>, Error> {
        let target = step.ad.target();
        let ads = match (&step.vehicle_type, step.act) {
            (Some(vehicle_type), ChangeKind::Create | ChangeKind::Update | ChangeKind::Revive) => {
                self.client.typed(vehicle_type)
            }
            _ => self.client.v4(),
        };
        if step.act == ChangeKind::Create {
            return Ok(Ok(ads.create(body).await?.request_id));
        }
        let written = write_if(
            &ads,
            target,
            |ad| changed(step, ad).map_or(Ok(()), Err),
            async |ads| match step.act {
                ChangeKind::Delete => ads.delete(target).await,
                _ => ads.update(target, body).await,
            },
        );
        Ok(written.await?.map(|answer| answer.request_id))
    }

    /// Stops sending, and keeps the first reason.
    fn stop(&self, failure: Failure) {
        self.stopped.borrow_mut().get_or_insert(failure);
    }
}

/// What has changed since the plan was made.
fn changed(step: &Step, ad: &Ad) -> Option<String> {
    let is_deleted = ad.state == AdState::Deleted;
    match step.act {
        ChangeKind::Update if is_deleted => return Some("the ad was deleted after the plan was made".to_owned()),
        ChangeKind::Revive if !is_deleted => return Some("the ad was revived after the plan was made".to_owned()),
        ChangeKind::Delete => {
            return (step.updated != Some(ad.updated) && !is_deleted)
                .then(|| format!("the ad was changed at {}, after the plan was made", ad.updated));
        }
        _ => {}
    }
    let now = desired::stored(ad).content;
    let changes = step.changes.iter().filter_map(|change| {
        let value = shown(&now, &change.field);
        let is_other = !same(&value, &change.old) && !same(&value, &change.new);
        is_other.then(|| format!("{} is now {}", change.field, desired::shorten_value(&value)))
    });
    let changes: Vec<_> = changes.collect();
    (!changes.is_empty()).then(|| format!("changed after the plan was made: {}", changes.join(", ")))
}

/// The error in one line.
fn text(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Conflict(_) => format!("{error} It was used after the plan was made."),
        ErrorKind::Identified(refusal) => refusal.message.clone().unwrap_or_else(|| refusal.error.name().to_owned()),
        _ => error.details(),
    }
}

/// Waits for the outcomes of accepted requests.
async fn follow(
    context: &Context,
    client: &Client,
    rows: &mut [AppliedStep],
    within: Duration,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let began = Instant::now();
    let mut pauses = Pauses::from(FIRST_PAUSE_OF_MANY);
    let mut pending: Vec<_> = rows.iter_mut().filter(|row| row.outcome == AdOutcome::Accepted).collect();
    let bar = bar(context, pending.len(), "finished");
    while !pending.is_empty() && !stop.is_cancelled() {
        let statuses = Statuses::of(client, pending.iter().map(|row| &row.ad), Include::Log).await?;
        let before = pending.len();
        pending.retain_mut(|row| match statuses.get(&row.ad).and_then(|status| outcome(row, status)) {
            Some(outcome) => {
                row.outcome = (&outcome).into();
                row.message = outcome.message();
                false
            }
            None => true,
        });
        bar.inc((before - pending.len()) as u64);
        if pending.is_empty() || began.elapsed() > within {
            break;
        }
        if pending.len() < before {
            pauses.reset();
        }
        tokio::select! {
            () = tokio::time::sleep(pauses.next()) => {}
            () = stop.cancelled() => {}
        }
    }
    for row in pending {
        row.outcome = AdOutcome::UnderWay;
    }
    bar.finish_and_clear();
    Ok(())
}

fn outcome(row: &AppliedStep, status: &Status) -> Option<Outcome> {
    let request = row.request_id.as_deref().and_then(|id| id.parse().ok());
    let outcome = status.outcome(request.or_else(|| status.log.last().map(|entry| entry.request_id))?);
    // Deleting an ad whose deletion is in progress adds no log entry.
    outcome.or_else(|| (row.act == ChangeKind::Delete && status.state == AdState::Deleted).then_some(Outcome::Deleted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bulk::desired::Change;

    /// An ad, after this change to the answer that shows it.
    fn ad(change: impl FnOnce(&mut Value)) -> Ad {
        let mut shown = json!({
            "id": uuid::Uuid::nil(), "source_id": "car-1", "dealer_code": "north-cars", "category_id": 1020, "state": "created",
            "visible": true, "price": [], "image_refs": [], "category_fields": {"color": "red"}, "dont_publish_on_failed_images": false,
            "api_version": "v4", "created": "2026-01-15T10:00:00.000Z", "updated": "2026-01-15T10:00:00.000Z",
        });
        change(&mut shown);
        serde_json::from_value(shown).unwrap()
    }

    #[test]
    fn what_has_changed_since_the_plan_is_named() {
        let planned = ad(|ad| ad["category_fields"]["color"] = json!("red"));
        let color =
            |old: &str| Change { field: "category_fields.color".to_owned(), old: json!(old), new: json!("blue") };
        let step = |act, changes| Step {
            act,
            ad: Identity { source_id: "car-1".to_owned(), dealer_code: None },
            vehicle_type: Some("car".to_owned()),
            title: None,
            line: None,
            updated: Some(planned.updated),
            changes,
            body: None,
        };
        assert_eq!(changed(&step(ChangeKind::Update, vec![color("red")]), &planned), None);
        let done = ad(|ad| ad["category_fields"]["color"] = json!("blue"));
        assert_eq!(changed(&step(ChangeKind::Update, vec![color("red")]), &done), None, "it is as wanted");
        let told = changed(&step(ChangeKind::Update, vec![color("green")]), &planned).unwrap();
        assert_eq!(told, "changed after the plan was made: category_fields.color is now red");
        assert!(changed(&step(ChangeKind::Revive, vec![]), &planned).unwrap().contains("revived"));
        assert_eq!(changed(&step(ChangeKind::Delete, vec![]), &planned), None);
        let later = ad(|ad| ad["updated"] = json!("2026-01-15T11:00:00.000Z"));
        assert!(changed(&step(ChangeKind::Delete, vec![]), &later).unwrap().contains("2026-01-15T11:00:00"));
        let deleted = ad(|ad| ad["state"] = json!("deleted"));
        assert!(changed(&step(ChangeKind::Update, vec![color("red")]), &deleted).unwrap().contains("deleted"));
        assert_eq!(changed(&step(ChangeKind::Delete, vec![]), &deleted), None, "that is what was wanted");
    }
}
