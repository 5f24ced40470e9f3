//! Attacks by writing: ads that grow, and floods of new ads, retries and validations.

use serde_json::json;

use super::{car, post_car};
use crate::{attacker::Attacker, connection::Request};

/// Ads that each write makes larger.
const GROWING: usize = 4;
/// Members of an open `category_fields` that are added, of 64 that it may have.
const MEMBERS: usize = 60;
/// Lists in each, texts in each list, and characters of each text: as large as the rules allow in one request.
const MEMBER: (usize, usize, usize) = (2, 50, 10_000);
/// Bytes of a payload that is as large as one may be.
const PAYLOAD: usize = 1024 * 1024;

pub(super) async fn growing(attacker: Attacker) {
    let boat = |number: usize| {
        let boat = json!({
            "source_id": format!("growing-{number}"), "category_id": 1061, "title": "Boat", "body": "A boat.",
            "contact": {"email": "sales@south.example"}, "category_fields": {},
        });
        Request::post("/v3/ad", boat.to_string())
    };
    attacker.prepare(GROWING, boat).await;
    attacker.begin().await;
    let member = vec![vec!["x".repeat(MEMBER.2); MEMBER.1]; MEMBER.0];
    attacker
        .flood(move |index, number| {
            let change = if index < GROWING {
                json!({"category_fields": {format!("member-{}", number % MEMBERS): member}})
            } else {
                json!({"title": format!("Boat {number}")})
            };
            Request::patch(format!("/v3/ad/growing-{}", index % GROWING), change.to_string())
        })
        .await;
}

pub(super) async fn retries(attacker: Attacker) {
    attacker.prepare(1, |_| post_car(&car("again", "A car."))).await;
    attacker.begin().await;
    attacker.flood(|_, _| Request::get("/v4/ad/again/retry")).await;
}

pub(super) async fn posts(attacker: Attacker) {
    attacker.begin().await;
    attacker.flood(|index, number| post_car(&car(&format!("new-{index}-{number}"), "A car."))).await;
}

pub(super) async fn reused_keys(attacker: Attacker) {
    attacker.prepare(1, |_| post_car(&car("first", "A car.")).with_key("one")).await;
    attacker.begin().await;
    attacker.flood(|index, number| post_car(&car(&format!("new-{index}-{number}"), "A car.")).with_key("one")).await;
}

pub(super) async fn validations(attacker: Attacker) {
    attacker.begin().await;
    let prices = filled("{\"category_id\":1020,\"price\":[", "{}", "]}");
    let mut number = 0;
    let unknown = filled_with("{\"category_id\":1020,\"category_fields\":{", "}}", || {
        number += 1;
        format!("\"u{number}\":0")
    });
    attacker
        .flood(move |index, number| {
            let payload = if (index + number).is_multiple_of(2) { &prices } else { &unknown };
            Request::post("/v4/car/validate", payload.clone())
        })
        .await;
}

/// A text of the largest size that repeats an item between its start and its end.
pub(super) fn filled(start: &str, item: &str, end: &str) -> String {
    filled_with(start, end, || item.to_owned())
}

fn filled_with(start: &str, end: &str, mut item: impl FnMut() -> String) -> String {
    let mut text = format!("{start}{}", item());
    loop {
        let item = item();
        if text.len() + item.len() + 1 + end.len() > PAYLOAD {
            return text + end;
        }
        text = text + "," + &item;
    }
}
