//! docs/mcp.md: its table of tools, and a session that the official client library had with a server.

use std::{fmt::Write, path::Path};

use super::*;
use crate::cli::{redacted, screens::hidden_ids};

/// What the user says, the call of the assistant, and the part of the result that the page shows.
const STEPS: &[(&str, &str, &str, &str)] = &[
    (
        "Which of my cars are not live?",
        "list",
        r#"{"status": ["failed", "partly_live"], "fields": ["source_id", "title"]}"#,
        "",
    ),
    ("Why is that one not live?", "status", r#"{"source_ids": ["ABC102"]}"#, "/0/channels/0"),
    (
        "Reduce ABC101 to 179 900. (The assistant shows the change before it makes it.)",
        "price",
        r#"{"source_id": "ABC101", "amount": 179900, "reduced": true, "dry_run": true}"#,
        "",
    ),
    ("Yes, do that.", "price", r#"{"source_id": "ABC101", "amount": 179900, "reduced": true}"#, ""),
    ("", "wait", r#"{"source_id": "car-1", "until": "published"}"#, ""),
    (
        "ABC101 is sold. (The assistant's program asks before it makes this call.)",
        "sold",
        r#"{"source_ids": ["car-1"]}"#,
        "",
    ),
    ("", "wait", r#"{"source_id": "car-1", "until": "deleted"}"#, ""),
    ("Bump ABC102. (The server was started without `--allow-promote`.)", "bump", r#"{"source_ids": ["ABC102"]}"#, ""),
];

/// Replaces what stands between the comments of this name.
fn replaced(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).expect("the page has this part");
    let (_, after) = rest.split_once(&end).expect("the part has an end");
    format!("{before}{begin}{text}{end}{after}")
}

#[tokio::test]
async fn the_page_shows_the_tools_and_a_session_that_took_place() {
    let server = sandbox().await;
    let cli = Cli::of(&server);
    let mut tools = "| Tool | Allowed by | What it does |\n|---|---|---|\n".to_owned();
    let mut seen = Vec::new();
    for (options, option) in
        [("", ""), ("--allow-write", "`--allow-write`"), ("--allow-write --allow-promote 1", "`--allow-promote`")]
    {
        let Some(listed) = session(&cli, options, "auto", &[]).await else { return };
        for tool in listed.answer["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap().to_owned();
            if !seen.contains(&name) {
                let about = tool["description"].as_str().unwrap();
                let (about, _) = about.split_once(". ").unwrap_or((about.trim_end_matches('.'), ""));
                writeln!(tools, "| `{name}` | {option} | {about} |").unwrap();
                seen.push(name);
            }
        }
    }
    let calls: Vec<Call<'_>> =
        STEPS.iter().map(|(_, tool, arguments, _)| (*tool, serde_json::from_str(arguments).unwrap())).collect();
    let Some(day) = session(&cli, "--allow-write", "auto", &calls).await else { return };
    let mut shown = String::new();
    for (index, (says, tool, arguments, part)) in STEPS.iter().enumerate() {
        let result = &day.answer["results"][index];
        if !says.is_empty() {
            writeln!(shown, "> {says}\n").unwrap();
        }
        writeln!(shown, "`{tool}` {arguments}\n").unwrap();
        let structured = &result["structuredContent"];
        if structured.is_null() {
            writeln!(shown, "```text\n{}\n```\n", result["content"][0]["text"].as_str().unwrap()).unwrap();
            continue;
        }
        let mut value = structured["result"].pointer(part).unwrap().clone();
        for row in value.as_array_mut().into_iter().flatten() {
            if let Some(ad @ Value::Object(_)) = row.get_mut("ad") {
                *ad = json!("…");
            }
            if let Some(id) = row.get_mut("request_id") {
                *id = json!("<uuid>");
            }
        }
        let notes = structured["notes"].as_str().unwrap();
        writeln!(shown, "```json\n{value:#}\n```\n").unwrap();
        if !notes.is_empty() {
            writeln!(shown, "```text\n{notes}\n```\n").unwrap();
        }
    }
    let shown = hidden_ids(&server).await.iter().fold(shown, |text, (id, _)| text.replace(id, "20000001"));
    let shown = redacted(&shown, &cli, Some(&server)).replace("URL", "https://ads.example.com");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mcp.md");
    let stored = std::fs::read_to_string(&path).unwrap();
    let page = replaced(&replaced(&stored, "tools", &tools), "session", &shown);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    assert!(
        stored == page,
        "docs/mcp.md is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e cli::mcp:\n{page}"
    );
}
