//! Changes ads that earlier runs created: updates them to their rows as they are now, or takes them away. Each write is bound to the revision of
//! the ad that is read just before it.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    iter,
    path::Path,
};

use ad_bulk::{
    Identity,
    desired::{Change, RequiredUpdate, compare_ad, exceeds_removal_limit},
    import::{JournalError, accepted},
    write_if,
};
use ad_client::{Ad, AdFilter, AdQuery, Client, Error};
use ad_core::{categories, model::AdState, rulebook::Rulebook};
use ad_files::{
    identities::Hash,
    text::{plain, tally},
};
use ad_terminal::{Context, Failure, output::Column};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    folder::Folder,
    prepare::{self, Sending},
};
use crate::check::{Totals, VehicleType};

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome"),
    Column::new("FIELD", "field"),
    Column::new("OLD", "old").wrapped(),
    Column::new("NEW", "new").wrapped(),
    Column::new("MESSAGE", "message").wrapped(),
];

/// What became of an ad. Programs read the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Revised {
    Updated,
    WouldBeUpdated,
    NotSent,
    Hidden,
    Deleted,
    Unchanged,
    Failed,
}

#[derive(Debug, Serialize)]
struct RevisedAd {
    row: Option<u64>,
    #[serde(flatten)]
    ad: Identity,
    outcome: Revised,
    changes: Vec<Change>,
    message: Option<String>,
}

/// A line of the table: a change of an ad.
#[derive(Debug, Serialize)]
struct RevisionLine<'a> {
    row: Option<u64>,
    source_id: &'a str,
    outcome: Revised,
    field: Option<&'a str>,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    message: Option<&'a str>,
}

/// The listed ads whose payloads differ, as updates to send.
#[derive(Debug)]
pub(crate) struct Revision<'a> {
    pub(crate) sending: Sending<'a>,
    /// Whether differences are only shown.
    pub(crate) is_rehearsal: bool,
    pub(crate) rulebook: &'a Rulebook,
}

/// The ads that earlier runs created.
///
/// # Errors
/// When there are none, or the journal cannot be read.
fn created(folder: &Folder) -> Result<impl Iterator<Item = Result<Identity, Failure>>, Failure> {
    let unusable = |error: JournalError| Failure::usage(error.to_string());
    let journal = folder.journal();
    let mut ads = journal.is_file().then(|| accepted(&journal)).transpose().map_err(unusable)?.into_iter().flatten();
    match ads.next() {
        Some(first) => Ok(iter::once(first).chain(ads).map(move |ad| ad.map_err(unusable))),
        None => Err(Failure::usage(format!("no ads were created from {}", folder.path().display()))
            .hint("create them first: ad-migrate run FILE --mapping M")
            .hint("or set the folder of the migration: --folder DIR")),
    }
}

/// Updates ads to their payloads, and shows what changes. Returns how many failed.
///
/// # Errors
/// When no ads were created before, or a request fails for a reason that concerns all of them.
pub(crate) async fn update(
    context: &Context,
    client: &Client,
    folder: &Folder,
    revision: Revision<'_>,
    totals: &Totals,
    report: Option<&Path>,
) -> Result<u64, Failure> {
    context.out.check_fields(COLUMNS, &[])?;
    let Revision { sending: Sending { payloads, rows, most, parallel }, is_rehearsal, rulebook } = revision;
    let known: HashSet<Hash> = created(folder)?.map(|ad| Ok(ad?.hash())).collect::<Result<_, Failure>>()?;
    let of_known = prepare::payloads(payloads)?.filter_map(|payload| match payload {
        Err(error) => Some(Err(error)),
        Ok((index, payload)) => {
            let ad = Identity::of(&payload).filter(|ad| known.contains(&ad.hash()))?;
            Some(Ok((index, ad, payload)))
        }
    });
    let left = &Cell::new(most);
    let asked = of_known.map(|it| async move {
        let (index, ad, payload) = it?;
        let written = write_update(client, rulebook, &ad, payload, left, is_rehearsal).await?;
        Ok::<_, Failure>((index, ad, written))
    });
    let answers = stream::iter(asked).buffered(parallel.max(1)).map_ok(|(index, ad, (outcome, changes, message))| {
        RevisedAd { row: rows.get(index), ad, outcome, changes, message }
    });
    let revised: Vec<_> = answers.try_collect().await?;
    let more = [(totals.skipped, "skipped"), (totals.invalid, "invalid")];
    show(context, &revised, &more, report)
}

type Written = (Revised, Vec<Change>, Option<String>);

async fn write_update(
    client: &Client,
    rulebook: &Rulebook,
    ad: &Identity,
    payload: Map<String, Value>,
    left: &Cell<u64>,
    is_rehearsal: bool,
) -> Result<Written, Failure> {
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    let Some((category, vehicle_type)) = category.and_then(|it| Some((it, it.vehicle_type?))) else {
        return Ok((Revised::Failed, Vec::new(), Some("the row has no vehicle type".to_owned())));
    };
    let update = RefCell::new((Map::new(), Vec::new()));
    let is_counted = Cell::new(false);
    let check = |shown: &Ad| {
        let mut payload = payload.clone();
        // Whether an ad is shown is decided by `--hidden` and `publish`, unless the mapping sets it.
        payload.entry("visible").or_insert(Value::Bool(shown.visible));
        match compare_ad(rulebook, shown, &payload, category) {
            RequiredUpdate::Unchanged => Err((Revised::Unchanged, None)),
            RequiredUpdate::Impossible(why) => Err((Revised::Failed, Some(why))),
            RequiredUpdate::Update { patch, changes } => {
                *update.borrow_mut() = (patch, changes);
                if is_rehearsal {
                    return Err((Revised::WouldBeUpdated, None));
                }
                // The check is repeated when the ad changes meanwhile.
                if !is_counted.replace(true) {
                    let rest = left.get().checked_sub(1);
                    left.set(rest.ok_or_else(|| (Revised::NotSent, Some("--limit is reached".to_owned())))?);
                }
                Ok(())
            }
        }
    };
    let target = ad.target();
    let ads = client.typed(vehicle_type);
    let written = write_if(&ads, target, check, async |ads| {
        let patch = update.borrow().0.clone();
        ads.update(target, &patch).await
    });
    let written = written.await;
    let (_, changes) = update.take();
    Ok(match written {
        Ok(Ok(_)) => (Revised::Updated, changes, None),
        Ok(Err((outcome, message))) => {
            let is_shown = matches!(outcome, Revised::WouldBeUpdated | Revised::NotSent);
            (outcome, if is_shown { changes } else { Vec::new() }, message)
        }
        Err(error) => (Revised::Failed, changes, Some(of_one(error)?)),
    })
}

/// The text of an error that concerns one ad.
fn of_one(error: Error) -> Result<String, Failure> {
    if error.is_refusal() || error.status() == Some(404) { Ok(error.details()) } else { Err(error.into()) }
}

/// An ad that can be taken away.
#[derive(Debug)]
pub(crate) struct Removable {
    ad: Identity,
    vehicle_type: Option<VehicleType>,
}

/// How ads are taken away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removal {
    /// Whether they are deleted instead of hidden.
    pub(crate) delete: bool,
    pub(crate) allowed: u64,
    pub(crate) parallel: usize,
}

/// The ads that would be taken away: those that exist and, to be hidden, are visible.
///
/// # Errors
/// When no ads were created before, there are more than allowed, or a request fails.
pub(crate) async fn removable(
    client: &Client,
    folder: &Folder,
    removal: Removal,
) -> Result<(Vec<Removable>, u64), Failure> {
    let created = created(folder)?;
    let mut dealers: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut shown: HashMap<String, Vec<(String, bool, Option<VehicleType>)>> = HashMap::new();
    let mut all = client.v4().all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)]));
    while let Some(ad) = all.next().await {
        let ad = ad?;
        dealers.entry(ad.dealer_code.clone()).or_default().0 += 1;
        let vehicle_type = categories::by_id(ad.category_id).and_then(|category| category.vehicle_type);
        shown.entry(ad.source_id).or_default().push((ad.dealer_code, ad.visible, vehicle_type));
    }
    let mut ads = Vec::new();
    let mut unchanged = 0;
    for ad in created {
        let ad = ad?;
        // Without a dealer in the payload, the token is of one dealer.
        let mut of_id = shown.get(&ad.source_id).into_iter().flatten();
        match of_id.find(|(dealer, ..)| ad.dealer_code.as_ref().is_none_or(|code| code == dealer)) {
            Some((dealer, visible, vehicle_type)) if removal.delete || *visible => {
                dealers.entry(dealer.clone()).or_default().1 += 1;
                ads.push(Removable { ad, vehicle_type: *vehicle_type });
            }
            _ => unchanged += 1,
        }
    }
    let removals = ads.len() as u64;
    let exceeds = dealers.values().any(|(ads, removals)| exceeds_removal_limit(*ads, *removals));
    if exceeds && removals > removal.allowed {
        let all: u64 = dealers.values().map(|(ads, _)| ads).sum();
        let what = if removal.delete { "deleted" } else { "hidden" };
        let message = format!(
            "{removals} of {all} ads would be {what}, more than 10 % of the stock or 20 ads; nothing was changed"
        );
        return Err(Failure::rejected(message).hint(format!("to allow it: --allow-removals {removals}")));
    }
    Ok((ads, unchanged))
}

/// Takes ads away, and shows what became of each. Returns how many failed.
///
/// # Errors
/// When a request fails for a reason that concerns all of them.
pub(crate) async fn remove(
    context: &Context,
    client: &Client,
    ads: Vec<Removable>,
    unchanged: u64,
    removal: Removal,
    report: Option<&Path>,
) -> Result<u64, Failure> {
    context.out.check_fields(COLUMNS, &[])?;
    let asked = ads.into_iter().map(|Removable { ad, vehicle_type }| async move {
        let target = ad.target();
        let is_there = |shown: &Ad| {
            let is_gone = shown.state == AdState::Deleted || (!removal.delete && !shown.visible);
            if is_gone { Err(()) } else { Ok(()) }
        };
        // An update needs the path of the vehicle type.
        let ads = vehicle_type.map_or_else(|| client.v4(), |vehicle_type| client.typed(vehicle_type));
        let written = write_if(&ads, target, is_there, async |ads| {
            if removal.delete { ads.delete(target).await } else { ads.update(target, &json!({"visible": false})).await }
        });
        let (outcome, message) = match written.await {
            Ok(Ok(_)) if removal.delete => (Revised::Deleted, None),
            Ok(Ok(_)) => (Revised::Hidden, None),
            Ok(Err(())) => (Revised::Unchanged, None),
            Err(error) => (Revised::Failed, Some(of_one(error)?)),
        };
        Ok::<_, Failure>(RevisedAd { row: None, ad, outcome, changes: Vec::new(), message })
    });
    let revised: Vec<_> = stream::iter(asked).buffered(removal.parallel.max(1)).try_collect().await?;
    show(context, &revised, &[(unchanged, "unchanged")], report)
}

/// Shows changes and failures to people, and all ads to programs. Returns how many failed.
fn show(context: &Context, revised: &[RevisedAd], more: &[(u64, &str)], report: Option<&Path>) -> Result<u64, Failure> {
    let mut table = context.out.rows(COLUMNS);
    for ad in revised {
        let RevisedAd { row, ad, outcome, changes, message } = ad;
        let (row, source_id, outcome, message) = (*row, ad.source_id.as_str(), *outcome, message.as_deref());
        let whole = RevisionLine { row, source_id, outcome, field: None, old: None, new: None, message };
        for Change { field, old, new } in changes {
            table.push(&RevisionLine { field: Some(field), old: Some(old), new: Some(new), ..whole })?;
        }
        if changes.is_empty() && (outcome == Revised::Failed || !context.out.is_for_people()) {
            table.push(&whole)?;
        }
    }
    table.end()?;
    if let Some(path) = report {
        let unwritable = |error: std::io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
        let file = File::create(path).map_err(unwritable)?;
        serde_json::to_writer_pretty(file, &json!({"rows": revised})).map_err(|error| unwritable(error.into()))?;
    }
    let mut counts: BTreeMap<Revised, u64> = BTreeMap::new();
    for ad in revised {
        *counts.entry(ad.outcome).or_default() += 1;
    }
    let failed = counts.get(&Revised::Failed).copied().unwrap_or_default();
    let counts: Vec<_> =
        counts.iter().map(|(outcome, count)| (*count, plain(&json!(outcome)).replace('_', " "))).collect();
    let text = tally(counts.iter().map(|(count, what)| (*count, what.as_str())).chain(more.iter().copied()));
    context.out.note(if text.is_empty() { "nothing to do" } else { &text });
    Ok(failed)
}
