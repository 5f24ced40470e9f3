//! What the tests share: payloads, a desk that checks them, and a house that runs them.

use std::{sync::Arc, time::Duration};

use ad_core::{
    categories::{Category, by_vehicle_type},
    memory::{Kit, ManualClock, one_pixel},
    model::{ActionState, Ad, AdState, ApiVersion, Dealer, Exclusions, Included, LogEntry, Market, Page, Timestamp},
    ports::{Clock, Ids},
    rulebook::{CheckedPayload, Rulebook, SourceId, WriteContext, merge::merge},
    service::{Access, ServiceError, Target},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub(crate) const DEALER: &str = "north-cars";

/// A sample of the contract, by its file name.
macro_rules! sample {
    ($name:literal) => {
        serde_json::from_str::<serde_json::Value>(include_str!(concat!("../payloads/", $name, ".json"))).unwrap()
    };
}
pub(crate) use sample;

pub(crate) fn car() -> Value {
    sample!("car-v4")
}

pub(crate) fn boat() -> Value {
    sample!("boat-v4")
}

/// A payload with another laid over it; a `null` stays as it is sent.
pub(crate) fn with(base: &Value, over: Value) -> Value {
    Value::Object(merge(base.as_object().unwrap(), object(over)))
}

/// A payload without the member at a dotted path.
pub(crate) fn without(mut payload: Value, path: &str) -> Value {
    let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
    let place = above.split('.').filter(|name| !name.is_empty()).fold(&mut payload, |place, name| &mut place[name]);
    place.as_object_mut().unwrap().remove(name).unwrap();
    payload
}

/// A car of which only the category fields matter.
#[expect(clippy::needless_pass_by_value, reason = "reads better with json!")]
pub(crate) fn car_of(fields: Value) -> Value {
    let car = json!({"source_id": "c", "category_id": 1020,
        "category_fields": {"registration_number": "ABC123", "model_year": 2019}});
    with(&car, json!({"category_fields": fields}))
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value} is not an object") };
    object
}

pub(crate) fn dealer() -> Dealer {
    Dealer {
        group: Some("nord".to_owned()),
        salespersons: vec!["anna@north.example".to_owned()],
        bump: vec![Market::Primary, Market::Secondary],
        ..Dealer::named(DEALER)
    }
}

pub(crate) fn seller_online() -> Dealer {
    Dealer { products: vec!["online_purchase".to_owned()], ..dealer() }
}

/// Checks payloads of one dealer.
pub(crate) struct Desk(pub(crate) Dealer);

impl Desk {
    /// What a create makes of a payload, or its errors.
    pub(crate) fn create(&self, vehicle_type: &str, payload: Value) -> Result<CheckedPayload, Value> {
        Rulebook::default()
            .create(self.write(vehicle_type), object(payload), SourceId::Required)
            .map_err(|errors| json!(errors))
    }

    /// The ad that a payload becomes.
    pub(crate) fn stored(&self, vehicle_type: &str, payload: Value) -> Ad {
        let checked = self.create(vehicle_type, payload).unwrap();
        let now = ManualClock::default().now();
        Ad {
            id: Uuid::from_u128(1),
            source_id: checked.source_id,
            dealer_code: self.0.code.clone(),
            category_id: by_vehicle_type(vehicle_type).unwrap().id,
            state: AdState::Created,
            api_version: ApiVersion::V4,
            content: checked.content,
            image_refs: Vec::new(),
            marketplace_ad_id: None,
            offer_id: None,
            created: now,
            updated: now,
        }
    }

    /// The ad with a patch laid over it, or the errors.
    pub(crate) fn update(&self, ad: &Ad, patch: Value) -> Result<Ad, Value> {
        let checked = self.checked(ad, patch)?;
        Ok(Ad { content: checked.content, ..ad.clone() })
    }

    /// The result of an update with its warnings, or the errors.
    pub(crate) fn checked(&self, ad: &Ad, patch: Value) -> Result<CheckedPayload, Value> {
        let write = self.write(ad.category().unwrap().vehicle_type.unwrap());
        Rulebook::default().update(write, ad, object(patch)).map_err(|errors| json!(errors))
    }

    fn write(&self, vehicle_type: &str) -> WriteContext<'_> {
        WriteContext {
            category: by_vehicle_type(vehicle_type).unwrap(),
            version: ApiVersion::V4,
            dealer: Some(&self.0),
        }
    }
}

/// Errors without what is said behind them: the first text at each place.
pub(crate) fn alone(errors: Value) -> Value {
    match errors {
        Value::Array(texts) => json!([texts[0]]),
        Value::Object(members) => members.into_iter().map(|(name, below)| (name, alone(below))).collect(),
        other => other,
    }
}

/// The errors of a create.
pub(crate) fn refused(vehicle_type: &str, payload: Value) -> Value {
    Desk(dealer()).create(vehicle_type, payload).unwrap_err()
}

/// The content that a create stores.
pub(crate) fn accepted(vehicle_type: &str, payload: Value) -> Value {
    json!(Desk(dealer()).create(vehicle_type, payload).unwrap().content)
}

/// The whole service in memory, at ten in the morning.
pub(crate) struct House {
    pub(crate) kit: Kit,
    pub(crate) clock: Arc<ManualClock>,
}

impl House {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let kit = Kit::new(clock.clone(), [dealer()]);
        for (mark, url) in [(1, "1.jpg"), (2, "2.jpg"), (3, "b1.jpg")] {
            kit.images.put(&format!("https://cdn.example.com/{url}"), one_pixel(mark));
        }
        Self { kit, clock }
    }

    /// A house with one ad that has been published.
    pub(crate) async fn with(vehicle_type: &str, payload: Value) -> (Self, Ad) {
        let house = Self::new();
        house.create(vehicle_type, payload).await.unwrap();
        house.run().await;
        let ad = house.ad().await;
        (house, ad)
    }

    pub(crate) async fn create(&self, vehicle_type: &str, payload: Value) -> Result<Ad, ServiceError> {
        let id = self.kit.ids.next();
        self.kit.service.create(&access(), id, category(vehicle_type), object(payload)).await.map(|answer| answer.ad)
    }

    pub(crate) async fn update(&self, source_id: &str, patch: Value) -> Result<Ad, ServiceError> {
        let id = self.kit.ids.next();
        self.kit
            .service
            .update(&access(), id, ApiVersion::V4, target(source_id), &object(patch))
            .await
            .map(|answer| answer.ad)
    }

    pub(crate) async fn delete(&self, source_id: &str) -> Result<Ad, ServiceError> {
        self.kit.service.delete(&access(), self.kit.ids.next(), target(source_id)).await.map(|answer| answer.ad)
    }

    pub(crate) async fn bump(&self, source_id: &str, exclude: Exclusions) -> Result<Ad, ServiceError> {
        self.kit.service.bump(&access(), self.kit.ids.next(), target(source_id), exclude).await.map(|answer| answer.ad)
    }

    pub(crate) async fn pole_position(&self, source_id: &str) -> Result<Ad, ServiceError> {
        self.kit.service.pole_position(&access(), self.kit.ids.next(), target(source_id)).await.map(|answer| answer.ad)
    }

    pub(crate) async fn retry(&self, source_id: &str) -> Result<Ad, ServiceError> {
        self.kit.service.retry(&access(), self.kit.ids.next(), target(source_id)).await.map(|answer| answer.ad)
    }

    /// Runs all requests that are due; returns their number.
    pub(crate) fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn run(&self) -> usize {
        self.kit.pipeline.run_due().await.unwrap()
    }

    /// Runs everything, moving the clock to whatever waits; returns the pauses.
    pub(crate) async fn run_to_the_end(&self) -> Vec<Duration> {
        let mut pauses = Vec::new();
        loop {
            self.run().await;
            let Some(due) = self.next_due().await else { return pauses };
            pauses.push(due - self.clock.now());
            self.clock.set(due);
        }
    }

    async fn next_due(&self) -> Option<ad_core::model::Timestamp> {
        use ad_core::ports::Store;
        let now = self.clock.now();
        let claims = self.kit.store.claim(now, now, 0.into()).await.unwrap();
        claims.next_due
    }

    /// The ad with the latest creation.
    pub(crate) async fn ad(&self) -> Ad {
        self.ads().await.pop().unwrap().0
    }

    /// The only ad's log as `action state: message`, the entries of the latest requests only.
    pub(crate) async fn log(&self, requests: usize) -> Vec<String> {
        let (_, log) = self.ads().await.pop().unwrap();
        entry_texts(&log, requests)
    }

    pub(crate) async fn ads(&self) -> Vec<(Ad, Vec<LogEntry>)> {
        let query = ad_core::model::AdQuery {
            filters: Vec::new(),
            order: ad_core::model::AdOrder::Created,
            descending: false,
            page: Page { limit: 500, offset: 0 },
            fields: None,
            included: Included { log: true, status: false, quality: false, warnings: false },
        };
        let page = self.kit.service.list(&access(), None, query).await.unwrap();
        page.rows.into_iter().map(|listed| (listed.ad, listed.log)).collect()
    }
}

/// Log entries as `action state: message`, those of the latest requests only; of an action that is done the text of the message.
pub(crate) fn entry_texts(log: &[LogEntry], requests: usize) -> Vec<String> {
    let mut ids: Vec<Uuid> = Vec::new();
    for entry in log.iter().rev() {
        if !ids.contains(&entry.request_id) {
            ids.push(entry.request_id);
        }
    }
    ids.truncate(requests);
    let tell = |entry: &LogEntry| {
        let is_done = entry.state == ActionState::Done;
        let text = entry.external_message.get("message").filter(|_| is_done).unwrap_or(&entry.external_message);
        let message = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        format!("{} {}: {message}", entry.action, entry.state)
    };
    log.iter().filter(|entry| ids.contains(&entry.request_id)).map(tell).collect()
}

/// The texts of a refusal by business rules.
pub(crate) fn reasons<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> Vec<String> {
    match result {
        Err(ServiceError::Refused(reasons)) => reasons.into_iter().map(|denial| denial.text).collect(),
        other => panic!("not refused: {other:?}"),
    }
}

pub(crate) fn access() -> Access {
    Access::Dealer(DEALER.to_owned())
}

pub(crate) fn target(source_id: &str) -> Target<'_> {
    Target::from(source_id)
}

pub(crate) fn category(vehicle_type: &str) -> &'static Category {
    by_vehicle_type(vehicle_type).unwrap()
}
