//! A disk that is full, by a small file system of its own: what cannot be stored is refused, and nothing that was
//! accepted is lost.

use std::{path::PathBuf, process::Command};

use ad_tests::{Client, Process, command, eventually, installed, run, tools};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Gives the process that it starts a small `data` folder.
const SMALL: &str = r#"mount -t tmpfs -o size=24m tmpfs data && exec "$0" "$@""#;

/// Whether this machine lets a test make a file system of its own.
fn is_possible(dir: &std::path::Path) -> bool {
    let tried = Command::new("unshare").args(["-m", "sh", "-c", SMALL, "true"]).current_dir(dir).output();
    let is_possible = tried.is_ok_and(|tried| tried.status.success());
    if !is_possible {
        tools::not_run("a small disk takes the right to mount one");
    }
    is_possible
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_keeps_what_was_accepted() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    if !is_possible(dir.path()) {
        return;
    }
    let server = command(dir.path(), &[]);
    let binary = server.as_std().get_program().to_str().unwrap().to_owned();
    let args = ["-m", "sh", "-c", SMALL, &binary, "serve", "--listen", "127.0.0.1:0"];
    let mut process = Process::start_by("unshare", &args, dir.path()).await;
    // What it sees as its folder is there only for it, and for whoever looks through its eyes.
    let inside = PathBuf::from(format!("/proc/{}/root{}/data", process.pid(), dir.path().display()));
    let keys = inside.join("token-keys.json").display().to_string();
    let elsewhere = installed().await;
    let token = run(elsewhere.path(), &["token", "issue", "--dealer-code", "d1", "--token-key", &keys]).await;
    let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    let client = Client::new(&process.base, Some(token));

    let mut accepted = Vec::new();
    let mut post = async |count: usize| {
        let mut refused = 0;
        for _ in 0..count {
            let id = format!("ad-{}", accepted.len() + refused);
            let mut car = plain_car(&id, &format!("{:06}", accepted.len() + refused));
            car["body"] = json!("x".repeat(20_000));
            let answer = client.post("/v4/car", &car).await;
            match answer.status.as_u16() {
                201 => accepted.push(id),
                503 => refused += 1,
                _ => panic!("{} {}", answer.status, answer.json()),
            }
        }
        refused
    };
    assert_eq!(post(10).await, 0);
    std::fs::write(inside.join("filler"), vec![0; 64 * 1024 * 1024]).unwrap_err();
    let refused = post(30).await;
    assert!(refused > 0, "the disk is full");
    std::fs::remove_file(inside.join("filler")).unwrap();
    // It needs no restart.
    assert_eq!(post(10).await, 0);

    let published = |ad: &Value| {
        let steps = ad["log"].as_array().into_iter().flatten();
        steps.filter(|it| it["action"] == "publish" && it["state"] == "done").count() == 1
    };
    let rows = eventually("every accepted ad is published", || async {
        let page = client.get("/v4/ad?limit=500&include=log").await.expect(200);
        let rows = page["results"].as_array()?.clone();
        (rows.iter().filter(|row| published(row)).count() == rows.len()).then_some(rows)
    })
    .await;
    let lost = accepted.iter().filter(|id| !rows.iter().any(|row| row["source_id"] == **id)).count();
    println!(
        "the disk was full: accepted {}, refused {refused}, finished {}, lost {lost}, doubled 0",
        accepted.len(),
        rows.len()
    );
    assert_eq!((lost, rows.len()), (0, accepted.len()));
    process.kill().await;
}
