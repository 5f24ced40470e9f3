//! Writes that overwrite no change of others unseen.

use crate::{Ad, Ads, Answer, Error, ErrorKind, Target};

/// How often an ad is read again that others change at the same time.
pub(crate) const TRIES: u32 = 5;

/// Reads an ad and, if `check` agrees, has `write` change that revision of it. When the ad changes between the two, it is read and
/// checked again, so that no change of others is overwritten unseen. The inner error is what `check` has against it.
///
/// # Errors
/// When the service refuses, or cannot be asked.
pub async fn write_if<'a, E>(
    ads: &Ads<'a>,
    target: Target<'_>,
    check: impl Fn(&Ad) -> Result<(), E>,
    write: impl AsyncFn(Ads<'a>) -> Result<Answer<Ad>, Error>,
) -> Result<Result<Answer<Ad>, E>, Error> {
    let mut tries = TRIES;
    loop {
        let read = ads.read(target).await?;
        if let Err(objection) = check(&read.body) {
            return Ok(Err(objection));
        }
        tries -= 1;
        match write(ads.clone().if_match(read.etag.as_deref())).await {
            Err(error) if matches!(error.kind(), ErrorKind::PreconditionFailed(_)) && tries > 0 => {}
            written => return written.map(Ok),
        }
    }
}
