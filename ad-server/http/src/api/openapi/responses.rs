//! The status codes and responses of each operation, as [`errors`](crate::api::errors) and the use cases return them there; those that
//! do not depend on what an operation is about are said once for each kind of operation, as `default`.

use std::collections::{BTreeMap, BTreeSet};

use ad_core::{
    categories::{
        FromV3, TRAILER,
        ad_fields::{IDENTITY, WRITTEN},
    },
    violation::Code,
};
use serde_json::{Map, Value, json};

use super::{
    answers::{self, Answer},
    examples::{self, AnswerExample},
    first, reference, referring,
};
use crate::api::{
    compression::Coding,
    operations::{Act, BasePath, Operation, bases},
    problem,
};

/// The kinds of errors that are answered with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// A query parameter is wrong.
    Parameter,
    Payload,
    /// The body is no JSON object.
    Body,
    /// A header with entity tags.
    Tags,
    /// The header with an idempotency key.
    Key,
    /// A business rule refuses the request.
    Rule(&'static str),
    TrailerCreate,
    IncompatibleVersion,
    AlreadyV4,
}

impl Wrong {
    /// Its schema, and the names of its examples.
    fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::Parameter => ("FieldErrors", "ParameterErrors"),
            Self::Payload => ("FieldErrors", "PayloadErrors"),
            Self::Body => ("Detail", "NotJson"),
            Self::Tags => ("Detail", "BadTags"),
            Self::Key => ("Detail", "BadIdempotencyKey"),
            Self::Rule(example) => ("BusinessErrors", example),
            Self::TrailerCreate => ("TrailerCreateDisabled", "TrailerCreateDisabled"),
            Self::IncompatibleVersion => ("IncompatibleApiVersion", "IncompatibleApiVersion"),
            Self::AlreadyV4 => ("AdAlreadyV4", "AdAlreadyV4"),
        }
    }
}

/// The name of the response to a bad lookup.
pub(super) const BAD_LOOKUP: &str = "BadLookup";

/// The name of the response to a bad request, and of its schema if there are several.
fn bad_request_name(act: Act, wrongs: &[Wrong]) -> String {
    if wrongs == [Wrong::Parameter] {
        return "BadParameters".to_owned();
    }
    let mut name = format!("Bad{act:?}");
    let some_only = [
        (Act::Update, Wrong::Rule("UpdateOfDeleted"), "OfRegistered"),
        (Act::Update, Wrong::IncompatibleVersion, "OfMigrating"),
        (Act::Restore, Wrong::IncompatibleVersion, "OfMigrating"),
        (Act::Create, Wrong::TrailerCreate, "OfAny"),
        (Act::Validate, Wrong::TrailerCreate, "OfAny"),
    ];
    for (of, wrong, suffix) in some_only {
        if of == act && wrongs.contains(&wrong) {
            name.push_str(suffix);
        }
    }
    name
}

pub(super) fn succeeds(base: BasePath, operation: &Operation) -> bool {
    let category = base.category();
    match operation.act {
        Act::RefuseCreate => false,
        Act::Create | Act::Validate => category.is_none_or(|category| category.id != TRAILER),
        Act::Migrate => category.is_none_or(|category| matches!(category.from_v3, FromV3::Migrates(_))),
        Act::PolePosition => category.is_none_or(|category| category.registered),
        _ => true,
    }
}

/// All errors of requests that reach the operation.
fn wrongs(base: BasePath, operation: &Operation) -> Vec<Wrong> {
    let category = base.category();
    let mut wrongs = vec![Wrong::Parameter];
    if operation.act == Act::Read || operation.changes_one() {
        wrongs.push(Wrong::Tags);
    }
    if operation.is_write() {
        wrongs.push(Wrong::Key);
    }
    if operation.takes_body() {
        wrongs.push(Wrong::Body);
    }
    let migrates = category.is_some_and(|category| matches!(category.from_v3, FromV3::Migrates(_)));
    match operation.act {
        Act::Create | Act::Validate => {
            wrongs.extend([Wrong::Payload, Wrong::Rule("AdTooLarge")]);
            if category.is_none() {
                wrongs.push(Wrong::TrailerCreate);
            }
        }
        Act::Update => {
            wrongs.extend([Wrong::Payload, Wrong::Rule("AdTooLarge")]);
            // Ads of other categories are revived.
            if category.is_none_or(|category| category.registered) {
                wrongs.push(Wrong::Rule("UpdateOfDeleted"));
            }
            if migrates {
                wrongs.push(Wrong::IncompatibleVersion);
            }
        }
        Act::Migrate => {
            wrongs.extend([
                Wrong::Payload,
                Wrong::Rule("AdTooLarge"),
                Wrong::Rule("MigrateOfDeleted"),
                Wrong::AlreadyV4,
            ]);
        }
        Act::Restore => {
            wrongs.extend([Wrong::Payload, Wrong::Rule("AdTooLarge")]);
            if migrates || category.is_none() {
                wrongs.push(Wrong::IncompatibleVersion);
            }
        }
        Act::Bump => wrongs.push(Wrong::Rule("BumpOfDeleted")),
        Act::PolePosition => wrongs.push(Wrong::Rule("PolePositionOfDeleted")),
        Act::Retry => wrongs.push(Wrong::Rule("RetryOfDeleted")),
        _ => {}
    }
    wrongs
}

/// The responses of an operation on ads.
pub(super) fn of(base: BasePath, operation: &Operation) -> Value {
    let mut responses = others(operation);
    let success = success(base, operation);
    responses.insert(success.status.to_owned(), referring("responses", &success.name));
    let bad_request = bad_request_name(operation.act, &wrongs(base, operation));
    responses.insert("400".to_owned(), referring("responses", &bad_request));
    let when = [
        (operation.act == Act::Read, "304", "NotModified"),
        (operation.is_about_one(), "404", "NotFound"),
        (matches!(operation.act, Act::Create | Act::Validate), "409", "Duplicate"),
        (operation.changes_one(), "412", "PreconditionFailed"),
    ];
    for (_, status, name) in when.into_iter().filter(|(can, ..)| *can) {
        responses.insert(status.to_owned(), referring("responses", name));
    }
    responses.into()
}

fn of_write(mut response: Value) -> Value {
    for name in ["Idempotency-Replayed", "Preference-Applied", "Request-Coalesced-With"] {
        response["headers"][name] = referring("headers", name);
    }
    response
}

pub(super) fn tagged(mut response: Value) -> Value {
    response["headers"]["ETag"] = referring("headers", "ETag");
    response
}

/// The response that stands for all statuses that an operation does not list.
pub(super) fn others(operation: &Operation) -> Map<String, Value> {
    let name = OtherErrors { of_write: operation.is_write(), of_body: operation.takes_body() }.name();
    Map::from_iter([("default".to_owned(), referring("responses", name))])
}

/// The successful response of an operation.
struct Success {
    status: &'static str,
    name: String,
    description: &'static str,
    schema: String,
    example: String,
}

fn success(base: BasePath, operation: &Operation) -> Success {
    let category = base.category();
    let of_ads = |description, answer, shown: AnswerExample| {
        let example = shown.name(&examples::of(base.version(), category.unwrap_or_else(first)));
        (description, answers::name(category, answer), example)
    };
    let (description, schema, example) = match operation.act {
        Act::Validate => of_ads("The payload is valid", Answer::Validated, AnswerExample::Validated),
        Act::List => of_ads("A page of ads", Answer::Page, AnswerExample::Page),
        Act::Status => ("Whether the ad is live, and why not", "AdStatus".to_owned(), "AdStatus".to_owned()),
        Act::Prices => ("The prices of the ad over time", "PriceHistory".to_owned(), "PriceHistory".to_owned()),
        Act::Revisions => ("A page of revisions", "RevisionPage".to_owned(), "RevisionPage".to_owned()),
        Act::Revision => of_ads("The ad as it was", Answer::Ad, AnswerExample::Ad),
        Act::Calls => ("A page of calls", "CallPage".to_owned(), "CallPage".to_owned()),
        Act::Record => ("The signed record", "SignedRecord".to_owned(), "SignedRecord".to_owned()),
        Act::Log => ("A page of log entries", "LogPage".to_owned(), "LogPage".to_owned()),
        _ => of_ads("The ad; a write is accepted and queued", Answer::Ad, AnswerExample::Ad),
    };
    let (status, suffix) = match operation.act {
        Act::Create => ("201", "Created"),
        // Without a tag.
        Act::Revision => ("200", "AsItWas"),
        _ => ("200", ""),
    };
    // The examples of all categories together are those of cars.
    let is_same_of_all =
        matches!(operation.act, Act::Log | Act::Status | Act::Prices | Act::Revisions | Act::Calls | Act::Record);
    let of = if category.is_none() && !is_same_of_all { "Any" } else { "" };
    Success { status, name: format!("{of}{example}{suffix}"), description, schema, example }
}

/// Every response to a bad request, by its name.
fn bad_requests() -> BTreeMap<String, Vec<Wrong>> {
    let of = |base: BasePath| base.operations().map(move |operation| (operation.act, wrongs(base, operation)));
    let lookup = (BAD_LOOKUP.to_owned(), vec![Wrong::Parameter, Wrong::Tags]);
    bases().flat_map(of).map(|(act, wrongs)| (bad_request_name(act, &wrongs), wrongs)).chain([lookup]).collect()
}

/// The schemas of these errors, each once.
fn schemas_of(wrongs: &[Wrong]) -> BTreeSet<&'static str> {
    wrongs.iter().map(|wrong| wrong.described().0).collect()
}

/// The name of the schema of a bad request that is one of these.
fn name_of_schema(schemas: &BTreeSet<&'static str>) -> &'static str {
    let names = [
        ("AdAlreadyV4", "BadMigrate"),
        ("IncompatibleApiVersion", "BadUpdateOfV3"),
        ("TrailerCreateDisabled", "BadCreateOfAny"),
        ("BusinessErrors", "BadWrite"),
    ];
    names.into_iter().find(|(of, _)| schemas.contains(of)).map_or("BadRequest", |(_, name)| name)
}

fn described_bad_request(wrongs: &[Wrong]) -> Value {
    let schemas = schemas_of(wrongs);
    let schema = match schemas.first() {
        Some(only) if schemas.len() == 1 => reference(only),
        _ => reference(name_of_schema(&schemas)),
    };
    let examples: Vec<_> = wrongs.iter().map(|wrong| wrong.described().1).collect();
    let mut response = error("Invalid fields, invalid parameters, or a violated business rule", &schema, &examples);
    let problems = [(Wrong::Payload, "PayloadProblem"), (Wrong::Parameter, "ParameterProblem")].into_iter();
    let problems = problems.filter(|(wrong, _)| wrongs.contains(wrong));
    response["content"][problem::MEDIA_TYPE]["examples"] =
        problems.map(|(_, name)| (name.to_owned(), referring("examples", name))).collect::<Map<_, _>>().into();
    response
}

/// Headers that every response may have, and what describes them. They are said once, at the response for other errors, and in the guide.
const SHARED_HEADERS: &[(&str, &str)] = &[
    ("Cache-Control", "CacheControl"),
    ("Content-Encoding", "ContentEncoding"),
    ("Link", "Link"),
    ("RateLimit", "RateLimit"),
    ("RateLimit-Policy", "RateLimitPolicy"),
    ("Retry-After", "RetryAfter"),
    ("Vary", "Vary"),
];

/// Headers of responses, by the names of their components.
#[rustfmt::skip]
pub(super) fn headers() -> Value {
    let text = || json!({"type": "string"});
    let uuid = || json!({"type": "string", "format": "uuid"});
    let always = |description: &str, schema: Value| json!({"description": description, "required": true, "schema": schema});
    let sometimes = |description: &str, schema: Value| json!({"description": description, "schema": schema});
    let shown = |mut header: Value, example: &str| {
        header["example"] = json!(example);
        header
    };
    let limit = |description: &str, example: &str| json!({"description": description, "required": false, "schema": text(), "example": example});
    let codings: Vec<_> = Coding::ALL.iter().map(|coding| coding.name().to_str().unwrap_or_default().to_owned()).collect();
    json!({
        "RequestId": always("Id of the request, and `request_id` of its log entries", uuid()),
        "ETag": sometimes("Tag of what the answer shows, for `If-None-Match`; that of an ad for `If-Match` as well. An ad as it was (`at`) has none", json!({"type": "string", "pattern": "^\"[!#-~]+\"$"})),
        "Idempotency-Replayed": sometimes("The answer is that of the first request with this `Idempotency-Key`, and so is `X-Request-Id`", json!({"type": "string", "enum": ["true"]})),
        "Preference-Applied": sometimes("The answer was sent when the request had finished or the time of `Prefer` was over", json!({"type": "string", "enum": ["wait"]})),
        "Request-Coalesced-With": sometimes("No request was made: this unfinished one of the ad is to do the same", uuid()),
        "RetryAfter": sometimes("Seconds after which to repeat the request; with 429 and 503", json!({"type": "integer", "minimum": 0})),
        "CacheControl": shown(always("How caches may store the answer", text()), "private, no-cache"),
        "Vary": shown(always("Request headers on which the answer depends", text()), "X-Auth-Token"),
        "ContentEncoding": sometimes("Coding of the body, one that `Accept-Encoding` names; from 1 KiB on", json!({"type": "string", "enum": codings})),
        "Link": shown(always("This document (`service-desc`) and its page (`service-doc`); in lists and logs also the `first`, `prev`, `next` and `last` page (RFC 8288)", text()),
            "</openapi.json>; rel=\"service-desc\"; type=\"application/json\""),
        "RateLimitPolicy": limit("If the operator has set a rate limit: requests at once (`q`), and the seconds after which all of them are possible again (`w`)", "\"scope\";q=100;w=5"),
        "RateLimit": limit("If the operator has set a rate limit: requests that are possible now (`r`), and the seconds until all of the quota is available (`t`)", "\"scope\";r=99;t=1"),
        "Location": always("Address of the ad", json!({"type": "string", "format": "uri"})),
        "AcceptEncoding": shown(sometimes("Codings that are accepted; with 415", text()), "gzip"),
    })
}

/// A response with a body.
pub(super) fn described(description: &str, schema: &Value, examples: &[&str]) -> Value {
    let examples: Map<_, _> = examples.iter().map(|name| ((*name).to_owned(), referring("examples", name))).collect();
    json!({
        "description": description,
        "headers": {"X-Request-Id": referring("headers", "RequestId")},
        "content": {"application/json": {"schema": schema, "examples": examples}},
    })
}

/// A response with an error, also as problem details.
pub(super) fn error(description: &str, schema: &Value, examples: &[&str]) -> Value {
    let mut response = described(description, schema, examples);
    response["content"][problem::MEDIA_TYPE] = json!({"schema": reference("Problem")});
    response
}

/// The errors of a kind of operations that do not depend on what an operation is about.
#[derive(Debug, Clone, Copy)]
struct OtherErrors {
    /// Of operations that are stored as requests, and have idempotency keys.
    of_write: bool,
    /// Of operations that read a body.
    of_body: bool,
}

/// Which operations can answer an error.
#[derive(Debug, Clone, Copy)]
enum AnsweredBy {
    All,
    Writes,
    ReadersOfBodies,
}

/// Status, when it is answered, examples, and by which operations.
#[rustfmt::skip]
const OTHERS: &[(u16, &str, &[&str], AnsweredBy)] = &[
    (401, "no token, or an invalid one", &["NoToken", "InvalidToken"], AnsweredBy::All),
    (403, "the token lacks the permission", &["Forbidden"], AnsweredBy::All),
    (408, "the body did not arrive in time", &["Slow", "Trickle"], AnsweredBy::ReadersOfBodies),
    (413, "the body is larger than 1 MiB, after decompression if it is compressed", &["TooLarge"], AnsweredBy::ReadersOfBodies),
    (415, "the body is in a content coding other than gzip", &["UnsupportedCoding"], AnsweredBy::ReadersOfBodies),
    (422, "the `Idempotency-Key` was used for a request with another query or body", &["KeyReused"], AnsweredBy::Writes),
    (429, "the dealer has exceeded the operator's rate limit, or has too many lists or event streams open", &["TooMany"], AnsweredBy::All),
    (429, "the ad or dealer has too many unfinished requests, or too many wait (`Prefer: wait`)", &["TooManyUnfinished", "TooManyWaiting"], AnsweredBy::Writes),
    (500, "internal error", &["Internal"], AnsweredBy::All),
    (503, "the database is unavailable, or the dealer has too many requests in process", &["Unavailable", "Crowded"], AnsweredBy::All),
    (503, "large bodies take up the memory for them", &["NoMemory"], AnsweredBy::ReadersOfBodies),
];

impl OtherErrors {
    fn all() -> [Self; 4] {
        let of = |of_write, of_body| Self { of_write, of_body };
        [of(false, false), of(false, true), of(true, false), of(true, true)]
    }

    /// The name of the response.
    fn name(self) -> &'static str {
        match (self.of_write, self.of_body) {
            (false, false) => "Error",
            (false, true) => "ErrorOfBody",
            (true, false) => "ErrorOfWrite",
            (true, true) => "ErrorOfWriteWithBody",
        }
    }

    fn response(self) -> Value {
        let rows = OTHERS.iter().filter(|(.., by)| match by {
            AnsweredBy::All => true,
            AnsweredBy::Writes => self.of_write,
            AnsweredBy::ReadersOfBodies => self.of_body,
        });
        let (mut by_status, mut examples) = (BTreeMap::<u16, Vec<&str>>::new(), Vec::new());
        for (status, when, shown, _) in rows {
            by_status.entry(*status).or_default().push(when);
            examples.extend_from_slice(shown);
        }
        let lines = by_status.iter().map(|(status, when)| format!("\n- {status}: {}", when.join("; or ")));
        let description = "Any other error:\n".to_owned() + &lines.collect::<String>();
        let mut response = error(&description, &reference("Detail"), &examples);
        if self.of_body {
            response["headers"]["Accept-Encoding"] = referring("headers", "AcceptEncoding");
        }
        response
    }
}

/// The responses that operations share.
pub(super) fn shared() -> Value {
    let detail = |description: &str, examples: &[&str]| error(description, &reference("Detail"), examples);
    let mut responses = json!({
        "NotFound": detail("No such ad in the token's scope, or not of this vehicle type", &["NotFound", "FoundElsewhere"]),
        "NoSuchLookup": detail("No such vehicle type or attribute", &["NoSuchVehicleType"]),
        "NoSuchRequest": detail("No accepted request of this id in the token's scope", &["NoSuchRequest"]),
        "PreconditionFailed": tagged(detail("The ad was changed meanwhile: `If-Match` does not name its revision", &["PreconditionFailed"])),
        "Duplicate": error("The dealer has used this source_id", &reference("FieldErrors"), &["Duplicate"]),
    });
    responses["NotModified"] = tagged(json!({
        "description": "What `If-None-Match` names is current",
        "headers": {"X-Request-Id": referring("headers", "RequestId")},
    }));
    for others in OtherErrors::all() {
        responses[others.name()] = others.response();
    }
    for (name, shared) in SHARED_HEADERS {
        responses["Error"]["headers"][*name] = referring("headers", shared);
    }
    responses["Duplicate"]["headers"]["Location"] = referring("headers", "Location");
    for (name, wrongs) in bad_requests() {
        responses[&name] = described_bad_request(&wrongs);
    }
    for base in bases() {
        for operation in base.operations().filter(|operation| succeeds(base, operation)) {
            let Success { status, name, description, schema, example } = success(base, operation);
            let response = described(description, &reference(&schema), &[&example]);
            // Reads and writes of an ad share it.
            let mut response = if operation.shows_ad() { of_write(response) } else { response };
            if status == "201" {
                response["headers"]["Location"] = referring("headers", "Location");
            }
            responses[name] = if operation.shows_ad() { tagged(response) } else { response };
        }
    }
    responses
}

/// The schemas of errors that depend on tables, or whose shape no struct has.
pub(super) fn schemas() -> Map<String, Value> {
    let fields = [IDENTITY, WRITTEN].into_iter().flatten().map(|row| row.path.split('.').next().unwrap_or(row.path));
    let fields: Map<_, _> = fields.map(|name| (name.to_owned(), reference("FieldError"))).collect();
    let texts = json!({"type": "array", "minItems": 1, "items": {"type": "string"}});
    let mut rules = texts.clone();
    rules["description"] = json!("Violated business rules");
    let refusal = |code: Code, mut members: Value| {
        members["error"] = json!({"type": "string", "enum": [code]});
        let names: Vec<_> = members.as_object().into_iter().flat_map(Map::keys).cloned().collect();
        json!({"type": "object", "required": names, "properties": members})
    };
    let text = json!({"type": "string"});
    let way = json!({"type": "object", "required": ["method", "steps"],
        "properties": {"method": {"type": "string", "enum": ["migrate", "delete_and_create"]}, "steps": texts}});
    let ways = json!({"type": "array", "minItems": 1, "items": way});
    let fixed = [
        (
            "FieldErrors",
            json!({"type": "object", "minProperties": 1, "properties": fields, "additionalProperties": reference("FieldError"),
                "description": "Keys are fields, parameters, or indexes of arrays; leaves are lists of messages"}),
        ),
        (
            "FieldError",
            json!({"description": "What is wrong with a field, or with its members",
                "oneOf": [reference("Messages"), reference("FieldErrors")]}),
        ),
        ("Messages", texts),
        ("BusinessErrors", rules),
        ("TrailerCreateDisabled", refusal(Code::TrailerCreateDisabled, json!({}))),
        (
            "IncompatibleApiVersion",
            refusal(Code::IncompatibleApiVersion, json!({"message": text, "migration_options": ways})),
        ),
        ("AdAlreadyV4", refusal(Code::AdAlreadyV4, json!({"message": text, "suggestion": text}))),
    ];
    let mut schemas: Map<_, _> = fixed.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    for wrongs in bad_requests().values() {
        let of = schemas_of(wrongs);
        if of.len() > 1 {
            let several: Vec<_> = of.iter().map(|name| reference(name)).collect();
            schemas.insert(name_of_schema(&of).to_owned(), json!({"oneOf": several}));
        }
    }
    schemas
}
