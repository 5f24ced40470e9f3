//! `handle_media`: fetches and stores the ad's images, in the order of the list (decision 23).
//!
//! An image that the ad already has is fetched with a conditional request; if that fails, the stored image is kept. A retry
//! fetches only missing images.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    ActionEnd, RequestRun,
    retry::{TransientFailure, after_tries},
};
use crate::{
    model::{FailedImage, ImageFlaw, ImageRef, ImageSource, Photo, StoredImage, WaitingFor, short_address, short_text},
    ports::{Fetched, ImageError, ImageRequest, ImageStoreError, StoreError},
    quotas::{NotAdmitted, QuotaExceeded},
    violation::Code,
};

/// Number of images of one ad that are fetched concurrently.
const SIDE_BY_SIDE: usize = 4;

/// How long a stored image is kept from removal until the ad refers to it: longer than it takes to fetch all images of an ad.
const HOLD: Duration = Duration::from_hours(1);

/// Maximum number of images that a log entry names; an ad has no more.
const NAMED: usize = 20;

/// Maximum length of a reason in a log entry, in bytes. With addresses of at most 200 bytes, an entry stays below 12 kB.
const REASON: usize = 300;

/// Why an image was not stored.
#[derive(Debug, thiserror::Error)]
enum ImageFailure {
    /// The image's host failed, or what it sent is no usable image.
    #[error(transparent)]
    Host(#[from] ImageError),
    /// The service's image store failed.
    #[error(transparent)]
    Store(ImageStoreError),
    /// The dealer's quota is exceeded.
    #[error(transparent)]
    Quota(QuotaExceeded),
}

impl ImageFailure {
    fn code(&self) -> Code {
        match self {
            Self::Host(_) => Code::ImageFailed,
            Self::Store(_) => Code::ImageStoreUnavailable,
            Self::Quota(_) => Code::QuotaExceeded,
        }
    }

    fn flaw(&self) -> Option<ImageFlaw> {
        match self {
            Self::Host(ImageError::Unusable(flaw, _)) => Some(*flaw),
            Self::Host(ImageError::Transient { .. } | ImageError::NotAsked { .. }) => Some(ImageFlaw::NoAnswer),
            Self::Store(_) | Self::Quota(_) => None,
        }
    }
}

impl From<NotAdmitted> for ImageFailure {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Exceeded(exceeded) => Self::Quota(exceeded),
            // Without its database the service cannot store images.
            NotAdmitted::Store(_) => Self::Store(ImageStoreError::Unavailable),
        }
    }
}

/// The result of fetching an image.
enum FetchedImage {
    /// It was stored: address, checksum, and source.
    New(String, String, ImageSource),
    /// The ad has it already.
    Unchanged,
}

impl RequestRun<'_> {
    pub(super) async fn handle_media(&mut self) -> Result<ActionEnd, StoreError> {
        self.checkpoint().await?;
        self.progress.waiting_images.clear();
        let urls: Vec<String> = self.claimed.stored.ad.content.image_urls().map(str::to_owned).collect();
        let failures = self.fetch_wanted(&urls).await;
        let store_error = failures.iter().find_map(|(_, failure)| match failure {
            ImageFailure::Store(error) => Some(*error),
            ImageFailure::Host(_) | ImageFailure::Quota(_) => None,
        });
        let passing = failures.iter().filter_map(|(_, failure)| {
            let ImageFailure::Host(error) = failure else { return None };
            let (pause, asked) = match error {
                ImageError::Transient { retry_after, .. } => (*retry_after, true),
                ImageError::NotAsked { retry_after, .. } => (Some(*retry_after), false),
                ImageError::Unusable(..) => return None,
            };
            let reason = format!("image: {error}");
            Some(TransientFailure {
                pause,
                asked,
                of: WaitingFor::Images,
                code: Code::ImageFailed,
                reason,
                paused: false,
            })
        });
        let again = match store_error {
            Some(error) => self.wait_for_image_store(error),
            None => self.wait_for_retry(self.pipeline.settings.images, passing),
        };
        let tries = match again {
            Ok(waits) => {
                let attempts = self.progress.attempts();
                let waiting = failures.into_iter().map(|(url, failure)| {
                    let (error, code, flaw) =
                        (short_text(&failure.to_string(), REASON), failure.code(), failure.flaw());
                    FailedImage { url, error, code, flaw, attempts }
                });
                self.progress.waiting_images = waiting.collect();
                return Ok(waits);
            }
            Err(made) => made,
        };
        let mut failed = std::mem::take(&mut self.progress.failed_images);
        failed.extend(failures.into_iter().map(|(url, failure)| {
            let (error, code, flaw) = (reason(&failure, tries), failure.code(), failure.flaw());
            FailedImage { url, error, code, flaw, attempts: tries }
        }));
        Ok(self.refer_to_images(&urls, &failed))
    }

    /// Fetches and stores the images that this request still needs. Stored images and permanent failures are added to the
    /// progress; transient failures are returned.
    async fn fetch_wanted(&mut self, urls: &[String]) -> Vec<(String, ImageFailure)> {
        let is_settled = |url: &&String| {
            self.progress.stored.iter().any(|image| image.shown.url == **url)
                || self.progress.failed_images.iter().any(|image| image.url == **url)
                || (self.is_retry() && self.known(url).is_some())
        };
        let wanted: Vec<&String> = urls.iter().filter(|url| !is_settled(url)).collect();
        // Once the store has failed, further images could not be stored either.
        let store_failed = AtomicBool::new(false);
        let calls = wanted.into_iter().map(|url| {
            let call = self.fetch(url, &store_failed);
            async move { (url, call.await) }
        });
        let calls: Vec<_> = calls.collect();
        // A slow image does not delay the others.
        let mut fetched: Vec<_> = stream::iter(calls).buffer_unordered(SIDE_BY_SIDE).collect().await;
        fetched.sort_by_key(|(url, _)| urls.iter().position(|one| one == *url));
        let attempts = self.progress.attempts() + 1;
        let failed = |url: &String, error, code, flaw| FailedImage { url: url.clone(), error, code, flaw, attempts };
        let mut failures = Vec::new();
        for (url, result) in fetched {
            match result {
                Ok(FetchedImage::New(cdn_url, checksum, source)) => {
                    let (id, photo) = self.identity(&checksum);
                    let shown = ImageRef { url: url.clone(), cdn_url, id, checksum, photo };
                    self.progress.stored.push(StoredImage { shown, source: Some(source) });
                }
                Ok(FetchedImage::Unchanged) => self.progress.stored.extend(self.known(url)),
                Err(ImageFailure::Host(ImageError::Unusable(flaw, reason))) => {
                    let error = format!("{reason}; it needs another address");
                    self.progress.failed_images.push(failed(url, error, Code::ImageFailed, Some(flaw)));
                }
                Err(ImageFailure::Quota(exceeded)) => {
                    self.progress.failed_images.push(failed(url, exceeded.to_string(), Code::QuotaExceeded, None));
                }
                Err(failure) => failures.push((url.clone(), failure)),
            }
        }
        failures
    }

    async fn fetch(&self, url: &str, store_failed: &AtomicBool) -> Result<FetchedImage, ImageFailure> {
        if store_failed.load(Ordering::Relaxed) {
            return Err(ImageFailure::Store(ImageStoreError::Unavailable));
        }
        // The reference is trusted: checking that its bytes are still stored would cost a request for each image.
        let source = self.known(url).and_then(|_| self.claimed.image_sources.get(url));
        let known = source.map(|source| &source.validators).filter(|validators| !validators.is_empty());
        let dealer_code = &self.claimed.stored.ad.dealer_code;
        let request = ImageRequest { url, dealer_code, known };
        let (image, validators) = match self.pipeline.ports.fetcher.fetch(request).await? {
            Fetched::Unchanged => return Ok(FetchedImage::Unchanged),
            Fetched::Image(image, validators) => (image, validators),
        };
        let quotas = self.pipeline.quotas.as_deref();
        if let Some(quotas) = quotas {
            quotas.admit_image(dealer_code, &image).await?;
        }
        let checksum = image.checksum.to_string();
        let now = self.pipeline.ports.clock.now();
        let held = self.pipeline.ports.store.hold_image(&checksum, self.claimed.request.id, now, now + HOLD).await;
        // Without its database the service cannot store images. One that is being removed can be stored soon.
        if !held.unwrap_or(false) {
            return Err(ImageFailure::Store(ImageStoreError::Unavailable));
        }
        let cdn_url = self.pipeline.ports.media.put(&image).await.map_err(|error| {
            store_failed.store(true, Ordering::Relaxed);
            ImageFailure::Store(error)
        })?;
        if let Some(quotas) = quotas {
            quotas.image_stored(dealer_code, &image).await.map_err(NotAdmitted::from)?;
        }
        let bytes = u64::try_from(image.bytes.len()).unwrap_or(u64::MAX);
        Ok(FetchedImage::New(cdn_url, checksum, ImageSource { bytes, validators }))
    }

    /// The image of an address that the ad already has.
    fn known(&self, url: &str) -> Option<StoredImage> {
        let shown = self.claimed.stored.ad.image_refs.iter().find(|image| image.url == url)?.clone();
        let source = self.claimed.image_sources.get(url).cloned();
        Some(StoredImage { shown, source })
    }

    /// The id of an image, and what its pixels say if that is known: the same bytes have the same within an ad.
    fn identity(&self, checksum: &str) -> (Uuid, Option<Photo>) {
        let stored = self.progress.stored.iter().map(|image| &image.shown);
        let known = self.claimed.stored.ad.image_refs.iter().chain(stored);
        known
            .filter(|image| image.checksum == checksum)
            .map(|image| (image.id, image.photo))
            .next()
            .unwrap_or_else(|| (self.pipeline.ports.ids.next(), None))
    }

    /// Sets the ad's images: those stored now, and for the other addresses those stored before.
    fn refer_to_images(&mut self, urls: &[String], failed: &[FailedImage]) -> ActionEnd {
        let now = std::mem::take(&mut self.progress.stored);
        let of_url =
            |url: &String| now.iter().find(|image| image.shown.url == *url).cloned().or_else(|| self.known(url));
        let images: Vec<StoredImage> = urls.iter().filter_map(of_url).collect();
        let refs: Vec<ImageRef> = images.iter().map(|image| image.shown.clone()).collect();
        let sources = images.into_iter().filter_map(|image| Some((image.shown.url, image.source?)));
        self.change.image_sources = Some(sources.collect());
        let ended = match failed {
            [] if refs.is_empty() => ActionEnd::Done("Images removed".into()),
            [] => ActionEnd::Done(format!("{} stored", counted(refs.len())).into()),
            [first, ..] => {
                // What the dealer can act on goes first.
                let code = failed.iter().map(|image| image.code).find(|code| *code == Code::ImageFailed);
                ActionEnd::Failed(code.unwrap_or(first.code), failure_message(urls, failed, &refs))
            }
        };
        self.change.image_refs = Some(refs);
        self.publication().failed_images = failed.to_vec();
        ended
    }
}

fn counted(images: usize) -> String {
    if images == 1 { "1 image".to_owned() } else { format!("{images} images") }
}

fn reason(failure: &ImageFailure, tries: u32) -> String {
    match failure {
        ImageFailure::Host(ImageError::Unusable(..)) | ImageFailure::Quota(_) => failure.to_string(),
        ImageFailure::Host(_) | ImageFailure::Store(_) => after_tries(&failure.to_string(), tries),
    }
}

/// The message about failed images, in the order of the list, which says whether a stored image was kept.
fn failure_message(urls: &[String], failed: &[FailedImage], refs: &[ImageRef]) -> Value {
    let is_kept = |image: &FailedImage| refs.iter().any(|kept| kept.url == image.url);
    let mut message = format!("{} of {} failed", failed.len(), counted(urls.len()));
    match failed.iter().filter(|image| is_kept(image)).count() {
        0 => {}
        1 => message.push_str("; 1 that was stored before is kept"),
        kept => message = format!("{message}; {kept} that were stored before are kept"),
    }
    let in_order = urls.iter().filter_map(|url| failed.iter().find(|image| image.url == *url));
    let images = in_order.take(NAMED).map(|image| {
        let mut named = Map::new();
        named.insert("url".to_owned(), short_address(&image.url).into());
        named.insert("error".to_owned(), short_text(&image.error, REASON).into());
        if is_kept(image) {
            named.insert("kept".to_owned(), true.into());
        }
        Value::Object(named)
    });
    json!({"message": message, "images": images.collect::<Vec<_>>()})
}
