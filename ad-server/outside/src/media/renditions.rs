//! Makes renditions of stored images, and stores them beside the images. It limits how many images are decoded at once and how much
//! memory they take. Dealers share both.

use std::{io, sync::Arc, thread};

use ad_core::{
    model::{Photo, Undecodable},
    ports::PhotoStore,
};

use super::{
    name::Name,
    photo::{Decoded, Header},
    store::{Media, Stored},
};
use ad_server_base::limits::FairSemaphore;

/// Makes renditions. Clones share its limits.
#[derive(Clone)]
pub struct Renditions {
    media: Media,
    store: Arc<dyn PhotoStore>,
    slots: FairSemaphore,
    memory: FairSemaphore,
    most_memory: usize,
}

ad_server_base::debug_by_name!(Renditions);

impl Renditions {
    /// Renditions of these images, decoded in this much memory at once. What is known of images is in the store.
    pub fn new(media: Media, store: Arc<dyn PhotoStore>, memory: usize) -> Self {
        let (slots, shares) = (FairSemaphore::with_reserve(Self::slots(), 0), FairSemaphore::with_reserve(memory, 0));
        Self { media, store, slots, memory: shares, most_memory: memory }
    }

    /// How many images are decoded at once: half of the processors are for everything else.
    pub fn slots() -> usize {
        thread::available_parallelism().map_or(1, |processors| processors.get().div_ceil(2))
    }

    /// Decodes a stored image of a dealer, given by its address, and stores its renditions. The error is about the image store;
    /// [`io::ErrorKind::NotFound`] means that it does not have the image.
    pub async fn make(&self, dealer_code: &str, cdn_url: &str) -> io::Result<Photo> {
        let name =
            Name::at(cdn_url).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not an address of an image"))?;
        let _slot = self.slots.take(dealer_code, 1).await;
        self.make_of(dealer_code, &name).await
    }

    /// Whether a rendition of an image, given by its address, is not stored.
    pub async fn are_missing(&self, cdn_url: &str, photo: &Photo) -> io::Result<bool> {
        let (Some(name), Some(facts)) = (Name::at(cdn_url), photo.facts()) else { return Ok(false) };
        for (width, _) in facts.renditions() {
            match self.media.read(&name.rendition(width), false).await {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// A rendition that was stored and is missing: makes it again, if the image is known and has a rendition of this width.
    pub(super) async fn remake(&self, rendition: &Name, wanted: bool) -> io::Result<Stored> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let photo = self.store.photo(&rendition.checksum).await.map_err(io::Error::other)?;
        let facts = photo.as_ref().and_then(Photo::facts).ok_or_else(missing)?;
        if !facts.renditions().any(|(width, _)| Some(width) == rendition.width) {
            return Err(missing());
        }
        let _slot = self.slots.take("", 1).await;
        match self.media.read(rendition, wanted).await {
            // Another task has made it in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        for name in rendition.originals() {
            match self.make_of("", &name).await {
                Ok(_) => return self.media.read(rendition, wanted).await,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(missing())
    }

    async fn make_of(&self, dealer_code: &str, name: &Name) -> io::Result<Photo> {
        let file = self.media.bytes(name).await?;
        let format = name.format;
        let header = match decoding(move || Header::read(&file, format)).await? {
            Ok(header) if header.memory <= self.most_memory => header,
            Ok(_) => return Ok(Photo::Undecodable(Undecodable::TooLarge)),
            Err(error) => return Ok(Photo::Undecodable(error)),
        };
        let share = self.memory.take(dealer_code, header.memory).await;
        // The memory stays reserved until it is freed, even if the caller no longer waits for the renditions.
        let decoded = decoding(move || {
            let decoded = header.decode();
            drop(share);
            decoded
        });
        match decoded.await? {
            Err(error) => Ok(Photo::Undecodable(error)),
            Ok(Decoded { facts, renditions }) => {
                for (width, file) in renditions {
                    self.media.store(&name.rendition(width), &file).await?;
                }
                Ok(Photo::Decoded(facts))
            }
        }
    }
}

/// Does something with a file from outside on a thread of its own. A panic of a decoder means that the file is damaged.
async fn decoding<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Undecodable> + Send + 'static,
) -> io::Result<Result<T, Undecodable>> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) if error.is_panic() => {
            tracing::warn!("the decoder panicked; the image counts as damaged");
            Ok(Err(Undecodable::Damaged))
        }
        Err(_) => Err(io::Error::other("the service is stopping")),
    }
}
