//! Sign-in, the cookie, and what ends a session; forms of other sites; headers.

use std::{process::Stdio, time::Duration};

use ad_tests::{MovedClock, Options, PATIENCE, Server, command, eventually};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use super::{PAGES, Visitor, ad_query, html};
use crate::payloads::plain_car;

#[tokio::test]
async fn sign_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use() {
    let server = Server::start().await;
    let visitor = Visitor::of(&server.client);
    let token = server.client.token.clone().unwrap();
    for path in ["/console", "/console/", "/console/stock?status=failed"] {
        let answer = visitor.get(path).await;
        assert_eq!(answer.status, 303, "{path}");
        assert!(answer.header("location").unwrap().starts_with("/console/sign-in"), "{path}");
    }
    let form = visitor.page("/console/sign-in?next=/stock?status%3Dfailed").await;
    assert!(form.contains("value=\"/stock?status=failed\"") && form.contains("name=\"token\""), "{form}");

    let form = [("token", token.as_str()), ("next", "/stock?status=failed")];
    let answer = visitor.post("/console/sign-in", &form).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/console/stock?status=failed")));
    let cookie = answer.header("set-cookie").unwrap();
    for attribute in ["Path=/console", "Max-Age=28800", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.split("; ").any(|part| part == attribute), "{attribute}: {cookie}");
    }
    assert!(!cookie.contains("Secure"), "over plain HTTP the browser would not keep it");
    // Neither the token nor its parts can be read in the cookie.
    for part in token.split('.') {
        assert!(!cookie.contains(part), "{cookie}");
    }
    let mut signed_in = visitor.clone();
    signed_in.keep_cookies(&answer);
    let page = signed_in.page("/console/").await;
    assert!(page.contains("North Cars AB") && !page.contains(&token), "{page}");
    assert_eq!(signed_in.get("/console/sign-in").await.status, 303, "who has signed in needs not do so again");
    assert!(!server.said().join("\n").contains(&token), "the log has no token");
}

#[tokio::test]
async fn behind_https_the_cookie_is_secure() {
    let args = ["--public-url", "https://ads.example"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let visitor = Visitor::of(&server.client);
    let token = server.client.token.clone().unwrap();
    let from = [("origin", "https://ads.example"), ("sec-fetch-site", "same-origin")];
    let answer = visitor.post_from("/console/sign-in", &[("token", &token)], &from).await;
    assert!(answer.header("set-cookie").unwrap().ends_with("; Secure"), "{:?}", answer.headers);
}

#[tokio::test]
async fn a_wrong_token_is_refused_with_the_reason_and_never_shown() {
    let server = Server::start().await;
    let visitor = Visitor::of(&server.client);
    let foreign = "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl";
    for (token, status, says) in [
        ("", 400, "Paste the token first"),
        ("<script>alert(1)</script>", 401, "not a token that works here"),
        (foreign, 401, "not a token that works here"),
    ] {
        let answer = visitor.post("/console/sign-in", &[("token", token)]).await;
        let page = html(&answer);
        assert_eq!(answer.status, status, "{page}");
        assert!(page.contains(says) && page.contains("role=\"alert\""), "{page}");
        assert!(answer.header("set-cookie").is_none());
        assert!(token.is_empty() || !page.contains(token), "{page}");
    }
}

#[tokio::test]
async fn a_session_ends_with_its_token_and_on_sign_out() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-code", "north-cars", "--label", "short"]).await;
    let visitor = Visitor::signed_in(&server.client.with_token(Some(token.clone()))).await;
    visitor.page("/console/stock").await;

    let answer = visitor.post("/console/sign-out", &[]).await;
    let next = "/console/sign-in?signed_out=1";
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some(next)));
    assert!(Visitor::of(&server.client).page(next).await.contains("You are signed out."));
    let mut signed_out = visitor.clone();
    signed_out.keep_cookies(&answer);
    assert_eq!(signed_out.get("/console/").await.status, 303);

    let me = server.client.with_token(Some(token)).get("/v4/me").await.expect(200);
    server.command(&["token", "revoke", me["token"]["jti"].as_str().unwrap()]).await;
    eventually("the session has ended", || async { (visitor.get("/console/stock").await.status == 303).then_some(()) })
        .await;
    let refused = visitor.post("/console/act", &[("action", "delete")]).await;
    assert_eq!(refused.status, 401, "{}", html(&refused));
    assert_eq!(visitor.get("/console/events").await.status, 303);
}

#[tokio::test]
async fn a_session_ends_after_eight_hours_however_long_its_token_lasts() {
    let Some(clock) = MovedClock::start() else { return };
    let server = Server::with(Options { env: clock.env(), ..Options::default() }).await;
    let visitor = Visitor::signed_in(&server.client).await;
    clock.set("+7h");
    visitor.page("/console/").await;
    clock.set("+8h");
    assert_eq!(visitor.get("/console/").await.status, 303);
}

#[tokio::test]
async fn a_cookie_that_the_service_did_not_make_is_no_session() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let (name, value) = visitor.cookies[0].clone();
    let changed = |place: usize| {
        let mut bytes = value.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let token = server.client.token.clone().unwrap();
    for wrong in [String::new(), "x".to_owned(), token, changed(0), changed(value.len() / 2), changed(value.len() - 2)]
    {
        let forged = Visitor { cookies: vec![(name.clone(), wrong.clone())], ..visitor.clone() };
        assert_eq!(forged.get("/console/").await.status, 303, "{wrong}");
    }
}

#[tokio::test]
async fn a_cookie_that_somebody_has_planted_is_of_no_use_to_them() {
    let server = Server::start().await;
    let attacker = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    let name = attacker.cookies[0].0.clone();
    let chosen = vec![(name, "chosen".to_owned())];
    for planted in [attacker.cookies.clone(), chosen] {
        let mut victim = Visitor { cookies: planted.clone(), ..Visitor::of(&server.client) };
        let answer = victim.post("/console/sign-in", &[("token", server.client.token.as_deref().unwrap())]).await;
        victim.keep_cookies(&answer);
        assert_ne!(victim.cookies, planted, "sign-in begins a session of its own");
        let page = victim.page("/console/developers").await;
        assert!(page.contains("north-cars") && !page.contains("south-cars"), "{page}");
        let with_planted = Visitor { cookies: planted, ..victim.clone() };
        let page = html(&with_planted.get("/console/developers").await);
        assert!(!page.contains("north-cars"), "{page}");
    }
}

#[tokio::test]
async fn forms_of_other_sites_change_nothing() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let base = server.client.base.as_str();
    server.client.post("/v4/car", &plain_car("c-1", "CSR001")).await.expect(201);
    let ad = ad_query("c-1");
    let delete = [("action", "delete"), ("ad", ad.as_str()), ("confirmed", "yes")];
    let token = server.client.token.clone().unwrap();
    let edit = format!("/console/ad/edit?{ad}");
    let forms: [(&str, &[(&str, &str)]); 14] = [
        ("/console/act", &delete),
        ("/console/sign-in", &[("token", &token)]),
        ("/console/sign-out", &[]),
        ("/console/language", &[("language", "sv")]),
        ("/console/new?type=car", &[("do", "save")]),
        (&edit, &[("do", "save"), ("revision", "1"), ("body", "Theirs")]),
        ("/console/paste", &[("do", "create"), ("json", "{}")]),
        ("/console/link", &[("code", "x")]),
        ("/console/access", &[("do", "create"), ("label", "theirs"), ("permission", "read")]),
        ("/console/account/budget", &[("own", "1")]),
        ("/console/schedule?id=1", &[("do", "pause")]),
        ("/console/schedule/edit", &[("do", "save")]),
        ("/console/webhooks", &[("url", "https://evil.example/")]),
        ("/console/webhook?id=1", &[("do", "delete")]),
    ];
    let without_page = ["/console/act", "/console/sign-out", "/console/language"];
    let other_port = base.replace("127.0.0.1:", "127.0.0.1:1");
    let foreign: [&[(&str, &str)]; 8] = [
        &[],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", &other_port)],
        &[("origin", base), ("sec-fetch-site", "cross-site")],
        &[("origin", base), ("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
    ];
    for (path, form) in forms {
        for headers in foreign {
            let answer = visitor.post_from(path, form, headers).await;
            assert_eq!(answer.status, 403, "{path} {headers:?}: {}", html(&answer));
            assert!(answer.header("set-cookie").is_none(), "{path} {headers:?}");
        }
        // A link does nothing.
        assert!(!without_page.contains(&path) || visitor.get(path).await.status == 405, "{path}");
    }
    assert_eq!(server.client.ad("c-1").await["state"], "created");
    for own in [&[("origin", base)][..], &[("origin", "null"), ("sec-fetch-site", "same-origin")]] {
        let answer = visitor.post_from("/console/language", &[("language", "sv")], own).await;
        assert_eq!(answer.status, 303, "{own:?}");
    }
    let answer = visitor.post("/console/act", &delete).await;
    assert_eq!(answer.status, 303, "{}", html(&answer));
    server.client.ended("c-1", "delete", None).await;
}

#[tokio::test]
async fn with_a_public_address_forms_come_from_its_scheme_host_and_port() {
    let args = ["--public-url", "https://ads.example/import"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let visitor = Visitor::of(&server.client);
    let form = [("language", "sv")];
    let own_host = server.client.base.clone();
    let from = async |origin: &str| visitor.post_from("/console/language", &form, &[("origin", origin)]).await.status;
    assert_eq!(from("https://ads.example").await, 303);
    for other in [
        own_host.as_str(),
        "http://ads.example",
        "https://ads.example:8443",
        "https://ads.example.evil",
        "https://import.ads.example",
        "ads.example",
        "https://",
    ] {
        assert_eq!(from(other).await, 403, "{other}");
    }
}

#[tokio::test]
async fn forms_lead_nowhere_but_to_pages_of_the_console() {
    let server = Server::start().await;
    let visitor = Visitor::of(&server.client);
    let signed_in = Visitor::signed_in(&server.client).await;
    let token = server.client.token.clone().unwrap();
    server.client.post("/v4/car", &plain_car("c-1", "CSR003")).await.expect(201);
    let ad = ad_query("c-1");
    for next in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/../../evil",
        "/..//evil.example",
        "javascript:alert(1)",
        "/x\r\nSet-Cookie: a=b",
        "/%2e%2e/v4/me",
        "/%252e%252e/",
        "/stock/%25252e%25252e/%25252e%25252e/evil",
        "/stock;/../../evil",
        "/%5c%5cevil.example",
        "/no-page",
        "/events",
        "/act",
        "",
    ] {
        let path = format!("/console/sign-in?{}", super::encoded(&[("next", next)]));
        for answer in [
            visitor.post("/console/sign-in", &[("token", token.as_str()), ("next", next)]).await,
            visitor.post("/console/language", &[("language", "sv"), ("next", next)]).await,
            signed_in.get(&path).await,
        ] {
            assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/console/")), "{next:?}");
        }
        let done = signed_in.post("/console/act", &[("action", "hide"), ("ad", &ad), ("next", next)]).await;
        assert!(done.header("location").unwrap().starts_with("/console/?done="), "{next:?}: {:?}", done.headers);
        assert!(visitor.page(&path).await.contains("name=\"next\" value=\"/\""), "{next:?}");
    }
}

#[tokio::test]
async fn pages_run_their_own_script_alone_and_are_shown_in_no_frame() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c-1", "CSR002")).await.expect(201);
    let visitor = Visitor::signed_in(&server.client).await;
    let pages = PAGES.map(|page| page.replace("{ad}", &ad_query("c-1")));
    let signed_out = Visitor::of(&server.client);
    let mut answers = vec![("sign-in".to_owned(), signed_out.get("/console/sign-in").await)];
    answers.push(("unknown".to_owned(), visitor.get("/console/no/such/page").await));
    answers.push(("wrong".to_owned(), visitor.get("/console/stock?statu=x").await));
    for path in pages {
        let answer = visitor.get(&path).await;
        answers.push((path, answer));
    }
    for (path, answer) in answers {
        let header = |name: &str| answer.header(name).unwrap_or_else(|| panic!("{path} has no {name}")).to_owned();
        assert_eq!(header("content-type"), "text/html; charset=utf-8", "{path}");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(
            (header("x-content-type-options"), header("referrer-policy")),
            ("nosniff".into(), "no-referrer".into())
        );
        assert_eq!(header("cache-control"), "no-store");
        let page = html(&answer);
        assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick"), "{path}");
        for source in crate::pages::named(&page, "src") {
            assert!(source.starts_with("/console/assets/") || source.starts_with("/media/"), "{path} loads {source}");
        }
    }
    let page = visitor.page("/console/").await;
    for address in crate::pages::named(&page, "src").into_iter().chain(crate::pages::named(&page, "href")) {
        if address.starts_with("/console/assets/") {
            let asset = visitor.get(&address).await;
            assert_eq!(asset.status, 200, "{address}");
            assert!(asset.header("cache-control").unwrap().contains("immutable") && address.contains('?'), "{address}");
        }
    }
}

#[tokio::test]
async fn a_link_of_the_demo_signs_in_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut demo = command(dir.path(), &["demo", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let link = timeout(PATIENCE * 2, async {
        loop {
            let line = lines.next_line().await.unwrap().expect("the demo prints a link");
            if let Some(at) = line.find("http://").filter(|_| line.contains("/console/link?code=")) {
                return line[at..].trim().to_owned();
            }
        }
    });
    let link = link.await.unwrap();
    let (base, _) = link.split_at(link.find("/console/").unwrap());
    let mut visitor = Visitor::of(&ad_tests::Client::new(base, None));
    let path = link.strip_prefix(base).unwrap();
    let answer = visitor.get(path).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/console/")), "{}", html(&answer));
    visitor.keep_cookies(&answer);
    let stock = visitor.page("/console/stock").await;
    assert!(stock.contains("north-cars") && stock.contains("coast-boats"), "{stock}");

    let again = Visitor { cookies: Vec::new(), ..visitor.clone() }.get(path).await;
    assert_eq!(again.status, 410, "{}", html(&again));
    assert!(again.header("set-cookie").is_none());
    demo.kill().await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), demo.wait()).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_console_can_be_switched_off() {
    let args = vec!["--console=false".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    let visitor = Visitor::of(&server.client);
    for path in ["/console/", "/console/sign-in", "/console/assets/console.js"] {
        assert_eq!(visitor.get(path).await.status, 404, "{path}");
    }
}
