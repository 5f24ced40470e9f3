//! Clocks that jump, by `libfaketime`, which stands between a process and its clock.

use std::{path::Path, time::Duration};

use ad_tests::tools;

use super::{country::Country, judge, lasting, load::Load};

/// Where Debian puts it.
const FOLDERS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime"];

#[tokio::test]
async fn clocks_that_jump_hold_nothing_up() {
    let folders = FOLDERS.map(Path::new);
    let Some(library) = tools::find("libfaketime.so.1", &folders, "apt-get install faketime") else { return };
    let folder = tempfile::tempdir().unwrap();
    let offset = folder.path().join("offset");
    std::fs::write(&offset, "+0").unwrap();
    let env = [
        ("LD_PRELOAD", library.as_path()),
        ("FAKETIME_TIMESTAMP_FILE", &offset),
        ("FAKETIME_NO_CACHE", Path::new("1")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", Path::new("1")),
        ("DONT_FAKE_MONOTONIC", Path::new("1")),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.display().to_string())).to_vec();
    let Some(mut country) = Country::start_with(2, 2, env).await else { return };
    let load = Load::start(&country.clients(), 16);
    let mut dice = fastrand::Rng::with_seed(9);
    // Hours ahead and back again, while requests wait for their next try and processes die with leases in their hands.
    for jump in ["+3h", "+0", "-2h", "+1d", "+0"] {
        load.more(30).await;
        country.fleet.kill_one(&mut dice).await;
        std::fs::write(&offset, jump).unwrap();
        tokio::time::sleep(lasting(1, 20).min(Duration::from_secs(20))).await;
    }
    load.more(30).await;
    let accepted = load.stop().await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, "the clock jumped five times").await;
}
