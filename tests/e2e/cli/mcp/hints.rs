//! What the results of tools say to do: with tools and arguments, and commands only for the user.

use super::{wire::Wire, *};

/// Tool, arguments, and the notes of the result.
const CASES: &[(&str, &str, &str)] = &[
    (
        "get",
        r#"{"source_id": "nope"}"#,
        "error: you have no ad with the source id or plate nope\n  help: to search your ads: tool `list` with q \"nope\"",
    ),
    // Errors of arguments have the names of the schema.
    (
        "request",
        r#"{"id": "x"}"#,
        "error: id: \"x\": expected the id of a request, as `ad-cli log SOURCE_ID --verbose` shows it",
    ),
    (
        "update",
        r#"{"source_id": "car-1", "set": ["visible=true"], "if_match": "\"3"}"#,
        "error: if_match: \"\\\"3\": expected one ETag such as \"3.7\", or *",
    ),
    ("wait", r#"{"source_id": "car-1", "until": "sold"}"#, "error: until: \"sold\" is not one of: published, deleted."),
    ("validate", r#"{"payload": [{}], "type": "car", "v3": true}"#, "error: type cannot be used with v3"),
    (
        "values",
        r#"{"type": "car", "attribute": "model"}"#,
        "error: the models depend on the brand\n  help: to list the models of a brand: tool `models` with brand",
    ),
    (
        "values",
        r#"{"type": "car", "attribute": "body"}"#,
        "error: body has no list of allowed values; its type is: string, at most 200,000 characters\n  help: to list the fields with allowed values: tool `values` with type \"car\"",
    ),
    (
        "models",
        r#"{"brand": "xyzzy"}"#,
        "error: unknown brand \"xyzzy\"\n  help: to list the brands: tool `values` with type \"car\" and attribute \"brand\"",
    ),
    (
        "fields",
        r#"{"type": "car", "search": ["xyzzy"]}"#,
        "error: car has no field xyzzy\n  help: to list all fields: tool `fields` with type \"car\"",
    ),
    (
        "quality",
        "{}",
        "error: no source id\n  help: name an ad: tool `quality` with source_ids\n  help: to list the ads that need work: tool `list` with quality_score_lt 50",
    ),
    (
        "list",
        r#"{"status": ["dead"]}"#,
        "error: `status`: \"dead\" is not a valid choice.\n       `status`: Valid choices: \"live\", \"partly_live\", \"hidden\", \"processing\", \"waiting\", \"failed\", \"deleted\".",
    ),
    ("list", r#"{"limit": 1, "fields": ["source_id"]}"#, "1 of 2 ads; use `offset` for another page"),
    (
        "list",
        r#"{"limit": 1, "fields": ["prize"]}"#,
        "error: fields: unknown field \"prize\"\n  help: Did you mean \"price\"?",
    ),
    (
        "price",
        r#"{"source_id": "car-1", "amount": 1.234}"#,
        "error: amount: \"1.234\": a point before three digits has two readings; write 329900 or 329,900",
    ),
    (
        "price",
        r#"{"source_id": "car-1", "amount": 200000, "reduced": true}"#,
        "error: the reduced price 200000 is not below the list price 189900 SEK\n  help: to set the list price: tool `price` with source_id \"car-1\" and amount 200000",
    ),
    (
        "update",
        r#"{"source_id": "car-1"}"#,
        "error: nothing to change\n  help: set fields with `set` PATH=VALUE, or clear them with `unset` PATH\n  help: or give `payload` with the fields to change",
    ),
    (
        "update",
        r#"{"source_id": "car-1", "set": ["xyzzy=1"]}"#,
        "error: car has no field xyzzy\n  help: to list all fields: tool `fields` with type \"car\"",
    ),
    ("sold", r#"{"source_ids": ["car-1"], "dry_run": true}"#, "nothing was changed (`dry_run`)"),
    // Only a change that changes nothing is called so.
    (
        "update",
        r#"{"source_id": "car-1", "payload": {"visible": true}}"#,
        "car-1: nothing changes, it is so already\naccepted and processed in the background; to wait for the outcome: tool `wait` with source_id \"car-1\"",
    ),
    (
        "update",
        r#"{"source_id": "car-1", "payload": {"category_id": 1020}, "dry_run": true}"#,
        "car-1: nothing changes, it is so already",
    ),
    ("update", r#"{"source_id": "car-1", "payload": {"colour": "red"}, "dry_run": true}"#, ""),
    ("update", r#"{"source_id": "car-1", "payload": {}, "dry_run": true}"#, ""),
    (
        "price",
        r#"{"source_id": "car-1", "amount": 189900, "dry_run": true}"#,
        "car-1: nothing changes, it is so already",
    ),
    ("show", r#"{"source_ids": ["car-1"], "dry_run": true}"#, "car-1: nothing changes, it is so already"),
    ("hide", r#"{"source_ids": ["car-1"], "dry_run": true}"#, "car-1: visible: true → false"),
];

#[tokio::test]
async fn hints_name_tools_and_arguments() {
    let server = sandbox().await;
    let mut wire = Wire::start(&Cli::of(&server), "--allow-write").await;
    let mut wrong = Vec::new();
    for (tool, arguments, expected) in CASES {
        wire.call(1, tool, serde_json::from_str(arguments).unwrap()).await;
        let answer = wire.answer().await;
        let notes = answer["result"]["structuredContent"]["notes"].as_str().unwrap_or_default();
        if notes != *expected {
            wrong.push(format!("{tool} {arguments}\n{notes:?}\n{answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn findings_name_the_tool_that_shows_what_is_allowed() {
    let mut wire = Wire::start(&Cli::new(), "--allow-write").await;
    let mut car = plain_car("car-1", "ABC101");
    car["category_fields"]["brand"] = json!("vovlo");
    for (tool, notes) in [("create", "nothing was sent"), ("validate", "payload: 1 payload, 0 valid, 1 with errors")] {
        wire.call(1, tool, json!({"payload": car})).await;
        let answer = wire.answer().await;
        let structured = &answer["result"]["structuredContent"];
        let finding = &structured["result"][0];
        assert_eq!(finding["command"], "tool `values` with type \"car\" and attribute \"brand\"", "{tool}: {answer}");
        assert_eq!((&structured["notes"], &finding["file"]), (&json!(notes), &json!("payload")), "{tool}");
    }
    wire.call(2, "fields", json!({"type": "car", "search": ["brand"]})).await;
    let fields = wire.answer().await;
    let row = &fields["result"]["structuredContent"]["result"][0];
    assert_eq!(row["values"], "tool `values` with type \"car\" and attribute \"brand\"", "{fields}");
}
