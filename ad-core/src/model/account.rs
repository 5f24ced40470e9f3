//! What promotions cost a dealer, and how much it may spend (extensions E9).

use std::{
    fmt,
    ops::{Add, Sub},
    str::FromStr,
};

use jiff::{civil::Date, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Number;
use uuid::Uuid;

use super::{dealer::Dealer, log::Action, market::Market, names::names, query::Page, time::Timestamp};
use crate::written::number::Decimal;

/// Decimals of an amount.
const DECIMALS: u32 = 2;

/// Largest amount, in whole units of the currency. A sum of a million of them does not overflow.
pub const MOST_AMOUNT: i64 = 1_000_000_000;

/// An amount of money, exactly: a number of hundredths. In JSON and TOML it is a number with at most two decimals.
///
/// ```
/// # use ad_core::model::Amount;
/// let price: Amount = serde_json::from_str("29.50").unwrap();
/// assert_eq!(price, Amount::from_hundredths(2950));
/// assert_eq!(serde_json::to_string(&(price + price)).unwrap(), "59");
/// assert!(serde_json::from_str::<Amount>("0.125").is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i64);

impl Amount {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// An amount of so many hundredths.
    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    /// Its hundredths.
    pub const fn hundredths(self) -> i64 {
        self.0
    }

    /// So many times the amount.
    #[must_use]
    pub const fn times(self, count: u32) -> Self {
        Self(self.0.saturating_mul(count as i64))
    }

    /// The amount that a JSON number says.
    ///
    /// # Errors
    /// [`NotAnAmount`] for a negative number, one with more than two decimals, and one above [`MOST_AMOUNT`].
    pub fn of_number(number: &Number) -> Result<Self, NotAnAmount> {
        let hundredths = Decimal::of_number(number).and_then(|exact| exact.shifted(DECIMALS.cast_signed())?.whole());
        hundredths.filter(|it| (0..=MOST_AMOUNT * 100).contains(it)).map(Self).ok_or(NotAnAmount)
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Amount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A number that is no [`Amount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount from 0 to 1000000000 with at most two decimals, such as 29.5")]
pub struct NotAnAmount;

impl fmt::Display for Amount {
    /// As people write it: without decimals where it is whole, else with two.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, hundredths) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        match hundredths % 100 {
            0 => write!(formatter, "{sign}{}", hundredths / 100),
            decimals => write!(formatter, "{sign}{}.{decimals:02}", hundredths / 100),
        }
    }
}

impl FromStr for Amount {
    type Err = NotAnAmount;

    /// Parses an amount as it is displayed.
    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        Self::of_number(&text.parse().map_err(|_| NotAnAmount)?)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Decimal::of(self.0, DECIMALS).value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        Self::of_number(&number).map_err(de::Error::custom)
    }
}

/// What an operator has agreed with a dealer. What is not set is not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tariff {
    /// Price of a bump on one marketplace, in the dealer's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bump: Option<Amount>,
    /// Price of a pole position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pole_position: Option<Amount>,
    /// Most ads that are live at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Most that promotions may cost in a calendar month of the dealer's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Amount>,
}

impl Tariff {
    /// The price of a promotion on one marketplace.
    pub fn price(&self, kind: PromotionKind) -> Option<Amount> {
        match kind {
            PromotionKind::Bump => self.bump,
            PromotionKind::PolePosition => self.pole_position,
        }
    }
}

/// A calendar month in the time zone of a dealer, such as `2026-11`. Later months are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// The month in which a time is.
    pub fn of(time: Timestamp, zone: &TimeZone) -> Self {
        let date =
            jiff::Timestamp::from_millisecond(time.as_millis()).unwrap_or_default().to_zoned(zone.clone()).date();
        Self { year: date.year(), month: date.month() }
    }

    /// The month before it; the first of all has none before it.
    #[must_use]
    pub const fn previous(self) -> Self {
        match (self.year, self.month) {
            (0, 1) => self,
            (year, 1) => Self { year: year - 1, month: 12 },
            (year, month) => Self { year, month: month - 1 },
        }
    }

    /// The month after it; the last of all has none after it.
    #[must_use]
    pub const fn next(self) -> Self {
        match (self.year, self.month) {
            (9999, 12) => self,
            (year, 12) => Self { year: year + 1, month: 1 },
            (year, month) => Self { year, month: month + 1 },
        }
    }

    /// Number of its days.
    pub fn days(self) -> u32 {
        Date::new(self.year, self.month, 1).map_or(31, |first| first.days_in_month().unsigned_abs().into())
    }

    /// The day of the month, from 1, on which a time is; `None` if it is in another month.
    pub fn day_of(self, time: Timestamp, zone: &TimeZone) -> Option<u32> {
        let at = jiff::Timestamp::from_millisecond(time.as_millis()).unwrap_or_default();
        let date = at.to_zoned(zone.clone()).date();
        (Self::of(time, zone) == self).then(|| date.day().unsigned_abs().into())
    }
}

impl fmt::Display for Month {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}", self.year, self.month)
    }
}

/// A text that is no [`Month`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a month, such as 2026-11")]
pub struct NotAMonth;

impl FromStr for Month {
    type Err = NotAMonth;

    /// Parses a month from its text.
    fn from_str(text: &str) -> Result<Self, NotAMonth> {
        let (year, month) = text.split_once('-').filter(|it| it.0.len() == 4 && it.1.len() == 2).ok_or(NotAMonth)?;
        let (year, month) = (year.parse().map_err(|_| NotAMonth)?, month.parse().map_err(|_| NotAMonth)?);
        if year >= 0 && (1..=12).contains(&month) { Ok(Self { year, month }) } else { Err(NotAMonth) }
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

names! {
    /// A promotion, which costs money.
    pub enum PromotionKind {
        /// The ad appears as new.
        Bump = "bump",
        /// The ad is shown first for three days.
        PolePosition = "pole_position",
    }

    /// What has become of a charge.
    pub enum ChargeState {
        /// The promotion is accepted, and the amount counts against the budget.
        Reserved = "reserved",
        /// The marketplace has confirmed the promotion.
        Charged = "charged",
        /// The promotion ended in an error, and costs nothing.
        Released = "released",
    }
}

impl PromotionKind {
    /// The action that does it.
    pub const fn action(self) -> Action {
        match self {
            Self::Bump => Action::Bump,
            Self::PolePosition => Action::Boost,
        }
    }

    /// What an action promotes; `None` for an action that is no promotion.
    pub const fn of(action: Action) -> Option<Self> {
        match action {
            Action::Bump => Some(Self::Bump),
            Action::Boost => Some(Self::PolePosition),
            _ => None,
        }
    }
}

/// What one promotion on one marketplace costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Request, action and marketplace, as in the idempotency key of the call: `01a1fa93-…:bump:primary`.
    pub id: String,
    /// When the promotion was accepted; its month is that of the budget.
    pub at: Timestamp,
    /// The client's reference of the ad; `None` once the ad is erased.
    pub source_id: Option<String>,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// Id of the request that promotes the ad.
    pub request_id: Uuid,
    /// What was ordered.
    pub kind: PromotionKind,
    /// Where.
    pub marketplace: Market,
    /// What it costs.
    pub amount: Amount,
    /// ISO 4217 code of the dealer's currency when it was accepted.
    pub currency: String,
    /// What has become of it.
    pub state: ChargeState,
    /// Id of the token that ordered it.
    pub asked_by: Option<String>,
}

/// What the promotions of a dealer that were accepted in a month cost, in one currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonthlyCharges {
    /// Of promotions that are not finished.
    pub reserved: Amount,
    /// Of confirmed promotions.
    pub spent: Amount,
    /// Number of confirmed bumps, one for each marketplace.
    pub bumps: u64,
    /// Number of confirmed pole positions.
    pub pole_positions: u64,
    /// The limit that the dealer has set itself, for every month.
    pub own: Option<Amount>,
}

impl MonthlyCharges {
    /// The lower one of the operator's budget and the dealer's own limit; `None` without either.
    pub fn limit(&self, budget: Option<Amount>) -> Option<Amount> {
        budget.into_iter().chain(self.own).min()
    }

    /// What is left of the limit, and 0 if more was spent before it was lowered.
    pub fn left(&self, budget: Option<Amount>) -> Option<Amount> {
        self.limit(budget).map(|limit| (limit - self.spent - self.reserved).max(Amount::ZERO))
    }
}

/// The account of a dealer in the present month, as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Code of the dealer.
    pub dealer_code: String,
    /// ISO 4217 code of all amounts.
    pub currency: String,
    /// How many ads may be live.
    pub slots: Slots,
    /// The present month in the dealer's time zone.
    pub month: Month,
    /// What promotions of this month may cost, and cost.
    pub budget: Budget,
    /// What a promotion costs on one marketplace.
    pub prices: PromotionPrices,
    /// Number of confirmed promotions of this month, one for each marketplace.
    pub charges: ChargeCounts,
}

/// How many ads of a dealer may be live at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// The maximum; `None`: any number.
    pub most: Option<u32>,
    /// Number of ads that have a slot; `None` if they are not counted.
    pub used: Option<u64>,
}

/// What the promotions of a month may cost, and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Set by the operator; `None`: no limit.
    pub most: Option<Amount>,
    /// Set by the dealer itself.
    pub own: Option<Amount>,
    /// Of confirmed promotions.
    pub spent: Amount,
    /// Of promotions that are not finished.
    pub reserved: Amount,
    /// What is left of the lower limit; `None` without one.
    pub left: Option<Amount>,
}

/// What a promotion costs on one marketplace; `None`: nothing is charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionPrices {
    /// A bump.
    pub bump: Option<Amount>,
    /// A pole position.
    pub pole_position: Option<Amount>,
}

impl PromotionPrices {
    /// The price of a kind.
    pub const fn of(&self, kind: PromotionKind) -> Option<Amount> {
        match kind {
            PromotionKind::Bump => self.bump,
            PromotionKind::PolePosition => self.pole_position,
        }
    }
}

/// Number of confirmed promotions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeCounts {
    /// Bumps.
    pub bump: u64,
    /// Pole positions.
    pub pole_position: u64,
}

impl Account {
    /// The account of a dealer in a month.
    pub fn new(dealer: &Dealer, month: Month, charges: &MonthlyCharges) -> Self {
        let tariff = dealer.tariff.clone().unwrap_or_default();
        let MonthlyCharges { reserved, spent, bumps, pole_positions, own } = *charges;
        Self {
            dealer_code: dealer.code.clone(),
            currency: dealer.currency.clone(),
            slots: Slots { most: tariff.slots, used: None },
            month,
            budget: Budget { most: tariff.budget, own, spent, reserved, left: charges.left(tariff.budget) },
            prices: PromotionPrices { bump: tariff.bump, pole_position: tariff.pole_position },
            charges: ChargeCounts { bump: bumps, pole_position: pole_positions },
        }
    }
}

/// Which charges are asked for, newest first; `None` matches any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChargeQuery {
    /// Code of the dealer.
    pub dealer_code: Option<String>,
    /// Accepted at this time or later.
    pub from: Option<Timestamp>,
    /// Accepted before this time.
    pub before: Option<Timestamp>,
    /// What was ordered.
    pub kind: Option<PromotionKind>,
    /// The client's reference of the ad.
    pub source_id: Option<String>,
    /// What has become of it.
    pub state: Option<ChargeState>,
    /// The page.
    pub page: Page,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Result<Amount, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, hundredths, written) in [
            ("0", 0, "0"),
            ("0.1", 10, "0.1"),
            ("29.50", 2950, "29.5"),
            ("1e2", 10_000, "100"),
            ("999999999.99", 99_999_999_999, "999999999.99"),
        ] {
            let read = amount(text).unwrap();
            assert_eq!(read.hundredths(), hundredths, "{text}");
            assert_eq!(serde_json::to_string(&read).unwrap(), written);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
        for text in ["-1", "0.001", "1000000000.01", "1e30", "\"5\"", "null"] {
            assert!(amount(text).is_err(), "{text}");
        }
        assert_eq!(Amount(5).to_string(), "0.05");
        assert_eq!(Amount(-2950).to_string(), "-29.50");
    }

    #[test]
    fn a_month_is_that_of_the_zone() {
        let time: Timestamp = "2026-10-31T23:30:00Z".parse().unwrap();
        let month = |zone: &str| Month::of(time, &TimeZone::get(zone).unwrap()).to_string();
        assert_eq!((month("UTC"), month("Europe/Stockholm")), ("2026-10".into(), "2026-11".into()));
        assert_eq!("2026-11".parse::<Month>().unwrap().to_string(), "2026-11");
        let month: Month = "2026-11".parse().unwrap();
        assert_eq!((month.days(), month.day_of(time, &TimeZone::get("Europe/Stockholm").unwrap())), (30, Some(1)));
        assert_eq!(month.day_of(time, &TimeZone::UTC), None);
        let december = month.next();
        assert_eq!((december.next().to_string(), december.previous()), ("2027-01".to_owned(), month));
        assert_eq!(december.next().previous(), december);
        for text in ["2026-13", "2026-00", "2026", "26-01", "2026-1", ""] {
            assert_eq!(text.parse::<Month>(), Err(NotAMonth), "{text}");
        }
    }
}
