//! Links that sign in to the console once, and its sessions. Of the secrets in links and cookies only hashes come here.

use ad_core::{
    model::{Page, Timestamp},
    ports::{PageOf, StoreError},
};
use uuid::Uuid;

use super::{Columns, Database, Link, Statement, Work, from_columns, rows::json, sql::access as sql, work::Isolation};

/// A link that signs in, or a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleAccess {
    pub id: Uuid,
    /// Whose ads: claim and name, such as `dealer_code north-cars`.
    pub scope: String,
    pub permissions: Vec<String>,
    /// For whom the link is, or the label of the token.
    pub label: Option<String>,
    /// The token that signed in; `None` for a link and what it signed in.
    pub token: Option<String>,
    /// The token from which the link comes, if it comes from one. Nothing of a token is valid once that is revoked.
    pub root: Option<String>,
    /// Who made the link, for people.
    pub made_by: Option<String>,
    /// Whether it is a session; otherwise a link that can be used.
    pub is_session: bool,
    /// Whether the session was begun for long, on a device that others do not use.
    pub trusted: bool,
    pub created: Timestamp,
    pub signed_in: Option<Timestamp>,
    /// When the session was last used, to some minutes.
    pub last_used: Option<Timestamp>,
    pub expires: Timestamp,
}

from_columns! {
    ConsoleAccess {
        id, scope, permissions: json, label, token, root, made_by, is_session, trusted, created, signed_in, last_used, expires
    }
}

/// A link to be made.
#[derive(Debug, Clone)]
pub struct NewSignInLink<'a> {
    pub id: Uuid,
    pub scope: &'a str,
    pub permissions: &'a [String],
    pub label: Option<&'a str>,
    /// As in [`ConsoleAccess`].
    pub root: Option<&'a str>,
    pub made_by: Option<&'a str>,
    /// Hash of the secret in the link.
    pub hash: &'a str,
    pub now: Timestamp,
    pub expires: Timestamp,
}

/// A session to be begun with a token.
#[derive(Debug, Clone)]
pub struct NewConsoleSession<'a> {
    pub id: Uuid,
    pub scope: &'a str,
    pub permissions: &'a [String],
    pub label: Option<&'a str>,
    /// Id of the token.
    pub token: &'a str,
    /// Hash of the secret in the cookie.
    pub hash: &'a str,
    pub trusted: bool,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// Whose links and sessions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessScope<'a> {
    /// Those of these scopes, each as claim and name.
    Of(&'a [String]),
    /// All, for operators.
    All,
}

impl AccessScope<'_> {
    fn values(self) -> (Vec<String>, bool) {
        match self {
            Self::Of(scopes) => (scopes.to_vec(), false),
            Self::All => (Vec::new(), true),
        }
    }
}

/// Adds a link while nobody else adds one of the scope.
struct AddSignInLink {
    lock: Statement,
    add: Statement,
}

impl Work for AddSignInLink {
    type Answer = bool;

    /// The lock comes first, and then everything that was committed before is counted.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<bool> {
        link.run(&self.lock).await?;
        Ok(link.run(&self.add).await?.changed > 0)
    }
}

impl Database {
    /// Adds a link; returns whether its scope had fewer than `at_most` that can be used.
    pub async fn add_sign_in_link(&self, link: &NewSignInLink<'_>, at_most: u32) -> Result<bool, StoreError> {
        let add = sql::AddSignInLink {
            id: link.id,
            scope: link.scope,
            permissions: json(&link.permissions)?,
            label: link.label,
            root: link.root,
            made_by: link.made_by,
            link_hash: link.hash,
            now: link.now,
            expires: link.expires,
            at_most,
        };
        let lock = sql::LockAccessOf { scope: link.scope };
        self.write(AddSignInLink { lock: lock.into(), add: add.into() }).await
    }

    /// The link with this hash, if it can be used.
    pub async fn sign_in_link(&self, hash: &str, now: Timestamp) -> Result<Option<ConsoleAccess>, StoreError> {
        Columns::first(&self.look_up(sql::FindSignInLink { link_hash: hash, now }).await?)
    }

    /// Begins a session with a link: `None` if the link cannot be used, or not any more. However many use it at the same time, it is one.
    pub async fn use_sign_in_link(
        &self,
        hash: &str,
        session_hash: &str,
        trusted: bool,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ConsoleAccess>, StoreError> {
        let used = self.run(sql::UseSignInLink { link_hash: hash, session_hash, trusted, now, until }).await?;
        Columns::first(&used.rows)
    }

    /// Begins a session with a token.
    pub async fn add_console_session(&self, session: &NewConsoleSession<'_>) -> Result<(), StoreError> {
        let add = sql::AddConsoleSession {
            id: session.id,
            scope: session.scope,
            permissions: json(&session.permissions)?,
            label: session.label,
            token: session.token,
            session_hash: session.hash,
            trusted: session.trusted,
            now: session.now,
            until: session.until,
        };
        self.run(add).await.map(drop)
    }

    /// Ends the sessions of a scope that were used least recently, if it has more than this number.
    pub async fn end_surplus_sessions(&self, scope: &str, now: Timestamp, kept: u32) -> Result<(), StoreError> {
        self.run(sql::EndSurplusSessions { scope, now, kept }).await.map(drop)
    }

    /// The session with this hash, if it has not ended.
    pub async fn console_session(&self, hash: &str, now: Timestamp) -> Result<Option<ConsoleAccess>, StoreError> {
        Columns::first(&self.look_up(sql::FindConsoleSession { session_hash: hash, now }).await?)
    }

    /// Notes that a session is in use.
    pub async fn touch_console_session(&self, id: Uuid, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::TouchConsoleSession { id, now }).await.map(drop)
    }

    /// A page of the links that can be used, newest first, and then of the sessions, last used first.
    pub async fn console_access(
        &self,
        scope: AccessScope<'_>,
        now: Timestamp,
        page: Page,
    ) -> Result<PageOf<ConsoleAccess>, StoreError> {
        let (scopes, all) = scope.values();
        let Page { limit, offset } = page;
        self.page(sql::ConsoleAccessOf { scopes, all, now, limit, offset }.into()).await
    }

    /// Withdraws a link or ends a session, and returns it; `None` if there is none in these scopes.
    pub async fn end_console_access(
        &self,
        scope: AccessScope<'_>,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Option<ConsoleAccess>, StoreError> {
        let (scopes, all) = scope.values();
        Columns::first(&self.run(sql::EndConsoleAccess { id, scopes, all, now }).await?.rows)
    }

    /// Removes links and sessions that expired before a time, at most so many; returns their number.
    pub async fn remove_console_access(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveConsoleAccess { before, limit }).await?.changed)
    }
}
