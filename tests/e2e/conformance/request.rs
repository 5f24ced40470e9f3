//! Requests as the tables write them.

use reqwest::Method;
use serde_json::{Value, json};

use super::pattern::{laid_over, nested};

/// Whose token a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Dealer `north-cars`: one salesperson, online purchase, bump on both marketplaces.
    North,
    /// Dealer `coast-boats` of the same group: bump on the primary marketplace.
    Coast,
    /// Dealer `south-cars` of another group: no products, no permission to bump, euros.
    South,
    /// Dealer `quiet-cars`, which nobody else uses and the directory does not know.
    Quiet,
    /// The group `north`.
    Group,
    /// `north-cars` with the permission `read` only.
    Reader,
    /// `north-cars` with the permission `write` only.
    Writer,
    /// `north-cars` with the permission `promote` only.
    Promoter,
    Nobody,
    /// This text as a token.
    Bearer(&'static str),
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) who: Who,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Vec<u8>>,
}

impl Request {
    fn new(method: Method, path: impl Into<String>, body: Option<&Value>) -> Self {
        let body = body.map(|body| body.to_string().into_bytes());
        Self { who: Who::North, method, path: path.into(), headers: Vec::new(), body }
    }

    /// The same from somebody else.
    pub(super) fn by(self, who: Who) -> Self {
        Self { who, ..self }
    }

    /// The same with this header too.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Whether it asks what would be stored.
    pub(super) fn validates(&self) -> bool {
        self.method == Method::POST && self.path.ends_with("/validate")
    }

    /// As somebody would write it down.
    pub(super) fn told(&self) -> String {
        let body = self.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let body: String = body.chars().take(1500).collect();
        format!("{} {} {body} (as {:?}, {:?})", self.method, self.path, self.who, self.headers)
    }
}

pub(super) fn get(path: impl Into<String>) -> Request {
    Request::new(Method::GET, path, None)
}

pub(super) fn delete(path: impl Into<String>) -> Request {
    Request::new(Method::DELETE, path, None)
}

pub(super) fn post(path: impl Into<String>, body: &Value) -> Request {
    Request::new(Method::POST, path, Some(body))
}

pub(super) fn patch(path: impl Into<String>, body: &Value) -> Request {
    Request::new(Method::PATCH, path, Some(body))
}

pub(super) fn put(path: impl Into<String>, body: &Value) -> Request {
    Request::new(Method::PUT, path, Some(body))
}

/// A request with this text as its body, whatever it is.
pub(super) fn raw(method: Method, path: &str, body: &str) -> Request {
    Request { body: Some(body.as_bytes().to_vec()), ..Request::new(method, path, None) }
}

/// The vehicle types with their categories in V4; those of registered vehicles first ('Category identifiers').
pub(super) const TYPES: [(&str, u16); 16] = [
    ("car", 1020),
    ("transport", 1021),
    ("motorcycle", 1140),
    ("moped", 1121),
    ("snowmobile", 1180),
    ("atv", 1143),
    ("camper", 1102),
    ("caravan", 1101),
    ("trailer", 1045),
    ("boat", 1060),
    ("agriculture-thresher", 1227),
    ("agriculture-tractor", 1228),
    ("agriculture-tools", 1229),
    ("bus", 1321),
    ("truck", 1322),
    ("construction", 1323),
];

/// Vehicle types of registered vehicles.
pub(super) fn registered() -> impl Iterator<Item = &'static str> {
    TYPES[..9].iter().map(|(vehicle_type, _)| *vehicle_type)
}

/// Those of registered vehicles that can be created.
pub(super) fn registered_and_created() -> impl Iterator<Item = &'static str> {
    registered().filter(|vehicle_type| *vehicle_type != "trailer")
}

/// Vehicle types of unregistered vehicles.
pub(super) fn unregistered() -> impl Iterator<Item = &'static str> {
    TYPES[9..].iter().map(|(vehicle_type, _)| *vehicle_type)
}

/// The V4 category of a vehicle type.
pub(super) fn category(vehicle_type: &str) -> u16 {
    TYPES.iter().find(|(name, _)| *name == vehicle_type).map(|(_, id)| *id).expect("the tables name known types")
}

/// An ad of this category with nothing but what is required, and `over` laid over it.
pub(super) fn ad_of(category: u16, over: &Value) -> Value {
    let registered = TYPES[..9].iter().any(|(_, id)| *id == category);
    let base = if registered {
        json!({"category_id": category, "category_fields": {"registration_number": "ABC123", "model_year": 2019}})
    } else {
        json!({"category_id": category, "title": "To be sold", "contact": {"email": "bo@boats.example"},
            "category_fields": {}})
    };
    laid_over(base, over)
}

/// An ad of this vehicle type with nothing but what is required, and `over` laid over it.
pub(super) fn ad(vehicle_type: &str, over: &Value) -> Value {
    ad_of(category(vehicle_type), over)
}

/// Asks what an ad of this type would be stored as.
pub(super) fn validate(vehicle_type: &str, over: &Value) -> Request {
    post(format!("/v4/{vehicle_type}/validate"), &ad(vehicle_type, over))
}

/// The same with this value at a path of `category_fields`.
pub(super) fn validate_field(vehicle_type: &str, path: &str, value: Value) -> Request {
    validate(vehicle_type, &fields(path, value))
}

/// The same for V3.
pub(super) fn validate_v3(category: u16, over: &Value) -> Request {
    post("/v3/ad/validate", &ad_of(category, over))
}

/// An ad that has this at a path of its `category_fields`.
pub(super) fn fields(path: &str, value: Value) -> Value {
    nested(&format!("category_fields.{path}"), value)
}
