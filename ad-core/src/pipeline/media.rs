//! `handle_media`: the ad's images are fetched, stored and referred to, in the order of the list (decision 23).
//!
//! What is stored stays: an image that the ad has already is asked for conditionally, and when fetching it fails, the stored one keeps
//! its place. A retry fetches only what is missing.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use super::{
    Ended, Run,
    retry::{Passing, after_tries},
};
use crate::{
    model::{FailedImage, ImageRef, ImageSource, StoredImage, short_address, short_text},
    ports::{Fetched, ImageError, ImageRequest, ImageStoreError, StoreError},
    quotas::{NotAdmitted, QuotaExceeded},
    violation::Code,
};

/// Images of one ad that are fetched side by side.
const SIDE_BY_SIDE: usize = 4;

/// Most images that an entry names; an ad has no more.
const NAMED: usize = 20;

/// Longest reason in an entry, in bytes. With addresses of at most 200, an entry stays below 12 kB.
const REASON: usize = 300;

/// Why an image was not stored now.
enum Failure {
    /// Its host.
    Host(ImageError),
    /// The service's own image store.
    Store(ImageStoreError),
    /// The dealer's quota.
    Quota(QuotaExceeded),
}

impl Failure {
    fn code(&self) -> Code {
        match self {
            Self::Host(_) => Code::ImageFailed,
            Self::Store(_) => Code::ImageStoreUnavailable,
            Self::Quota(_) => Code::QuotaExceeded,
        }
    }
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        Self::Host(error)
    }
}

impl From<NotAdmitted> for Failure {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Exceeded(exceeded) => Self::Quota(exceeded),
            // Without its database the service cannot store images either.
            NotAdmitted::Store(_) => Self::Store(ImageStoreError::Unavailable),
        }
    }
}

/// What came of asking for an image.
enum Got {
    /// It was stored: where it is shown, its checksum, and what is kept about it.
    New(String, String, ImageSource),
    /// It is the one that the ad has.
    Unchanged,
}

impl Run<'_> {
    pub(super) async fn handle_media(&mut self) -> Result<Ended, StoreError> {
        self.checkpoint().await?;
        let urls: Vec<String> = self.claimed.stored.ad.content.image_urls().map(str::to_owned).collect();
        let failures = self.fetch_wanted(&urls).await;
        let store_error = failures.iter().find_map(|(_, failure)| match failure {
            Failure::Store(error) => Some(*error),
            Failure::Host(_) | Failure::Quota(_) => None,
        });
        let passing = failures.iter().filter_map(|(_, failure)| {
            let Failure::Host(error) = failure else { return None };
            let (pause, asked) = match error {
                ImageError::Transient { retry_after, .. } => (*retry_after, true),
                ImageError::NotAsked { retry_after, .. } => (Some(*retry_after), false),
                ImageError::Unusable(_) => return None,
            };
            Some(Passing { pause, asked, reason: format!("image: {error}") })
        });
        let again = match store_error {
            Some(error) => self.again_for_store(error),
            None => self.again(self.pipeline.patience.images, passing),
        };
        let tries = match again {
            Ok(waits) => return Ok(waits),
            Err(made) => made,
        };
        let mut failed = std::mem::take(&mut self.progress.failed_images);
        failed.extend(failures.into_iter().map(|(url, failure)| {
            let (error, code) = (reason(&failure, tries), failure.code());
            FailedImage { url, error, code }
        }));
        Ok(self.refer_to_images(&urls, &failed))
    }

    /// Fetches and stores what this request wants and has not got yet. What worked is added to the progress, and so is what will not
    /// work; what may work later is returned.
    async fn fetch_wanted(&mut self, urls: &[String]) -> Vec<(String, Failure)> {
        let is_settled = |url: &&String| {
            self.progress.stored.iter().any(|image| image.shown.url == **url)
                || self.progress.failed_images.iter().any(|image| image.url == **url)
                || (self.is_retry() && self.known(url).is_some())
        };
        let wanted: Vec<&String> = urls.iter().filter(|url| !is_settled(url)).collect();
        // Once the store has failed, what is fetched could not be stored either.
        let store_failed = AtomicBool::new(false);
        let calls = wanted.into_iter().map(|url| {
            let call = self.fetch(url, &store_failed);
            async move { (url, call.await) }
        });
        let calls: Vec<_> = calls.collect();
        // A slow one holds up itself only.
        let mut fetched: Vec<_> = stream::iter(calls).buffer_unordered(SIDE_BY_SIDE).collect().await;
        fetched.sort_by_key(|(url, _)| urls.iter().position(|one| one == *url));
        let mut failures = Vec::new();
        for (url, result) in fetched {
            match result {
                Ok(Got::New(cdn_url, checksum, source)) => {
                    let id = self.image_id(&checksum);
                    let shown = ImageRef { url: url.clone(), cdn_url, id, checksum };
                    self.progress.stored.push(StoredImage { shown, source: Some(source) });
                }
                Ok(Got::Unchanged) => self.progress.stored.extend(self.known(url)),
                Err(Failure::Host(ImageError::Unusable(reason))) => {
                    let error = format!("{reason}; it needs another address");
                    self.progress.failed_images.push(FailedImage { url: url.clone(), error, code: Code::ImageFailed });
                }
                Err(Failure::Quota(exceeded)) => {
                    let (error, code) = (exceeded.to_string(), Code::QuotaExceeded);
                    self.progress.failed_images.push(FailedImage { url: url.clone(), error, code });
                }
                Err(failure) => failures.push((url.clone(), failure)),
            }
        }
        failures
    }

    async fn fetch(&self, url: &str, store_failed: &AtomicBool) -> Result<Got, Failure> {
        if store_failed.load(Ordering::Relaxed) {
            return Err(Failure::Store(ImageStoreError::Unavailable));
        }
        // The reference is trusted: to look whether its bytes are still there would cost a request for each image.
        let source = self.known(url).and_then(|_| self.claimed.image_sources.get(url));
        let known = source.map(|source| &source.validators).filter(|validators| !validators.is_empty());
        let dealer_code = &self.claimed.stored.ad.dealer_code;
        let request = ImageRequest { url, dealer_code, known };
        let (image, validators) = match self.pipeline.fetcher.fetch(request).await? {
            Fetched::Unchanged => return Ok(Got::Unchanged),
            Fetched::Image(image, validators) => (image, validators),
        };
        let quotas = self.pipeline.quotas.as_deref();
        if let Some(quotas) = quotas {
            quotas.admit_image(dealer_code, &image).await?;
        }
        let cdn_url = self.pipeline.media.put(&image).await.map_err(|error| {
            store_failed.store(true, Ordering::Relaxed);
            Failure::Store(error)
        })?;
        if let Some(quotas) = quotas {
            quotas.image_stored(dealer_code, &image).await.map_err(NotAdmitted::from)?;
        }
        let bytes = u64::try_from(image.bytes.len()).unwrap_or(u64::MAX);
        Ok(Got::New(cdn_url, image.checksum.to_string(), ImageSource { bytes, validators }))
    }

    /// The image that the ad has of an address.
    fn known(&self, url: &str) -> Option<StoredImage> {
        let shown = self.claimed.stored.ad.image_refs.iter().find(|image| image.url == url)?.clone();
        let source = self.claimed.image_sources.get(url).cloned();
        Some(StoredImage { shown, source })
    }

    /// The same bytes keep their id within an ad.
    fn image_id(&self, checksum: &str) -> uuid::Uuid {
        let stored = self.progress.stored.iter().map(|image| &image.shown);
        let known = self.claimed.stored.ad.image_refs.iter().chain(stored);
        known
            .filter(|image| image.checksum == checksum)
            .map(|image| image.id)
            .next()
            .unwrap_or_else(|| self.pipeline.ids.next())
    }

    /// The ad shows what was stored now, and of the others what was stored before.
    fn refer_to_images(&mut self, urls: &[String], failed: &[FailedImage]) -> Ended {
        let now = std::mem::take(&mut self.progress.stored);
        let of_url =
            |url: &String| now.iter().find(|image| image.shown.url == *url).cloned().or_else(|| self.known(url));
        let images: Vec<StoredImage> = urls.iter().filter_map(of_url).collect();
        let refs: Vec<ImageRef> = images.iter().map(|image| image.shown.clone()).collect();
        let sources = images.into_iter().filter_map(|image| Some((image.shown.url, image.source?)));
        self.change.image_sources = Some(sources.collect());
        let ended = match failed {
            [] if refs.is_empty() => Ended::Done("Images removed".into()),
            [] => Ended::Done(format!("{} stored", counted(refs.len())).into()),
            [first, ..] => {
                // What the dealer can act on goes first.
                let code = failed.iter().map(|image| image.code).find(|code| *code == Code::ImageFailed);
                Ended::Failed(code.unwrap_or(first.code), failure_message(urls, failed, &refs))
            }
        };
        self.change.image_refs = Some(refs);
        ended
    }
}

fn counted(images: usize) -> String {
    if images == 1 { "1 image".to_owned() } else { format!("{images} images") }
}

fn reason(failure: &Failure, tries: u32) -> String {
    match failure {
        Failure::Host(ImageError::Transient { reason, .. } | ImageError::NotAsked { reason, .. }) => {
            after_tries(reason, tries)
        }
        Failure::Host(ImageError::Unusable(reason)) => reason.clone(),
        Failure::Store(error) => after_tries(&error.to_string(), tries),
        Failure::Quota(exceeded) => exceeded.to_string(),
    }
}

/// Names each image that failed, in the order of the list, and says whether a stored one was kept in its place.
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
