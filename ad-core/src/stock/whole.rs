//! The stock as a whole (extensions E8.2, E8.5): whether it is one at all, which ads it does not name, and how many may be removed for that.

use std::collections::{HashMap, HashSet};

use crate::{
    categories::Category,
    model::{ApiVersion, ChangeKind, Guard, MissingAds},
};

/// Which ads are removed if the stock does not name them.
#[derive(Debug, Clone, Copy)]
pub struct MissingPolicy<'a> {
    /// What becomes of them, if payloads can name ads of their category.
    pub missing: MissingAds,
    /// The vehicle types whose ads count as missing; `None`: all.
    pub vehicle_types: Option<&'a [&'static str]>,
}

/// An ad that the stock does not name.
#[derive(Debug, Clone, Copy)]
pub struct AbsentAd {
    /// Its category, if it is known.
    pub category: Option<&'static Category>,
    /// Whether it is deleted once all accepted requests have run.
    pub is_deleted: bool,
    /// Whether it is to be published.
    pub is_visible: bool,
}

impl MissingPolicy<'_> {
    /// How an ad is removed that the stock does not name; `None` if it stays as it is.
    pub fn removal(&self, ad: AbsentAd) -> Option<ChangeKind> {
        let AbsentAd { category, is_deleted, is_visible } = ad;
        let vehicle_type = category.and_then(|category| category.vehicle_type);
        let is_of_types = self
            .vehicle_types
            .is_none_or(|types| vehicle_type.is_some_and(|vehicle_type| types.contains(&vehicle_type)));
        if is_deleted || !is_of_types || !is_nameable(category) {
            return None;
        }
        match self.missing {
            MissingAds::Keep => None,
            MissingAds::Hide => is_visible.then_some(ChangeKind::Hide),
            MissingAds::Delete => Some(ChangeKind::Delete),
        }
    }
}

/// Whether payloads can name ads of a category: V4 has it, or a category to which they can migrate. Others never count as missing.
pub fn is_nameable(category: Option<&Category>) -> bool {
    category.is_some_and(|it| it.is_in(ApiVersion::V4) || it.targets().next().is_some())
}

/// The ads that payloads name, valid or not. It keeps the ids and the line of each payload in memory.
///
/// ```
/// use ad_core::stock::{NamedAds, StockRefusal};
///
/// let mut named = NamedAds::default();
/// named.add(1, Some("north-cars"), "car-1").unwrap();
/// named.add(2, Some("south-cars"), "car-1").unwrap();
/// let again = named.add(3, Some("north-cars"), "car-1").unwrap_err();
/// assert_eq!(StockRefusal::from(again).to_string(), "line 3: duplicate source_id \"car-1\" (first on line 1)");
/// assert!(named.may_name("north-cars", "car-1"));
/// assert!(!named.may_name("north-cars", "car-2"));
/// ```
#[derive(Debug, Default)]
pub struct NamedAds {
    payloads: u64,
    /// Line of each source id, by dealer.
    by_dealer: HashMap<Box<str>, HashMap<Box<str>, u64>>,
    /// Source ids of payloads that do not say whose ad they are.
    of_any_dealer: HashSet<Box<str>>,
    unidentified: Vec<u64>,
}

/// A payload of an ad that an earlier payload has named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: duplicate source_id \"{source_id}\" (first on line {first_line})")]
pub struct RepeatedAd {
    /// The client's reference of the ad.
    pub source_id: String,
    /// The line of the later payload.
    pub line: u64,
    /// The line of the first payload.
    pub first_line: u64,
}

impl NamedAds {
    /// Maximum number of lines that [`unidentified`](Self::unidentified) returns.
    pub const MOST_UNIDENTIFIED: usize = 6;

    /// Adds a payload without a source id that can be read.
    pub fn add_unidentified(&mut self, line: u64) {
        self.payloads += 1;
        if self.unidentified.len() < Self::MOST_UNIDENTIFIED {
            self.unidentified.push(line);
        }
    }

    /// Adds a payload, valid or not, with the dealer whose ad it is, if that is known.
    ///
    /// # Errors
    /// When an earlier payload named the same ad.
    pub fn add(&mut self, line: u64, dealer_code: Option<&str>, source_id: &str) -> Result<(), RepeatedAd> {
        self.payloads += 1;
        let Some(dealer_code) = dealer_code else {
            self.of_any_dealer.insert(source_id.into());
            return Ok(());
        };
        let lines = self.by_dealer.entry(dealer_code.into()).or_default();
        if let Some(first_line) = lines.get(source_id) {
            return Err(RepeatedAd { source_id: source_id.to_owned(), line, first_line: *first_line });
        }
        lines.insert(source_id.into(), line);
        Ok(())
    }

    /// Whether a payload with a source id names an ad, or may do so.
    pub fn may_name(&self, dealer_code: &str, source_id: &str) -> bool {
        self.of_any_dealer.contains(source_id)
            || self.by_dealer.get(dealer_code).is_some_and(|lines| lines.contains_key(source_id))
    }

    /// The first lines of payloads without a source id that can be read. While there are any, no ad counts as missing, because they may be about
    /// any ad.
    pub fn unidentified(&self) -> &[u64] {
        &self.unidentified
    }

    /// Why the payloads are no stock, given the number of valid ones.
    ///
    /// # Errors
    /// [`StockRefusal::Empty`] and [`StockRefusal::NoValidAd`].
    pub fn check(&self, valid: u64) -> Result<(), StockRefusal> {
        match (self.payloads, valid) {
            (0, _) => Err(StockRefusal::Empty),
            (ads, 0) => Err(StockRefusal::NoValidAd { ads }),
            _ => Ok(()),
        }
    }
}

/// Why payloads are no stock, so that nothing may be changed by them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StockRefusal {
    /// There are none, which does not mean an empty stock.
    #[error("the stock contains no ads")]
    Empty,
    /// An ad is named twice.
    #[error(transparent)]
    Repeated(#[from] RepeatedAd),
    /// All of them are invalid.
    #[error("none of the {ads} ads is valid")]
    NoValidAd {
        /// Number of payloads, none of them valid.
        ads: u64,
    },
}

/// Maximum number of removals by default, whatever the number of ads.
const MOST_REMOVALS: u64 = 20;
/// The part of a dealer's ads that may be removed by default: one of so many.
const REMOVED_PART: u64 = 10;

/// The number of a dealer's ads that may be removed without permission: 10 % or 20, whichever is less.
///
/// ```
/// use ad_core::stock::most_removals;
/// assert_eq!([9, 10, 199, 200, 100_000].map(most_removals), [0, 1, 19, 20, 20]);
/// ```
pub const fn most_removals(ads: u64) -> u64 {
    let part = ads / REMOVED_PART;
    if part < MOST_REMOVALS { part } else { MOST_REMOVALS }
}

impl Guard {
    /// The guard of a stock. `dealers` has the number of ads that are not deleted and the number of removals of each dealer; `most` is the
    /// maximum for all dealers together. Without it, each dealer has the [default](most_removals), and one beyond it exceeds the guard.
    ///
    /// ```
    /// use ad_core::stock::Guard;
    /// assert_eq!(Guard::of([(12, 2)], None), Guard { most_removals: 1, removals: 2, exceeded: true });
    /// assert!(Guard::of([(1000, 0), (9, 1)], None).exceeded);
    /// assert!(!Guard::of([(12, 2)], Some(2)).exceeded);
    /// ```
    pub fn of(dealers: impl IntoIterator<Item = (u64, u64)>, most: Option<u64>) -> Self {
        let mut guard = Self::default();
        for (ads, removals) in dealers {
            guard.most_removals += most_removals(ads);
            guard.removals += removals;
            guard.exceeded |= removals > most_removals(ads);
        }
        match most {
            Some(most) => Self { most_removals: most, exceeded: guard.removals > most, ..guard },
            None => guard,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::categories;

    #[test]
    fn ads_that_the_stock_does_not_name_are_removed_as_the_policy_says() {
        let [car, boat] = ["car", "boat"].map(categories::by_vehicle_type);
        // Category 1222 of V3 migrates to V4, category 1122 does not.
        let [forklift, a_tractor] = [1222, 1122].map(categories::by_id);
        let ad = |category| AbsentAd { category, is_deleted: false, is_visible: true };
        let removal =
            |missing, types: Option<&[&'static str]>, ad| MissingPolicy { missing, vehicle_types: types }.removal(ad);
        for (missing, visible, hidden) in [
            (MissingAds::Keep, None, None),
            (MissingAds::Hide, Some(ChangeKind::Hide), None),
            (MissingAds::Delete, Some(ChangeKind::Delete), Some(ChangeKind::Delete)),
        ] {
            assert_eq!(removal(missing, None, ad(car)), visible);
            assert_eq!(removal(missing, None, ad(forklift)), visible);
            assert_eq!(removal(missing, None, AbsentAd { is_visible: false, ..ad(car) }), hidden);
            assert_eq!(removal(missing, None, AbsentAd { is_deleted: true, ..ad(car) }), None);
            assert_eq!(removal(missing, None, ad(a_tractor)), None, "no payload can name it");
            assert_eq!(removal(missing, None, ad(None)), None);
            assert_eq!(removal(missing, Some(&["car"]), ad(car)), visible);
            assert_eq!(removal(missing, Some(&["car"]), ad(boat)), None);
            assert_eq!(removal(missing, Some(&["forklift"]), ad(forklift)), None, "it may become one of several types");
        }
    }

    #[test]
    fn payloads_that_are_no_stock_are_refused() {
        let mut named = NamedAds::default();
        assert_eq!(named.check(0), Err(StockRefusal::Empty));
        named.add(1, None, "car-1").unwrap();
        (2..20).for_each(|line| named.add_unidentified(line));
        assert_eq!(named.check(0), Err(StockRefusal::NoValidAd { ads: 19 }));
        assert_eq!(named.check(1), Ok(()));
        assert_eq!(named.unidentified(), [2, 3, 4, 5, 6, 7]);
        assert!(named.may_name("north-cars", "car-1") && named.may_name("south-cars", "car-1"));
    }

    #[test]
    fn the_guard_is_a_tenth_of_the_ads_or_twenty() {
        for (ads, most) in [(0, 0), (1, 0), (9, 0), (10, 1), (19, 1), (20, 2), (199, 19), (200, 20), (100_000, 20)] {
            assert!(!Guard::of([(ads, most)], None).exceeded, "{most} of {ads}");
            assert!(Guard::of([(ads, most + 1)], None).exceeded, "{} of {ads}", most + 1);
        }
        let two = Guard::of([(200, 20), (50, 5)], None);
        assert_eq!(two, Guard { most_removals: 25, removals: 25, exceeded: false });
    }
}
