//! What is read beside ads: allowed values, accepted requests, events, the token, numbers of ads.

use serde_json::{Map, Value, json};

use super::{
    code_samples::Sample,
    descriptions::needs,
    parameters::{self, IF_NONE_MATCH},
    reference, referring, responses,
};
use crate::api::{events, me};
use ad_server_access::auth::Permission;

/// The tags of these paths and of webhooks, in the order in which the pages show them.
const TAGS: &[(&str, &str)] = &[
    (LOOKUPS, "Allowed values"),
    ("requests", "Accepted requests"),
    ("events", "What happens to ads"),
    ("token", "The token itself"),
    ("summary", "Numbers of ads"),
    (super::webhooks::TAG, "Events sent to your own address"),
];

const LOOKUPS: &str = "lookups";

pub(super) fn tags() -> impl Iterator<Item = Value> {
    TAGS.iter().map(|(name, description)| json!({"name": name, "description": description}))
}

/// A path with one operation.
struct ReadOperation {
    path: &'static str,
    tag: &'static str,
    id: &'static str,
    summary: &'static str,
    doc: &'static str,
    /// Description and schema of the answer.
    answer: (&'static str, &'static str),
    examples: &'static [&'static str],
    /// The response if what the path names does not exist.
    missing: Option<&'static str>,
    sample: &'static str,
}

const VALUES: &str = "Use the ids in payloads, and the names to show them to people. The values change with the catalogue of the service \
    only; keep them for some minutes.";

const ENTRIES: (&str, &str) = ("The values, with their names", "LookupEntries");

#[rustfmt::skip]
static READS: &[ReadOperation] = &[
    ReadOperation { path: "/v4/vehicles/{vehicle_type}/attributes", tag: LOOKUPS, id: "attributes", summary: "List the attributes that have allowed values", doc: VALUES,
        answer: ENTRIES, examples: &["Attributes"], missing: Some("NoSuchLookup"), sample: "/v4/vehicles/car/attributes" },
    ReadOperation { path: "/v4/vehicles/{vehicle_type}/{attribute}", tag: LOOKUPS, id: "values", summary: "List the values of an attribute", doc: VALUES,
        answer: ENTRIES, examples: &["RatingValues", "Values"], missing: Some("NoSuchLookup"), sample: "/v4/vehicles/car/brand" },
    ReadOperation { path: "/v4/vehicles/car/models", tag: LOOKUPS, id: "car_models", summary: "List the models of a car brand", doc: VALUES,
        answer: ENTRIES, examples: &["Models"], missing: None, sample: "/v4/vehicles/car/models?brand={brand}" },
    ReadOperation { path: "/v4/requests/{request_id}", tag: "requests", id: "request", summary: "Read the status of a request",
        doc: "What has become of an accepted request, also long after it was finished.",
        answer: ("The status of the request", "RequestStatus"), examples: &["RequestStatus"], missing: Some("NoSuchRequest"), sample: "/v4/requests/01905b1c-6a52-7000-8000-000000000002" },
    ReadOperation { path: events::PATH, tag: "events", id: "events", summary: "Read events",
        doc: "The log entries of all ads in the token's scope, as one sequence: those of an ad in the order of its log. Read a page, store its `cursor`, and read on `after` it: every event comes once. With `wait`, the answer is sent as soon as there is an event (long poll). With `Accept: text/event-stream` the answer is a stream of server-sent events, whose `id` is the cursor; it ends when the token is revoked or expires. Neither counts as a request of the rate limit.",
        answer: ("A page of events, or a stream of them", "EventPage"), examples: &["EventPage"], missing: None, sample: "/v4/events?types=ad.publish.*&wait=30" },
    ReadOperation { path: me::PATH, tag: "token", id: "me", summary: "Read what the token gives access to",
        doc: "Scope, dealers, permissions and limits of the token. Needs no permission.",
        answer: ("The token and its dealers", "Me"), examples: &["Me"], missing: None, sample: me::PATH },
    ReadOperation { path: "/v4/summary", tag: "summary", id: "summary", summary: "Count ads by status",
        doc: "The ads of the token's dealer or group, deleted ones included, by status, vehicle type, marketplace and code of failure. Answered from an index, so it may be asked every few seconds.",
        answer: ("The number of ads by status", "Summary"), examples: &["Summary"], missing: None, sample: "/v4/summary" },
];

/// All paths. `brand` is an example of one.
pub(super) fn paths(brand: &str) -> Map<String, Value> {
    READS.iter().map(|read| (read.path.to_owned(), json!({"get": read.describe(brand)}))).collect()
}

impl ReadOperation {
    fn describe(&self, brand: &str) -> Value {
        let Self { tag, id, summary, doc, sample, .. } = self;
        let needs = if self.path == me::PATH { String::new() } else { format!("\n\n{}", needs(Permission::Read)) };
        json!({
            "tags": [tag],
            "operationId": id,
            "summary": summary,
            "description": format!("{doc}{needs}"),
            "parameters": self.parameters(brand),
            "responses": self.responses(),
            "x-codeSamples": Sample::get(sample.replace("{brand}", brand)).in_all_languages(),
        })
    }

    fn parameters(&self, brand: &str) -> Vec<Value> {
        let mut parameters = parameters::of_path(self.path);
        match self.id {
            "car_models" => parameters.push(json!({
                "name": "brand", "in": "query", "required": true, "schema": reference("CarBrand"), "example": brand,
                "description": "A car brand, as `GET /v4/vehicles/car/brand` lists it",
            })),
            "events" => parameters.extend(parameters::of_events()),
            "summary" => parameters.push(referring("parameters", "list.dealer_code")),
            _ => {}
        }
        if self.tag == LOOKUPS {
            parameters.push(referring("parameters", IF_NONE_MATCH));
        }
        parameters
    }

    fn responses(&self) -> Value {
        let is_lookup = self.tag == LOOKUPS;
        let mut responses = responses::shared_by_all();
        if self.path == me::PATH {
            responses.remove("403");
        }
        let (description, schema) = self.answer;
        let mut success = responses::described(description, &reference(schema), self.examples);
        if self.path == events::PATH {
            let description = "Server-sent events: `id` is a cursor, `event` a type, `data` an `Event`";
            success["content"]["text/event-stream"] = json!({"schema": {"description": description, "type": "string"}});
        }
        responses.insert("200".to_owned(), if is_lookup { responses::tagged(success) } else { success });
        let bad = if is_lookup { responses::BAD_LOOKUP } else { "BadParameters" };
        let others = [
            ("304", is_lookup.then_some("NotModified")),
            ("400", Some(bad)),
            ("404", self.missing),
            ("503", (!is_lookup).then_some("Unavailable")),
        ];
        for (status, name) in others {
            responses.extend(name.map(|name| (status.to_owned(), referring("responses", name))));
        }
        responses.into()
    }
}
