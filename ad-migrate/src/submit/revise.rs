//! Changes ads that earlier runs created: updates them to their rows as they are now, or takes them away. Each write is bound to the revision of
//! the ad that is read just before it.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, HashSet},
    iter,
    path::Path,
};

use ad_bulk::{
    Identity,
    desired::{Change, changes, compare_ad, reason},
    import::{JournalError, accepted, record_hidden},
    write_if,
};
use ad_client::{Ad, AdFilter, AdQuery, Client, Error};
use ad_core::{
    categories,
    model::AdState,
    printable,
    rulebook::Rulebook,
    stock::{ChangeKind, Guard, MissingAds, MissingPolicy, StockChange},
};
use ad_files::identities::Hash;
use ad_files::text::grouped;
use ad_terminal::{Context, Failure, output::Column, stop_on_interrupt};
use futures_util::StreamExt;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    changing::{Changed, Changing, Written},
    far_prices::FarPrices,
    folder::Folder,
    guard_limit,
    prepare::{self, RowNumbers, Sending},
    report::Report,
    revised::{self, Revised, RevisedAd},
};
use crate::check::{Totals, VehicleType};

/// The listed ads whose payloads differ, as updates to send.
#[derive(Debug)]
pub(crate) struct Revision<'a> {
    pub(crate) sending: Sending<'a>,
    /// Whether differences are only shown.
    pub(crate) is_rehearsal: bool,
    /// How many prices may be far from those of now, in the place of the default.
    pub(crate) far_prices: Option<u64>,
    /// Why nothing may be changed.
    pub(crate) refused: Option<Failure>,
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
/// When no ads were created before, too many prices would be far from those of now, a request fails for a reason that concerns all ads, or
/// at Ctrl-C.
pub(crate) async fn update(
    context: &Context,
    client: &Client,
    folder: &Folder,
    revision: Revision<'_>,
    totals: &Totals,
    report: Option<Report<'_>>,
) -> Result<u64, Failure> {
    revised::check_fields(context)?;
    let Revision { sending, is_rehearsal, rulebook, far_prices, refused } = revision;
    let Sending { payloads, rows, most, parallel } = sending;
    let stop = stop_on_interrupt(context);
    let changing = Changing { out: context.out, parallel, stop: &stop };
    let left = &Cell::new(most);
    let how = |is_rehearsal| Updating { client, rulebook, desire: Desire::Correction, left, is_rehearsal };
    let known: HashSet<Hash> = created(folder)?.map(|ad| Ok(ad?.hash())).collect::<Result<_, Failure>>()?;
    // All are compared before the first is changed.
    let compared = update_these(changing, how(true), payloads, rows, &known).await?;
    if let Some(failure) = compared.stopped {
        return Err(failure.hint("nothing was changed"));
    }
    let mut prices = FarPrices::default();
    for ad in &compared.ads {
        prices.add(ad.ad.dealer_code.as_deref().unwrap_or_default(), &ad.ad.source_id, &ad.changes);
    }
    let refused = super::both(refused, prices.check(far_prices).err());
    let Changed { mut ads, mut stopped } = compared;
    if !is_rehearsal {
        refused.map_or(Ok(()), Err)?;
        let (differing, others): (Vec<_>, Vec<_>) =
            ads.into_iter().partition(|ad| ad.outcome == Revised::WouldBeUpdated);
        let differing = differing.iter().map(|ad| ad.ad.hash()).collect();
        let changed = update_these(changing, how(false), payloads, rows, &differing).await?;
        (ads, stopped) = (others, changed.stopped);
        ads.extend(changed.ads);
        ads.sort_by_key(|ad| ad.row);
    } else if refused.is_some() {
        stopped = refused;
    }
    let more = [(totals.skipped, "skipped"), (totals.invalid, "invalid")];
    let failed = revised::show(context, None, &ads, &more, report)?;
    match stopped {
        Some(failure) if is_rehearsal => Err(failure),
        Some(failure) => Err(failure.hint(RESUME)),
        None => Ok(failed),
    }
}

/// What to do after an interruption.
pub(crate) const RESUME: &str = "to resume: run the same command again";

/// Updates these ads to their payloads, or says what that would change.
async fn update_these(
    changing: Changing<'_>,
    how: Updating<'_>,
    payloads: &Path,
    rows: &mut RowNumbers,
    these: &HashSet<Hash>,
) -> Result<Changed, Failure> {
    let mut unread = None;
    let readable = prepare::payloads(payloads)?.map_while(|payload| payload.map_err(|error| unread = Some(error)).ok());
    let asked = readable.filter_map(|(index, payload)| {
        let ad = Identity::of(&payload).filter(|ad| these.contains(&ad.hash()))?;
        let row = RevisedAd { row: rows.get(index), ..RevisedAd::of(ad.clone(), Revised::NotSent) };
        Some((row, async move { how.update(&ad, payload).await }))
    });
    let what = if how.is_rehearsal { "compared" } else { "updated" };
    let mut changed = changing.all(what, these.len() as u64, asked).await;
    changed.stopped = changed.stopped.or(unread);
    Ok(changed)
}

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
    /// Its plate and title, for people.
    pub(super) plate: Option<String>,
    pub(super) title: Option<String>,
}

impl Removable {
    pub(super) fn new(ad: Identity, shown: &Ad) -> Self {
        Self {
            ad,
            vehicle_type: categories::by_id(shown.category_id).and_then(|category| category.vehicle_type),
            plate: shown.category_fields.get("registration_number").and_then(Value::as_str).map(str::to_owned),
            title: shown.title.clone(),
        }
    }

    /// What became of it.
    pub(super) fn revised(self, outcome: Revised) -> RevisedAd {
        RevisedAd { registration_number: self.plate, title: self.title, ..RevisedAd::of(self.ad, outcome) }
    }
}

/// An ad of a list.
#[derive(Debug, Serialize)]
struct RemovableLine<'a> {
    source_id: &'a str,
    registration_number: Option<&'a str>,
    title: Option<&'a str>,
}

const REMOVABLE: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("PLATE", "registration_number"),
    Column::new("TITLE", "title").wrapped(),
];

/// Ads that are listed; the others are counted.
const MOST_LISTED: usize = 20;

/// Shows the ads that would be taken away.
pub(crate) fn show_removable(context: &Context, ads: &[Removable]) -> Result<(), Failure> {
    let lines = ads.iter().take(MOST_LISTED).map(|it| RemovableLine {
        source_id: &it.ad.source_id,
        registration_number: it.plate.as_deref(),
        title: it.title.as_deref(),
    });
    context.out.with_all_fields().table(REMOVABLE, lines)?;
    note_more(context, ads);
    Ok(())
}

/// The same for programs on stderr, because stdout has the rows: `  L102 ABC102 Volvo V60`.
pub(super) fn note_removable(context: &Context, ads: &[Removable]) {
    for Removable { ad, plate, title, .. } in ads.iter().take(MOST_LISTED) {
        let parts = [Some(&ad.source_id), plate.as_ref(), title.as_ref()].into_iter().flatten();
        let parts: Vec<_> = parts.map(|part| printable::line(part)).collect();
        context.out.note(&format!("  {}", parts.join(" ")));
    }
    note_more(context, ads);
}

fn note_more(context: &Context, ads: &[Removable]) {
    if let Some(more) = ads.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        context.out.note(&format!("… and {} more", grouped(more as u64)));
    }
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
        let what = self.done();
        let limit = guard_limit("--allow-removals", self.allowed);
        let message = format!("{removals} of {all} ads would be {what}, more than {limit}; nothing was changed");
        Err(Failure::rejected(message).hint(format!("to allow it: --allow-removals {removals}")))
    }

    /// Takes ads away, each if it is still there.
    pub(super) async fn take_away(self, changing: Changing<'_>, client: &Client, ads: Vec<Removable>) -> Changed {
        let count = ads.len() as u64;
        let asked = ads.into_iter().map(|removable| {
            let (ad, vehicle_type) = (removable.ad.clone(), removable.vehicle_type);
            let work = async move {
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
                Ok((outcome, Vec::new(), message))
            };
            (removable.revised(Revised::NotSent), work)
        });
        changing.all(self.done(), count, asked).await
    }

    /// What is done to ads, in a word.
    pub(super) const fn done(self) -> &'static str {
        if self.delete { "deleted" } else { "hidden" }
    }
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
    let mut dealers = Removals::new();
    // Each with its dealer, and whether it is visible.
    let mut shown: HashMap<String, Vec<(String, bool, Removable)>> = HashMap::new();
    let mut all = client.v4().all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)]));
    while let Some(ad) = all.next().await {
        let ad = ad?;
        dealers.entry(ad.dealer_code.clone()).or_default().0 += 1;
        let removable = Removable::new(Identity::from(&ad), &ad);
        shown.entry(ad.source_id).or_default().push((ad.dealer_code, ad.visible, removable));
    }
    let mut ads = Vec::new();
    let mut unchanged = 0;
    for ad in created {
        let ad = ad?;
        // Without a dealer in the payload, the token is of one dealer.
        let is_it = |dealer: &String| ad.dealer_code.as_ref().is_none_or(|code| code == dealer);
        let found = shown.get_mut(&ad.source_id).and_then(|of_id| {
            let place = of_id.iter().position(|(dealer, visible, _)| is_it(dealer) && (removal.delete || *visible))?;
            Some(of_id.swap_remove(place))
        });
        match found {
            Some((dealer, _, removable)) => {
                dealers.entry(dealer).or_default().1 += 1;
                // The journal names it as its payload does.
                ads.push(Removable { ad, ..removable });
            }
            None => unchanged += 1,
        }
    }
    removal.check(&dealers)?;
    Ok((ads, unchanged))
}

/// Takes ads away, and shows what became of each; hidden ones are recorded, so that `publish` shows them again. Returns how many failed.
///
/// # Errors
/// When the folder cannot be written, a request fails for a reason that concerns all ads, or at Ctrl-C.
pub(crate) async fn remove(
    context: &Context,
    client: &Client,
    folder: &Folder,
    (ads, unchanged): (Vec<Removable>, u64),
    removal: Removal,
    parallel: usize,
    report: Option<Report<'_>>,
) -> Result<u64, Failure> {
    revised::check_fields(context)?;
    let stop = stop_on_interrupt(context);
    let changing = Changing { out: context.out, parallel, stop: &stop };
    let Changed { ads, stopped } = removal.take_away(changing, client, ads).await;
    let hidden = ads.iter().filter(|ad| ad.outcome == Revised::Hidden).map(|ad| &ad.ad);
    let recorded = record_hidden(&folder.journal(), hidden).map_err(|error| Failure::failed(error.to_string()));
    let before = if removal.delete { "deleted before" } else { "hidden or deleted before" };
    let failed = revised::show(context, None, &ads, &[(unchanged, before)], report)?;
    recorded?;
    stopped.map_or(Ok(failed), |failure| Err(failure.hint(RESUME)))
}
