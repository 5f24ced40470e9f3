//! Workers as processes of their own on one PostgreSQL database: two are not to be slower than one.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use ad_tests::Postgres;

use super::{Cars, PER_ROUND, PUBLISHED, drained};
use crate::support::{median, rate};

/// Turns of each number of processes.
const TURNS: usize = 4;

/// Prints how fast one process and two publish, in turns; returns how many bounds were missed.
pub(super) async fn compare(folder: &Path, server: &Postgres) -> usize {
    let url = server.database().await;
    let cars = Cars::start(folder, &url, 0).await;
    let mut rates = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        // Each number is first in turn, because the database grows.
        for index in [turn % 2, 1 - turn % 2] {
            for _ in (0..PUBLISHED / 2).step_by(PER_ROUND) {
                rate((0..PER_ROUND).map(|number| cars.post(number)).collect()).await;
            }
            let depth = async || cars.service.running.database.queue_depth().await.expect("the queue can be read");
            let queued = depth().await;
            let workers: Vec<_> = (0..=index).map(|_| Worker::start(folder, &url)).collect();
            // From the first one on that is done, so that starting is not counted.
            while depth().await == queued {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            let queued = depth().await;
            rates[index].push(drained(&cars.service.running.database, queued).await);
            drop(workers);
        }
    }
    cars.service.running.stop().await.expect("it stops");
    let [one, two] = rates.map(median);
    println!("{:<36}{:>12}{:>12}", "", "two", "one");
    println!("{:<36}{two:>12.0}{one:>12.0}{:>9.2}{:>9.1}", "Ads/s published by worker processes", two / one, 1.0);
    usize::from(two < one)
}

/// A worker process; it ends with the value.
pub(super) struct Worker(Child);

impl Worker {
    pub(super) fn start(folder: &Path, url: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_server-under-test"))
            .args(["worker", "--database-url", url, "--media"])
            .arg(folder.join("media"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("the server's binary can be started"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
