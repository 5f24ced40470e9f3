//! Promotions by the clock (extensions E9.4): which ads are promoted when, and what each run did.

use std::{fmt, str::FromStr};

use jiff::{
    civil::{Date, DateTime, Time, Weekday as CivilWeekday},
    tz::{AmbiguousOffset, TimeZone},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    account::{Amount, PromotionKind},
    names::names,
    query::{AdOrder, Exclusions},
    request::RequestOrigin,
    revision::AskedBy,
    time::Timestamp,
};
use crate::violation::Code;

/// Maximum number of schedules of a dealer.
pub const MOST_PROMOTIONS: u32 = 100;

/// Maximum number of ads that a run promotes.
pub const MOST_PER_RUN: u32 = 500;

/// Maximum number of ads of a schedule that runs once, at once.
pub const MOST_AT_ONCE: u32 = 3000;

/// Number of ads that a run promotes at most, unless its schedule says otherwise.
pub const DEFAULT_PER_RUN: u32 = 100;

/// Maximum number of ads that a run looks at.
pub const MOST_CANDIDATES: u32 = 1000;

/// Largest number of days of [`PromotionRules::min_age_days`].
pub const MOST_AGE_DAYS: u32 = 3650;

/// Number of runs that are kept of each schedule.
pub const MOST_RUNS: u32 = 100;

/// Days in which each weekday occurs, also when the zone leaves out one of them.
const DAYS: usize = 16;

names! {
    /// A day of the week on which a schedule runs.
    #[expect(missing_docs, reason = "each is the day of its name")]
    pub enum Weekday {
        Monday = "mon",
        Tuesday = "tue",
        Wednesday = "wed",
        Thursday = "thu",
        Friday = "fri",
        Saturday = "sat",
        Sunday = "sun",
    }
}

impl Weekday {
    const fn of(day: CivilWeekday) -> Self {
        match day {
            CivilWeekday::Monday => Self::Monday,
            CivilWeekday::Tuesday => Self::Tuesday,
            CivilWeekday::Wednesday => Self::Wednesday,
            CivilWeekday::Thursday => Self::Thursday,
            CivilWeekday::Friday => Self::Friday,
            CivilWeekday::Saturday => Self::Saturday,
            CivilWeekday::Sunday => Self::Sunday,
        }
    }
}

/// The time of day of a schedule, such as `08:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(Time);

impl TimeOfDay {
    /// The minute in which a time is.
    pub fn of(time: Timestamp, zone: &TimeZone) -> Self {
        let time = local(time, zone).time();
        Self(Time::new(time.hour(), time.minute(), 0, 0).unwrap_or(time))
    }
}

/// A text that is no [`TimeOfDay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Enter a time of day from 00:00 to 23:59, such as \"08:00\".")]
pub struct NotATimeOfDay;

/// The number of a text of exactly so many digits.
fn digits<T: FromStr>(text: &str, count: usize) -> Option<T> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

impl FromStr for TimeOfDay {
    type Err = NotATimeOfDay;

    fn from_str(text: &str) -> Result<Self, NotATimeOfDay> {
        let (hour, minute) = text.split_once(':').ok_or(NotATimeOfDay)?;
        let (hour, minute) = (digits(hour, 2).ok_or(NotATimeOfDay)?, digits(minute, 2).ok_or(NotATimeOfDay)?);
        Time::new(hour, minute, 0, 0).map(Self).map_err(|_| NotATimeOfDay)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}:{:02}", self.0.hour(), self.0.minute())
    }
}

/// The last day of a schedule, such as `2026-12-31`, in its time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LastDay(Date);

/// A text that is no [`LastDay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Enter a day of the form YYYY-MM-DD, such as \"2026-12-31\".")]
pub struct NotADay;

impl LastDay {
    /// The day in which a time is.
    pub fn of(time: Timestamp, zone: &TimeZone) -> Self {
        Self(local(time, zone).date())
    }

    /// The day after it; the same one at the end of time.
    #[must_use]
    pub fn next(self) -> Self {
        self.0.tomorrow().map_or(self, Self)
    }

    /// Its day of the week.
    pub fn weekday(self) -> Weekday {
        Weekday::of(self.0.weekday())
    }

    /// Whether all of the day is over at a time.
    pub fn is_over(self, now: Timestamp, zone: &TimeZone) -> bool {
        self.0 < local(now, zone).date()
    }
}

impl FromStr for LastDay {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let mut parts = text.splitn(3, '-');
        let mut part = || parts.next().ok_or(NotADay);
        let (year, month, day) = (part()?, part()?, part()?);
        let year = digits(year, 4).ok_or(NotADay)?;
        let (month, day) = (digits(month, 2).ok_or(NotADay)?, digits(day, 2).ok_or(NotADay)?);
        Date::new(year, month, day).map(Self).map_err(|_| NotADay)
    }
}

impl fmt::Display for LastDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

macro_rules! as_text {
    ($($type:ident)+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )+};
}

as_text! { TimeOfDay LastDay AdsOrder }

/// The order in which a run takes the ads, written as the parameter `ordering` of a list: `updated`, `-created`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdsOrder {
    /// The property that the ads are sorted by.
    pub by: AdOrder,
    /// Whether the order is descending.
    pub descending: bool,
}

impl AdsOrder {
    /// Every order as it is written.
    pub const NAMES: &'static [&'static str] =
        &["updated", "-updated", "created", "-created", "source_id", "-source_id"];
}

impl Default for AdsOrder {
    /// Those that were not changed or promoted for longest come first.
    fn default() -> Self {
        Self { by: AdOrder::Updated, descending: false }
    }
}

/// A text that is no [`AdsOrder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an order of ads, such as updated")]
pub struct NotAnOrder;

impl FromStr for AdsOrder {
    type Err = NotAnOrder;

    fn from_str(text: &str) -> Result<Self, NotAnOrder> {
        let (descending, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
        let by = AdOrder::from_name(name).filter(|_| Self::NAMES.contains(&text));
        Ok(Self { by: by.ok_or(NotAnOrder)?, descending })
    }
}

impl fmt::Display for AdsOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", if self.descending { "-" } else { "" }, self.by)
    }
}

/// What a schedule says: which ads are promoted, how, and when. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromotionRules {
    /// What is ordered.
    pub kind: PromotionKind,
    /// Filters by the names of the parameters of a list.
    pub select: Map<String, Value>,
    /// The order in which a run takes the ads.
    pub order: AdsOrder,
    /// Maximum number of ads that a run promotes.
    pub most_per_run: u32,
    /// Only ads that were created at least so many days before the run; `None`: ads of any age.
    #[serde(default)]
    pub min_age_days: Option<u32>,
    /// The days on which it runs; `None`: every day.
    pub weekdays: Option<Vec<Weekday>>,
    /// When it runs on these days.
    pub at: TimeOfDay,
    /// IANA time zone of `at`, `weekdays` and `until`.
    pub zone: String,
    /// The last day on which it runs.
    pub until: Option<LastDay>,
    /// Most that its runs may cost in a calendar month of the dealer's time zone.
    pub budget: Option<Amount>,
    /// Whether the primary marketplace is left out.
    pub exclude_primary: bool,
    /// Whether the secondary marketplace is left out.
    pub exclude_secondary: bool,
}

impl PromotionRules {
    /// Its time zone; UTC if the zone database does not have it.
    pub fn time_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC)
    }

    /// Marketplaces that are left out.
    pub const fn exclusions(&self) -> Exclusions {
        Exclusions { primary: self.exclude_primary, secondary: self.exclude_secondary }
    }

    /// The first run after a time; `None` if its last day is over then. A local time that does not exist on a day is the first minute
    /// after the gap, and one that occurs twice is the first of the two.
    pub fn next_run(&self, after: Timestamp) -> Option<Timestamp> {
        let zone = self.time_zone();
        // From the day before: where a zone leaves out a day, its run is on the next one.
        let first = local(after, &zone).date().yesterday().ok()?;
        let runs_on = |day: Date| self.weekdays.as_ref().is_none_or(|days| days.contains(&Weekday::of(day.weekday())));
        let days = std::iter::successors(Some(first), |day| day.tomorrow().ok()).take(DAYS);
        days.filter(|day| runs_on(*day) && self.until.is_none_or(|last| *day <= last.0))
            .filter_map(|day| instant(day.to_datetime(self.at.0), &zone))
            .find(|run| *run > after)
    }
}

fn local(time: Timestamp, zone: &TimeZone) -> DateTime {
    zone.to_datetime(jiff::Timestamp::from_millisecond(time.as_millis()).unwrap_or_default())
}

/// When a local time is.
fn instant(time: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    let at = match zone.to_ambiguous_timestamp(time).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(time).ok()?,
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(time).ok()?,
        AmbiguousOffset::Gap { before, after } => {
            // By the later offset it is before the gap, whose end is the next change of the offset.
            let before_gap = after.to_timestamp(time).ok()?;
            let end = zone.following(before_gap).next().map(|change| change.timestamp());
            end.or_else(|| before.to_timestamp(time).ok())?
        }
    };
    Some(Timestamp::from_millis(at.as_millisecond()))
}

/// A schedule of promotions. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promotion {
    /// Its id.
    pub id: Uuid,
    /// Code of the dealer whose ads it promotes.
    pub dealer_code: String,
    /// What it says.
    #[serde(flatten)]
    pub rules: PromotionRules,
    /// Whether it does not run now.
    pub paused: bool,
    /// When it runs next; `None` while it is paused, and after its last day.
    pub next_run: Option<Timestamp>,
    /// The time of the latest run, which was due then.
    pub last_run: Option<Timestamp>,
    /// When it was made.
    pub created: Timestamp,
    /// With which token it was made or changed last.
    pub asked_by: AskedBy,
    /// Number of changes.
    #[serde(skip)]
    pub revision: i64,
    /// Where the request came from that made or changed it, and so where its promotions come from.
    #[serde(skip)]
    pub origin: RequestOrigin,
}

impl Promotion {
    /// The first run that is neither in the past nor done, unless it is paused.
    pub fn run_after(&self, now: Timestamp) -> Option<Timestamp> {
        if self.paused { None } else { self.rules.next_run(self.last_run.map_or(now, |last| last.max(now))) }
    }

    /// Whether it was made to run once, at once: its only run was due when it was made.
    pub fn is_once(&self) -> bool {
        let (rules, zone) = (&self.rules, self.rules.time_zone());
        rules.until == Some(LastDay::of(self.created, &zone)) && rules.at == TimeOfDay::of(self.created, &zone)
    }

    /// The id of the request by which a run promotes an ad: always the same, so that a request that was accepted before a crash is
    /// recognised. The id of the schedule, the time of the run and the source id are hashed as RFC 9562 (B.2) shows.
    pub fn request_of(promotion: Uuid, due: Timestamp, source_id: &str) -> Uuid {
        let digest = Sha256::new()
            .chain_update(promotion.as_bytes())
            .chain_update(due.as_millis().to_be_bytes())
            .chain_update(source_id.as_bytes())
            .finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }
}

/// What a run does with an ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// The promotion was accepted.
    Promoted {
        /// Id of its request.
        request_id: Uuid,
        /// What it costs; `None`: it has no price.
        cost: Option<Amount>,
    },
    /// It was not.
    Skipped(Code),
}

/// An ad of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAd {
    /// Its place in the run, from 0.
    pub n: u32,
    /// The client's reference of the ad.
    pub source_id: String,
    /// What was done; `None` while it has not been its turn.
    pub outcome: Option<RunOutcome>,
}

/// What a run did. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionRun {
    /// When it was due.
    pub due: Timestamp,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` before.
    pub ended: Option<Timestamp>,
    /// The ads that it promotes.
    pub promoted: Vec<PromotedAd>,
    /// The ads that it does not promote.
    pub skipped: Vec<SkippedAd>,
    /// What it costs; `None`: nothing that it does has a price.
    pub cost: Option<Amount>,
    /// ISO 4217 code of the dealer's currency.
    pub currency: String,
}

/// What the next run of a schedule would do. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionPreview {
    /// When it is due; `None` if there is none.
    pub due: Option<Timestamp>,
    /// The ads that it would promote, in this order.
    pub promoted: Vec<PreviewedAd>,
    /// The ads that it would not promote.
    pub skipped: Vec<SkippedAd>,
    /// What it would cost; `None`: nothing that it does has a price.
    pub cost: Option<Amount>,
    /// ISO 4217 code of the dealer's currency.
    pub currency: String,
}

/// An ad that a run promotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotedAd {
    /// The client's reference of the ad.
    pub source_id: String,
    /// Id of the request that promotes it.
    pub request_id: Uuid,
    /// What it costs; `None`: it has no price.
    pub cost: Option<Amount>,
}

/// An ad that a run would promote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewedAd {
    /// The client's reference of the ad.
    pub source_id: String,
    /// What it would cost; `None`: it has no price.
    pub cost: Option<Amount>,
}

/// An ad that a run does not promote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedAd {
    /// The client's reference of the ad.
    pub source_id: String,
    /// Why.
    pub code: Code,
}

impl PromotionRun {
    /// A run with what was done by now.
    pub fn of(due: Timestamp, started: Timestamp, ended: Option<Timestamp>, currency: String, ads: Vec<RunAd>) -> Self {
        let (mut promoted, mut skipped) = (Vec::new(), Vec::new());
        let mut total = None;
        for RunAd { source_id, outcome, .. } in ads {
            match outcome {
                Some(RunOutcome::Promoted { request_id, cost }) => {
                    total = sum(total, cost);
                    promoted.push(PromotedAd { source_id, request_id, cost });
                }
                Some(RunOutcome::Skipped(code)) => skipped.push(SkippedAd { source_id, code }),
                None => {}
            }
        }
        Self { due, started, ended, promoted, skipped, cost: total, currency }
    }
}

/// The sum of amounts of which some are none.
pub(crate) fn sum(one: Option<Amount>, other: Option<Amount>) -> Option<Amount> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
