//! Lookups under `/v4/vehicles/` ('Attribute lookup entries').

use ad_core::catalogue::Entry;

use super::{
    Answer, Error,
    transport::{Transport, query_string, segment},
};

/// The attributes of vehicle types, and their allowed values.
#[derive(Debug, Clone, Copy)]
pub struct Lookups<'a> {
    transport: &'a Transport,
}

impl<'a> Lookups<'a> {
    pub(super) fn new(transport: &'a Transport) -> Self {
        Self { transport }
    }

    /// The fields of a vehicle type that have allowed values.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) for an unknown vehicle type.
    pub async fn attributes(&self, vehicle_type: &str) -> Result<Answer<Vec<Entry>>, Error> {
        self.transport.get(format!("v4/vehicles/{}/attributes", segment(vehicle_type))).await
    }

    /// The allowed values of an attribute.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) for an unknown vehicle type or attribute.
    pub async fn values(&self, vehicle_type: &str, attribute: &str) -> Result<Answer<Vec<Entry>>, Error> {
        self.transport.get(format!("v4/vehicles/{}/{}", segment(vehicle_type), segment(attribute))).await
    }

    /// The models of a car brand.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorKind::Invalid) for an unknown brand.
    pub async fn models(&self, brand: &str) -> Result<Answer<Vec<Entry>>, Error> {
        self.transport.get(format!("v4/vehicles/car/models{}", query_string([("brand", brand)]))).await
    }
}
