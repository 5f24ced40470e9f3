//! Images at addresses of this service, which need no HTTP: those that somebody has sent to the console, and those of other ads.

use std::{io, sync::Arc};

use ad_core::{
    model::{ImageFlaw, Validators},
    ports::{Fetched, Image, ImageError, ImageFetcher, ImageRequest},
};
use async_trait::async_trait;
use bytes::Bytes;

use super::{memory::ImageMemory, name::Name, store::Media};
use ad_server_base::limits::table::{IMAGE_BYTES, IMAGE_MEMORY};

/// Takes images at addresses of this service from the image store, and fetches others.
pub struct OwnImages {
    media: Media,
    others: Arc<dyn ImageFetcher>,
    memory: ImageMemory,
}

ad_server_base::debug_by_name!(OwnImages);

impl OwnImages {
    pub fn new(media: Media, others: Arc<dyn ImageFetcher>) -> Self {
        Self { media, others, memory: ImageMemory::new(IMAGE_MEMORY) }
    }

    async fn read(&self, dealer_code: &str, name: &Name) -> io::Result<Bytes> {
        let stored = self.media.read(name, true).await?;
        let size = usize::try_from(stored.size).map_err(io::Error::other)?;
        let mut buffer = self.memory.reserve(dealer_code, Some(size), IMAGE_BYTES).await;
        let bytes = stored.body.into_bytes().await.map_err(io::Error::other)?;
        buffer.add(&bytes).map_err(|_| io::Error::other("the stored image is longer than its size"))?;
        Ok(buffer.into_bytes())
    }
}

#[async_trait]
impl ImageFetcher for OwnImages {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        let Some(name) = self.media.own(request.url) else { return self.others.fetch(request).await };
        // What is stored under a name never changes.
        let etag = Some(format!("\"{}\"", name.stem()));
        if request.known.is_some_and(|known| known.etag == etag) {
            return Ok(Fetched::Unchanged);
        }
        let bytes = self.read(request.dealer_code, &name).await.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                ImageError::Unusable(ImageFlaw::Missing, "this service does not have the image any more".to_owned())
            }
            _ => ImageError::Transient {
                reason: "the image store of this service does not answer".to_owned(),
                retry_after: None,
            },
        })?;
        Ok(Fetched::Image(Image::new(bytes)?, Validators { etag, last_modified: None }))
    }
}
