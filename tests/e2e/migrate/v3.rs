//! `ad-migrate v3`: ads of V3 become ads of V4 when what they lack has been added.

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

async fn with_ads(ads: &[Value]) -> (Server, Cli) {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    for ad in ads {
        server.client.post("/v3/ad", ad).await.expect(201);
        server.client.published(ad["source_id"].as_str().unwrap()).await;
    }
    (server, cli)
}

/// The sheet with an answer beside each of these questions.
fn answered(cli: &Cli, answers: &[(&str, &str, &str)]) {
    let sheet = std::fs::read_to_string(cli.home().join("v3.csv")).unwrap();
    let mut left = answers.to_vec();
    let lines = sheet.lines().map(|line| {
        let place = left.iter().position(|(ad, field, _)| line.contains(ad) && line.contains(&format!(";{field};")));
        place.map_or_else(|| line.to_owned(), |place| format!("{}{}", line, left.remove(place).2))
    });
    let text = lines.collect::<Vec<_>>().join("\r\n");
    assert!(left.is_empty(), "not asked for: {left:?} in {sheet}");
    cli.file("v3.csv", text);
}

#[tokio::test]
async fn ads_of_v3_are_filled_completed_in_a_file_and_migrated() {
    let contact = json!({"email": "a@north.example"});
    let boat = json!({"source_id": "rib-1", "category_id": 1063, "title": "RIB", "contact": contact,
        "category_fields": {"model_year": "2019", "brand": "Buster", "hull": "aluminium", "length": {"unit": "m", "value": 5.2}}});
    let machine = json!({"source_id": "machine-1", "category_id": 1222, "title": "Tractor", "contact": contact});
    let (server, cli) = with_ads(&[plain_car("car-1", "V3C001"), boat, machine]).await;
    let before = server.client.ad("rib-1").await;

    let dry = cli.run("v3 v3.csv").await;
    assert_eq!(dry.code, 1, "{dry:?}");
    assert!(dry.stderr.contains("1 converted by their next update"), "{dry:?}");
    assert!(dry.stdout.contains("hull: aluminium"), "what is left out is told: {dry:?}");
    let sheet = std::fs::read_to_string(cli.home().join("v3.csv")).unwrap();
    assert!(sheet.contains("machine-1;") && sheet.contains(";vehicle_type;"), "{sheet}");
    assert_eq!(server.client.ad("rib-1").await["api_version"], "v3", "nothing is changed");

    answered(&cli, &[("machine-1", "vehicle_type", "agriculture-tractor")]);
    let dry = cli.run("v3 v3.csv").await;
    assert!(!std::fs::read_to_string(cli.home().join("v3.csv")).unwrap().contains(";vehicle_type;What"), "{dry:?}");

    // What is asked for now is answered with what is allowed there.
    let sheet = std::fs::read_to_string(cli.home().join("v3.csv")).unwrap();
    let mut rows = csv_rows(&sheet);
    for row in rows.iter_mut().skip(1).filter(|row| row[7].is_empty()) {
        let first = row[6].split("; ").next().unwrap().to_owned();
        row[7] = match row[4].as_str() {
            field if field.ends_with("model_year") => "2018".to_owned(),
            _ if first.starts_with("measure") || first.contains("integer") => "5 m".to_owned(),
            _ => first,
        };
    }
    let lines: Vec<_> =
        rows.iter().map(|row| row.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(";")).collect();
    cli.file("v3.csv", lines.join("\n"));
    let ready = cli.run("v3 v3.csv --payloads filled.ndjson").await;
    assert!(ready.code == 0 && ready.stderr.contains("2 ready to migrate"), "{ready:?}");
    let filled = std::fs::read_to_string(cli.home().join("filled.ndjson")).unwrap();
    let filled: Vec<Value> = filled.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((filled.len(), &filled[0]["source_id"], &filled[0]["category_id"]), (2, &json!("rib-1"), &json!(1060)));
    let done = cli.run("v3 v3.csv --submit").await;
    assert_eq!(done.code, 0, "{done:?} {lines:?}");
    assert!(done.stderr.contains("2 migrated"), "{done:?}");
    let after = server.client.ad("rib-1").await;
    assert_eq!(
        (&after["id"], &after["api_version"], &after["category_id"]),
        (&before["id"], &json!("v4"), &json!(1060))
    );
    assert_eq!(after["category_fields"]["brand"], "buster");
    assert_eq!(server.client.ad("machine-1").await["category_id"], 1228);

    let again = cli.run("v3 v3.csv --submit").await;
    assert_eq!(again.code, 0, "{again:?}");
}

/// Cells of a file with semicolons; quoted ones have no line breaks here.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(';').fold((Vec::new(), false), joined).0).collect()
}

/// Puts together again what a semicolon within quotes has cut.
fn joined((mut cells, mut open): (Vec<String>, bool), part: &str) -> (Vec<String>, bool) {
    if open {
        let last: &mut String = cells.last_mut().unwrap();
        *last = format!("{last};{}", part.trim_end_matches('"'));
    } else {
        cells.push(part.trim_matches('"').to_owned());
    }
    if part.matches('"').count() % 2 == 1 {
        open = !open;
    }
    (cells, open)
}

fn quoted(cell: &str) -> String {
    if cell.contains([';', '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
