//! The operations of the API ('Endpoints', extensions) as one table. The router, every gate of [`perform`](super::perform), the hints about
//! unknown paths and the OpenAPI document read it. Every category of the tables has all typed operations.
//!
//! To add an operation, write its handler in a file of its own and add a row.

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
};
use ad_parameters::{
    AD_PARAMETERS, APPLY_PARAMETERS, BUDGET_PARAMETERS, BUMP_PARAMETERS, CHANGE_PARAMETERS, CHARGE_PARAMETERS,
    CREATE_PARAMETERS, DELIVERY_PARAMETERS, EVENT_PARAMETERS, LOG_PARAMETERS, PAGE_PARAMETERS, PLAN_PARAMETERS,
    Parameter, READ_PARAMETERS, RECORD_PARAMETERS, REVISION_PARAMETERS, SUMMARY_PARAMETERS, TARGET_PARAMETERS,
    WRITE_PARAMETERS,
};
use poem::http::{HeaderValue, Method};

use super::{
    account, ads, events,
    handler::{Handler, accepts, run},
    headers, lookups, me, promotions, requests, revisions, stock, summary, webhooks, writes,
};
use ad_server_access::auth::Permission;

/// What an operation does, which selects its use case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Create,
    /// The generic path of V4, which does not create ads.
    RefuseCreate,
    Validate,
    List,
    Read,
    Status,
    Prices,
    /// Lists the revisions of an ad.
    Revisions,
    /// Reads an ad as it was.
    Revision,
    Restore,
    /// Lists the calls of marketplaces about an ad.
    Calls,
    /// Reads the signed record of an ad.
    Record,
    Log,
    Update,
    Migrate,
    Delete,
    Bump,
    PolePosition,
    Retry,
    Values,
    Events,
    Summary,
    CreateWebhook,
    /// Queues a delivery to a webhook.
    Deliver,
    /// Sets the limit that a dealer sets itself.
    SetBudget,
    /// Makes a stock plan.
    PlanStock,
    /// Reads or changes stock plans.
    Plan,
    /// Makes a schedule of promotions.
    CreatePromotion,
    /// Reads or changes schedules of promotions.
    Promotion,
    Other,
}

/// What the paths of a group of operations begin with.
#[derive(Debug, Clone, Copy, derive_more::Display)]
pub(crate) enum BasePath {
    /// `/v4/{vehicle_type}`: ads of one category.
    #[display("/v4/{_0}")]
    Typed(&'static str, &'static Category),
    /// `/v4/ad`: ads of every category and both versions.
    #[display("/v4/ad")]
    Generic,
    /// `/v3/ad`: the same, for clients of V3.
    #[display("/v3/ad")]
    V3,
    /// Nothing: rows have the whole path of what exists once.
    #[display("")]
    Service,
}

/// On which paths an operation exists; on none of these: on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct On {
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
const ONCE: On = On { typed: false, generic: false, v3: false };

/// Every base of ads, typed ones first.
pub(crate) fn bases() -> impl Iterator<Item = BasePath> {
    let typed = categories::typed().map(|(vehicle_type, category)| BasePath::Typed(vehicle_type, category));
    typed.chain([BasePath::Generic, BasePath::V3])
}

impl BasePath {
    pub(crate) fn category(self) -> Option<&'static Category> {
        match self {
            Self::Typed(_, category) => Some(category),
            Self::Generic | Self::V3 | Self::Service => None,
        }
    }

    pub(crate) fn version(self) -> ApiVersion {
        if matches!(self, Self::V3) { ApiVersion::V3 } else { ApiVersion::V4 }
    }

    pub(crate) fn operations(self) -> impl Iterator<Item = &'static Operation> {
        OPERATIONS.iter().filter(move |operation| match self {
            Self::Typed(..) => operation.on.typed,
            Self::Generic => operation.on.generic,
            Self::V3 => operation.on.v3,
            Self::Service => operation.on == ONCE,
        })
    }
}

/// What an operation takes as its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenBody {
    /// Nothing: a body is not read.
    Nothing,
    /// A JSON object, whose schema depends on the category of an ad.
    Object,
    /// A JSON object of this schema.
    ObjectOf(&'static str),
    /// A JSON object; keys that it has more than once are warned of.
    CheckedObject,
    /// The payloads of a stock, as they come.
    Stock,
}

/// A row of the table.
pub(crate) struct Operation {
    pub(crate) act: Act,
    pub(crate) method: Method,
    /// Path after the base.
    pub(crate) path: &'static str,
    pub(crate) on: On,
    /// What the token must permit; `None`: any valid token will do.
    pub(crate) permission: Option<Permission>,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) body: TakenBody,
    /// What does it, and which limits it takes.
    pub(super) handler: Handler,
    /// Description and schema of its answer. Those of operations on ads depend on the category.
    pub(crate) answer: (&'static str, &'static str),
    /// Its operation id: a verb with a noun. For operations on ads the tag stands in place of `{}`, or at the end.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) doc: &'static str,
}

const READ: Option<Permission> = Some(Permission::Read);
const WRITE: Option<Permission> = Some(Permission::Write);
const PROMOTE: Option<Permission> = Some(Permission::Promote);
const WEBHOOKS: Option<Permission> = Some(Permission::Webhooks);

const OF_ADS: (&str, &str) = ("", "");

const NOTHING: TakenBody = TakenBody::Nothing;
const OBJECT: TakenBody = TakenBody::Object;

const ONE: &str = "/:source_id";

#[rustfmt::skip]
pub(crate) static OPERATIONS: &[Operation] = &[
    Operation { act: Act::Create, method: Method::POST, path: "", on: WRITES, permission: WRITE, parameters: CREATE_PARAMETERS, body: OBJECT, handler: Handler::Write(accepts!(writes::create)), answer: OF_ADS, id: "create", summary: "Create an ad",
        doc: "Answers at once; the images are fetched and the ad is published afterwards. To follow the progress, read the ad until its log contains an entry with action `publish` and state `done` or `error`." },
    Operation { act: Act::RefuseCreate, method: Method::POST, path: "", on: GENERIC, permission: WRITE, parameters: &[], body: OBJECT, handler: Handler::Refuse(ads::refuse_create), answer: OF_ADS, id: "refuse_create", summary: "Creation is not supported on this path",
        doc: "Returns 405: create ads on the typed path, `POST /v4/{vehicle_type}`. A payload with `category_id` 1045 is rejected with `trailer_create_disabled`, as on every path." },
    Operation { act: Act::Validate, method: Method::POST, path: "/validate", on: WRITES, permission: READ, parameters: &[], body: TakenBody::CheckedObject, handler: Handler::InTurn(run!(ads::validate)), answer: OF_ADS, id: "validate", summary: "Check a payload",
        doc: "Validates the payload as a create does, and stores nothing. `source_id` is optional." },
    Operation { act: Act::List, method: Method::GET, path: "", on: EVERYWHERE, permission: READ, parameters: AD_PARAMETERS, body: NOTHING, handler: Handler::List(run!(ads::list)), answer: OF_ADS, id: "list", summary: "List ads",
        doc: "One row per ad. Filters are combined with AND." },
    Operation { act: Act::Read, method: Method::GET, path: ONE, on: EVERYWHERE, permission: READ, parameters: READ_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(ads::read)), answer: OF_ADS, id: "read", summary: "Read an ad",
        doc: "The ad with its 100 latest log entries, oldest first. `fields` selects fields, as in lists; the log is then returned only if `fields` or `include` names it." },
    Operation { act: Act::Status, method: Method::GET, path: "/:source_id/status", on: EVERYWHERE, permission: READ, parameters: TARGET_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(ads::status)), answer: OF_ADS, id: "read_{}_status", summary: "Read why an ad is or is not live",
        doc: "For each marketplace: whether it shows the ad, and if not, why, who can change that and what to do. While an action is retried: the reason of the last attempt, the number of attempts, and the time of the next one. `docs/status.md` lists all statuses and codes." },
    Operation { act: Act::Prices, method: Method::GET, path: "/:source_id/prices", on: EVERYWHERE, permission: READ, parameters: TARGET_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(ads::prices)), answer: OF_ADS, id: "read_{}_prices", summary: "Read the prices of an ad over time",
        doc: "Every accepted price with its time, oldest first; the lowest of the last 30 days; and for a reduced price, the reference price: the lowest of the 30 days before the series of reductions that it belongs to (Directive 98/6/EC, Article 6a). `docs/prices.md` says exactly what is computed." },
    Operation { act: Act::Revisions, method: Method::GET, path: "/:source_id/revisions", on: EVERYWHERE, permission: READ, parameters: RECORD_PARAMETERS, body: NOTHING, handler: Handler::List(run!(revisions::list)), answer: OF_ADS, id: "list_{}_revisions", summary: "List what an ad said before",
        doc: "Every recorded change of the ad, newest first, with when, with which token and through what it was made, and the fields that it changed. Also of deleted ads." },
    Operation { act: Act::Revision, method: Method::GET, path: "/:source_id/revisions/:revision", on: EVERYWHERE, permission: READ, parameters: REVISION_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(revisions::read)), answer: OF_ADS, id: "read_{}_revision", summary: "Read an ad as it was",
        doc: "The whole ad of a revision, whose number is the first part of the `ETag` that the ad had then. To read the ad as it was at a time, read it with `at`." },
    Operation { act: Act::Restore, method: Method::POST, path: "/:source_id/revisions/:revision/restore", on: EVERYWHERE, permission: WRITE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(revisions::restore)), answer: OF_ADS, id: "restore_{}_revision", summary: "Restore an earlier revision",
        doc: "Updates the ad to what it said in that revision, by the rules of today. Fields that cannot change stay as they are; `warnings` names them." },
    Operation { act: Act::Calls, method: Method::GET, path: "/:source_id/calls", on: EVERYWHERE, permission: READ, parameters: RECORD_PARAMETERS, body: NOTHING, handler: Handler::List(run!(revisions::calls)), answer: OF_ADS, id: "list_{}_calls", summary: "List the calls of marketplaces about an ad",
        doc: "Every call that was made, newest first, with what was answered and how long it took. A call is listed when its outcome is recorded; also of deleted ads." },
    Operation { act: Act::Record, method: Method::GET, path: "/:source_id/record", on: EVERYWHERE, permission: READ, parameters: TARGET_PARAMETERS, body: NOTHING, handler: Handler::List(run!(revisions::record)), answer: OF_ADS, id: "read_{}_record", summary: "Read the signed record of an ad",
        doc: "The ad, what it said before, its log, the calls of marketplaces, and the checksums of its photos, as one signed document." },
    Operation { act: Act::Log, method: Method::GET, path: "/:source_id/log", on: EVERYWHERE, permission: READ, parameters: LOG_PARAMETERS, body: NOTHING, handler: Handler::List(run!(ads::log)), answer: OF_ADS, id: "read_{}_log", summary: "Read the log of an ad",
        doc: "All entries in pages, oldest first by default." },
    Operation { act: Act::Update, method: Method::PUT, path: ONE, on: WRITES, permission: WRITE, parameters: WRITE_PARAMETERS, body: OBJECT, handler: Handler::Write(accepts!(writes::update)), answer: OF_ADS, id: "put", summary: "Update an ad",
        doc: "Same as PATCH: omitted fields are unchanged, `category_fields` is merged deeply, `null` clears a field, and arrays and `location` are replaced completely." },
    Operation { act: Act::Update, method: Method::PATCH, path: ONE, on: WRITES, permission: WRITE, parameters: WRITE_PARAMETERS, body: OBJECT, handler: Handler::Write(accepts!(writes::update)), answer: OF_ADS, id: "patch", summary: "Update an ad",
        doc: "Same as PUT: omitted fields are unchanged, `category_fields` is merged deeply, `null` clears a field, and arrays and `location` are replaced completely." },
    Operation { act: Act::Migrate, method: Method::POST, path: "/:source_id/migrate", on: V4, permission: WRITE, parameters: WRITE_PARAMETERS, body: OBJECT, handler: Handler::Write(accepts!(writes::migrate)), answer: OF_ADS, id: "migrate", summary: "Migrate a V3 ad to V4",
        doc: "The body is a complete payload that replaces the data of the ad. Id, source id and log stay; the images stay if `image_urls` is omitted. Send `category_id` on `/v4/ad` only, where it is required." },
    Operation { act: Act::Delete, method: Method::DELETE, path: ONE, on: EVERYWHERE, permission: WRITE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::delete)), answer: OF_ADS, id: "delete", summary: "Delete an ad",
        doc: "Asynchronous soft delete: the answer still shows state `created`. To follow the progress, read the ad until its log contains an entry with action `delete` and state `done` or `error`." },
    Operation { act: Act::Bump, method: Method::GET, path: "/:source_id/bump", on: EVERYWHERE, permission: PROMOTE, parameters: BUMP_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::bump)), answer: OF_ADS, id: "bump", summary: "Renew an ad",
        doc: "The ad appears as new, first in the listing order. Charges apply. The ad must be visible and published (or have an unfinished request that publishes it), and the dealer needs permission to bump." },
    Operation { act: Act::Bump, method: Method::POST, path: "/:source_id/bump", on: EVERYWHERE, permission: PROMOTE, parameters: BUMP_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::bump)), answer: OF_ADS, id: "post_bump", summary: "Renew an ad",
        doc: "Same as GET; no proxy or browser repeats it. While a bump of the ad with the same exclusions is unfinished, another one is not charged." },
    Operation { act: Act::PolePosition, method: Method::GET, path: "/:source_id/pole_position", on: EVERYWHERE, permission: PROMOTE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::pole_position)), answer: OF_ADS, id: "activate_{}_pole_position", summary: "Activate pole position",
        doc: "The ad appears first in search results for 3 days, on the primary marketplace. Charges apply. Registered vehicles only." },
    Operation { act: Act::PolePosition, method: Method::POST, path: "/:source_id/pole_position", on: EVERYWHERE, permission: PROMOTE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::pole_position)), answer: OF_ADS, id: "post_pole_position", summary: "Activate pole position",
        doc: "Same as GET; no proxy or browser repeats it." },
    Operation { act: Act::Retry, method: Method::GET, path: "/:source_id/retry", on: EVERYWHERE, permission: WRITE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::retry)), answer: OF_ADS, id: "retry", summary: "Retry an ad's failed steps",
        doc: "Runs the failed steps of publishing (images, publish, unpublish, delete), whichever request they belong to, and then a failed bump or pole position of the last request. If nothing has failed, publishes the ad again." },
    Operation { act: Act::Retry, method: Method::POST, path: "/:source_id/retry", on: EVERYWHERE, permission: WRITE, parameters: WRITE_PARAMETERS, body: NOTHING, handler: Handler::Write(accepts!(writes::retry)), answer: OF_ADS, id: "post_retry", summary: "Retry an ad's failed steps",
        doc: "Same as GET; no proxy or browser repeats it." },
    Operation { act: Act::Values, method: Method::GET, path: "/v4/vehicles/:vehicle_type/:attribute", on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::Alone(run!(lookups::values)), answer: ("The values, with their names", "LookupEntries"), id: "list_values", summary: "List the values of an attribute",
        doc: "Use the ids in payloads, and the names to show them to people. The values change with the catalogue of the service only; keep them for some minutes." },
    Operation { act: Act::Other, method: Method::GET, path: "/v4/requests/:request_id", on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(requests::read)), answer: ("The status of the request", "RequestStatus"), id: "read_request", summary: "Read the status of a request",
        doc: "What has become of an accepted request, also long after it was finished." },
    Operation { act: Act::Events, method: Method::GET, path: events::PATH, on: ONCE, permission: READ, parameters: EVENT_PARAMETERS, body: NOTHING, handler: Handler::Alone(run!(events::answer)), answer: ("A page of events, or a stream of them", "EventPage"), id: "read_events", summary: "Read events",
        doc: "The log entries of all ads in the token's scope, as one sequence: those of an ad in the order of its log. Read a page, store its `cursor`, and read on `after` it: every event comes once. With `wait`, the answer is sent as soon as there is an event (long poll). With `Accept: text/event-stream` the answer is a stream of server-sent events, whose `id` is the cursor; it ends when the token is revoked or expires. Neither counts as a request of the rate limit." },
    Operation { act: Act::Other, method: Method::GET, path: me::PATH, on: ONCE, permission: None, parameters: &[], body: NOTHING, handler: Handler::List(run!(me::read)), answer: ("The token and its dealers", "Me"), id: "read_token", summary: "Read what the token gives access to",
        doc: "Scope, dealers, permissions and limits of the token. Needs no permission." },
    Operation { act: Act::Summary, method: Method::GET, path: summary::PATH, on: ONCE, permission: READ, parameters: SUMMARY_PARAMETERS, body: NOTHING, handler: Handler::List(run!(summary::read)), answer: ("The number of ads by status", "Summary"), id: "read_summary", summary: "Count ads by status",
        doc: "The ads of the token's dealer or group, deleted ones included, by status, vehicle type, marketplace and code of failure. Answered from an index, so it may be asked every few seconds." },
    Operation { act: Act::Other, method: Method::GET, path: account::PATH, on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::List(run!(account::read)), answer: ("The account of the token's dealer; of a group, a list", "Accounts"), id: "read_account", summary: "Read what promotions cost and how much is left",
        doc: "Prices, the budget of the present month with what is spent, reserved and left, and the number of confirmed promotions. Without a tariff of the operator, nothing is counted. Answered from sums, so it may be asked every few seconds." },
    Operation { act: Act::Other, method: Method::GET, path: "/v4/account/charges", on: ONCE, permission: READ, parameters: CHARGE_PARAMETERS, body: NOTHING, handler: Handler::List(run!(account::charges)), answer: ("A page of charges", "ChargePage"), id: "list_charges", summary: "List charges",
        doc: "One for each promotion and marketplace, newest first: reserved when the promotion is accepted, charged when the marketplace has confirmed it, released when it has failed." },
    Operation { act: Act::SetBudget, method: Method::PUT, path: "/v4/account/budget", on: ONCE, permission: PROMOTE, parameters: BUDGET_PARAMETERS, body: TakenBody::ObjectOf("OwnBudget"), handler: Handler::InTurn(run!(account::set_budget)), answer: ("The account", "Account"), id: "set_own_budget", summary: "Set the dealer's own limit",
        doc: "The most that promotions may cost in a calendar month, from now on and in every month, beside the operator's budget: the lower one holds. `null` removes it." },
    Operation { act: Act::PlanStock, method: Method::POST, path: stock::PATH, on: ONCE, permission: WRITE, parameters: PLAN_PARAMETERS, body: TakenBody::Stock, handler: Handler::Stream(run!(stock::create)), answer: ("The plan. It is computed, or ready: without `Prefer: wait`, and if it takes longer than that", "StockPlan"), id: "plan_stock", summary: "Plan a stock",
        doc: "Compares the whole stock, one payload for each ad, with the stored ads, and changes nothing. A field that a payload leaves out is cleared; ads that the stock does not name are kept, hidden or deleted, as `missing` says. Read the plan and its changes, and apply it. A body that is not whole, names an ad twice or has no valid ad refuses the plan. Instead of a stock, a selection of ads and a change of them can be sent." },
    Operation { act: Act::Plan, method: Method::GET, path: stock::PATH, on: ONCE, permission: READ, parameters: PAGE_PARAMETERS, body: NOTHING, handler: Handler::List(run!(stock::list)), answer: ("A page of plans", "StockPlanPage"), id: "list_stock_plans", summary: "List stock plans",
        doc: "The plans of the token's scope, newest first, until 24 hours after their end." },
    Operation { act: Act::Plan, method: Method::GET, path: "/v4/stock/plans/:plan_id", on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::Alone(run!(stock::read)), answer: ("The plan", "StockPlan"), id: "read_stock_plan", summary: "Read a stock plan",
        doc: "How far the plan is. With `Prefer: wait`, the answer is sent when it has been computed, or applied and the requests of its changes are finished." },
    Operation { act: Act::Plan, method: Method::GET, path: "/v4/stock/plans/:plan_id/changes", on: ONCE, permission: READ, parameters: CHANGE_PARAMETERS, body: NOTHING, handler: Handler::List(run!(stock::changes)), answer: ("A page of changes", "PlannedChangePage"), id: "list_planned_changes", summary: "List the changes of a stock plan",
        doc: "What applying the plan changes, in the order of the stock, removals last, and what has become of each change. Ads that are unchanged are counted, and not listed." },
    Operation { act: Act::Plan, method: Method::POST, path: "/v4/stock/plans/:plan_id/apply", on: ONCE, permission: WRITE, parameters: APPLY_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(stock::apply)), answer: ("The plan, which is being applied", "StockPlan"), id: "apply_stock_plan", summary: "Apply a stock plan",
        doc: "Makes the changes: updates first, then creates, then removals. Each is an ordinary request with `plan_id`. An ad that has changed since the plan was made is left, with outcome `conflict`. A plan that is or was applied is answered as it is, so the request may be repeated." },
    Operation { act: Act::Plan, method: Method::DELETE, path: "/v4/stock/plans/:plan_id", on: ONCE, permission: WRITE, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(stock::cancel)), answer: ("The plan", "StockPlan"), id: "cancel_stock_plan", summary: "Cancel a stock plan",
        doc: "Changes that were made stay, and no further ones are made. A plan that has ended is answered as it is." },
    Operation { act: Act::CreatePromotion, method: Method::POST, path: promotions::PATH, on: ONCE, permission: PROMOTE, parameters: &[], body: TakenBody::ObjectOf("PromotionInput"), handler: Handler::InTurn(run!(promotions::create)), answer: ("The schedule", "Promotion"), id: "create_promotion", summary: "Create a promotion schedule",
        doc: "Promotes the selected ads on some days of the week at a time of day. Charges apply to each promotion. A run that was missed happens once, later. A local time that does not exist on a day is the first minute after the gap; one that occurs twice is the first." },
    Operation { act: Act::Promotion, method: Method::GET, path: promotions::PATH, on: ONCE, permission: READ, parameters: PAGE_PARAMETERS, body: NOTHING, handler: Handler::List(run!(promotions::list)), answer: ("A page of schedules", "PromotionPage"), id: "list_promotions", summary: "List promotion schedules",
        doc: "The schedules of the token's scope, newest first." },
    Operation { act: Act::Promotion, method: Method::GET, path: "/v4/promotions/:promotion_id", on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(promotions::read)), answer: ("The schedule", "Promotion"), id: "read_promotion", summary: "Read a promotion schedule",
        doc: "With the time of the next run." },
    Operation { act: Act::Promotion, method: Method::PATCH, path: "/v4/promotions/:promotion_id", on: ONCE, permission: PROMOTE, parameters: &[], body: TakenBody::ObjectOf("PromotionPatch"), handler: Handler::InTurn(run!(promotions::change)), answer: ("The schedule", "Promotion"), id: "patch_promotion", summary: "Update or pause a promotion schedule",
        doc: "Omitted fields are unchanged, and `null` clears one. `paused` pauses and resumes. A run that is under way goes on." },
    Operation { act: Act::Promotion, method: Method::DELETE, path: "/v4/promotions/:promotion_id", on: ONCE, permission: PROMOTE, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(promotions::delete)), answer: ("The schedule", "Promotion"), id: "delete_promotion", summary: "Delete a promotion schedule",
        doc: "Deletes the schedule with its runs. What it has ordered stays ordered." },
    Operation { act: Act::Promotion, method: Method::GET, path: "/v4/promotions/:promotion_id/runs", on: ONCE, permission: READ, parameters: PAGE_PARAMETERS, body: NOTHING, handler: Handler::List(run!(promotions::runs)), answer: ("A page of runs", "PromotionRunPage"), id: "list_promotion_runs", summary: "List the runs of a promotion schedule",
        doc: "What the latest runs did, latest first: the ads that they promoted, with the requests, and those that they skipped, with the reasons." },
    Operation { act: Act::Promotion, method: Method::POST, path: "/v4/promotions/:promotion_id/preview", on: ONCE, permission: READ, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(promotions::preview)), answer: ("What the next run would do", "PromotionPreview"), id: "preview_promotion", summary: "Preview the next run of a promotion schedule",
        doc: "Which ads the next run would promote if it were now, in which order, which ones it would skip and why, and what that would cost. Nothing is ordered." },
    Operation { act: Act::CreateWebhook, method: Method::POST, path: "/v4/webhooks", on: ONCE, permission: WEBHOOKS, parameters: &[], body: TakenBody::ObjectOf("WebhookInput"), handler: Handler::InTurn(run!(webhooks::create)), answer: ("The webhook, with its secret", "NewWebhook"), id: "create_webhook", summary: "Create a webhook",
        doc: "Events from now on are sent to `url`. The answer has the `secret` that signs them; it is shown this once." },
    Operation { act: Act::Other, method: Method::GET, path: "/v4/webhooks", on: ONCE, permission: WEBHOOKS, parameters: PAGE_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(webhooks::list)), answer: ("A page of webhooks", "WebhookPage"), id: "list_webhooks", summary: "List webhooks",
        doc: "The webhooks of the token's scope, oldest first." },
    Operation { act: Act::Other, method: Method::GET, path: "/v4/webhooks/:webhook_id", on: ONCE, permission: WEBHOOKS, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(webhooks::read)), answer: ("The webhook", "Webhook"), id: "read_webhook", summary: "Read a webhook",
        doc: "With the number of pending deliveries, and why it is disabled if it is." },
    Operation { act: Act::Other, method: Method::PATCH, path: "/v4/webhooks/:webhook_id", on: ONCE, permission: WEBHOOKS, parameters: &[], body: TakenBody::ObjectOf("WebhookPatch"), handler: Handler::InTurn(run!(webhooks::change)), answer: ("The webhook", "Webhook"), id: "patch_webhook", summary: "Update a webhook",
        doc: "Omitted fields are unchanged. A disabled webhook keeps its position: with `enabled: true` it continues where it stopped, with `resume: \"now\"` it skips what happened meanwhile." },
    Operation { act: Act::Other, method: Method::DELETE, path: "/v4/webhooks/:webhook_id", on: ONCE, permission: WEBHOOKS, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(webhooks::delete)), answer: ("The webhook", "Webhook"), id: "delete_webhook", summary: "Delete a webhook",
        doc: "Deletes the webhook with its deliveries. Nothing more is sent." },
    Operation { act: Act::Deliver, method: Method::POST, path: "/v4/webhooks/:webhook_id/test", on: ONCE, permission: WEBHOOKS, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(webhooks::test)), answer: ("The delivery, which is pending", "Delivery"), id: "test_webhook", summary: "Send a test event",
        doc: "Queues an event of type `webhook.test`, signed and retried like any other. Returns the delivery; to see what became of it, list the deliveries." },
    Operation { act: Act::Other, method: Method::POST, path: "/v4/webhooks/:webhook_id/rotate-secret", on: ONCE, permission: WEBHOOKS, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(webhooks::rotate_secret)), answer: ("The webhook, with its new secret", "NewWebhook"), id: "rotate_webhook_secret", summary: "Replace the secret",
        doc: "Returns the webhook with a new `secret`. For 24 hours the old one signs too, so that receivers can be changed without losing an event." },
    Operation { act: Act::Other, method: Method::GET, path: "/v4/webhooks/:webhook_id/deliveries", on: ONCE, permission: WEBHOOKS, parameters: DELIVERY_PARAMETERS, body: NOTHING, handler: Handler::InTurn(run!(webhooks::deliveries)), answer: ("A page of deliveries", "DeliveryPage"), id: "list_deliveries", summary: "List deliveries",
        doc: "Newest first, each with its attempts." },
    Operation { act: Act::Deliver, method: Method::POST, path: "/v4/webhooks/:webhook_id/deliveries/:event_id/resend", on: ONCE, permission: WEBHOOKS, parameters: &[], body: NOTHING, handler: Handler::InTurn(run!(webhooks::resend)), answer: ("The delivery, which is pending", "Delivery"), id: "resend_delivery", summary: "Send an event again",
        doc: "Queues the delivery again, with all its retries. The event keeps its id." },
    Operation { act: Act::Other, method: Method::POST, path: "/v4/webhooks/:webhook_id/replay", on: ONCE, permission: WEBHOOKS, parameters: &[], body: TakenBody::ObjectOf("WebhookReplay"), handler: Handler::InTurn(run!(webhooks::replay)), answer: ("The webhook", "Webhook"), id: "replay_webhook", summary: "Send all events again from a cursor or time",
        doc: "Moves the position of the webhook back (or forward) and continues from there. Events that were delivered before are sent again with the same ids." },
];

impl Operation {
    /// The path on a base, in the router's notation.
    pub(crate) fn route(&self, base: BasePath) -> String {
        format!("{base}{}", self.path)
    }

    pub(crate) fn takes_body(&self) -> bool {
        self.body != TakenBody::Nothing
    }

    /// Whether it is about a new ad.
    pub(crate) fn creates(&self) -> bool {
        matches!(self.act, Act::Create | Act::Validate)
    }

    /// Whether GET does it as well as POST.
    pub(crate) fn is_action(&self) -> bool {
        matches!(self.act, Act::Bump | Act::PolePosition | Act::Retry)
    }

    /// Whether it is stored as a request.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.handler, Handler::Write(_))
    }

    /// Whether it writes to one existing ad.
    pub(crate) fn changes_one(&self) -> bool {
        self.is_write() && self.is_about_one()
    }

    /// Whether its answer shows one ad, which then has a tag.
    pub(crate) fn shows_ad(&self) -> bool {
        self.is_write() || self.act == Act::Read
    }

    pub(crate) fn is_about_one(&self) -> bool {
        self.path.starts_with(ONE)
    }

    pub(super) fn cache(&self) -> HeaderValue {
        if self.is_action() { headers::NO_STORE } else { headers::PRIVATE }
    }
}

/// The permission that an operation needs.
pub(crate) fn permission_for(act: Act) -> Option<Permission> {
    OPERATIONS.iter().find(|operation| operation.act == act).and_then(|operation| operation.permission)
}
