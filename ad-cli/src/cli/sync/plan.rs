//! The plan: the changes that make the ads of the service equal to a stock file, and the ads that stay unchanged.

use std::path::PathBuf;

use ad_core::{
    categories,
    model::{AdState, Timestamp},
    stock::{AbsentAd, ChangeKind, Guard, MissingAds, MissingPolicy, is_nameable},
};
use ad_files::spool::{Span, Spool};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};

use super::stock::{DesiredAd, Reader, SkipReason, SkippedAd, Stock};
use crate::{
    Ad, AdFilter, AdQuery, Client,
    bulk::{
        Identity,
        desired::{Change, Missing, blocked, changes, compare, missing, quoted, why_missing},
        payloads::Piece,
    },
    terminal::{Counter, Failure, counted, grouped},
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) act: ChangeKind,
    #[serde(flatten)]
    pub(super) ad: Identity,
    pub(super) vehicle_type: Option<String>,
    pub(super) title: Option<String>,
    /// Where the ad stands in the file.
    pub(super) line: Option<u64>,
    /// When it last changed, as far as the plan knows; a plan for another state of it is not carried out.
    pub(super) updated: Option<Timestamp>,
    pub(super) changes: Vec<Change>,
    /// The payload of a create, or the patch of an update.
    #[serde(skip)]
    pub(super) body: Option<Span>,
}

/// A dealer's stock at the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dealer {
    pub(super) code: String,
    /// Ads that are not deleted.
    pub(super) ads: u64,
    /// Ads that the plan deletes.
    pub(super) deletions: u64,
}

impl Dealer {
    /// Whether this number of deletions needs permission.
    pub(super) fn exceeds_deletion_limit(&self) -> bool {
        Guard::of([(self.ads, self.deletions)], None).exceeded
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PlanHeader {
    pub(super) name: String,
    /// The file, for reading it again; `None` for stdin.
    pub(super) path: Option<PathBuf>,
    /// The mapping of its rows, if it is a table, and whether their images may come over http.
    pub(super) mapping: Option<String>,
    #[serde(default)]
    pub(super) http_images: bool,
    /// SHA-256 of its payloads, in hexadecimal.
    pub(super) digest: String,
    /// URL of the service for which it was planned.
    pub(super) url: String,
    pub(super) dealers: Vec<Dealer>,
    /// The limit of deletions that the user has set, in the place of the default.
    pub(super) allowed: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) about: PlanHeader,
    /// In this order: updates, creates, deletions.
    pub(super) steps: Vec<Step>,
    pub(super) unchanged: Vec<Identity>,
    pub(super) left: Vec<SkippedAd>,
    pub(super) notes: Vec<(Identity, String)>,
    /// Notes about the whole plan.
    pub(super) remarks: Vec<String>,
    /// The bodies of the steps.
    pub(super) spool: Spool,
}

impl Plan {
    /// How many steps of a kind there are.
    pub(super) fn count(&self, act: ChangeKind) -> u64 {
        self.steps.iter().filter(|step| step.act == act).count() as u64
    }

    /// Number of deletions, if it is beyond the limit.
    pub(super) fn deletions_beyond_limit(&self) -> Option<u64> {
        let dealers = self.about.dealers.iter().map(|dealer| (dealer.ads, dealer.deletions));
        let guard = Guard::of(dealers, self.about.allowed);
        guard.exceeded.then_some(guard.removals)
    }
}

/// What becomes of ads that the file does not contain.
const MISSING: MissingPolicy<'_> = MissingPolicy { missing: MissingAds::Delete, vehicle_types: None };

/// Makes a plan from the desired stock and the ads of the service.
pub(super) struct Planner<'a> {
    client: &'a Client,
    reader: Reader,
    progress: &'a Counter,
    stock: Stock,
    plan: Plan,
    /// Number of ads that no file can name.
    unnameable: u64,
}

impl<'a> Planner<'a> {
    pub(super) fn new(client: &'a Client, reader: Reader, progress: &'a Counter, stock: Stock) -> Self {
        Self { client, reader, progress, stock, plan: Plan::default(), unnameable: 0 }
    }

    pub(super) async fn plan(mut self, path: Option<PathBuf>, allowed: Option<u64>) -> Result<Plan, Failure> {
        let mut dealers = Vec::new();
        for dealer_code in self.stock.dealers() {
            let before = self.plan.count(ChangeKind::Delete);
            let ads = self.dealer(&dealer_code).await?;
            let deletions = self.plan.count(ChangeKind::Delete) - before;
            dealers.push(Dealer { code: dealer_code, ads, deletions });
        }
        self.creates()?;
        let Self { client, mut stock, mut plan, unnameable, .. } = self;
        let (unknown, deletions) = (stock.named.unidentified(), plan.count(ChangeKind::Delete));
        if !unknown.is_empty() && deletions > 0 {
            plan.steps.retain(|step| step.act != ChangeKind::Delete);
            for dealer in &mut dealers {
                dealer.deletions = 0;
            }
            plan.remarks.push(withheld_deletions(deletions, unknown));
        }
        if unnameable > 0 {
            plan.remarks.push(format!(
                "{} of categories without V4 cannot be in the file and {} unchanged; to list them: ad-cli list",
                counted(unnameable, "ad"),
                if unnameable == 1 { "is" } else { "are" },
            ));
        }
        plan.steps.sort_by_key(|step| (step.act.phase(), step.line));
        plan.left.append(&mut stock.left);
        plan.left.sort_by_key(|left| left.line);
        let (name, digest, url) = (stock.name, stock.digest, client.url().to_owned());
        Ok(Plan {
            about: PlanHeader { name, path, digest, url, dealers, allowed, ..PlanHeader::default() },
            spool: stock.spool,
            ..plan
        })
    }

    /// Compares all ads of a dealer; returns the number of those that are not deleted.
    async fn dealer(&mut self, dealer_code: &str) -> Result<u64, Failure> {
        let query = AdQuery::oldest_first([AdFilter::DealerCode(dealer_code.to_owned())]);
        let mut ads = self.client.v4().all(&query);
        let mut count = 0;
        while let Some(ad) = ads.try_next().await? {
            self.progress.add();
            count += u64::from(ad.state == AdState::Created);
            self.ad(&ad).await?;
        }
        Ok(count)
    }

    /// Adds the step for an ad.
    async fn ad(&mut self, ad: &Ad) -> Result<(), Failure> {
        let identity = Identity::from(ad);
        if let Some(wanted) = self.stock.wanted.remove(&identity) {
            return self.plan_existing(ad, identity, &wanted).await;
        }
        // Its payload has errors, which are reported with it.
        if self.stock.named.may_name(&ad.dealer_code, &ad.source_id) {
            return Ok(());
        }
        let category = categories::by_id(ad.category_id);
        let is_deleted = ad.state == AdState::Deleted;
        let absent = AbsentAd { category, is_deleted, is_visible: ad.visible };
        match MISSING.removal(absent) {
            Some(removal) => self.plan.steps.push(step(removal, identity, ad, Vec::new(), None)),
            None => self.unnameable += u64::from(!is_deleted && !is_nameable(category)),
        }
        Ok(())
    }

    /// An existing ad that the file contains.
    async fn plan_existing(&mut self, ad: &Ad, identity: Identity, wanted: &DesiredAd) -> Result<(), Failure> {
        let payload = self.stock.payload(wanted)?;
        let rulebook = &self.reader.rulebook;
        let images: Vec<_> = ad.image_refs.iter().map(|image| image.url.clone()).collect();
        let mut change = compare(rulebook, ad, &images, payload.clone());
        if let Some(missing) = missing(&change, ad, &images)
            && let Some((note, taken)) = self.explained(ad, &missing).await?
        {
            change = compare(rulebook, ad, &taken, payload);
            self.plan.notes.push((identity.clone(), note));
        }
        let line = Some(wanted.place.line);
        let Some(obstacle) = change.obstacle else {
            if change.kind == ChangeKind::Unchanged {
                self.plan.notes.extend(unpublished(ad).map(|note| (identity.clone(), note)));
                self.plan.unchanged.push(identity);
            } else {
                let body = change.body.map(|patch| self.stock.keep(&patch)).transpose()?;
                let fields = changes(change.fields);
                self.plan.steps.push(Step { line, ..step(change.kind, identity, ad, fields, body) });
            }
            return Ok(());
        };
        let (source_id, dealer_code) = (Some(identity.source_id), identity.dealer_code);
        let skipped = if let Some((reason, hints)) = blocked(&obstacle, ad, wanted.category) {
            let why = SkipReason::Blocked { reason, hints };
            SkippedAd { source_id, dealer_code, category: Some(wanted.category), line, why }
        } else {
            let text = self.stock.text(wanted)?;
            let piece = Piece { text: &text, place: wanted.place, problem: None };
            let verdict = self.reader.checker.rejected(&obstacle.errors(), piece, wanted.index);
            SkippedAd { line, ..SkippedAd::rejected(source_id, dealer_code, verdict) }
        };
        self.plan.left.push(skipped);
        Ok(())
    }

    /// The note, and the images that the ad is assumed to have, if its log explains why some are missing.
    async fn explained(&self, ad: &Ad, missing: &Missing) -> Result<Option<(String, Vec<String>)>, Failure> {
        let log = self.client.v4().read(ad).await?.body.log.unwrap_or_default();
        Ok(why_missing(&ad.source_id, &log, &missing.images).map(|why| (why, missing.wanted.clone())))
    }

    /// What is wanted and is not there.
    fn creates(&mut self) -> Result<(), Failure> {
        let mut wanted: Vec<_> = self.stock.wanted.drain().collect();
        wanted.sort_by_key(|(_, wanted)| wanted.index);
        for (ad, wanted) in wanted {
            let text = self.stock.text(&wanted)?;
            let line = Some(wanted.place.line);
            match self.reader.new_ad(self.stock.payload(&wanted)?, &wanted, &text) {
                Ok(title) => self.plan.steps.push(Step {
                    act: ChangeKind::Create,
                    ad,
                    vehicle_type: wanted.category.vehicle_type.map(str::to_owned),
                    title,
                    line,
                    updated: None,
                    changes: Vec::new(),
                    body: Some(wanted.payload),
                }),
                Err(verdict) => {
                    self.plan
                        .left
                        .push(SkippedAd { line, ..SkippedAd::rejected(Some(ad.source_id), ad.dealer_code, verdict) });
                }
            }
        }
        Ok(())
    }
}

/// The note about an unchanged ad that is not visible.
fn unpublished(ad: &Ad) -> Option<String> {
    let is_seen = !ad.visible || ad.marketplace_ad_id.is_some();
    (!is_seen)
        .then(|| format!("it is not published, or not yet; to show its log: ad-cli log {}", quoted(&ad.source_id)))
}

fn step(act: ChangeKind, identity: Identity, ad: &Ad, changes: Vec<Change>, body: Option<Span>) -> Step {
    let vehicle_type = categories::by_id(ad.category_id).and_then(|category| category.vehicle_type);
    Step {
        act,
        ad: identity,
        vehicle_type: vehicle_type.map(str::to_owned),
        title: ad.title.clone(),
        line: None,
        updated: Some(ad.updated),
        changes,
        body,
    }
}

fn withheld_deletions(count: u64, unknown: &[u64]) -> String {
    let lines: Vec<_> = unknown.iter().take(5).map(u64::to_string).collect();
    let more = if unknown.len() > 5 { " and more" } else { "" };
    format!(
        "nothing is deleted: {} not in the file, but line {}{more} cannot be parsed and might contain one of them",
        if count == 1 { "1 ad is".to_owned() } else { format!("{} ads are", grouped(count)) },
        lines.join(", "),
    )
}
