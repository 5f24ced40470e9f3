//! Faults that make many operations fail at once, such as a database that is away: one line for the first, then one every few seconds
//! for all the others.

use std::{fmt::Display, sync::Mutex, time::Duration};

use ad_core::lock::locked;
use tokio::{runtime::Handle, time::sleep};

/// Time between two lines about the same fault.
const PAUSE: Duration = Duration::from_secs(5);

/// A kind of fault. It begins with the first report, and ends when none has come for some seconds.
pub struct FaultLog {
    /// What does not work, and what happens with it.
    message: &'static str,
    /// What has come since the last line; `None` while there is no such fault.
    repeats: Mutex<Option<Repeats>>,
}

crate::debug_by_name!(FaultLog);

struct Repeats {
    /// The error that came first since the last line.
    first: Option<String>,
    count: u64,
}

impl FaultLog {
    pub const fn new(message: &'static str) -> Self {
        Self { message, repeats: Mutex::new(None) }
    }

    /// Logs the fault, or counts it if it was logged a moment ago.
    pub fn report(&'static self, error: &impl Display) {
        let mut repeats = locked(&self.repeats);
        if let Some(repeats) = &mut *repeats {
            repeats.first.get_or_insert_with(|| error.to_string());
            repeats.count += 1;
            return;
        }
        tracing::warn!(%error, "{}", self.message);
        if let Ok(runtime) = Handle::try_current() {
            *repeats = Some(Repeats { first: None, count: 0 });
            runtime.spawn(self.summarize());
        }
    }

    /// Logs what was counted, until a pause without a fault.
    async fn summarize(&self) {
        loop {
            sleep(PAUSE).await;
            let mut repeats = locked(&self.repeats);
            let Some(Repeats { first: Some(error), count }) = repeats.take() else { return };
            tracing::warn!(error, count, "{}, {count} times in the last {} s", self.message, PAUSE.as_secs());
            *repeats = Some(Repeats { first: None, count: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::Arc,
    };

    use super::*;

    static AWAY: FaultLog = FaultLog::new("the database is away");

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            locked(&self.0).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_line_says_what_many_errors_have_in_common() {
        let written = Written::default();
        let lines = written.clone();
        let format = tracing_subscriber::fmt().with_writer(move || lines.clone()).with_ansi(false).without_time();
        let _logged = tracing::subscriber::set_default(format.finish());
        for number in 0..1000 {
            AWAY.report(&format!("error {number}"));
        }
        sleep(3 * PAUSE).await;
        AWAY.report(&"again");
        let written = String::from_utf8(locked(&written.0).clone()).unwrap();
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines.len(), 3, "{written}");
        assert!(lines[0].ends_with("the database is away error=error 0"), "{written}");
        assert!(lines[1].contains("away, 999 times in the last 5 s error=\"error 1\""), "{written}");
        assert!(lines[2].ends_with("the database is away error=again"), "{written}");
    }
}
