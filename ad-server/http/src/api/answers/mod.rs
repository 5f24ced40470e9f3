//! Answers as types with schemas, which the OpenAPI document shows. Types of lower floors and of ad-core, which know nothing of
//! OpenAPI, have a counterpart here with the same members. What depends on the field tables (ads, payloads) has no type: the document
//! describes it from the tables.

mod account;
mod ads;
mod member;
mod promotions;
mod requests;
mod stock;
mod token;
mod webhooks;

use ad_core::model::MOST_EARLIER_PRICES;
use ad_parameters::MAX_EVENTS;
use poem_openapi::{
    registry::{MetaSchema, Registry},
    types::Type,
};
use serde_json::{Map, Value, json};

pub(super) use self::{
    member::{Address, Described, Of},
    token::Me,
    webhooks::{NewWebhookView, WebhookView},
};
use super::problem::{Detail, Problem};

/// Declares types with their schemas; texts after `=>` are the descriptions of members. A type that is sent as another crate or module
/// has it names that one after `=`: the compiler checks that both have the same members. Those in brackets are not sent.
macro_rules! answers {
    () => {};
    ($(#[$about:meta])* $name:ident = $of:path $([$($unsent:ident)+])? {
        $($(#[$attribute:meta])* $member:ident: $type:ty $(=> $description:literal)?,)+
    } $($others:tt)*) => {
        const _: fn($of) = |sent| { let $of { $($member: _,)+ $($($unsent: _,)+)? } = sent; };
        answers! { $(#[$about])* $name { $($(#[$attribute])* $member: $type $(=> $description)?,)+ } $($others)* }
    };
    ($(#[$about:meta])* $name:ident {
        $($(#[$attribute:meta])* $member:ident: $type:ty $(=> $description:literal)?,)+
    } $($others:tt)*) => {
        #[derive(poem_openapi::Object)]
        #[allow(clippy::struct_field_names, reason = "the contract names the members")]
        $(#[$about])*
        pub(crate) struct $name { $($(#[$attribute])* $(#[doc = $description])? $member: $type,)+ }
        answers! { $($others)* }
    };
}
pub(super) use answers;

/// Bodies of requests, which have no other members.
const BODIES: &[&str] =
    &["OwnBudget", "PromotionInput", "PromotionPatch", "WebhookInput", "WebhookPatch", "WebhookReplay"];

/// Types that leave members without a value out; in all others those are `null`.
const SPARSE: &[&str] = &["ChangeError", "FieldProblem", "LookupEntry", "Problem", "QualityFinding"];

/// Members that are left out while they have no value, of types in which others are `null`.
const LEFT_OUT: &[(&str, &str)] = &[
    ("Webhook", "problem"),
    ("NewWebhook", "problem"),
    ("Event", "cost"),
    ("Quality", "promotions"),
    ("Me", "http_images"),
];

/// The schemas of all types, by their names.
pub(super) fn schemas() -> Map<String, Value> {
    let mut registry = Registry::new();
    macro_rules! register {
        ($($type:ty),+ $(,)?) => {{ $(<$type>::register(&mut registry);)+ }};
    }
    register!(
        Detail,
        Problem,
        Me,
        WebhookView,
        NewWebhookView,
        account::Account,
        account::Charge,
        account::OwnBudget,
        ads::ImageRef,
        ads::LogDetails,
        ads::LogEntry,
        ads::LookupEntry,
        ads::MarketplaceCall,
        ads::PriceHistory,
        ads::Quality,
        ads::QualitySummary,
        ads::Revision,
        ads::Warning,
        promotions::Promotion,
        promotions::PromotionInput,
        promotions::PromotionPatch,
        promotions::PromotionPreview,
        promotions::PromotionRun,
        requests::AdStatus,
        requests::EventPage,
        requests::RequestStatus,
        requests::Summary,
        stock::PlannedChange,
        stock::StockPlan,
        webhooks::Delivery,
        webhooks::WebhookInput,
        webhooks::WebhookPatch,
        webhooks::WebhookReplay,
    );
    let as_sent = |(name, schema): (String, MetaSchema)| {
        let is_sparse = SPARSE.iter().chain(BODIES).any(|sparse| *sparse == name);
        (name, member::plain(json!(if is_sparse { schema } else { member::complete(schema) })))
    };
    let mut schemas: Map<_, _> = registry.schemas.into_iter().map(as_sent).collect();
    for (name, left_out) in LEFT_OUT {
        if let Some(required) = schemas[*name]["required"].as_array_mut() {
            required.retain(|member| member != left_out);
        }
        // Beside a reference, it would not allow null.
        if let Some(member) = schemas[*name]["properties"][*left_out].as_object_mut()
            && member.contains_key("allOf")
        {
            member.remove("nullable");
        }
    }
    // The examples are of a service in production.
    schemas["Me"]["properties"]["http_images"]["example"] = json!(true);
    // No event of the examples is a promotion, and other properties of these names are numbers.
    schemas["PromotionCost"]["properties"]["currency"]["example"] = json!("SEK");
    schemas["Event"]["properties"]["cost"]["example"] = json!({"amount": 59, "currency": "SEK"});
    schemas["Account"]["properties"]["budget"]["example"] =
        json!({"most": 1500, "own": 1000, "spent": 29.5, "reserved": 0, "left": 970.5});
    // `null` is a value of its own, and nothing else is sent for it.
    schemas["OwnBudget"]["required"] = json!(["own"]);
    schemas["OwnBudget"]["properties"]["own"]["nullable"] = json!(true);
    schemas["EventPage"]["properties"]["events"]["maxItems"] = json!(MAX_EVENTS);
    schemas["PriceHistory"]["properties"]["history"]["maxItems"] = json!(MOST_EARLIER_PRICES);
    // No tariff has a price for what a plan does.
    schemas["PlannedDealer"]["properties"]["cost"]["example"] = json!(0);
    // Other findings are a list.
    schemas["QualitySummary"]["properties"]["findings"]["example"] = json!(2);
    for name in ["Promotion", "PromotionInput", "PromotionPatch"] {
        schemas[name]["properties"]["select"]["additionalProperties"] = json!(true);
    }
    for body in BODIES {
        schemas[*body]["additionalProperties"] = json!(false);
    }
    schemas
}

/// The schema of the body of what a webhook is sent.
pub(super) fn webhook_request() -> Value {
    member::plain(json!(Registry::new().create_fake_schema::<webhooks::WebhookRequest>()))
}
