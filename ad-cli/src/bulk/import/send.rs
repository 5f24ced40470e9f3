//! Sends one ad. When an answer is lost, the ad is looked up before anything is sent again.

use std::time::Duration;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    BulkError, State,
    job::{Job, JobKind, Refusal},
};
use crate::{Ad, Client, Error, ErrorKind, bulk::payloads::Piece};

/// How often an answer that got lost is looked for.
const LOOKS: u32 = 6;

/// The first pause before looking; the others are longer.
const PAUSE: Duration = Duration::from_millis(500);

/// The result of sending one ad.
#[derive(Debug)]
pub(super) enum Sent {
    /// The service has it; the request that its log calls it by, where that is known.
    Accepted(Option<Uuid>),
    /// The service does not want it.
    Refused(Refusal),
    /// It was not accepted, and no other would be.
    Stopped(BulkError),
    /// Nobody knows, and there is no finding out now.
    Unclear(BulkError),
}

/// Sends one ad, and determines the result.
pub(super) async fn send(client: &Client, state: &State, job: &Job) -> Sent {
    match job.kind {
        JobKind::Create => create_once(client, state, job).await,
        act => again(client, job, act).await,
    }
}

/// Has something done with an ad that is there, which may be asked for twice.
async fn again(client: &Client, job: &Job, act: JobKind) -> Sent {
    let target = job.ad.target();
    let mut look = 0;
    loop {
        let answer = match (act, job.vehicle_type) {
            (JobKind::Show, Some(vehicle_type)) => client.typed(vehicle_type).update(target, &visible()).await,
            (JobKind::Show, None) => client.v3().update(target, &visible()).await,
            (JobKind::Create | JobKind::Retry, _) => client.v4().retry(target).await,
        };
        match answer {
            Ok(answer) => return Sent::Accepted(answer.request_uuid()),
            Err(error) if error.is_unclear() && look < LOOKS => {
                tokio::time::sleep(PAUSE * 2_u32.pow(look)).await;
                look += 1;
            }
            Err(error) if error.is_unclear() => return Sent::Stopped(error.into()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => {
                return Sent::Refused(Refusal::of(error.to_string()));
            }
            Err(error) => return refused(error),
        }
    }
}

fn visible() -> Value {
    json!({"visible": true})
}

/// Creates an ad that must not be sent twice.
async fn create_once(client: &Client, state: &State, job: &Job) -> Sent {
    let ads = job.vehicle_type.map_or_else(|| client.v3(), |vehicle_type| client.typed(vehicle_type));
    let mut unclear: Option<BulkError> = None;
    for look in 0..LOOKS {
        if job.is_unclear || unclear.is_some() {
            match look_for(client, state, job).await {
                Ok(Some(sent)) => return sent,
                // It is not there, so it has to be sent.
                Ok(None) => {}
                Err(error) if is_for_all(&error) && unclear.is_none() => return Sent::Unclear(error.into()),
                Err(error) => {
                    unclear = Some(error.into());
                    tokio::time::sleep(PAUSE * 2_u32.pow(look)).await;
                    continue;
                }
            }
        }
        match ads.create(&job.body).await {
            Ok(answer) => return Sent::Accepted(answer.request_uuid()),
            Err(error) if error.is_unclear() => {
                unclear = Some(error.into());
                tokio::time::sleep(PAUSE * 2_u32.pow(look)).await;
            }
            // An earlier try of this one may have been slow to arrive.
            Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) && (job.is_unclear || unclear.is_some()) => {
                return match look_for(client, state, job).await {
                    Ok(Some(sent)) => sent,
                    Ok(None) => Sent::Refused(Refusal::of(error.to_string())),
                    Err(error) => Sent::Unclear(error.into()),
                };
            }
            Err(error) => return refused(error),
        }
    }
    Sent::Unclear(unclear.unwrap_or(BulkError::Unanswered))
}

/// Whether no other ad would fare better.
fn is_for_all(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unauthorised(_) | ErrorKind::Forbidden(_) | ErrorKind::Unreachable(_))
}

/// What a refusal means for this ad, and for the others.
fn refused(error: Error) -> Sent {
    let message = match error.kind() {
        ErrorKind::Invalid(errors) => {
            let texts: Vec<_> = errors.flatten().iter().map(|(path, message)| format!("{path}: {message}")).collect();
            texts.join(" ")
        }
        ErrorKind::Rules(_)
        | ErrorKind::Identified(_)
        | ErrorKind::Malformed(_)
        | ErrorKind::TooLarge(_)
        | ErrorKind::Conflict(_) => error.to_string(),
        _ => return Sent::Stopped(error.into()),
    };
    let fields = match error.into_kind() {
        ErrorKind::Invalid(errors) => Some(errors),
        _ => None,
    };
    Sent::Refused(Refusal { message, fields })
}

/// Looks whether an ad is there that may have been sent; `None` when it is not.
async fn look_for(client: &Client, state: &State, job: &Job) -> Result<Option<Sent>, Error> {
    let target = job.ad.target();
    let answer = match client.v4().read(target).await {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let ad = &answer.body;
    let piece = Piece { text: &job.text, place: job.place, problem: None };
    let is_ours = state.checker.content(piece).is_some_and(|content| shows(ad, &content));
    Ok(Some(if is_ours {
        // The log is short: it was created a moment ago. Its oldest entry is that of the create.
        Sent::Accepted(ad.log.as_deref().and_then(<[_]>::first).map(|entry| entry.request_id))
    } else {
        Sent::Refused(Refusal::of(
            "The service already has another ad with this source_id; choose another source_id, or update that ad.",
        ))
    }))
}

/// Whether an ad shows this content. What is not shown as it was sent is left out: images, and currencies that only the dealer's settings
/// know.
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

/// Whether a value has all that another has.
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
