//! Parameters of lists. Which there are and what they take stands in [`ad_core::parameters`], and is checked there before anything is sent.

use ad_core::{
    fields::FieldErrors,
    model,
    parameters::{AD_PARAMETERS, LOG_PARAMETERS, Parameter},
};

/// Parameters of a list of ads ([`AD_PARAMETERS`]).
///
/// ```
/// use ad_cli::ListQuery;
///
/// let query = ListQuery::new().with("state", "created").with("search", "volvo").with("limit", 100);
/// assert!(query.check().is_ok());
/// assert!(ListQuery::new().with("stat", "created").check().is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct ListQuery(Vec<(String, String)>);

/// Parameters of the log of an ad ([`LOG_PARAMETERS`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct LogQuery(Vec<(String, String)>);

macro_rules! query {
    ($type:ident, $parsed:ident, $parameters:ident) => {
        impl $type {
            /// The parameters that there are.
            pub const PARAMETERS: &'static [Parameter] = $parameters;

            /// Everything.
            pub fn new() -> Self {
                Self::default()
            }

            /// With this value of a parameter, in the place of an earlier one.
            pub fn with(mut self, name: &str, value: impl ToString) -> Self {
                self.0.retain(|(known, _)| known != name);
                self.0.push((name.to_owned(), value.to_string()));
                self
            }

            /// The value of a parameter.
            pub fn get(&self, name: &str) -> Option<&str> {
                self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
            }

            /// Whether the service would take it.
            ///
            /// # Errors
            /// Each wrong or unknown parameter.
            pub fn check(&self) -> Result<(), FieldErrors> {
                model::$parsed::parse(&self.0).map(drop)
            }

            pub(super) fn page(&self) -> Result<model::Page, FieldErrors> {
                model::$parsed::parse(&self.0).map(|query| query.page)
            }

            pub(super) fn pairs(&self) -> Vec<(&str, &str)> {
                self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
            }
        }
    };
}
query!(ListQuery, AdQuery, AD_PARAMETERS);
query!(LogQuery, LogQuery, LOG_PARAMETERS);
