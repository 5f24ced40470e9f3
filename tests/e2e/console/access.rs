//! Getting in: links that sign in once, sessions that are listed and ended.

use ad_tests::{Browser, MovedClock, Options, Postgres, Process, Server, eventually};
use futures_util::future::join_all;

use super::{Visitor, browser::sign_in, html};

/// The link that a page shows, without the address of the service.
fn link_in(page: &str) -> String {
    let at = page.find("/console/link?code=").unwrap_or_else(|| panic!("no link: {page}"));
    page[at..].split(['<', '"', '\n']).next().unwrap().to_owned()
}

fn code_of(link: &str) -> &str {
    link.split_once("code=").unwrap().1
}

/// Has a visitor make a link.
async fn make(visitor: &Visitor, label: &str, permissions: &[&str]) -> String {
    let mut form = vec![("do", "create"), ("label", label)];
    form.extend(permissions.iter().map(|permission| ("permission", *permission)));
    let answer = visitor.post("/console/access", &form).await;
    assert_eq!(answer.status, 201, "{}", html(&answer));
    link_in(&html(&answer))
}

/// Signs in with a link.
async fn follow(server: &Server, link: &str, form: &[(&str, &str)]) -> Visitor {
    let mut visitor = Visitor::of(&server.client);
    let page = visitor.page(link).await;
    assert!(page.contains("name=\"trusted\""), "{page}");
    // The language can be chosen before.
    let language = [("language", "sv"), ("next", link.strip_prefix("/console").unwrap())];
    assert_eq!(visitor.post("/console/language", &language).await.header("location"), Some(link));
    let form: Vec<_> = [("code", code_of(link))].into_iter().chain(form.iter().copied()).collect();
    let answer = visitor.post("/console/link", &form).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/console/")), "{}", html(&answer));
    visitor.keep_cookies(&answer);
    visitor
}

/// The ids of the rows of the page with this text.
fn rows(page: &str, text: &str) -> Vec<String> {
    let rows = page.split("<tr>").filter(|row| row.contains(text));
    let id = |row: &str| row.split_once("name=\"id\" value=\"").map(|(_, rest)| rest[..36].to_owned());
    rows.filter_map(id).collect()
}

async fn end_at(visitor: &Visitor, path: &str, id: &str) {
    let answer = visitor.post(path, &[("do", "end"), ("id", id)]).await;
    assert_eq!(answer.status, 303, "{}", html(&answer));
}

async fn end(visitor: &Visitor, id: &str) {
    end_at(visitor, "/console/access", id).await;
}

#[tokio::test]
async fn a_link_signs_in_once_with_its_permissions_and_label() {
    let server = Server::start().await;
    let boss = Visitor::signed_in(&server.client).await;
    let link = make(&boss, "Anna <b>", &["read", "write"]).await;
    let page = boss.page("/console/access").await;
    assert!(page.contains("Anna &lt;b&gt;") && page.contains("Link not used yet"), "{page}");
    assert!(!page.contains(code_of(&link)), "the link is shown once");
    assert!(page.contains("data-name=\"Invited by\">Token<"), "no id of a token: {page}");
    // Programs that look at links do not use them up.
    for _ in 0..3 {
        Visitor::of(&server.client).page(&link).await;
    }
    let anna = follow(&server, &link, &[]).await;
    anna.page("/console/stock").await;
    for page in ["/console/webhooks", "/console/access", "/console/schedule/edit"] {
        assert_eq!(anna.get(page).await.status, 403, "{page}");
    }
    let again = Visitor::of(&server.client);
    assert_eq!(again.get(&link).await.status, 410);
    assert_eq!(again.post("/console/link", &[("code", code_of(&link))]).await.status, 410);
    assert!(boss.page("/console/access").await.contains("Signed in"), "the session is listed");
    // What Anna does is recorded with her name.
    server.client.post("/v4/car", &crate::payloads::plain_car("c-1", "ACS001")).await.expect(201);
    server.client.published("c-1").await;
    let ad = super::ad_query("c-1");
    assert_eq!(anna.post("/console/act", &[("action", "hide"), ("ad", &ad)]).await.status, 303);
    server.client.ended("c-1", "unpublish", None).await;
    assert!(boss.page(&format!("/console/ad?{ad}")).await.contains("Anna &lt;b&gt;"));
    assert!(!server.said().join("\n").contains(code_of(&link)), "the log has no link");
}

#[tokio::test]
async fn on_a_phone_no_part_of_a_row_is_out_of_sight() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    let group = server.client_of(&["--dealer-group", "north"]).await;
    make(&Visitor::signed_in(&group).await, "Anna", &["read"]).await;
    sign_in(&browser, &group).await;
    browser.become_phone().await;
    for page in ["access", "account"] {
        browser.open(&format!("{}/console/{page}", group.base)).await;
        browser.until("!!document.querySelector('.stacked tbody td')").await;
        let parts = "[...document.querySelectorAll('.stacked td, .stacked td *')]";
        let cut = browser
            .eval(&format!("{parts}.filter((it) => it.getBoundingClientRect().right > innerWidth).length"))
            .await;
        assert_eq!(cut, 0, "{page}");
    }
}

#[tokio::test]
async fn a_link_never_permits_more_than_its_maker_may() {
    let server = Server::start().await;
    let args = ["--dealer-code", "north-cars", "--permissions", "read,access"];
    let maker = Visitor::with_token(&server, &args).await;
    let form = maker.page("/console/access").await;
    assert!(form.contains("value=\"access\"") && !form.contains("value=\"promote\""), "{form}");
    for (permission, lacks) in
        [("write", "create, change and delete ads"), ("promote", "bump ads"), ("webhooks", "let other systems follow")]
    {
        let form = [("do", "create"), ("label", "x"), ("permission", "read"), ("permission", permission)];
        let answer = maker.post("/console/access", &form).await;
        assert_eq!(answer.status, 403, "{}", html(&answer));
        assert!(html(&answer).contains(lacks), "{}", html(&answer));
    }
    for (form, status) in [
        (&[("do", "create"), ("label", ""), ("permission", "read")][..], 400),
        (&[("do", "create"), ("label", "x")][..], 400),
        (&[("do", "create"), ("label", "x"), ("permission", "operator")][..], 400),
        (&[("do", "create"), ("label", "x"), ("permission", "read"), ("dealer_code", "south-cars")][..], 400),
        (&[("do", "what")][..], 400),
    ] {
        let answer = maker.post("/console/access", form).await;
        assert_eq!(answer.status, status, "{form:?}: {}", html(&answer));
    }
    let other =
        Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read,write,promote,webhooks"])
            .await;
    let form = [("do", "create"), ("label", "x"), ("permission", "read")];
    assert_eq!(other.post("/console/access", &form).await.status, 403);
    // Through a chain of links it is never more either.
    let second = follow(&server, &make(&maker, "second", &["read", "access"]).await, &[]).await;
    let form = [("do", "create"), ("label", "x"), ("permission", "write")];
    assert_eq!(second.post("/console/access", &form).await.status, 403);
    follow(&server, &make(&second, "third", &["read"]).await, &[]).await.page("/console/stock").await;
}

#[tokio::test]
async fn links_are_withdrawn_and_sessions_are_ended() {
    let server = Server::start().await;
    let boss = Visitor::signed_in(&server.client).await;
    let link = make(&boss, "Withdrawn", &["read"]).await;
    let [id] = &rows(&boss.page("/console/access").await, "Withdrawn")[..] else { panic!("one row") };
    end(&boss, id).await;
    assert_eq!(Visitor::of(&server.client).get(&link).await.status, 410);
    assert_eq!(Visitor::of(&server.client).post("/console/link", &[("code", code_of(&link))]).await.status, 410);

    let anna = follow(&server, &make(&boss, "Anna", &["read", "access"]).await, &[]).await;
    let stranger = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    let [id] = &rows(&boss.page("/console/access").await, "Anna")[..] else { panic!("one row") };
    assert!(!stranger.page("/console/access").await.contains("<strong>Anna</strong>"));
    end(&stranger, id).await;
    anna.page("/console/stock").await;
    end(&boss, id).await;
    let gone = anna.get("/console/stock").await;
    assert_eq!(gone.status, 303);
    // She is told that it is over.
    let page = anna.page(gone.header("location").unwrap()).await;
    assert!(page.contains("Ask whoever invited you for a new link"), "{page}");
    let refused = anna.post("/console/access", &[("do", "create"), ("label", "x"), ("permission", "read")]).await;
    assert_eq!(refused.status, 401);
    // A session by token is listed and ended likewise.
    let label = ["--dealer-code", "north-cars", "--label", "Reception"];
    let reception = Visitor::with_token(&server, &label).await;
    let [id] = &rows(&boss.page("/console/access").await, "Reception")[..] else { panic!("one row") };
    end(&boss, id).await;
    assert_eq!(reception.get("/console/").await.status, 303);
    // Signing out ends the session for a copied cookie too.
    let copied = boss.clone();
    assert_eq!(boss.post("/console/sign-out", &[]).await.status, 303);
    assert_eq!(copied.get("/console/").await.status, 303);
}

#[tokio::test]
async fn a_revoked_token_ends_what_comes_from_it() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-code", "north-cars", "--label", "lost"]).await;
    let client = server.client.with_token(Some(token));
    let lost = Visitor::signed_in(&client).await;
    let first = follow(&server, &make(&lost, "first", &["read", "access"]).await, &[]).await;
    let second = follow(&server, &make(&first, "second", &["read"]).await, &[]).await;
    let open = make(&first, "open", &["read"]).await;
    let other = Visitor::signed_in(&server.client).await;
    let kept = follow(&server, &make(&other, "kept", &["read"]).await, &[]).await;
    let me = client.get("/v4/me").await.expect(200);
    server.command(&["token", "revoke", me["token"]["jti"].as_str().unwrap()]).await;
    for visitor in [&lost, &first, &second] {
        eventually("the session has ended", || async { (visitor.get("/console/").await.status == 303).then_some(()) })
            .await;
    }
    assert_eq!(Visitor::of(&server.client).get(&open).await.status, 410);
    assert_eq!(Visitor::of(&server.client).post("/console/link", &[("code", code_of(&open))]).await.status, 410);
    kept.page("/console/stock").await;
    // The record of a link can be revoked like a token.
    let listed = server.command(&["token", "list", "--json"]).await;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let record = listed.as_array().unwrap().iter().find(|it| it["label"] == "kept").unwrap();
    server.command(&["token", "revoke", record["jti"].as_str().unwrap()]).await;
    eventually("the session has ended", || async { (kept.get("/console/").await.status == 303).then_some(()) }).await;
}

#[tokio::test]
async fn a_session_lasts_for_thirty_days_on_a_trusted_device() {
    let Some(clock) = MovedClock::start() else { return };
    let server = Server::with(Options { env: clock.env(), ..Options::default() }).await;
    let boss = Visitor::signed_in(&server.client).await;
    let mut trusted = Visitor::of(&server.client);
    let token = server.token(&["--dealer-code", "north-cars", "--expires", "never"]).await;
    let answer = trusted.post("/console/sign-in", &[("token", &token), ("trusted", "yes")]).await;
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=2592000"), "{:?}", answer.headers);
    trusted.keep_cookies(&answer);
    let by_link = follow(&server, &make(&boss, "trusted", &["read"]).await, &[("trusted", "yes")]).await;
    let short = follow(&server, &make(&boss, "short", &["read"]).await, &[]).await;
    let late = make(&boss, "late", &["read"]).await;
    clock.set("+8h");
    assert_eq!(short.get("/console/").await.status, 303);
    Visitor::of(&server.client).page(&late).await;
    clock.set("+24h");
    assert_eq!(Visitor::of(&server.client).get(&late).await.status, 410);
    clock.set("+29d");
    trusted.page("/console/").await;
    by_link.page("/console/stock").await;
    clock.set("+30d");
    for visitor in [&trusted, &by_link] {
        assert_eq!(visitor.get("/console/").await.status, 303);
    }
}

#[tokio::test]
async fn an_operator_sends_a_link_by_command_and_in_the_console() {
    let server = Server::start().await;
    let printed = server
        .command(&["sign-in-link", "--dealer-code", "north-cars", "--label", "Eva", "--permissions", "read"])
        .await;
    let eva = follow(&server, &link_in(&printed), &[]).await;
    assert!(eva.page("/console/stock").await.contains("North Cars AB"));
    assert_eq!(eva.get("/console/access").await.status, 403);
    let operator = Visitor::with_token(&server, &["--operator"]).await;
    let page = operator.page("/console/operators/access").await;
    assert!(page.contains("Eva") && page.contains("name=\"dealer_group\""), "{page}");
    let form = [("do", "create"), ("label", "Group"), ("permission", "read"), ("dealer_group", "north")];
    let answer = operator.post("/console/operators/access", &form).await;
    assert_eq!(answer.status, 201, "{}", html(&answer));
    let group = follow(&server, &link_in(&html(&answer)), &[]).await;
    group.page("/console/stock").await;
    for (code, is_there) in [("north-cars", true), ("south-cars", false)] {
        let page = operator.page(&format!("/console/operators/access?dealer_code={code}")).await;
        assert_eq!(page.contains("Eva"), is_there, "{page}");
    }
    let [id] = &rows(&operator.page("/console/operators/access").await, "Eva")[..] else { panic!("one row") };
    end_at(&operator, "/console/operators/access", id).await;
    assert_eq!(eva.get("/console/").await.status, 303);
    let audit = server.command(&["audit", "list", "--json"]).await;
    for act in ["sign-in-link", "console end"] {
        assert!(
            audit.contains(&format!("\"act\": \"{act}\"")) || audit.contains(&format!("\"act\":\"{act}\"")),
            "{audit}"
        );
    }
    let operators = server.command(&["sign-in-link", "--operator", "--label", "Night shift"]).await;
    follow(&server, &link_in(&operators), &[]).await.page("/console/operators").await;
}

/// Uses a link at two processes at the same time.
async fn a_link_is_used_once(database: &[String]) {
    let server = Server::with(Options { args: database.to_vec(), ..Options::default() }).await;
    let mut args = vec!["serve", "--listen", "127.0.0.1:0"];
    args.extend(database.iter().map(String::as_str));
    let other = Process::start(server.dir(), &args, &[]).await;
    let mut second = server.client.clone();
    second.base.clone_from(&other.base);
    for _ in 0..5 {
        let printed = server.command(&["sign-in-link", "--dealer-code", "north-cars", "--label", "twice"]).await;
        let link = link_in(&printed);
        let visitors = [&server.client, &second].into_iter().cycle().take(8).map(Visitor::of).collect::<Vec<_>>();
        let code = [("code", code_of(&link))];
        let answers = join_all(visitors.iter().map(|visitor| visitor.post("/console/link", &code))).await;
        let statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| matches!(status, 303 | 410)), "{statuses:?}");
        // The session is one at every process.
        let place = statuses.iter().position(|status| *status == 303).unwrap();
        for client in [&server.client, &second] {
            let mut visitor = Visitor::of(client);
            visitor.keep_cookies(&answers[place]);
            visitor.page("/console/stock").await;
        }
    }
}

#[tokio::test]
async fn of_two_uses_at_the_same_time_one_signs_in_in_sqlite() {
    a_link_is_used_once(&[]).await;
}

#[tokio::test]
async fn of_two_uses_at_the_same_time_one_signs_in_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    a_link_is_used_once(&["--database-url".to_owned(), postgres.database().await]).await;
}

#[tokio::test]
async fn the_start_page_leads_to_the_console_if_there_is_one() {
    let server = Server::start().await;
    let page = Visitor::of(&server.client).page("/").await;
    assert!(page.contains("href=\"./console/\""), "{page}");
    let args = vec!["--console=false".to_owned()];
    let without = Server::with(Options { args, ..Options::default() }).await;
    assert!(!Visitor::of(&without.client).page("/").await.contains("console/"));
}
