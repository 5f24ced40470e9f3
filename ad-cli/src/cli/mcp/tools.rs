//! The tools: which command each runs, what it may do, and which arguments it has.

use super::Access;

/// What a tool does, which determines the access that it needs and the annotations that clients get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// Adds something, or starts something again.
    Adds,
    Replaces,
    /// Is charged for each ad.
    Charges,
}

/// The arguments that a tool has of those of its command. Arguments that are paths of files are never among them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Offered {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

/// Payloads that the command reads from stdin: the argument `payload` of every tool that takes some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payload {
    pub(super) about: &'static str,
    pub(super) count: Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// One or none: an object.
    Optional,
    One,
    /// Several: an array of objects; a single one may be the object itself.
    Several,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) command: &'static [&'static str],
    pub(super) effect: Effect,
    pub(super) offered: Offered,
    pub(super) payload: Option<Payload>,
    /// Options of every call, before those of the call, which override them.
    pub(super) always: &'static [&'static str],
    /// The summary, instead of that of the command, which speaks of files or of following.
    pub(super) about: Option<&'static str>,
    /// What follows the summary, instead of the explanation in its help, which is for people at a terminal.
    pub(super) note: Option<&'static str>,
    /// Descriptions of arguments, instead of the help of their options: where that speaks of the terminal, or of what `always` changes.
    pub(super) described: &'static [(&'static str, &'static str)],
    /// An argument that this tool needs, and its command does not.
    pub(super) required: Option<&'static str>,
}

impl Tool {
    const fn new(name: &'static str, command: &'static [&'static str], effect: Effect, offered: Offered) -> Self {
        Self {
            name,
            command,
            effect,
            offered,
            payload: None,
            always: &[],
            about: None,
            note: None,
            described: &[],
            required: None,
        }
    }

    const fn always(self, always: &'static [&'static str]) -> Self {
        Self { always, ..self }
    }

    const fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    const fn described(self, described: &'static [(&'static str, &'static str)]) -> Self {
        Self { described, ..self }
    }

    const fn requires(self, argument: &'static str) -> Self {
        Self { required: Some(argument), ..self }
    }

    const fn payload(self, count: Count, about: &'static str) -> Self {
        Self { payload: Some(Payload { about, count }), ..self }
    }

    /// The option that allows it, if it is not allowed.
    pub(super) fn missing_option(&self, access: Access) -> Option<&'static str> {
        match self.effect {
            Effect::Adds | Effect::Replaces if !access.write => Some("--allow-write"),
            Effect::Charges if access.promotions.is_none() => Some("--allow-promote N"),
            _ => None,
        }
    }
}

use Count::{One, Optional, Several};
use Effect::{Adds, Charges, Reads, Replaces};
use Offered::{AllBut, Only};

const DEALER: Offered = Only(&["source_id", "dealer_code"]);
const DEALER_MANY: Offered = Only(&["source_ids", "dealer_code"]);
const ACT: Offered = Only(&["source_ids", "dealer_code", "dry_run"]);

const PAYLOAD: &str = "The ad. The tool `new` returns a sample payload, `fields` and `values` what it may contain.";
const PAYLOADS: &str = "The ads. The tool `new` returns a sample payload, `fields` and `values` what it may contain.";
const FIELDS: (&str, &str) =
    ("fields", "Only these fields of the answer, each a dotted path, such as `price.0.amount`");
const ADS: &[(&str, &str)] = &[("source_ids", "Source ids of the ads")];
const SCHEDULE: &[(&str, &str)] = &[
    ("select", "Filters of the tool `list`, each as FILTER=VALUE, such as status=live"),
    ("most_per_run", "Maximum number of ads of a run"),
];
const PERMANENT: &str =
    "Permanent: the source ids can never be used again. Deleted ads remain readable. Takes source ids only, no plates.";

/// All tools, in the order in which they are listed.
#[rustfmt::skip]
pub(super) const TOOLS: &[Tool] = &[
    Tool::new("status", &["status"], Reads, Only(&["source_ids", "dealer_code", "most"])),
    Tool::new("list", &["list"], Reads, AllBut(&["all", "words"])).always(&["--limit=20"])
        .note("Returns 20 ads unless `limit` says otherwise; `offset` returns the next page. Choose the `fields` that you need: whole ads are \
            large. Deleted ads are listed with `deleted`, or where `state`, `status` or an id asks for them. Times are UTC.")
        .described(&[FIELDS, ("limit", "Page size, 1 to 500; 20 if absent")]),
    Tool::new("get", &["get"], Reads, Only(&["source_id", "dealer_code", "at", "revision"])),
    Tool::new("log", &["log"], Reads, AllBut(&["follow", "all"])).always(&["--limit=50", "--ordering=-created"])
        .note("Returns the 50 latest entries, the newest first, unless `limit`, `offset` or `ordering` says otherwise.")
        .described(&[FIELDS, ("ordering", "Order; -created if absent: newest first")]),
    Tool::new("quality", &["quality"], Reads, DEALER_MANY),
    Tool::new("prices", &["prices"], Reads, DEALER),
    Tool::new("history", &["history"], Reads, DEALER)
        .note("Returns every recorded change, the newest first: when, with which token and through what it was made, and the values that it \
            changed. To read the ad as it was: tool `get` with `revision` or `at`."),
    Tool::new("calls", &["calls"], Reads, DEALER)
        .note("Returns the latest 500 calls, the newest first. `status` is the HTTP status of the answer; null if none came. `content_sha256` is of \
            the listing as it was sent."),
    Tool::new("summary", &["summary"], Reads, Only(&[])),
    Tool::new("events", &["events"], Reads, AllBut(&["follow"])).always(&["--limit=100"]).about("Show the events of all ads")
        .note("An event is an entry in the log of an ad. Returns 100 events unless `limit` says otherwise, from the oldest on, or from the \
            cursor `after` on. `notes` contains the cursor for the next call. A type is ad.ACTION.STATE, where * stands for any action or state.")
        .described(&[FIELDS, ("types", "Only events of these types, such as `ad.publish.done` and `ad.*.error`")]),
    Tool::new("request", &["request"], Reads, Only(&["id"]))
        .note("Returns the state of an accepted request, what it waits for, and the latest log entry of each of its actions.")
        .described(&[("id", "`request_id` in the result of the tool that made the request, or in log entries")]),
    Tool::new("wait", &["wait"], Reads, Only(&["source_id", "dealer_code", "until"])).always(&["--within=60s"])
        .note("Call it after a change: the service accepts a change first and processes it afterwards. Waits for at most a minute."),
    Tool::new("stock_plans", &["stock", "show"], Reads, Only(&["limit", "offset"])).about("List the stock plans")
        .note("A stock plan is a dealer's whole stock, or a change of many ads, compared with the stored ads before anything changes."),
    Tool::new("stock_plan", &["stock", "show"], Reads, Only(&["id"])).about("Show a stock plan").requires("id")
        .note("Returns its state, the number of changes of each kind by dealer, what has become of them, whether it has more removals than allowed \
            (`guard`), and why it was refused or ads of it are invalid (`errors`)."),
    Tool::new("stock_plan_changes", &["stock", "show"], Reads, Only(&["id", "kind", "outcome", "source_id", "limit", "offset"]))
        .always(&["--changes"]).about("Show the changes of a stock plan").requires("id")
        .note("Returns the values before and after, why an ad is invalid, and what has become of each change; 50 changes unless `limit` says otherwise."),
    Tool::new("account", &["account"], Reads, Only(&[]))
        .note("A price is for one marketplace. `left` is what promotions may still cost this month; null without a limit."),
    Tool::new("charges", &["account", "charges"], Reads, AllBut(&["all"])).about("List what promotions have cost")
        .note("The newest first; 50 charges unless `limit` says otherwise."),
    Tool::new("promotions", &["promotions", "list"], Reads, Only(&["limit", "offset"])).about("List the promotion schedules")
        .note("A schedule bumps ads, or gives them pole position, at a time of day, by itself."),
    Tool::new("promotion", &["promotions", "show"], Reads, Only(&["id"])).about("Show a promotion schedule"),
    Tool::new("promotion_preview", &["promotions", "preview"], Reads, Only(&["id"])).about("Show what the next run of a promotion schedule would do now")
        .note("Returns the ads that it would promote, those that it would skip with the reasons, and the cost. Nothing is ordered."),
    Tool::new("promotion_runs", &["promotions", "runs"], Reads, Only(&["id", "limit", "offset"])).about("Show what the latest runs of a promotion schedule did")
        .note("Returns the promoted ads with their requests, the skipped ads with the reasons, and the cost of each run, latest first."),
    Tool::new("fields", &["fields"], Reads, Only(&["type", "search", "required"])).note("Without `type`, returns the vehicle types."),
    Tool::new("values", &["values"], Reads, Only(&["type", "attribute", "search"]))
        .note("Without `attribute`, returns the fields with allowed values. The models of a brand: tool `models`."),
    Tool::new("models", &["models"], Reads, Only(&["brand", "search"])),
    Tool::new("new", &["new"], Reads, Only(&["type", "full", "visible", "source_id"]))
        .note("The ad is hidden unless `visible` is true. Nothing is stored."),
    Tool::new("validate", &["validate"], Reads, Only(&["type", "v3", "online"])).payload(Several, PAYLOADS)
        .note("Returns errors and warnings; none for valid payloads. Nothing is stored. A finding names the payload by its `line`, where 1 is the first."),
    Tool::new("photos_check", &["photos", "check"], Reads, Only(&["ad", "dealer_code"])).about("Try to fetch the photos of ads, as the service would")
        .note("The photos are fetched from this computer. Nothing is changed.").requires("ad").described(&[("ad", "Source ids of the ads, or their plates")]),
    Tool::new("photos_check_payloads", &["photos", "check"], Reads, Only(&[])).payload(Several, PAYLOADS)
        .about("Try to fetch the photos of payloads before they are sent, as the service would")
        .note("The photos are fetched from this computer. Nothing is changed."),
    Tool::new("whoami", &["whoami"], Reads, Only(&["online"]))
        .note("The token is decoded, not verified: with `online`, the service checks its signature and whether it was revoked."),
    Tool::new("doctor", &["doctor"], Reads, Only(&[])),
    Tool::new("create", &["create"], Adds, Only(&["type", "v3", "dry_run"])).payload(One, PAYLOAD)
        .note("The payload is validated locally first; an invalid one is not sent. With `dry_run`, the service validates it and stores nothing."),
    Tool::new("import", &["import"], Adds, Only(&["type", "v3", "dry_run"])).always(&["--no-wait"]).payload(Several, PAYLOADS)
        .about("Create several ads from payloads").note("All payloads are validated locally first; invalid ones are reported and skipped."),
    Tool::new("plan_stock", &["stock", "plan"], Adds, Only(&["missing", "vehicle_types", "dealer_code", "most_removals"])).always(&["--within=60s"])
        .payload(Several, PAYLOADS).about("Compare a dealer's whole stock with the stored ads")
        .note("No ad is changed: the result is a stock plan, which the tool `apply_stock_plan` applies. The payloads are the desired state of the \
            stock; fields that a payload does not contain are to be cleared. Show the user the changes before you apply them."),
    Tool::new("plan_change", &["stock", "plan"], Adds, Only(&["select", "price_percent", "price_amount", "round", "set", "dealer_code"])).always(&["--within=60s"])
        .about("Plan the same change of many ads").requires("select")
        .note("No ad is changed: the result is a stock plan, which the tool `apply_stock_plan` applies. Give `price_percent`, `price_amount` or `set`. An ad passes all \
            filters of `select`, which are those of the tool `list`, each as FILTER=VALUE. Show the user the changes before you apply them.")
        .described(&[("select", "Filters of the tool `list`, each as FILTER=VALUE, such as status=live")]),
    Tool::new("apply_stock_plan", &["stock", "apply"], Replaces, Only(&["id", "allow_removals", "dry_run"])).always(&["--yes", "--within=60s"])
        .note("Deletions are permanent. An ad that has changed since the plan was made stays as it is. Waits for at most a minute, and the service goes on \
            after that: the tool `stock_plan` shows how far it is."),
    Tool::new("cancel_stock_plan", &["stock", "cancel"], Replaces, Only(&["id"]))
        .note("Of a plan that is being applied, the changes that have been made stay."),
    Tool::new("update", &["update"], Replaces, Only(&["source_id", "dealer_code", "set", "unset", "if_match", "dry_run"]))
        .payload(Optional, "The fields to change, as a JSON object. Arrays and `location` are replaced whole, other objects are merged.")
        .note("Other fields are unchanged. Give `payload`, `set` or `unset`. An item of `set` is PATH=VALUE, such as price.0.amount=189000; \
            PATH may be the name of a field, where only one field has it. `notes` shows each field before and after.")
        .described(&[
            ("set", "Fields to set, each as PATH=VALUE"), ("unset", "Paths of the fields to clear"),
            ("if_match", "Update only this revision of the ad: the ETag in `notes` of the tool `get`, or *"),
        ]),
    Tool::new("price", &["price"], Replaces, Only(&["source_id", "dealer_code", "amount", "reduced", "dry_run"]))
        .note("Sets the list price, and removes a reduced price; prices of other types, such as leasing, stay. With `reduced`, the list price \
            stays, and `amount` is the reduced price, which has to be lower."),
    Tool::new("restore", &["restore"], Replaces, Only(&["source_id", "dealer_code", "revision", "if_match"]))
        .note("Updates the ad to what it said in a revision, by the rules of today. The tool `history` lists the revisions. `notes` names fields that \
            cannot change and stay as they are.")
        .described(&[("if_match", "Restore only while the ad has this revision: the ETag in `notes` of the tool `get`, or *")]),
    Tool::new("hide", &["hide"], Replaces, ACT).note("The ads stay at the service; `show` publishes them again."),
    Tool::new("show", &["show"], Replaces, ACT).note("Publishes ads that were created hidden, or hidden later. To read an ad: tool `get`."),
    Tool::new("retry", &["retry"], Adds, ACT).described(ADS),
    Tool::new("sold", &["sold"], Replaces, ACT).always(&["--yes"]).note(PERMANENT).described(ADS),
    Tool::new("delete", &["delete"], Replaces, ACT).always(&["--yes"]).note(PERMANENT).described(ADS),
    Tool::new("bump", &["bump"], Charges, Only(&["source_ids", "dealer_code", "exclude", "dry_run"])).always(&["--yes"])
        .note("Each bump is charged. The ad must be visible, and the dealer needs permission to bump.").described(ADS),
    Tool::new("pole_position", &["pole-position"], Charges, ACT).always(&["--yes"])
        .note("Each pole position is charged. Registered vehicles only. Takes source ids only, no plates.").described(ADS),
    Tool::new("add_promotion", &["promotions", "add"], Charges, AllBut(&["yes"])).always(&["--yes"]).about("Add a promotion schedule").requires("most_per_run")
        .note("Each promotion of each run is charged, until the schedule is paused or removed; give a `budget` or `until`. It counts as `most_per_run` \
            promotions. An ad passes all filters of `select`, which are those of the tool `list`, each as FILTER=VALUE.")
        .described(SCHEDULE),
    Tool::new("update_promotion", &["promotions", "update"], Charges, AllBut(&["yes"])).always(&["--yes"]).about("Change a promotion schedule").requires("most_per_run")
        .note("What is not given stays as it is. It counts as `most_per_run` promotions. An ad passes all filters of `select`, which are those of the \
            tool `list`, each as FILTER=VALUE.")
        .described(SCHEDULE),
    Tool::new("pause_promotion", &["promotions", "pause"], Charges, Only(&["id"])).about("Pause a promotion schedule"),
    Tool::new("remove_promotion", &["promotions", "remove"], Charges, Only(&["id", "dry_run"])).always(&["--yes"]).about("Remove a promotion schedule")
        .note("Its runs are removed, too. What it has ordered stays ordered."),
];
