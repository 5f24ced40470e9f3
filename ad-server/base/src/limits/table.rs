//! The limits of the service: constants of the program, and one table of all limits, from which `docs/operations.md` is generated.
//!
//! Code reads the constants, and operators see which limits clients have met by the codes of the table.

use std::time::Duration;

use ad_core::{
    categories::ad_fields::MOST_IMAGES,
    model::{
        DEFAULT_LIMIT, LATEST_ENTRIES, MAX_LIMIT, MOST_AT_ONCE, MOST_CANDIDATES, MOST_EARLIER_PRICES,
        MOST_MESSAGE_BYTES, MOST_PER_RUN, MOST_PROMOTIONS, MOST_REVISIONS, MOST_RUNS, MOST_UNFINISHED,
        MOST_UNFINISHED_PLANS,
    },
    ports::PAGE_BYTES,
    rulebook::size::{MOST_BYTES, MOST_LEVELS},
    violation::Code,
    words::MOST_WORDS,
};
use ad_parameters::{MAX_ITEMS, MAX_QUERY, MAX_TERM, MAX_TEXT};

pub const CONNECTIONS_BEYOND: usize = 32;
pub const TIME_BEYOND: Duration = Duration::from_secs(5);
pub const HTTP2_STREAMS: u32 = 16;
/// What a connection of HTTP/2 may send before it is read, on one stream and altogether. Bodies wait there until there is memory for
/// them; all streams together have enough that one that waits does not hold up another.
pub const HTTP2_STREAM_WINDOW: u32 = 32 * 1024;
pub const HTTP2_CONNECTION_WINDOW: u32 = HTTP2_STREAMS * HTTP2_STREAM_WINDOW;
/// Headers of one request. HTTP/1.1 buffers twice as much, for the longest address that is possible and headers beside it.
pub const HEADER_BYTES: u32 = 64 * 1024;
pub const HTTP_HEADERS: usize = 100;
pub const HTTP1_BUFFER: usize = 2 * HEADER_BYTES as usize;
/// Bytes a second that a client has to take of an answer on average, and how far it may fall behind. Long enough for a client that works
/// on what it has read, or loses its network for a moment.
pub const ANSWER_RATE: usize = 16 * 1024;
pub const ANSWER_BEHIND: Duration = Duration::from_secs(20);

pub const PENDING_DELIVERIES: u32 = 1000;
/// Maximum number of concurrent attempts in a process. Some are reserved for webhooks without an attempt in progress, and each webhook
/// has a maximum of its own.
pub const ATTEMPTS: usize = 128;
pub const ATTEMPTS_RESERVED: usize = 96;
pub const ATTEMPTS_OF_WEBHOOK: usize = 8;
pub const ATTEMPTS_OF_FAILING_WEBHOOK: usize = 2;
pub const ATTEMPT_TIME: Duration = Duration::from_secs(15);
pub const WEBHOOKS_OF_PROCESS: usize = 10_000;

/// Links that sign in to the console and can be used, of a dealer, a group or operators; how long each can be. Its sessions, and how
/// long they last: on a device that others do not use, and elsewhere.
pub const SIGN_IN_LINKS: u32 = 100;
pub const SIGN_IN_LINK_KEPT: Duration = Duration::from_hours(24);
pub const CONSOLE_SESSIONS: u32 = 500;
pub const CONSOLE_SESSION: Duration = Duration::from_hours(8);
pub const TRUSTED_SESSION: Duration = Duration::from_hours(30 * 24);

/// Minimum rate of a body in bytes per second, and the time for which it may be slower.
pub const BODY_RATE: usize = 16 * 1024;
pub const BODY_BEHIND: Duration = Duration::from_secs(5);
/// How long a file may take that somebody sends to the console.
pub const FILE_WITHIN: Duration = Duration::from_mins(5);
/// Photos that somebody has sent to the console and to which no ad refers: their number, their bytes, and how long they are kept.
pub const MOST_UPLOADS: u32 = 500;
pub const MOST_UPLOAD_BYTES: u64 = 1_000_000_000;
pub const UPLOADS_KEPT: Duration = Duration::from_hours(24);
/// Stock files that somebody sends to the console: the bytes and columns of one, and how many a dealer has; and headers of which it is known what
/// their columns mean.
pub const STOCK_FILE_BYTES: usize = 4_000_000;
pub const STOCK_FILE_COLUMNS: usize = 200;
pub const STOCK_FILES: u32 = 5;
pub const STOCK_HEADERS: u32 = 50;
/// Bytes of a form with photos, for browsers without scripts.
pub const UPLOAD_FORM: usize = 30_000_000;
/// Bytes of a refused body that are still read, because a client does not read the answer while it sends. The other two limit the number
/// of clients that send such bodies at the same time: altogether, and of one dealer or one address without a valid token.
pub const DISCARDED_BYTES: u64 = 16 * 1024 * 1024;
pub const DISCARDED_BODIES: usize = 512;
pub const DISCARDED_BODIES_OF_DEALER: usize = 128;

/// Stock plans that a process computes at the same time, and how long the body of one may take.
pub const PLANS_COMPUTED: usize = 4;
pub const STOCK_WITHIN: Duration = Duration::from_mins(30);

/// Maximum number of requests that are processed at the same time, and how many of these are reserved for dealers with none in progress.
/// The others are enough for the database to commit many together, and few enough that nobody waits long behind those of one dealer.
pub const REQUESTS: usize = 64;
pub const REQUESTS_RESERVED: usize = 40;
/// Maximum time for which a request or a list waits for its turn.
pub const TURN: Duration = Duration::from_secs(10);
/// Size of texts from which a write keeps the database busy for milliseconds, and how many such writes there are at the same time.
pub const LARGE_WRITE: usize = 64 * 1024;
pub const LARGE_WRITES: usize = 4;

/// Lists and logs of one dealer or group at the same time, from the request until the answer has been sent.
pub const LISTS_OF_DEALER: usize = 64;
/// Memory for all answers together. Ten pages of the largest kind for one dealer, and the reserve for others.
pub const ANSWER_MEMORY: usize = 96 * 1024 * 1024;

pub const WAITING_MEMORY: usize = 64 << 20;
pub const REGISTRY_CALLS: usize = 16;

/// Largest image in bytes. It is the contract's.
pub const IMAGE_BYTES: usize = 15_000_000;
/// Timeout of connecting to a host, its longest silence, and the timeout of a whole fetch.
pub const IMAGE_CONNECT: Duration = Duration::from_secs(5);
pub const IMAGE_IDLE: Duration = Duration::from_secs(10);
pub const IMAGE_TOTAL: Duration = Duration::from_secs(20);
pub const IMAGE_REDIRECTS: usize = 5;
/// Minimum rate of a host, and how far it may fall behind. The slowest mobile networks are faster. At this rate, an image of 300 kB takes
/// all of the timeout.
pub const IMAGE_RATE: usize = 16 * 1024;
pub const IMAGE_BEHIND: Duration = Duration::from_secs(5);
pub const FETCHES: usize = 256;
pub const FETCHES_OF_HOST: usize = 16;
pub const IMAGE_MEMORY: usize = 128 * 1024 * 1024;
/// How long storing one image may take, all in all. One that takes longer is tried again later.
pub const IMAGE_WRITE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Limit {
    pub name: &'static str,
    /// Its value, with `{}` for each of `values`.
    pub value: &'static str,
    pub values: &'static [Value],
    /// How an operator changes it.
    pub setting: &'static str,
    /// What it counts for; dealers share fairly what is *shared*.
    pub per: &'static str,
    pub why: &'static str,
    /// What happens when it is reached, with `{error}` for the error.
    pub effect: &'static str,
    /// The status and code that the client gets, if it gets one.
    pub error: Option<(u16, Code)>,
}

#[derive(Debug, Clone, Copy)]
pub enum Value {
    Number(usize),
    Bytes(usize),
    Time(Duration),
    /// The default of a setting.
    Setting(&'static str),
}

/// Whether a code says that a client wants too much at once or in a time (429).
pub fn is_too_much(code: Code) -> bool {
    TABLE.iter().flat_map(|(_, limits)| *limits).any(|limit| limit.error == Some((429, code)))
}

macro_rules! limits {
    ($($section:literal { $(
        $name:literal, $value:literal $values:tt, $setting:literal, $per:literal, $why:literal, $effect:literal $($status:literal $code:ident)?;
    )* })*) => {
        /// All limits, by section.
        #[expect(clippy::cast_possible_truncation, reason = "a few MiB")]
        pub static TABLE: &[(&str, &[Limit])] = &[$(($section, &[$(Limit {
            name: $name, value: $value, values: &$values, setting: $setting, per: $per, why: $why, effect: $effect,
            error: limits!(@ $($status $code)?),
        }),*])),*];
    };
    (@) => { None };
    (@ $status:literal $code:ident) => { Some(($status, Code::$code)) };
}

use Value::{Bytes, Number, Setting, Time};

limits! {
"Connections" {
    "Connections", "{}" [Setting("max_connections")], "`max_connections`", "process", "open files", "{error} that names the limit; `/healthz`, `/readyz`, `/metrics` still answer" 503 Unavailable;
    "Connections of a client address (IPv6: /64)", "a quarter of all" [], "`connections_per_address`; `trusted_proxies` are exempt", "address", "capacity for other clients", "{error} that names the limit" 429 RateLimited;
    "Connections beyond these", "{}, {} each" [Number(CONNECTIONS_BEYOND), Time(TIME_BEYOND)], "", "process", "health checks and rejections", "the oldest is closed";
    "Concurrent requests on an HTTP/2 connection", "{}" [Number(HTTP2_STREAMS as usize)], "", "connection", "memory", "further ones wait";
    "Unread bytes of HTTP/2", "{} a stream, {} a connection" [Bytes(HTTP2_STREAM_WINDOW as usize), Bytes(HTTP2_CONNECTION_WINDOW as usize)], "", "connection", "memory", "flow control";
    "Headers", "{}; {} (HTTP/2: {})" [Number(HTTP_HEADERS), Bytes(HTTP1_BUFFER), Bytes(HEADER_BYTES as usize)], "", "request", "memory of each connection", "431";
    "Idle time between requests", "{}" [Setting("idle_timeout")], "`idle_timeout`", "connection", "connections", "closed";
    "First byte of a request to its answer", "twice `request_timeout` and `longest_wait`" [], "`request_timeout`, `longest_wait`", "request", "connections", "closed";
    "Reading an answer", "{}/s, {} behind (or `idle_timeout`)" [Bytes(ANSWER_RATE), Time(ANSWER_BEHIND)], "", "connection", "memory of answers", "closed";
}
"Webhooks" {
    "Webhooks", "{}" [Setting("webhooks_per_scope")], "`webhooks_per_scope`", "dealer or group", "deliveries of each event", "400";
    "Pending deliveries", "{}" [Number(PENDING_DELIVERIES as usize)], "", "webhook", "disk", "later events wait in the log";
    "Attempts at the same time", "{}; {} of a webhook, {} while it fails" [Number(ATTEMPTS), Number(ATTEMPTS_OF_WEBHOOK), Number(ATTEMPTS_OF_FAILING_WEBHOOK)], "", "process", "connections; a slow receiver delays no other", "further ones wait";
    "Time of an attempt", "{}" [Time(ATTEMPT_TIME)], "", "webhook", "connections", "the attempt has failed";
    "Attempts to deliver an event", "10" [], "`webhook_retries`", "webhook", "", "the delivery has failed";
    "Time without a success", "{}" [Setting("webhook_disabled_after")], "`webhook_disabled_after`", "webhook", "", "the webhook is disabled";
    "Delivered and failed deliveries", "{}" [Setting("webhook_deliveries_kept")], "`webhook_deliveries_kept`", "webhook", "disk", "removed";
    "Webhooks that a process sends", "{}" [Number(WEBHOOKS_OF_PROCESS)], "", "process", "memory", "other processes send the rest";
}
"Requests" {
    "Body, after decompression", "{}" [Bytes(MOST_BYTES)], "", "request", "memory", "{error}" 413 TooLarge;
    "Rest of a refused body that is still read", "{}, as long as an answer may take" [Bytes(DISCARDED_BYTES as usize)], "", "request", "a client that is still sending would not read the answer", "the connection is closed";
    "Refused bodies that are still read", "{}; {} of one dealer, group or address" [Number(DISCARDED_BODIES), Number(DISCARDED_BODIES_OF_DEALER)], "", "process", "connections", "the connection is closed at once";
    "Depth of a body", "{} levels" [Number(MOST_LEVELS)], "", "request", "the parser's stack", "{error}" 400 NotJson;
    "Time for a body; its rate", "{}; {}/s after {}" [Setting("request_timeout"), Bytes(BODY_RATE), Time(BODY_BEHIND)], "`request_timeout`", "request", "memory", "{error}" 408 RequestTimeout;
    "Memory for bodies", "{}" [Setting("body_memory")], "`body_memory`", "process, *shared*", "memory", "waits, then {error}" 503 Unavailable;
    "Requests in process", "{}; {} of one dealer or group" [Number(REQUESTS), Number(REQUESTS - REQUESTS_RESERVED)], "", "process, *shared*", "processor time", "waits, {error} after 10 s" 503 Unavailable;
    "Concurrent writes", "1" [], "", "ad", "all but one would have to be repeated", "further ones wait, {error} after 10 s" 503 Unavailable;
    "Long computations (large ads and payloads)", "one less than the number of processors, and one more for another dealer" [], "", "process, *shared*", "short requests do not wait for long ones", "further ones wait";
    "Large writes", "{} of {} of text or more; 1 per dealer" [Number(LARGE_WRITES), Bytes(LARGE_WRITE)], "", "process, *shared*", "database time", "further ones wait";
    "Unknown fields named in an answer", "1,000 per level" [], "", "request", "no answer larger than its request", "the rest are counted";
    "Request rate", "none" [], "`rate_limit`", "dealer or group", "operator's choice", "{error}" 429 RateLimited;
    "Query string", "{}" [Bytes(MAX_QUERY)], "", "request", "processor time", "{error} at `query`" 400 ValidationFailed;
    "`search`, `q`, `source_id__icontains`; other texts", "{}; {} characters" [Number(MAX_TERM), Number(MAX_TEXT)], "", "request", "processor time", "{error} at the parameter" 400 ValidationFailed;
    "Words of `q`", "{}" [Number(MOST_WORDS)], "", "request", "processor time", "{error} at the parameter" 400 ValidationFailed;
    "Items of `__in`, `fields`, `include`", "{}" [Number(MAX_ITEMS)], "", "request", "a page has no more rows", "{error} at the parameter" 400 ValidationFailed;
    "Messages about one parameter; unknown parameters named", "5; 5" [], "", "request", "no answer larger than its request", "the rest are counted";
}
"Reads" {
    "Duration of a read", "{}" [Setting("read_timeout")], "`read_timeout`", "request", "processor and connections", "cancelled; {error} that advises to narrow the query" 503 Unavailable;
    "Rows of a page", "{}; {} by default" [Number(MAX_LIMIT as usize), Number(DEFAULT_LIMIT as usize)], "", "request", "memory", "{error}" 400 ValidationFailed;
    "Bytes of a page", "{}, at least one row" [Bytes(PAGE_BYTES as usize)], "", "request", "memory", "a shorter page; `next` continues";
    "Log entries with an ad", "the latest {}" [Number(LATEST_ENTRIES)], "", "request", "memory", "the log endpoint returns all";
    "Concurrent lists and logs", "{}" [Number(LISTS_OF_DEALER)], "", "dealer or group", "memory, processor", "{error}" 429 RateLimited;
    "Memory of answers", "{}" [Bytes(ANSWER_MEMORY)], "", "process, *shared*", "memory", "waits, {error} after 10 s" 503 Unavailable;
    "Connections for lists", "SQLite: 2 to 4 by cores, and one more; PostgreSQL: a fifth of `database_connections`. One dealer or group can use fewer than half of them" [], "`database_connections`", "process, *shared*", "each occupies a processor", "waits";
    "Connections for single ads", "SQLite: 4; PostgreSQL: a fifth of `database_connections`; all but one of them for one dealer" [], "`database_connections`", "process, *shared*", "database time", "waits";
}
"Ads" {
    "An ad as stored", "{} of JSON" [Bytes(MOST_BYTES)], "", "ad", "patches accumulate", "{error} that names the largest fields" 400 ValidationFailed;
    "`body`; other free text", "200,000; 10,000 characters" [], "", "ad", "storage", "{error} at the field" 400 ValidationFailed;
    "`source_id`; `jti` of a token", "255 characters" [], "", "ad", "indexes", "400; 401";
    "Images", "{}" [Number(MOST_IMAGES)], "", "ad", "contract", "{error} at `image_urls`" 400 ValidationFailed;
    "Unfinished requests", "{}, and one DELETE" [Number(MOST_UNFINISHED as usize)], "", "ad", "they are executed one at a time", "{error}" 429 TooManyRequestsOfAd;
    "Earlier prices", "the latest {}" [Number(MOST_EARLIER_PRICES)], "", "ad", "storage, size of `/prices`", "the oldest are removed; `recorded_since` says so";
    "Recorded changes", "the latest {}, kept for {}" [Number(MOST_REVISIONS), Setting("record_kept")], "`record_kept` ([record](record.md))", "ad", "storage, data protection", "the oldest are removed: {error}" 404 NotRecorded;
    "Message of a log entry", "{}" [Bytes(MOST_MESSAGE_BYTES)], "", "ad", "stored for ever or for `log_messages_kept`, up to 100 per read", "truncated and marked";
    "Photos of deleted ads", "kept for {}" [Setting("deleted_photos_kept")], "`deleted_photos_kept` ([retention](data-protection.md#retention))", "process", "data protection, storage", "removed";
    "Content of deleted ads; messages of logs; the audit log", "kept for ever" [], "`deleted_ads_kept`; `log_messages_kept`; `audit_log_kept` ([retention](data-protection.md#retention))", "process", "operator's choice", "erased; erased; removed";
    "Unfinished requests; ads; image bytes", "none" [], "`dealer_requests`, `dealer_ads`, `dealer_image_bytes` ([quotas](#quotas))", "dealer or group", "operator's choice", "{error}; 400; the image fails" 429 QuotaExceeded;
    "Idempotency keys in use", "none, each for {}" [Setting("idempotency_keys_kept")], "`dealer_idempotency_keys`, `idempotency_keys_kept`", "dealer or group", "storage", "{error}" 429 QuotaExceeded;
    "Answers kept for idempotency keys", "{}" [Setting("dealer_idempotency_bytes")], "`dealer_idempotency_bytes` ([quotas](#quotas))", "dealer or group", "storage", "the oldest are removed";
    "Calls to the vehicle registry under way", "{}, each {}" [Number(REGISTRY_CALLS), Setting("vehicle_registry_timeout")], "`vehicle_registry_timeout`", "process", "`validate` waits for them", "the ad is not compared";
    "Event streams and long polls", "{}, {} of a token" [Setting("event_streams"), Setting("token_event_streams")], "`event_streams`, `token_event_streams`", "token", "connections, memory", "{error}" 429 RateLimited;
    "Requests that wait until they are finished", "half of `max_connections`, each for {}, and {} for their ads" [Setting("longest_wait"), Bytes(WAITING_MEMORY)], "`waiting_requests`, `longest_wait`", "process, *shared*", "connections, memory", "{error}; the answer is sent at once when there is no memory" 429 RateLimited;
    "Pole position", "3 days" [], "", "ad", "contract", "ends";
}
"Stock plans" {
    "Ads; body, unpacked", "{}; {}" [Setting("stock_ads"), Setting("stock_bytes")], "`stock_ads`, `stock_bytes`", "plan", "storage", "the plan is refused";
    "A payload", "{}" [Bytes(MOST_BYTES)], "", "payload", "memory", "the plan is refused";
    "Time for the body; its rate", "{}; {}/s after {}" [Time(STOCK_WITHIN), Bytes(BODY_RATE), Time(BODY_BEHIND)], "", "plan", "connections", "the plan is refused: {error}" 408 RequestTimeout;
    "Plans that are computed", "{}; {} of one dealer or group" [Number(PLANS_COMPUTED), Number(PLANS_COMPUTED - 1)], "", "process, *shared*", "memory, processor", "waits, {error} after 10 s" 503 Unavailable;
    "Unfinished plans", "{}" [Number(MOST_UNFINISHED_PLANS as usize)], "", "dealer", "storage", "{error}" 409 TooManyPlans;
    "Time until a ready plan is applied; time after its end", "{}; {}" [Setting("stock_plans_ready"), Setting("stock_plans_kept")], "`stock_plans_ready`, `stock_plans_kept`", "plan", "storage", "the plan expires; it is removed";
    "Kinds of errors in a plan; errors of a change", "50; 20" [], "", "plan", "no answer larger than its request", "the rest are left out";
}
"Promotion schedules" {
    "Schedules", "{}" [Number(MOST_PROMOTIONS as usize)], "", "dealer", "storage", "{error}" 409 TooManyPromotions;
    "Ads that a run promotes; ads that it looks at", "{}; {}" [Number(MOST_PER_RUN as usize), Number(MOST_CANDIDATES as usize)], "each schedule has its own, 100 if absent", "run", "time of a run", "the rest have their turn in a later run";
    "Ads of a bump of all that match", "{}" [Number(MOST_AT_ONCE as usize)], "", "bump in the console", "time of a run", "the rest are left out";
    "Runs", "the latest {}" [Number(MOST_RUNS as usize)], "", "schedule", "storage", "the oldest are removed";
}
"Images" {
    "Size", "{}" [Bytes(IMAGE_BYTES)], "", "image", "memory", "the image fails";
    "Connect timeout; idle timeout; total timeout; redirects", "{}; {}; {}; {}" [Time(IMAGE_CONNECT), Time(IMAGE_IDLE), Time(IMAGE_TOTAL), Number(IMAGE_REDIRECTS)], "", "image", "slots", "retried; too many redirects: the image fails";
    "Rate", "{}/s, {} behind" [Bytes(IMAGE_RATE), Time(IMAGE_BEHIND)], "", "image", "memory", "retried";
    "Concurrent fetches", "{}, {} per host (registrable domain), 4 per ad" [Number(FETCHES), Number(FETCHES_OF_HOST)], "", "process, *shared*", "sockets, load on image hosts", "waits";
    "Memory", "{}" [Bytes(IMAGE_MEMORY)], "", "process, *shared*", "memory", "waits";
    "Photos sent to the console: time for one; those that no ad uses", "{}; {}, {}, each kept for {}" [Time(FILE_WITHIN), Number(MOST_UPLOADS as usize), Bytes(MOST_UPLOAD_BYTES as usize), Time(UPLOADS_KEPT)], "", "dealer", "memory, storage", "refused with a sentence; removed";
    "Stock files sent to the console; those that are kept; headers whose columns are known", "{}, {} columns; {}, each for {}; {}" [Bytes(STOCK_FILE_BYTES), Number(STOCK_FILE_COLUMNS), Number(STOCK_FILES as usize), Time(UPLOADS_KEPT), Number(STOCK_HEADERS as usize)], "", "dealer", "memory, storage", "refused with a sentence; the oldest are removed";
    "Form with photos, without scripts", "{}" [Bytes(UPLOAD_FORM)], "", "request", "memory", "refused with a sentence";
    "Memory for decoding photos", "{}" [Setting("photo_memory")], "`photo_memory`", "process, *shared*", "memory", "waits; a photo that needs more is not decoded";
    "Attempts", "{} within {}" [Setting("image_tries"), Setting("image_within")], "`image_tries`, `image_within`", "image", "hosts that no longer exist", "the image fails; `retry` fetches it";
    "One write to the image store", "{}" [Time(IMAGE_WRITE)], "", "image", "a store that hangs", "retried as long as a marketplace";
}
"Tokens and files" {
    "Validity of a token", "365 days" [], "`token issue --expires`", "token", "a lost token expires", "{error}" 401 TokenInvalid;
    "Links that sign in to the console and can be used", "{}, each for 24 hours" [Number(SIGN_IN_LINKS as usize)], "", "dealer or group", "an overview of who has access", "no further one is made";
    "Sessions of the console", "{}; 8 hours, or 30 days on a trusted device" [Number(CONSOLE_SESSIONS as usize)], "", "dealer or group", "an overview of who has access", "the one that was used least recently ends";
    "Age of the last known revocations", "{}" [Setting("revocation_max_age")], "`revocation_max_age`", "process", "a token may have been revoked since", "{error}" 503 Unavailable;
    "Problems that `ad-migrate` stores per record", "20" [], "", "file", "memory", "the rest are counted";
    "A record of XML or JSON; its values", "4 MiB" [], "", "file", "memory", "the row is rejected";
    "Columns of a CSV file", "2,000" [], "", "file", "memory", "the file is rejected";
}
}
