//! The words that describe webhooks and their deliveries (extensions E5).

use serde::{Deserialize, Serialize};

use super::names::names;

/// What has become of the delivery of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It will be attempted, or attempted again.
    Pending,
    /// The receiver has it.
    Delivered,
    /// All attempts failed.
    Failed,
}
names!(DeliveryState { "pending" => Pending, "delivered" => Delivered, "failed" => Failed });

/// Why a webhook is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisabledReason {
    /// By a client.
    Requested,
    /// The receiver answered 410.
    Gone,
    /// No attempt succeeded for too long.
    Failing,
}
names!(DisabledReason { "requested" => Requested, "gone" => Gone, "failing" => Failing });
