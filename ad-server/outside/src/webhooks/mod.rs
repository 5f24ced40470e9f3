//! Webhooks: events sent to the endpoints of integrators, signed as Standard Webhooks 1.0.0 says (extensions E5).
//!
//! | Module | Purpose |
//! |---|---|
//! | `fields` | the bodies that create and change endpoints |
//! | `secret` | secrets: how they sign, and how they are stored |
//! | `send` | one attempt: a request to a guarded address |
//! | `schedule` | when a failed delivery is attempted again |
//! | `message` | what is sent |
//! | `replay` | where a replay begins |
//!
//! An endpoint has a position in the sequence of events. The process that owns it reads the events behind the position and, in one
//! commit, adds their deliveries and moves the position: no event is left out, and none is queued twice. A delivery holds no copy of
//! its event; that is read when it is sent. The API manages endpoints, and `ad_server_work::webhook_worker` sends.

pub mod fields;
pub mod message;
pub mod replay;
pub mod schedule;
pub mod secret;
pub mod send;

use std::sync::Arc;

use ad_core::{
    ports::{Clock, DealerDirectory, Scope},
    service::Access,
};
use tokio::sync::Notify;

pub use self::{message::TEST_TYPE, secret::SigningSecret};
pub use self::{
    secret::{Vault, WebhookKeyError, WebhookKeySource},
    send::SenderError,
};
use crate::media::Guard;
use ad_server_store::Database;

/// What the API and workers need to manage endpoints and send to them.
#[derive(Clone)]
pub struct Webhooks {
    pub database: Database,
    /// Which dealers a group has.
    pub directory: Arc<dyn DealerDirectory>,
    /// Encrypts and decrypts the secrets.
    pub vault: Arc<Vault>,
    pub clock: Arc<dyn Clock>,
    /// Maximum number of endpoints of a scope.
    pub per_scope: u32,
    /// Whether http addresses and private networks are permitted: for development and tests only.
    pub allow_private: bool,
    /// Wakes the worker of this process, if it has one, when an endpoint was changed.
    pub changed: Arc<Notify>,
}

ad_server_base::debug_by_name!(Webhooks);

impl Webhooks {
    /// Which addresses may be sent to.
    pub fn guard(&self) -> Guard {
        Guard { allow_private: self.allow_private, redirects: 0 }
    }
}

/// The dealers whose events an endpoint gets.
#[derive(Debug, Clone)]
pub enum Dealers {
    One(String),
    Some(Arc<[String]>),
}

impl PartialEq for Dealers {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(one), Self::One(other)) => one == other,
            // Nearly always they are the same list.
            (Self::Some(some), Self::Some(other)) => Arc::ptr_eq(some, other) || some == other,
            _ => false,
        }
    }
}

impl Dealers {
    /// Those of a scope, or one of them.
    pub fn of(directory: &dyn DealerDirectory, access: &Access, dealer_code: Option<&str>) -> Self {
        match (access, dealer_code) {
            (Access::Dealer(code), None) => Self::One(code.clone()),
            (Access::Dealer(code), Some(only)) if code == only => Self::One(code.clone()),
            (Access::Dealer(_), Some(_)) | (Access::Operator, _) => Self::Some([].into()),
            (Access::Group(group), None) => Self::Some(directory.group(group)),
            (Access::Group(group), Some(only)) => {
                if directory.group(group).iter().any(|code| code == only) {
                    Self::One(only.to_owned())
                } else {
                    Self::Some([].into())
                }
            }
        }
    }

    pub fn scope(&self) -> Scope<'_> {
        match self {
            Self::One(code) => Scope::Dealer(code),
            Self::Some(codes) => Scope::Dealers(codes),
        }
    }

    pub fn contain(&self, code: &str) -> bool {
        self.scope().covers(code)
    }
}
