//! How much processor time the renditions of a photo take, from the stored file to the stored renditions. Other programs on the machine do
//! not count.

use std::{path::Path, sync::Arc};

use ad_core::{
    memory::MemoryStore,
    ports::{Image, MediaStore},
};
use ad_server::media::{Media, MediaBase, Renditions};
use ad_tests::photos::{jpeg, photo};

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
    let before = processor_time();
    for _ in 0..TURNS {
        let made = renditions.make("north", &address).await.expect("the folder can be written");
        assert!(made.facts().is_some(), "{made:?}");
    }
    let time = (processor_time() - before) / f64::from(TURNS);
    let missed = time > MOST;
    let mark = if missed { "  MISSED" } else { "" };
    println!("{:<36}{time:>9.0} ms{:>12}{:>9}{MOST:>6.0} ms{mark}", "Renditions of a 12-megapixel JPEG", "", "");
    usize::from(missed)
}

/// Processor time of this process in milliseconds (Linux).
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("it runs, on Linux");
    let behind_name = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // Hundredths of a second for the program, and for the system on its behalf.
    let times = behind_name.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}
