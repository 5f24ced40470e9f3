//! Changes ads that earlier runs created: updates them to their rows as they are now, or takes them away. Each write is bound to the revision of
//! the ad that is read just before it.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, HashSet},
    iter,
};

use ad_bulk::{
    Identity,
    desired::{Change, changes, compare_ad, reason},
    import::{JournalError, accepted},
    write_if,
};
use ad_client::{Ad, AdFilter, AdQuery, Client, Error};
use ad_core::{
    categories,
    model::AdState,
    rulebook::Rulebook,
    stock::{ChangeKind, Guard, MissingAds, MissingPolicy, StockChange},
};
use ad_files::identities::Hash;
use ad_files::text::grouped;
use ad_terminal::{Context, Failure, OutFile, bar, output::Column, removals_limit};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    folder::Folder,
    prepare::{self, Sending},
    revised::{self, Revised, RevisedAd},
};
use crate::check::{Totals, VehicleType};

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
    let Some(first) = ads.next() else {
        let path = folder.path().display();
        let problem = if folder.path().is_dir() { "it records none" } else { "there is no such folder" };
        return Err(Failure::usage(format!("no ads were created from {path}: {problem}"))
            .hint("check the name of the file, or set the folder of the migration: --folder DIR"));
    };
    Ok(iter::once(first).chain(ads).map(move |ad| ad.map_err(unusable)))
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
    report: Option<&OutFile>,
) -> Result<u64, Failure> {
    revised::check_fields(context)?;
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
    let how = Updating { client, rulebook, desire: Desire::Correction, left, is_rehearsal };
    let asked = of_known.map(|it| async move {
        let (index, ad, payload) = it?;
        let written = how.update(&ad, payload).await?;
        Ok::<_, Failure>((index, ad, written))
    });
    let answers = stream::iter(asked).buffered(parallel.max(1)).map_ok(|(index, ad, (outcome, changes, message))| {
        RevisedAd { row: rows.get(index), ad, outcome, changes, message }
    });
    let revised: Vec<_> = answers.try_collect().await?;
    let more = [(totals.skipped, "skipped"), (totals.invalid, "invalid")];
    revised::show(context, None, &revised, &more, report)
}

type Written = (Revised, Vec<Change>, Option<String>);

/// What the file says of an ad beyond the values of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Desire {
    /// Corrected values. Whether the ad is shown is decided by `--hidden` and `publish`, unless the mapping sets it, and a deleted ad stays so.
    Correction,
    /// The vehicle is on sale, and its ad is shown unless the mapping hides it.
    OnSale,
}

/// A patch, and what it changes.
type Update = (Map<String, Value>, Vec<Change>);

/// The update that makes an ad equal to its row; `None` if it is equal.
///
/// # Errors
/// Why no update can.
pub(super) fn required(
    rulebook: &Rulebook,
    shown: &Ad,
    mut payload: Map<String, Value>,
    desire: Desire,
) -> Result<Option<Update>, String> {
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    let Some(category) = category.filter(|category| category.vehicle_type.is_some()) else {
        return Err("the row has no vehicle type".to_owned());
    };
    let is_visible = desire == Desire::OnSale || shown.visible;
    payload.entry("visible").or_insert(Value::Bool(is_visible));
    let StockChange { kind, fields, obstacle, body, .. } = compare_ad(rulebook, shown, &payload);
    if let Some(obstacle) = obstacle {
        return Err(reason(&obstacle, shown, category));
    }
    if kind == ChangeKind::Revive && desire == Desire::Correction {
        return Err("the ad is deleted".to_owned());
    }
    Ok(body.map(|patch| (patch, changes(fields))))
}

/// How ads are made equal to their rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Updating<'a> {
    pub(super) client: &'a Client,
    pub(super) rulebook: &'a Rulebook,
    pub(super) desire: Desire,
    /// How many more may be updated.
    pub(super) left: &'a Cell<u64>,
    pub(super) is_rehearsal: bool,
}

impl Updating<'_> {
    /// Reads an ad, and updates that revision of it if its row differs.
    pub(super) async fn update(self, ad: &Identity, payload: Map<String, Value>) -> Result<Written, Failure> {
        let Self { client, rulebook, desire, left, is_rehearsal } = self;
        let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
        // Valid rows have a vehicle type.
        let vehicle_type = category.and_then(|category| category.vehicle_type).unwrap_or_default();
        let update = RefCell::new((Map::new(), Vec::new()));
        let is_counted = Cell::new(false);
        let check = |shown: &Ad| match required(rulebook, shown, payload.clone(), desire) {
            Ok(None) => Err((Revised::Unchanged, None)),
            Err(why) => Err((Revised::Failed, Some(why))),
            Ok(Some(required)) => {
                *update.borrow_mut() = required;
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
}

/// The text of an error that concerns one ad.
fn of_one(error: Error) -> Result<String, Failure> {
    if error.is_refusal() || error.status() == Some(404) { Ok(error.details()) } else { Err(error.into()) }
}

/// An ad that can be taken away.
#[derive(Debug)]
pub(crate) struct Removable {
    pub(super) ad: Identity,
    pub(super) vehicle_type: Option<VehicleType>,
    /// Its title, for people.
    pub(super) title: Option<String>,
}

/// An ad of a question.
#[derive(Debug, Serialize)]
struct RemovableLine<'a> {
    source_id: &'a str,
    title: Option<&'a str>,
}

const REMOVABLE: &[Column] = &[Column::new("SOURCE ID", "source_id"), Column::new("TITLE", "title").wrapped()];

/// Lines of a question; the others are counted.
const MOST_ASKED: usize = 20;

/// Shows the ads that would be taken away.
pub(crate) fn show_removable(context: &Context, ads: &[Removable]) -> Result<(), Failure> {
    let lines = ads.iter().take(MOST_ASKED);
    let lines = lines.map(|it| RemovableLine { source_id: &it.ad.source_id, title: it.title.as_deref() });
    context.out.with_all_fields().table(REMOVABLE, lines)?;
    if let Some(more) = ads.len().checked_sub(MOST_ASKED).filter(|more| *more > 0) {
        context.out.note(&format!("… and {} more", grouped(more as u64)));
    }
    Ok(())
}

/// How many ads a dealer has, and how many of them are taken away.
pub(super) type Removals = BTreeMap<String, (u64, u64)>;

/// How ads are taken away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removal {
    /// Whether they are deleted instead of hidden.
    pub(crate) delete: bool,
    /// The limit, in the place of the default.
    pub(crate) allowed: Option<u64>,
    pub(crate) parallel: usize,
}

impl Removal {
    /// Which of the ads of these vehicle types are taken away if the file does not contain them.
    pub(super) const fn policy(self, vehicle_types: &[VehicleType]) -> MissingPolicy<'_> {
        let missing = if self.delete { MissingAds::Delete } else { MissingAds::Hide };
        MissingPolicy { missing, vehicle_types: Some(vehicle_types) }
    }

    /// Whether so many may be taken away.
    pub(super) fn check(self, dealers: &Removals) -> Result<(), Failure> {
        let Guard { removals, exceeded, .. } = Guard::of(dealers.values().copied(), self.allowed);
        if !exceeded {
            return Ok(());
        }
        let all: u64 = dealers.values().map(|(ads, _)| ads).sum();
        let what = if self.delete { "deleted" } else { "hidden" };
        let limit = removals_limit(self.allowed);
        let message = format!("{removals} of {all} ads would be {what}, more than {limit}; nothing was changed");
        Err(Failure::rejected(message).hint(format!("to allow it: --allow-removals {removals}")))
    }

    /// Takes ads away, each if it is still there.
    pub(super) fn take_away(
        self,
        client: &Client,
        ads: Vec<Removable>,
    ) -> impl Stream<Item = Result<RevisedAd, Failure>> {
        let asked = ads.into_iter().map(move |Removable { ad, vehicle_type, .. }| async move {
            let target = ad.target();
            let is_there = |shown: &Ad| {
                let is_gone = shown.state == AdState::Deleted || (!self.delete && !shown.visible);
                if is_gone { Err(()) } else { Ok(()) }
            };
            // An update needs the path of the vehicle type.
            let ads = vehicle_type.map_or_else(|| client.v4(), |vehicle_type| client.typed(vehicle_type));
            let written = write_if(&ads, target, is_there, async |ads| {
                if self.delete {
                    ads.delete(target).await
                } else {
                    ads.update(target, &json!({"visible": false})).await
                }
            });
            let (outcome, message) = match written.await {
                Ok(Ok(_)) if self.delete => (Revised::Deleted, None),
                Ok(Ok(_)) => (Revised::Hidden, None),
                Ok(Err(())) => (Revised::Unchanged, None),
                Err(error) => (Revised::Failed, Some(of_one(error)?)),
            };
            Ok::<_, Failure>(RevisedAd { row: None, ad, outcome, changes: Vec::new(), message })
        });
        stream::iter(asked).buffered(self.parallel.max(1))
    }
}

/// Dealer, visibility, vehicle type and title of an ad.
type ShownAd = (String, bool, Option<VehicleType>, Option<String>);

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
    let mut dealers = Removals::new();
    let mut shown: HashMap<String, Vec<ShownAd>> = HashMap::new();
    let mut all = client.v4().all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)]));
    while let Some(ad) = all.next().await {
        let ad = ad?;
        dealers.entry(ad.dealer_code.clone()).or_default().0 += 1;
        let vehicle_type = categories::by_id(ad.category_id).and_then(|category| category.vehicle_type);
        shown.entry(ad.source_id).or_default().push((ad.dealer_code, ad.visible, vehicle_type, ad.title));
    }
    let mut ads = Vec::new();
    let mut unchanged = 0;
    for ad in created {
        let ad = ad?;
        // Without a dealer in the payload, the token is of one dealer.
        let mut of_id = shown.get(&ad.source_id).into_iter().flatten();
        match of_id.find(|(dealer, ..)| ad.dealer_code.as_ref().is_none_or(|code| code == dealer)) {
            Some((dealer, visible, vehicle_type, title)) if removal.delete || *visible => {
                dealers.entry(dealer.clone()).or_default().1 += 1;
                ads.push(Removable { ad, vehicle_type: *vehicle_type, title: title.clone() });
            }
            _ => unchanged += 1,
        }
    }
    removal.check(&dealers)?;
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
    report: Option<&OutFile>,
) -> Result<u64, Failure> {
    revised::check_fields(context)?;
    let what = if removal.delete { "deleted" } else { "hidden" };
    let template = format!("{what} {{bar:30.green}} {{human_pos:>7}}/{{human_len}} {{eta:>5}} left");
    let bar = bar(context.out, ads.len() as u64, &template);
    let taken = removal.take_away(client, ads).inspect_ok(|_| bar.inc(1)).try_collect::<Vec<_>>().await;
    bar.finish_and_clear();
    let before = if removal.delete { "deleted before" } else { "hidden or deleted before" };
    revised::show(context, None, &taken?, &[(unchanged, before)], report)
}
