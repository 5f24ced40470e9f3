//! What is wrong around the command line: addresses, tokens, services that hang or are none.

use ad_tests::{Cli, Server};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// Somebody who calls this address.
fn caller(url: &str) -> Cli {
    Cli::new().with("AD_URL", url).with("AD_TOKEN", "e30.e30.e30")
}

/// The lines of a talk that say what is wrong, without the hints.
fn errors(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("error: ")).collect()
}

#[tokio::test]
async fn a_service_that_is_not_there_is_one_message() {
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for line in ["list", "get car-1", "delete car-1 --yes", "whoami --online", "export", "wait car-1"] {
        let ended = caller(&url).run(line).await;
        assert_eq!(ended.code, 5, "{line}: {ended:?}");
        let [error] = errors(&ended.stderr)[..] else { panic!("{ended:?}") };
        assert!(error.starts_with("error: cannot reach the service: "), "{error}");
        assert!(ended.stderr.contains("check the server URL"), "{ended:?}");
    }
    let nowhere = caller("http://no-such-host.invalid").run("list").await;
    assert_eq!(nowhere.code, 5, "{nowhere:?}");
}

#[tokio::test]
async fn a_service_that_hangs_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let ended = caller(&url).run("retry car-1 --timeout 1").await;
    assert_eq!(ended.code, 5);
    assert_eq!(errors(&ended.stderr), ["error: no answer within 1 s"]);
    assert!(
        ended.stderr.contains("--timeout") && ended.stderr.contains("it is unknown whether the request was accepted"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_web_page_is_not_the_service() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let page = "<!DOCTYPE html>\u{1b}[2J<h1>Welcome to nginx!</h1>";
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let _ = connection.read(&mut [0; 4096]).await;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n", page.len());
            let _ = connection.write_all(format!("{head}{page}").as_bytes()).await;
        }
    });
    let ended = caller(&url).run("list").await;
    assert_eq!(ended.code, 5);
    assert_eq!(
        errors(&ended.stderr),
        [
            "error: unexpected answer with a web page (status 200); check that the address is that of the service and its version is supported"
        ]
    );
}

#[tokio::test]
async fn a_token_that_does_not_do_is_told_with_the_way_out() {
    let server = Server::start().await;
    let reader = server.token(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    let cli = Cli::of(&server);
    let wrong = cli.with("AD_TOKEN", "e30.e30.e30").run("list").await;
    assert_eq!(wrong.code, 4);
    assert!(
        errors(&wrong.stderr)[0].starts_with("error: Invalid token: ") && wrong.stderr.contains("ad-cli login"),
        "{wrong:?}"
    );
    assert!(!wrong.stderr.contains("e30.e30"), "{wrong:?}");
    let cli = Cli::of(&server).with("AD_TOKEN", &reader);
    let forbidden = cli.run("delete car-1 --yes").await;
    assert_eq!(forbidden.code, 4);
    assert_eq!(errors(&forbidden.stderr), ["error: This token does not have the permission \"write\"."]);
    assert!(forbidden.stderr.contains("to show the token's permissions: ad-cli whoami"), "{forbidden:?}");
}

#[tokio::test]
async fn verbose_tells_requests_and_quiet_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let told = cli.run("list --verbose").await;
    assert!(
        told.stderr.starts_with("GET /v4/ad?state=created&include=status: 200 in ")
            && told.stderr.contains(" ms, request "),
        "{told:?}"
    );
    let quiet = cli.run("list --quiet").await;
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
    let both = cli.run("list --quiet --verbose").await;
    assert_eq!(both.code, 2);
}

#[tokio::test]
async fn colours_come_only_where_they_are_wanted() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let colored = |text: &str| text.contains('\u{1b}');
    assert!(!colored(&cli.run("list").await.stdout), "stdout is no terminal");
    assert!(colored(&cli.run("summary --color always").await.stdout));
    assert!(!colored(&cli.with("NO_COLOR", "1").run("list --color never").await.stdout));
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    assert!(!colored(&cli.run("get nothing").await.stderr));
}

#[tokio::test]
async fn wrong_command_lines_end_with_2() {
    let cli = Cli::new();
    for line in
        ["frobnicate", "get", "list --output xml", "update car-1", "--rate 0 list", "wait a --within soon", "bump"]
    {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(!ended.stderr.is_empty() && ended.stdout.is_empty(), "{line}");
    }
    assert!(cli.run("--help").await.done().contains("exit-codes"));
    assert!(cli.run("help exit-codes").await.done().starts_with("Exit codes:\n  0    done\n"));
    cli.run("--version").await.done();
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_is_sent_again_with_its_key_and_made_once() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("car.json", crate::payloads::plain_car("car-1", "ABC123").to_string());
    let url = super::client::losing(&server, 1).await;
    let created = cli.run(&format!("create car.json --wait --output json --url {url}")).await;
    assert_eq!(created.json()[0]["outcome"], "published");
    let entries = server.client.log("car-1").await.iter().filter(|entry| entry["action"] == "create").count();
    assert_eq!(entries, 2, "one create, processing and done");
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", silent.local_addr().unwrap());
    let lost = cli.run(&format!("create car.json --url {nobody} --timeout 1")).await;
    assert_eq!(lost.code, 5);
    assert!(lost.stderr.contains("it is unknown whether the request was accepted"), "{lost:?}");
}
