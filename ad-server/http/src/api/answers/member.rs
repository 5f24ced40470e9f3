//! Members of answers whose types are of another crate, and schemas as the document has them.

use std::{borrow::Cow, num::NonZeroU64};

use ad_core::{
    model::{
        Action, ActionState, AdState, AdStatus, Amount, ApiVersion, CallAction, ChangeKind, ChangeOutcome,
        ChannelStatus, ChargeState, DeliveryState, DisabledReason, ImageStatus, Level, Market, Month, PlanState,
        PromotionKind, RequestState, Severity, Timestamp, Via, WaitingFor, WebhookProblem, Weekday, WhoActs,
    },
    violation::Code,
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::Serialize;
use serde_json::{Value, json};

use ad_server_access::auth::{Permission, Permissions};

/// A type whose schema stands in place, without a name.
pub(crate) trait Described {
    fn schema() -> MetaSchema;
}

/// A member whose schema is that of the described type. It serialises as the value.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Of<T>(pub(crate) T);

impl<T: Described + Send + Sync> Type for Of<T> {
    const IS_REQUIRED: bool = true;
    type RawValueType = T;
    type RawElementValueType = T;

    fn name() -> Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(T::schema()))
    }

    fn as_raw_value(&self) -> Option<&T> {
        Some(&self.0)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a T> + 'a> {
        Box::new(std::iter::once(&self.0))
    }
}

impl<T: Described + Serialize + Send + Sync> ToJSON for Of<T> {
    fn to_json(&self) -> Option<Value> {
        Some(json!(self.0))
    }
}

impl<T: Described + Send + Sync> ParseFromJSON for Of<T> {
    fn parse_from_json(_: Option<Value>) -> ParseResult<Self> {
        Err(ParseError::custom("answers are only sent"))
    }
}

/// The schema of an object whose members are always there, `null` without a value.
pub(super) fn complete(mut schema: MetaSchema) -> MetaSchema {
    for (name, member) in &mut schema.properties {
        if let (false, MetaSchemaRef::Inline(member)) = (schema.required.contains(name), member) {
            member.nullable = true;
            // In OpenAPI 3.0 a nullable enum must contain null.
            member.enum_items.extend((!member.enum_items.is_empty()).then_some(Value::Null));
        }
    }
    schema.required = schema.properties.iter().map(|(name, _)| *name).collect();
    schema
}

/// The schema of a type that has one, in place of a reference to it.
pub(super) fn in_place<T: Type>() -> MetaSchema {
    Registry::new().create_fake_schema::<T>()
}

/// A text that is one of these names.
fn one_of<N: Into<Value>>(names: impl IntoIterator<Item = N>) -> MetaSchema {
    MetaSchema { enum_items: names.into_iter().map(Into::into).collect(), ..MetaSchema::new("string") }
}

macro_rules! described {
    ($($type:ty => $schema:expr,)+) => {$(
        impl crate::api::answers::Described for $type {
            fn schema() -> poem_openapi::registry::MetaSchema {
                $schema
            }
        }
    )+};
}
pub(super) use described;

macro_rules! named {
    ($($type:ty)+) => { described! { $($type => one_of(<$type>::NAMES.iter().copied()),)+ } };
}

named! {
    Action ActionState AdState AdStatus ApiVersion CallAction ChangeKind ChangeOutcome ChannelStatus ChargeState DeliveryState
    ImageStatus Level Market PlanState PromotionKind RequestState Severity Via WaitingFor WebhookProblem Weekday WhoActs
}

described! {
    Amount => MetaSchema {
        minimum: Some(0.0),
        multiple_of: Some(0.01),
        example: Some(29.5.into()),
        description: Some("In the currency, with at most two decimals"),
        ..MetaSchema::new("number")
    },
    Month => MetaSchema {
        pattern: Some("^[0-9]{4}-[0-9]{2}$".to_owned()),
        example: Some("2026-11".into()),
        ..MetaSchema::new("string")
    },
    DisabledReason => MetaSchema { example: Some("gone".into()), ..one_of(DisabledReason::NAMES.iter().copied()) },
    NonZeroU64 => MetaSchema { minimum: Some(1.0), ..MetaSchema::new("integer") },
    Timestamp => MetaSchema::new_with_format("string", "date-time"),
    Code => MetaSchema { pattern: Some("^[a-z][a-z0-9_]*$".to_owned()), ..MetaSchema::new("string") },
    Permission => one_of(Permissions::ALL.iter().map(|permission| permission.to_string())),
    Address => MetaSchema::new_with_format("string", "uri"),
}

/// An absolute address.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Address(pub(crate) String);

impl AsRef<str> for Address {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A schema of poem-openapi as the document has it: numbers without the widths of Rust's types, bounds without fractions, and a
/// description in one line.
pub(super) fn plain(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            let is_number = members.get("type").is_some_and(|of| of == "integer" || of == "number");
            if let Some(Value::String(format)) = members.get("format").filter(|_| is_number) {
                let unsigned = format.starts_with('u');
                members.remove("format");
                if unsigned {
                    members.entry("minimum").or_insert(json!(0));
                }
            }
            // The name of the Rust type.
            if members.get("title").is_some_and(Value::is_string) {
                members.remove("title");
            }
            if members.contains_key("anyOf") {
                members.remove("type");
            }
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("description", Value::String(text)) => *text = text.replace('\n', " "),
                    ("minimum" | "maximum", number) => *number = whole(number),
                    ("additionalProperties", open) if *open == json!({}) => *open = json!(true),
                    (_, member) => *member = plain(member.take()),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = plain(item.take())),
        _ => {}
    }
    schema
}

/// A bound without its fraction, which none has.
#[expect(clippy::cast_possible_truncation, reason = "bounds are small")]
fn whole(number: &Value) -> Value {
    number.as_f64().map_or_else(|| number.clone(), |number| json!(number as i64))
}
