//! Changes many ads, with progress, until all are done, Ctrl-C comes, or a failure concerns all of them.

use std::time::{Duration, Instant};

use ad_bulk::desired::Change;
use ad_files::text::grouped;
use ad_terminal::{CancellationToken, Failure, Output, bar};
use futures_util::{StreamExt, stream};

use super::revised::{Revised, RevisedAd};

/// How often there is a line where no bar is shown.
const LINES: Duration = Duration::from_secs(10);

/// What became of an ad, what changes, and what is to be said.
pub(super) type Written = (Revised, Vec<Change>, Option<String>);

/// What became of ads.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) ads: Vec<RevisedAd>,
    /// Why some were not reached.
    pub(crate) stopped: Option<Failure>,
}

/// How many ads are changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changing<'a> {
    pub(crate) out: Output,
    /// Maximum number of concurrent requests.
    pub(crate) parallel: usize,
    pub(crate) stop: &'a CancellationToken,
}

impl Changing<'_> {
    /// Changes ads, in this order. `what` is the word of the progress, and `count` their number.
    pub(super) async fn all<Work: Future<Output = Result<Written, Failure>>>(
        self,
        what: &str,
        count: u64,
        ads: impl Iterator<Item = (RevisedAd, Work)>,
    ) -> Changed {
        let template = format!("{what} {{bar:30.green}} {{human_pos:>7}}/{{human_len}} {{rate:>7}} {{eta:>5}} left");
        let bar = bar(self.out, count, &template);
        let (began, mut next) = (Instant::now(), LINES);
        let one = |(ad, work): (RevisedAd, Work)| async move {
            if self.stop.is_cancelled() {
                return (RevisedAd { outcome: Revised::NotSent, ..ad }, None);
            }
            match work.await {
                Ok((outcome, changes, message)) => (RevisedAd { outcome, changes, message, ..ad }, None),
                Err(failure) => {
                    self.stop.cancel();
                    let message = Some(failure.to_string());
                    (RevisedAd { outcome: Revised::Failed, message, ..ad }, Some(failure))
                }
            }
        };
        let mut answers = stream::iter(ads).map(one).buffered(self.parallel.max(1));
        let mut changed = Changed::default();
        while let Some((ad, failure)) = answers.next().await {
            changed.ads.push(ad);
            changed.stopped = changed.stopped.or(failure);
            bar.inc(1);
            if !self.out.shows_progress() && began.elapsed() >= next {
                next = began.elapsed() + LINES;
                let done = grouped(changed.ads.len() as u64);
                self.out.note(&format!("{what}: {done} of {}", grouped(count)));
            }
        }
        bar.finish_and_clear();
        if self.stop.is_cancelled() {
            changed.stopped.get_or_insert_with(Failure::interrupted);
        }
        changed
    }
}
