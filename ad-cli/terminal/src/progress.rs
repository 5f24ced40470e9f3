//! Progress: of an import, bars on a terminal and a line every few seconds elsewhere; of other tasks, a spinner on a terminal.

use std::{
    cell::Cell,
    pin::pin,
    time::{Duration, Instant},
};

use ad_bulk::import::Counts;
use ad_client::Error;
use futures_util::{Stream, TryStreamExt};
use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressState, ProgressStyle};
use serde::Serialize;

use super::{
    Failure, Output, Rows, counted, grouped,
    interrupt::{blocking, until_interrupted},
};

/// A bar with its rate and the time left.
const MOVING: &str = "{msg:>9} {wide_bar:.green} {human_pos:>7}/{human_len} {rate:>7} {eta:>5} left";

/// How often there is a line.
const LINES: Duration = Duration::from_secs(10);

/// After this time, a task has a spinner.
const SOON: Duration = Duration::from_secs(1);

/// Time between two frames of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// A count of what has been done: a spinner on stderr once it takes a while, and the message at Ctrl-C.
#[derive(Debug)]
pub struct Counter {
    /// What is counted, in the singular.
    what: &'static str,
    count: Cell<u64>,
    began: Instant,
    is_shown: bool,
}

impl Counter {
    /// For rows that are a table at the end.
    pub fn new(out: Output, what: &'static str) -> Self {
        let is_shown = out.shows_progress() && (out.is_table() || !out.stdout().is_terminal());
        Self::if_shown(is_shown, what)
    }

    /// For rows that are printed as they come: on the same terminal, they are the progress.
    pub fn streaming(out: Output, what: &'static str) -> Self {
        Self::if_shown(out.shows_progress() && !out.stdout().is_terminal(), what)
    }

    /// For rows that are printed between tasks, each of which reads some of them.
    pub fn between_rows(out: Output, what: &'static str) -> Self {
        Self::if_shown(out.shows_progress(), what)
    }

    fn if_shown(is_shown: bool, what: &'static str) -> Self {
        Self { what, count: Cell::new(0), began: Instant::now(), is_shown }
    }

    /// Counts one more row.
    pub fn add(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// Runs a task, and shows the count if it takes a while with the tasks before.
    ///
    /// # Errors
    /// Ctrl-C, with the count.
    pub fn run<'a, T>(&'a self, work: impl Future<Output = T> + 'a) -> impl Future<Output = Result<T, Failure>> {
        // Futures of commands are large, and each of the functions below would hold a copy.
        let work = Box::pin(work);
        async move {
            let text = || counted(self.count.get(), self.what);
            let done = until_interrupted(with_spinner(self.is_shown, self.began, text, work)).await;
            done.ok_or_else(|| Failure::interrupted_after(&text()))
        }
    }

    /// Shows each row as it is read; returns how many there were.
    ///
    /// # Errors
    /// As [`run`](Self::run), and those of the stream and of stdout.
    pub async fn rows<T: Serialize>(
        &self,
        rows: &mut Rows,
        all: impl Stream<Item = Result<T, Error>>,
    ) -> Result<u64, Failure> {
        let mut all = pin!(all);
        let read = async {
            while let Some(row) = all.try_next().await? {
                rows.push(&row)?;
                self.add();
            }
            Ok::<_, Failure>(())
        };
        self.run(read).await??;
        Ok(self.count.get())
    }
}

/// The same of work that blocks its thread: it says how far it has come, and hides the spinner before it prints.
#[derive(Debug)]
pub struct BlockingCounter {
    /// What is counted, in the singular.
    what: &'static str,
    began: Instant,
    is_shown: bool,
}

impl BlockingCounter {
    /// A counter of such things, in the singular.
    pub fn new(out: Output, what: &'static str) -> Self {
        Self { what, began: Instant::now(), is_shown: out.shows_progress() }
    }

    /// Whether the next count brings the spinner up.
    pub fn is_due(&self) -> bool {
        self.is_shown && self.began.elapsed() >= SOON && blocking().is_none()
    }

    /// Shows this number of finished items.
    pub fn show(&mut self, count: u64) {
        if self.is_shown && self.began.elapsed() >= SOON {
            let mut shown = blocking();
            let spinner = shown.get_or_insert_with(spinner);
            spinner.set_message(counted(count, self.what));
            spinner.tick();
        }
    }

    /// Removes the spinner until the count is shown again.
    pub fn hide(&mut self) {
        if self.is_shown {
            *blocking() = None;
        }
    }
}

/// A spinner that is cleared when it is dropped, also with an interrupted task.
fn spinner() -> ProgressBar {
    ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear)
}

/// Runs a task, and shows a spinner with a text on stderr if it takes a while.
pub async fn waiting<T>(out: Output, what: String, work: impl Future<Output = T>) -> T {
    with_spinner(out.shows_progress(), Instant::now(), || what.clone(), work).await
}

async fn with_spinner<T>(
    is_shown: bool,
    began: Instant,
    text: impl Fn() -> String,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    if !is_shown {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(SOON.saturating_sub(began.elapsed()), &mut work).await {
        return done;
    }
    let bar = spinner();
    loop {
        bar.set_message(text());
        bar.tick();
        if let Ok(done) = tokio::time::timeout(TICK, &mut work).await {
            return done;
        }
    }
}

#[derive(Debug)]
pub(super) struct Progress {
    out: Output,
    began: Instant,
    before: u64,
    total: u64,
    /// On a terminal: sent, published and failed.
    bars: Option<[ProgressBar; 3]>,
    /// Elsewhere: when the next line is due.
    next: Duration,
}

impl Progress {
    /// Of an import of so many ads, of which some were sent by earlier runs.
    pub(super) fn new(out: Output, total: u64, before: u64) -> Self {
        let bars = out.shows_progress().then(|| bars(total, before));
        Self { out, began: Instant::now(), before, total, bars, next: LINES }
    }

    pub(super) fn show(&mut self, counts: Counts) {
        let elapsed = self.began.elapsed();
        if let Some(bars) = &self.bars {
            let counts = [counts.sent, counts.published, counts.failed];
            bars.iter().zip(counts).for_each(|(bar, count)| bar.set_position(count));
        } else if elapsed >= self.next {
            self.next = elapsed + LINES;
            self.out.note(&line(counts, self.total, self.before, elapsed));
        }
    }

    /// Removes the bars before the report.
    pub(super) fn end(self) {
        self.bars.iter().flatten().for_each(ProgressBar::finish_and_clear);
    }
}

/// A bar on stderr, hidden where stderr cannot show it.
pub fn bar(out: Output, length: u64, template: &str) -> ProgressBar {
    if out.shows_progress() { ProgressBar::new(length).with_style(style(template)) } else { ProgressBar::hidden() }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants; if one were wrong, the default bar would be shown.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, to: &mut dyn std::fmt::Write| {
        let rate = state.per_sec();
        // Writing to the line of a bar cannot fail.
        let _ = if rate < 10.0 { write!(to, "{rate:.1}/s") } else { write!(to, "{rate:.0}/s") };
    })
}

fn bars(total: u64, before: u64) -> [ProgressBar; 3] {
    let all = MultiProgress::new();
    let bar = |name: &'static str, template: &str| {
        let bar = all.add(ProgressBar::new(total).with_style(style(template)).with_message(name));
        // The bar is drawn at least once, and again only if it changes.
        bar.tick();
        bar
    };
    let bars = [bar("sent", MOVING), bar("published", MOVING), bar("failed", "{msg:>9} {human_pos:.red}")];
    // What earlier runs have sent says nothing about the speed of this one.
    for bar in &bars[..2] {
        bar.set_position(before);
        bar.reset_eta();
    }
    bars
}

/// `sent 1,200 of 10,000 (98/s, 90 s left), published 1,100, failed 3`
fn line(counts: Counts, total: u64, before: u64, elapsed: Duration) -> String {
    let now = counts.sent.saturating_sub(before);
    let rate = now.checked_div(elapsed.as_secs().max(1)).unwrap_or_default();
    let left = total.saturating_sub(counts.sent + counts.failed);
    let remaining = match left.checked_div(rate) {
        Some(seconds) if left > 0 => format!(", {seconds} s left"),
        _ => String::new(),
    };
    format!(
        "sent {} of {} ({rate}/s{remaining}), published {}, failed {}",
        grouped(counts.sent),
        grouped(total),
        grouped(counts.published),
        grouped(counts.failed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_has_come_and_how_long_it_will_take() {
        let counts = Counts { sent: 1_200, published: 1_100, failed: 3 };
        let told = line(counts, 10_000, 200, Duration::from_secs(10));
        assert_eq!(told, "sent 1,200 of 10,000 (100/s, 87 s left), published 1,100, failed 3");
        let done = Counts { sent: 3, published: 1, failed: 0 };
        assert_eq!(line(done, 3, 0, Duration::from_millis(5)), "sent 3 of 3 (3/s), published 1, failed 0");
    }
}
