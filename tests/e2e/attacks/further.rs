//! Hostile inputs at every surface of the API, one row each: what is sent, the status, and the field, parameter or code that the answer names.
//! No answer is a 500 or long, none shows anything of another dealer, and nothing is stored.
//!
//! Further ones at other surfaces: files in `ad-migrate/tests/shapes.rs`, `costs.rs` and `bombs.rs`, mappings in `ad-migrate/tests/costs.rs`,
//! frames of MCP in `cli/mcp/wire.rs`, dealers files beside their reader.

use std::io::Write as _;

use ad_tests::{Client, Server};
use flate2::{Compression, write::GzEncoder};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    console::{Visitor, ad_query, html},
    payloads::plain_car,
};

/// What another dealer's ad says.
const SECRET: &str = "south-only-4711";

/// Bytes of the longest answer.
const LONGEST_ANSWER: usize = 256 * 1024;

#[derive(Clone)]
struct Attack {
    name: &'static str,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    status: u16,
    /// The pointer of a field, the name of a parameter, or a code.
    names: &'static str,
}

impl Attack {
    fn new(name: &'static str, request: &str, status: u16, names: &'static str) -> Self {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let method = ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().find(|it| *it == method).unwrap();
        Self { name, method, path: path.to_owned(), headers: Vec::new(), body: None, status, names }
    }

    fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string())
    }

    fn bytes(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A new car of which the value at a pointer is replaced; what is not there is added.
fn car_with(pointer: &str, value: Value) -> Value {
    let mut car = plain_car("hostile", "HOS123");
    let (above, name) = pointer.rsplit_once('/').unwrap();
    car.pointer_mut(above).unwrap().as_object_mut().unwrap().insert(name.to_owned(), value);
    car
}

fn post(name: &'static str, pointer: &'static str, value: Value, names: &'static str) -> Attack {
    Attack::new(name, "POST /v4/car", 400, names).json(&car_with(pointer, value))
}

fn raw(name: &'static str, text: impl Into<Vec<u8>>) -> Attack {
    Attack::new(name, "POST /v4/car", 400, "not_json").bytes(text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn fields() -> Vec<Attack> {
    let many: serde_json::Map<_, _> = (0..90_000).map(|number| (format!("{number:x}"), json!(1))).collect();
    let image = |number: usize| format!("https://img.example/{number}.jpg");
    let unknown = json!({"registration_number": "HOS123", "model_year": 2020, "__proto__": {"admin": true}});
    vec![
        post("images without number", "/image_urls", (0..20_000).map(image).collect(), "#/image_urls"),
        post("the same image again and again", "/image_urls", json!(vec![image(1); 20_000]), "#/image_urls"),
        post(
            "an image without end",
            "/image_urls",
            json!([format!("https://img.example/{}", "x".repeat(100_000))]),
            "#/image_urls/0",
        ),
        post("prices without number", "/price", json!(vec![json!({"type": "list", "amount": 1}); 5000]), "#/price"),
        post("a price beyond numbers", "/price", json!([{"type": "list", "amount": 1e308}]), "#/price/0/amount"),
        post("a price below nothing", "/price", json!([{"type": "list", "amount": -1}]), "#/price/0/amount"),
        post(
            "equipment without number",
            "/category_fields/equipments",
            json!(vec!["x"; 20_000]),
            "#/category_fields/equipments",
        ),
        post("an id of a megabyte", "/source_id", json!("x".repeat(1_000_000)), "#/source_id"),
        post("marks on a letter without number", "/body", json!("a".to_owned() + &"\u{301}".repeat(400_000)), "#/body"),
        post("a field of another language's objects", "/category_fields", unknown, "#/category_fields/__proto__"),
        post("fields without number", "/category_fields", Value::Object(many), "validation_failed"),
        post(
            "a name of a field of half a megabyte",
            "/category_fields",
            json!({"k".repeat(500_000): 1}),
            "validation_failed",
        ),
        post("a script as a video", "/video_url", json!("javascript:alert(1)"), "#/video_url"),
        post(
            "a place beyond the earth",
            "/location",
            json!({"latitude": 1e300, "longitude": -1e300}),
            "#/location/latitude",
        ),
    ]
}

fn texts() -> Vec<Attack> {
    let year = car_with("/category_fields/model_year", json!("YEAR")).to_string();
    vec![
        raw("half a pair", r#"{"source_id": "\ud800"}"#),
        raw("a number without end", year.replace("\"YEAR\"", &("1".to_owned() + &"0".repeat(500_000)))),
        raw("an exponent without end", year.replace("\"YEAR\"", "1e999999999999")),
        raw("objects in objects", "{\"a\":".repeat(5000)),
        Attack::new("a year beyond integers", "POST /v4/car", 400, "#/category_fields/model_year")
            .bytes(year.replace("\"YEAR\"", "99999999999999999999")),
        Attack::new("gzip in gzip", "POST /v4/car", 400, "not_json")
            .bytes(gzip(&gzip(b"{}")))
            .header("content-encoding", "gzip"),
        Attack::new("gzip of a gibibyte of spaces", "POST /v4/car", 413, "too_large")
            .bytes(gzip(&vec![b' '; 64 << 20]))
            .header("content-encoding", "gzip"),
        Attack::new("codings one in the other", "POST /v4/car", 415, "unsupported_content_encoding")
            .bytes("{}")
            .header("content-encoding", "gzip, gzip, gzip, gzip"),
    ]
}

fn headers() -> Vec<Attack> {
    let tags = (90_000..90_500).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(", ");
    let patch = |name, status, names| Attack::new(name, "PATCH /v4/car/own", status, names).json(&json!({"body": "x"}));
    vec![
        patch("tags without number", 412, "precondition_failed").header("if-match", tags),
        patch("a tag without end", 400, "if-match").header("if-match", "\"".to_owned() + &"x".repeat(5000)),
        patch("a key that is too long", 400, "Idempotency-Key").header("idempotency-key", "k".repeat(5000)),
        Attack::new("a token that is too long", "GET /v4/ad", 401, "token_invalid")
            .header("x-auth-token", "x.".repeat(3000)),
        Attack::new("an event of nobody", "GET /v4/events", 400, "after").header("last-event-id", "%00".repeat(500)),
    ]
}

fn parameters() -> Vec<Attack> {
    let ids = (0..3000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let get = |name, query: &str, names| Attack::new(name, &format!("GET /v4/ad?{query}"), 400, names);
    vec![
        get("a limit below nothing", "limit=-1", "limit"),
        get("an offset beyond integers", "offset=18446744073709551616", "offset"),
        get("an offset that is no number", "offset=1e3", "offset"),
        get("ids without number", &format!("source_id__in={ids}"), "source_id__in"),
        get("an ordering without end", &format!("ordering={}", "created,".repeat(500)), "ordering"),
        get("the same field again and again", &format!("fields={}", "body,".repeat(1000)), "fields"),
        get("a parameter again and again", &"state=created&".repeat(300), "state"),
        get("a search that is too long", &format!("search={}", "a".repeat(6000)), "search"),
        get("words without number", &format!("search={}", "a+".repeat(2000)), "search"),
        get("a time beyond the calendar", "created__gt=99999-01-01T00:00:00Z", "created__gt"),
        get("a name of a parameter without end", &format!("{}=1", "k".repeat(5000)), "validation_failed"),
        Attack::new("a cursor of nobody", "GET /v4/events?after=AAAA%00%ff", 400, "after"),
        Attack::new("a wait of a year", "GET /v4/events?wait=31536000", 400, "wait"),
        Attack::new(
            "types without number",
            &format!("GET /v4/events?types={}", "ad.bump.done,".repeat(400)),
            400,
            "types",
        ),
        Attack::new("a state of a log that there is not", "GET /v4/ad/own/log?state=%1b[2J", 400, "state"),
    ]
}

fn promotions() -> Vec<Attack> {
    let schedule = |name, member: &str, value: Value, names| {
        let mut body = json!({"kind": "bump", "select": {"status": "live"}, "at": "08:00", "zone": "UTC"});
        body[member] = value;
        Attack::new(name, "POST /v4/promotions", 400, names).json(&body)
    };
    let filters: serde_json::Map<_, _> = (0..2000).map(|number| (format!("k{number}"), json!("x"))).collect();
    let ids: Vec<_> = (0..20_000).map(|number| number.to_string()).collect();
    vec![
        schedule("a selection of a megabyte", "select", json!({"search": "x".repeat(900_000)}), "#/select"),
        schedule("filters without number", "select", Value::Object(filters), "#/select"),
        schedule("ads without number", "select", json!({"source_id__in": ids}), "#/select"),
        schedule("a time of no day", "at", json!("25:99"), "#/at"),
        schedule("a file as a zone", "zone", json!("../../etc/passwd"), "#/zone"),
        schedule("days without number", "weekdays", json!(vec!["mon"; 5000]), "#/weekdays"),
        schedule("a day of half a megabyte", "weekdays", json!(["x".repeat(500_000)]), "#/weekdays/0"),
        schedule("a budget beyond numbers", "budget", json!(1e308), "#/budget"),
        schedule("a budget below nothing", "budget", json!(-0.01), "#/budget"),
        schedule("ads per run beyond integers", "most_per_run", json!(1e19), "#/most_per_run"),
        schedule("a day before time", "until", json!("-99999-01-01"), "#/until"),
        schedule("a schedule of another dealer", "dealer_code", json!("south-cars"), "#/dealer_code"),
        Attack::new("an id of a schedule that is none", "PATCH /v4/promotions/%00", 404, "not_found")
            .json(&json!({"paused": true})),
        Attack::new("runs beyond integers", "GET /v4/promotions?limit=99999999999999999999", 400, "limit"),
    ]
}

fn accounts() -> Vec<Attack> {
    let budget =
        |name, value: Value| Attack::new(name, "PUT /v4/account/budget", 400, "#/own").json(&json!({"own": value}));
    vec![
        budget("a limit beyond numbers", json!(1e308)),
        budget("a limit below nothing", json!(-1)),
        budget("a limit of a tenth of a cent", json!(0.001)),
        budget("a limit as a formula", json!("=1+1")),
        Attack::new("another dealer's budget", "PUT /v4/account/budget?dealer_code=south-cars", 400, "dealer_code")
            .json(&json!({"own": 1})),
        Attack::new("charges of a time that is none", "GET /v4/account/charges?at__gte=now()", 400, "at__gte"),
        Attack::new("charges of a kind that there is not", "GET /v4/account/charges?kind=%27%20or%201=1", 400, "kind"),
    ]
}

fn stock_plans() -> Vec<Attack> {
    let plan = |name, query: &str, names| {
        Attack::new(name, &format!("POST /v4/stock/plans?{query}"), 400, names).json(&json!([]))
    };
    vec![
        plan("what is missing, in other words", "missing=everything", "missing"),
        plan("vehicle types without number", &format!("vehicle_types={}", "car,".repeat(1500)), "vehicle_types"),
        plan("removals below nothing", "most_removals=-1", "most_removals"),
        plan("removals beyond numbers", "most_removals=1e99", "most_removals"),
        plan("a stock of another dealer", "dealer_code=south-cars", "dealer_code"),
        Attack::new(
            "a plan of another dealer",
            "GET /v4/stock/plans/01905b1c-6a52-7000-8000-000000000004",
            404,
            "not_found",
        ),
        Attack::new(
            "a plan that is applied beyond integers",
            "POST /v4/stock/plans/01905b1c-6a52-7000-8000-000000000004/apply?allow_removals=1e9",
            400,
            "allow_removals",
        ),
    ]
}

fn records() -> Vec<Attack> {
    let get = |name, path: &str, status, names| Attack::new(name, &format!("GET {path}"), status, names);
    vec![
        get("another dealer's record", "/v4/ad/theirs/record", 404, "not_found"),
        get("another dealer's history", "/v4/ad/theirs/revisions", 404, "not_found"),
        get("another dealer's calls", "/v4/ad/theirs/calls", 404, "not_found"),
        get("another dealer's record by its code", "/v4/ad/theirs/record?dealer_code=south-cars", 404, "not_found"),
        get("a revision beyond integers", "/v4/ad/own/revisions/99999999999999999999", 400, "revision"),
        get("a revision below nothing", "/v4/ad/own/revisions/-1", 404, "not_found"),
        get("an ad before time", "/v4/ad/own?at=-9999-01-01T00:00:00Z", 400, "at"),
        get("a page of a history beyond integers", "/v4/ad/own/revisions?offset=99999999999999999999", 400, "offset"),
        get("a path as an id", "/v4/ad/..%2F..%2Fetc%2Fpasswd/record", 404, "not_found"),
        Attack::new("another dealer's ad as it was", "POST /v4/ad/theirs/revisions/0/restore", 404, "not_found"),
    ]
}

fn webhooks() -> Vec<Attack> {
    let hook = |name, body: Value, names| Attack::new(name, "POST /v4/webhooks", 400, names).json(&body);
    let to = |name, url: &str| hook(name, json!({"url": url}), "#/url");
    vec![
        to("a webhook to metadata of a cloud", "https://169.254.169.254/latest/meta-data"),
        to("a webhook to this machine, by its number", "https://2130706433/"),
        to("a webhook to this machine, mapped", "https://[::ffff:127.0.0.1]/"),
        to("a webhook with a password", "https://a:b@stock.example/"),
        to("a webhook to a file", "file:///etc/passwd"),
        to("a webhook without end", &("https://stock.example/".to_owned() + &"x".repeat(100_000))),
        hook(
            "types of a webhook without number",
            json!({"url": "https://stock.example/", "types": vec!["ad.bump.done"; 9000]}),
            "#/types",
        ),
        hook(
            "a webhook of another dealer",
            json!({"url": "https://stock.example/", "dealer_code": "south-cars"}),
            "#/dealer_code",
        ),
        hook(
            "a note of a webhook without end",
            json!({"url": "https://stock.example/", "description": "x".repeat(100_000)}),
            "#/description",
        ),
    ]
}

async fn stored(client: &Client) -> Vec<Value> {
    let mut counts = Vec::new();
    for path in ["/v4/ad", "/v4/promotions", "/v4/stock/plans", "/v4/webhooks", "/v4/account/charges"] {
        counts.push(client.get(path).await.expect(200)["count"].clone());
    }
    counts.push(client.get("/v4/account").await.expect(200));
    counts.push(client.get("/v4/ad/own").await.expect(200)["body"].clone());
    counts
}

/// What is wrong with the answer to an attack.
async fn trouble(client: &Client, attack: &Attack) -> Option<String> {
    let method: Method = attack.method.parse().unwrap();
    let mut client = client.clone();
    if attack.headers.iter().any(|(name, _)| *name == "x-auth-token") {
        client.token = None;
    }
    let sent = attack.body.as_ref().map_or(0, Vec::len).min(1 << 20) + attack.path.len();
    let mut headers = attack.headers.clone();
    headers.push(("accept", "application/problem+json".to_owned()));
    let answer = client.send_with(method, &attack.path, &headers, attack.body.clone()).await;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    let start: String = text.chars().take(600).collect();
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let names = |place: &Value| place == attack.names;
    // Headers are named in the text.
    let is_named = names(&told["code"])
        || ["detail", "request"].iter().any(|member| told[member].as_str().is_some_and(|it| it.contains(attack.names)))
        || told["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|error| ["pointer", "parameter", "header"].iter().any(|member| names(&error[member])));
    if answer.status.as_u16() != attack.status || !is_named {
        return Some(format!(
            "{}: {} instead of {} {}: {start}",
            attack.name, answer.status, attack.status, attack.names
        ));
    }
    if text.contains(SECRET) || text.len() > LONGEST_ANSWER + 2 * sent || text.contains('\u{1b}') {
        return Some(format!("{}: {} bytes: {start}", attack.name, text.len()));
    }
    None
}

#[tokio::test]
async fn a_hundred_hostile_inputs_are_refused_by_name_and_store_nothing() {
    let server = Server::start().await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("own", "OWN123")).await.expect(201);
    client.published("own").await;
    let other = super::other_dealer(&server).await;
    let mut theirs = plain_car("theirs", "THE123");
    theirs["body"] = json!(SECRET);
    other.post("/v4/car", &theirs).await.expect(201);
    other.published("theirs").await;
    let attacks =
        [fields(), texts(), headers(), parameters(), promotions(), accounts(), stock_plans(), records(), webhooks()]
            .concat();
    assert!(attacks.len() >= 80, "{}", attacks.len());
    // The first answers warm up what stays.
    for attack in &attacks {
        trouble(client, attack).await;
    }
    let (before, memory) = (stored(client).await, server.memory());
    let mut wrong = Vec::new();
    for _ in 0..2 {
        wrong.clear();
        for attack in &attacks {
            wrong.extend(trouble(client, attack).await);
        }
    }
    assert!(wrong.is_empty(), "{} answers are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(stored(client).await, before);
    // Filters are of the token's own ads, whatever they say.
    let theirs = json!({"kind": "bump", "select": {"dealer_code": "south-cars"}, "at": "08:00", "zone": "UTC"});
    let schedule = client.post("/v4/promotions", &theirs).await.expect(201);
    let path = format!("/v4/promotions/{}", schedule["id"].as_str().unwrap());
    let preview = client.post(&format!("{path}/preview"), &Value::Null).await.expect(200);
    assert_eq!((&preview["promoted"], &preview["skipped"]), (&json!([]), &json!([])));
    let grown = server.memory().saturating_sub(memory) >> 20;
    assert!(grown < 64, "{grown} MiB");
    assert_eq!(other.get("/v4/ad/theirs").await.expect(200)["body"], SECRET);
}

/// The fields of a form.
type Fields = Vec<(&'static str, String)>;

/// Forms and pages of the console: the path, and the form if one is sent.
fn forms(ad: &str) -> Vec<(&'static str, String, Option<Fields>)> {
    let act = |name, action: &str, ads: Vec<String>| {
        let fields = [("action", action.to_owned()), ("confirmed", "yes".to_owned())];
        let form = fields.into_iter().chain(ads.into_iter().map(|ad| ("ad", ad))).collect();
        (name, "/console/act".to_owned(), Some(form))
    };
    let edit = |name, field: &'static str, value: String| {
        let fields = [("do", "save".to_owned()), ("revision", "1".to_owned()), (field, value)];
        (name, format!("/console/ad/edit?{ad}"), Some(fields.to_vec()))
    };
    let page = |name, path: String| (name, path, None);
    vec![
        act("an action that there is not", "\u{1b}[2J", vec![ad.to_owned()]),
        act("no ad", "delete", vec!["source_id=%00&dealer_code=north-cars".to_owned()]),
        act("another dealer's ad", "delete", vec!["source_id=theirs&dealer_code=south-cars".to_owned()]),
        act("ads without number", "delete", (0..20_000).map(|number| format!("source_id={number}")).collect()),
        edit("a revision beyond integers", "revision", "99999999999999999999".to_owned()),
        edit("a text of a megabyte", "body", "x".repeat(1_000_000)),
        edit("a field that there is not", "__proto__", "x".to_owned()),
        ("a token of half a megabyte", "/console/sign-in".to_owned(), Some(vec![("token", "x.".repeat(250_000))])),
        page("a search without end", format!("/console/stock?search={}", "a".repeat(6000))),
        page("a page below nothing", "/console/stock?page=-99999999999999999999&offset=-1".to_owned()),
        page("a version below nothing", format!("/console/ad/version?{ad}&revision=-1")),
        page("bytes that are no text", "/console/stock?search=%ff%fe&view=%00".to_owned()),
    ]
}

#[tokio::test]
async fn hostile_forms_change_nothing_and_show_nothing_of_others() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("own", "OWN123")).await.expect(201);
    server.client.published("own").await;
    let other = super::other_dealer(&server).await;
    let mut theirs = plain_car("theirs", "THE123");
    theirs["body"] = json!(SECRET);
    other.post("/v4/car", &theirs).await.expect(201);
    let visitor = Visitor::signed_in(&server.client).await;
    let before = server.client.ad("own").await;
    let ad = ad_query("own");
    for (name, path, form) in forms(&ad) {
        let answer = match &form {
            None => visitor.get(&path).await,
            Some(form) => {
                let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
                visitor.post(&path, &form).await
            }
        };
        let shown = html(&answer);
        let status = answer.status.as_u16();
        println!("{name}: {status}, {} bytes", shown.len());
        assert!((200..500).contains(&status), "{name}: {status} {shown:.400}");
        // A form of an ad without a button only checks.
        let only_checks = path.contains("edit") || path.contains("/new");
        assert!(form.is_none() || status != 200 || only_checks, "{name}: {status} {shown:.400}");
        assert!(!shown.contains(SECRET) && !shown.contains('\u{1b}'), "{name}: {shown:.400}");
        // The editor shows again what was typed.
        let typed: usize = form.iter().flatten().map(|(_, value)| value.len()).sum();
        assert!(shown.len() < LONGEST_ANSWER + path.len() + typed, "{name}: {} bytes", shown.len());
    }
    let now = server.client.ad("own").await;
    assert_eq!(
        (&now["body"], &now["state"], &now["revision"]),
        (&before["body"], &before["state"], &before["revision"])
    );
    assert_eq!(other.get("/v4/ad/theirs").await.expect(200)["body"], SECRET);
}
