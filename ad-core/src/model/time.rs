//! Points in time as the contract writes them: UTC, RFC 3339, millisecond precision, `Z` (decision 8).

use std::{fmt, str::FromStr, time::Duration};

use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
///
/// ```
/// use ad_core::model::Timestamp;
///
/// let time: Timestamp = "2026-01-15T10:00:00Z".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-01-15T10:00:00.000Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time that is so many milliseconds after 1970-01-01 UTC.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01 UTC.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads an HTTP date (RFC 9110, 5.6.7), such as `Thu, 15 Jan 2026 10:00:00 GMT`.
    pub fn from_http_date(text: &str) -> Option<Self> {
        let since_1970 = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self::default() + since_1970)
    }
}

/// The pause that the header `Retry-After` asks for: seconds, or the time from `now` to an HTTP date (RFC 9110, 10.2.3).
pub fn retry_after(value: &str, now: Option<Timestamp>) -> Option<Duration> {
    let value = value.trim();
    let seconds = value.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| Some(Timestamp::from_http_date(value)? - now?))
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl std::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl std::ops::Sub for Timestamp {
    type Output = Duration;

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
        let time = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        PRINTER.print_timestamp(&time, jiff::fmt::StdFmtWrite(formatter)).map_err(|_| fmt::Error)
    }
}

/// Neither ISO 8601 nor `YYYY-MM-DD HH:MM:SS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Enter a valid date and time, in UTC: YYYY-MM-DD HH:MM:SS.")]
pub struct NotATime;

impl FromStr for Timestamp {
    type Err = NotATime;

    /// ISO 8601 with a zone, or `YYYY-MM-DD HH:MM:SS` in UTC.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        text.parse::<jiff::Timestamp>()
            .or_else(|_| {
                text.parse::<jiff::civil::DateTime>()
                    .and_then(|time| Ok(time.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp()))
            })
            .map(|time| Self(time.as_millisecond()))
            .map_err(|_| NotATime)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp::from_http_date("Thu, 15 Jan 2026 10:00:00 GMT");
        let seconds = |value, now| retry_after(value, now).map(|pause| pause.as_secs());
        assert_eq!(seconds("120", None), Some(120));
        assert_eq!(seconds(" Thu, 15 Jan 2026 10:02:00 GMT", now), Some(120));
        assert_eq!(seconds("Thu, 15 Jan 2026 10:02:00 GMT", None), None);
        assert_eq!(seconds("Thu, 15 Jan 2026 09:00:00 GMT", now), Some(0));
        assert_eq!(seconds("soon", now), None);
        assert_eq!(seconds("-1", now), None);
    }
}
