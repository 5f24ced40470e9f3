//! Lookups under `/v4/vehicles/` ('Attribute lookup entries', decision 31).
//!
//! The catalogue does not change while the process runs, so each answer is rendered once and kept as a [`StaticDocument`]. Refusals
//! are not kept, so there are at most as many documents as lists in the catalogue.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use ad_core::{
    categories::{self, Category},
    fields::{FieldErrors, Kind},
    lock::locked,
    synonyms::names::Names,
    violation::{Choices, Violation, nearest},
};
use bytes::Bytes;
use poem::{Endpoint, Request, Response, Result, http::Method};

use super::{
    ApiError, Context, body, compression::Coding, errors::json_bytes, headers, missing, observe::Routes,
    static_document::StaticDocument,
};
use ad_server_access::auth::Permission;

pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    let lookup = Lookup { context: Arc::clone(context), documents: Mutex::default() };
    route.at("/v4/vehicles/:vehicle_type/:attribute", lookup)
}

/// Category id, attribute and brand of a lookup.
type LookupKey = (u16, String, Option<String>);

/// The attributes of a vehicle type, the values of one, and the models of a brand.
struct Lookup {
    context: Arc<Context>,
    documents: Mutex<HashMap<LookupKey, StaticDocument>>,
}

impl Endpoint for Lookup {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        Ok(match self.answer(&request).await {
            Ok(response) => headers::to_token(response, headers::LOOKUP),
            Err(error) => headers::to_token(error.response(), headers::PRIVATE),
        })
    }
}

impl Lookup {
    async fn answer(&self, request: &Request) -> Result<Response, ApiError> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(ApiError::read_only(Some(request.method())));
        }
        self.context.access(request, Permission::Read)?;
        let vehicle_type = request.raw_path_param("vehicle_type").unwrap_or_default();
        let attribute = request.raw_path_param("attribute").unwrap_or_default();
        let category = categories::by_vehicle_type(vehicle_type).ok_or_else(|| unknown_vehicle_type(vehicle_type))?;
        let query = body::query(request)?;
        let brand = query.iter().find(|(name, _)| name == "brand").map(|(_, brand)| brand.clone());
        let key = (category.id, attribute.to_owned(), brand);
        let is_plain = query.len() == usize::from(key.2.is_some());
        let known = if is_plain { locked(&self.documents).get(&key).cloned() } else { None };
        let document = if let Some(document) = known {
            document
        } else {
            let entries = Bytes::from(self.entries(vehicle_type, category, attribute, &query)?);
            let document = StaticDocument::new("application/json", headers::LOOKUP, move || entries.clone().into());
            if is_plain {
                locked(&self.documents).insert(key, document.clone());
            }
            document
        };
        document.answer(request.data::<Coding>().copied()).await
    }

    /// The values of the lookup, as JSON.
    fn entries(
        &self,
        vehicle_type: &str,
        category: &'static Category,
        attribute: &str,
        query: &[(String, String)],
    ) -> Result<Vec<u8>, ApiError> {
        if attribute == "models" && models_file(category).is_some() {
            return json_bytes(&self.models(category, query)?);
        }
        let known = if attribute == "attributes" {
            category.attributes()
        } else {
            let values = category.values(&self.context.service.rulebook().catalogue, attribute);
            values.ok_or_else(|| unknown_attribute(vehicle_type, category, attribute))?
        };
        // 404 comes before errors of parameters.
        let Some((name, _)) = query.first() else { return json_bytes(&known) };
        let mut errors = FieldErrors::default();
        errors.push(name, Violation::UnknownParameter { meant: Vec::new() });
        Err(errors.into())
    }

    fn models(
        &self,
        category: &'static Category,
        query: &[(String, String)],
    ) -> Result<&[ad_core::catalogue::Entry], ApiError> {
        let catalogue = &self.context.service.rulebook().catalogue;
        let mut errors = FieldErrors::default();
        for (name, _) in query.iter().filter(|(name, _)| name != "brand") {
            errors.push(name, Violation::UnknownParameter { meant: Vec::new() });
        }
        let brand = query.iter().find(|(name, _)| name == "brand").map(|(_, brand)| brand.as_str());
        let models = brand.zip(models_file(category)).map(|(brand, file)| catalogue.models(file, brand));
        match (brand, models) {
            (Some(_), Some(models)) if !models.is_empty() && errors.is_empty() => return Ok(models.entries()),
            (Some(_), Some(models)) if !models.is_empty() => {}
            (Some(brand), _) => {
                let meant = match category.field("brand").map(|field| field.kind) {
                    Some(Kind::Slug { list }) => nearest::similar(brand, catalogue.list(list).ids()),
                    _ => Vec::new(),
                };
                let choices = Choices::Meant(meant.into_iter().map(str::to_owned).collect());
                let sent = format!("\"{brand}\"");
                errors.push("brand", Violation::NotAChoice { sent, choices, note: None });
            }
            (None, _) => errors.push("brand", Violation::Required),
        }
        Err(errors.into())
    }
}

fn models_file(category: &Category) -> Option<&'static str> {
    match category.field("model")?.kind {
        Kind::Model { list } => Some(list),
        _ => None,
    }
}

/// The refusal of an unknown vehicle type, with the known ones.
pub(super) fn unknown_vehicle_type(vehicle_type: &str) -> ApiError {
    let known = nearest::quoted(categories::typed().map(|(vehicle_type, _)| vehicle_type));
    let meant = missing::bases(vehicle_type);
    let hint = nearest::did_you_mean_one_of(meant.iter().map(String::as_str).filter(|name| *name != "ad"));
    let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
    ApiError::NotFound(format!("There is no vehicle type \"{vehicle_type}\"; there are {known}.{hint}"))
}

fn unknown_attribute(vehicle_type: &str, category: &Category, attribute: &str) -> ApiError {
    let known = category.attributes();
    let hint = match (attribute, models_file(category)) {
        ("model", Some(_)) => {
            format!("The models depend on the brand: GET /v4/vehicles/{vehicle_type}/models?brand=volvo.")
        }
        ("model" | "models", None) => "Models of this vehicle type are free text.".to_owned(),
        _ => {
            let hint = Names::builtin().did_you_mean(attribute, known.iter().map(|entry| entry.id.as_str()));
            hint.unwrap_or_else(|| format!("See GET /v4/vehicles/{vehicle_type}/attributes."))
        }
    };
    ApiError::NotFound(format!("Vehicle type \"{vehicle_type}\" has no attribute \"{attribute}\". {hint}"))
}
