//! Arguments that name vehicle types, and the version of the API.

use std::ffi::OsStr;

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
    synonyms::{languages::Language, values},
};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

/// Reads a vehicle type as its category, also under the names of other systems: `van`, `bil`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VehicleType;

impl TypedValueParser for VehicleType {
    type Value = &'static Category;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let called = value.to_str().and_then(|text| {
            let names = values::builtin_map("vehicle", "all", Language::Any);
            let found = names.find(text, &mut String::new())?.first()?;
            categories::by_vehicle_type(found)
        });
        let exact = value.to_str().and_then(categories::by_vehicle_type);
        if let Some(category) = exact.or(called) {
            return Ok(category);
        }
        let names = PossibleValuesParser::new(categories::typed().map(|(name, _)| name));
        let name = names.parse_ref(command, arg, value)?;
        categories::by_vehicle_type(&name).ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(categories::typed().map(|(name, _)| PossibleValue::new(name))))
    }
}

/// What commands take that check or create ads.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApiOptions {
    /// Vehicle type [default: the `category_id` of each payload]
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "v3", hide_possible_values = true,
        value_parser = VehicleType)]
    of_type: Option<&'static Category>,
    /// Of the older version V3 of the service
    #[arg(long)]
    v3: bool,
}

impl ApiOptions {
    pub(crate) fn version(&self) -> ApiVersion {
        if self.v3 { ApiVersion::V3 } else { ApiVersion::V4 }
    }

    pub(crate) fn is_default(&self) -> bool {
        self.of_type.is_none() && !self.v3
    }

    /// The category of all payloads, where one was named.
    pub(crate) fn category(&self) -> Option<&'static Category> {
        self.of_type
    }
}
