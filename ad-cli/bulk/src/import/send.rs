//! Sends one ad. A create has the same idempotency key in every attempt and every run, so the service executes it once.

use std::time::Duration;

use ad_client::{Ad, Answer, Client, Error, ErrorKind};
use ad_core::fields::FieldErrors;
use ad_files::Place;
use serde_json::{Map, Value, json, value::RawValue};
use uuid::Uuid;

use super::{BulkError, Identity, State};
use crate::payloads::Piece;

/// Number of retries of a request whose answer was lost, in addition to those of the client.
const REPEATS: u32 = 5;

/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    /// Create the ad. This must happen only once.
    Create,
    Retry,
    /// Publish the hidden ad: an update to `visible: true`.
    Show,
}

/// A request for one ad.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ad: Identity,
    /// The vehicle type of its path; `None` on `/v3/ad`.
    pub(super) vehicle_type: Option<&'static str>,
    pub(super) body: Box<RawValue>,
    /// Its text in the file, and where that begins.
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    pub(super) kind: JobKind,
    /// The `Idempotency-Key` of its request.
    pub(super) key: String,
    /// Whether an earlier run may have created the ad, without recording it.
    pub(super) may_exist: bool,
}

#[derive(Debug)]
pub(super) enum Sent {
    /// The service has it; the id of its request, if known.
    Accepted(Option<Uuid>),
    /// The service does not want it: why in one text, and by field.
    Rejected(String, Option<FieldErrors>),
    /// It was not accepted, and no other ad would be.
    Stopped(BulkError),
    /// Unknown, and it cannot be determined now.
    Unclear(BulkError),
}

pub(super) async fn send(client: &Client, state: &State, job: &Job) -> Sent {
    let (mut is_unclear, mut repeats) = (false, 0);
    loop {
        let error = match once(client, job).await {
            Ok(answer) => return Sent::Accepted(answer.request_uuid()),
            Err(error) => error,
        };
        if error.is_unclear() && repeats < REPEATS {
            is_unclear = true;
            tokio::time::sleep(PAUSE * 2_u32.pow(repeats)).await;
            repeats += 1;
            continue;
        }
        is_unclear |= error.is_unclear();
        let may_exist = is_unclear || job.may_exist;
        return match error.kind() {
            // The key has expired, or the service does not support keys: an earlier attempt may have created the ad.
            ErrorKind::Conflict(_) if may_exist || error.tries() > 1 => find(client, state, job, error).await,
            // The file has changed since an earlier run sent it.
            _ if may_exist && error.status() == Some(KEY_REUSED) => Sent::Accepted(None),
            _ => rejected(error, job, is_unclear),
        };
    }
}

/// The status of a request whose key was sent with another payload before.
const KEY_REUSED: u16 = 422;

async fn once(client: &Client, job: &Job) -> Result<Answer<Ad>, Error> {
    let ads = job.vehicle_type.map_or_else(|| client.v3(), |vehicle_type| client.typed(vehicle_type));
    match job.kind {
        JobKind::Create => ads.key(&job.key).create(&job.body).await,
        JobKind::Show => ads.key(&job.key).update(job.ad.target(), &json!({"visible": true})).await,
        JobKind::Retry => client.v4().key(&job.key).retry(job.ad.target()).await,
    }
}

/// Whether an error concerns this ad only, or all of them.
fn rejected(error: Error, job: &Job, is_unclear: bool) -> Sent {
    let is_about_ad = match error.kind() {
        ErrorKind::NotFound(_) => job.kind != JobKind::Create,
        ErrorKind::PreconditionFailed(_) | ErrorKind::Other(_) => false,
        _ => error.is_refusal(),
    };
    if !is_about_ad {
        return if is_unclear { Sent::Unclear(error.into()) } else { Sent::Stopped(error.into()) };
    }
    let message = error.details();
    let fields = match error.into_kind() {
        ErrorKind::Invalid(errors) => Some(errors),
        _ => None,
    };
    Sent::Rejected(message, fields)
}

/// Whether an earlier attempt has created the ad with the source id.
async fn find(client: &Client, state: &State, job: &Job, conflict: Error) -> Sent {
    let ad = match client.v4().read(job.ad.target()).await {
        Ok(answer) => answer.body,
        Err(error) => return Sent::Unclear(error.into()),
    };
    let piece = Piece { text: &job.text, place: job.place, problem: None };
    if state.checker.content(piece).is_some_and(|content| shows(&ad, &content)) {
        // The log is short: it was created a moment ago. Its oldest entry is that of the create.
        Sent::Accepted(ad.log.as_deref().and_then(<[_]>::first).map(|entry| entry.request_id))
    } else {
        rejected(conflict, job, false)
    }
}

/// Whether an ad has this content. Fields that are not shown as they were sent are ignored: images, and currencies that the service
/// takes from the settings of the dealer.
fn shows(ad: &Ad, content: &Map<String, Value>) -> bool {
    let Ok(Value::Object(shown)) = serde_json::to_value(ad) else { return false };
    content.iter().filter(|(name, _)| *name != "image_urls").all(|(name, sent)| {
        let sent = match (name.as_str(), sent) {
            ("price", Value::Array(prices)) => prices.iter().map(without_currency).collect(),
            _ => sent.clone(),
        };
        shown.get(name).is_some_and(|shown| has(shown, &sent))
    })
}

fn without_currency(price: &Value) -> Value {
    let mut price = price.clone();
    if let Value::Object(price) = &mut price {
        price.remove("currency");
    }
    price
}

/// Whether a value contains another.
fn has(shown: &Value, sent: &Value) -> bool {
    match (shown, sent) {
        (Value::Object(shown), Value::Object(sent)) => {
            sent.iter().all(|(name, sent)| shown.get(name).is_some_and(|shown| has(shown, sent)))
        }
        (Value::Array(shown), Value::Array(sent)) => {
            shown.len() == sent.len() && shown.iter().zip(sent).all(|(shown, sent)| has(shown, sent))
        }
        (Value::Number(shown), Value::Number(sent)) => shown == sent || shown.as_f64() == sent.as_f64(),
        (shown, sent) => shown == sent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_recognised_in_what_is_shown() {
        let shown = json!({"a": 1, "b": [{"c": 2.0, "more": true}], "d": null});
        for (sent, is_it) in [
            (json!({"a": 1}), true),
            (json!({"a": 1.0, "b": [{"c": 2}]}), true),
            (json!({"a": 2}), false),
            (json!({"b": []}), false),
            (json!({"b": [{"c": 3}]}), false),
            (json!({"e": 1}), false),
        ] {
            assert_eq!(has(&shown, &sent), is_it, "{sent}");
        }
    }
}
