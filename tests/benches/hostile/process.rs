//! The attacker as a process, seen from the benchmark: started, released, asked what it was answered.
//!
//! It prints `ready` once it has prepared, attacks when a line comes on its stdin, and prints how often it got which answer
//! in the end. When its stdin closes, it exits: it does not outlive the benchmark.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{Attack, attacks::ATTACKS};

/// The argument that makes a process of this program the attacker.
const ATTACK: &str = "--attack";
/// What it prints when it has prepared.
pub(crate) const READY: &str = "ready";
/// How long it may prepare.
const PREPARATION: Duration = Duration::from_mins(3);
/// How long it may take to end after its time.
const GRACE: Duration = Duration::from_secs(10);

/// What the attacker is told.
pub(crate) struct Arguments {
    pub(crate) attack: &'static Attack,
    pub(crate) server: SocketAddr,
    pub(crate) token: String,
    pub(crate) time: Duration,
}

impl Arguments {
    /// Those of this process, if it is the attacker.
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let [first, name, server, token, milliseconds] = arguments else { return None };
        if first != ATTACK {
            return None;
        }
        Some(Self {
            attack: ATTACKS.iter().find(|attack| attack.name == name)?,
            server: server.parse().ok()?,
            token: token.clone(),
            time: Duration::from_millis(milliseconds.parse().ok()?),
        })
    }
}

/// How often the attacker got which answer.
pub(crate) type Answers = Vec<(String, u64)>;

/// The attacker; it ends with the value.
pub(crate) struct Process {
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
    time: Duration,
    _child: Child,
}

impl Process {
    /// Starts it at the lowest priority.
    pub(crate) fn start(arguments: &Arguments) -> Self {
        let mut child = Command::new("nice")
            .args(["-n", "19"])
            .arg(std::env::current_exe().expect("a running program has a path"))
            .args([ATTACK, arguments.attack.name, &arguments.server.to_string(), &arguments.token])
            .arg(arguments.time.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this program can be started by nice");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stdin = child.stdin.take().expect("stdin is piped");
        Self { lines: BufReader::new(stdout).lines(), stdin, time: arguments.time, _child: child }
    }

    /// Waits until it has prepared; false when it cannot.
    pub(crate) async fn is_ready(&mut self) -> bool {
        let line = timeout(PREPARATION, self.lines.next_line()).await;
        matches!(line, Ok(Ok(Some(line))) if line == READY)
    }

    /// Lets the process begin its attack.
    pub(crate) async fn release(&mut self) {
        // When it has ended already, that shows in its answers.
        drop(self.stdin.write_all(b"go\n").await);
        drop(self.stdin.flush().await);
    }

    /// Waits until it has ended.
    pub(crate) async fn answers(mut self) -> Answers {
        let mut answers = Answers::new();
        while let Ok(Ok(Some(line))) = timeout(self.time + GRACE, self.lines.next_line()).await {
            if let Some((count, answer)) = line.split_once(' ') {
                answers.push((answer.to_owned(), count.parse().unwrap_or(0)));
            }
        }
        answers
    }
}
