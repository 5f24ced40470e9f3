//! A client's write, and what became of it: idempotency keys (extensions E3.2) and coalescing (extensions E3.3).

use uuid::Uuid;

use super::{Service, ServiceError, TaggedAd};
use crate::{
    model::{Ad, AdTag, FailedImage, RequestOrigin, Timestamp},
    ports::{AnswerKey, KeptAnswer, StoreError, Usage},
    violation::Warning,
};

/// A write of a client, besides its payload.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// Id of the request (`X-Request-Id`).
    pub id: Uuid,
    /// How its answer is kept, if the client sent an idempotency key.
    pub keep: Option<&'a Keep<'a>>,
    /// Where it came from, if that is known.
    pub origin: Option<&'a RequestOrigin>,
}

impl From<Uuid> for Incoming<'_> {
    fn from(id: Uuid) -> Self {
        Self { id, keep: None, origin: None }
    }
}

/// How the answer of a request with an idempotency key is kept.
#[derive(derive_more::Debug)]
pub struct Keep<'a> {
    /// What it is kept under.
    pub key: AnswerKey,
    /// A hash of query and body.
    pub fingerprint: String,
    /// Writes the answer that is kept.
    #[debug(skip)]
    pub writer: &'a dyn AnswerWriter,
}

/// Writes the answer to an accepted write, which is kept in the commit of the write for clients that repeat their request. No use case
/// reads it.
pub trait AnswerWriter: Send + Sync {
    /// The answer, in a notation of its own.
    ///
    /// # Errors
    /// When it cannot be written; nothing is accepted then.
    fn write(&self, accepted: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>>;
}

/// The result of an accepted write.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The ad as the answer shows it.
    pub ad: Ad,
    /// The tag of what the answer shows.
    pub tag: AdTag,
    /// The images that the latest `handle_media` could not store.
    pub failed_images: Vec<FailedImage>,
    /// What is allowed but probably a mistake in what was sent.
    pub warnings: Vec<Warning>,
    /// What will be done: a queued request, or nothing.
    pub request: Acceptance,
}

/// What happens after a write was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// A worker executes the request.
    Queued,
    /// A worker executes this earlier request, which is to do the same.
    CoalescedWith(Uuid),
    /// There is nothing to do.
    Unchanged,
}

impl Service {
    /// Accepts a write for which no request is made: there is nothing to do, or an unfinished request is to do the same.
    pub(super) async fn accept_without_request(
        &self,
        request: Incoming<'_>,
        ad: TaggedAd,
        acceptance: Acceptance,
    ) -> Result<Accepted, ServiceError> {
        let accepted = ad.accepted(acceptance);
        self.admit_answer(request).await?;
        if let Some(kept) = self.answer_to_keep(request, &accepted, self.clock.now()).await? {
            self.store.keep_answer(accepted.ad.id, &kept).await?;
            self.answer_kept(request);
        }
        Ok(accepted)
    }

    /// Checks that one more answer may be kept for the holder of a key.
    pub(super) async fn admit_answer(&self, request: Incoming<'_>) -> Result<(), ServiceError> {
        match request.keep {
            Some(keep) => self.admit_one(&keep.key.holder, Usage::Answers).await,
            None => Ok(()),
        }
    }

    /// The answer to keep, if the client sent a key, and room for it.
    pub(super) async fn answer_to_keep(
        &self,
        request: Incoming<'_>,
        accepted: &Accepted,
        now: Timestamp,
    ) -> Result<Option<KeptAnswer>, ServiceError> {
        let Some(Keep { key, fingerprint, writer }) = request.keep else { return Ok(None) };
        let answer = writer.write(accepted).map_err(StoreError::Faulty)?;
        if let Some(quotas) = &self.quotas {
            quotas.make_room_for_answer(&key.holder, answer.len() as u64).await?;
        }
        let (key, fingerprint) = (key.clone(), fingerprint.clone());
        Ok(Some(KeptAnswer { key, fingerprint, request_id: request.id, accepted: now, answer }))
    }

    pub(super) fn answer_kept(&self, request: Incoming<'_>) {
        if let Some(keep) = request.keep {
            self.added(&keep.key.holder, Usage::Answers);
        }
    }
}
