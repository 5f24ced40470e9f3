//! Refusals because of the API version or category of an ad: texts with the paths to use instead
//! ('Endpoints' rules 6 to 8, decision 28).

use ad_core::{
    categories::{Category, TRAILER},
    rulebook::versions::{AdRef, MigrationOption, Refusal, VersionError},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::errors::Advised;

/// Characters of a path segment that are percent-encoded: all but the unreserved ones (RFC 3986).
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The body of a refusal that has an identifier ('Errors', body shape 5), or the text of one that has none (body shape 2).
pub(super) fn refusal(error: &VersionError) -> Result<Refusal, Advised> {
    let mut refusal = Refusal { error: error.code(), message: None, migration_options: Vec::new(), suggestion: None };
    match error {
        VersionError::TrailerCreateDisabled => {}
        VersionError::IncompatibleApiVersion(ad) => {
            let text = "Ad was created with V3 and its category is not compatible with V4: migrate it first.";
            refusal.message = Some(text.to_owned());
            refusal.migration_options = migration_options(ad);
        }
        VersionError::AlreadyV4(ad) => {
            refusal.message = Some("Ad is already V4, cannot migrate.".to_owned());
            refusal.suggestion = Some(format!("Update the ad with PUT or PATCH {}.", own_path(ad)));
        }
        VersionError::NotThroughV3(ad) => {
            let text = "Ad is V4, cannot update through V3.";
            return Err(Advised::new(text).but(format!("Use PUT or PATCH {}.", own_path(ad))));
        }
        VersionError::ConvertsByUpdate(ad) => {
            let text = "Ad is converted to V4 by an update, and needs no migration.";
            return Err(Advised::new(text).but(format!("Use PUT or PATCH {}.", own_path(ad))));
        }
        VersionError::NoTarget(ad) => {
            let text = format!(
                "V4 has no category that {} can migrate to; keep the ad in V3, or delete it and create one in a category of V4.",
                ad.category
            );
            return Err(Advised::new(text));
        }
    }
    Ok(refusal)
}

/// The options for moving an ad that V4 cannot update from V3 to V4.
fn migration_options(ad: &AdRef) -> Vec<MigrationOption> {
    let migrate = |(vehicle_type, _)| MigrationOption {
        method: "migrate".into(),
        steps: vec![
            format!(
                "POST {}/migrate with a complete V4 payload, all required category_fields included, and without category_id.",
                path(ad, vehicle_type)
            ),
            format!("Then update the ad with PUT or PATCH {}.", path(ad, vehicle_type)),
        ],
    };
    let delete_and_create = || {
        MigrationOption {
        method: "delete_and_create".into(),
        steps: vec![
            format!("DELETE {}.", path(ad, "ad")),
            "POST a new ad to /v4/{vehicle_type} with another source_id. It gets a new id, and the log of the old one stays with \
             the old one."
                .to_owned(),
        ],
    }
    };
    // Trailers cannot be created again.
    let creatable = (ad.category.id != TRAILER).then(delete_and_create);
    ad.category.targets().map(migrate).chain(creatable).collect()
}

/// The text about an ad that exists, but not under the vehicle type of a path.
pub(super) fn found_elsewhere(ad: &AdRef, asked: &Category) -> String {
    format!("Not found as {asked}: this source_id is an ad of {}.", ad.category)
}

/// The paths of an ad under the vehicle types of its category, in a sentence.
pub(super) fn own_paths(ad: &AdRef) -> String {
    let types: Vec<_> = match ad.category.vehicle_type {
        Some(vehicle_type) => vec![vehicle_type],
        None => ad.category.targets().map(|(vehicle_type, _)| vehicle_type).collect(),
    };
    if types.is_empty() {
        return format!(
            "V4 has no vehicle type for it: read and delete it at {}, update it at /v3/ad.",
            path(ad, "ad")
        );
    }
    let paths: Vec<_> = types.iter().map(|vehicle_type| path(ad, vehicle_type)).collect();
    format!("See {}.", paths.join(" or "))
}

/// The path of an ad under its own vehicle type.
fn own_path(ad: &AdRef) -> String {
    path(ad, ad.category.vehicle_type.unwrap_or("{vehicle_type}"))
}

fn path(ad: &AdRef, vehicle_type: &str) -> String {
    format!("/v4/{vehicle_type}/{}", utf8_percent_encode(&ad.source_id, SEGMENT))
}

#[cfg(test)]
mod tests {
    use ad_core::categories::by_id;

    use super::*;

    fn ad(category_id: u16) -> AdRef {
        AdRef { source_id: "stock/17".to_owned(), category: by_id(category_id).unwrap() }
    }

    #[test]
    fn each_category_is_told_how_its_ads_become_v4() {
        for (id, targets) in [(1121, 1), (1102, 1), (1101, 1), (1063, 1), (1222, 2), (1221, 2), (1223, 1), (1224, 0)] {
            let refusal = refusal(&VersionError::IncompatibleApiVersion(ad(id))).unwrap();
            assert!(refusal.message.is_some() && refusal.suggestion.is_none());
            let methods: Vec<_> = refusal.migration_options.iter().map(|option| &*option.method).collect();
            assert_eq!(methods, [vec!["migrate"; targets], vec!["delete_and_create"]].concat(), "{id}");
            assert!(refusal.migration_options.iter().all(|option| option.steps.len() == 2));
        }
        let trailer = refusal(&VersionError::IncompatibleApiVersion(ad(TRAILER))).unwrap();
        assert_eq!(trailer.migration_options.len(), 1, "no other trailer can be created");
    }

    #[test]
    fn a_refusal_names_the_path_to_use_instead() {
        let text = |error| refusal(&error).unwrap_err().to_string();
        assert_eq!(
            text(VersionError::NotThroughV3(ad(1020))),
            "Ad is V4, cannot update through V3. Use PUT or PATCH /v4/car/stock%2F17."
        );
        assert_eq!(
            text(VersionError::ConvertsByUpdate(ad(1020))),
            "Ad is converted to V4 by an update, and needs no migration. Use PUT or PATCH /v4/car/stock%2F17."
        );
        assert!(
            text(VersionError::NoTarget(ad(1224)))
                .starts_with("V4 has no category that category 1224 (Truck & material handling) can migrate to")
        );
        let boat = by_id(1060).unwrap();
        assert_eq!(
            format!("{} {}", found_elsewhere(&ad(1020), boat), own_paths(&ad(1020))),
            "Not found as vehicle type \"boat\": this source_id is an ad of vehicle type \"car\". See /v4/car/stock%2F17."
        );
        assert!(own_paths(&ad(1224)).contains("V4 has no vehicle type for it"));
    }
}
