//! How long the renditions of a photo take, from the stored file to the stored renditions.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::{
    memory::MemoryStore,
    ports::{Image, MediaStore},
};
use ad_server::media::{Media, MediaBase, Renditions};
use ad_tests::photos::{jpeg, photo};

use crate::support::median;

/// How long 12 megapixels may take.
const MOST: Duration = Duration::from_millis(250);

/// How often it is measured.
const TURNS: usize = 9;

/// Prints the row, and returns how many bounds are missed.
pub(super) async fn measure(folder: &Path) -> usize {
    let base = MediaBase::Service("https://ads.example".to_owned());
    let media = Media::open(folder.join("media").into(), base).await.expect("the folder can be written");
    let image = Image::new(jpeg(&photo(4000, 3000, 1)).into()).expect("it is a JPEG");
    let address = media.put(&image).await.expect("it can be stored");
    let renditions = Renditions::new(media, Arc::new(MemoryStore::default()), 200 << 20);
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let begun = Instant::now();
        let made = renditions.make("north", &address).await.expect("the folder can be written");
        assert!(made.facts().is_some(), "{made:?}");
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    let (time, most) = (median(times), MOST.as_secs_f64() * 1000.0);
    let missed = time > most;
    let mark = if missed { "  MISSED" } else { "" };
    println!("{:<36}{time:>9.0} ms{:>12}{:>9}{most:>6.0} ms{mark}", "Renditions of a 12-megapixel JPEG", "", "");
    usize::from(missed)
}
