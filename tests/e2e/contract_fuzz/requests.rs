//! Requests made from what the document says of an operation.

use std::fmt;

use ad_core::categories::{self, Category, TRAILER};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    mutate::{odd_text, pick, spoil},
    world::{Known, World},
};
use crate::openapi::Described;

/// How a request is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// As the document shows it, about an ad that it is made for.
    Friendly,
    /// Any way.
    Any,
}

/// Whose token it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Dealer,
    Reader,
    Writer,
    Group,
    Nobody,
    Stranger,
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Vec<u8>>,
    pub(super) caller: Caller,
    /// Whether it prefers to wait, where that has an answer of its own.
    pub(super) waits: bool,
    /// Whether the document says that this list is answered.
    pub(super) must_succeed: bool,
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let body: String = body.chars().take(1500).collect();
        write!(formatter, "{:?} {} {} {body}", self.caller, self.method, self.path)
    }
}

/// The category of a typed path.
fn category(operation: &Described) -> Option<&'static Category> {
    let vehicle_type = operation.path.strip_prefix("/v4/")?.split('/').next()?;
    categories::by_vehicle_type(vehicle_type)
}

impl World {
    pub(super) async fn request(&mut self, operation: &Described, mood: Mood) -> Request {
        if mood == Mood::Friendly {
            self.make_ready(operation).await;
        }
        if operation.path.contains("{webhook_id}") {
            self.webhook_id = self.webhook().await;
        }
        if operation.path.starts_with("/v4/stock/plans") {
            self.plan_id = self.plan().await;
        }
        if operation.path.starts_with("/v4/promotions") {
            self.promotion_id = self.promotion().await;
        }
        if operation.path.contains("{event_id}") {
            self.event_id = self.delivered_event().await;
        }
        let (query, query_is_valid) = self.query(operation, mood);
        let path = self.path(operation, mood) + &query;
        let takes_body = self.contract.document.pointer(&format!("{}/requestBody", operation.pointer)).is_some();
        let body = takes_body.then(|| self.body(operation, mood));
        let caller = match self.rng.u8(..24) {
            chosen if mood == Mood::Any && chosen < 6 => *pick(
                &mut self.rng,
                &[Caller::Reader, Caller::Writer, Caller::Group, Caller::Group, Caller::Nobody, Caller::Stranger],
            ),
            _ => Caller::Dealer,
        };
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
        let method = match self.rng.u8(..30) {
            0 if mood == Mood::Any => pick(&mut self.rng, &methods).clone(),
            _ => operation.method.clone(),
        };
        let may_be_missing = operation.path.contains("{source_id}")
            || operation.path.contains("{plan_id}")
            || operation.path.contains("{promotion_id}")
            || operation.path.starts_with("/v4/vehicles");
        let is_list = operation.id.starts_with("list_") && !may_be_missing;
        let must_succeed = is_list && query_is_valid && caller == Caller::Dealer && method == Method::GET;
        let waits = operation.id == "plan_stock" && mood == Mood::Any;
        Request { method, path, body, caller, waits, must_succeed }
    }

    /// Makes an ad on which an operation succeeds.
    async fn make_ready(&mut self, operation: &Described) {
        let category = category(operation);
        let migrates = operation.id.starts_with("migrate_");
        let version = if migrates || operation.path.starts_with("/v3") { "v3" } else { "v4" };
        let from = match category {
            Some(category) if migrates => category.found_under().last(),
            Some(category) => Some(category.id),
            // What is of no category is about a registered vehicle, and migrates to one.
            None if migrates => Some(1121),
            None => Some(1020),
        };
        let Some(from) = from else { return };
        self.ready = if from == TRAILER {
            let unused = self.trailers.iter().rposition(|ad| ad.version == version);
            unused.map(|place| self.trailers.swap_remove(place))
        } else {
            self.create_one(from, version).await
        };
    }

    fn path(&mut self, operation: &Described, mood: Mood) -> String {
        let mut path = operation.path.clone();
        if path.contains("{source_id}") {
            // An empty one makes another operation's path, as a slash at the end is ignored.
            let source_id = Some(self.source_id(operation, mood)).filter(|id| !id.is_empty());
            let source_id = source_id.unwrap_or_else(|| " ".to_owned());
            path = path.replace("{source_id}", &utf8_percent_encode(&source_id, NON_ALPHANUMERIC).to_string());
        }
        if path.contains("{request_id}") {
            let odd = mood == Mood::Any && self.rng.u8(..4) == 0;
            let value = if odd { odd_text(&mut self.rng) } else { self.request_id.clone() };
            path = path.replace("{request_id}", &utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string());
        }
        if path.contains("{plan_id}") {
            let odd = mood == Mood::Any && self.rng.u8(..4) == 0;
            let value = if odd { odd_text(&mut self.rng) } else { self.plan_id.clone() };
            let value = if value.is_empty() { "0".to_owned() } else { value };
            path = path.replace("{plan_id}", &utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string());
        }
        if path.contains("{promotion_id}") {
            let odd = mood == Mood::Any && self.rng.u8(..4) == 0;
            let value = if odd { odd_text(&mut self.rng) } else { self.promotion_id.clone() };
            let value = if value.is_empty() { "0".to_owned() } else { value };
            path = path.replace("{promotion_id}", &utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string());
        }
        if path.contains("{revision}") {
            let odd = mood == Mood::Any && self.rng.u8(..4) == 0;
            let value = if odd { odd_text(&mut self.rng) } else { self.rng.u8(..2).to_string() };
            let value = if mood == Mood::Friendly || value.is_empty() { "0".to_owned() } else { value };
            path = path.replace("{revision}", &utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string());
        }
        path = path.replace("{webhook_id}", &self.webhook_id).replace("{event_id}", &self.event_id);
        for name in ["vehicle_type", "attribute"] {
            let place = format!("{{{name}}}");
            if path.contains(&place) {
                let known = if name == "attribute" {
                    ["brand", "body_type", "powertrain.fuels", "physics.material", "models"]
                } else {
                    ["car", "boat", "motorcycle", "truck", "transport"]
                };
                let odd = mood == Mood::Any && self.rng.u8(..4) == 0;
                let value = if odd { odd_text(&mut self.rng) } else { (*pick(&mut self.rng, &known)).to_owned() };
                let value = if mood == Mood::Friendly { known[0].to_owned() } else { value };
                path = path.replace(&place, &utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string());
            }
        }
        path
    }

    fn source_id(&mut self, operation: &Described, mood: Mood) -> String {
        if mood == Mood::Friendly {
            return self.ready.as_ref().map(|ad| ad.source_id.clone()).unwrap_or_default();
        }
        let category = category(operation);
        let version = match operation.id.split('_').next() {
            Some("migrate") => Some("v3"),
            Some("put" | "patch") => Some(if category.is_some() { "v4" } else { "v3" }),
            _ => None,
        };
        let fits = |ad: &Known| {
            category.is_none_or(|category| category.found_under().any(|id| u64::from(id) == ad.category_id))
        };
        let known = match self.rng.u8(..10) {
            0..5 => self.known(|ad| fits(ad) && version.is_none_or(|version| ad.version == version)),
            5..7 => self.known(fits),
            7..9 => self.known(|_| true),
            _ => None,
        };
        known.map_or_else(|| odd_text(&mut self.rng), |ad| ad.source_id)
    }

    fn body(&mut self, operation: &Described, mood: Mood) -> Vec<u8> {
        let content = format!("{}/requestBody/content/application~1json/examples", operation.pointer);
        let names: Vec<_> = match self.contract.document.pointer(&content).and_then(Value::as_object) {
            Some(examples) => examples.keys().cloned().collect(),
            None => Vec::new(),
        };
        let mut payload = json!({});
        if !names.is_empty() {
            let name = match mood {
                Mood::Friendly => names[0].clone(),
                Mood::Any => pick(&mut self.rng, &names).clone(),
            };
            payload = self.contract.at(&format!("{content}/{name}")).unwrap().1["value"].clone();
        }
        if mood == Mood::Friendly && operation.id == "migrate_ad" {
            payload = self.contract.example("MopedMigrateTo").clone();
        }
        if payload.get("source_id").is_some() {
            payload["source_id"] = match self.rng.u8(..10) {
                0 if mood == Mood::Any => json!(odd_text(&mut self.rng)),
                1 if mood == Mood::Any => json!(self.known(|_| true).map(|ad| ad.source_id)),
                _ => json!(self.fresh_source_id()),
            };
        }
        if let Some(payload) = payload.as_object_mut().filter(|_| self.rng.bool()) {
            payload.remove("image_urls");
        }
        if mood == Mood::Any {
            match self.rng.u8(..40) {
                0 => {
                    return pick(&mut self.rng, &[&b"{"[..], b"", b"[]", b"\"text\"", b"{\xff}", b"{} {}", b"null"])
                        .to_vec();
                }
                1 if self.rng.u8(..10) == 0 => payload["body"] = json!("x".repeat(1 << 20)),
                2..24 => spoil(&mut self.rng, &mut payload),
                _ => {}
            }
        }
        payload.to_string().into_bytes()
    }

    /// A query string, and whether it is as the document describes.
    fn query(&mut self, operation: &Described, mood: Mood) -> (String, bool) {
        let (mut pairs, mut valid) = (Vec::new(), true);
        let parameters: Vec<_> = self.contract.parameters(operation).into_iter().cloned().collect();
        let queried: Vec<_> = parameters.iter().filter(|parameter| parameter["in"] == "query").collect();
        for parameter in &queried {
            let wanted =
                parameter["required"] == true || (mood == Mood::Any && self.rng.usize(..queried.len() + 6) == 0);
            if !wanted {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            let value = match (mood, parameter.get("example").and_then(Value::as_str), self.rng.u8(..6)) {
                (Mood::Friendly, Some(example), _) => example.to_owned(),
                (Mood::Any, _, 0) => {
                    valid = false;
                    odd_text(&mut self.rng)
                }
                _ => self.value(name, parameter),
            };
            pairs.push((name.to_owned(), value));
        }
        if mood == Mood::Any && self.rng.u8(..20) == 0 {
            valid = false;
            pairs.push((odd_text(&mut self.rng), odd_text(&mut self.rng)));
        }
        if mood == Mood::Any
            && self.rng.u8(..40) == 0
            && let Some(again) = pairs.first().cloned()
        {
            valid = false;
            pairs.push(again);
        }
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let query: Vec<_> = pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        (if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) }, valid)
    }

    /// A value that the schema of a parameter allows.
    fn value(&mut self, name: &str, parameter: &Value) -> String {
        let schema = &parameter["schema"];
        if let Some(examples) = parameter["examples"].as_object() {
            let examples: Vec<_> = examples.values().filter_map(|example| example["value"].as_str()).collect();
            return (*pick(&mut self.rng, &examples)).to_owned();
        }
        if schema["type"] == "array" {
            let items: Vec<_> = (0..self.rng.usize(1..4)).map(|_| self.single(name, &schema["items"])).collect();
            return items.join(",");
        }
        self.single(name, schema)
    }

    fn single(&mut self, name: &str, schema: &Value) -> String {
        if let Some(values) = schema["enum"].as_array() {
            return pick(&mut self.rng, values).as_str().unwrap().to_owned();
        }
        match (schema["type"].as_str(), schema["format"].as_str()) {
            (Some("boolean"), _) => self.rng.bool().to_string(),
            (Some("integer"), _) => {
                let (min, max) = (schema["minimum"].as_u64().unwrap(), schema["maximum"].as_u64().unwrap());
                // The greatest page is sent now and then: judging it takes its time.
                let common = if name.starts_with("category_id") { 1140 } else { 2 };
                let ends = [min, common, common, common, common, common, common, common, common, max];
                pick(&mut self.rng, &ends).to_string()
            }
            (_, Some("uuid")) => match self.ids.last() {
                Some(id) if self.rng.bool() => id.clone(),
                _ => "0190c1a0-0000-7000-8000-000000000001".to_owned(),
            },
            _ if ["created", "updated", "at__"].iter().any(|time| name.starts_with(time)) => {
                "2026-01-15 10:00:00".to_owned()
            }
            _ => match self.rng.u8(..4) {
                0 => "north-cars".to_owned(),
                1 => "00003-fuzz".to_owned(),
                2 => "CAR21A".to_owned(),
                _ => "volvo".to_owned(),
            },
        }
    }
}
