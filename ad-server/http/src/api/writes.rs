//! Writes, with idempotency keys (extensions E3.2) and `Prefer: wait` (extensions E3.4).

use ad_core::{
    parameters::AdParameters,
    ports::RenderedAnswer,
    service::{Acceptance, Accepted, Incoming, Keep, ServiceError, Target},
};
use poem::{
    Request, Response,
    http::{HeaderValue, StatusCode, header},
};
use tokio::time::timeout;

use super::{
    ApiError,
    body::{self, Payload},
    conditional::etag,
    idempotency::{RequestKey, replayed, response},
    operations::{Act, Operation},
    paths::AdCall,
    prefer::Wait,
};

/// What the answer of a write shows.
#[derive(Clone, Copy)]
struct Shown<'a> {
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
        let shown = Shown { operation, quality: query.included.quality };
        let render = |accepted: &Accepted| self.render(shown, accepted);
        let keep = key.map(|key| key.keep(&render));
        let incoming = Incoming { id: self.request_id, keep: keep.as_ref(), origin: Some(&self.origin) };
        let mut accepted = match self.accept(operation, query, payload, incoming).await {
            Ok(accepted) => accepted,
            Err(error) => return self.replay(error, keep.as_ref()).await,
        };
        match wait {
            Some(wait) => self.wait(shown, wait, accepted).await,
            None => Ok(response(accepted.answer.take().map_or_else(|| self.rendered(shown, &accepted), Ok)?)),
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
        if kept.fingerprint == keep.fingerprint { Ok(replayed(*kept)) } else { Err(ServiceError::KeyUsed(kept).into()) }
    }

    /// The answer when the request has finished or the time is over, with the ad as it is at that time. If the ad cannot be read,
    /// the answer shows it as it was when the write was accepted.
    async fn wait(&self, shown: Shown<'_>, wait: Wait, mut accepted: Accepted) -> Result<Response, ApiError> {
        let request = match accepted.request {
            Acceptance::Queued => Some(self.request_id),
            Acceptance::CoalescedWith(request) => Some(request),
            Acceptance::Unchanged => None,
        };
        let Some(_memory) = wait.memory(&self.access, accepted.ad.content.bytes()) else {
            return Ok(response(self.rendered(shown, &accepted)?));
        };
        if let Some(request) = request {
            tokio::select! {
                ended = timeout(wait.longest, self.context.store.wait_until_finished(request)) => if let Ok(Err(error)) = ended {
                    tracing::debug!(%error, "cannot wait for a request");
                },
                () = wait.stopped() => {}
            }
            if let Ok(current) = self.current(&accepted).await {
                accepted = current;
            }
        }
        let mut response = response(self.rendered(shown, &accepted)?);
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

    fn rendered(&self, shown: Shown<'_>, accepted: &Accepted) -> Result<RenderedAnswer, ApiError> {
        self.render(shown, accepted).map_err(|error| {
            tracing::error!(%error, "cannot serialize response");
            ApiError::Internal
        })
    }

    fn render(&self, shown: Shown<'_>, accepted: &Accepted) -> serde_json::Result<RenderedAnswer> {
        let status = if shown.operation.act == Act::Create { StatusCode::CREATED } else { StatusCode::OK };
        let mut headers =
            vec![(header::ETAG.to_string(), String::from_utf8_lossy(etag(accepted.tag).as_bytes()).into())];
        if status == StatusCode::CREATED
            && let Some(address) = self.address_of(self.base, &accepted.ad.source_id, &accepted.ad.dealer_code)
        {
            headers.push((header::LOCATION.to_string(), String::from_utf8_lossy(address.as_bytes()).into()));
        }
        if let Acceptance::CoalescedWith(request) = accepted.request {
            headers.push(("request-coalesced-with".to_owned(), request.to_string()));
        }
        let quality = if shown.quality {
            let quality = self.context.service.quality(&accepted.ad, &accepted.failed_images);
            Some(quality.map_err(serde::ser::Error::custom)?)
        } else {
            None
        };
        let body = serde_json::to_string(&accepted.ad.view(None).with_quality(quality.as_ref()))?;
        Ok(RenderedAnswer { status: status.as_u16(), headers, body })
    }
}
