//! Creating an ad when answers may get lost.

use serde_json::{Map, Value};

use super::{Ad, Ads, Answer, Error, ErrorKind, Target, transport::Repeat};

/// How an ad came to be there.
#[derive(Debug, Clone)]
pub enum Creation {
    /// This request created it.
    Created(Answer<Ad>),
    /// An earlier try, whose answer was lost, had created it. This is what the service shows of it.
    Found(Answer<Ad>),
}

impl Creation {
    /// The ad.
    pub fn ad(&self) -> &Ad {
        match self {
            Self::Created(answer) | Self::Found(answer) => &answer.body,
        }
    }
}

impl Ads<'_> {
    /// Creates an ad, and when the answer is lost, finds out what became of it: tries again, and takes a 409 to the second try for what
    /// it is, the ad of the first. A source id belongs to one ad for ever, so that there is never a second one.
    ///
    /// A 409 to the first try is an error: then somebody else was there before. That an ad of the same source id was there before and the
    /// first try's 409 was lost looks the same as success; compare the [`Creation::Found`] ad where that matters.
    ///
    /// # Errors
    /// As [`create`](Self::create); [unclear](Error::is_unclear) when no try was answered.
    pub async fn create_or_find(&self, payload: &Map<String, Value>) -> Result<Creation, Error> {
        let mut unclear: Option<Error> = None;
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match (self.create(payload).await, unclear.take()) {
                (Ok(answer), _) => return Ok(Creation::Created(answer)),
                (Err(error), Some(_)) if matches!(error.kind(), ErrorKind::Conflict(_)) => {
                    let text = |name: &str| payload.get(name).and_then(Value::as_str);
                    let target = Target::from(text("source_id").unwrap_or_default()).of_dealer(text("dealer_code"));
                    return self.read(target).await.map(Creation::Found);
                }
                // It was not even sent this time, which says nothing about the time before.
                (Err(error), Some(before)) if matches!(error.kind(), ErrorKind::Unreachable(_)) => return Err(before),
                (Err(error), _) => error,
            };
            match self.transport().pause(&error, Repeat::Safe, tries) {
                Some(pause) if error.is_unclear() => tokio::time::sleep(pause).await,
                _ => return Err(error),
            }
            unclear = Some(error);
        }
    }
}
