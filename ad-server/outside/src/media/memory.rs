//! Limits the memory of images while they are fetched, checked and stored. Dealers share it.
//!
//! The memory of an image is reserved before its body is read: its length, or the maximum if the host does not announce it. An image
//! never reserves more later, so that no two wait for each other.

use ad_server_base::limits::{FairPermit, FairSemaphore};
use bytes::Bytes;

/// How much is allocated first for an image whose length is not known.
const FIRST: usize = 64 * 1024;

/// Memory for images, in bytes.
#[derive(Debug, Clone)]
pub(super) struct ImageMemory(FairSemaphore);

impl ImageMemory {
    pub(super) fn new(bytes: usize) -> Self {
        Self(FairSemaphore::new(bytes))
    }

    /// Waits for the memory of an image of a dealer, of a known length or of at most `most` bytes.
    pub(super) async fn reserve(&self, dealer: &str, length: Option<usize>, most: usize) -> ImageBuffer {
        let taken = self.0.take(dealer, length.unwrap_or(most)).await;
        ImageBuffer { bytes: Vec::with_capacity(length.unwrap_or(FIRST)), most: length.unwrap_or(most), taken }
    }
}

/// An image that is being received, with its reserved memory.
#[derive(Debug)]
pub(super) struct ImageBuffer {
    bytes: Vec<u8>,
    most: usize,
    taken: FairPermit,
}

/// The image is larger than its reserved memory.
#[derive(Debug)]
pub(super) struct Full;

impl ImageBuffer {
    pub(super) fn add(&mut self, chunk: &[u8]) -> Result<(), Full> {
        let needed = self.bytes.len() + chunk.len();
        if needed > self.most {
            return Err(Full);
        }
        if needed > self.bytes.capacity() {
            let capacity = (2 * self.bytes.capacity()).clamp(needed, self.most);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// All bytes. Their memory is released with the last copy of them.
    pub(super) fn into_bytes(mut self) -> Bytes {
        self.taken.shrink(self.bytes.capacity());
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for ImageBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn memory_is_free_again_when_the_last_copy_of_an_image_is_gone() {
        let memory = ImageMemory::new(800);
        let mut room = memory.reserve("a", Some(400), 1000).await;
        room.add(&[1; 400]).unwrap();
        assert!(room.add(&[1]).is_err());
        let image = room.into_bytes();
        let (copy, part) = (image.clone(), image.slice(..10));
        drop((image, copy));
        assert_eq!(memory.0.free(), 400);
        drop(part);
        assert_eq!(memory.0.free(), 800);
    }

    #[tokio::test(start_paused = true)]
    async fn an_image_of_unknown_length_takes_the_most_until_it_has_come() {
        let memory = ImageMemory::new(80 * FIRST);
        let mut room = memory.reserve("a", None, 10 * FIRST).await;
        assert_eq!(memory.0.free(), 70 * FIRST);
        for _ in 0..3 {
            room.add(&vec![1; FIRST]).unwrap();
        }
        let image = room.into_bytes();
        assert_eq!(image.len(), 3 * FIRST);
        assert_eq!(memory.0.free(), 76 * FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn large_images_of_one_dealer_leave_memory_to_another() {
        let memory = ImageMemory::new(800);
        let mut held = Vec::new();
        for _ in 0..7 {
            held.push(memory.reserve("a", Some(100), 100).await);
        }
        assert!(timeout(Duration::from_mins(1), memory.reserve("a", Some(100), 100)).await.is_err());
        assert!(timeout(Duration::from_mins(1), memory.reserve("b", Some(100), 100)).await.is_ok());
    }
}
