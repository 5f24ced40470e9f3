//! E1.2 and E3.5 to E3.14: what HTTP itself offers to clients.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Request, Who, ad, delete, get, patch, post, raw, validate},
    rule::{Rule, extension},
    trial::{Trial, headers_of},
};

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = errors();
    rules.extend(lists_and_links());
    rules.extend(compression());
    rules.extend(methods());
    rules.extend(reads());
    rules
}

fn errors() -> Vec<Rule> {
    let problem = |request: Request| request.with("accept", "application/problem+json");
    let is_problem = || json!({"content-type": "application/problem+json", "vary": "…", "x-request-id": ANY});
    vec![
        extension(
            "E1.2",
            "every refusal",
            "A client that prefers problem details gets them for every status from 400.",
        )
        .answers(404, problem(get("/nowhere").by(Who::Nobody)), is_problem())
        .answers(405, problem(raw(Method::POST, "/healthz", "")), is_problem())
        .answers(405, problem(delete("/v4/me")), is_problem())
        .answers(400, problem(get("/v4/ad?limit=none")), is_problem())
        .answers(401, problem(get("/v4/me").by(Who::Nobody)), is_problem())
        .answers(404, problem(get("/media/none.jpg")), is_problem())
        .answers(413, problem(raw(Method::POST, "/v4/car", &" ".repeat(1024 * 1024 + 1))), is_problem())
        .answers(415, problem(raw(Method::POST, "/v4/car", "{}")).with("content-encoding", "br"), is_problem())
        .answers(200, problem(get("/v4/ad?limit=1")), json!({"content-type": "application/json"}))
        .see("e2e::http_headers::connections_beyond_a_limit_get_problem_details_too"),
        extension(
            "E3.5",
            "rate limit",
            "Where a limit is set, every answer to a valid token tells what is left of it.",
        )
        .answers(200, get("/v4/ad?limit=1"), json!({"ratelimit": ABSENT, "ratelimit-policy": ABSENT}))
        .see("e2e::http_headers::a_rate_limit_is_told_with_every_answer_to_a_valid_token"),
    ]
}

fn lists_and_links() -> Vec<Rule> {
    const DOCUMENTS: &str = "</openapi.json>; rel=\"service-desc\"…";
    vec![
        extension("E3.6", "pages", "Lists and logs link to the first, previous, next and last page.")
            .by(|trial| Box::pin(links_between_pages(trial)))
            .answers(400, get("/v4/ad?limit=0"), json!({"link": DOCUMENTS})),
        extension("E3.6", "documentation", "Every answer of the API links to its description and documentation.")
            .answers(200, get("/v4/vehicles/car/brand"), json!({"link": DOCUMENTS}))
            .answers(200, get("/v4/me"), json!({"link": DOCUMENTS}))
            .answers(201, post("/v4/boat", &boat("linked")), json!({"link": DOCUMENTS}))
            .answers(404, get("/v4/spaceship"), json!({"link": DOCUMENTS}))
            .answers(401, get("/v3/ad").by(Who::Nobody), json!({"link": DOCUMENTS}))
            .answers(404, get("/elsewhere"), json!({"link": ABSENT})),
    ]
}

fn compression() -> Vec<Rule> {
    let lookup = |accepted: &str| get("/v4/vehicles/car/brand").with("accept-encoding", accepted);
    let coded = |coding: &str| json!({"content-encoding": coding, "vary": "X-Auth-Token, Accept-Encoding"});
    let sent = |coding: &'static str, body: Vec<u8>| {
        let request = Request { body: Some(body), ..validate("car", &json!({})) };
        request.with("content-encoding", coding)
    };
    let car = ad("car", &json!({})).to_string().into_bytes();
    let with_mark = [b"\xEF\xBB\xBF".to_vec(), car.clone()].concat();
    let bomb = vec![b' '; 1024 * 1024 + 1];
    vec![
        extension("E3.7", "answers", "Answers from 1 KiB on are compressed in a coding that the client accepts.")
            .answers(200, lookup("gzip"), coded("gzip"))
            .answers(200, lookup("br"), coded("br"))
            .answers(200, lookup("zstd"), coded("zstd"))
            .answers(200, lookup("gzip;q=0.5, br;q=0"), coded("gzip"))
            .answers(200, lookup("identity"), json!({"content-encoding": ABSENT}))
            .answers(200, lookup("deflate, x"), json!({"content-encoding": ABSENT}))
            .answers(200, lookup("gzip;q=, ;;"), json!({"content-encoding": ABSENT}))
            .answers(
                200,
                get("/v4/ad?source_id=none").with("accept-encoding", "gzip"),
                json!({"content-encoding": ABSENT}),
            )
            .answers(200, get("/openapi.json").with("accept-encoding", "gzip"), json!({"content-encoding": "gzip"}))
            .answers(200, get("/docs/errors/").with("accept-encoding", "br"), json!({"content-encoding": "br"}))
            .answers(404, get("/v4/car/none").with("accept-encoding", "gzip"), json!({"content-encoding": ABSENT}))
            .see("e2e::http_headers::what_is_compressed_is_the_same_when_it_is_decompressed"),
        extension(
            "E3.7",
            "requests",
            "A body may be in gzip; its limit counts what comes out. Another coding is a 415.",
        )
        .accepts(sent("gzip", gzip(&car)), json!({"category_id": 1020}))
        .accepts(sent("X-GZIP", gzip(&car)), json!({"category_id": 1020}))
        .accepts(sent("identity", car), json!({"category_id": 1020}))
        .answers(415, sent("br", Vec::new()), json!({"accept-encoding": "gzip"}))
        .answers(415, sent("gzip, gzip", gzip(&gzip(b"{}"))), json!({"accept-encoding": "gzip"}))
        .refuses_with(413, sent("gzip", gzip(&bomb)), json!({"detail": MORE}))
        .refuses(sent("gzip", b"{}".to_vec()), json!({"detail": "The body is not valid gzip…"})),
        extension(
            "E3.7",
            "text encoding",
            "A byte order mark of UTF-8 is skipped; another encoding is a 400 that says UTF-8.",
        )
        .accepts(Request { body: Some(with_mark), ..validate("car", &json!({})) }, json!({"category_id": 1020}))
        .by(|trial| Box::pin(not_in_utf_8(trial))),
    ]
}

fn methods() -> Vec<Rule> {
    let preflight = |origin: &str| {
        let request = raw(Method::OPTIONS, "/v4/car", "").by(Who::Nobody).with("origin", origin);
        request.with("access-control-request-method", "POST")
    };
    vec![
        extension("E3.8", "HEAD", "HEAD answers wherever a GET only reads, with the headers of the GET.")
            .by(|trial| Box::pin(heads(trial)))
            .answers(405, raw(Method::HEAD, "/v4/ad/x/bump", ""), json!({"allow": "…"}))
            .answers(405, raw(Method::HEAD, "/v4/ad/x/retry", ""), json!({"allow": "…"}))
            .answers(404, raw(Method::HEAD, "/v4/ad/none", ""), json!({"content-length": ANY})),
        extension("E3.8", "OPTIONS", "OPTIONS answers with the methods of a path.")
            .answers(204, options("/v4/car"), json!({"allow": "POST, GET, HEAD, OPTIONS"}))
            .answers(204, options("/v4/car/x"), json!({"allow": "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"}))
            .answers(204, options("/v4/me"), json!({"allow": "GET, HEAD, OPTIONS"}))
            .answers(204, options("/openapi.json"), json!({"allow": "GET, HEAD, OPTIONS"}))
            .answers(404, options("/v4/spaceship"), json!({"allow": ABSENT})),
        extension("E3.8", "CORS", "No page of another origin may use the API unless its origin is listed.")
            .answers(204, preflight("https://shop.example.com"), json!({"access-control-allow-origin": ABSENT}))
            .answers(204, preflight("%%%"), json!({"access-control-allow-origin": ABSENT}))
            .see("e2e::http_headers::pages_of_listed_origins_may_use_the_api_and_no_others"),
    ]
}

fn reads() -> Vec<Rule> {
    vec![
        extension(
            "E3.9",
            "Location",
            "201 leads to the new ad, and the 409 of a used source_id to the ad that has it.",
        )
        .by(|trial| Box::pin(locations(trial))),
        extension("E3.9", "trailing slash", "One slash at the end of a path is ignored.")
            .accepts(get("/v4/car/?limit=1"), json!({"results": [MORE]}))
            .accepts(get("/v4/vehicles/car/attributes/"), json!([MORE]))
            .answers(404, get("/v4/car//"), json!({})),
        extension("E3.10", "fields and include", "Single reads have the parameters fields and include, as lists do.")
            .by(|trial| Box::pin(fields_of_one(trial))),
        extension("E3.10", "answers to a token", "Caches revalidate what depends on the token.")
            .answers(200, get("/v4/ad?limit=1"), json!({"cache-control": "private, no-cache", "vary": "X-Auth-Token…"}))
            .answers(401, get("/v4/ad").by(Who::Nobody), json!({"cache-control": "private, no-cache"})),
        extension("E3.10", "lookups", "Lookups are cached for five minutes.")
            .answers(200, get("/v4/vehicles/car/brand"), json!({"cache-control": "private, max-age=300"}))
            .answers(404, get("/v4/vehicles/car/nothing"), json!({"cache-control": "private, no-cache"})),
        extension("E3.12", "pages", "A page runs its own scripts only, and is shown within no other page.")
            .answers(200, get("/docs/swagger-ui/"), page_headers())
            .answers(200, get("/docs/redoc/"), page_headers())
            .answers(200, get("/docs/errors/"), page_headers())
            .answers(200, get("/docs/errors/not_json"), page_headers())
            .answers(404, get("/docs/errors/nothing"), json!({"content-security-policy": ABSENT})),
        extension("E3.14", "GET /v4/me", "A token tells what it gives access to.")
            .accepts(get("/v4/me").by(Who::Promoter), of_the_promoter())
            .accepts(get("/v4/me").by(Who::Group), json!({"scope": {"dealer_group": "north"}, "dealers": [MORE]}))
            .refuses(get("/v4/me?x=1"), json!({"x": ["Unknown parameter."]}))
            .refuses_with(401, get("/v4/me").by(Who::Bearer("none")), json!({"detail": "Invalid token…"})),
    ]
}

fn of_the_promoter() -> Value {
    json!({
        "scope": {"dealer_code": "north-cars"},
        "dealers": [{"code": "north-cars", "name": ANY, "currency": "SEK", "products": ["online_purchase"],
            "bump": ["primary", "secondary"], "salespersons": 1, "ads": ANY}],
        "permissions": ["promote"],
        "token": {"jti": ANY, "label": null, "issued": ANY},
        "rate_limit": null,
        "versions": ["v3", "v4"],
        "documentation": "http://…",
    })
}

fn page_headers() -> Value {
    json!({
        "content-security-policy": "default-src 'none'; script-src …",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    })
}

fn options(path: &str) -> Request {
    Request { body: None, ..raw(Method::OPTIONS, path, "") }.by(Who::Nobody)
}

fn boat(source_id: &str) -> Value {
    ad("boat", &json!({"source_id": source_id, "visible": false}))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

async fn links_between_pages(trial: &Trial) {
    let ids = [trial.id(), trial.id(), trial.id()];
    for id in &ids {
        trial.sent(post("/v4/boat", &boat(id))).await;
    }
    let listed = format!("/v4/boat?source_id__in={}", ids.join("%2C"));
    let base = &trial.world.server.client.base;
    let page = |offset: u32, relation: &str| format!("<{base}{listed}&limit=1&offset={offset}>; rel=\"{relation}\"");
    for (offset, links) in [
        (0, vec![page(0, "first"), page(1, "next"), page(2, "last")]),
        (1, vec![page(0, "first"), page(0, "prev"), page(2, "next"), page(2, "last")]),
        (2, vec![page(0, "first"), page(1, "prev"), page(2, "last")]),
    ] {
        let request = get(format!("{listed}&limit=1&offset={offset}"));
        trial.answers(&request, 200, &json!({"link": format!("{}, </openapi.json>…", links.join(", "))})).await;
    }
    let log = format!("/v4/ad/{}/log", ids[0]);
    let first = format!("<{base}{log}?limit=50&offset=0>; rel=\"first\"…");
    trial.answers(&get(log), 200, &json!({"link": first})).await;
    // Proxies refuse headers that are much longer.
    let many = get(format!("/v4/ad?source_id__in={}", vec!["x".repeat(200); 20].join(",")));
    trial.answers(&many, 200, &json!({"link": "</openapi.json>…"})).await;
}

async fn not_in_utf_8(trial: &Trial) {
    let text = ad("car", &json!({"body": "#"})).to_string();
    let latin_1 = text.bytes().map(|byte| if byte == b'#' { 0xE5 } else { byte }).collect();
    let utf_16 = ad("car", &json!({})).to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    for body in [latin_1, utf_16] {
        let request = Request { body: Some(body), ..validate("car", &json!({})) };
        let answer = trial.answers(&request, 400, &json!({"content-type": "application/json"})).await;
        let detail = answer.json()["detail"].as_str().unwrap_or_default().to_owned();
        trial.sees("that it says UTF-8", &json!(true), &json!(detail.contains("UTF-8")));
    }
}

async fn heads(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    for path in [
        format!("/v4/boat/{id}"),
        format!("/v4/ad/{id}/log?limit=1"),
        "/v4/vehicles/car/brand".to_owned(),
        "/openapi.json".to_owned(),
        "/docs/redoc/".to_owned(),
        "/healthz".to_owned(),
    ] {
        for accepted in ["identity", "gzip"] {
            let ask = |method| Request { method, ..get(path.clone()) }.with("accept-encoding", accepted);
            let whole = headers_of(&trial.send(&ask(Method::GET)).await);
            let names = ["content-length", "content-type", "content-encoding", "cache-control", "vary", "link"];
            let same = |name: &str| (name.to_owned(), whole.get(name).cloned().unwrap_or(json!(ABSENT)));
            let headers: Value = names.into_iter().map(same).collect();
            let head = trial.answers(&ask(Method::HEAD), 200, &headers).await;
            trial.sees("the body of HEAD", &json!(0), &json!(head.bytes.len()));
        }
    }
}

async fn locations(trial: &Trial) {
    let base = &trial.world.server.client.base;
    let id = format!("{} a/å", trial.id());
    let encoded = id.replace(' ', "%20").replace('/', "%2F").replace('å', "%C3%A5");
    let new = boat(&id);
    let own = json!({"location": format!("{base}/v4/boat/{encoded}")});
    trial.answers(&post("/v4/boat", &new), 201, &own).await;
    let existing = json!({"location": format!("{base}/v4/ad/{encoded}")});
    trial.answers(&post("/v4/boat", &new), 409, &existing).await;
    trial.answers(&post("/v4/boat/validate", &new), 409, &existing).await;
    let of_v3 = ad("car", &json!({"source_id": id, "category_fields": {"registration_number": trial.plate()}}));
    trial.answers(&post("/v3/ad", &of_v3), 409, &json!({"location": format!("{base}/v3/ad/{encoded}")})).await;
    // Another dealer of the group may have the same source id.
    let mut of_coast = new.clone();
    of_coast["dealer_code"] = json!("coast-boats");
    let location = format!("{base}/v4/boat/{encoded}?dealer_code=coast-boats");
    trial.answers(&post("/v4/boat", &of_coast).by(Who::Group), 201, &json!({"location": location})).await;
    let path = location.trim_start_matches(base.as_str()).to_owned();
    trial.accepts(get(path).by(Who::Group), 200, json!({"source_id": id, "dealer_code": "coast-boats"})).await;
    trial
        .answers(&patch(format!("/v4/boat/{encoded}"), &json!({"body": "x"})), 200, &json!({"location": ABSENT}))
        .await;
}

async fn fields_of_one(trial: &Trial) {
    let (id, _) = trial.created("boat", &json!({"visible": false})).await;
    let path = format!("/v4/boat/{id}");
    for (query, members) in [
        ("?fields=id,state", &["id", "state"][..]),
        ("?fields=state&include=log", &["log", "state"]),
        ("?fields=state,log", &["log", "state"]),
        ("?fields=state&fields=title", &["state", "title"]),
    ] {
        let answer = trial.accepts(get(format!("{path}{query}")), 200, json!({})).await;
        let shown: Vec<_> = answer.body.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        trial.sees(query, &json!(members), &json!(shown));
    }
    for query in ["", "?include=log"] {
        trial.accepts(get(format!("{path}{query}")), 200, json!({"id": ANY, "log": [MORE]})).await;
    }
    let unknown = json!({"fields": ["\"colour\" is not a valid choice.", MORE]});
    trial.refuses(get(format!("{path}?fields=colour")), 400, unknown).await;
    let not_here = json!({"fields": ["Unknown parameter."]});
    trial.refuses(patch(format!("{path}?fields=id"), &json!({"body": "x"})), 400, not_here).await;
}
