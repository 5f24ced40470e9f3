//! The query parameters of the contract ('List parameters', 'Log parameters', decisions 1 and 2), for the service and its clients.
//! Their decoded names and values are parsed into a typed query, or into the errors of all parameters.
//!
//! | Module | What it is for |
//! |---|---|
//! | `table` | the parameters of each operation, one row each |
//! | `values` | the sent values, parsed by their types, with an error for each wrong one |
//! | `queries` | the typed queries, from parameters and to them |

mod queries;
mod table;
mod values;

use ad_core::{
    fields::FieldErrors,
    model::{AdFilter, AdQuery},
    synonyms::names::Names,
    violation::Violation,
};
use serde_json::{Map, Value};

pub use self::{
    queries::{AdParameters, ApplyParameters, EventParameters, EventsAfter, PageParameters, WebhookParameters},
    table::{
        AD_PARAMETERS, APPLY_PARAMETERS, BUDGET_PARAMETERS, BUMP_PARAMETERS, CHANGE_PARAMETERS, CHARGE_PARAMETERS,
        CREATE_PARAMETERS, DELIVERY_PARAMETERS, EVENT_PARAMETERS, LOG_PARAMETERS, PAGE_PARAMETERS, PLAN_PARAMETERS,
        Parameter, READ_PARAMETERS, RECORD_PARAMETERS, REVISION_PARAMETERS, SELECT_PARAMETERS, SUMMARY_PARAMETERS,
        TARGET_PARAMETERS, Takes, WRITE_PARAMETERS,
    },
};
pub use ad_core::model::{DEFAULT_LIMIT, MAX_LIMIT};

/// Maximum length of a search text, in characters; searching for longer texts is slow.
pub const MAX_TERM: usize = 200;
/// Maximum length of any other text, in characters, as of a `source_id`.
pub const MAX_TEXT: usize = 255;
/// Maximum number of items of a list, as many as a page has rows.
pub const MAX_ITEMS: usize = MAX_LIMIT as usize;
/// Most bytes of a query string: enough for [`MAX_ITEMS`] UUIDs, percent-encoded.
pub const MAX_QUERY: usize = 32 * 1024;
/// Maximum number of messages about one parameter, and of unknown parameters that are named. So an answer is never much larger
/// than its request.
const MAX_MESSAGES: usize = 5;

/// Maximum number of events of a page.
pub const MAX_EVENTS: u32 = 1000;
/// Number of events of a page if `limit` is absent.
pub const DEFAULT_EVENTS: u32 = 100;
/// Maximum time of a long poll, in seconds.
pub const MAX_WAIT: u32 = 30;

/// A query that is read from parameters.
pub trait FromParameters: Sized {
    /// Parses decoded names and values, of which these parameters are known.
    ///
    /// # Errors
    /// An error for each wrong, repeated or unknown parameter.
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors>;
}

/// A query that is sent as parameters.
pub trait ToParameters {
    /// The names and values of which [`parse`](FromParameters::parse) makes this query; what is the default is left out.
    fn parameters(&self) -> Vec<(&'static str, String)>;
}

/// The conditions of a selection, whose members are named and checked as the parameters of a list. A member that is `null` counts as left
/// out.
///
/// # Errors
/// All errors, by member.
pub fn selected(select: &Map<String, Value>) -> Result<Vec<AdFilter>, FieldErrors> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let sent = select.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let value = match value {
            Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
            value => text(value),
        };
        (name.clone(), value)
    });
    Ok(AdQuery::parse(SELECT_PARAMETERS, &sent.collect::<Vec<_>>())?.filters)
}

/// Adds to the errors of a query the parameters that an operator's names have for unknown ones.
pub fn suggest(names: &Names, parameters: &[Parameter], errors: &mut FieldErrors) {
    errors.each_mut(&mut |path, violation| {
        if let (Violation::UnknownParameter { meant }, [name]) = (violation, path) {
            let also = also_called(name, names, parameters);
            meant.extend(also);
        }
    });
}

/// The parameters that have another name, as far as an operation has them.
fn also_called(name: &str, names: &Names, parameters: &[Parameter]) -> Vec<String> {
    let meant = names.parameters(name).iter();
    meant.filter(|meant| parameters.iter().any(|known| known.name == **meant)).cloned().collect()
}
