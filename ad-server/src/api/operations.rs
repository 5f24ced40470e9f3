//! The operations of the contract ('Endpoints'), as one table: the router, the OpenAPI document and the checks of
//! permissions and query parameters all read it. A category's table brings all typed operations along.

use ad_core::list::{AD_PARAMETERS, BUMP_PARAMETERS, LOG_PARAMETERS, Parameter, TARGET_PARAMETERS};
use poem::http::Method;

use crate::auth::Permission;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Create,
    Validate,
    List,
    Read,
    Log,
    Update,
    Delete,
    Bump,
    PolePosition,
    Retry,
}

/// On which paths an operation exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// `/v4/{vehicle_type}…` only.
    Typed,
    /// `/v4/{vehicle_type}…` and `/v4/ad…`.
    Both,
}

/// One operation.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) act: Act,
    pub(crate) method: Method,
    /// Path behind `/v4/{vehicle_type}` or `/v4/ad`.
    pub(crate) path: &'static str,
    pub(crate) on: On,
    pub(crate) permission: Permission,
    pub(crate) parameters: &'static [Parameter],
    /// First words of its operation id.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) doc: &'static str,
}

const ONE: &str = "/:source_id";

#[rustfmt::skip]
pub(crate) static OPERATIONS: &[Operation] = &[
    Operation { act: Act::Create, method: Method::POST, path: "", on: On::Typed, permission: Permission::Write, parameters: &[], id: "create", summary: "Create an ad",
        doc: "Answers at once; images are fetched and the ad is published afterwards. Read the ad until its log holds an entry with action `publish` and state `done`." },
    Operation { act: Act::Validate, method: Method::POST, path: "/validate", on: On::Typed, permission: Permission::Read, parameters: &[], id: "validate", summary: "Check a payload",
        doc: "Checks exactly what a create would check, and stores nothing. `source_id` may be left out." },
    Operation { act: Act::List, method: Method::GET, path: "", on: On::Both, permission: Permission::Read, parameters: AD_PARAMETERS, id: "list", summary: "List ads",
        doc: "One row per ad. Filters are combined with and." },
    Operation { act: Act::Read, method: Method::GET, path: ONE, on: On::Both, permission: Permission::Read, parameters: TARGET_PARAMETERS, id: "read", summary: "Read an ad",
        doc: "The ad with its 100 latest log entries, oldest first." },
    Operation { act: Act::Log, method: Method::GET, path: "/:source_id/log", on: On::Both, permission: Permission::Read, parameters: LOG_PARAMETERS, id: "log", summary: "Read the whole log of an ad",
        doc: "Page by page, oldest first unless ordered otherwise." },
    Operation { act: Act::Update, method: Method::PUT, path: ONE, on: On::Typed, permission: Permission::Write, parameters: TARGET_PARAMETERS, id: "put", summary: "Update an ad",
        doc: "The same as PATCH: fields that are left out are kept, `category_fields` is merged deeply, `null` clears, arrays and `location` are replaced whole." },
    Operation { act: Act::Update, method: Method::PATCH, path: ONE, on: On::Typed, permission: Permission::Write, parameters: TARGET_PARAMETERS, id: "patch", summary: "Update an ad",
        doc: "The same as PUT: fields that are left out are kept, `category_fields` is merged deeply, `null` clears, arrays and `location` are replaced whole." },
    Operation { act: Act::Delete, method: Method::DELETE, path: ONE, on: On::Both, permission: Permission::Write, parameters: TARGET_PARAMETERS, id: "delete", summary: "Delete an ad",
        doc: "Soft and asynchronous: the answer still shows state `created`. Read the ad until its log holds an entry with action `delete` and state `done`." },
    Operation { act: Act::Bump, method: Method::GET, path: "/:source_id/bump", on: On::Both, permission: Permission::Promote, parameters: BUMP_PARAMETERS, id: "bump", summary: "Renew an ad",
        doc: "The ad appears as new, first in the listing. Charges apply. The ad must be visible and the dealer permitted to bump." },
    Operation { act: Act::PolePosition, method: Method::GET, path: "/:source_id/pole_position", on: On::Both, permission: Permission::Promote, parameters: TARGET_PARAMETERS, id: "pole_position", summary: "Activate pole position",
        doc: "The ad appears first in search results for 3 days, on the primary marketplace. Charges apply. Registered vehicles only." },
    Operation { act: Act::Retry, method: Method::GET, path: "/:source_id/retry", on: On::Both, permission: Permission::Write, parameters: TARGET_PARAMETERS, id: "retry", summary: "Process an ad again",
        doc: "Does again what the last request left undone, from its first action that did not end in `done`; when all is done, publishes again." },
];

impl Operation {
    /// The path on a base such as `/v4/car`, in the router's notation.
    pub(crate) fn route(&self, base: &str) -> String {
        format!("{base}{}", self.path)
    }

    /// Whether it takes a JSON body.
    pub(crate) fn takes_body(&self) -> bool {
        matches!(self.act, Act::Create | Act::Validate | Act::Update)
    }

    /// Whether it is about one ad.
    pub(crate) fn is_about_one(&self) -> bool {
        self.path.starts_with(ONE)
    }
}
