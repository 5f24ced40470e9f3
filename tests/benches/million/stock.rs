//! Any number of ads of dealers of different sizes. The same number gives the same ads. How they get into a database is
//! in [`fill`](super::fill).

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::words::{self, Dice};
use crate::support::CAR;

const BOAT: &str = include_str!("../../data/payloads/boat-v4.json");

/// Ads of the dealer whose lists are compared, in every stock.
pub(super) const COMPARED: usize = 1000;
/// Most ads of the largest dealer: PostgreSQL reads all texts of a dealer in a search, and 250,000 take longer than a read may.
const LARGEST: usize = 50_000;
/// The first ad is created on 1 January 2024.
const START: i64 = 1_704_067_200_000;
/// The ads were created over two years.
const SPAN: i64 = 2 * 365 * 86_400_000;

/// A dealer with its number of ads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dealer {
    pub(super) number: usize,
    ads: usize,
}

impl Dealer {
    pub(super) fn code(self) -> String {
        format!("dealer-{}", self.number)
    }

    pub(super) fn ads(self) -> usize {
        self.ads
    }
}

pub(super) struct Stock {
    /// The first is compared; it is the same in every stock.
    pub(super) dealers: Vec<Dealer>,
}

impl Stock {
    /// One dealer for each thousand ads, all of the same size.
    pub(super) fn even(ads: usize) -> Self {
        Self { dealers: (0..ads / COMPARED).map(|number| Dealer { number, ads: COMPARED }).collect() }
    }

    /// As many dealers, of whom the second has 5 % of all ads, but at most [`LARGEST`]. The others share what is left.
    pub(super) fn with_a_giant(ads: usize) -> Self {
        let mut dealers = Self::even(ads).dealers;
        dealers[1].ads = (ads / 20).min(LARGEST);
        let mut left = ads - COMPARED - dealers[1].ads;
        for place in 2..dealers.len() {
            dealers[place].ads = left / (dealers.len() - place);
            left -= dealers[place].ads;
        }
        Self { dealers }
    }

    /// The ads in the order of their creation, each with its number in the database.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (i64, Ad)> {
        let mut order: Vec<(i64, Dealer, usize)> = Vec::new();
        for dealer in &self.dealers {
            order.extend((0..dealer.ads).map(|place| (Ad::created(*dealer, place), *dealer, place)));
        }
        order.sort_unstable();
        let samples = Samples::new();
        (1..).zip(order).map(move |(seq, (_, dealer, place))| (seq, samples.ad(dealer, place)))
    }
}

pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).expect("counts fit")
}

/// An ad of the stock.
pub(super) struct Ad {
    pub(super) id: Uuid,
    pub(super) source_id: String,
    pub(super) dealer: Dealer,
    pub(super) category: u16,
    pub(super) state: &'static str,
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) plate: Option<String>,
    pub(super) listing: String,
    pub(super) image_refs: Value,
    pub(super) content: Map<String, Value>,
}

impl Ad {
    /// The listing in the second marketplace, where only what has a plate goes.
    pub(super) fn offer(&self) -> Option<String> {
        self.plate.as_ref().map(|_| format!("S{}", self.listing))
    }

    /// One in 50 has failed.
    pub(super) fn status(&self) -> &'static str {
        match self.state {
            "deleted" => "deleted",
            _ if self.created % 50 == 0 => "failed",
            _ => "live",
        }
    }

    /// The statuses on the marketplaces, as the column of the same name has them.
    pub(super) fn channels(&self) -> String {
        let (channel, code) = match self.status() {
            "deleted" => ("not_listed", "-"),
            "failed" => ("failed", "marketplace_refused"),
            _ => ("live", "-"),
        };
        format!("{channel} {} {code}", if self.plate.is_some() { channel } else { "-" })
    }

    /// The ads of a dealer are spread evenly over the time.
    fn created(dealer: Dealer, place: usize) -> i64 {
        START + (SPAN * number(place) + SPAN / 2) / number(dealer.ads)
    }
}

/// The sample payloads, of which every ad is a variation.
pub(super) struct Samples {
    car: Map<String, Value>,
    boat: Map<String, Value>,
}

impl Samples {
    pub(super) fn new() -> Self {
        let sample = |text: &str| {
            let mut sample: Map<String, Value> = serde_json::from_str(text).expect("the sample is a JSON object");
            sample.retain(|name, _| name != "source_id" && name != "category_id");
            sample
        };
        Self { car: sample(CAR), boat: sample(BOAT) }
    }

    /// The `nth` ad of a dealer: every fifth is a boat, every thousandth deleted.
    pub(super) fn ad(&self, dealer: Dealer, nth: usize) -> Ad {
        let tag = (dealer.number << 20) + nth;
        let mut dice = Dice::new(number(tag).cast_unsigned());
        let created = Ad::created(dealer, nth);
        let is_boat = nth % 5 == 3;
        let bits = u128::try_from(created).expect("after 1970") << 80 | 0x7 << 76 | 1 << 63 | tag as u128;
        let id = Uuid::from_u128(bits);
        let (brand, name) = if is_boat {
            words::BOATS[dice.below(words::BOATS.len())]
        } else {
            words::CARS[dice.below(words::CARS.len())]
        };
        let year = 2005 + dice.below(20);
        let plate = (!is_boat).then(|| format!("A{:06}", tag % 999_983));
        let images: Vec<String> = (0..4).map(|image| format!("https://cdn.example.com/{tag}/{image}.jpg")).collect();
        let mut content = if is_boat { self.boat.clone() } else { self.car.clone() };
        content.insert("title".to_owned(), json!(format!("{name} {year}")));
        content.insert("body".to_owned(), json!(words::body(&mut dice, nth % 200 == 77)));
        content.insert("url".to_owned(), json!(format!("https://dealer.example/{tag}")));
        content.insert("image_urls".to_owned(), json!(images));
        content["category_fields"]["brand"] = json!(brand);
        content["category_fields"]["model_year"] = json!(year);
        if let Some(plate) = &plate {
            content["category_fields"]["registration_number"] = json!(plate);
        }
        let image_ref = |url: &String| {
            let checksum = format!("{:064x}", dice.below(usize::MAX));
            json!({"url": url, "cdn_url": format!("https://media.example.com/media/{checksum}.jpg"),
                "id": Uuid::from_u128(bits + (1 << 40)), "checksum": checksum})
        };
        Ad {
            id,
            source_id: if nth.is_multiple_of(2) {
                format!("Lager-{nth:06}")
            } else {
                Uuid::from_u128(bits ^ bits << 17).to_string()
            },
            dealer,
            category: if is_boat { 1060 } else { 1020 },
            state: if nth % 1000 == 7 { "deleted" } else { "created" },
            created,
            updated: created + number(Dice::new(number(tag).cast_unsigned() ^ 5).below(90)) * 86_400_000,
            plate,
            listing: format!("P{}", 10_000_000 + tag),
            image_refs: images.iter().map(image_ref).collect(),
            content,
        }
    }
}
