//! New ads from pasted JSON, without scripts.

use ad_tests::Server;
use serde_json::json;

use super::{Visitor, html};
use crate::payloads::plain_car;

/// The rows of the report, each as its texts.
fn report(page: &str) -> Vec<String> {
    let Some(report) = page.split("id=\"report\"").nth(1) else { return Vec::new() };
    let body = report.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    body.split("<tr>").skip(1).map(str::to_owned).collect()
}

#[tokio::test]
async fn pasted_ads_are_checked_line_by_line_and_then_created() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    assert!(visitor.page("/console/paste").await.contains("/console/import"));
    // Developers find it, and sellers have the file.
    assert!(visitor.page("/console/developers").await.contains("href=\"/console/paste\""));
    let new = visitor.page("/console/new").await;
    assert!(new.contains("href=\"/console/import\"") && !new.contains("/console/paste"), "{new}");
    let mut wrong = plain_car("p-2", "PST002");
    wrong["category_fields"]["colour"] = json!("red");
    let lines = [
        plain_car("p-1", "PST001").to_string(),
        wrong.to_string(),
        String::new(),
        "{\"source_id\": \"p-3\",".to_owned(),
        json!({"source_id": "p-4"}).to_string(),
        json!({"category_id": 1020, "category_fields": {}}).to_string(),
        "[1]".to_owned(),
        r#"{"source_id": "p-5", "source_id": "p-6", "category_id": 1060, "title": "Boat", "contact": {"email": "a@b.example"}, "category_fields": {}}"#.to_owned(),
    ]
    .join("\r\n");

    let page = html(&visitor.post("/console/paste", &[("json", &lines), ("do", "check")]).await);
    let rows = report(&page);
    let expected = [
        ("1", "Valid"),
        ("2", "Unknown field."),
        ("4", "JSON parse error"),
        ("5", "category_id: This field is required."),
        ("6", "source_id: This field is required."),
        ("7", "The body must be a JSON object."),
        ("8", "occurs more than once"),
    ];
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (row, (line, text)) in rows.iter().zip(expected) {
        assert!(
            row.contains(&format!("<td class=\"number\">{line}</td>")) && row.contains(text),
            "{line} {text}: {row}"
        );
    }
    assert!(page.contains("Create the valid ads (2)"), "{page}");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 0);

    let page = html(&visitor.post("/console/paste", &[("json", &lines), ("do", "create")]).await);
    let rows = report(&page);
    assert!(rows[0].contains("Created") && rows[0].contains("/console/ad?source_id=p-1"), "{rows:?}");
    assert!(rows[1].contains("Refused") && rows[6].contains("source_id=p-6"), "{rows:?}");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 2);

    // The same again: what is there is not created twice.
    let rows = report(&html(&visitor.post("/console/paste", &[("json", &lines), ("do", "create")]).await));
    assert!(rows[0].contains("has been used"), "{rows:?}");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 2);
}

#[tokio::test]
async fn an_array_is_pasted_too_and_too_much_is_refused() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let array = format!("{:#}", json!([plain_car("a-1", "ARR001"), plain_car("a-2", "ARR002")]));
    let rows = report(&html(&visitor.post("/console/paste", &[("json", &array), ("do", "create")]).await));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 2);

    let many = "{}\n".repeat(101);
    let page = html(&visitor.post("/console/paste", &[("json", &many), ("do", "create")]).await);
    assert!(page.contains("101") && report(&page).is_empty(), "{page}");
    let page = html(&visitor.post("/console/paste", &[("json", "[{]"), ("do", "check")]).await);
    assert!(page.contains("role=\"alert\"") && report(&page).is_empty(), "{page}");
    let huge = "x".repeat(4 * 1024 * 1024);
    assert_eq!(visitor.post("/console/paste", &[("json", &huge)]).await.status, 413);
    let markup = json!({"source_id": "<script>alert(1)</script>", "</textarea><script>": 1}).to_string();
    let page = html(&visitor.post("/console/paste", &[("json", &markup), ("do", "check")]).await);
    assert_eq!(page.matches("<script").count(), 1, "{page}");
}
