//! Texts that command a terminal: from the service, from files and from the command line, through every command.

use ad_tests::{Cli, Ended, Server, run};
use poem::{
    Endpoint, IntoResponse, Request, Response,
    http::{Method, StatusCode},
    listener::{Acceptor, Listener, TcpListener},
};
use serde_json::{Value, json};

use crate::{cli::terminal, payloads::plain_car};

/// Sets the title of the terminal, clears the screen in both ways, deletes, and turns text around.
const HOSTILE: &str = "owned\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{8}\u{7f}\u{202e}\u{2066}";

/// What must not come out, besides what begins a sequence of the program's own at a terminal.
const ACTIVE: [char; 7] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{8}', '\u{7f}', '\u{202e}', '\u{2066}'];

fn assert_harmless(what: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains(ACTIVE), "{what}: {ended:?}");
    }
}

/// A service that answers everything in this way, with hostile texts wherever there is one.
#[derive(Debug, Clone, Copy)]
struct Hostile(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// All requests succeed.
    Accepts,
    /// 400 by fields.
    Fields,
    /// 400 with messages.
    Rules,
    /// 400 with an identifier.
    Identified,
    /// This status with `detail`.
    Detail(u16),
    /// A page of a proxy.
    Page,
    /// JSON of another shape.
    Shape,
}

const KINDS: [Kind; 12] = [
    Kind::Accepts,
    Kind::Fields,
    Kind::Rules,
    Kind::Identified,
    Kind::Detail(401),
    Kind::Detail(403),
    Kind::Detail(404),
    Kind::Detail(409),
    Kind::Detail(413),
    Kind::Detail(500),
    Kind::Page,
    Kind::Shape,
];

impl Hostile {
    /// Starts it on a free port, and returns its address.
    async fn start(self) -> String {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(self));
        format!("http://{address}")
    }
}

impl Endpoint for Hostile {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let answer = |status: u16, body: Value| {
            let status = StatusCode::from_u16(status).unwrap();
            Ok(Response::builder().status(status).content_type("application/json").body(body.to_string()))
        };
        match self.0 {
            Kind::Accepts => answer(200, accepted(request.method(), request.uri().path())),
            Kind::Fields => answer(400, json!({HOSTILE: [HOSTILE], "price": {"0": {HOSTILE: [HOSTILE]}}})),
            Kind::Rules => answer(400, json!([HOSTILE, HOSTILE])),
            Kind::Identified => answer(
                400,
                json!({"error": HOSTILE, "message": HOSTILE, "suggestion": HOSTILE,
                    "migration_options": [{"method": HOSTILE, "steps": [HOSTILE]}]}),
            ),
            Kind::Detail(status) => answer(status, json!({"detail": HOSTILE})),
            Kind::Page => Ok((StatusCode::OK, HOSTILE).with_content_type("text/html").into_response()),
            Kind::Shape => answer(200, json!({HOSTILE: HOSTILE})),
        }
    }
}

fn accepted(method: &Method, path: &str) -> Value {
    let (now, id) = ("2026-01-15T10:00:00.000Z", "01a1fa93-5971-7147-bce3-60bca733d9f8");
    let page = |row: Value| json!({"count": 1, "next": null, "previous": null, "results": [row]});
    let entry = |state: &str| {
        json!({"action": "publish", "state": state, "request_id": id, "created": now,
            "internal_message": HOSTILE, "external_message": {"message": HOSTILE, "images": [{"url": HOSTILE, "error": HOSTILE}]}})
    };
    let mut ad = json!({
        "id": id, "source_id": HOSTILE, "dealer_code": HOSTILE, "category_id": 1020, "state": "created", "title": HOSTILE,
        "body": HOSTILE, "visible": true, "price": [{"type": HOSTILE, "amount": 1, "currency": HOSTILE, HOSTILE: HOSTILE}],
        "image_refs": [], "url": HOSTILE, "video_url": HOSTILE, "location": {"zipcode": HOSTILE},
        "contact": {"name": HOSTILE, "phone": HOSTILE, "email": HOSTILE}, "category_fields": {HOSTILE: {HOSTILE: [HOSTILE]}},
        "dont_publish_on_failed_images": false, "product_declaration": HOSTILE, "marketplace_ad_id": HOSTILE,
        "offer_id": HOSTILE, "api_version": "v4", "created": now, "updated": now, "log": [entry("error")], HOSTILE: HOSTILE,
    });
    match (method, path) {
        (_, path) if path.ends_with("/validate") => {
            json!({"valid": true, "ad": {HOSTILE: HOSTILE}, "warnings": [{"field": HOSTILE, "code": HOSTILE, "message": HOSTILE}]})
        }
        (_, path) if path.ends_with("/log") => page(entry("error")),
        (&Method::GET, "/v4/ad") => page(ad),
        (&Method::GET, "/v3/ad") => {
            ad["api_version"] = json!("v3");
            page(ad)
        }
        _ => ad,
    }
}

/// Files with hostile texts in names and values.
fn with_files(cli: Cli) -> Cli {
    let mut car = plain_car("car-1", "ABC123");
    cli.file("good.json", car.to_string());
    car[HOSTILE] = json!(HOSTILE);
    car["price"] = json!([{"type": HOSTILE}]);
    car["category_fields"]["brand"] = json!(HOSTILE);
    car["category_fields"][HOSTILE] = json!(HOSTILE);
    cli.file("bad.json", car.to_string());
    car["source_id"] = json!(HOSTILE);
    cli.file("bad.ndjson", format!("{car}\n{}\n", plain_car("car-2", "ABC124")));
    cli.file("broken.json", format!("{{\"a\": \"{HOSTILE}"));
    cli
}

/// Each of these shows what the service says in a way of its own; the first ones are asked for every kind of answer.
const COMMANDS: [&str; 22] = [
    "list",
    "log car-1 --verbose",
    "bump car-1 car-2 --yes",
    "create bad.json --no-check",
    "validate bad.ndjson --online",
    "import bad.ndjson --within 1s --journal import.journal",
    "sync plan bad.ndjson",
    "list --output csv --fields source_id,body",
    "get car-1",
    "get car-1 --output json",
    "log car-1 --output ndjson",
    "wait car-1 --within 1s",
    "delete car-1 --yes --wait --within 1s",
    "retry car-1",
    "pole-position car-1 --yes",
    "update car-1 --set body=x --dry-run",
    "update car-1 --set body=x",
    "create good.json --wait --within 1s",
    "validate broken.json",
    "export",
    "whoami --online",
    "migrate-v4 --all --dry-run",
];

#[tokio::test]
async fn no_answer_of_a_service_commands_the_terminal() {
    let cli = with_files(Cli::new().with("AD_TOKEN", "e30.e30.e30").with("AD_RATE", "unlimited"));
    let (mut pairs, mut said) = (0, 0);
    for kind in KINDS {
        let cli = with_files(Cli::new().with("AD_TOKEN", "e30.e30.e30").with("AD_RATE", "unlimited"))
            .with("AD_URL", &Hostile(kind).start().await);
        let commands = match kind {
            Kind::Accepts | Kind::Fields | Kind::Identified => &COMMANDS[..],
            // Reads are tried again after a 500, with pauses.
            Kind::Detail(500) => &COMMANDS[2..4],
            _ => &COMMANDS[..7],
        };
        let ended = futures_util::future::join_all(commands.iter().map(|line| cli.run(line))).await;
        for (line, ended) in commands.iter().zip(ended) {
            if line.contains("--output csv") {
                // For programs, to the last character; at a terminal it is not.
                continue;
            }
            assert_harmless(&format!("{line} answered with {kind:?}"), &ended);
            pairs += 1;
            said += usize::from(ended.stdout.contains("owned") || ended.stderr.contains("owned"));
        }
    }
    println!("{pairs} pairs of command and answer, {said} of which show the hostile text, none of them unescaped");
    assert!(said > pairs / 2, "the texts are shown, not left out: {said} of {pairs}");
    for args in [vec!["get", HOSTILE], vec![HOSTILE], vec!["list", "--limit", HOSTILE], vec!["validate", HOSTILE]] {
        assert_harmless("arguments", &cli.args(args).await);
    }
}

#[tokio::test]
async fn json_for_programs_means_what_the_service_sent() {
    let cli = Cli::new().with("AD_TOKEN", "e30.e30.e30").with("AD_URL", &Hostile(Kind::Accepts).start().await);
    for line in ["get car-1 --output json", "get car-1 --output ndjson"] {
        assert_eq!(cli.run(line).await.json()["body"], HOSTILE);
    }
    let csv = cli.run("list --output csv").await;
    assert!(csv.done().contains(HOSTILE), "{csv:?}");
}

#[tokio::test]
async fn nothing_commands_a_real_terminal() {
    if !terminal::is_possible() {
        return;
    }
    let cli = Cli::new().with("AD_TOKEN", "e30.e30.e30").with("AD_RATE", "unlimited").with("NO_COLOR", "1");
    for kind in [Kind::Accepts, Kind::Fields, Kind::Identified] {
        let cli = with_files(Cli::new().with("NO_COLOR", "1"))
            .with("AD_TOKEN", "e30.e30.e30")
            .with("AD_URL", &Hostile(kind).start().await);
        for line in [
            "list",
            "list --output csv",
            "export --output csv",
            "get car-1",
            "get car-1 --output csv",
            "log car-1",
            "validate bad.json",
        ] {
            let ended = terminal::at_terminal(&cli, line, "").await;
            assert_harmless(&format!("{line} at a terminal, answered with {kind:?}"), &ended);
            assert!(ended.stdout.contains("owned"), "{line}: {ended:?}");
        }
    }
    drop(cli);
}

#[tokio::test]
async fn no_legacy_file_commands_the_terminal() {
    let cli = Cli::new().migrating();
    let element = HOSTILE.replace(['\u{2066}', ']', '['], "");
    cli.file(
        "a.xml",
        format!("<lager><fordon><{element}>{HOSTILE}</{element}><regnr>&{element};ABC123</regnr></fordon></lager>"),
    );
    cli.file("a.csv", format!("Regnr;{HOSTILE};Märke\n{HOSTILE};{HOSTILE};{HOSTILE}\nABC123;x;volvo\n"));
    cli.file("a.json", json!([{HOSTILE: HOSTILE, "regnr": HOSTILE}, {"regnr": "ABC123"}]).to_string());
    let mapping = format!("[file]\nrows = {0}\n[fields]\nsource_id = {0}\n{0} = \"x\"\n", json!(HOSTILE));
    cli.file("hostile.toml", mapping);
    let mut said = 0;
    for file in ["a.xml", "a.csv", "a.json"] {
        for line in [
            format!("inspect {file}"),
            format!("check {file} --mapping csv-semicolon-sv"),
            format!("check {file} -m hostile.toml"),
        ] {
            let ended = cli.run(&line).await;
            assert_harmless(&line, &ended);
            said += usize::from(ended.stdout.contains("owned") || ended.stderr.contains("owned"));
        }
    }
    assert!(said >= 4, "the texts are shown, not left out: {said}");
    for args in [vec!["check", HOSTILE, "--mapping", HOSTILE], vec!["inspect", HOSTILE]] {
        assert_harmless("arguments", &cli.args(args).await);
    }
}

#[tokio::test]
async fn no_stored_text_commands_the_operators_terminal() {
    let server = Server::start().await;
    let listing =
        json!({"marketplace": "primary", "dealer_code": HOSTILE, "registration_number": "ABC123", "title": HOSTILE});
    std::fs::write(server.dir().join("listings.ndjson"), format!("{listing}\n")).unwrap();
    std::fs::write(server.dir().join("wrong.ndjson"), format!("{{{:?}: 1}}\n{}\n", "a", json!({HOSTILE: HOSTILE})))
        .unwrap();
    let dealers = format!("[[dealer]]\ncode = \"x\"\nname = {0}\n{0} = 1\n", json!(HOSTILE));
    std::fs::write(server.dir().join("hostile.toml"), dealers).unwrap();
    for args in [
        vec!["listings", "import", "listings.ndjson"],
        vec!["listings", "import", "wrong.ndjson"],
        vec!["listings", "list"],
        vec!["listings", "list", "--json"],
        vec!["ads", "import", "wrong.ndjson"],
        vec!["ads", "import", HOSTILE],
        vec!["dealers", "import", "hostile.toml"],
        vec!["dealers", "list"],
        vec!["token", "issue", "--dealer-code", HOSTILE],
        vec!["token", "revoke", HOSTILE],
        vec!["token", "list"],
        vec!["token", "list", "--json"],
        vec!["queue", "list", "--reason", HOSTILE],
        vec!["queue", HOSTILE],
        vec!["queue", "drop", HOSTILE],
        vec!["serve", "--listen", "127.0.0.1:0", "--database-url", HOSTILE],
        vec![HOSTILE],
    ] {
        let output = run(server.dir(), &args).await;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ended =
            Ended { code: output.status.code().unwrap(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
        assert_harmless(&args.join(" "), &ended);
    }
    assert!(!server.said().concat().contains(ACTIVE), "{:?}", server.said());
}
