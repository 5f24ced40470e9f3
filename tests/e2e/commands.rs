//! The commands around the server.

use ad_tests::{Server, run};

#[tokio::test]
async fn issue_prints_the_token_alone_and_keeps_no_secret() {
    let server = Server::start().await;
    let output = run(server.dir(), &["token", "issue", "--dealer-group", "nobody", "--expires", "90d"]).await;
    let token = String::from_utf8(output.stdout).unwrap();
    assert_eq!(token.trim().split('.').count(), 3);
    assert_eq!(token.lines().count(), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nobody"), "an unknown group is pointed out");
    let listed = server.command(&["token", "list"]).await;
    assert!(listed.contains("nobody") && !listed.contains(token.trim()));
    let database = std::fs::read(server.dir().join("data/ads.db")).unwrap();
    let signature = token.trim().rsplit('.').next().unwrap();
    assert!(!database.windows(signature.len()).any(|window| window == signature.as_bytes()));
}

#[cfg(unix)]
#[tokio::test]
async fn the_token_keys_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start().await;
    let mode = std::fs::metadata(server.dir().join("data/token-keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn dealers_are_listed_as_imported() {
    let server = Server::start().await;
    let listed = server.command(&["dealers", "list", "--json"]).await;
    let dealers: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let codes: Vec<_> = dealers.as_array().unwrap().iter().map(|dealer| dealer["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["coast-boats", "north-cars", "south-cars"]);
}

#[tokio::test]
async fn the_demo_shows_every_ad_published_and_the_wrong_ones_explained() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["demo", "--once", "--listen", "127.0.0.1:0"]).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for expected in ["Did you mean \"volvo\"?", "linked", "/docs/swagger-ui/", "curl"] {
        assert!(said.contains(expected), "{expected} is missing in:\n{said}");
    }
}
