//! The operations of the contract ('Endpoints') as one table, which the router, the OpenAPI document, and the checks of
//! permissions and query parameters read. Every category of the tables has all typed operations.

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
    parameters::{
        AD_PARAMETERS, BUMP_PARAMETERS, CREATE_PARAMETERS, LOG_PARAMETERS, Parameter, READ_PARAMETERS,
        TARGET_PARAMETERS, WRITE_PARAMETERS,
    },
};
use poem::http::Method;

use ad_server_access::auth::Permission;

/// What an operation does, which selects its use case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Create,
    /// The generic path of V4, which does not create ads.
    RefuseCreate,
    Validate,
    List,
    Read,
    Status,
    Prices,
    Log,
    Update,
    Migrate,
    Delete,
    Bump,
    PolePosition,
    Retry,
}

/// What the paths of a group of operations begin with.
#[derive(Debug, Clone, Copy, derive_more::Display)]
pub(super) enum BasePath {
    /// `/v4/{vehicle_type}`: ads of one category.
    #[display("/v4/{_0}")]
    Typed(&'static str, &'static Category),
    /// `/v4/ad`: ads of every category and both versions.
    #[display("/v4/ad")]
    Generic,
    /// `/v3/ad`: the same, for clients of V3.
    #[display("/v3/ad")]
    V3,
}

/// On which paths an operation exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct On {
    typed: bool,
    generic: bool,
    v3: bool,
}

const EVERYWHERE: On = On { typed: true, generic: true, v3: true };
const GENERIC: On = On { typed: false, generic: true, v3: false };
/// Paths of writes: `/v4/{vehicle_type}…` and `/v3/ad…`.
const WRITES: On = On { generic: false, ..EVERYWHERE };
/// Paths of V4 alone: `/v4/{vehicle_type}…` and `/v4/ad…`.
const V4: On = On { v3: false, ..EVERYWHERE };

/// Every base, typed ones first.
pub(super) fn bases() -> impl Iterator<Item = BasePath> {
    let typed = categories::typed().map(|(vehicle_type, category)| BasePath::Typed(vehicle_type, category));
    typed.chain([BasePath::Generic, BasePath::V3])
}

impl BasePath {
    pub(super) fn category(self) -> Option<&'static Category> {
        match self {
            Self::Typed(_, category) => Some(category),
            Self::Generic | Self::V3 => None,
        }
    }

    pub(super) fn version(self) -> ApiVersion {
        if matches!(self, Self::V3) { ApiVersion::V3 } else { ApiVersion::V4 }
    }

    pub(super) fn operations(self) -> impl Iterator<Item = &'static Operation> {
        OPERATIONS.iter().filter(move |operation| match self {
            Self::Typed(..) => operation.on.typed,
            Self::Generic => operation.on.generic,
            Self::V3 => operation.on.v3,
        })
    }
}

#[derive(Debug)]
pub(super) struct Operation {
    pub act: Act,
    pub method: Method,
    /// Path below the base, such as `/{source_id}/log`.
    pub path: &'static str,
    pub on: On,
    pub permission: Permission,
    pub parameters: &'static [Parameter],
    /// Beginning of its operation id.
    pub id: &'static str,
    pub summary: &'static str,
    pub doc: &'static str,
}

const ONE: &str = "/:source_id";

#[rustfmt::skip]
pub(super) static OPERATIONS: &[Operation] = &[
    Operation { act: Act::Create, method: Method::POST, path: "", on: WRITES, permission: Permission::Write, parameters: CREATE_PARAMETERS, id: "create", summary: "Create an ad",
        doc: "Answers at once; the images are fetched and the ad is published afterwards. To follow the progress, read the ad until its log contains an entry with action `publish` and state `done` or `error`." },
    Operation { act: Act::RefuseCreate, method: Method::POST, path: "", on: GENERIC, permission: Permission::Write, parameters: &[], id: "refuse_create", summary: "Creation is not supported on this path",
        doc: "Returns 405: create ads on the typed path, `POST /v4/{vehicle_type}`. A payload with `category_id` 1045 is rejected with `trailer_create_disabled`, as on every path." },
    Operation { act: Act::Validate, method: Method::POST, path: "/validate", on: WRITES, permission: Permission::Read, parameters: &[], id: "validate", summary: "Check a payload",
        doc: "Validates the payload as a create does, and stores nothing. `source_id` is optional." },
    Operation { act: Act::List, method: Method::GET, path: "", on: EVERYWHERE, permission: Permission::Read, parameters: AD_PARAMETERS, id: "list", summary: "List ads",
        doc: "One row per ad. Filters are combined with AND." },
    Operation { act: Act::Read, method: Method::GET, path: ONE, on: EVERYWHERE, permission: Permission::Read, parameters: READ_PARAMETERS, id: "read", summary: "Read an ad",
        doc: "The ad with its 100 latest log entries, oldest first. `fields` selects fields, as in lists; the log is then returned only if `fields` or `include` names it." },
    Operation { act: Act::Status, method: Method::GET, path: "/:source_id/status", on: EVERYWHERE, permission: Permission::Read, parameters: TARGET_PARAMETERS, id: "status", summary: "Read why an ad is or is not live",
        doc: "For each marketplace: whether it shows the ad, and if not, why, who can change that and what to do. While an action is retried: the reason of the last attempt, the number of attempts, and the time of the next one. `docs/status.md` lists all statuses and codes." },
    Operation { act: Act::Prices, method: Method::GET, path: "/:source_id/prices", on: EVERYWHERE, permission: Permission::Read, parameters: TARGET_PARAMETERS, id: "prices", summary: "Read the prices of an ad over time",
        doc: "Every accepted price with its time, oldest first; the lowest of the last 30 days; and for a reduced price, the reference price: the lowest of the 30 days before the series of reductions that it belongs to (Directive 98/6/EC, Article 6a). `docs/prices.md` says exactly what is computed." },
    Operation { act: Act::Log, method: Method::GET, path: "/:source_id/log", on: EVERYWHERE, permission: Permission::Read, parameters: LOG_PARAMETERS, id: "log", summary: "Read the log of an ad",
        doc: "All entries in pages, oldest first by default." },
    Operation { act: Act::Update, method: Method::PUT, path: ONE, on: WRITES, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "put", summary: "Update an ad",
        doc: "Same as PATCH: omitted fields are unchanged, `category_fields` is merged deeply, `null` clears a field, and arrays and `location` are replaced completely." },
    Operation { act: Act::Update, method: Method::PATCH, path: ONE, on: WRITES, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "patch", summary: "Update an ad",
        doc: "Same as PUT: omitted fields are unchanged, `category_fields` is merged deeply, `null` clears a field, and arrays and `location` are replaced completely." },
    Operation { act: Act::Migrate, method: Method::POST, path: "/:source_id/migrate", on: V4, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "migrate", summary: "Migrate a V3 ad to V4",
        doc: "The body is a complete payload that replaces the data of the ad. Id, source id and log stay; the images stay if `image_urls` is omitted. Send `category_id` on `/v4/ad` only, where it is required." },
    Operation { act: Act::Delete, method: Method::DELETE, path: ONE, on: EVERYWHERE, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "delete", summary: "Delete an ad",
        doc: "Asynchronous soft delete: the answer still shows state `created`. To follow the progress, read the ad until its log contains an entry with action `delete` and state `done` or `error`." },
    Operation { act: Act::Bump, method: Method::GET, path: "/:source_id/bump", on: EVERYWHERE, permission: Permission::Promote, parameters: BUMP_PARAMETERS, id: "bump", summary: "Renew an ad",
        doc: "The ad appears as new, first in the listing order. Charges apply. The ad must be visible and published (or have an unfinished request that publishes it), and the dealer needs permission to bump." },
    Operation { act: Act::Bump, method: Method::POST, path: "/:source_id/bump", on: EVERYWHERE, permission: Permission::Promote, parameters: BUMP_PARAMETERS, id: "post_bump", summary: "Renew an ad",
        doc: "Same as GET; no proxy or browser repeats it. While a bump of the ad with the same exclusions is unfinished, another one is not charged." },
    Operation { act: Act::PolePosition, method: Method::GET, path: "/:source_id/pole_position", on: EVERYWHERE, permission: Permission::Promote, parameters: WRITE_PARAMETERS, id: "pole_position", summary: "Activate pole position",
        doc: "The ad appears first in search results for 3 days, on the primary marketplace. Charges apply. Registered vehicles only." },
    Operation { act: Act::PolePosition, method: Method::POST, path: "/:source_id/pole_position", on: EVERYWHERE, permission: Permission::Promote, parameters: WRITE_PARAMETERS, id: "post_pole_position", summary: "Activate pole position",
        doc: "Same as GET; no proxy or browser repeats it." },
    Operation { act: Act::Retry, method: Method::GET, path: "/:source_id/retry", on: EVERYWHERE, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "retry", summary: "Retry an ad's failed steps",
        doc: "Runs the failed steps of publishing (images, publish, unpublish, delete), whichever request they belong to, and then a failed bump or pole position of the last request. If nothing has failed, publishes the ad again." },
    Operation { act: Act::Retry, method: Method::POST, path: "/:source_id/retry", on: EVERYWHERE, permission: Permission::Write, parameters: WRITE_PARAMETERS, id: "post_retry", summary: "Retry an ad's failed steps",
        doc: "Same as GET; no proxy or browser repeats it." },
];

impl Operation {
    /// The path on a base, in the router's notation.
    pub(super) fn route(&self, base: BasePath) -> String {
        format!("{base}{}", self.path)
    }

    pub(super) fn takes_body(&self) -> bool {
        matches!(self.act, Act::Create | Act::RefuseCreate | Act::Validate | Act::Update | Act::Migrate)
    }

    /// Whether it is about a new ad.
    pub(super) fn creates(&self) -> bool {
        matches!(self.act, Act::Create | Act::Validate)
    }

    /// Whether GET does it as well as POST.
    pub(super) fn is_action(&self) -> bool {
        matches!(self.act, Act::Bump | Act::PolePosition | Act::Retry)
    }

    /// Whether it writes to one existing ad.
    pub(super) fn changes_one(&self) -> bool {
        use Act::{Bump, Delete, Migrate, PolePosition, Retry, Update};
        matches!(self.act, Update | Migrate | Delete | Bump | PolePosition | Retry)
    }

    /// Whether its answer shows one ad, which then has a tag.
    pub(super) fn shows_ad(&self) -> bool {
        matches!(self.act, Act::Create | Act::Read) || self.changes_one()
    }

    /// Whether it is stored as a request.
    pub(super) fn is_write(&self) -> bool {
        self.act == Act::Create || self.changes_one()
    }

    pub(super) fn is_about_one(&self) -> bool {
        self.path.starts_with(ONE)
    }
}
