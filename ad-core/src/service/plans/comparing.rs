//! Compares a stock with the stored ads, in batches: each payload with its ad, and at the end the ads that no payload names.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use futures_util::future::join;
use serde_json::{Map, Value, json};

use super::{
    StockPlanError,
    reasons::change_errors,
    write::{BATCH, NewPlanned, PlanWriter},
};
use crate::{
    categories::{self, Category},
    model::{AdState, ChangeDetails, ChangeError, ChangeKind, Dealer, ValueChange, json_bytes, plate},
    ports::StoredAd,
    service::LARGE,
    stock::{
        AbsentAd, ExistingAd, ListOrder, MissingPolicy, StockChange, StockComparison, completed, differences,
        is_nameable,
    },
};

/// Ads that are read together in the search for missing ones.
const STOCK_PAGE: u32 = 1000;
/// Bytes of the values of a changed field that a plan shows.
const MOST_VALUE_BYTES: usize = 16 * 1024;

/// A payload that is to be compared.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) line: u64,
    pub(super) dealer: Arc<Dealer>,
    pub(super) source_id: String,
    pub(super) payload: Map<String, Value>,
}

/// Payloads of one dealer, and the stored ads that they name.
#[derive(Debug)]
pub(super) struct ReadBatch {
    dealer_code: String,
    batch: Vec<Pending>,
    stored: Vec<StoredAd>,
}

/// A payload that was compared.
struct Compared {
    line: u64,
    source_id: String,
    /// That of the stored ad, if there is one.
    revision: Option<i64>,
    change: StockChange,
}

impl PlanWriter {
    /// Reads the stored ads that the payloads of the batch name. Meanwhile, those that were read before are compared.
    pub(super) async fn read_batch(&mut self) -> Result<(), StockPlanError> {
        let mut by_dealer = BTreeMap::<String, Vec<Pending>>::new();
        for pending in self.take_batch() {
            by_dealer.entry(pending.dealer.code.clone()).or_default().push(pending);
        }
        self.keep_lease().await?;
        for (dealer_code, batch) in by_dealer {
            let ids: Vec<_> = batch.iter().map(|pending| pending.source_id.clone()).collect();
            let store = Arc::clone(&self.plans.store);
            let (stored, compared) = join(store.ads_of_stock(&dealer_code, &ids), self.compare_read()).await;
            compared?;
            self.read = Some(ReadBatch { dealer_code, batch, stored: stored? });
        }
        Ok(())
    }

    /// Compares the payloads whose ads were read.
    pub(super) async fn compare_read(&mut self) -> Result<(), StockPlanError> {
        let Some(ReadBatch { dealer_code, batch, stored }) = self.read.take() else { return Ok(()) };
        let (service, keeps_absent) = (&self.plans.service, self.keeps_absent);
        let stored: HashMap<_, _> = stored.iter().map(|stored| (stored.ad.source_id.as_str(), stored)).collect();
        let compare = |Pending { line, dealer, source_id, payload }: Pending| {
            let stored = stored.get(source_id.as_str());
            let existing = stored.map(|stored| ExistingAd {
                ad: &stored.ad,
                is_deleted: stored.intent == AdState::Deleted,
                failed_images: &stored.publication.failed_images,
            });
            let comparison = StockComparison { rulebook: service.rulebook(), dealer: Some(&dealer) };
            let payload = match existing.filter(|existing| keeps_absent && !existing.is_deleted) {
                Some(existing) => completed(&existing.ad.content, payload),
                None => payload,
            };
            let change = comparison.change(payload, existing);
            Compared { line, source_id, revision: stored.map(|stored| stored.tag.revision), change }
        };
        // Hundreds of ads take longer than a large one.
        let compare = || batch.into_iter().map(compare).collect::<Vec<_>>();
        let compared = service.computed(&dealer_code, LARGE, compare);
        let plates = self.plates(&dealer_code, &compared).await?;
        for Compared { line, source_id, revision, change } in compared {
            self.add_compared(Some(line), &dealer_code, source_id, revision, change, &plates).await?;
        }
        Ok(())
    }

    /// The ads that have the registration numbers of new ones.
    async fn plates(
        &self,
        dealer_code: &str,
        compared: &[Compared],
    ) -> Result<HashMap<String, String>, StockPlanError> {
        let plates: Vec<_> = compared.iter().filter_map(|compared| new_plate(&compared.change)).collect();
        if plates.is_empty() {
            return Ok(HashMap::new());
        }
        Ok(self.plans.store.ads_with_plates(dealer_code, &plates).await?.into_iter().collect())
    }

    /// Lists an ad as invalid.
    pub(super) async fn invalid(
        &mut self,
        line: Option<u64>,
        dealer_code: Option<String>,
        source_id: Option<String>,
        change: StockChange,
    ) -> Result<(), StockPlanError> {
        let errors = change.obstacle.map(|obstacle| change_errors(&obstacle.errors())).unwrap_or_default();
        self.invalid_for(line, dealer_code, source_id, errors).await
    }

    pub(super) async fn invalid_for(
        &mut self,
        line: Option<u64>,
        dealer_code: Option<String>,
        source_id: Option<String>,
        errors: Vec<ChangeError>,
    ) -> Result<(), StockPlanError> {
        self.list_invalid(line, dealer_code, source_id, ChangeDetails { errors, ..ChangeDetails::default() }).await
    }

    pub(super) async fn list_invalid(
        &mut self,
        line: Option<u64>,
        dealer_code: Option<String>,
        source_id: Option<String>,
        details: ChangeDetails,
    ) -> Result<(), StockPlanError> {
        // Of a plan for one dealer, its payloads count as that dealer's.
        let dealer_code = dealer_code.or_else(|| self.plan.options.dealer_code.clone());
        if let Some(dealer_code) = &dealer_code {
            self.with_dealer(dealer_code, line).await?;
        }
        self.errors.add(line, &details.errors);
        let change = NewPlanned { line, dealer_code, source_id, kind: ChangeKind::Invalid, revision: None };
        self.push(change, details, None).await
    }

    pub(super) async fn add_compared(
        &mut self,
        line: Option<u64>,
        dealer_code: &str,
        source_id: String,
        revision: Option<i64>,
        change: StockChange,
        plates: &HashMap<String, String>,
    ) -> Result<(), StockPlanError> {
        if change.kind == ChangeKind::Invalid {
            return self.invalid(line, Some(dealer_code.to_owned()), Some(source_id), change).await;
        }
        self.valid += 1;
        if change.kind == ChangeKind::Unchanged {
            self.count(dealer_code, ChangeKind::Unchanged);
            return Ok(());
        }
        let links_to = new_plate(&change).and_then(|plate| plates.get(&plate).cloned());
        let StockChange { kind, fields, warnings, quality, title, body, .. } = change;
        // For people, who look at what is going to be published.
        let shows_new = self.keeps_absent && kind == ChangeKind::Create;
        let new = body.as_ref().filter(|_| shows_new).map(|body| of_new_ad(body, title)).unwrap_or_default();
        let fields = fields.into_iter().map(|field| ValueChange {
            pointer: format!("/{}", field.path.replace('.', "/")),
            from: shown(field.from),
            to: shown(field.to),
        });
        let fields = fields.chain(new).collect();
        let details = ChangeDetails { fields, links_to, errors: Vec::new(), warnings, quality };
        let (dealer_code, source_id) = (Some(dealer_code.to_owned()), Some(source_id));
        self.push(NewPlanned { line, dealer_code, source_id, kind, revision }, details, body).await
    }

    /// Adds the removals of a dealer's ads that no payload names.
    pub(super) async fn remove_missing(&mut self, dealer_code: &str) -> Result<(), StockPlanError> {
        let mut behind = String::new();
        loop {
            let page = self.plans.store.stock_behind(dealer_code, &behind, STOCK_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            behind.clone_from(&last.source_id);
            let is_missing = |source_id: &str, category_id: u16, is_deleted: bool| {
                !is_deleted
                    && !self.named.may_name(dealer_code, source_id)
                    && is_nameable(categories::by_id(category_id))
            };
            let missing = page.iter().filter(|ad| is_missing(&ad.source_id, ad.category_id, ad.is_deleted));
            let missing: Vec<_> = missing.map(|ad| ad.source_id.clone()).collect();
            for ids in missing.chunks(BATCH) {
                let stored = self.plans.store.ads_of_stock(dealer_code, ids).await?;
                let stored: HashMap<_, _> =
                    stored.iter().map(|stored| (stored.ad.source_id.as_str(), stored)).collect();
                for stored in ids.iter().filter_map(|id| stored.get(id.as_str())) {
                    self.remove(stored).await?;
                }
            }
        }
    }

    /// Adds the removal of an ad, if there is one.
    async fn remove(&mut self, stored: &StoredAd) -> Result<(), StockPlanError> {
        let types = self.plan.options.vehicle_types.as_ref();
        let types: Option<Vec<&'static str>> = types
            .map(|types| types.iter().filter_map(|name| categories::by_vehicle_type(name)?.vehicle_type).collect());
        let policy = MissingPolicy { missing: self.plan.options.missing, vehicle_types: types.as_deref() };
        let category: Option<&'static Category> = stored.ad.category();
        let is_deleted = stored.intent == AdState::Deleted;
        let absent = AbsentAd { category, is_deleted, is_visible: stored.ad.content.visible() };
        let Some(kind) = policy.removal(absent) else { return Ok(()) };
        let (mut details, mut body) = (ChangeDetails::default(), None);
        if kind == ChangeKind::Hide {
            let hidden = ValueChange { pointer: "/visible".to_owned(), from: true.into(), to: false.into() };
            details.fields.push(hidden);
            body = json!({"visible": false}).as_object().cloned();
        }
        let (dealer_code, source_id) = (Some(stored.ad.dealer_code.clone()), Some(stored.ad.source_id.clone()));
        let revision = Some(stored.tag.revision);
        self.push(NewPlanned { line: None, dealer_code, source_id, kind, revision }, details, body).await
    }
}

/// The category, the title and the fields of a new ad.
fn of_new_ad(body: &Map<String, Value>, title: Option<String>) -> Vec<ValueChange> {
    let id = body.get("category_id");
    let category = id.and_then(categories::sent_id).and_then(categories::by_id);
    let sent = |category| differences(category, &Map::new(), body, ListOrder::OfImages);
    let sent = category.map(sent).unwrap_or_default().into_iter();
    let sent = sent.map(|field| (format!("/{}", field.path.replace('.', "/")), field.to));
    let known = [("/category_id", id.cloned()), ("/title", title.map(Value::from))];
    let known = known.into_iter().filter_map(|(pointer, to)| Some((pointer.to_owned(), to?)));
    let to = |(pointer, to): (String, Value)| {
        let plate = to.as_str().filter(|_| pointer == "/category_fields/registration_number").map(plate);
        ValueChange { pointer, from: Value::Null, to: plate.map_or_else(|| shown(to), Value::from) }
    };
    known.chain(sent.filter(|(pointer, _)| pointer != "/title")).map(to).collect()
}

/// A value as a plan shows it: a very long one by its beginning.
fn shown(value: Value) -> Value {
    if json_bytes(&value) <= MOST_VALUE_BYTES {
        return value;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{}…", &text[..text.floor_char_boundary(MOST_VALUE_BYTES)]).into()
}

/// The registration number of a new ad, as it is stored.
fn new_plate(change: &StockChange) -> Option<String> {
    let payload = change.body.as_ref().filter(|_| change.kind == ChangeKind::Create)?;
    let sent = payload.get("category_fields")?.get("registration_number")?.as_str()?;
    Some(plate(sent))
}
