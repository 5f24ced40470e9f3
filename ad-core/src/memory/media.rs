//! Images in memory: addresses with given answers, and a store by checksum.

use std::{
    collections::{HashMap, VecDeque},
    sync::Mutex,
};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    lock::locked,
    model::{ImageFlaw, Validators},
    ports::{Checksum, Fetched, Format, Image, ImageError, ImageFetcher, ImageRequest, ImageStoreError, MediaStore},
};

/// Image addresses with their answers.
#[derive(Debug, Default)]
pub struct MemoryImages(Mutex<HashMap<String, VecDeque<Answer>>>);

/// The answer of a host, with the validators of the image.
type Answer = Result<(Image, Validators), ImageError>;

impl MemoryImages {
    /// Adds an answer to an address. Each fetch takes the next answer; the last one is repeated.
    pub fn answer(&self, url: &str, answer: Result<Image, ImageError>) {
        let answer = answer.map(|image| (image, Validators::default()));
        locked(&self.0).entry(url.to_owned()).or_default().push_back(answer);
    }

    /// Adds an image with an `ETag` to an address. A conditional request with this `ETag` is answered as unchanged.
    pub fn put_version(&self, url: &str, image: Image, etag: &str) {
        let validators = Validators { etag: Some(etag.to_owned()), last_modified: None };
        locked(&self.0).entry(url.to_owned()).or_default().push_back(Ok((image, validators)));
    }

    /// Removes the answers of an address.
    pub fn clear(&self, url: &str) {
        locked(&self.0).remove(url);
    }

    /// Adds an image to an address.
    pub fn put(&self, url: &str, image: Image) {
        self.answer(url, Ok(image));
    }

    /// Adds a failure to an address.
    pub fn fail(&self, url: &str, error: ImageError) {
        self.answer(url, Err(error));
    }
}

#[async_trait]
impl ImageFetcher for MemoryImages {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        let mut addresses = locked(&self.0);
        let answers = addresses.get_mut(request.url).filter(|answers| !answers.is_empty());
        let answer = match answers {
            Some(answers) if answers.len() > 1 => answers.pop_front(),
            Some(answers) => answers.front().cloned(),
            None => None,
        }
        .unwrap_or_else(|| Err(ImageError::Unusable(ImageFlaw::Missing, "nothing is at this address".to_owned())));
        let (image, validators) = answer?;
        let is_known = !validators.is_empty() && request.known == Some(&validators);
        Ok(if is_known { Fetched::Unchanged } else { Fetched::Image(image, validators) })
    }
}

/// Images by checksum, served at `memory:/media/<checksum>.<extension>`.
#[derive(Debug, Default)]
pub struct MemoryMedia {
    images: Mutex<HashMap<Checksum, Image>>,
    failures: Mutex<VecDeque<ImageStoreError>>,
}

impl MemoryMedia {
    /// Makes storing the next image fail.
    pub fn fail_next(&self, error: ImageStoreError) {
        locked(&self.failures).push_back(error);
    }

    /// The image of a checksum.
    pub fn get(&self, checksum: Checksum) -> Option<Image> {
        locked(&self.images).get(&checksum).cloned()
    }

    /// How many images it holds.
    pub fn len(&self) -> usize {
        locked(&self.images).len()
    }

    /// Whether no image is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[async_trait]
impl MediaStore for MemoryMedia {
    async fn put(&self, image: &Image) -> Result<String, ImageStoreError> {
        if let Some(error) = locked(&self.failures).pop_front() {
            return Err(error);
        }
        locked(&self.images).entry(image.checksum).or_insert_with(|| image.clone());
        Ok(format!("memory:/media/{}.{}", image.checksum, image.format.extension()))
    }
}

/// A PNG of one pixel, for tests; each mark makes different bytes and so a different checksum.
pub fn one_pixel(mark: u8) -> Image {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
        \0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82";
    // Decoders stop at the end chunk and ignore the mark after it.
    let bytes = Bytes::from([PNG, &[mark]].concat());
    let checksum = Checksum::of(&bytes);
    Image { format: Format::Png, bytes, checksum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_are_taken_in_turn_and_the_last_one_stays() {
        let images = MemoryImages::default();
        let broken = ImageError::Unusable(ImageFlaw::Damaged, "broken".to_owned());
        images.fail("https://a", broken.clone());
        images.put("https://a", one_pixel(1));
        let fetch = |url| images.fetch(ImageRequest { url, dealer_code: "north-cars", known: None });
        let image = Fetched::Image(one_pixel(1), Validators::default());
        assert_eq!(fetch("https://a").await, Err(broken));
        assert_eq!(fetch("https://a").await, Ok(image.clone()));
        assert_eq!(fetch("https://a").await, Ok(image));
        assert!(fetch("https://b").await.is_err());
    }

    #[tokio::test]
    async fn the_same_bytes_are_stored_once() {
        let media = MemoryMedia::default();
        let url = media.put(&one_pixel(1)).await.unwrap();
        assert_eq!(url, format!("memory:/media/{}.png", one_pixel(1).checksum));
        assert_eq!(media.put(&one_pixel(1)).await.unwrap(), url);
        assert_ne!(media.put(&one_pixel(2)).await.unwrap(), url);
        assert_eq!(media.len(), 2);
        assert_eq!(media.get(one_pixel(2).checksum), Some(one_pixel(2)));
    }

    #[test]
    fn one_pixel_is_an_image() {
        let image = one_pixel(7);
        assert_eq!(Image::new(image.bytes.clone()), Ok(image));
    }
}
