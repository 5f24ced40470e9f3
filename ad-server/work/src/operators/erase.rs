//! The steps of an erasure. Each can be repeated, and continues where an earlier one stopped.

use std::{
    io,
    time::{Duration, Instant},
};

use ad_core::{
    model::Timestamp,
    ports::{Clock, Ids, StoreError},
    service::{Access, Service, ServiceError},
};

use tokio::time::timeout;

use ad_server_outside::media::Media;
use ad_server_store::{Database, Erased, ErasedImage, REMOVAL};

/// Images that are removed together: those that cannot be stored meanwhile.
const AT_ONCE: usize = 20;

/// Pause before another look at images that another process removes.
const LOOK: Duration = Duration::from_secs(1);

/// The ads of a dealer, or one of them, that are to be erased.
#[derive(Debug)]
pub struct Erasure<'a> {
    pub database: &'a Database,
    pub dealer_code: &'a str,
    pub source_id: Option<&'a str>,
}

/// Why images of erased ads are still there.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot remove image {name}: {error}")]
    Image { name: String, error: io::Error },
}

impl Erasure<'_> {
    /// Accepts the deletion of some ads that are not deleted, after a given one. Returns the last one, or `None` if there were none.
    pub async fn delete_some(
        &self,
        service: &Service,
        ids: &dyn Ids,
        behind: i64,
    ) -> Result<Option<i64>, ServiceError> {
        let access = Access::Dealer(self.dealer_code.to_owned());
        let batch = self.database.to_be_deleted(self.dealer_code, self.source_id, behind).await?;
        for (_, source_id) in &batch {
            match service.delete(&access, ids.next(), source_id.into()).await {
                Ok(_) | Err(ServiceError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(batch.last().map(|(last, _)| *last))
    }

    /// Erases some deleted ads, and adds them to what was erased; `false` when none is left. The last of all ads of a dealer take its stock
    /// files with them.
    pub async fn erase_some(&self, erased: &mut Erased, now: Timestamp) -> Result<bool, StoreError> {
        let Some(more) = self.database.erase_ads(self.dealer_code, self.source_id, now).await? else {
            if self.source_id.is_none() {
                self.database.erase_stock_files(self.dealer_code).await?;
            }
            return Ok(false);
        };
        *erased += more;
        Ok(true)
    }
}

/// Removes the images of erased ads that no other ad shows. `media` opens the image store when there are any. Returns how many there
/// were.
pub async fn remove_erased_images<E: From<ErasureError>, F: Future<Output = Result<Media, E>>>(
    database: &Database,
    clock: &dyn Clock,
    media: impl Fn() -> F,
) -> Result<u64, E> {
    let mut count = 0;
    loop {
        let (unused, used) = database.erased_images(clock.now()).await.map_err(ErasureError::Store)?;
        if unused.is_empty() && used.is_empty() {
            if !database.are_images_removed(clock.now()).await.map_err(ErasureError::Store)? {
                return Ok(count);
            }
            tokio::time::sleep(LOOK).await;
            continue;
        }
        database.forget_erased_images(used).await.map_err(ErasureError::Store)?;
        if !unused.is_empty() {
            let media = media().await?;
            for some in unused.chunks(AT_ONCE) {
                count += remove(database, clock, &media, some).await?;
            }
        }
    }
}

/// Removes unused images, but for those that an ad has stored meanwhile; returns how many.
async fn remove(
    database: &Database,
    clock: &dyn Clock,
    media: &Media,
    images: &[ErasedImage],
) -> Result<u64, ErasureError> {
    // One that is removed after REMOVAL may have been stored again.
    let before = Instant::now() + REMOVAL / 2;
    let begun = database.begin_removal(images, clock.now()).await?;
    let (mut removed, mut failed) = (Vec::new(), Ok(()));
    for name in begun.iter().take_while(|_| Instant::now() < before) {
        let ended = timeout(REMOVAL / 3, media.remove(name)).await;
        if let Err(error) = ended.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            failed = Err(ErasureError::Image { name: name.clone(), error });
            break;
        }
        removed.push(name.clone());
    }
    database.end_removal(&begun, &removed, clock.now()).await?;
    failed.map(|()| removed.len() as u64)
}
