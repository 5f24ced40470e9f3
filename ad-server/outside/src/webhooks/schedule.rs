//! When a delivery that failed is attempted again.

use std::time::Duration;

use ad_server_base::values::Period;

/// Longest pause that a receiver may ask for by `Retry-After`.
const LONGEST: Duration = Duration::from_hours(24);

/// Pauses differ by up to this part, so that deliveries that failed together are not attempted together again.
const JITTER: f64 = 0.1;

/// The pauses between the attempts of a delivery.
#[derive(Debug, Clone)]
pub struct Schedule(Vec<Duration>);

impl Schedule {
    pub fn new(pauses: &[Period]) -> Self {
        Self(pauses.iter().map(|pause| pause.duration()).collect())
    }

    /// The pause after so many attempts, at least as long as the receiver asks for; `None` when there are no more attempts.
    /// `chance` is a random number from 0 to 1.
    pub fn pause(&self, attempts: usize, asked: Option<Duration>, chance: f64) -> Option<Duration> {
        let pause = self.0.get(attempts.checked_sub(1)?)?;
        let pause = pause.mul_f64(1.0 - JITTER + 2.0 * JITTER * chance);
        Some(asked.unwrap_or_default().min(LONGEST).max(pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_differ_a_little_and_are_as_long_as_the_receiver_asks_for() {
        let schedule = Schedule::new(&["100s".parse().unwrap()]);
        let pause = |asked, chance| schedule.pause(1, asked, chance).unwrap().as_secs();
        assert_eq!((pause(None, 0.0), pause(None, 1.0)), (90, 110));
        assert_eq!(pause(Some(Duration::from_secs(5)), 0.5), 100);
        assert_eq!(pause(Some(Duration::from_secs(500)), 0.5), 500);
        assert_eq!(pause(Some(Duration::from_hours(1000)), 0.5), 24 * 3600);
    }
}
