//! The words that describe webhooks and their deliveries (extensions E5).

use super::names::names;

names! {
    /// What has become of the delivery of an event.
    pub enum DeliveryState {
        /// It will be attempted, or attempted again.
        Pending = "pending",
        /// The receiver answered an attempt with 2xx.
        Delivered = "delivered",
        /// All attempts of the schedule failed.
        Failed = "failed",
    }

    /// Why a webhook is disabled.
    pub enum DisabledReason {
        /// A client has disabled it (`enabled`: false).
        Requested = "requested",
        /// The receiver answered an attempt with 410 Gone.
        Gone = "gone",
        /// No attempt succeeded for too long.
        Failing = "failing",
    }

    /// Why nothing is sent to a webhook that is enabled.
    pub enum WebhookProblem {
        /// No process that runs has the key that encrypted its secret.
        SecretUnreadable = "secret_unreadable",
    }
}
