//! From V3 to V4 ('States and transitions', 'Endpoints' rules 6 to 8, decision 28): what a write through V4 does with an ad of
//! V3, and why a version refuses a write.
//!
//! Which category becomes which is part of the categories ([`FromV3`]). Whether a payload is complete is decided by the
//! [`Rulebook`](super::Rulebook).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    categories::{Category, FromV3},
    model::{Ad, ApiVersion},
    violation::Code,
};

/// The ad that an error is about.
#[derive(Debug, Clone)]
pub struct AdRef {
    /// The client's reference of the ad.
    pub source_id: String,
    /// The category that the ad has now.
    pub category: &'static Category,
}

/// Why the API version of an ad, or its category, forbids a write.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// Trailers cannot be created ('Endpoints' rule 6).
    #[error("trailers cannot be created")]
    TrailerCreateDisabled,
    /// An ad of V3 must migrate before V4 can update it.
    #[error("the ad was created with V3 and must migrate before V4 can update it")]
    IncompatibleApiVersion(AdRef),
    /// An ad of V4 cannot migrate.
    #[error("the ad is V4 already")]
    AlreadyV4(AdRef),
    /// V3 cannot update an ad of V4.
    #[error("V3 cannot update an ad of V4")]
    NotThroughV3(AdRef),
    /// An update through V4 converts the ad, so that it needs no migration.
    #[error("an update through V4 converts the ad, which needs no migration")]
    ConvertsByUpdate(AdRef),
    /// V4 has no category that the ad can migrate to.
    #[error("V4 has no category that the ad can migrate to")]
    NoTarget(AdRef),
}

impl VersionError {
    /// Identifier for programs, listed in `docs/errors.md`.
    pub fn code(&self) -> Code {
        match self {
            Self::TrailerCreateDisabled => Code::TrailerCreateDisabled,
            Self::IncompatibleApiVersion(_) => Code::IncompatibleApiVersion,
            Self::AlreadyV4(_) | Self::NotThroughV3(_) => Code::AdAlreadyV4,
            Self::ConvertsByUpdate(_) | Self::NoTarget(_) => Code::NotAllowed,
        }
    }
}

/// A refusal with an identifier, as the API answers it ('Errors', body shape 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Identifier for programs, listed in `docs/errors.md`.
    pub error: Code,
    /// The refusal in a sentence, with the ad's category.
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
    /// `migrate`, or `delete_and_create` (delete the ad and create another).
    pub method: Cow<'static, str>,
    /// What to do, one after the other.
    pub steps: Vec<String>,
}

/// What a write through V4 does with an ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Nothing: the ad is V4 already.
    None,
    /// PUT and PATCH convert it.
    Automatic,
    /// It is refused until the client has sent `migrate`.
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
