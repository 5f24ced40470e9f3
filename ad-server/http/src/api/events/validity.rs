//! How long a stream or long poll may go on: until its token is revoked or expires.

use std::time::Duration;

use tokio::{sync::watch, time::sleep};

use crate::api::Authenticator;
use ad_server_access::auth::{Caller, TokenError};

/// How often a token is checked that may expire.
const CHECK: Duration = Duration::from_millis(500);

/// Changes of revoked tokens and of dealers.
pub(super) struct Changes(Option<watch::Receiver<()>>);

impl Changes {
    /// Those from now on, and one at once for what has changed before.
    pub(super) fn of(authenticator: &dyn Authenticator) -> Self {
        let mut changes = authenticator.changes();
        if let Some(changes) = &mut changes {
            changes.mark_changed();
        }
        Self(changes)
    }

    /// Waits for the next change. If nobody notifies of changes, there may be one each time.
    pub(super) async fn next(&mut self) {
        if let Some(changes) = &mut self.0
            && changes.changed().await.is_ok()
        {
            return;
        }
        sleep(CHECK).await;
    }
}

/// Returns when the token of a caller is invalid, and says why.
pub(super) async fn ended(authenticator: &dyn Authenticator, caller: &Caller) -> TokenError {
    let mut changes = Changes::of(authenticator);
    loop {
        if let Err(error) = authenticator.check(caller) {
            return error;
        }
        tokio::select! {
            () = changes.next() => {}
            () = sleep(CHECK) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use ad_core::service::Access;
    use tokio::time::Instant;

    use super::*;
    use ad_server_access::auth::Permissions;

    /// Knows one token, which can be revoked.
    #[derive(Default)]
    struct OneToken {
        is_revoked: AtomicBool,
        changes: Option<watch::Sender<()>>,
    }

    impl Authenticator for OneToken {
        fn authenticate(&self, token: &str) -> Result<Caller, TokenError> {
            let caller = Caller::new(Access::Dealer("d1".to_owned()), Permissions::ALL, token);
            self.check(&caller).map(|()| caller)
        }

        fn check(&self, _: &Caller) -> Result<(), TokenError> {
            if self.is_revoked.load(Ordering::Relaxed) { Err(TokenError::Revoked) } else { Ok(()) }
        }

        fn changes(&self) -> Option<watch::Receiver<()>> {
            self.changes.as_ref().map(watch::Sender::subscribe)
        }
    }

    /// How long after its revocation the end of a token is seen.
    async fn seen_after(tokens: OneToken) -> Duration {
        let caller = tokens.authenticate("t1").unwrap();
        let revoked = async {
            sleep(Duration::from_millis(3100)).await;
            tokens.is_revoked.store(true, Ordering::Relaxed);
            if let Some(changes) = &tokens.changes {
                changes.send_replace(());
            }
            Instant::now()
        };
        let ended = async { (ended(&tokens, &caller).await, Instant::now()) };
        let (revoked, (error, ended)) = tokio::join!(revoked, ended);
        assert_eq!(error, TokenError::Revoked);
        ended - revoked
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_token_is_seen_at_once_with_notifications_and_within_half_a_second_without() {
        let notifies = OneToken { changes: Some(watch::Sender::default()), ..OneToken::default() };
        assert_eq!(seen_after(notifies).await, Duration::ZERO);
        assert_eq!(seen_after(OneToken::default()).await.as_millis(), 400);
    }

    #[tokio::test(start_paused = true)]
    async fn changes_of_before_come_at_once_and_later_ones_when_they_are() {
        let sender = watch::Sender::default();
        let tokens = OneToken { changes: Some(sender.clone()), ..OneToken::default() };
        let (begun, mut changes) = (Instant::now(), Changes::of(&tokens));
        changes.next().await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let change = async {
            sleep(Duration::from_millis(70)).await;
            sender.send_replace(());
        };
        tokio::join!(changes.next(), change);
        assert_eq!(begun.elapsed().as_millis(), 70);
    }
}
