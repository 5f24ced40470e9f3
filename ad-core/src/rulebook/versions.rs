//! From V3 to V4 ('States and transitions', 'Endpoints' rules 6 to 8, decision 28): what becomes of an ad of V3 that is
//! written through V4, and what its client is told when it must migrate first.
//!
//! Which category becomes which stands with the categories ([`FromV3`]); that a payload is
//! complete is the [`rulebook`](crate::rulebook)'s business.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::{
    categories::{Category, FromV3},
    model::{Ad, ApiVersion},
    violation::Code,
};

/// What a segment of a path need not encode (RFC 3986, unreserved characters).
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A refusal that carries an identifier ('Errors', body shape 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The identifier.
    pub error: Code,
    /// What is wrong, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The ways to V4, with `incompatible_api_version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub migration_options: Vec<MigrationOption>,
    /// What to do instead, with `ad_already_v4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// One way from V3 to V4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigrationOption {
    /// `migrate`, or `delete_and_create`.
    pub method: Cow<'static, str>,
    /// What to do, one after the other.
    pub steps: Vec<String>,
}

impl Refusal {
    fn new(error: Code) -> Self {
        Self { error, message: None, migration_options: Vec::new(), suggestion: None }
    }

    /// Trailers cannot be created ('Endpoints' rule 6).
    pub fn trailer_create_disabled() -> Self {
        Self::new(Code::TrailerCreateDisabled)
    }

    /// An ad of V3 must migrate before V4 can update it.
    pub fn incompatible_api_version(ad: &Ad) -> Self {
        let targets = ad.category().into_iter().flat_map(Category::targets);
        let mut options: Vec<_> = targets
            .map(|(vehicle_type, _)| MigrationOption {
                method: "migrate".into(),
                steps: vec![
                    format!(
                        "POST {} with a complete V4 payload, all required category_fields included, and without category_id.",
                        path(ad, vehicle_type, "/migrate")
                    ),
                    format!("Then update the ad with PUT or PATCH {}.", path(ad, vehicle_type, "")),
                ],
            })
            .collect();
        options.push(MigrationOption {
            method: "delete_and_create".into(),
            steps: vec![
                format!("DELETE {}.", path(ad, "ad", "")),
                "POST a new ad to /v4/{vehicle_type} with another source_id. It gets a new id, and the log of the old one \
                 stays with the old one."
                    .to_owned(),
            ],
        });
        // Trailers cannot be created anew.
        options.retain(|option| option.method == "migrate" || ad.category_id != crate::categories::TRAILER);
        Self {
            message: Some(
                "Ad was created with V3 and its category is not compatible with V4: migrate it first.".to_owned(),
            ),
            migration_options: options,
            ..Self::new(Code::IncompatibleApiVersion)
        }
    }

    /// An ad of V4 needs no migration.
    pub fn ad_already_v4(ad: &Ad) -> Self {
        let vehicle_type = ad.category().and_then(|category| category.vehicle_type).unwrap_or("{vehicle_type}");
        Self {
            message: Some("Ad is already V4, cannot migrate.".to_owned()),
            suggestion: Some(format!("Update the ad with PUT or PATCH {}.", path(ad, vehicle_type, ""))),
            ..Self::new(Code::AdAlreadyV4)
        }
    }
}

/// What a write through V4 does with an ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// It is V4 already.
    None,
    /// PUT and PATCH convert it.
    Automatic,
    /// It must migrate.
    Migration,
}

/// What a write through V4 does with this ad.
pub fn conversion(ad: &Ad) -> Conversion {
    conversion_of(ad.api_version, ad.category())
}

/// What a write through V4 does with an ad of this version and category.
pub fn conversion_of(version: ApiVersion, category: Option<&Category>) -> Conversion {
    match (version, category) {
        (ApiVersion::V4, _) => Conversion::None,
        (ApiVersion::V3, Some(category)) if category.vehicle_type.is_some() && category.from_v3 == FromV3::Converts => {
            Conversion::Automatic
        }
        (ApiVersion::V3, _) => Conversion::Migration,
    }
}

/// Why V3 does not update an ad of V4.
pub(crate) fn not_through_v3(ad: &Ad) -> String {
    let vehicle_type = ad.category().and_then(|category| category.vehicle_type).unwrap_or("{vehicle_type}");
    format!("Ad is V4, cannot update through V3; use PUT or PATCH {}", path(ad, vehicle_type, ""))
}

/// Why an ad that PUT and PATCH convert does not migrate.
pub(crate) fn converts_by_itself(ad: &Ad, category: &Category) -> String {
    let path = path(ad, category.vehicle_type.unwrap_or_default(), "");
    format!("Ad is converted to V4 by PUT or PATCH {path}, and needs no migration")
}

/// Why an ad of a category without a target does not migrate.
pub(crate) fn no_target(category: &Category) -> String {
    format!(
        "V4 has no category that {category} can migrate to; keep the ad on /v3/ad, or delete it and create one in a \
         category of V4"
    )
}

/// Where an ad is found that is not found under the vehicle type of a path.
pub fn found_elsewhere(ad: &Ad, asked: &Category) -> String {
    let Some(category) = ad.category() else { return "Not found.".to_owned() };
    let types: Vec<_> = match category.vehicle_type {
        Some(vehicle_type) => vec![vehicle_type],
        None => category.targets().map(|(vehicle_type, _)| vehicle_type).collect(),
    };
    let place = match types.as_slice() {
        [] => {
            format!("V4 has no vehicle type for it. Read and delete it at {}, update it at /v3/ad", path(ad, "ad", ""))
        }
        types => {
            let paths: Vec<_> = types.iter().map(|vehicle_type| path(ad, vehicle_type, "")).collect();
            format!("see {}", paths.join(" or "))
        }
    };
    format!("Not found as {asked}: this source_id is an ad of {category}; {place}.")
}

fn path(ad: &Ad, vehicle_type: &str, below: &str) -> String {
    format!("/v4/{vehicle_type}/{}{below}", utf8_percent_encode(&ad.source_id, SEGMENT))
}
