//! Images that are wanted and that an ad does not have. The service shows the images that it has stored, and not the list that was sent: one that
//! could not be fetched looks like one that was never sent, and only the log tells them apart.

use std::collections::BTreeMap;

use ad_client::{Ad, FailedImage, Outcome};
use ad_core::{
    model::{Action, ActionState, AdState, LogEntry, short_address},
    stock::{ChangeKind, StockChange},
};
use serde_json::Value;

use super::{blocked::quoted, contents::IMAGES};

/// Images that are wanted and that the service does not show, where that is all the difference there is between the lists.
#[derive(Debug)]
pub struct Missing {
    /// The addresses that are missing.
    pub images: Vec<String>,
    /// All addresses of the payload, in its order.
    pub wanted: Vec<String>,
}

/// What is missing, if that is all.
pub fn missing(change: &StockChange, ad: &Ad, images: &[String]) -> Option<Missing> {
    let patch = change.body.as_ref().filter(|_| change.kind == ChangeKind::Update)?;
    let wanted: Vec<String> =
        patch.get(IMAGES)?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let there: Vec<_> = wanted.iter().filter(|url| images.contains(url)).collect();
    let is_less = there.len() == images.len() && there.into_iter().eq(images);
    let images = wanted.iter().filter(|url| !images.contains(url)).cloned().collect();
    (is_less && ad.state == AdState::Created).then_some(Missing { images, wanted })
}

/// Why the service does not show these images, if its log says so: it is still fetching them, or has failed.
pub fn why_missing(source_id: &str, log: &[LogEntry], missing: &[String]) -> Option<String> {
    let latest = log.last()?.request_id;
    if Outcome::of(log.iter().filter(|entry| entry.request_id == latest)).is_none() {
        return Some("the ad has unfinished requests; its images will be compared by the next run".to_owned());
    }
    let entry = log.iter().rev().find(|entry| entry.action == Action::HandleMedia)?;
    if entry.state != ActionState::Error {
        return None;
    }
    let failed: BTreeMap<_, _> =
        FailedImage::in_message(&entry.external_message).map(|image| (image.url, image.error)).collect();
    let reasons: Option<Vec<_>> =
        missing.iter().map(|url| Some(format!("{url} ({})", failed.get(&*short_address(url))?))).collect();
    let (count, reasons) = (missing.len(), reasons?);
    Some(format!(
        "the service could not fetch {}: {}; to retry: ad-cli retry {}",
        if count == 1 { "an image".to_owned() } else { format!("{count} images") },
        reasons.join(", "),
        quoted(source_id)
    ))
}

#[cfg(test)]
mod tests {
    use ad_core::model::Timestamp;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_log_tells_why_images_are_missing() {
        let entry = |request: u128, action, state, message: Value| {
            LogEntry::new(Uuid::from_u128(request), Timestamp::default(), action, state, message)
        };
        let failed =
            json!({"message": "1 of 2 images failed", "images": [{"url": "https://a.se/2.jpg", "error": "404"}]});
        let mut log = vec![
            entry(1, Action::HandleMedia, ActionState::Processing, json!("")),
            entry(1, Action::HandleMedia, ActionState::Error, failed),
            entry(1, Action::Publish, ActionState::Done, json!("")),
        ];
        let missing = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
        let told = why_missing("car-1", &log, &missing(&["https://a.se/2.jpg"])).unwrap();
        assert!(told.starts_with("the service could not fetch an image: https://a.se/2.jpg (404)"), "{told}");
        assert_eq!(why_missing("car-1", &log, &missing(&["https://a.se/2.jpg", "https://a.se/new.jpg"])), None);
        log.push(entry(2, Action::Update, ActionState::Processing, json!("")));
        assert!(
            why_missing("car-1", &log, &missing(&["https://a.se/new.jpg"])).unwrap().contains("unfinished requests")
        );
    }
}
