//! Retries of many ads at once, for operators.

use ad_core::{
    ports::Ids,
    service::{Acceptance, Access, Service, ServiceError},
};
use futures_util::{StreamExt, stream};

use ad_server_store::AdByStatus;

/// Retries that are accepted at the same time.
const SIDE_BY_SIDE: usize = 16;

#[derive(Debug, Clone, Copy, Default)]
pub struct RetryResult {
    pub accepted: usize,
    /// A retry was unfinished already.
    pub under_way: usize,
    /// The ad is deleted, or has too many unfinished requests.
    pub refused: usize,
}

/// Accepts a retry of each ad.
pub async fn retry_all(
    service: &Service,
    ids: &dyn Ids,
    ads: &[AdByStatus],
    retried: &mut RetryResult,
) -> Result<(), ServiceError> {
    let calls = ads.iter().map(|ad| async move {
        let access = Access::Dealer(ad.dealer_code.clone());
        service.retry(&access, ids.next(), (&ad.source_id).into()).await
    });
    // Collected, because the future of the caller would not be `Send` otherwise.
    let mut answers = stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(SIDE_BY_SIDE);
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(accepted) if matches!(accepted.request, Acceptance::CoalescedWith(_)) => retried.under_way += 1,
            Ok(_) => retried.accepted += 1,
            Err(ServiceError::Refused(_) | ServiceError::TooManyRequests(_)) => retried.refused += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
