//! Money is shown before it is spent: the question before a promotion, the account, and schedules.

use std::time::Duration;

use ad_tests::{Options, Postgres, Server, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Visitor, ad_query, encoded, html};
use crate::payloads::plain_car;

/// Gives `north-cars` a tariff.
pub(super) async fn agree(server: &Server, tariff: &str) {
    let known = include_str!("../../data/dealers.toml");
    let (north, others) = known.split_once("\n[[dealer]]").expect("several dealers");
    let dealers = format!("{north}\n[dealer.tariff]\n{}\n\n[[dealer]]{others}", tariff.replace(';', "\n"));
    std::fs::write(server.dir().join("dealers.toml"), dealers).unwrap();
    server.command(&["dealers", "import", "dealers.toml"]).await;
    eventually("the server knows the tariff", async || {
        let account = server.client.get("/v4/account").await.expect(200);
        (account["prices"]["bump"] != Value::Null).then_some(())
    })
    .await;
}

/// Cars of these ids that are live, with the plates `MNY000`, `MNY001`, …
async fn publish(server: &Server, ids: &[&str]) {
    for (number, id) in ids.iter().enumerate() {
        server.client.post("/v4/car", &plain_car(id, &format!("MNY{number:03}"))).await.expect(201);
    }
    for id in ids {
        server.client.published(id).await;
    }
}

/// Orders a bump, and waits until it has ended.
pub(super) async fn bumped(server: &Server, source_id: &str) {
    let answer = server.client.send(Method::POST, &format!("/v4/ad/{source_id}/bump"), None).await;
    answer.expect(200);
    let request = answer.header("x-request-id").unwrap().to_owned();
    server.client.ended(source_id, "bump", Some(&request)).await;
}

/// Asks before an action on ads.
async fn asked(visitor: &Visitor, action: &str, ids: &[&str]) -> String {
    let ads: Vec<_> = ids.iter().map(|id| ad_query(id)).collect();
    let form: Vec<_> = [("action", action)].into_iter().chain(ads.iter().map(|ad| ("ad", ad.as_str()))).collect();
    let answer = visitor.post("/console/act", &form).await;
    assert_eq!(answer.status, 200, "{}", html(&answer));
    html(&answer)
}

/// The number of ads that the button of a question sends.
fn sent(question: &str) -> usize {
    let form = question.split("<form class=\"actions\"").nth(1).unwrap();
    form.matches("type=\"hidden\" name=\"ad\"").count()
}

#[tokio::test]
async fn the_question_says_what_each_ad_costs_and_leaves_out_what_cannot_be_promoted() {
    let server = Server::start().await;
    publish(&server, &["bumped", "fresh", "hidden", "gone"]).await;
    agree(&server, "bump = 29.5; pole_position = 199; budget = 100").await;
    server.client.patch("/v4/car/hidden", &json!({"visible": false})).await.expect(200);
    server.client.ended("hidden", "unpublish", None).await;
    server.client.delete("/v4/ad/gone").await;
    server.client.ended("gone", "delete", None).await;
    bumped(&server, "bumped").await;
    let visitor = Visitor::signed_in(&server.client).await;
    let question = asked(&visitor, "bump", &["bumped", "fresh", "hidden", "gone", "nowhere"]).await;
    assert_eq!(sent(&question), 2, "{question}");
    for text in [
        "<strong>59 SEK</strong>",
        "118 SEK",
        "41 SEK are left this month",
        "That is more than is left",
        "Last bump 0 min ago; another one is charged again",
        "Not included (3)",
        ": hidden",
        ": deleted",
        ": does not exist",
        "<span class=\"plate\">MNY001</span>",
    ] {
        assert!(question.contains(text), "{text}: {question}");
    }
    assert_eq!(question.matches("is charged again").count(), 1);
    // Nothing has been ordered by the question.
    assert_eq!(server.client.get("/v4/account").await.expect(200)["budget"]["spent"], 59);
    let question = asked(&visitor, "pole_position", &["fresh"]).await;
    assert!(question.contains("199 SEK") && sent(&question) == 1, "{question}");
    let none = asked(&visitor, "bump", &["hidden"]).await;
    assert!(none.contains("None of these ads") && !none.contains("value=\"bump\">Bump"), "{none}");
    let swedish = visitor.post("/console/language", &[("language", "sv")]).await;
    let mut svensk = visitor.clone();
    svensk.keep_cookies(&swedish);
    let question = asked(&svensk, "bump", &["fresh"]).await;
    assert!(question.contains("<strong>59 kr</strong>") && question.contains("41 kr är kvar"), "{question}");
    // Who may not promote never sees the question, nor the budget.
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read,write"]).await;
    let ad = ad_query("fresh");
    let refused = reader.post("/console/act", &[("action", "bump"), ("ad", &ad)]).await;
    assert_eq!(refused.status, 403);
    assert!(!html(&refused).contains("SEK"), "{}", html(&refused));
}

#[tokio::test]
async fn what_is_free_is_not_charged_again_and_an_own_limit_says_what_is_left() {
    let server = Server::start().await;
    publish(&server, &["one", "two"]).await;
    bumped(&server, "one").await;
    server.client.put("/v4/account/budget", &json!({"own": 1500})).await.expect(200);
    let visitor = Visitor::signed_in(&server.client).await;
    let question = asked(&visitor, "bump", &["one", "two"]).await;
    for text in ["<strong>free</strong>", "Last bump 0 min ago<", "1\u{202f}500 SEK are left this month"] {
        assert!(question.contains(text), "{text}: {question}");
    }
    assert!(!question.contains("charged"), "{question}");
    // A schedule for many says that it may leave an ad out; one for this ad is certain.
    let schedule = |select: Value| json!({"kind": "bump", "select": select, "most_per_run": 1, "at": "08:00"});
    server.client.post("/v4/promotions", &schedule(json!({"status": "live"}))).await.expect(201);
    server.client.post("/v4/promotions", &schedule(json!({"source_id": "two"}))).await.expect(201);
    let of = async |id: &str| visitor.page(&format!("/console/ad?{}", ad_query(id))).await;
    let (one, two) = (of("one").await, of("two").await);
    assert!(one.contains("Perhaps bumped by schedule") && one.contains("it takes at most 1 ad each time."), "{one}");
    assert!(!one.contains("Next bump by schedule"), "{one}");
    assert!(two.contains("by schedule"), "{two}");
}

#[tokio::test]
async fn the_account_shows_the_month_and_its_charges() {
    the_account_of(&[]).await;
}

#[tokio::test]
async fn the_account_shows_the_month_and_its_charges_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    the_account_of(&["--database-url".to_owned(), postgres.database().await]).await;
}

async fn the_account_of(database: &[String]) {
    let server = Server::with(Options { args: database.to_vec(), ..Options::default() }).await;
    publish(&server, &["one", "two"]).await;
    agree(&server, "bump = 29.5; pole_position = 199; budget = 1500; slots = 40").await;
    bumped(&server, "one").await;
    bumped(&server, "two").await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page("/console/account").await;
    for text in
        ["<strong>118 SEK</strong>", "1\u{202f}382 SEK", "29.50 SEK", "of 40", "<svg", "MNY000", "MNY001", "Charged"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    for (query, plates) in [
        ("ad=mny 001", &["MNY001"][..]),
        ("ad=one", &["MNY000"]),
        ("kind=pole_position", &[]),
        ("kind=bump", &["MNY000", "MNY001"]),
        ("ad=none", &[]),
    ] {
        let pairs: Vec<_> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        let page = visitor.page(&format!("/console/account?{}", encoded(&pairs))).await;
        for plate in ["MNY000", "MNY001"] {
            assert_eq!(page.contains(&format!(">{plate}<")), plates.contains(&plate), "{query}: {page}");
        }
    }
    let before = visitor.page("/console/account?month=2020-01").await;
    assert!(before.contains("January 2020") && before.contains("There are no charges"), "{before}");
    for odd in ["month=x", "month=9999-12", "offset=-1", "offset=99999999999", "kind=x", "ad=%00"] {
        visitor.page(&format!("/console/account?{odd}")).await;
    }
    // The dealer's own limit.
    for (own, status, says) in [("1 000,50", 303, ""), ("x", 400, "Enter an amount"), ("", 303, "")] {
        let answer = visitor.post("/console/account/budget", &[("own", own), ("dealer_code", "north-cars")]).await;
        assert_eq!(answer.status, status, "{}", html(&answer));
        assert!(html(&answer).contains(says));
        let account = server.client.get("/v4/account").await.expect(200);
        let expected = if own.is_empty() { Value::Null } else { json!(1000.5) };
        assert_eq!(account["budget"]["own"], expected, "{own}");
    }
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert!(!reader.page("/console/account").await.contains("name=\"own\""));
    assert_eq!(reader.post("/console/account/budget", &[("own", "5")]).await.status, 403);
    let stranger = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert!(!stranger.page("/console/account").await.contains("MNY000"));
    assert_eq!(stranger.get("/console/account?dealer_code=north-cars").await.status, 404);
    assert_eq!(
        stranger.post("/console/account/budget", &[("own", "5"), ("dealer_code", "north-cars")]).await.status,
        404
    );
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let page = group.page("/console/account").await;
    assert!(page.contains("dealer_code=north-cars") && page.contains("118 SEK"), "{page}");
    assert!(group.page("/console/account?dealer_code=north-cars").await.contains("MNY000"));
}

/// The path of the schedule to which an answer leads.
fn schedule_of(answer: &ad_tests::Answer) -> String {
    assert_eq!(answer.status, 303, "{}", html(answer));
    answer.header("location").unwrap().split('&').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_schedule_is_made_changed_paused_and_deleted_with_its_cost_before() {
    let server = Server::start().await;
    publish(&server, &["one", "two", "three"]).await;
    agree(&server, "bump = 29.5; budget = 1500").await;
    let visitor = Visitor::signed_in(&server.client).await;
    assert!(visitor.page("/console/schedules").await.contains("There are no schedules"));
    visitor.page("/console/schedule/edit").await;
    let form = [
        ("kind", "bump"),
        ("status", "live"),
        ("category", "1020"),
        ("most_per_run", "2"),
        ("order", "created"),
        ("weekday", "mon"),
        ("weekday", "thu"),
        ("at", "08:00"),
        ("until", ""),
        ("budget", "1 500"),
    ];
    let with = |what: &'static str| [("do", what)].into_iter().chain(form).collect::<Vec<_>>();
    let answer = visitor.post("/console/schedule/edit", &with("check")).await;
    let preview = html(&answer);
    for text in ["118 SEK", "2 ads", "MNY000", "MNY001", "Start the schedule", "Mon, Thu 08:00", "1\u{202f}500 SEK"] {
        assert!(preview.contains(text), "{text}: {preview}");
    }
    assert!(!preview.contains("MNY002"), "{preview}");
    assert_eq!(server.client.get("/v4/promotions").await.expect(200)["count"], 0, "a preview stores nothing");
    let saved = schedule_of(&visitor.post("/console/schedule/edit", &with("save")).await);
    let stored = server.client.get("/v4/promotions").await.expect(200)["results"][0].clone();
    assert_eq!(stored["select"], json!({"status": "live", "category_id": 1020}));
    assert_eq!(
        (&stored["weekdays"], &stored["budget"], &stored["most_per_run"]),
        (&json!(["mon", "thu"]), &json!(1500), &json!(2))
    );
    let list = visitor.page("/console/schedules").await;
    // The runs of two weeks, one of which may be over today, and the next run by itself, each with its cost.
    let runs = list.matches("2 ads, 118 SEK").count() - 1;
    assert!((3..=4).contains(&runs), "{list}");
    assert!(list.contains(&format!("<strong>{} SEK</strong>", runs * 118)), "{list}");
    let page = visitor.page(&saved).await;
    assert!(page.contains("MNY000") && page.contains("It has not run yet"), "{page}");

    let id = stored["id"].as_str().unwrap();
    for (what, paused) in [("pause", true), ("resume", false)] {
        let answer = visitor.post(&saved, &[("do", what)]).await;
        assert_eq!(answer.status, 303, "{}", html(&answer));
        assert_eq!(server.client.get(&format!("/v4/promotions/{id}")).await.expect(200)["paused"], paused);
    }
    let edit = format!("/console/schedule/edit?id={id}");
    let shown = visitor.page(&edit).await;
    assert!(shown.contains("value=\"1500\"") && shown.contains("value=\"mon\" checked"), "{shown}");
    let one = [
        ("do", "save"),
        ("kind", "bump"),
        ("one_ad", "mny 002"),
        ("most_per_run", "1"),
        ("order", "updated"),
        ("at", "09:30"),
    ];
    schedule_of(&visitor.post(&edit, &one).await);
    let changed = server.client.get(&format!("/v4/promotions/{id}")).await.expect(200);
    assert_eq!(
        (&changed["select"], &changed["weekdays"], &changed["at"]),
        (&json!({"source_id": "three"}), &Value::Null, &json!("09:30"))
    );
    let old = [
        ("do", "save"),
        ("kind", "bump"),
        ("status", ""),
        ("min_age_days", "30"),
        ("most_per_run", "1"),
        ("order", "updated"),
        ("at", "09:30"),
    ];
    schedule_of(&visitor.post(&edit, &old).await);
    let preview = server.client.send(Method::POST, &format!("/v4/promotions/{id}/preview"), None).await.expect(200);
    assert_eq!(preview["promoted"], json!([]), "no ad is so old: {preview}");

    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    let seen = reader.page(&saved).await;
    assert!(!seen.contains("value=\"pause\"") && !seen.contains("schedule/edit"), "{seen}");
    assert_eq!(reader.post(&saved, &[("do", "pause")]).await.status, 403);
    assert_eq!(reader.get(&edit).await.status, 403);
    let stranger = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert_eq!(stranger.get(&saved).await.status, 404);
    for form in [&[("do", "pause")][..], &[("do", "delete"), ("confirmed", "yes")]] {
        assert_eq!(stranger.post(&saved, form).await.status, 404);
    }
    assert_eq!(stranger.post(&edit, &one).await.status, 404);

    let asked = visitor.post(&saved, &[("do", "delete")]).await;
    assert!(asked.status == 200 && html(&asked).contains("name=\"confirmed\""), "{}", html(&asked));
    let deleted = visitor.post(&saved, &[("do", "delete"), ("confirmed", "yes")]).await;
    assert_eq!(deleted.status, 303);
    assert_eq!(visitor.get(&saved).await.status, 404);
}

#[tokio::test]
async fn a_wrong_schedule_stays_in_the_form_with_what_is_wrong() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let right = [("kind", "bump"), ("status", "live"), ("most_per_run", "5"), ("order", "updated"), ("at", "08:00")];
    for (name, value, says) in [
        ("most_per_run", "0", "Write a whole number from 1 to 500."),
        ("most_per_run", "<b>", "Write a whole number from 1 to 500."),
        ("at", "25:00", "Write a time, such as 08:00."),
        ("until", "2020-01-01", "This day is over."),
        ("budget", "much", "Write an amount with at most two decimals, such as 1500."),
        ("min_age_days", "-1", "Write a whole number from 1 to 3650."),
        ("order", "x", "Choose something of the list."),
        ("kind", "", "Choose something of the list."),
        ("one_ad", "zzz 999", "No ad has this plate or number."),
    ] {
        for what in ["check", "save"] {
            let mut form = vec![("do", what), (name, value)];
            form.extend(right.iter().filter(|(known, _)| *known != name));
            let answer = visitor.post("/console/schedule/edit", &form).await;
            let page = html(&answer);
            assert_eq!(answer.status, 400, "{name}={value}: {page}");
            // One line, at the field.
            let (_, error) = page.split_once(&format!("id=\"error-{name}\">")).expect("an error at the field");
            assert!(error.starts_with(says) && !page.contains("<b>"), "{name}={value}: {page}");
            // The list above the form has the focus, and a link to the field.
            assert_eq!(page.matches("role=\"alert\"").count(), 1, "{name}={value}: {page}");
            let (_, list) = page.split_once("role=\"alert\" tabindex=\"-1\" autofocus").expect("a list");
            assert!(
                list.contains(&format!("<a href=\"#{name}\">")) && list.contains(&format!("id=\"{name}\"")),
                "{page}"
            );
        }
    }
    for (one_ad, status) in [("zzz 999", 400), ("MNY000", 200), ("one", 200)] {
        if one_ad == "MNY000" {
            publish(&server, &["one"]).await;
        }
        let form = [&right[..], &[("one_ad", one_ad), ("do", "check")]].concat();
        let answer = visitor.post("/console/schedule/edit", &form).await;
        let page = html(&answer);
        assert_eq!(answer.status, status, "{one_ad}: {page}");
        assert_eq!(page.contains("Start the schedule"), status == 200, "{one_ad}: {page}");
        assert_eq!(page.contains("No ad has this plate or number."), status == 400, "{one_ad}: {page}");
    }
    assert_eq!(server.client.get("/v4/promotions").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn conditions_of_another_program_stay_when_a_schedule_is_changed() {
    let server = Server::start().await;
    let client = &server.client;
    let sent = json!({"kind": "bump", "select": {"search": "volvo", "status": "live"}, "at": "08:00"});
    let made = client.post("/v4/promotions", &sent).await.expect(201);
    let visitor = Visitor::signed_in(client).await;
    let edit = format!("/console/schedule/edit?id={}", made["id"].as_str().unwrap());
    let page = visitor.page(&edit).await;
    assert!(page.contains("conditions of your system") && !page.contains("name=\"status\""), "{page}");
    let form = [("do", "save"), ("kind", "bump"), ("most_per_run", "7"), ("order", "updated"), ("at", "08:00")];
    schedule_of(&visitor.post(&edit, &form).await);
    let changed = client.get("/v4/promotions").await.expect(200)["results"][0].clone();
    assert_eq!((&changed["select"], &changed["most_per_run"]), (&sent["select"], &json!(7)));
}

#[tokio::test]
async fn a_group_sees_the_schedules_of_its_dealers() {
    let server = Server::start().await;
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let form = group.page("/console/schedule/edit").await;
    assert!(form.contains("<option value=\"north-cars\""), "{form}");
    let sent = [
        ("do", "save"),
        ("dealer_code", "north-cars"),
        ("kind", "bump"),
        ("status", "live"),
        ("most_per_run", "5"),
        ("order", "updated"),
        ("at", "08:00"),
    ];
    let unchosen: Vec<_> =
        sent.into_iter().filter(|(name, _)| *name != "dealer_code").chain([("dealer_code", "")]).collect();
    let refused = group.post("/console/schedule/edit", &unchosen).await;
    assert!(refused.status == 400 && html(&refused).contains("Choose a dealer."), "{}", html(&refused));
    let path = schedule_of(&group.post("/console/schedule/edit", &sent).await);
    for visitor in [&group, &Visitor::signed_in(&server.client).await] {
        visitor.page(&path).await;
        assert!(visitor.page("/console/schedules").await.contains(&path), "it is listed");
    }
    tokio::time::timeout(Duration::from_secs(30), group.page("/console/schedules")).await.unwrap();
}
