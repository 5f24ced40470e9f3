//! Photos that the service could not fetch. One host that does not answer spoils the photos of all ads, so they are told by cause.

use std::{cmp::Reverse, collections::BTreeMap};

use ad_bulk::{AdOutcome, import::Record};
use ad_files::text::{counted, grouped};
use ad_terminal::Output;

/// Causes that people see; the others are counted.
const MOST_SHOWN: usize = 5;

/// Causes that are kept: a host may have a reason of its own for each photo.
const MOST_KEPT: usize = 1000;

/// The published ads with failed photos, by host and reason.
#[derive(Debug, Default)]
pub(super) struct FailedPhotos {
    /// Number of ads.
    pub(super) ads: u64,
    /// How many ads each cause has, and the first of them.
    causes: BTreeMap<(String, String), (u64, String)>,
    /// Causes beyond [`MOST_KEPT`].
    others: u64,
}

/// Whether nothing but photos of an ad failed, which are told by cause.
pub(super) fn are_failed(record: &Record) -> bool {
    record.outcome == AdOutcome::Published && causes(record).next().is_some()
}

/// Host and reason of each failed photo of an ad, from the text of its outcome:
/// `2 of 3 images failed; images: https://a.example/1.jpg (404 Not Found), https://a.example/2.jpg (no answer (2 tries))`.
fn causes(record: &Record) -> impl Iterator<Item = (&str, &str)> {
    let message = record.message.as_deref().unwrap_or_default();
    let (_, images) = message.split_once("images: http").unwrap_or_default();
    images.split(", http").filter_map(|image| {
        let (address, reason) = image.split_once(" (")?;
        let host = address.split_once("://")?.1.split('/').next()?;
        // How often it was tried is no cause, and other warnings may follow.
        let end = reason.find(" (").or_else(|| reason.find(')')).unwrap_or(reason.len());
        Some((host, &reason[..end]))
    })
}

impl FailedPhotos {
    pub(super) fn add(&mut self, record: &Record) {
        if !are_failed(record) {
            return;
        }
        self.ads += 1;
        let mut of_ad: Vec<_> = causes(record).collect();
        of_ad.sort_unstable();
        of_ad.dedup();
        for (host, reason) in of_ad {
            let cause = (host.to_owned(), reason.to_owned());
            if self.causes.len() >= MOST_KEPT && !self.causes.contains_key(&cause) {
                self.others += 1;
                continue;
            }
            let first = || record.source_id.clone().unwrap_or_default();
            self.causes.entry(cause).or_insert_with(|| (0, first())).0 += 1;
        }
    }

    /// Says of each cause how many ads it concerns.
    pub(super) fn note(&self, out: Output) {
        let mut causes: Vec<_> = self.causes.iter().collect();
        causes.sort_by_key(|(_, (ads, _))| Reverse(*ads));
        for ((host, reason), (ads, first)) in causes.iter().take(MOST_SHOWN) {
            let ads = counted(*ads, "ad");
            out.warning(&format!("photos of {ads} failed: {host}: {reason} (first {first})"));
        }
        let more = self.others + causes.len().saturating_sub(MOST_SHOWN) as u64;
        if more > 0 {
            out.note(&format!("… and for {} more reasons; to see all: --report FILE", grouped(more)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_are_told_by_host_and_reason_whatever_their_address() {
        let record = |id: &str, message: &str| Record {
            source_id: Some(id.to_owned()),
            outcome: AdOutcome::Published,
            message: Some(message.to_owned()),
            ..Record::default()
        };
        let dead = "the name of the host cannot be resolved";
        let mut photos = FailedPhotos::default();
        for record in [
            record(
                "L1",
                &format!(
                    "2 images failed; images: https://a.example/1.jpg ({dead} (2 tries)), https://a.example/x, y.jpg ({dead} (3 tries))"
                ),
            ),
            record(
                "L2",
                &format!(
                    "2 of 3 images failed; images: https://a.example/3.jpg ({dead}), http://b.example/4.jpg (404 Not Found); listing 7 is another's"
                ),
            ),
            record("L3", "listing 8 is another's"),
            Record { message: None, ..record("L4", "") },
        ] {
            photos.add(&record);
        }
        let cause = |host: &str, reason: &str| (host.to_owned(), reason.to_owned());
        let expected = [
            (cause("a.example", dead), (2, "L1".to_owned())),
            (cause("b.example", "404 Not Found"), (1, "L2".to_owned())),
        ];
        assert_eq!((photos.ads, photos.causes), (2, BTreeMap::from(expected)));
        assert!(!are_failed(&record("L3", "listing 8 is another's")));
    }
}
