//! The category of a payload (decision 12), and the check of a payload without the service.

use serde_json::{Map, Value};

use crate::{
    categories::{self, Category, TRAILER},
    fields::{FieldErrors, not_a_choice},
    model::{ApiVersion, Dealer},
    rulebook::{CheckedPayload, Rulebook, SourceId, WriteContext},
    violation::{Choices, Violation},
};

/// The category that the `category_id` of a payload names.
///
/// # Errors
/// The errors of `category_id` that the check of the ad's table does not report: none if it is missing or no integer.
pub fn category(version: ApiVersion, sent: Option<&Value>) -> Result<&'static Category, FieldErrors> {
    let mut wrong = FieldErrors::default();
    let Some(id) = sent.and_then(categories::sent_id) else { return Err(wrong) };
    let known = categories::by_id(id);
    if let Some(category) = known.filter(|category| category.is_in(version)) {
        return Ok(category);
    }
    let Some(category) = known else {
        let ids: Vec<_> = categories::all().filter(|it| it.is_in(version)).map(|it| it.id.to_string()).collect();
        wrong.here(not_a_choice(&Value::from(id.to_string()), ids.iter().map(String::as_str)));
        return Err(wrong);
    };
    let (note, request) = match category.vehicle_type {
        Some(vehicle_type) => ("V3 does not have this category.".to_owned(), format!("Send it to /v4/{vehicle_type}.")),
        None => not_in_v4(category),
    };
    let (sent, choices) = (format!("\"{id}\""), Choices::Omitted);
    wrong.here(Violation::NotAChoice { sent, choices, note: Some(note), request: Some(request) });
    Err(wrong)
}

/// The advice for a category that V4 does not have, and the request that helps.
fn not_in_v4(category: &Category) -> (String, String) {
    let types: Vec<_> = category.targets().map(|(name, target)| format!("{} ({name})", target.id)).collect();
    match types.as_slice() {
        [] => ("V4 does not have this category.".to_owned(), "Send it to /v3/ad.".to_owned()),
        types => {
            (format!("V4 does not have this category; use {}.", types.join(" or ")), "Or send it to /v3/ad.".to_owned())
        }
    }
}

/// The advice for a payload that is sent to the path of one category and names another.
pub(super) fn of_another_path(path: &Category, sent: u16) -> (String, Option<String>) {
    let own = format!("The category of {path} is {}.", path.id);
    let Some(category) = categories::by_id(sent) else { return (own, None) };
    if let Some(vehicle_type) = category.vehicle_type {
        return (own, Some(format!("Send ads of category {sent} to /v4/{vehicle_type}.")));
    }
    let (note, request) = not_in_v4(category);
    (format!("{own} {note}"), Some(request))
}

/// Why a payload is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum PayloadError {
    /// Fields are missing, unknown or have wrong values.
    Fields(FieldErrors),
    /// Trailers cannot be created ('Endpoints' rule 6).
    TrailerCreateDisabled,
}

impl Rulebook {
    /// Checks the payload of a create before it is sent: all that does not depend on the dealer and on the used source ids, which
    /// only the service knows.
    ///
    /// # Errors
    /// As the service would answer.
    pub fn create_unsent(
        &self,
        version: ApiVersion,
        of_type: Option<&'static Category>,
        payload: Map<String, Value>,
    ) -> Result<CheckedPayload, PayloadError> {
        self.create_for(version, of_type, None, payload)
    }

    /// The same, with what depends on the dealer, if it is known.
    ///
    /// # Errors
    /// As the service would answer.
    pub fn create_for(
        &self,
        version: ApiVersion,
        of_type: Option<&'static Category>,
        dealer: Option<&Dealer>,
        payload: Map<String, Value>,
    ) -> Result<CheckedPayload, PayloadError> {
        let category = of_type.map_or_else(|| category(version, payload.get("category_id")), Ok);
        match category {
            Ok(category) if category.id == TRAILER => Err(PayloadError::TrailerCreateDisabled),
            Ok(category) => self
                .create(WriteContext { category, version, dealer }, payload, SourceId::Required)
                .map_err(PayloadError::Fields),
            Err(wrong) => {
                let mut errors = self.without_category(version, payload, SourceId::Required);
                errors.put("category_id", wrong);
                Err(PayloadError::Fields(errors))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(version: ApiVersion, id: &Value) -> Value {
        json!(category(version, Some(id)).expect_err("it has no category"))
    }

    #[test]
    fn the_payload_says_its_category() {
        for (version, sent, id) in [
            (ApiVersion::V4, json!("1020"), 1020),
            (ApiVersion::V4, json!(1323), 1323),
            (ApiVersion::V3, json!(1222), 1222),
        ] {
            assert_eq!(category(version, Some(&sent)).unwrap().id, id);
        }
        assert_eq!(refused(ApiVersion::V4, &json!("car")), json!({}));
        assert_eq!(
            refused(ApiVersion::V3, &json!(1060)),
            json!(["\"1060\" is not a valid choice.", "V3 does not have this category.", "Send it to /v4/boat."])
        );
        assert_eq!(
            refused(ApiVersion::V4, &json!(1221))[1],
            "V4 does not have this category; use 1321 (bus) or 1322 (truck)."
        );
        assert_eq!(refused(ApiVersion::V4, &json!(1122))[1], "V4 does not have this category.");
        assert_eq!(refused(ApiVersion::V4, &json!(1324))[1], "Did you mean \"1321\" or \"1322\" or \"1323\"?");
    }

    #[test]
    fn a_payload_is_checked_without_its_dealer() {
        let rulebook = Rulebook::default();
        let check = |version, payload: Value| {
            let Value::Object(payload) = payload else { panic!("payloads are objects") };
            rulebook.create_unsent(version, None, payload)
        };
        let mut car = json!({"source_id": "c", "category_id": 1020, "category_fields": {"registration_number": "ABC123",
            "model_year": 2019, "salesperson": "anna@north.example"}});
        assert_eq!(check(ApiVersion::V4, car.clone()).unwrap().source_id, "c");
        car["category_id"] = json!(1221);
        car["body"] = json!(1);
        let Err(PayloadError::Fields(errors)) = check(ApiVersion::V4, car.clone()) else { panic!("V4 has no 1221") };
        assert!(errors.contains("category_id") && errors.contains("body"));
        car["category_id"] = json!(TRAILER);
        assert_eq!(check(ApiVersion::V4, car), Err(PayloadError::TrailerCreateDisabled));
    }
}
