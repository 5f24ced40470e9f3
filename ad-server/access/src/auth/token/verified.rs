//! Tokens that were verified before. Clients send the same token with each request, and verifying it takes as long as reading an ad.
//! Only the time can make such a token invalid; new keys begin without any, and revocation is checked elsewhere.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use ad_core::model::Timestamp;

use super::{Caller, TokenError, ValidTimes};

/// Most tokens. When there are more, all are verified again.
const MOST: usize = 4096;

/// Most bytes of a token.
const LONGEST: usize = 1024;

/// A token whose signature and claims are valid.
pub(super) struct VerifiedToken {
    pub(super) caller: Caller,
    pub(super) times: ValidTimes,
    pub(super) key_expires: Option<Timestamp>,
}

impl VerifiedToken {
    fn caller_at(&self, now: Timestamp) -> Result<Caller, TokenError> {
        super::check_key(self.key_expires, now)?;
        self.times.check(now)?;
        Ok(self.caller.clone())
    }
}

/// Each change under the lock is complete, so the value is consistent even after a panic.
#[derive(Default)]
pub(super) struct VerifiedTokens(RwLock<HashMap<Box<str>, VerifiedToken>>);

impl VerifiedTokens {
    /// Who calls with this token at this time; `None` if it was not verified before.
    pub(super) fn caller(&self, token: &str, now: Timestamp) -> Option<Result<Caller, TokenError>> {
        let tokens = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(tokens.get(token)?.caller_at(now))
    }

    pub(super) fn add(&self, token: &str, verified: VerifiedToken) {
        if token.len() > LONGEST {
            return;
        }
        let mut tokens = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= MOST {
            tokens.clear();
        }
        tokens.insert(token.into(), verified);
    }
}

#[cfg(test)]
mod tests {
    use ad_core::service::Access;

    use super::*;
    use crate::auth::Permissions;

    fn token(number: usize) -> VerifiedToken {
        let caller = Caller::new(Access::Dealer("north-cars".to_owned()), Permissions::ALL, number.to_string());
        VerifiedToken { caller, times: ValidTimes { exp: Some(1000.0), nbf: None }, key_expires: None }
    }

    #[test]
    fn tokens_are_bounded_in_number_and_length() {
        let tokens = VerifiedTokens::default();
        let now = Timestamp::from_millis(0);
        for number in 0..=MOST {
            tokens.add(&number.to_string(), token(number));
        }
        assert!(tokens.caller("0", now).is_none());
        assert_eq!(tokens.caller(&MOST.to_string(), now).unwrap().unwrap().jti, MOST.to_string());
        let long = "t".repeat(LONGEST + 1);
        tokens.add(&long, token(0));
        assert!(tokens.caller(&long, now).is_none());
        assert_eq!(tokens.0.read().unwrap().len(), 1);
    }
}
