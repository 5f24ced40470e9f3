//! Conditional writes, which never overwrite concurrent changes.

use ad_client::{Ad, Ads, Answer, Error, ErrorKind, Target};

/// Maximum number of attempts if others change the ad at the same time.
pub const TRIES: u32 = 5;

/// Reads an ad and, if `check` agrees, calls `write` for that revision. If the ad changes in between, it is read and checked again, so
/// that no concurrent change is overwritten. The inner error is the one of `check`.
///
/// # Errors
/// When the service refuses the request or cannot be reached.
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
