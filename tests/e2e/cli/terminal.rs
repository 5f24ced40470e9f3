//! What people see: the command line at a real terminal of 80 columns.

use std::process::Stdio;

use ad_tests::{
    Cli, Ended, Options, PATIENCE, Server,
    tools::{self, Tool},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

use super::redacted;
use crate::payloads::plain_car;

/// Whether there is what makes a terminal.
pub(crate) fn is_possible() -> bool {
    tools::find(Tool::Program("script")).is_some()
}

/// Runs a command line at a terminal where somebody types this. Both of its outputs are the screen.
pub(crate) async fn at_terminal(cli: &Cli, line: &str, typed: &str) -> Ended {
    at_terminal_of(80, cli, line, typed).await
}

/// The same at a terminal of so many columns.
pub(crate) async fn at_terminal_of(columns: u16, cli: &Cli, line: &str, typed: &str) -> Ended {
    let mut child = started(columns, cli, line);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    drop(stdin);
    let stdout = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code().unwrap_or(-1), stdout, stderr }
}

/// The screen of somebody who reads a question before they answer it: each answer is typed once its question is there.
pub(crate) async fn answering(columns: u16, cli: &Cli, line: &str, answers: &[(&str, &str)]) -> String {
    let mut child = started(columns, cli, line);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut seen, mut answers) = (Vec::new(), answers.iter());
    let mut next = answers.next();
    let mut block = [0; 4096];
    loop {
        let read = tokio::time::timeout(PATIENCE, stdout.read(&mut block)).await.unwrap_or_else(|_| {
            panic!("{:?} was not asked: {}", next.map(|(question, _)| question), String::from_utf8_lossy(&seen))
        });
        let read = read.unwrap();
        if read == 0 {
            break;
        }
        seen.extend_from_slice(&block[..read]);
        if let Some((_, answer)) = next.filter(|(question, _)| String::from_utf8_lossy(&seen).contains(question)) {
            stdin.write_all(answer.as_bytes()).await.unwrap();
            next = answers.next();
        }
    }
    child.wait().await.unwrap();
    String::from_utf8_lossy(&seen).replace("\r\n", "\n")
}

fn started(columns: u16, cli: &Cli, line: &str) -> Child {
    let command = cli.command(line.split_whitespace());
    let std = command.as_std();
    let program = std.get_program().to_string_lossy().into_owned();
    // Ctrl-C ends the program, and not the shell that ran it.
    let script = format!("stty cols {columns} rows 40; trap : INT; {program} {line}");
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &script, "/dev/null"]).current_dir(cli.home()).env_clear();
    terminal.envs(std.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    terminal.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("SHELL", "/bin/sh");
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    terminal.spawn().expect("a program that was found can be started")
}

#[tokio::test]
async fn an_interrupted_prompt_leaves_the_echo_on() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let line = format!("login --url {}; stty -a", server.client.base);
    let screen = answering(80, &Cli::new(), &line, &[("(not echoed): ", "\u{3}")]).await;
    assert!(screen.contains(" echo "), "{screen}");
}

#[tokio::test]
async fn a_new_ad_comes_from_answers() {
    if !is_possible() {
        return;
    }
    let cli = Cli::new().with("NO_COLOR", "1");
    let answers = [
        ("brand (such as volvo): ", "Volvoo\n"),
        ("Did you mean \"volvo\"?\r\n  brand [volvo]: ", "\n"),
        ("model (such as xc60): ", "XC 60\n"),
        ("understood as xc60\r\n* model_year (such as 2021): ", "20211\n"),
        ("  Ensure this value is less than or equal to 2100.\r\n* model_year (such as 2021): ", "2021\n"),
        ("registration_number (such as CAR21A): ", "?\n"),
        ("Licence plate", "\n"),
        ("mileage: ", "12500\n"),
        ("Write it with its unit: 12500 km or 12500 mil.\r\n  mileage: ", "12 500 km\n"),
        ("transmission: ", "automatic\n"),
        ("fuels: ", "bensin\n"),
        ("fuels [gasoline]: ", "diesel, electric\n"),
        ("understood as diesel electric", "Well kept\n"),
        ("price (such as 349900): ", "189 900 kr\n"),
        ("understood as 189900", "\n"),
        // A new car has a plate or a VIN.
        ("* registration_number (such as CAR21A): ", "abc 12d\n"),
        ("* source_id [ABC12D]: ", "\n"),
        ("Save as [ABC12D.json]: ", "car.json\n"),
    ];
    let screen = answering(80, &cli, "new car --ask", &answers).await;
    assert!(screen.contains("ad-cli create car.json") && screen.contains("ad-cli show ABC12D"), "{screen}");
    let payload: serde_json::Value =
        serde_json::from_slice(&std::fs::read(cli.home().join("car.json")).unwrap()).unwrap();
    assert_eq!(
        payload,
        json!({
            "source_id": "ABC12D", "category_id": 1020, "visible": false, "body": "Well kept",
            "price": [{"type": "list", "amount": 189_900, "currency": "SEK"}],
            "category_fields": {
                "brand": "volvo", "model": "xc60", "model_year": 2021, "registration_number": "abc 12d",
                "condition": {"mileage": {"unit": "km", "value": 12500}},
                "powertrain": {"transmission": "automatic", "fuels": ["diesel", "electric"]},
            },
        })
    );
    assert_eq!(cli.run("validate car.json").await.code, 0);
    // The end of stdin ends the questions.
    let screen = answering(80, &cli, "new car --ask", &[("brand (such as volvo): ", "\u{4}")]).await;
    assert!(screen.contains("the answers ended"), "{screen}");
}

#[tokio::test]
async fn a_table_fits_the_terminal() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    let mut car = plain_car("car-1", "ABC123");
    car["category_fields"]["brand"] = json!("volvo");
    car["category_fields"]["model"] = json!("xc60");
    car["category_fields"]["model_type"] = json!("T6 AWD Inscription");
    car["price"] = json!([{"type": "list", "amount": 349_900}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("car-1").await;
    let seen = at_terminal(&cli, "list", "").await;
    let expected = "\
SOURCE ID  STATUS  PLATE   TITLE                       PRICE        PHOTOS  TYPE
car-1      live    ABC123  Volvo XC60 T6 AWD           349,900 SEK  none    car
                           Inscription 2019
1 ad
";
    assert_eq!(seen.done(), expected);
    let log = at_terminal(&cli, "log car-1", "").await;
    let widest = log.done().lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{}", log.stdout);
}

/// A service with an ad that is live, and one that the marketplaces have refused.
pub(super) async fn with_a_refused_ad() -> (Server, Cli) {
    let args = vec!["--sandbox".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    for (source_id, plate) in [("car-1", "ABC101"), ("fault-refused-1", "ABC102")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.ended(source_id, "publish", None).await;
    }
    (server, cli)
}

#[tokio::test]
async fn events_and_log_stay_in_line_on_a_narrow_terminal() {
    if !is_possible() {
        return;
    }
    let (_server, cli) = with_a_refused_ad().await;
    for columns in [60, 80] {
        let events = at_terminal_of(columns, &cli, "events --types ad.publish.done,ad.create.done --quiet", "").await;
        let lines: Vec<_> = events.done().lines().collect();
        assert_eq!(
            lines[..2],
            ["TIME                  SOURCE ID", "    ACTION        STATE       MESSAGE"],
            "{events:?}"
        );
        assert_eq!(lines.len() % 2, 0, "two lines an event: {events:?}");
        let is_event = |lines: &&[&str]| lines[0].starts_with("20") && lines[1].find("done") == Some(18);
        assert!(lines[2..].chunks(2).all(|lines| is_event(&lines)), "{events:?}");
        assert!(events.stdout.contains("Z  fault-refused-1\n    create        done        Ad created\n"), "{events:?}");
    }
    let log = at_terminal_of(60, &cli, "log fault-refused-1", "").await;
    let reason = "  publish       error\n    publish failed on primary: Rejected by an injected\n    fault; secondary";
    assert!(log.done().contains(reason), "{log:?}");
}

#[tokio::test]
async fn a_new_payload_at_a_terminal_names_the_next_steps() {
    if !is_possible() {
        return;
    }
    let cli = Cli::new().with("NO_COLOR", "1");
    let new = at_terminal(&cli, "new car --full", "").await;
    let steps = "  1. ad-cli new car --full > car.json\n  2. edit car.json in a text editor\n  3. ad-cli validate car.json\n  \
                 4. ad-cli create car.json\n";
    assert!(new.done().contains(steps), "{}", new.stdout);
    let redirected = cli.run("new car").await;
    assert!(!redirected.stderr.contains("create") && redirected.stderr.contains("to validate: "), "{redirected:?}");
}

#[tokio::test]
async fn colours_mean_something_at_a_terminal() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    server.client.published("car-1").await;
    let log = at_terminal(&cli, "log car-1", "").await;
    assert!(log.done().contains("\u{1b}[32mdone"), "green: {log:?}");
    let error = at_terminal(&cli, "get nothing", "").await;
    assert_eq!(error.code, 1);
    assert!(error.stdout.contains("\u{1b}[31merror:\u{1b}[0m you have no ad"), "red: {error:?}");
    let plain = at_terminal(&cli.with("NO_COLOR", "1"), "log car-1", "").await;
    assert!(!plain.done().contains('\u{1b}'), "{plain:?}");
}

#[tokio::test]
async fn login_asks_for_what_it_needs_and_does_not_show_the_token() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let (url, token) = (&server.client.base, server.client.token.as_deref().unwrap());
    let cli = Cli::new();
    let login = at_terminal(&cli, "login", &format!("{url}\n{token}\n")).await;
    assert_eq!(login.code, 0, "{login:?}");
    let seen = redacted(&login.stdout, &cli, Some(&server));
    assert!(seen.contains("Server URL: ") && seen.contains("Token (not echoed): "), "{seen}");
    assert!(seen.contains("Profile \"default\": URL as dealer north-cars"), "{seen}");
    let who = cli.run("whoami --online").await;
    assert!(who.done().contains("north-cars"));
}

#[tokio::test]
async fn help_fits_the_terminal() {
    if !is_possible() {
        return;
    }
    let help = at_terminal(&Cli::new().with("NO_COLOR", "1"), "list --help", "").await;
    let widest = help.done().lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{}", help.stdout);
}
