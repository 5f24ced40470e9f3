//! How much processor time the renditions of a photo take, from the stored file to the stored renditions. Other programs on the machine do
//! not count.

use std::{path::Path, sync::Arc};

use ad_core::{
    memory::MemoryStore,
    ports::{Image, MediaStore},
};
use ad_server::media::{Media, MediaBase, Renditions};
use ad_tests::photos::{jpeg, photo};

use crate::processor::processor_time;

/// Most milliseconds that 12 megapixels may take.
const MOST: f64 = 250.0;

/// How often they are made: the time is known by hundredths of a second.
const TURNS: u32 = 20;

/// Prints the row, and returns how many bounds are missed.
pub(super) async fn measure(folder: &Path) -> usize {
    let base = MediaBase::Service("https://ads.example".to_owned());
    let media = Media::open(folder.join("media").into(), base).await.expect("the folder can be written");
    let image = Image::new(jpeg(&photo(4000, 3000, 1)).into()).expect("it is a JPEG");
    let address = media.put(&image).await.expect("it can be stored");
    let renditions = Renditions::new(media, Arc::new(MemoryStore::default()), 200 << 20);
    let before = processor_time(std::process::id());
    for _ in 0..TURNS {
        let made = renditions.make("north", &address).await.expect("the folder can be written");
        assert!(made.facts().is_some(), "{made:?}");
    }
    let time = (processor_time(std::process::id()) - before) / f64::from(TURNS);
    let missed = time > MOST;
    let mark = if missed { "  MISSED" } else { "" };
    println!("{:<36}{time:>9.0} ms{:>12}{:>9}{MOST:>6.0} ms{mark}", "Renditions of a 12-megapixel JPEG", "", "");
    usize::from(missed)
}
