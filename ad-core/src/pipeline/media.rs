//! `handle_media`: the ad's images are fetched, stored and referred to, in the order of the list (decision 23).

use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};

use super::{
    Ended, Pipeline, Run,
    retry::{Passing, after_tries},
};
use crate::{
    ad::ImageRef,
    ports::{ImageError, StoreError},
};

/// Images of one ad that are fetched side by side.
const SIDE_BY_SIDE: usize = 4;

impl Run<'_> {
    pub(super) async fn handle_media(&mut self) -> Result<Ended, StoreError> {
        self.checkpoint().await?;
        let urls: Vec<String> = self.claimed.stored.ad.content.image_urls().map(str::to_owned).collect();
        if self.claimed.request.plan.is_none() && self.progress.tries == 0 {
            // A retry fetches what is missing; what is stored stays.
            let kept = self.claimed.stored.ad.image_refs.iter().filter(|image| urls.contains(&image.url));
            self.progress.stored = kept.cloned().collect();
        }
        let failures = self.fetch_missing(&urls).await;
        let passing = failures.iter().filter_map(|(_, error)| {
            let (pause, asked) = match error {
                ImageError::Transient { retry_after, .. } => (*retry_after, true),
                ImageError::NotAsked { retry_after, .. } => (Some(*retry_after), false),
                ImageError::Unusable(_) => return None,
            };
            Some(Passing { pause, asked, reason: format!("image: {error}") })
        });
        let tries = match self.again(self.pipeline.patience.images, passing) {
            Ok(waits) => return Ok(waits),
            Err(made) => made,
        };
        let stored = std::mem::take(&mut self.progress.stored);
        let mut images = Vec::with_capacity(urls.len());
        for url in &urls {
            images.extend(stored.iter().find(|image| image.url == *url).cloned());
        }
        let message = outcome(images.len(), &failures, tries);
        self.change.image_refs = Some(images);
        Ok(if failures.is_empty() { Ended::Done(message) } else { Ended::Failed(message) })
    }

    /// Fetches and stores what is not stored yet; what worked is added to the progress, what did not is returned.
    async fn fetch_missing(&mut self, urls: &[String]) -> Vec<(String, ImageError)> {
        let mut missing = Vec::new();
        for url in urls.iter().filter(|url| !self.progress.stored.iter().any(|image| image.url == **url)) {
            let place = missing.len();
            missing.push(fetch(self.pipeline, url).map(move |fetched| (place, fetched)));
        }
        // A slow one holds up itself only; what is told of them keeps the order of the list.
        let mut fetched: Vec<_> = stream::iter(missing).buffer_unordered(SIDE_BY_SIDE).collect().await;
        fetched.sort_unstable_by_key(|(place, _)| *place);
        let mut failures = Vec::new();
        for (_, (url, result)) in fetched {
            match result {
                Ok((cdn_url, checksum)) => {
                    let id = self.image_id(&checksum);
                    self.progress.stored.push(ImageRef { url: url.to_owned(), cdn_url, id, checksum });
                }
                Err(error) => failures.push((url.to_owned(), error)),
            }
        }
        failures
    }

    /// The same bytes keep their id within an ad.
    fn image_id(&self, checksum: &str) -> uuid::Uuid {
        let known = self.claimed.stored.ad.image_refs.iter().chain(&self.progress.stored);
        known
            .filter(|image| image.checksum == checksum)
            .map(|image| image.id)
            .next()
            .unwrap_or_else(|| self.pipeline.ids.next())
    }
}

async fn fetch<'u>(pipeline: &Pipeline, url: &'u str) -> (&'u str, Result<(String, String), ImageError>) {
    let stored = async {
        let image = pipeline.fetcher.fetch(url).await?;
        let cdn_url = pipeline.media.put(&image).await?;
        Ok((cdn_url, image.checksum.to_string()))
    };
    (url, stored.await)
}

fn outcome(stored: usize, failures: &[(String, ImageError)], tries: u32) -> Value {
    let images = |count: usize| if count == 1 { "1 image".to_owned() } else { format!("{count} images") };
    if failures.is_empty() {
        return Value::from(if stored == 0 {
            "Images removed".to_owned()
        } else {
            format!("{} stored", images(stored))
        });
    }
    let told: Vec<Value> = failures
        .iter()
        .map(|(url, error)| {
            let reason = match error {
                ImageError::Transient { reason, .. } | ImageError::NotAsked { reason, .. } => {
                    after_tries(reason, tries)
                }
                ImageError::Unusable(reason) => reason.clone(),
            };
            json!({"url": url, "error": reason})
        })
        .collect();
    let message = format!("{} of {} failed", failures.len(), images(stored + failures.len()));
    json!({"message": message, "images": told})
}
