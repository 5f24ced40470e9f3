//! A selection of ads and a change of them, instead of a stock: `{"select": {…}, "change": {…}}`.

use ad_core::{
    fields::FieldErrors,
    model::AdFilter,
    service::{BulkChange, ServiceError},
    violation::{Expected, Violation, nearest},
};
use ad_parameters::selected;
use serde_json::{Map, Value};

const SELECT: &str = "select";
const CHANGE: &str = "change";

pub(super) struct Selection {
    pub(super) filters: Vec<AdFilter>,
    pub(super) change: BulkChange,
}

impl Selection {
    /// Whether the first object of a body is a selection and no payload.
    pub(super) fn is_one(object: &Map<String, Value>) -> bool {
        [SELECT, CHANGE].iter().any(|name| object.contains_key(*name)) && !object.contains_key("source_id")
    }

    pub(super) fn parse(object: &Map<String, Value>) -> Result<Self, ServiceError> {
        let mut errors = FieldErrors::default();
        for name in object.keys().filter(|name| ![SELECT, CHANGE].contains(&name.as_str())) {
            let meant = nearest::similar(name, [SELECT, CHANGE].into_iter()).into_iter().map(str::to_owned).collect();
            errors.push(name, Violation::UnknownField { meant, of_ad: false });
        }
        let mut part = |name| match object.get(name) {
            Some(Value::Object(part)) => Some(part),
            None => {
                errors.push(name, Violation::Required);
                None
            }
            Some(_) => {
                errors.push(name, Violation::WrongType(Expected::Object));
                None
            }
        };
        let (select, change) = (part(SELECT), part(CHANGE));
        let filters = select.and_then(|select| selected(select).map_err(|wrong| errors.put(SELECT, wrong)).ok());
        let change =
            change.and_then(|change| BulkChange::parse(change).map_err(|wrong| errors.put(CHANGE, wrong)).ok());
        match (filters, change) {
            (Some(filters), Some(change)) if errors.is_empty() => Ok(Self { filters, change }),
            _ => Err(ServiceError::Invalid(errors)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(selection: &Value) -> Result<Selection, Value> {
        Selection::parse(selection.as_object().unwrap()).map_err(|error| match error {
            ServiceError::Invalid(errors) => json!(errors),
            error => panic!("{error}"),
        })
    }

    #[test]
    fn a_selection_is_what_a_list_would_have_and_a_change() {
        let selection = json!({
            "select": {"category_id__in": [1020, 1060], "status": "live", "search": null, "quality_score__lt": 40},
            "change": {"set": {"visible": false}},
        });
        let Selection { filters, change } = parsed(&selection).unwrap();
        assert_eq!(filters.len(), 3);
        assert!(filters.contains(&AdFilter::CategoryId(vec![1020, 1060])), "{filters:?}");
        assert_eq!(change, BulkChange::Set(json!({"visible": false}).as_object().cloned().unwrap()));
        assert!(
            parsed(&json!({"select": {}, "change": {"price_percent": 2.5}})).is_ok_and(|all| all.filters.is_empty())
        );
    }

    #[test]
    fn errors_stand_at_their_members() {
        let wrong = json!({"selct": {}, "select": {"state": "liv", "limit": 3}, "change": {"price_percent": "5"}});
        let errors = parsed(&wrong).err().unwrap();
        assert_eq!(errors["selct"], json!(["Unknown field.", "Did you mean \"select\"?"]));
        assert!(errors["select"]["state"].is_array() && errors["select"]["limit"].is_array(), "{errors}");
        assert!(errors["change"]["price_percent"].is_array(), "{errors}");
        assert_eq!(parsed(&json!({"change": 7})).err().unwrap().as_object().unwrap().len(), 2);
    }
}
