//! `run --sync`: makes the ads of the service equal to the file, which is the whole stock of its vehicle types.
//!
//! All ads are read by pages and compared with the payloads before anything is sent. Then ads are updated, created and taken away, in this order;
//! each update and removal is bound to the revision of the ad that is read just before it.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use ad_bulk::{
    AdOutcome, Identity,
    desired::Change,
    import::{Imported, Record},
};
use ad_client::{Ad, AdQuery, Client};
use ad_core::{categories, model::AdState, rulebook::Rulebook, stock::AbsentAd};
use ad_files::{
    identities::{Hash, hash},
    spool::{Span, Spool},
    text::counted,
};
use ad_terminal::{Context, Counter, Failure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use super::{
    changing::{Changed, Changing},
    far_prices::FarPrices,
    missing::Stock,
    prepare::{self, InvalidRows, Prepared, RowNumbers},
    rehearse,
    revise::{self, Desire, Removable, Removal, Removals, Updating, required},
    revised::{Revised, RevisedAd},
};
use crate::check::VehicleType;

/// What the file says of the stock.
#[derive(Debug)]
pub(crate) struct Desired<'a> {
    /// Its valid payloads, one a line.
    pub(crate) payloads: &'a Path,
    pub(crate) prepared: &'a mut Prepared,
    /// The vehicle types that the mapping names. Ads of others are not missing.
    pub(crate) types: Vec<VehicleType>,
}

/// The payloads of the file, which need not fit into memory.
#[derive(Debug, Default)]
struct SpooledPayloads(Spool);

/// A payload: its index in the file, and where it is among [`SpooledPayloads`].
type Located = (u64, Span);

impl SpooledPayloads {
    fn get(&mut self, span: Span) -> Result<Map<String, Value>, Failure> {
        self.0.object(span).map_err(|error| no_room(&error))
    }
}

/// Those of ads that were not found yet.
type Wanted = HashMap<Hash, Located>;

/// Reads the payloads of a file, one a line.
fn read(path: &Path) -> Result<(SpooledPayloads, Wanted), Failure> {
    let (mut payloads, mut wanted) = (SpooledPayloads::default(), Wanted::new());
    for payload in prepare::payloads(path)? {
        let (index, payload) = payload?;
        // Valid rows have a source id.
        if let Some(ad) = Identity::of(&payload) {
            let span = payloads.0.add_line(&payload).map_err(|error| no_room(&error))?;
            wanted.insert(ad.hash(), (index, span));
        }
    }
    Ok((payloads, wanted))
}

/// Takes the payload of an ad. Without a dealer in it, the token is of one dealer.
fn take(wanted: &mut Wanted, ad: &Ad) -> Option<Located> {
    let of = |dealer_code| hash(&ad.source_id, dealer_code);
    wanted.remove(&of(Some(&ad.dealer_code))).or_else(|| wanted.remove(&of(None)))
}

fn no_room(error: &io::Error) -> Failure {
    Failure::failed(format!("cannot use a temporary file: {error}")).hint("set TMPDIR to a folder with free space")
}

/// An ad that differs from its row.
#[derive(Debug)]
struct Difference {
    row: Located,
    ad: Identity,
    changes: Vec<Change>,
}

/// All that makes the ads equal to the file.
#[derive(Debug, Default)]
pub(crate) struct SyncPlan {
    payloads: SpooledPayloads,
    updates: Vec<Difference>,
    creates: Vec<Located>,
    gone: Vec<Removable>,
    /// Ads that cannot be made equal.
    failed: Vec<RevisedAd>,
    unchanged: u64,
    /// Why nothing is taken away although ads are missing.
    pub(crate) withheld: Option<String>,
    /// Why the plan may not be carried out: it takes more away than is allowed, or changes prices too much.
    pub(crate) refused: Option<Failure>,
}

/// What a plan may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) removal: Removal,
    /// How many prices may be far from those of now, in the place of the default.
    pub(crate) far_prices: Option<u64>,
}

/// Compares all ads with the file.
///
/// # Errors
/// When a request fails.
pub(crate) async fn plan(
    context: &Context,
    client: &Client,
    rulebook: &Rulebook,
    desired: &mut Desired<'_>,
    Allowed { removal, far_prices }: Allowed,
) -> Result<SyncPlan, Failure> {
    let counter = Counter::new(context.out, "ad");
    let compared = compare(client, rulebook, desired, removal, &counter);
    let (mut plan, dealers, prices) =
        counter.run(compared).await.map_err(|failure| failure.hint("nothing was changed"))??;
    plan.withheld = withheld(&plan, desired, &dealers);
    if plan.withheld.is_some() {
        plan.gone.clear();
    } else {
        plan.refused = removal.check(&dealers).err();
    }
    plan.refused = super::both(plan.refused.take(), prices.check(far_prices).err());
    Ok(plan)
}

async fn compare(
    client: &Client,
    rulebook: &Rulebook,
    desired: &mut Desired<'_>,
    removal: Removal,
    counter: &Counter,
) -> Result<(SyncPlan, Removals, FarPrices), Failure> {
    let Desired { payloads, prepared: Prepared { rows, stock: Stock { dealers: of_file, .. }, invalid }, .. } = desired;
    let (payloads, mut wanted) = read(payloads)?;
    let (mut plan, mut dealers) = (SyncPlan { payloads, ..SyncPlan::default() }, Removals::new());
    let mut prices = FarPrices::default();
    let mut all = client.v4().all(&AdQuery::oldest_first([]));
    while let Some(ad) = all.try_next().await? {
        counter.add();
        if !of_file.is_empty() && !of_file.contains(&ad.dealer_code) {
            continue;
        }
        let (count, removals) = dealers.entry(ad.dealer_code.clone()).or_default();
        *count += u64::from(ad.state == AdState::Created);
        let Some(row) = take(&mut wanted, &ad) else {
            let category = categories::by_id(ad.category_id);
            let absent = AbsentAd { category, is_deleted: ad.state == AdState::Deleted, is_visible: ad.visible };
            if removal.policy(&desired.types).removal(absent).is_some() && !invalid.has(&ad.source_id) {
                *removals += 1;
                plan.gone.push(Removable::new(Identity::from(&ad), &ad));
            }
            continue;
        };
        match required(rulebook, &ad, plan.payloads.get(row.1)?, Desire::OnSale) {
            Ok(None) => {
                prices.add(&ad.dealer_code, &ad.source_id, &[]);
                plan.unchanged += 1;
            }
            Ok(Some((_, changes))) => {
                prices.add(&ad.dealer_code, &ad.source_id, &changes);
                plan.updates.push(Difference { row, ad: Identity::from(&ad), changes });
            }
            Err(why) => plan.failed.push(RevisedAd {
                row: rows.get(row.0),
                message: Some(why),
                ..RevisedAd::of(Identity::from(&ad), Revised::Failed)
            }),
        }
    }
    plan.creates = wanted.into_values().collect();
    plan.creates.sort_by_key(|(index, _)| *index);
    Ok((plan, dealers, prices))
}

/// Why the ads that are missing in the file are not taken away, if so.
fn withheld(plan: &SyncPlan, desired: &Desired<'_>, dealers: &Removals) -> Option<String> {
    let InvalidRows { unknown, .. } = &desired.prepared.invalid;
    let count = plan.gone.len() as u64;
    let stay =
        if count == 1 { "is not in the file and stays as it is" } else { "are not in the file and stay as they are" };
    let missing = || format!("{} {stay}", counted(count, "ad"));
    if plan.gone.is_empty() {
        None
    } else if !unknown.is_empty() {
        let rows: Vec<_> = unknown.iter().map(u64::to_string).collect();
        Some(format!("{}: row {} has no known source id and might be about one of them", missing(), rows.join(", ")))
    } else if desired.prepared.stock.dealers.is_empty() && dealers.len() > 1 {
        Some(format!(
            "{}: the token is of several dealers, and the file does not say whose stock it is; set dealer_code in the mapping",
            missing()
        ))
    } else {
        None
    }
}

impl SyncPlan {
    /// Lists the ads that would be taken away, before anything is sent.
    pub(crate) fn list_removals(&self, context: &Context, removal: Removal) -> Result<(), Failure> {
        if self.gone.is_empty() || context.out.is_quiet() {
            return Ok(());
        }
        let ads = counted(self.gone.len() as u64, "ad");
        let are = if self.gone.len() == 1 { "is" } else { "are" };
        context.out.note(&format!("{ads} that {are} not in the file, to be {}:", removal.done()));
        if context.out.is_for_people() {
            return revise::show_removable(context, &self.gone);
        }
        revise::note_removable(context, &self.gone);
        Ok(())
    }

    /// Whether the file has new ads.
    pub(crate) fn has_creates(&self) -> bool {
        !self.creates.is_empty()
    }

    /// Ads that are as their rows say.
    pub(crate) fn unchanged(&self) -> u64 {
        self.unchanged
    }

    /// Writes the payloads of new ads into a file; returns the row of each.
    pub(crate) fn write_creates(&mut self, path: &Path, rows: &mut RowNumbers) -> io::Result<RowNumbers> {
        let mut of_creates = RowNumbers::default();
        let mut out = BufWriter::new(File::create(path)?);
        for (index, span) in &self.creates {
            out.write_all(&self.payloads.0.text(*span)?)?;
            out.write_all(b"\n")?;
            of_creates.add(rows.get(*index).unwrap_or_default())?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(of_creates)
    }

    /// What would be done, with the objections of the service to new ads.
    pub(crate) async fn rehearse(
        self,
        client: &Client,
        rows: &mut RowNumbers,
        removal: Removal,
        parallel: usize,
    ) -> Result<Vec<RevisedAd>, Failure> {
        let Self { mut payloads, updates, creates, gone, failed: mut all, .. } = self;
        all.extend(updates.into_iter().map(|Difference { row, ad, changes }| RevisedAd {
            row: rows.get(row.0),
            changes,
            ..RevisedAd::of(ad, Revised::WouldBeUpdated)
        }));
        let asked = creates.into_iter().map(|(index, span)| {
            let payload = payloads.get(span);
            async move {
                let payload = payload?;
                let message = match rehearse::ask(client, &payload).await {
                    Ok(()) => None,
                    Err(error) => Some(rehearse::text(error)?),
                };
                // Valid rows have a source id.
                Ok::<_, Failure>((index, Identity::of(&payload), message))
            }
        });
        let mut answers = stream::iter(asked).buffered(parallel.max(1));
        while let Some((index, ad, message)) = answers.try_next().await? {
            let outcome = if message.is_none() { Revised::WouldBeCreated } else { Revised::Failed };
            all.extend(ad.map(|ad| RevisedAd { row: rows.get(index), message, ..RevisedAd::of(ad, outcome) }));
        }
        let outcome = if removal.delete { Revised::WouldBeDeleted } else { Revised::WouldBeHidden };
        all.extend(gone.into_iter().map(|removable| removable.revised(outcome)));
        Ok(all)
    }

    /// Updates the ads that differ. What cannot be made equal is among the outcomes.
    pub(crate) async fn update(
        &mut self,
        changing: Changing<'_>,
        client: &Client,
        rulebook: &Rulebook,
        rows: &mut RowNumbers,
    ) -> Changed {
        let left = Cell::new(u64::MAX);
        let how = Updating { client, rulebook, desire: Desire::OnSale, left: &left, is_rehearsal: false };
        let Self { payloads, updates, failed, .. } = self;
        let count = updates.len() as u64;
        let asked = updates.drain(..).map(|Difference { row: (index, span), ad, .. }| {
            let payload = payloads.get(span);
            let row = RevisedAd { row: rows.get(index), ..RevisedAd::of(ad.clone(), Revised::NotSent) };
            (row, async move { how.update(&ad, payload?).await })
        });
        let Changed { ads, stopped } = changing.all("updated", count, asked).await;
        Changed { ads: std::mem::take(failed).into_iter().chain(ads).collect(), stopped }
    }

    /// Takes away what the file no longer has.
    pub(crate) async fn take_away(&mut self, changing: Changing<'_>, client: &Client, removal: Removal) -> Changed {
        removal.take_away(changing, client, std::mem::take(&mut self.gone)).await
    }

    /// What became of the new ads of an import, by the rows of its payloads. Those that it did not reach are still to be created.
    pub(crate) fn created(&mut self, imported: &Imported, rows: &mut RowNumbers) -> Result<Vec<RevisedAd>, Failure> {
        let mut all = Vec::new();
        let mut reached = HashSet::new();
        imported.records.each(|record, _| {
            let Record { index, source_id, dealer_code, outcome, message, .. } = record;
            let outcome = match outcome {
                AdOutcome::NotSent if imported.failure.is_some() => return Ok(()),
                AdOutcome::NotSent => Revised::NotSent,
                outcome if outcome.is_good() => Revised::Created,
                // An interrupted import has not waited for it.
                AdOutcome::UnderWay if imported.failure.is_some() => Revised::Created,
                _ => Revised::Failed,
            };
            reached.insert(index);
            let ad = Identity { source_id: source_id.unwrap_or_default(), dealer_code };
            all.push(RevisedAd { row: rows.get(index), message, ..RevisedAd::of(ad, outcome) });
            Ok::<_, Failure>(())
        })?;
        let left = (0..).zip(std::mem::take(&mut self.creates)).filter(|(index, _)| !reached.contains(index));
        self.creates = left.map(|(_, located)| located).collect();
        Ok(all)
    }

    /// What was not reached: new ads, and those to be taken away.
    pub(crate) fn left(self, rows: &mut RowNumbers) -> Result<Vec<RevisedAd>, Failure> {
        let Self { mut payloads, creates, gone, .. } = self;
        let mut left = Vec::new();
        for (index, span) in creates {
            let ad = Identity::of(&payloads.get(span)?);
            left.extend(ad.map(|ad| RevisedAd { row: rows.get(index), ..RevisedAd::of(ad, Revised::NotSent) }));
        }
        left.extend(gone.into_iter().map(|removable| removable.revised(Revised::NotSent)));
        Ok(left)
    }
}
