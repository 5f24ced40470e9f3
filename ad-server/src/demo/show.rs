//! Prints the output of the demo.

use std::io::{self, IsTerminal, Write};

use ad_core::{model::Timestamp, violation::Code};

use percent_encoding::utf8_percent_encode;
use reqwest::StatusCode;
use serde_json::{Map, Value};

use super::{DemoRow, receiver::Receiver, stock::DemoAd};
use crate::output;

/// Prints a line. A closed stdout is no error of the demo.
pub(super) fn line(text: &str) {
    let _nobody_reads_on = writeln!(io::stdout(), "{text}");
}

const GREEN: &str = "32";
const RED: &str = "31";
const FAINT: &str = "2";
const BOLD: &str = "1";

/// A text in this style, on terminals that want styles.
fn styled(style: &str, text: &str) -> String {
    let wanted = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if wanted { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
}

pub(super) fn opening(base: &str, stock: &[DemoAd]) {
    let images: usize = stock.iter().map(DemoAd::images).sum();
    line(&styled(BOLD, &format!("The service runs at {base} with two dealers and an empty database.")));
    line(&format!("Posting {} ads with {images} images:\n", stock.len()));
}

pub(super) fn posted(ad: &DemoAd, status: StatusCode, body: &Value) {
    let name = format!("POST /v4/{:<5} {:<22}", ad.vehicle_type, ad.source_id());
    if status.is_success() {
        let title = body["title"].as_str().unwrap_or_default();
        return line(&format!("  {name} {} {title}", styled(GREEN, status.as_str())));
    }
    line(&format!("  {name} {} rejected, with all errors in one answer:", styled(RED, status.as_str())));
    mistakes(body, "");
}

/// Each mistake with its path.
fn mistakes(errors: &Value, path: &str) {
    match errors {
        Value::Object(members) => {
            for (name, below) in members {
                mistakes(below, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") });
            }
        }
        Value::Array(messages) => {
            let messages: Vec<_> = messages.iter().filter_map(Value::as_str).collect();
            line(&format!("      {path}: {}", styled(FAINT, &messages.join(" "))));
        }
        other => line(&format!("      {path}: {other}")),
    }
}

/// What has ended since the last look, in the order of time.
pub(super) fn entries(mut news: Vec<(String, &Value)>) {
    news.sort_by_key(|(_, entry)| clock(entry));
    for (source_id, entry) in news {
        self::entry(&source_id, entry);
    }
}

fn entry(source_id: &str, entry: &Value) {
    let action = entry["action"].as_str().unwrap_or_default();
    let state = match entry["state"].as_str().unwrap_or_default() {
        "done" => styled(GREEN, "done "),
        "error" => styled(RED, "error"),
        _ => return,
    };
    line(&format!("  {} {source_id:<16} {action:<12} {state} {}", styled(FAINT, &clock(entry)), message(entry)));
}

fn clock(entry: &Value) -> String {
    entry["created"].as_str().and_then(|time| time.get(11..23)).unwrap_or_default().to_owned()
}

fn message(entry: &Value) -> String {
    let message = &entry["external_message"];
    let images = message["images"].as_array().into_iter().flatten().map(|image| {
        let file = image["url"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
        format!("{file}: {}", image["error"].as_str().unwrap_or_default())
    });
    let text = message.as_str().or_else(|| message["message"].as_str()).unwrap_or_default();
    match &images.collect::<Vec<_>>()[..] {
        [] => text.to_owned(),
        failed => format!("{text} ({})", failed.join(", ")),
    }
}

/// Prints the ads, one line each.
pub(super) fn table(rows: &[DemoRow]) {
    line("");
    let header = ["SOURCE ID", "TITLE", "PRIMARY", "SECONDARY", "STATUS", "SCORE", "AFTER"];
    // A closed stdout is no error of the demo.
    let _nobody_reads_on = output::table(header, rows.iter().map(cells));
}

/// Few enough for 80 columns: the log entries have been shown.
fn cells(row: &DemoRow) -> [String; 7] {
    let Some(ad) = &row.ad else {
        let dash = || "–".to_owned();
        return [row.source_id.clone(), "(rejected: 400)".to_owned(), dash(), dash(), dash(), dash(), dash()];
    };
    let text = |name: &str| ad[name].as_str().unwrap_or("–").to_owned();
    let log = ad["log"].as_array().map_or(&[][..], Vec::as_slice);
    [
        row.source_id.clone(),
        text("title"),
        text("marketplace_ad_id"),
        text("offer_id"),
        text("status").replace('_', " "),
        ad["quality"]["score"].to_string(),
        published_after(ad, log),
    ]
}

/// What has failed on each ad, and what to do about it.
pub(super) fn what_to_do(statuses: &[Value]) {
    line(&styled(BOLD, "\nAds with a failure, as GET /v4/ad/{source_id}/status explains it:\n"));
    for status in statuses {
        line(&format!("  {:<22} {}", text(&status["source_id"]), text(&status["text"])));
        for channel in status["channels"].as_array().into_iter().flatten().filter(|it| it["status"] != "live") {
            let (marketplace, word) = (text(&channel["marketplace"]), text(&channel["status"]).replace('_', " "));
            line(&format!("    {marketplace}: {} {}", styled(RED, &word), text(&channel["text"])));
            print_advice(&text(&channel["who_acts"]).replace('_', " "), text(&channel["what_to_do"]));
        }
        for image in status["images"].as_array().into_iter().flatten().filter(|it| it["status"] == "failed") {
            let name = text(&image["url"]).rsplit('/').next().unwrap_or_default();
            line(&format!("    image {name}: {} {}", styled(RED, "failed"), text(&image["text"])));
            print_advice("dealer", Code::from_name(text(&image["code"])).about().cure);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn print_advice(who_acts: &str, what_to_do: &str) {
    if !what_to_do.is_empty() {
        line(&format!("      {} {what_to_do}", styled(BOLD, &format!("{who_acts}:"))));
    }
}

/// The messages that the receiver of the webhook got.
pub(super) fn webhook(receiver: &Receiver) {
    let (verified, refused) = receiver.counts();
    let count = format!("{verified} events verified, {refused} refused");
    line(&format!("\nWebhook to {}: {}", receiver.url(), styled(GREEN, &count)));
}

fn published_after(ad: &Value, log: &[Value]) -> String {
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let published = log.iter().find(|entry| entry["action"] == "publish" && entry["state"] == "done");
    let published = published.and_then(|entry| time(&entry["created"]));
    published
        .zip(time(&ad["created"]))
        .map_or_else(|| "–".to_owned(), |(published, created)| format!("{:.2} s", (published - created).as_secs_f64()))
}

pub(super) fn console(base: &str, link: &str) {
    line(&styled(BOLD, "\nSee the ads in the console. This link signs in, once, on this machine:\n"));
    line(&format!("  {base}{link}"));
}

/// A new ad, ready to be sent.
pub(super) fn first_ad(base: &str, token: &str, payload: &Map<String, Value>) {
    let payload = Value::from(payload.clone());
    let id = payload["source_id"].as_str().unwrap_or_default();
    line(&styled(BOLD, "\nPublish an ad of your own, with a token for the dealer north-cars:\n"));
    line(&format!("  export TOKEN={token}\n"));
    line(&format!("  curl -H \"X-Auth-Token: $TOKEN\" {base}/v4/car -d '{payload}'\n"));
    line(&format!("  curl -H \"X-Auth-Token: $TOKEN\" {base}/v4/car/{id}"));
}

/// Prints commands to try next.
pub(super) fn print_next_steps(base: &str, token: &str, first: Option<&DemoRow>) {
    let (kind, id) = first.map_or(("car", "1"), |row| (row.vehicle_type, row.source_id.as_str()));
    let id = utf8_percent_encode(id, ad_server_http::api::versions::SEGMENT);
    line(&styled(BOLD, "\nRead and change the ads above, with a token for the dealers' group:\n"));
    line(&format!("  export TOKEN={token}\n"));
    line(&format!("  curl -H \"X-Auth-Token: $TOKEN\" {base}/v4/ad/{id}"));
    line(&format!(
        "  curl -H \"X-Auth-Token: $TOKEN\" -X PATCH {base}/v4/{kind}/{id} -d '{{\"body\": \"Nu med vinterhjul\"}}'"
    ));
    line(&format!(
        "  curl -H \"X-Auth-Token: $TOKEN\" {base}/v4/car/validate -d '{{\"category_id\": 1020, \"dealer_code\": \"north-cars\", \"category_fields\": {{\"brand\": \"wolvo\"}}}}'"
    ));
    line(&format!("\nDocumentation: {base}/docs/swagger-ui/ and {base}/docs/redoc/"));
    line(&format!("Failures on demand: {}", ad_server_http::sandbox::GUIDE));
    line(&styled(FAINT, "Press Ctrl-C to stop the demo and delete its database."));
}
