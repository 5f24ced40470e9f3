//! Lookups under `/v4/vehicles/` ('Attribute lookup entries', decision 31).
//!
//! The catalogue does not change while the process runs, so each answer is rendered once and kept as a [`StaticDocument`]. Refusals
//! are not kept, so there are at most as many documents as lists in the catalogue.

use std::{collections::HashMap, sync::Mutex};

use ad_core::{
    catalogue::Entry,
    categories::{self, Category},
    fields::{FieldErrors, Kind},
    lock::locked,
    synonyms::names::Names,
    violation::{Choices, Violation, nearest},
};
use ad_parameters::{FromParameters, Parameter};
use bytes::Bytes;

use super::{
    ApiError, Context, call::Call, compression::Coding, errors::json_bytes, handler::ApiResult, headers, missing,
    static_document::StaticDocument,
};

/// Category id, attribute and brand of a lookup.
type LookupKey = (u16, String, Option<String>);

/// The lookups that were rendered.
#[derive(Default)]
pub(super) struct Lookups(Mutex<HashMap<LookupKey, StaticDocument>>);

/// The parameters of a lookup, which are checked when its list is known.
pub(super) struct LookupQuery;

impl FromParameters for LookupQuery {
    fn parse(_: &'static [Parameter], _: &[(String, String)]) -> Result<Self, FieldErrors> {
        Ok(Self)
    }
}

/// The attributes of a vehicle type, the values of one, and the models of a brand.
pub(super) async fn values(call: &Call<'_>, _: LookupQuery, (): ()) -> ApiResult {
    let (vehicle_type, attribute) = (call.path_parameter("vehicle_type"), call.path_parameter("attribute"));
    let category = categories::by_vehicle_type(vehicle_type).ok_or_else(|| unknown_vehicle_type(vehicle_type))?;
    let brand = call.query.iter().find(|(name, _)| name == "brand").map(|(_, brand)| brand.clone());
    let key = (category.id, attribute.to_owned(), brand);
    let is_plain = call.query.len() == usize::from(key.2.is_some());
    let documents = &call.path.state.lookups.0;
    let known = if is_plain { locked(documents).get(&key).cloned() } else { None };
    let document = if let Some(document) = known {
        document
    } else {
        let entries = Bytes::from(entries(call.context(), vehicle_type, category, attribute, &call.query)?);
        let document = StaticDocument::new("application/json", headers::LOOKUP, move || entries.clone().into());
        if is_plain {
            locked(documents).insert(key, document.clone());
        }
        document
    };
    document.answer(call.request.data::<Coding>().copied()).await
}

fn entries(
    context: &Context,
    vehicle_type: &str,
    category: &'static Category,
    attribute: &str,
    query: &[(String, String)],
) -> Result<Vec<u8>, ApiError> {
    if attribute == "models" && models_file(category).is_some() {
        return json_bytes(&models(context, category, query)?);
    }
    let known = if attribute == "attributes" {
        category.attributes()
    } else {
        let values = category.values(&context.service.rulebook().catalogue, attribute);
        values.ok_or_else(|| unknown_attribute(vehicle_type, category, attribute))?
    };
    // 404 comes before errors of parameters.
    let Some((name, _)) = query.first() else { return json_bytes(&known) };
    let mut errors = FieldErrors::default();
    errors.push(name, Violation::UnknownParameter { meant: Vec::new() });
    Err(errors.into())
}

fn models<'a>(
    context: &'a Context,
    category: &'static Category,
    query: &[(String, String)],
) -> Result<&'a [Entry], ApiError> {
    let catalogue = &context.service.rulebook().catalogue;
    let mut errors = FieldErrors::default();
    for (name, _) in query.iter().filter(|(name, _)| name != "brand") {
        let is_brand = Names::builtin().field(name) == Some("category_fields.brand")
            || !nearest::similar(name, ["brand"].into_iter()).is_empty();
        let meant = if is_brand { vec!["brand".to_owned()] } else { Vec::new() };
        errors.push(name, Violation::UnknownParameter { meant });
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
            errors.push("brand", Violation::NotAChoice { sent, choices, note: None, request: None });
        }
        (None, _) => errors.push("brand", Violation::Required),
    }
    Err(errors.into())
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
    ApiError::not_found(format!("There is no vehicle type \"{vehicle_type}\"; there are {known}.{hint}"))
}

fn unknown_attribute(vehicle_type: &str, category: &Category, attribute: &str) -> ApiError {
    let known = category.attributes();
    let text = format!("Vehicle type \"{vehicle_type}\" has no attribute \"{attribute}\".");
    let meant = || Names::builtin().did_you_mean(attribute, known.iter().map(|entry| entry.id.as_str()));
    match (attribute, models_file(category)) {
        ("model", Some(_)) => ApiError::not_found_but(
            format!("{text} The models depend on the brand."),
            format!("GET /v4/vehicles/{vehicle_type}/models?brand=volvo."),
        ),
        ("model" | "models", None) => ApiError::not_found(format!("{text} Models of this vehicle type are free text.")),
        _ => match meant() {
            Some(meant) => ApiError::not_found(format!("{text} {meant}")),
            None => ApiError::not_found_but(text, format!("See GET /v4/vehicles/{vehicle_type}/attributes.")),
        },
    }
}
