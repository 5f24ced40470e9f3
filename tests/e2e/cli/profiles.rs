//! `login`, `whoami` and what counts when: profiles, environment, options.

use ad_tests::{Cli, Server};
use serde_json::json;

use super::redacted;

const TOKEN: &str = "AD_TOKEN";

#[tokio::test]
async fn login_keeps_a_profile_that_only_its_owner_reads() {
    let server = Server::start().await;
    let (url, token) = (server.client.base.clone(), server.client.token.clone().unwrap());
    let cli = Cli::new();
    let login = cli.piped(&format!("login --url {url}"), format!("{token}\n")).await;
    assert_eq!((login.done(), login.stderr.contains(&token)), ("", false));
    assert_eq!(
        redacted(&login.stderr, &cli, Some(&server)),
        "Profile \"default\": URL as dealer north-cars, until it is revoked. Saved in HOME/.config/ad-cli/profiles.toml\n"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = cli.home().join(".config/ad-cli/profiles.toml");
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert!(cli.run("list").await.stderr.contains("no ads"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let warned = cli.run("list").await;
        assert!(warned.stderr.contains("chmod 600") && warned.code == 0, "{warned:?}");
    }
}

#[tokio::test]
async fn whoami_shows_scope_permissions_and_expiry() {
    let server = Server::start().await;
    let args = ["--dealer-group", "north", "--expires", "90d", "--permissions", "read,write"];
    let token = server.token(&args).await;
    let cli = Cli::new().with("AD_URL", &server.client.base).with(TOKEN, &token);
    let shown = cli.run("whoami").await;
    let expected = "\
url           URL
token_from    AD_TOKEN
dealer_group  north
permissions   read, write
issued        <time>           
expires       <time>            (in 89 days)
validity      valid
issuer        vehicle-ad-import
token_id      <uuid>                              
";
    assert_eq!(redacted(shown.done(), &cli, Some(&server)), expected);
    let claims = cli.run("whoami --online --output json").await;
    assert_eq!(claims.json()["permissions"], json!(["read", "write"]));
    assert!(claims.stderr.contains("the service accepts the token"), "{claims:?}");
    let revoked = claims.json()["token_id"].as_str().unwrap().to_owned();
    server.command(&["token", "revoke", &revoked]).await;
    let refused = ad_tests::eventually("the revocation", || async {
        let ended = cli.run("whoami --online").await;
        (ended.code != 0).then_some(ended)
    })
    .await;
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.contains("error: Invalid token: Token has been revoked."), "{refused:?}");
    assert!(refused.stderr.contains("run: ad-cli login"), "{refused:?}");
}

#[tokio::test]
async fn what_is_given_counts_more_than_the_environment_and_that_more_than_the_profile() {
    let server = Server::start().await;
    let north = server.client.token.clone().unwrap();
    let south = server.token(&["--dealer-code", "south-cars"]).await;
    let url = &server.client.base;
    let cli = Cli::new();
    cli.piped(&format!("login --url {url}"), &north).await.done();
    cli.piped(&format!("login --profile south --url {url}"), &south).await.done();
    let who = async |cli: &Cli, line: &str| {
        cli.run(&format!("whoami {line} --output json")).await.json()["dealer_code"].clone()
    };
    assert_eq!(who(&cli, "").await, "north-cars");
    assert_eq!(who(&cli, "--profile south").await, "south-cars");
    let cli = cli.with("AD_PROFILE", "south");
    assert_eq!(who(&cli, "").await, "south-cars");
    assert_eq!(who(&cli, "--profile default").await, "north-cars");
    let cli = cli.with(TOKEN, &north);
    assert_eq!(who(&cli, "").await, "north-cars");
    let unknown = cli.run("whoami --profile sout").await;
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("no profile \"sout\"") && unknown.stderr.contains("Did you mean \"south\"?"));
}

#[tokio::test]
async fn the_token_of_a_profile_goes_to_its_own_service_only() {
    let server = Server::start().await;
    let cli = Cli::new();
    let token = server.client.token.clone().unwrap();
    cli.piped(&format!("login --url {}", server.client.base), &token).await.done();
    let refused = cli.run("list --url http://elsewhere.example").await;
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.contains("is not sent to http://elsewhere.example"), "{refused:?}");
}

#[tokio::test]
async fn a_token_or_an_address_that_is_none_is_not_kept() {
    let server = Server::start().await;
    let url = &server.client.base;
    let expired = server.token(&["--dealer-code", "north-cars", "--expires", "1s"]).await;
    ad_tests::eventually("its end", || async {
        let cli = Cli::new().with(TOKEN, &expired).with("AD_URL", url);
        (cli.run("whoami").await.code == 4).then_some(())
    })
    .await;
    let foreign = format!("{}x", server.client.token.as_deref().unwrap());
    for (line, token, code, told) in [
        (format!("login --url {url}"), "", 4, "no token"),
        (format!("login --url {url}"), "this is no token", 4, "expected one line of letters, digits, dots"),
        (format!("login --url {url}"), "abc", 4, "invalid token: expected three parts"),
        (format!("login --url {url}"), expired.as_str(), 4, "the token expired"),
        (format!("login --url {url}"), foreign.as_str(), 4, "Invalid token: "),
        ("login --url ads.example".to_owned(), "abc", 2, "it must start with https:// or http://"),
        (format!("login --url {url}/v4"), "abc", 2, "omit the path of the API (/v4)"),
        ("login".to_owned(), "abc", 2, "no server URL"),
    ] {
        let cli = Cli::new();
        let ended = cli.piped(&line, token).await;
        assert_eq!(ended.code, code, "{line}: {ended:?}");
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
        assert!(!cli.home().join(".config/ad-cli").exists(), "{line}");
    }
}

#[tokio::test]
async fn without_a_login_the_way_to_it_is_told() {
    let cli = Cli::new();
    let nothing = cli.run("list").await;
    assert_eq!(nothing.code, 2);
    assert_eq!(nothing.stderr, "error: no server URL\n  help: run: ad-cli login\n  help: or set AD_URL\n");
    let server = Server::start().await;
    let login = format!("login --profile north --url {}", server.client.base);
    cli.piped(&login, server.client.token.as_deref().unwrap()).await.done();
    let other = cli.run("list").await;
    assert!(other.stderr.contains("no profile \"default\", but \"north\": choose with --profile NAME"), "{other:?}");
    let cli = Cli::new();
    let no_token = cli.with("AD_URL", "http://127.0.0.1:9").run("get car-1").await;
    assert_eq!(no_token.code, 4);
    assert_eq!(no_token.stderr, "error: no token\n  help: run: ad-cli login\n  help: or set AD_TOKEN\n");
}
