//! The words that describe webhooks and their deliveries (extensions E5).

use super::names::names;

names! {
    /// What has become of the delivery of an event.
    pub enum DeliveryState {
        /// It will be attempted, or attempted again.
        Pending = "pending",
        /// The receiver has it.
        Delivered = "delivered",
        /// All attempts failed.
        Failed = "failed",
    }

    /// Why a webhook is disabled.
    pub enum DisabledReason {
        /// By a client.
        Requested = "requested",
        /// The receiver answered 410.
        Gone = "gone",
        /// No attempt succeeded for too long.
        Failing = "failing",
    }
}
