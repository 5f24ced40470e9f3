//! Why no update can make an ad equal to its payload, as texts.

use ad_client::Ad;
use ad_core::{
    categories::{self, Category},
    stock::Obstacle,
};

/// Why no update is possible, as a sentence, and what to do instead, one hint per line; `None` if fields are wrong.
pub fn blocked(obstacle: &Obstacle, ad: &Ad, wanted: &Category) -> Option<(String, Vec<String>)> {
    let new_id = format!("\"{}-2\"", ad.source_id);
    Some(match obstacle {
        Obstacle::Fields(_) | Obstacle::TrailerCreateDisabled => return None,
        Obstacle::Deleted { is_registered } => {
            let what = if *is_registered { "a registered vehicle" } else { "a V3 ad that cannot be converted" };
            (
                format!(
                    "the ad is deleted at the service; {what} cannot be revived, and its source_id cannot be reused"
                ),
                vec![format!("use a new source_id in the file, such as {new_id}")],
            )
        }
        Obstacle::MustMigrate { into_category } => {
            let migrate = format!(
                "migrate it with its payload in the file: ad-cli migrate-v4 --payloads FILE {}",
                quoted(&ad.source_id)
            );
            let anew = format!("use a new source_id in the file, such as {new_id}; the V3 ad is then deleted");
            let hints = if *into_category { vec![migrate, format!("or {anew}")] } else { vec![anew] };
            ("it is a V3 ad, which an update cannot convert to V4".to_owned(), hints)
        }
        Obstacle::OtherCategory { id } => {
            let is = categories::by_id(*id).map_or_else(|| format!("category {id}"), ToString::to_string);
            (
                format!(
                    "the category is {is} at the service and {wanted} in the file; the category of an ad cannot change"
                ),
                vec![format!("use a new source_id in the file, such as {new_id}; the old ad is then deleted")],
            )
        }
    })
}

/// Why no update is possible, in one text.
pub fn reason(obstacle: &Obstacle, ad: &Ad, wanted: &Category) -> String {
    if let Some((reason, _)) = blocked(obstacle, ad, wanted) {
        return reason;
    }
    let errors = obstacle.errors();
    let texts =
        errors.violations().into_iter().map(|(path, violation)| format!("{path}: {}", violation.texts().join(" ")));
    texts.collect::<Vec<_>>().join("; ")
}

/// A word of a command line.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:/@".contains(it);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use ad_core::{fields::FieldErrors, violation::Violation};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_update_can_do_is_said_with_a_way_out() {
        let ad: Ad = serde_json::from_value(json!({
            "id": uuid::Uuid::nil(), "source_id": "car 1", "dealer_code": "north-cars", "category_id": 1020, "state": "created",
            "visible": true, "price": [], "image_refs": [], "category_fields": {}, "dont_publish_on_failed_images": false,
            "api_version": "v4", "created": "2026-01-15T10:00:00.000Z", "updated": "2026-01-15T10:00:00.000Z",
        }))
        .unwrap();
        let boat = categories::by_vehicle_type("boat").unwrap();
        let told = |obstacle| {
            let (reason, hints) = blocked(&obstacle, &ad, boat).unwrap();
            format!("{reason}\n{}", hints.join("\n"))
        };
        assert_eq!(
            told(Obstacle::Deleted { is_registered: true }),
            "the ad is deleted at the service; a registered vehicle cannot be revived, and its source_id cannot be reused\n\
             use a new source_id in the file, such as \"car 1-2\""
        );
        assert_eq!(
            told(Obstacle::MustMigrate { into_category: true }),
            "it is a V3 ad, which an update cannot convert to V4\n\
             migrate it with its payload in the file: ad-cli migrate-v4 --payloads FILE 'car 1'\n\
             or use a new source_id in the file, such as \"car 1-2\"; the V3 ad is then deleted"
        );
        assert!(told(Obstacle::MustMigrate { into_category: false }).contains("V4\nuse a new source_id"));
        assert_eq!(
            told(Obstacle::OtherCategory { id: 1020 }),
            "the category is vehicle type \"car\" at the service and vehicle type \"boat\" in the file; \
             the category of an ad cannot change\n\
             use a new source_id in the file, such as \"car 1-2\"; the old ad is then deleted"
        );
        let mut errors = FieldErrors::default();
        errors.add("category_fields.brand", Violation::Required);
        errors.push("title", Violation::Blank);
        let fields = Obstacle::Fields(errors);
        assert_eq!(blocked(&fields, &ad, boat), None);
        assert_eq!(
            reason(&fields, &ad, boat),
            "category_fields.brand: This field is required.; title: This field may not be blank."
        );
    }
}
