//! Writes, with idempotency keys (extensions E3.2) and `Prefer: wait` (extensions E3.4).

use std::sync::Mutex;

use ad_core::{
    lock::locked,
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
    /// Whether it shows the quality of the ad.
    quality: bool,
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
        let shown = ShownAd { call: self, quality: query.included.quality, kept: Mutex::default() };
        let keep = key.map(|key| key.keep(&shown));
        let incoming = Incoming { id: self.id, keep: keep.as_ref(), origin: Some(&self.origin) };
        let changed = self.operation.changes_one().then_some(&*self.source_id);
        let is_large = payload.is_large();
        let accept = handler(self, WriteInput { query, payload, incoming });
        let accepted = match context.in_turn(access, changed, is_large, accept).await {
            Ok(accepted) => accepted,
            Err(error) => return self.replay(error, keep.as_ref()).await,
        };
        match wait {
            Some(wait) => self.wait(&shown, wait, accepted).await,
            None => match locked(&shown.kept).take() {
                Some(answer) => Ok(answer.response()),
                None => shown.response(&accepted),
            },
        }
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

    /// The answer when the request has finished or the time is over, with the ad as it is at that time. If the ad cannot be read,
    /// the answer shows it as it was when the write was accepted.
    async fn wait(&self, shown: &ShownAd<'_>, wait: Wait, mut accepted: Accepted) -> ApiResult {
        let request = match accepted.request {
            Acceptance::Queued => Some(self.id),
            Acceptance::CoalescedWith(request) => Some(request),
            Acceptance::Unchanged => None,
        };
        let Some(_memory) = wait.memory(self.access(), accepted.ad.content.bytes()) else {
            return shown.response(&accepted);
        };
        if let Some(request) = request {
            tokio::select! {
                ended = timeout(wait.longest, self.context().store.wait_until_finished(request)) => if let Ok(Err(error)) = ended {
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
        let target = Target::from(&accepted.ad.source_id).of_dealer(Some(&accepted.ad.dealer_code));
        let read = self.context().service.read(self.access(), target);
        let (current, _) = self.context().in_turn(self.access(), None, false, read).await?;
        Ok(current.accepted(accepted.request))
    }
}

impl ShownAd<'_> {
    fn response(&self, accepted: &Accepted) -> ApiResult {
        Ok(self.answer(accepted)?.response())
    }

    fn answer(&self, accepted: &Accepted) -> Result<WriteAnswer, ApiError> {
        let Self { call, quality, .. } = self;
        let creates = call.operation.act == Act::Create;
        let mut headers = vec![(header::ETAG, etag(accepted.tag))];
        if creates {
            let address = call.address_of(call.path.base, &accepted.ad.source_id, &accepted.ad.dealer_code);
            headers.extend(address.map(|address| (header::LOCATION, address)));
        }
        if let Acceptance::CoalescedWith(request) = accepted.request {
            headers.extend(request.to_string().parse().ok().map(|request| (COALESCED_WITH, request)));
        }
        let quality =
            if *quality { Some(call.context().service.quality(&accepted.ad, &accepted.failed_images)?) } else { None };
        let body = json_text(&accepted.ad.view(None).with_quality(quality.as_ref()))?;
        Ok(WriteAnswer { status: if creates { StatusCode::CREATED } else { StatusCode::OK }, headers, body })
    }
}

impl AnswerWriter for ShownAd<'_> {
    fn write(&self, accepted: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let answer = self.answer(accepted)?;
        let text = answer.text()?;
        *locked(&self.kept) = Some(answer);
        Ok(text)
    }
}

const COALESCED_WITH: HeaderName = HeaderName::from_static("request-coalesced-with");
