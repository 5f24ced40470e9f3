//! What a caller may do: a set of permissions, as tokens and the command line name them.

use std::{fmt, str::FromStr};

/// A permission of a token ('Authentication').
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Read ads, logs and lists, and validate payloads.
    Read,
    /// Create, update, delete, retry and migrate ads.
    Write,
    /// Bump and pole position, which cost money.
    Promote,
    /// Manage webhooks and their deliveries.
    Webhooks,
    /// Send links that sign in to the console, and end its sessions.
    Access,
    /// See what concerns all dealers: what operators' tokens permit, and no other token.
    Operate,
}

/// Those that tokens of dealers and groups can have.
const EVERY: [(Permission, &str); 5] = [
    (Permission::Read, "read"),
    (Permission::Write, "write"),
    (Permission::Promote, "promote"),
    (Permission::Webhooks, "webhooks"),
    (Permission::Access, "access"),
];

impl Permission {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = EVERY.iter().find(|(permission, _)| permission == self).map_or("operator", |(_, name)| name);
        formatter.pad(name)
    }
}

impl serde::Serialize for Permission {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected read, write, promote, webhooks or access")]
pub struct UnknownPermission;

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        EVERY.iter().find(|(_, name)| *name == text).map(|(permission, _)| *permission).ok_or(UnknownPermission)
    }
}

/// The permissions of a token, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions(u8);

impl Permissions {
    pub const OPERATOR: Self = Self(Permission::Operate.bit());

    /// Everything: what a token of a dealer or group without `permissions` may do.
    pub const ALL: Self = Self(
        Permission::Read.bit()
            | Permission::Write.bit()
            | Permission::Promote.bit()
            | Permission::Webhooks.bit()
            | Permission::Access.bit(),
    );

    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Whether it has all of these.
    pub const fn covers(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// The permissions, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        EVERY.into_iter().map(|(permission, _)| permission).filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_made_of() {
        let set: Permissions = [Permission::Promote, Permission::Read].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Permission::Read, Permission::Promote]);
        assert!(!set.contains(Permission::Write));
        assert_eq!(Permissions::ALL.iter().count(), EVERY.len());
        assert_eq!(Permissions::default().iter().count(), 0);
    }

    #[test]
    fn names_are_read_and_written_alike() {
        for (permission, name) in EVERY {
            assert_eq!(permission.to_string(), name);
            assert_eq!(name.parse(), Ok(permission));
        }
        for other in ["Read", "operator", "operate"] {
            assert_eq!(other.parse::<Permission>(), Err(UnknownPermission));
        }
        assert!(!Permissions::ALL.contains(Permission::Operate));
    }
}
