//! Photos that the service could not fetch. One host that does not answer spoils the photos of all ads, so they are told by host.

use std::{cmp::Reverse, collections::BTreeMap};

use ad_bulk::{AdOutcome, import::Record};
use ad_files::text::counted;
use ad_terminal::Output;

/// Hosts that people see.
const MOST_SHOWN: usize = 5;

/// Hosts that are kept.
const MOST_KEPT: usize = 1000;

/// The published ads with failed photos, by host.
#[derive(Debug, Default)]
pub(super) struct FailedPhotos {
    /// Number of ads.
    pub(super) ads: u64,
    hosts: BTreeMap<String, OfHost>,
    /// Whether there are hosts beyond [`MOST_KEPT`].
    has_more: bool,
}

/// The photos of a host.
#[derive(Debug, PartialEq, Eq)]
struct OfHost {
    ads: u64,
    /// The source id of the first ad, and why its photo failed.
    first: (String, String),
}

/// Whether nothing but photos of an ad failed, which are told by host.
pub(super) fn are_failed(record: &Record) -> bool {
    record.outcome == AdOutcome::Published && !record.failed_images.is_empty()
}

impl FailedPhotos {
    pub(super) fn add(&mut self, record: &Record) {
        if !are_failed(record) {
            return;
        }
        self.ads += 1;
        let host = |address: &str| address.split_once("://")?.1.split('/').next().map(str::to_owned);
        let hosts: BTreeMap<_, _> =
            record.failed_images.iter().rev().filter_map(|image| Some((host(&image.url)?, &image.error))).collect();
        for (host, error) in hosts {
            if self.hosts.len() >= MOST_KEPT && !self.hosts.contains_key(&host) {
                self.has_more = true;
                continue;
            }
            let first = || (record.source_id.clone().unwrap_or_default(), error.clone());
            self.hosts.entry(host).or_insert_with(|| OfHost { ads: 0, first: first() }).ads += 1;
        }
    }

    /// Says of each host how many ads it concerns.
    pub(super) fn note(&self, out: Output) {
        let mut hosts: Vec<_> = self.hosts.iter().collect();
        hosts.sort_by_key(|(_, of)| Reverse(of.ads));
        for (host, OfHost { ads, first: (source_id, error) }) in hosts.iter().take(MOST_SHOWN) {
            let ads = counted(*ads, "ad");
            out.warning(&format!("photos of {ads} failed at {host}, first of {source_id}: {error}"));
        }
        if self.has_more || hosts.len() > MOST_SHOWN {
            out.note("… and at more hosts; to see all: --report FILE");
        }
    }
}

#[cfg(test)]
mod tests {
    use ad_client::FailedImage;

    use super::*;

    #[test]
    fn photos_are_told_by_host() {
        let record = |id: &str, images: &[(&str, &str)]| Record {
            source_id: Some(id.to_owned()),
            outcome: AdOutcome::Published,
            failed_images: images
                .iter()
                .map(|(url, error)| FailedImage { url: (*url).to_owned(), error: (*error).to_owned() })
                .collect(),
            ..Record::default()
        };
        let mut photos = FailedPhotos::default();
        for record in [
            record("L1", &[("https://a.example/1.jpg", "no such host"), ("https://a.example/2.jpg", "no answer")]),
            record("L2", &[("https://a.example/3.jpg", "no answer"), ("http://b.example/4.jpg", "404 Not Found")]),
            record("L3", &[]),
        ] {
            photos.add(&record);
        }
        let of = |ads, id: &str, error: &str| OfHost { ads, first: (id.to_owned(), error.to_owned()) };
        let expected = [
            ("a.example".to_owned(), of(2, "L1", "no such host")),
            ("b.example".to_owned(), of(1, "L2", "404 Not Found")),
        ];
        assert_eq!((photos.ads, photos.hosts), (2, BTreeMap::from(expected)));
    }
}
