//! E4: events. What needs a stream, a clock or processes of its own has a test elsewhere, to which the rule points.

use ad_core::{model::EventPosition, service::Access};
use ad_server::events::CursorScope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Request, Who, get, patch, post},
    rule::{Rule, extension},
    trial::Trial,
};

const NOT_A_CURSOR: &str = "Not a cursor of this token's events.…";

pub(super) fn rules() -> Vec<Rule> {
    [sequence(), parameters(), event(), streams(), guarantees()].into_iter().flatten().collect()
}

fn sequence() -> Vec<Rule> {
    vec![
        extension(
            "E4.1",
            "one sequence",
            "The log entries of all ads in the token's scope, in the order of their commits.",
        )
        .by(|trial| Box::pin(entries_of_the_log(trial)))
        .one_sided("ads of others have a rule of their own"),
        extension(
            "E4.1",
            "a group",
            "The events of its dealers are merged in an order that is the same at every reading.",
        )
        .by(|trial| Box::pin(same_at_every_reading(trial)))
        .one_sided("ads of others have a rule of their own")
        .see("e2e::events::a_group_without_dealers_or_ads_has_no_events"),
        extension("E4.1", "scope", "A token reads the events of its own dealer or group only.")
            .by(|trial| Box::pin(own_events(trial))),
        extension("E4.1", "answer", "The cursor moves on even if the filter left nothing.")
            .by(|trial| Box::pin(cursor_moves_on(trial)))
            .one_sided("wrong filters have rules of their own"),
    ]
}

fn parameters() -> Vec<Rule> {
    let refused =
        |query: &str, name: &str, text: &str| (get(format!("/v4/events?{query}")), json!({name: [text, MORE]}));
    let rule = |name: &str, says: &str, wrong: &[(&str, &str)]| {
        let rule = extension("E4.1", name, says);
        wrong.iter().fold(rule, |rule, (query, text)| {
            let parameter = query.split('=').next().expect("a query has a name");
            let (request, body) = refused(query, parameter, text);
            rule.refuses(request, body)
        })
    };
    vec![
        rule(
            "after",
            "An opaque cursor; absent: from the oldest; `now`: from here on.",
            &[("after=", NOT_A_CURSOR), ("after=x", NOT_A_CURSOR), ("after=Now", NOT_A_CURSOR)],
        )
        .by(|trial| Box::pin(after(trial))),
        rule(
            "types",
            "Comma-separated, `ad.publish.*` allowed.",
            &[
                ("types=", "\"\" is not a valid choice.…"),
                ("types=publish.done", "\"publish.done\" is not a valid choice.…"),
                ("types=ad.publish.done,ad.publish.finished", "\"ad.publish.finished\" is not a valid choice.…"),
            ],
        )
        .by(|trial| Box::pin(types(trial))),
        rule("source_id and dealer_code", "Only the events of these ads.", &[("dealer=x", "Unknown parameter.…")])
            .by(|trial| Box::pin(of_ads(trial))),
        rule(
            "limit",
            "Default 100, at most 1,000.",
            &[
                ("limit=0", "Must be 1 to 1000.…"),
                ("limit=1001", "Must be 1 to 1000.…"),
                ("limit=x", "A valid integer is required.…"),
            ],
        )
        .accepts(get("/v4/events?limit=1000"), json!({"events": ANY}))
        .by(|trial| Box::pin(default_limit(trial))),
        rule(
            "wait",
            "Long poll, 0 to 30 s.",
            &[
                ("wait=31", "Must be 0 to 30.…"),
                ("wait=-1", "Must be 0 to 30.…"),
                ("wait=1.5", "A valid integer is required.…"),
            ],
        )
        .accepts(get("/v4/events?after=now&wait=0"), json!({"cursor": ANY, "has_more": false}))
        .see("e2e::events::a_reader_follows_the_log_by_its_cursors"),
    ]
}

fn event() -> Vec<Rule> {
    let rule = |name: &str, says: &str| {
        extension("E4.2", name, says).one_sided("a reader sends no event, so there is nothing to refuse")
    };
    vec![
        rule("members", "An event has the members of its log entry and its ad; `type` is `ad.{action}.{state}`.")
            .by(|trial| Box::pin(members(trial))),
        rule("message", "It is text: of an object message, its `message`.").by(|trial| Box::pin(message(trial))),
        rule("ids on the marketplaces", "They are those at the time of reading.")
            .by(|trial| Box::pin(listing_ids(trial))),
    ]
}

fn streams() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E4.3", name, says);
    let stream = |query: &str| get(format!("/v4/events{query}")).with("accept", "text/event-stream");
    let head = Request { method: Method::HEAD, ..stream("?after=now") };
    vec![
        rule(
            "server-sent events",
            "`id` is the cursor, `event` the type, `data` the event on one line; `retry: 3000`.",
        )
        .answers(200, head.clone(), json!({"content-type": "text/event-stream", "content-encoding": ABSENT}))
        .answers(200, head.with("accept-encoding", "gzip"), json!({"content-encoding": ABSENT}))
        .answers(400, stream("?after=x"), json!({"content-type": "application/json"}))
        .answers(400, stream("?types=x"), json!({"content-type": "application/json"}))
        .answers(401, stream("").by(Who::Nobody), json!({"www-authenticate": "X-Auth-Token…"}))
        .answers(403, stream("").by(Who::Writer), json!({"content-type": "application/json"}))
        .see("e2e::events::a_stream_goes_on_where_its_client_stopped"),
        rule("a stream only for who asks for one", "JSON is the answer where `Accept` gives it the higher weight.")
            .answers(200, get("/v4/events?limit=1").with("accept", "*/*"), json!({"content-type": "application/json"}))
            .answers(
                200,
                get("/v4/events?limit=1").with("accept", "text/event-stream;q=0.5, application/json"),
                json!({"content-type": "application/json", "vary": "X-Auth-Token, Accept…"}),
            )
            .one_sided("no value of Accept is refused"),
        rule("comment", "A comment every 15 s.").see("e2e::events::a_silent_stream_says_every_15_seconds_where_it_is"),
        rule("Last-Event-ID", "It wins over `after`.").by(|trial| Box::pin(last_event_id(trial))),
        rule("end", "A stream ends when its token is revoked or expires, and on shutdown.")
            .see("e2e::events::a_stream_ends_when_its_token_is_revoked_and_when_the_service_stops")
            .see("e2e::events::a_stream_ends_when_its_token_expires"),
        rule("limits", "Streams and long polls have limits of their own; 429 with `Retry-After` beyond them.")
            .see("e2e::events::streams_of_one_token_are_limited_and_counted")
            .see("e2e::events::streams_of_a_process_are_limited")
            .see("ad-server/http/src/api/event_streams.rs::each_token_and_all_together_have_a_limit"),
        rule("rate limit", "Streams and long polls do not count as requests of the rate limit.")
            .see("e2e::events::streams_and_long_polls_do_not_count_in_the_rate_limit"),
    ]
}

fn guarantees() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E4.4", name, says);
    vec![
        rule("each event once", "Nothing is skipped and nothing comes twice, across `kill -9` and restart.")
            .see("tests/e2e/faults/readers.rs::readers_see_every_event_once_while_processes_are_killed")
            .see("tests/e2e/faults/readers.rs::readers_see_every_event_once_while_processes_are_killed_in_postgresql"),
        rule(
            "overlapping transactions",
            "A transaction that commits later than one with a higher number is not skipped.",
        )
        .see(
            "ad-server/store/src/tests/migrations.rs::\
                 no_reader_passes_a_transaction_that_is_still_running_in_postgresql",
        ),
        rule("a cursor beyond the end", "It is a 400 at `after` that says how to go on.")
            .by(|trial| Box::pin(beyond_the_end(trial)))
            .see("e2e::events::a_cursor_of_before_a_restored_backup_says_how_to_go_on"),
        rule("cost", "Reading costs the same at 8 million entries as at 8 thousand.")
            .see("ad-server/store/src/tests/plans.rs::events_are_read_from_their_position_on"),
    ]
}

/// The events of an ad, as somebody reads them.
async fn events_of(trial: &Trial, who: Who, id: &str) -> Vec<Value> {
    let page = trial.sent(get(format!("/v4/events?source_id={id}&limit=1000")).by(who)).await;
    page.body["events"].as_array().cloned().unwrap_or_default()
}

fn cursor(page: &Value) -> &str {
    page["cursor"].as_str().unwrap_or_default()
}

async fn entries_of_the_log(trial: &Trial) {
    let now = trial.accepts(get("/v4/events?after=now"), 200, json!({"cursor": ANY, "has_more": false})).await.body;
    let ids = [trial.published("boat", &json!({})).await, trial.published("boat", &json!({})).await];
    // Other rules are on trial meanwhile: their events are between these.
    let (mut after, mut read) = (cursor(&now).to_owned(), Vec::new());
    loop {
        let page = trial.also_accepts(get(format!("/v4/events?limit=3&after={after}")), 200, json!({})).await.body;
        cursor(&page).clone_into(&mut after);
        read.extend(page["events"].as_array().cloned().unwrap_or_default());
        if page["has_more"] == false {
            break;
        }
    }
    let client = trial.world.client(Who::North);
    for id in ids {
        let own = read.iter().filter(|event| event["source_id"] == id.as_str());
        let own: Vec<_> = own.map(|event| json!([event["sequence"], event["action"], event["state"]])).collect();
        let log = client.log(&id).await;
        let log = log.iter().zip(1..).map(|(entry, number)| json!([number, entry["action"], entry["state"]]));
        trial.sees("the events of an ad", &log.collect(), &json!(own));
    }
}

async fn same_at_every_reading(trial: &Trial) {
    let begin = trial.accepts(get("/v4/events?after=now").by(Who::Group), 200, json!({"cursor": ANY})).await.body;
    // Twelve entries at least.
    for who in [Who::North, Who::Coast, Who::North] {
        let (id, created) = trial.created_by(who, "boat", &json!({})).await;
        trial.ended_for(who, &id, "publish", &created).await;
    }
    let order = async |limit: u32| {
        let (mut after, mut ids) = (cursor(&begin).to_owned(), Vec::new());
        while ids.len() < 12 {
            let page = trial.sent(get(format!("/v4/events?limit={limit}&after={after}")).by(Who::Group)).await.body;
            let events = page["events"].as_array().into_iter().flatten();
            ids.extend(events.map(|event| event["id"].clone()));
            cursor(&page).clone_into(&mut after);
        }
        ids.truncate(12);
        json!(ids)
    };
    trial.sees("the order", &order(5).await, &order(7).await);
}

async fn own_events(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let path = format!("/v4/events?source_id={id}");
    for who in [Who::North, Who::Reader, Who::Group] {
        let event = json!({"source_id": id, "dealer_code": "north-cars", "sequence": 1});
        trial.accepts(get(&path).by(who), 200, json!({"events": [event, MORE]})).await;
    }
    for who in [Who::Coast, Who::South, Who::Quiet] {
        trial.accepts(get(&path).by(who), 200, json!({"cursor": ANY, "has_more": false})).await;
    }
    trial.refuses(get(&path).by(Who::Nobody), 401, json!({"detail": MORE})).await;
    trial.refuses(get(&path).by(Who::Writer), 403, json!({"detail": MORE})).await;
    trial.refuses(post(&path, &json!({})), 405, json!({"detail": MORE})).await;
}

async fn cursor_moves_on(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let own = format!("/v4/events?source_id={id}");
    let shape = json!({"events": [], "cursor": ANY, "has_more": false});
    let page = trial.accepts(get(format!("{own}&types=ad.bump.*")), 200, shape).await.body;
    trial.sees("the number of members", &json!(3), &json!(page.as_object().map_or(0, serde_json::Map::len)));
    let rest = get(format!("{own}&after={}", cursor(&page)));
    trial.accepts(rest, 200, json!({"events": [], "cursor": ANY, "has_more": false})).await;
    // A page that is full says whether there is more.
    let page = trial.accepts(get(format!("{own}&limit=2")), 200, json!({"events": [ANY, ANY], "has_more": true})).await;
    trial.sees("the cursor of the page", &page.body["events"][1]["cursor"], &page.body["cursor"]);
}

async fn after(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let events = events_of(trial, Who::North, &id).await;
    let path = format!("/v4/events?source_id={id}&after=");
    for (number, event) in events.iter().enumerate() {
        let rest = json!({"events": events[number + 1..], "has_more": false});
        trial.accepts(get(format!("{path}{}", cursor(event))), 200, rest).await;
    }
    trial.accepts(get(format!("{path}now")), 200, json!({"events": [], "cursor": ANY})).await;
    let oldest = events_of(trial, Who::North, &id).await;
    trial.sees("all without `after`", &json!(events), &json!(oldest));
    // A cursor is of one dealer or group.
    let foreign = events.first().map(|event| format!("/v4/events?after={}", cursor(event))).unwrap_or_default();
    trial.accepts(get(&foreign).by(Who::Reader), 200, json!({"cursor": ANY})).await;
    for who in [Who::Group, Who::Coast, Who::South] {
        trial.refuses(get(&foreign).by(who), 400, json!({"after": [NOT_A_CURSOR]})).await;
    }
}

async fn types(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let all = ["ad.create.processing", "ad.create.done", "ad.publish.processing", "ad.publish.done"];
    for (types, found) in [
        ("ad.publish.done", &all[3..]),
        ("ad.publish.*", &all[2..]),
        ("ad.*.done", &[all[1], all[3]]),
        ("ad.*.*", &all),
        ("ad.create.done,ad.publish.*", &all[1..]),
        ("ad.bump.done,ad.create.error", &[]),
    ] {
        let found: Vec<_> = found.iter().map(|event_type| json!({"type": event_type})).collect();
        let request = get(format!("/v4/events?source_id={id}&types={types}"));
        trial.accepts(request, 200, json!({"events": found})).await;
    }
}

async fn of_ads(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let path = format!("/v4/events?limit=1&source_id={id}");
    let event = json!({"source_id": id, "dealer_code": "north-cars"});
    trial.accepts(get(format!("{path}&dealer_code=north-cars")).by(Who::Group), 200, json!({"events": [event]})).await;
    trial.accepts(get(format!("{path}&dealer_code=coast-boats")).by(Who::Group), 200, json!({"events": []})).await;
    trial.accepts(get(format!("{path}&dealer_code=south-cars")).by(Who::Group), 200, json!({"events": []})).await;
    let of_dealer = get("/v4/events?limit=1&dealer_code=north-cars").by(Who::Group);
    trial.accepts(of_dealer, 200, json!({"events": [{"dealer_code": "north-cars"}]})).await;
    trial.accepts(get("/v4/events?source_id=nobody-has-this"), 200, json!({"cursor": ANY, "has_more": false})).await;
}

async fn default_limit(trial: &Trial) {
    // Each has two entries at least.
    for _ in 0..51 {
        let (id, created) = trial.created("boat", &json!({"visible": false})).await;
        trial.ended(&id, "create", &created).await;
    }
    let page = trial.accepts(get("/v4/events"), 200, json!({"has_more": true})).await.body;
    trial.sees("events of a page", &json!(100), &json!(page["events"].as_array().map_or(0, Vec::len)));
}

async fn members(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let ad = trial.read(&id).await;
    let log = trial.world.client(Who::North).log(&id).await;
    let events = events_of(trial, Who::North, &id).await;
    let ad_id = ad["id"].as_str().unwrap_or_default();
    let expected = log.iter().zip(1..).map(|(entry, sequence)| {
        let [action, state] = [&entry["action"], &entry["state"]].map(|name| name.as_str().unwrap_or_default());
        json!({"id": format!("evt_{}_{sequence}", ad_id.replace('-', "")), "cursor": ANY, "type": format!("ad.{action}.{state}"),
            "timestamp": entry["created"], "dealer_code": "north-cars", "source_id": id, "ad_id": ad_id, "category_id": 1060,
            "request_id": entry["request_id"], "sequence": sequence, "action": action, "state": state, "code": entry["code"],
            "message": entry["external_message"], "marketplace_ad_id": ad["marketplace_ad_id"], "offer_id": ad["offer_id"],
            "plan_id": null})
    });
    let expected: Vec<_> = expected.collect();
    trial.accepts(get(format!("/v4/events?source_id={id}")), 200, json!({"events": expected})).await;
    for (event, expected) in events.iter().zip(&expected) {
        let names = |object: &Value| json!(object.as_object().map(|it| it.keys().cloned().collect::<Vec<_>>()));
        trial.sees("the members of an event", &names(expected), &names(event));
    }
    // The same id for who reads it through the group.
    let ids = |events: &[Value]| json!(events.iter().map(|event| event["id"].clone()).collect::<Vec<_>>());
    trial.sees("the ids", &ids(&events), &ids(&events_of(trial, Who::Group, &id).await));
}

async fn message(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"image_urls": [trial.world.images.url("page.jpg")]})).await;
    trial.ended(&id, "publish", &created).await;
    let failed = json!({"code": "image_failed", "message": "1 of 1 image failed"});
    let path = format!("/v4/events?source_id={id}&types=ad.handle_media.error,ad.create.done");
    trial.accepts(get(path), 200, json!({"events": [{"code": null, "message": "Ad created"}, failed]})).await;
}

async fn listing_ids(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let first = get(format!("/v4/events?source_id={id}&limit=1"));
    trial.accepts(first.clone(), 200, json!({"events": [{"marketplace_ad_id": null, "sequence": 1}]})).await;
    let shown = trial.sent(patch(format!("/v4/boat/{id}"), &json!({"visible": true}))).await;
    trial.ended(&id, "publish", &shown).await;
    let listing_id = trial.read(&id).await["marketplace_ad_id"].clone();
    trial.sees("the ad's id on the marketplace", &json!(ANY), &listing_id);
    trial.accepts(first, 200, json!({"events": [{"marketplace_ad_id": listing_id, "sequence": 1}]})).await;
}

async fn last_event_id(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let events = events_of(trial, Who::North, &id).await;
    let path = format!("/v4/events?source_id={id}");
    let from = |after: &str, header: &str| get(format!("{path}{after}")).with("last-event-id", header);
    let second = events.get(1).map(cursor).unwrap_or_default();
    for after in ["", "&after=now", "&after=x"] {
        trial.accepts(from(after, second), 200, json!({"events": events[2..]})).await;
    }
    trial.accepts(from("", ""), 200, json!({"events": events})).await;
    trial.refuses(from("&after=now", "x"), 400, json!({"after": [NOT_A_CURSOR]})).await;
}

async fn beyond_the_end(trial: &Trial) {
    let cursors = CursorScope::of(&Access::Dealer("north-cars".to_owned()));
    let beyond = cursors.encode(EventPosition::end_of(1 << 50));
    let says = "The cursor lies beyond the newest event: the service was restored from a backup, or a standby has taken over, and \
        events were lost. Send \"now\" for events from now on, or nothing for all events; compare your data with the ads.";
    for (name, request) in [
        ("a page", get(format!("/v4/events?after={beyond}"))),
        ("a long poll", get(format!("/v4/events?after={beyond}&wait=1"))),
        ("a stream", get("/v4/events").with("accept", "text/event-stream").with("last-event-id", &beyond)),
    ] {
        let answer = trial.answers(&request, 400, &json!({"content-type": "application/json"})).await;
        trial.sees(name, &json!({"after": [says]}), &answer.json());
    }
    trial.accepts(get("/v4/events?after=now"), 200, json!({"cursor": ANY, "has_more": false})).await;
    trial.accepts(get("/v4/events?limit=1"), 200, json!({"cursor": ANY})).await;
}
