//! The outcome of a request, from its entries in the ad's log, which is the only record of progress.

use ad_core::model::{Action, ActionState, LogEntry, Market, PlateMatch};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An existing listing to which an ad was linked (decision 25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linked {
    /// The marketplace with the listing.
    pub marketplace: Market,
    /// Id of the listing on that marketplace.
    pub listing: String,
}

/// An image that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedImage {
    /// Its address, as the log has it.
    pub url: String,
    /// The reason, in a sentence.
    pub error: String,
}

impl FailedImage {
    /// Those that a message of the log names (decision 23).
    pub fn in_message(message: &Value) -> impl Iterator<Item = Self> {
        let images = message.get("images").and_then(Value::as_array).into_iter().flatten();
        images.filter_map(|image| Self::deserialize(image).ok())
    }
}

/// What became of a finished request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The ad is on the marketplaces.
    Published {
        /// A problem in spite of success, such as an image that could not be fetched.
        warning: Option<String>,
        /// The listings that were there before and are this ad's now, matched by its plate; empty when it was listed anew, or was this
        /// ad's before.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        linked: Vec<Linked>,
        /// The images that could not be fetched, which the warning names too.
        #[serde(skip)]
        failed_images: Vec<FailedImage>,
    },
    /// The ad was created or updated, and is not shown (`visible` is false).
    Hidden,
    /// `DELETE` has deleted the ad.
    Deleted,
    /// The ad was renewed on its marketplaces.
    Bumped,
    /// The ad has pole position.
    Boosted,
    /// An action failed permanently; `retry` runs it again.
    Failed {
        /// The action that failed, which `retry` runs again.
        action: Action,
        /// The reason, as the log has it.
        message: String,
    },
}

impl Outcome {
    /// The outcome of the request with these entries; `None` while it is unfinished.
    ///
    /// A request is finished when no action of it is `processing`: the end of one action and the beginning of the next are written
    /// together.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a LogEntry>) -> Option<Self> {
        let mut ends: Vec<(Action, Option<&LogEntry>)> = Vec::new();
        for entry in entries {
            let place = ends.iter().position(|(action, _)| *action == entry.action).unwrap_or_else(|| {
                ends.push((entry.action, None));
                ends.len() - 1
            });
            ends[place].1 = (entry.state != ActionState::Processing).then_some(entry);
        }
        let ends: Option<Vec<_>> = ends.into_iter().map(|(_, end)| end).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        let failed = |entry: &&&LogEntry| entry.state == ActionState::Error;
        // Images that failed do not hold an ad back, unless it says so: then publishing fails.
        if let Some(entry) = ends.iter().filter(failed).find(|entry| entry.action != Action::HandleMedia) {
            return Some(Self::Failed { action: entry.action, message: text(&entry.external_message) });
        }
        let has = |action| ends.iter().any(|entry| entry.action == action);
        let images = ends.iter().find(failed).map(|entry| &entry.external_message);
        let publish = ends.iter().find(|entry| entry.action == Action::Publish);
        Some(if has(Action::Delete) {
            Self::Deleted
        } else if let Some(publish) = publish {
            published(&publish.external_message, images)
        } else if has(Action::Bump) {
            Self::Bumped
        } else if has(Action::Boost) {
            Self::Boosted
        } else {
            match images.filter(|message| loses_an_image(message)) {
                Some(message) => Self::Failed { action: Action::HandleMedia, message: text(message) },
                None => Self::Hidden,
            }
        })
    }

    /// Why it failed, or which problem it had.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Failed { action, message } => Some(format!("{action}: {message}")),
            Self::Published { warning, .. } => warning.clone(),
            _ => None,
        }
    }

    /// Its name, as it serialises.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Published { .. } => "published",
            Self::Hidden => "hidden",
            Self::Deleted => "deleted",
            Self::Bumped => "bumped",
            Self::Boosted => "boosted",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Whether a failed image is missing now. If an earlier version of it was stored, that is kept, and nothing is missing.
fn loses_an_image(message: &Value) -> bool {
    let images = message.get("images").and_then(Value::as_array);
    images.is_none_or(|images| images.iter().any(|image| image.get("kept") != Some(&Value::Bool(true))))
}

/// An ad that is on the marketplaces, by what its entry says and what was wrong with its images.
fn published(message: &Value, images: Option<&Value>) -> Outcome {
    let (mut linked, mut warnings) = (Vec::new(), Vec::from_iter(images.map(text)));
    for plate_match in PlateMatch::in_message(message) {
        if plate_match.linked {
            linked.push(Linked { marketplace: plate_match.marketplace, listing: plate_match.listing });
        } else {
            warnings.push(plate_match.to_string());
        }
    }
    Outcome::Published {
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        linked,
        failed_images: images.into_iter().flat_map(FailedImage::in_message).collect(),
    }
}

/// A message of the log as one text: with its details, where it has some.
pub fn text(message: &Value) -> String {
    let Value::Object(members) = message else {
        return message.as_str().map_or_else(|| message.to_string(), str::to_owned);
    };
    let mut text = members.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    // The text names the listings and the marketplaces too.
    let is_in_text = |name: &str| ["message", "listings", "marketplaces"].contains(&name);
    for (name, value) in members.iter().filter(|(name, _)| !is_in_text(name)) {
        let details: Vec<_> =
            value.as_array().map_or_else(|| vec![detail(value)], |items| items.iter().map(detail).collect());
        text = format!("{text}{}{name}: {}", if text.is_empty() { "" } else { "; " }, details.join(", "));
    }
    text
}

/// A detail of a message in one line, such as `https://…/1.jpg (404 Not Found)`.
fn detail(value: &Value) -> String {
    let Value::Object(members) = value else {
        return value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    };
    let texts = ["url", "marketplace", "error", "message"].iter().filter_map(|name| members.get(*name)?.as_str());
    let kept = (members.get("kept") == Some(&Value::Bool(true))).then_some("the stored image is kept");
    let texts: Vec<_> = texts.chain(kept).collect();
    match texts.split_first() {
        Some((first, [])) => (*first).to_owned(),
        Some((first, rest)) => format!("{first} ({})", rest.join(", ")),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(steps: &str) -> Option<Outcome> {
        let entry = |step: &str| {
            let (action, state) = step.split_once(' ').unwrap();
            let (action, named) = (Action::from_name(action).unwrap(), ActionState::from_name(state).unwrap());
            let message = json!(format!("it is {state}"));
            LogEntry::new(uuid::Uuid::nil(), ad_core::model::Timestamp::default(), action, named, message)
        };
        let entries: Vec<_> = steps.split(", ").filter(|step| !step.is_empty()).map(entry).collect();
        Outcome::of(&entries)
    }

    #[test]
    fn a_request_is_under_way_until_nothing_of_it_is() {
        assert_eq!(of(""), None);
        assert_eq!(of("create processing"), None);
        assert_eq!(of("create processing, create done, handle_media processing"), None);
        assert_eq!(of("delete processing, unpublish processing, unpublish done"), None);
    }

    #[test]
    fn its_last_action_tells_what_became_of_it() {
        let create = "create processing, create done";
        let media = |state: &str| format!("{create}, handle_media processing, handle_media {state}");
        let published = |warning: Option<&str>| {
            let warning = warning.map(str::to_owned);
            Some(Outcome::Published { warning, linked: Vec::new(), failed_images: Vec::new() })
        };
        assert_eq!(of(create), Some(Outcome::Hidden));
        assert_eq!(of(&format!("{}, publish processing, publish done", media("done"))), published(None));
        assert_eq!(
            of(&format!("{}, publish processing, publish done", media("error"))),
            published(Some("it is error"))
        );
        assert_eq!(of("update processing, update done, unpublish processing, unpublish done"), Some(Outcome::Hidden));
        assert_eq!(of("delete processing, unpublish processing, unpublish done, delete done"), Some(Outcome::Deleted));
        assert_eq!(of("bump processing, bump done"), Some(Outcome::Bumped));
        assert_eq!(of("boost processing, boost done"), Some(Outcome::Boosted));
        let failed = of(&format!("{create}, publish processing, publish error")).unwrap();
        assert_eq!(failed, Outcome::Failed { action: Action::Publish, message: "it is error".to_owned() });
        assert_eq!(json!(failed)["outcome"], "failed");
    }

    #[test]
    fn details_of_a_message_are_told() {
        let message =
            json!({"message": "1 image failed", "images": [{"url": "https://a.se/1.jpg", "error": "404 Not Found"}]});
        assert_eq!(text(&message), "1 image failed; images: https://a.se/1.jpg (404 Not Found)");
        let failed = FailedImage { url: "https://a.se/1.jpg".to_owned(), error: "404 Not Found".to_owned() };
        assert_eq!(FailedImage::in_message(&message).collect::<Vec<_>>(), [failed]);
        assert_eq!(text(&json!("Publishing")), "Publishing");
        let kept = json!({"url": "https://a.se/1.jpg", "error": "500", "kept": true});
        assert_eq!(detail(&kept), "https://a.se/1.jpg (500, the stored image is kept)");
        let lost = json!({"url": "https://a.se/2.jpg", "error": "404"});
        assert!(!loses_an_image(&json!({"message": "", "images": [kept]})));
        assert!(loses_an_image(&json!({"message": "", "images": [kept, lost]})) && loses_an_image(&json!("stopped")));
    }
}
