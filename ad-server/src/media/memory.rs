//! How much memory images may take while they are fetched, judged and stored. It is counted in bytes that have come: a
//! host that is silent, or sends little by little, takes next to nothing from the others.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted, in bytes; a semaphore counts no further than to a few billion.
const UNIT: usize = 64 * 1024;

/// Memory for images.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    free: Arc<Semaphore>,
    /// Who has this may take more than there is. Without it, images that have come half might all wait for each other;
    /// with it one of them comes to its end, and then the next.
    beyond: Arc<Semaphore>,
}

impl Memory {
    pub(super) fn new(bytes: usize) -> Self {
        let free = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(free)), beyond: Arc::new(Semaphore::new(1)) }
    }

    /// Room for an image, none of it taken yet.
    pub(super) fn room(&self) -> Room {
        Room { memory: self.clone(), bytes: Vec::new(), taken: None, beyond: None }
    }
}

/// An image that is coming, and the memory that it has taken.
#[derive(Debug)]
pub(super) struct Room {
    memory: Memory,
    bytes: Vec<u8>,
    taken: Option<OwnedSemaphorePermit>,
    beyond: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// How much has come.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether this much more can be added without waiting for memory.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.len() + more <= self.bytes.capacity()
    }

    /// Waits until there is memory for this much more. What is taken doubles each time, up to `most` altogether.
    pub(super) async fn grow(&mut self, more: usize, most: usize) {
        let needed = self.len() + more;
        let capacity = needed.max((2 * self.bytes.capacity()).max(UNIT).min(most));
        let units = capacity.div_ceil(UNIT) - self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if self.beyond.is_none() && units > 0 {
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            let never = "these semaphores are never closed";
            tokio::select! {
                biased;
                taken = Arc::clone(&self.memory.free).acquire_many_owned(units) => match (&mut self.taken, taken.expect(never)) {
                    (Some(before), more) => before.merge(more),
                    (none, first) => *none = Some(first),
                },
                beyond = Arc::clone(&self.memory.beyond).acquire_owned() => self.beyond = Some(beyond.expect(never)),
            }
        }
        self.bytes.reserve_exact(capacity - self.bytes.len());
    }

    /// Adds what there is room for.
    pub(super) fn add(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    /// All that has come. The memory is free again when the last copy of these bytes is gone, wherever it went.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Room {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn filled(memory: &Memory, bytes: usize) -> Room {
        let mut room = memory.room();
        while room.len() < bytes {
            let chunk = vec![1; UNIT.min(bytes - room.len())];
            if !room.has_room_for(chunk.len()) {
                room.grow(chunk.len(), bytes).await;
            }
            room.add(&chunk);
        }
        room
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_free_again_when_the_last_copy_of_an_image_is_gone() {
        let memory = Memory::new(4 * UNIT);
        let image = filled(&memory, 4 * UNIT).await.into_bytes();
        assert_eq!(memory.free.available_permits(), 0);
        let (copy, part) = (image.clone(), image.slice(..10));
        drop((image, copy));
        assert_eq!(memory.free.available_permits(), 0);
        drop(part);
        assert_eq!(memory.free.available_permits(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn images_that_have_come_half_do_not_wait_for_each_other_for_ever() {
        let memory = Memory::new(4 * UNIT);
        let mut halves = Vec::new();
        for _ in 0..4 {
            halves.push(filled(&memory, UNIT).await);
        }
        let (mut one, mut other) = (halves.pop().unwrap(), halves.pop().unwrap());
        one.grow(UNIT, 2 * UNIT).await;
        assert!(one.has_room_for(UNIT) && one.beyond.is_some());
        // One only: what is beyond is bounded, too.
        let waits = timeout(Duration::from_mins(1), other.grow(UNIT, 2 * UNIT)).await;
        assert!(waits.is_err());
        drop(one);
        other.grow(UNIT, 2 * UNIT).await;
        assert!(other.has_room_for(UNIT));
    }
}
