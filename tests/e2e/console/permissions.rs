//! What a token may not do is neither offered nor done.

use ad_tests::{Options, Server};

use super::{PAGES, Visitor, ad_query, html, operators};
use crate::payloads::plain_car;

/// What can be done with an ad, with the permission that it needs.
const ACTIONS: [(&str, &str); 6] = [
    ("retry", "write"),
    ("bump", "promote"),
    ("pole_position", "promote"),
    ("hide", "write"),
    ("show", "write"),
    ("sold", "write"),
];

#[tokio::test]
async fn every_page_and_action_needs_the_permission_that_the_api_demands() {
    let server = Server::start().await;
    let source_id = "c-1";
    server.client.post("/v4/car", &plain_car(source_id, "PRM001")).await.expect(201);
    server.client.published(source_id).await;
    let ad = ad_query(source_id);
    for permissions in ["read", "write", "promote", "webhooks", "read,write", "read,promote", "read,write,promote"] {
        let may = |permission: &str| permissions.split(',').any(|own| own == permission);
        let args = ["--dealer-code", "north-cars", "--permissions", permissions];
        let visitor = Visitor::with_token(&server, &args).await;
        for page in PAGES.map(|page| page.replace("{ad}", &ad)) {
            let answer = visitor.get(&page).await;
            let shown = html(&answer);
            assert_eq!(answer.status, if may("read") { 200 } else { 403 }, "{permissions} {page}: {shown}");
            if answer.status == 403 {
                let said = shown.contains("see ads, their figures and the account") && !shown.contains("token");
                assert!(said && !shown.contains("PRM001"), "{shown}");
            }
            for (action, permission) in ACTIONS {
                let names = ["action", "change"];
                let offered = names.iter().any(|name| shown.contains(&format!("name=\"{name}\" value=\"{action}\"")));
                assert!(!offered || may(permission), "{permissions} {page} offers {action}");
                let is_expected = answer.status == 200 && may(permission) && page.contains("/stock");
                assert!(offered || !is_expected, "{permissions} {page} lacks {action}: {shown}");
            }
        }
        for (action, permission) in ACTIONS.into_iter().filter(|(_, permission)| !may(permission)) {
            let form = [("action", action), ("ad", ad.as_str()), ("confirmed", "yes")];
            let answer = visitor.post("/console/act", &form).await;
            assert_eq!(answer.status, 403, "{permissions} {action}: {}", html(&answer));
            let lacks = if permission == "write" { "create, change and delete ads" } else { "bump ads" };
            assert!(html(&answer).contains(lacks), "{}", html(&answer));
        }
    }
    let now = server.client.ad(source_id).await;
    assert_eq!((&now["state"], &now["visible"]), (&"created".into(), &true.into()));
    assert!(now["log"].as_array().unwrap().iter().all(|entry| entry["action"] != "bump"), "{now}");
}

#[tokio::test]
async fn who_may_only_read_is_not_told_to_edit() {
    let args = vec!["--sandbox".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    server.client.post("/v4/car", &plain_car("fault-refused-4", "PRM004")).await.expect(201);
    server.client.ended("fault-refused-4", "publish", None).await;
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    let writer = Visitor::signed_in(&server.client).await;
    for page in ["/console/".to_owned(), format!("/console/ad?{}", ad_query("fault-refused-4"))] {
        let (read, written) = (reader.page(&page).await, writer.page(&page).await);
        let of_others = "Somebody who may change ads: ";
        assert!(read.contains(of_others) && !written.contains(of_others), "{page}: {read} {written}");
        assert!(!read.contains(">You: ") && !read.contains("You</strong>"), "{page}: {read}");
    }
}

#[tokio::test]
async fn ads_of_other_dealers_are_neither_shown_nor_changed() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("theirs", "PRM002")).await.expect(201);
    let stranger = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    let ad = ad_query("theirs");
    assert_eq!(stranger.get(&format!("/console/ad?{ad}")).await.status, 404);
    for page in ["/console/", "/console/stock", "/console/stock?dealer_code=north-cars"] {
        let shown = stranger.page(page).await;
        assert!(!shown.contains("theirs") && !shown.contains("PRM002"), "{page}: {shown}");
    }
    let edit = format!("/console/ad/edit?{ad}");
    assert_eq!(stranger.get(&edit).await.status, 404);
    for what in ["check", "save"] {
        let form = [("do", what), ("revision", "1"), ("body", "Theirs")];
        assert_eq!(stranger.post(&edit, &form).await.status, 404, "{what}");
    }
    for (action, _) in ACTIONS {
        let form = [("action", action), ("ad", ad.as_str()), ("confirmed", "yes")];
        let answer = stranger.post("/console/act", &form).await;
        assert_eq!(answer.status, 404, "{action}: {}", html(&answer));
    }
    assert_eq!(server.client.ad("theirs").await["visible"], true);
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    assert!(group.page(&format!("/console/ad?{ad}")).await.contains("PRM002"));
}

/// The paths of the console, as they are mounted.
const MOUNTED: &str = include_str!("../../../ad-server/http/src/console/mod.rs");

#[test]
fn every_path_with_a_session_is_in_a_test_of_permissions() {
    let pages = PAGES
        .into_iter()
        .chain(operators::PAGES.map(|(page, ..)| page))
        .chain(operators::OPERATORS.map(|(page, ..)| page));
    let pages = pages.map(|page| page.split('?').next().unwrap().trim_end_matches('/'));
    let tested: Vec<_> = pages.chain(["/console/act", "/console/events", "/console/*path"]).collect();
    let rows = MOUNTED.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split_once("\", path()"));
    let mounted: Vec<_> = rows.map(|(path, _)| format!("/console{path}")).collect();
    assert_eq!(mounted.len(), MOUNTED.matches(", path()").count());
    let untested: Vec<_> = mounted.iter().filter(|path| !tested.contains(&path.as_str())).collect();
    assert_eq!(untested, [] as [&String; 0]);
}
