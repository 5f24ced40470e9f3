//! Arguments that name vehicle types, and the version of the API.

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

/// Reads a vehicle type as its category.
pub(crate) fn vehicle_type() -> impl TypedValueParser<Value = &'static Category> {
    let names = PossibleValuesParser::new(categories::typed().map(|(name, _)| name));
    names.try_map(|name| categories::by_vehicle_type(&name).ok_or("unknown vehicle type"))
}

/// What commands take that check or create ads.
#[derive(Debug, Args)]
pub(crate) struct Through {
    /// Vehicle type [default: the `category_id` of each payload]
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "v3", hide_possible_values = true,
        value_parser = vehicle_type())]
    of_type: Option<&'static Category>,
    /// Use API V3 (/v3/ad)
    #[arg(long)]
    v3: bool,
}

impl Through {
    /// The version of the API.
    pub(crate) fn version(&self) -> ApiVersion {
        if self.v3 { ApiVersion::V3 } else { ApiVersion::V4 }
    }

    /// The category of all payloads, where one was named.
    pub(crate) fn category(&self) -> Option<&'static Category> {
        self.of_type
    }
}
