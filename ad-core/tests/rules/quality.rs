//! The quality of ads (extensions E7): each flaw yields exactly its finding, and each goal that is met raises the score.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use ad_core::{
    categories::by_vehicle_type,
    model::{
        Ad, AdState, ApiVersion, EarlierPrices, FailedImage, ImageRef, Photo, PhotoFacts, SameVehicle, Timestamp,
        Undecodable,
    },
    prices,
    quality::{self, Finding, Level, Measured, Quality, Severity},
    violation::Code,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{object, with, without};

/// `docs/quality.md` is generated from the tables.
#[test]
fn quality_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/quality.md");
    let now = quality::markdown();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == now,
        "docs/quality.md is stale; write it anew: UPDATE_SNAPSHOTS=1 cargo test -p ad-core quality"
    );
}

/// The car of the documentation, which has no finding.
fn car() -> Value {
    let car: Value = serde_json::from_str(include_str!("../../../docs/car.json")).unwrap();
    let photos: Vec<_> = (1..=10).map(|number| format!("https://images.example/{number}.jpg")).collect();
    let body = "Driven by one owner, serviced every year by the dealer who sold it. ".repeat(4);
    with(&car, json!({"image_urls": photos, "body": body}))
}

/// The quality of an ad on 22 November 2026.
fn quality_of(vehicle_type: &str, ad: Value) -> Quality {
    let now: Timestamp = "2026-11-22T10:00:00Z".parse().unwrap();
    Measured::new(by_vehicle_type(vehicle_type).unwrap(), &object(ad), now).quality()
}

fn findings(vehicle_type: &str, ad: Value) -> Vec<(&'static str, String)> {
    let quality = quality_of(vehicle_type, ad);
    for goal in &quality.goals {
        let (text, how) = quality::goal_in_swedish(&goal.code).expect("every goal has its texts in Swedish");
        assert!(!text.is_empty() && !how.is_empty() && text != goal.text && how != goal.how, "{goal:?}");
    }
    let findings = quality.findings.into_iter();
    let in_both =
        |finding: &Finding| assert!(!finding.swedish.is_empty() && finding.swedish != finding.text, "{finding:?}");
    findings.inspect(in_both).map(|finding| (finding.code.name(), finding.field)).collect()
}

#[test]
fn an_ad_without_flaws_has_no_finding() {
    assert_eq!(findings("car", car()), []);
}

#[test]
fn an_old_vehicle_that_is_new_by_its_mileage_alone_has_a_doubtful_mileage() {
    let unused = json!({"category_fields": {"model_year": 2015, "condition": {"mileage": {"unit": "km", "value": 0}, "is_new_vehicle": true}}});
    let ad = object(with(&car(), unused));
    let now = "2026-11-22T10:00:00Z".parse().unwrap();
    let measured = Measured::new(by_vehicle_type("car").unwrap(), &ad, now);
    let codes = |measured: Measured<'_>| measured.findings().iter().map(|it| it.code.name()).collect::<Vec<_>>();
    assert!(!codes(measured).contains(&"mileage_unlikely"));
    assert_eq!(codes(measured.with_derived_newness()), ["mileage_unlikely"]);
}

#[test]
fn each_flaw_yields_exactly_its_finding() {
    let fields = |fields: Value| json!({"category_fields": fields});
    for (flaw, code, field) in [
        (fields(json!({"vin": "YV1UZH5V1M100000I"})), "vin_letter", "category_fields.vin"),
        (fields(json!({"vin": "YV1UZH5V1M1000001AB"})), "vin_format", "category_fields.vin"),
        (fields(json!({"vin": "🚗".repeat(17)})), "vin_format", "category_fields.vin"),
        (fields(json!({"vin": "1M8GDM9A1KP042788"})), "vin_check_digit", "category_fields.vin"),
        (fields(json!({"registration_number": "CA21A"})), "plate_format", "category_fields.registration_number"),
        (fields(json!({"model_year": 2029})), "model_year_in_future", "category_fields.model_year"),
        (
            fields(json!({"condition": {"mileage": {"unit": "mil", "value": 130_000}}})),
            "mileage_unlikely",
            "category_fields.condition.mileage",
        ),
        (
            fields(json!({"condition": {"is_new_vehicle": true}})),
            "new_vehicle_driven",
            "category_fields.condition.mileage",
        ),
        (json!({"price": [{"type": "list", "amount": 349, "currency": "SEK"}]}), "price_unlikely", "price"),
        (json!({"price": [{"type": "list", "amount": 34_990_000, "currency": "SEK"}]}), "price_in_ore", "price"),
        (json!({"price": [{"type": "reduced", "amount": 1, "currency": "SEK"}]}), "reduced_without_list", "price"),
        (
            json!({"price": [{"type": "list", "amount": 90_000, "currency": "SEK"},
                {"type": "reduced", "amount": 90_000, "currency": "SEK"}]}),
            "reduced_not_below_list",
            "price",
        ),
        (json!({"body": "MYCKET FIN BIL I TOPPSKICK ".repeat(9)}), "body_capitals", "body"),
        (json!({"body": "<b>Fin bil</b>"}), "body_markup", "body"),
        (json!({"body": "Ring 070-123 45 67"}), "body_contact", "body"),
        (json!({"body": "Skriv till anna@north.example"}), "body_contact", "body"),
        (json!({"body": "Se https://north.example/bilar"}), "body_contact", "body"),
        (json!({"image_urls": ["https://images.example/1.jpg"]}), "few_photos", "image_urls"),
    ] {
        assert_eq!(findings("car", with(&car(), flaw.clone())), [(code, field.to_owned())], "{flaw}");
    }
    for (path, code) in [("brand", "title_incomplete"), ("model", "title_incomplete")] {
        let path = format!("category_fields.{path}");
        assert_eq!(findings("car", without(car(), &path)), [(code, path)]);
    }
    let electric = with(&car(), fields(json!({"powertrain": {"fuels": ["electric"]}})));
    for path in ["driving_range", "battery_capacity"] {
        let path = format!("category_fields.powertrain.environmental.{path}");
        assert_eq!(findings("car", without(electric.clone(), &path)), [("electric_incomplete", path)]);
    }
    let new = json!({"condition": {"is_new_vehicle": true, "mileage": {"unit": "mil", "value": 0}}});
    let new = with(&car(), fields(new));
    for path in ["fuel_consumption", "co2_emission"] {
        let path = format!("category_fields.powertrain.environmental.{path}");
        assert_eq!(findings("car", without(new.clone(), &path)), [("emissions_missing", path)]);
    }
}

#[test]
fn a_finding_suggests_what_was_probably_meant() {
    let suggestion = |flaw: Value| quality_of("car", with(&car(), flaw)).findings.pop().unwrap().suggestion.unwrap();
    assert_eq!(suggestion(json!({"category_fields": {"vin": "YVIUZH5VIMIOOOOO1"}})), "YV1UZH5V1M1000001");
    assert_eq!(suggestion(json!({"price": [{"type": "list", "amount": 34_990_000, "currency": "SEK"}]})), "349900");
    let mileage = json!({"condition": {"mileage": {"unit": "mil", "value": 130_000}}});
    assert_eq!(suggestion(json!({"category_fields": mileage})), "130000 km");
}

#[test]
fn one_photo_is_no_photos() {
    let text = |count: usize| {
        let photos: Vec<_> = (0..count).map(|number| format!("https://images.example/{number}.jpg")).collect();
        quality_of("car", with(&car(), json!({"image_urls": photos}))).findings.pop().unwrap().text
    };
    assert!(text(1).starts_with("The ad has 1 photo; "), "{}", text(1));
    assert!(text(2).starts_with("The ad has 2 photos; "), "{}", text(2));
}

#[test]
fn a_personal_plate_is_only_mentioned() {
    let plate = json!({"category_fields": {"registration_number": "MINBIL"}});
    assert_eq!(quality_of("car", with(&car(), plate)).findings[0].severity, Severity::Info);
    let wrong = json!({"category_fields": {"registration_number": "A-1234"}});
    assert_eq!(quality_of("car", with(&car(), wrong)).findings[0].severity, Severity::Warning);
}

#[test]
fn the_score_rises_with_the_weight_of_the_goals_met() {
    let all =
        quality_of("car", with(&car(), json!({"price": [{"type": "list", "amount": 90_000, "currency": "SEK"}]})));
    assert_eq!((all.score, all.level), (100, Level::Excellent));
    let bare = json!({"category_fields": {}});
    let nothing = quality_of("car", bare.clone());
    assert_eq!((nothing.score, nothing.level), (0, Level::Basic));
    let photos: Vec<_> = (1..=10).map(|number| format!("https://images.example/{number}.jpg")).collect();
    let (one, many) = (json!({"image_urls": photos[..1]}), json!({"image_urls": photos}));
    let scores = [bare.clone(), with(&bare, one), with(&bare, many)].map(|ad| quality_of("car", ad).score);
    assert!(scores.is_sorted() && scores[0] < scores[1] && scores[1] < scores[2], "{scores:?}");
    // Of two ads that each lack one goal, that with the heavier one scores less.
    let score_without = |path: &str| quality_of("car", without(car(), path)).score;
    assert!(score_without("body") < score_without("category_fields.equipments"));
}

#[test]
fn goals_are_those_of_the_category() {
    let codes = |vehicle_type: &str| -> Vec<String> {
        let goals = quality_of(vehicle_type, json!({"category_fields": {}})).goals.into_iter();
        goals.map(|goal| goal.code.into_owned()).collect()
    };
    assert!(codes("construction").contains(&"engine_runtime".to_owned()));
    assert!(!codes("agriculture-tools").contains(&"mileage".to_owned()));
    // Range and battery count for electric vehicles only.
    assert!(!codes("car").contains(&"range".to_owned()));
}

#[test]
fn an_ad_of_nothing_but_nulls_is_rated() {
    for (vehicle_type, _) in ad_core::categories::typed() {
        let ad = json!({"body": null, "price": null, "image_urls": null, "category_fields": {"vin": null, "condition": null}});
        quality_of(vehicle_type, ad);
        quality_of(vehicle_type, json!({}));
    }
}

#[test]
fn an_ad_with_numbers_beyond_all_sense_is_rated() {
    for category in ad_core::categories::all() {
        for year in [i64::MIN, i64::MAX] {
            let measure = json!({"unit": "hour", "value": f64::MAX});
            let fields = json!({"model_year": year, "condition": {"mileage": measure, "engine_runtime": measure}});
            let ad = object(json!({"category_fields": fields, "price": [{"type": "list", "amount": f64::MAX}]}));
            Measured::new(category, &ad, Timestamp::from_millis(i64::MAX)).quality();
        }
    }
}

/// A stored ad with these fields.
fn stored(ad: &Value) -> Ad {
    let now: Timestamp = "2026-11-22T10:00:00Z".parse().unwrap();
    Ad {
        id: Uuid::nil(),
        source_id: "car-1".to_owned(),
        dealer_code: "north".to_owned(),
        category_id: 1020,
        state: AdState::Created,
        api_version: ApiVersion::V4,
        content: object(ad.clone()).into(),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: now,
        updated: now,
    }
}

#[test]
fn a_photo_that_could_not_be_stored_does_not_count() {
    let photos: Vec<_> = (1..=10).map(|number| format!("https://images.example/{number}.jpg")).collect();
    let mut ad = stored(&with(&car(), json!({"image_urls": photos})));
    let failed = |url: &str| FailedImage {
        url: url.to_owned(),
        error: "HTTP 404".to_owned(),
        code: Code::ImageFailed,
        flaw: None,
        attempts: 1,
    };
    // The second one has been replaced by another address meanwhile.
    let failed = [failed(&photos[3]), failed("https://images.example/old.jpg")];
    let quality = |ad: &Ad, failed: &[FailedImage]| {
        let quality = Measured::stored(ad.category().unwrap(), ad, failed, ad.updated).quality();
        assert_eq!(quality::score(ad, failed), quality.score);
        let summary = Measured::stored(ad.category().unwrap(), ad, failed, ad.updated).summary();
        assert_eq!(
            (summary.score, summary.level, summary.findings),
            (quality.score, quality.level, quality.findings.len())
        );
        quality
    };
    let (whole, missing) = (quality(&ad, &[]), quality(&ad, &failed));
    assert_eq!(whole.findings, []);
    let [finding] = &missing.findings[..] else { panic!("{missing:?}") };
    assert_eq!((finding.code, finding.field.as_str()), (Code::PhotoMissing, "image_urls.3"));
    assert_eq!(finding.text, "Photo 4 is missing: HTTP 404");
    assert!(missing.score < whole.score, "9 photos do not meet the goal of 10");
    // An image of an earlier attempt stays in its place.
    ad.image_refs.push(ImageRef {
        url: photos[3].clone(),
        cdn_url: "https://cdn.example/4".to_owned(),
        id: Uuid::nil(),
        checksum: String::new(),
        photo: None,
    });
    assert_eq!(quality(&ad, &failed), whole);
}

#[test]
fn another_ad_with_the_same_plate_or_vin_is_a_finding() {
    let (ad, now) = (object(car()), "2026-11-22T10:00:00Z".parse().unwrap());
    for (plate, vin, code, field) in [
        (Some("car-2"), None, Code::PlateInOtherAd, "category_fields.registration_number"),
        (None, Some("car-2"), Code::VinInOtherAd, "category_fields.vin"),
    ] {
        let same = SameVehicle { plate: plate.map(str::to_owned), vin: vin.map(str::to_owned) };
        let measured = Measured::new(by_vehicle_type("car").unwrap(), &ad, now).with_same_vehicle(&same);
        let quality = measured.quality();
        let [finding] = &quality.findings[..] else { panic!("{quality:?}") };
        assert_eq!((finding.code, finding.field.as_str()), (code, field));
        assert!(finding.text.contains("\"car-2\""), "{finding:?}");
    }
}

#[test]
fn a_reduced_price_is_held_against_the_lowest_of_the_30_days_before() {
    let price = |amount: i64| {
        json!([{"type": "list", "amount": 100_000, "currency": "SEK"},
        {"type": "reduced", "amount": amount, "currency": "SEK"}])
    };
    let codes = |amount: i64| {
        let ad = stored(&with(&car(), json!({"price": price(amount)})));
        let before = serde_json::from_value(json!([{"type": "list", "amount": 90_000, "currency": "SEK"}])).unwrap();
        let earlier = vec![EarlierPrices { until: ad.created, prices: Some(before) }];
        let ad = Ad { created: ad.created - Duration::from_hours(24), ..ad };
        let now = ad.updated;
        let prices = prices::history(&ad, earlier, now);
        let measured = Measured::stored(ad.category().unwrap(), &ad, &[], now).with_prices(Some(&prices));
        measured.quality().findings.into_iter().map(|finding| (finding.code, finding.severity)).collect::<Vec<_>>()
    };
    assert_eq!(codes(90_000), [(Code::ReducedNotBelowLowest, Severity::Info)]);
    assert_eq!(codes(89_999), []);
}

#[test]
fn photos_that_were_examined_have_findings() {
    let urls: Vec<_> = (1..=10).map(|number| format!("https://images.example/{number}.jpg")).collect();
    let mut ad = stored(&with(&car(), json!({"image_urls": urls})));
    // Each hash and colour is far from all others.
    let good = |number: u8| PhotoFacts {
        width: 1024,
        height: 768,
        hash: 0b1111 << (4 * number),
        color: [40 + 10 * number, 120, 120],
        contrast: 50,
        sharpness: 300,
    };
    let image = |number: u8| ImageRef {
        url: urls[usize::from(number) - 1].clone(),
        cdn_url: format!("https://cdn.example/{number}"),
        id: Uuid::nil(),
        checksum: number.to_string(),
        photo: Some(Photo::Decoded(good(number))),
    };
    let found = |ad: &Ad| {
        let findings = Measured::stored(ad.category().unwrap(), ad, &[], ad.updated).quality().findings;
        let found = findings.into_iter().map(|finding| (finding.code, finding.field, finding.severity));
        found.collect::<Vec<_>>()
    };
    ad.image_refs = (1..=10).map(image).collect();
    assert_eq!(found(&ad), []);
    let score = quality::score(&ad, &[]);
    let is = |photo: PhotoFacts| Some(Photo::Decoded(photo));
    let info = Severity::Info;
    for (place, photo, code, severity) in [
        (0, is(PhotoFacts { width: 768, height: 1024, ..good(1) }), Code::PhotoUpright, info),
        (4, is(PhotoFacts { width: 1023, ..good(5) }), Code::PhotoSmall, info),
        (4, is(PhotoFacts { height: 767, ..good(5) }), Code::PhotoSmall, info),
        (4, is(PhotoFacts { color: [20, 30, 40], ..good(5) }), Code::PhotoDark, info),
        (4, is(PhotoFacts { sharpness: 14, ..good(5) }), Code::PhotoBlurred, info),
        (4, Some(Photo::Undecodable(Undecodable::TooLarge)), Code::PhotoUndecodable, Severity::Warning),
    ] {
        ad.image_refs[place].photo = photo;
        assert_eq!(found(&ad), [(code, format!("image_urls.{place}"), severity)], "{photo:?}");
        ad.image_refs[place] = image(u8::try_from(place).unwrap() + 1);
    }
    // A photo of another ad.
    let same = BTreeMap::from([(ad.image_refs[7].checksum.clone(), "car-2".to_owned())]);
    let measured = Measured::stored(ad.category().unwrap(), &ad, &[], ad.updated).with_same_photos(&same);
    let [finding] = &measured.findings()[..] else { panic!("{:?}", measured.findings()) };
    assert_eq!((finding.code, finding.severity, finding.field.as_str()), (Code::PhotoInOtherAd, info, "image_urls.7"));
    assert!(finding.text.contains("\"car-2\""), "{finding:?}");
    // Upright photos that are not the first, and pictures without contrast, are as they should be.
    ad.image_refs[4].photo = is(PhotoFacts { width: 768, height: 1024, contrast: 3, sharpness: 0, ..good(5) });
    assert_eq!(found(&ad), []);
    // The same picture in another file, and the same file at another address.
    ad.image_refs[4].photo = is(PhotoFacts { hash: good(2).hash ^ 0b11, color: [66, 117, 120], ..good(5) });
    assert_eq!(found(&ad), [(Code::PhotoRepeated, "image_urls.4".to_owned(), Severity::Warning)]);
    (ad.image_refs[4].photo, ad.image_refs[4].checksum) = (None, "2".to_owned());
    assert_eq!(found(&ad), [(Code::PhotoRepeated, "image_urls.4".to_owned(), Severity::Warning)]);
    assert_eq!(quality::score(&ad, &[]), score);
    // An image that the list no longer has is not meant.
    ad.image_refs[4].url = "https://images.example/old.jpg".to_owned();
    assert_eq!(found(&ad), []);
}
