//! Writes, with idempotency keys (extensions E3.2) and `Prefer: wait` (extensions E3.4).

use std::sync::Mutex;

use ad_core::{
    lock::locked,
    model::{Included, LogEntry, Quality},
    service::{Acceptance, Accepted, AnswerWriter, Incoming, Keep, ServiceError, Target},
};
use ad_parameters::{AdParameters, FromParameters};
use poem::{
    Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use tokio::time::timeout;

use super::{
    ApiError,
    call::Call,
    conditional::etag,
    errors::json_text,
    handler::{ApiResult, WriteHandler, WriteInput},
    idempotency::{RequestKey, WriteAnswer, replayed},
    operations::Act,
    prefer::Wait,
};
use ad_server_base::limits::FairPermit;

/// What a handler of a write does.
type Written = Result<Accepted, ServiceError>;

pub(super) async fn create(call: &Call<'_>, write: WriteInput<'_>) -> Written {
    let WriteInput { payload, incoming, .. } = write;
    call.context().service.create(call.access(), incoming, call.through(), payload.object).await
}

pub(super) async fn update(call: &Call<'_>, write: WriteInput<'_>) -> Written {
    let WriteInput { query, payload, incoming } = write;
    let (service, version, target) =
        (&call.context().service, call.path.base.version(), call.target(query.dealer_code.as_ref()));
    service.update(call.access(), incoming, version, target, &payload.object).await
}

pub(super) async fn migrate(call: &Call<'_>, write: WriteInput<'_>) -> Written {
    let WriteInput { query, payload, incoming } = write;
    call.context()
        .service
        .migrate(call.access(), incoming, call.target(query.dealer_code.as_ref()), &payload.object)
        .await
}

pub(super) async fn delete(call: &Call<'_>, WriteInput { query, incoming, .. }: WriteInput<'_>) -> Written {
    call.context().service.delete(call.access(), incoming, call.target(query.dealer_code.as_ref())).await
}

pub(super) async fn bump(call: &Call<'_>, WriteInput { query, incoming, .. }: WriteInput<'_>) -> Written {
    call.context().service.bump(call.access(), incoming, call.target(query.dealer_code.as_ref()), query.exclude).await
}

pub(super) async fn pole_position(call: &Call<'_>, WriteInput { query, incoming, .. }: WriteInput<'_>) -> Written {
    call.context().service.pole_position(call.access(), incoming, call.target(query.dealer_code.as_ref())).await
}

pub(super) async fn retry(call: &Call<'_>, WriteInput { query, incoming, .. }: WriteInput<'_>) -> Written {
    call.context().service.retry(call.access(), incoming, call.target(query.dealer_code.as_ref())).await
}

/// Writes the answer to a write.
struct ShownAd<'a> {
    call: &'a Call<'a>,
    /// What it shows besides the ad.
    included: Included,
    /// The answer that the commit keeps, which is sent too.
    kept: Mutex<Option<WriteAnswer>>,
}

impl Call<'_> {
    /// Accepts a write and answers it.
    pub(super) async fn write(&self, handler: WriteHandler, body: Body) -> ApiResult {
        let query = self.parsed(AdParameters::parse)?;
        let (access, context) = (self.access(), self.context());
        let mut key = RequestKey::of(self.request, access)?;
        let wait = context.limits.waits.preferred(self.request, access)?;
        let payload = self.payload(body, |bytes| key.iter_mut().for_each(|key| key.add_body(bytes))).await?;
        let shown = ShownAd { call: self, included: query.included, kept: Mutex::default() };
        let keep = key.map(|key| key.keep(&shown));
        let incoming = Incoming { id: self.id, keep: keep.as_ref(), origin: Some(&self.origin) };
        let changed = self.operation.changes_one().then_some(&*self.source_id);
        let is_large = payload.is_large();
        let accept = handler(self, WriteInput { query, payload, incoming });
        let mut accepted = match context.in_turn(access, changed, is_large, accept).await {
            Ok(accepted) => accepted,
            Err(error) => return self.replay(error, keep.as_ref()).await,
        };
        let waited = match wait {
            Some(wait) => self.wait(wait, &accepted).await,
            None => None,
        };
        // If the ad cannot be read, the answer shows it as it was when the write was accepted.
        let mut log = None;
        if shown.included.log || waited.is_some() {
            if let Ok((current, entries)) = self.current(&accepted).await {
                accepted = Accepted { warnings: accepted.warnings, ..current };
                log = Some(entries).filter(|_| shown.included.log);
            }
        } else if let Some(answer) = locked(&shown.kept).take() {
            return Ok(answer.response());
        }
        let mut response = shown.answer(&accepted, log.as_deref())?.response();
        if waited.is_some() {
            response.headers_mut().insert("preference-applied", HeaderValue::from_static("wait"));
        }
        Ok(response)
    }

    /// Replaces a refusal by the kept answer if the client repeats a request.
    async fn replay(&self, error: ApiError, keep: Option<&Keep<'_>>) -> ApiResult {
        let Some(keep) = keep else { return Err(error) };
        let kept = match error {
            ApiError::Service(ServiceError::KeyUsed(kept)) => kept,
            ApiError::Service(ref refused) if !matches!(refused, ServiceError::Store(_)) => {
                let kept = self.context().store.kept_answer(&keep.key).await?;
                Box::new(kept.ok_or(error)?)
            }
            _ => return Err(error),
        };
        if kept.fingerprint == keep.fingerprint { replayed(&kept) } else { Err(ServiceError::KeyUsed(kept).into()) }
    }

    /// Waits until the request has finished or the time is over. Returns the memory for the ad as it is then, if the dealer has any left.
    async fn wait(&self, wait: Wait, accepted: &Accepted) -> Option<FairPermit> {
        let memory = wait.memory(self.access(), accepted.ad.content.bytes())?;
        let request = match accepted.request {
            Acceptance::Queued => self.id,
            Acceptance::CoalescedWith(request) => request,
            Acceptance::Unchanged => return Some(memory),
        };
        tokio::select! {
            ended = timeout(wait.longest, self.context().store.wait_until_finished(request)) => if let Ok(Err(error)) = ended {
                tracing::debug!(%error, "cannot wait for a request");
            },
            () = wait.stopped() => {}
        }
        Some(memory)
    }

    /// The ad as it is now, and its log.
    async fn current(&self, accepted: &Accepted) -> Result<(Accepted, Vec<LogEntry>), ApiError> {
        let target = Target::from(&accepted.ad.source_id).of_dealer(Some(&accepted.ad.dealer_code));
        let read = self.context().service.read(self.access(), target);
        let (current, log) = self.context().in_turn(self.access(), None, false, read).await?;
        Ok((current.accepted(accepted.request), log))
    }
}

impl ShownAd<'_> {
    fn answer(&self, accepted: &Accepted, log: Option<&[LogEntry]>) -> Result<WriteAnswer, ApiError> {
        let Self { call, included, .. } = self;
        let creates = call.operation.act == Act::Create;
        let mut headers = vec![(header::ETAG, etag(accepted.tag))];
        if creates {
            let address = call.address_of(call.path.base, &accepted.ad.source_id, &accepted.ad.dealer_code);
            headers.extend(address.map(|address| (header::LOCATION, address)));
        }
        if let Acceptance::CoalescedWith(request) = accepted.request {
            headers.extend(request.to_string().parse().ok().map(|request| (COALESCED_WITH, request)));
        }
        // A restore names what it leaves as it is.
        let with_warnings = included.warnings || call.operation.act == Act::Restore;
        let measured = (included.quality || with_warnings)
            .then(|| call.context().service.quality(&accepted.ad, &accepted.failed_images))
            .transpose()?;
        let certain = measured.iter().flat_map(Quality::warnings);
        let warnings = with_warnings.then(|| accepted.warnings.iter().cloned().chain(certain).collect::<Vec<_>>());
        let view = accepted.ad.view(log).with_quality(measured.as_ref().filter(|_| included.quality));
        let body = json_text(&view.with_warnings(warnings.as_deref()))?;
        Ok(WriteAnswer { status: if creates { StatusCode::CREATED } else { StatusCode::OK }, headers, body })
    }
}

impl AnswerWriter for ShownAd<'_> {
    fn write(&self, accepted: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let answer = self.answer(accepted, None)?;
        let text = answer.text()?;
        *locked(&self.kept) = Some(answer);
        Ok(text)
    }
}

const COALESCED_WITH: HeaderName = HeaderName::from_static("request-coalesced-with");
