//! Clocks that are set back or forward.

use std::time::Duration;

use ad_tests::MovedClock;

use super::{country::Country, judge, lasting, load::Load};

#[tokio::test]
async fn clocks_that_jump_hold_nothing_up() {
    let Some(clock) = MovedClock::start() else { return };
    let Some(mut country) = Country::start_with(2, 2, clock.env()).await else { return };
    let load = Load::start(&country.clients(), 16);
    let mut dice = fastrand::Rng::with_seed(9);
    // Hours ahead and back again, while requests wait for their next try and processes die with leases in their hands.
    for jump in ["+3h", "+0", "-2h", "+1d", "+0"] {
        load.more(30).await;
        country.fleet.kill_one(&mut dice).await;
        clock.set(jump);
        tokio::time::sleep(lasting(1, 20).min(Duration::from_secs(20))).await;
    }
    load.more(30).await;
    let accepted = load.stop().await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, "the clock jumped five times").await;
}
