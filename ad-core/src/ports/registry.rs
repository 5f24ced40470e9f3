//! The port of a register of vehicles.

use async_trait::async_trait;

use crate::model::RegisteredVehicle;

/// What a vehicle is looked up by: its registration number, its VIN, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VehicleId<'a> {
    /// The registration number, in upper case without spaces.
    pub plate: Option<&'a str>,
    /// The [VIN](crate::model::Content::vin), in upper case.
    pub vin: Option<&'a str>,
}

/// A register of vehicles, such as that of a transport agency. `validate` compares ads with it and proposes values; nothing overwrites
/// what a client sends, and no write asks it.
#[async_trait]
pub trait VehicleRegistry: Send + Sync {
    /// What is registered about a vehicle; `None` if the register does not know it, or does not answer now. An implementation limits
    /// the time of a call and the number of concurrent ones, and reports to the operator why the register does not answer.
    async fn look_up(&self, vehicle: VehicleId<'_>) -> Option<RegisteredVehicle>;
}
