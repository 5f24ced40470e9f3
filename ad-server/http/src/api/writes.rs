//! Writes, with idempotency keys (extensions E3.2) and `Prefer: wait` (extensions E3.4).

use ad_core::service::{Acceptance, Accepted, AnswerWriter, Incoming, Keep, ServiceError, Target};
use ad_parameters::AdParameters;
use poem::{
    Request, Response,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use tokio::time::timeout;

use super::{
    ApiError,
    body::{self, Payload},
    conditional::etag,
    idempotency::{RequestKey, WriteAnswer, replayed},
    operations::{Act, Operation},
    paths::AdCall,
    prefer::Wait,
};

/// Writes the answer of a write.
struct Shown<'a> {
    call: &'a AdCall<'a>,
    operation: &'a Operation,
    /// Whether it shows the quality of the ad.
    quality: bool,
}

impl AdCall<'_> {
    pub(super) async fn write(&self, operation: &Operation, request: &mut Request) -> Result<Response, ApiError> {
        let query = self.query(operation, request)?;
        let (access, limits) = (&self.access, &self.context.limits);
        let mut key = RequestKey::of(request, access)?;
        let wait = limits.waits.preferred(request, access)?;
        let payload = if operation.takes_body() {
            let read = |bytes: &[u8]| key.iter_mut().for_each(|key| key.add_body(bytes));
            body::object(request, limits, access, false, read).await?
        } else {
            Payload::default()
        };
        if operation.act == Act::Create {
            self.context.check_faults(access, payload.source_id())?;
        }
        let shown = Shown { call: self, operation, quality: query.included.quality };
        let keep = key.map(|key| key.keep(&shown));
        let incoming = Incoming { id: self.request_id, keep: keep.as_ref(), origin: Some(&self.origin) };
        let accepted = match self.accept(operation, query, payload, incoming).await {
            Ok(accepted) => accepted,
            Err(error) => return self.replay(error, keep.as_ref()).await,
        };
        match wait {
            Some(wait) => self.wait(&shown, wait, accepted).await,
            None => shown.response(&accepted),
        }
    }

    /// Waits for the turn of a write, and accepts it.
    async fn accept(
        &self,
        operation: &Operation,
        query: AdParameters,
        payload: Payload,
        incoming: Incoming<'_>,
    ) -> Result<Accepted, ApiError> {
        let (access, limits) = (&self.access, &self.context.limits);
        let _only =
            if operation.changes_one() { Some(limits.writes.only(access, self.source_id).await?) } else { None };
        let _turn = limits.turns.take(access).await?;
        let accepted = if payload.is_large() {
            limits.processor.run(access.name(), self.perform_write(operation, query, payload, incoming)).await
        } else {
            self.perform_write(operation, query, payload, incoming).await
        };
        Ok(accepted?)
    }

    async fn perform_write(
        &self,
        operation: &Operation,
        query: AdParameters,
        payload: Payload,
        incoming: Incoming<'_>,
    ) -> Result<Accepted, ServiceError> {
        let Payload { object: payload, memory: _memory, .. } = payload;
        let (service, access) = (&self.context.service, &self.access);
        let target = self.target(query.dealer_code.as_deref());
        match operation.act {
            Act::Create => service.create(access, incoming, self.through(), payload).await,
            Act::Update => service.update(access, incoming, self.base.version(), target, &payload).await,
            Act::Migrate => service.migrate(access, incoming, target, &payload).await,
            Act::Delete => service.delete(access, incoming, target).await,
            Act::Bump => service.bump(access, incoming, target, query.exclude).await,
            Act::PolePosition => service.pole_position(access, incoming, target).await,
            Act::Retry => service.retry(access, incoming, target).await,
            Act::RefuseCreate | Act::Validate | Act::List | Act::Read | Act::Status | Act::Prices | Act::Log => {
                Err(ServiceError::NotFound)
            }
        }
    }

    /// Replaces a refusal by the kept answer if the client repeats a request.
    async fn replay(&self, error: ApiError, keep: Option<&Keep<'_>>) -> Result<Response, ApiError> {
        let Some(keep) = keep else { return Err(error) };
        let kept = match error {
            ApiError::Service(ServiceError::KeyUsed(kept)) => kept,
            ApiError::Service(ref refused) if !matches!(refused, ServiceError::Store(_)) => {
                let kept = self.context.store.kept_answer(&keep.key).await?;
                Box::new(kept.ok_or(error)?)
            }
            _ => return Err(error),
        };
        if kept.fingerprint == keep.fingerprint { replayed(&kept) } else { Err(ServiceError::KeyUsed(kept).into()) }
    }

    /// The answer when the request has finished or the time is over, with the ad as it is at that time. If the ad cannot be read,
    /// the answer shows it as it was when the write was accepted.
    async fn wait(&self, shown: &Shown<'_>, wait: Wait, mut accepted: Accepted) -> Result<Response, ApiError> {
        let request = match accepted.request {
            Acceptance::Queued => Some(self.request_id),
            Acceptance::CoalescedWith(request) => Some(request),
            Acceptance::Unchanged => None,
        };
        let Some(_memory) = wait.memory(&self.access, accepted.ad.content.bytes()) else {
            return shown.response(&accepted);
        };
        if let Some(request) = request {
            tokio::select! {
                ended = timeout(wait.longest, self.context.store.finished(request)) => if let Ok(Err(error)) = ended {
                    tracing::debug!(%error, "cannot wait for a request");
                },
                () = wait.stopped() => {}
            }
            if let Ok(current) = self.current(&accepted).await {
                accepted = current;
            }
        }
        let mut response = shown.response(&accepted)?;
        response.headers_mut().insert("preference-applied", HeaderValue::from_static("wait"));
        Ok(response)
    }

    /// The ad as it is now.
    async fn current(&self, accepted: &Accepted) -> Result<Accepted, ApiError> {
        let _turn = self.context.limits.turns.take(&self.access).await?;
        let target = Target::from(&accepted.ad.source_id).of_dealer(Some(&accepted.ad.dealer_code));
        let (current, _) = self.context.service.read(&self.access, target).await?;
        Ok(current.accepted(accepted.request))
    }
}

impl Shown<'_> {
    fn response(&self, accepted: &Accepted) -> Result<Response, ApiError> {
        match self.answer(accepted) {
            Ok(answer) => Ok(answer.response()),
            Err(error) => {
                tracing::error!(%error, "cannot serialize response");
                Err(ApiError::Internal)
            }
        }
    }

    fn answer(&self, accepted: &Accepted) -> serde_json::Result<WriteAnswer> {
        let Self { call, operation, quality } = self;
        let status = if operation.act == Act::Create { StatusCode::CREATED } else { StatusCode::OK };
        let mut headers = vec![(header::ETAG, etag(accepted.tag))];
        if status == StatusCode::CREATED {
            let address = call.address_of(call.base, &accepted.ad.source_id, &accepted.ad.dealer_code);
            headers.extend(address.map(|address| (header::LOCATION, address)));
        }
        if let Acceptance::CoalescedWith(request) = accepted.request {
            headers.extend(request.to_string().parse().ok().map(|request| (COALESCED_WITH, request)));
        }
        let quality = if *quality {
            let quality = call.context.service.quality(&accepted.ad, &accepted.failed_images);
            Some(quality.map_err(serde::ser::Error::custom)?)
        } else {
            None
        };
        let body = serde_json::to_string(&accepted.ad.view(None).with_quality(quality.as_ref()))?;
        Ok(WriteAnswer { status, headers, body })
    }
}

impl AnswerWriter for Shown<'_> {
    fn write(&self, accepted: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.answer(accepted)?.text()?)
    }
}

const COALESCED_WITH: HeaderName = HeaderName::from_static("request-coalesced-with");
