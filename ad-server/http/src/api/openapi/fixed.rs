//! The parts of the document that depend on no table. They are in `fixed.json`, where the `enum` of a schema is the name of a list of
//! names of the code, and `x-codeSamples` is the address of the sample.

use ad_core::{
    categories,
    model::{
        Action, ActionState, AdState, AdStatus, ApiVersion, ChannelStatus, DeliveryState, DisabledReason, ImageStatus,
        Level, MOST_EARLIER_PRICES, Market, RequestState, Severity, WaitingFor, WhoActs,
    },
    parameters::MAX_EVENTS,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{answers::page, nullable};
use crate::api::compression::Coding;
use ad_server_access::auth::Permissions;

/// Tags, paths, and the components by their kind.
#[derive(Deserialize)]
pub(super) struct FixedParts {
    pub(super) tags: Vec<Value>,
    pub(super) paths: Map<String, Value>,
    pub(super) schemas: Map<String, Value>,
    pub(super) parameters: Map<String, Value>,
    pub(super) headers: Value,
    pub(super) examples: Map<String, Value>,
    /// The requests that the service sends, for OpenAPI 3.1.
    pub(super) webhooks: Value,
}

impl FixedParts {
    pub(super) fn read() -> Self {
        let text = include_str!("fixed.json").replace("{good}", &Level::GOOD.to_string());
        let text = text.replace("{excellent}", &Level::EXCELLENT.to_string());
        let mut parts: Value = serde_json::from_str(&text).expect("a test reads it");
        fill_enums(&mut parts);
        let mut parts = Self::deserialize(parts).expect("a test reads it");
        parts.schemas["EventPage"]["properties"]["events"]["maxItems"] = json!(MAX_EVENTS);
        parts.schemas["PriceHistory"]["properties"]["history"]["maxItems"] = json!(MOST_EARLIER_PRICES);
        let pages = [
            ("LogEntry", "LogPage", "A page of the log"),
            ("Webhook", "WebhookPage", "Webhooks, oldest first"),
            ("Delivery", "DeliveryPage", "Deliveries, newest first"),
        ];
        parts.schemas.extend(pages.map(|(row, name, description)| (name.to_owned(), page(row, description))));
        parts
    }
}

/// Replaces the name of each enumeration by its values.
fn fill_enums(part: &mut Value) {
    if let Some(values) = part["enum"].as_str().map(values) {
        part["enum"] = values;
        if part["nullable"] == true {
            nullable(part);
        }
    }
    match part {
        Value::Object(members) => members.values_mut().for_each(fill_enums),
        Value::Array(items) => items.iter_mut().for_each(fill_enums),
        _ => {}
    }
}

fn values(of: &str) -> Value {
    json!(match of {
        "Action" => Action::NAMES,
        "ActionState" => ActionState::NAMES,
        "AdState" => AdState::NAMES,
        "AdStatus" => AdStatus::NAMES,
        "ApiVersion" => ApiVersion::NAMES,
        "ChannelStatus" => ChannelStatus::NAMES,
        "Coding" => return Coding::ALL.iter().map(|it| it.name().to_str().unwrap_or_default().to_owned()).collect(),
        "DeliveryState" => DeliveryState::NAMES,
        "DisabledReason" => DisabledReason::NAMES,
        "ImageStatus" => ImageStatus::NAMES,
        "Level" => Level::NAMES,
        "Market" => Market::NAMES,
        "Permission" => return Permissions::ALL.iter().map(|permission| permission.to_string()).collect(),
        "RequestState" => RequestState::NAMES,
        "Severity" => Severity::NAMES,
        "VehicleType" => return categories::typed().map(|(vehicle_type, _)| vehicle_type).collect(),
        "WaitingFor" => WaitingFor::NAMES,
        "WhoActs" => WhoActs::NAMES,
        _ => panic!("fixed.json: unknown enum {of}"),
    })
}
