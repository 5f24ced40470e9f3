use super::*;

fn rules(at: &str, zone: &str) -> PromotionRules {
    PromotionRules {
        kind: PromotionKind::Bump,
        select: Map::from_iter([("source_id".to_owned(), "car-1".into())]),
        order: AdsOrder::default(),
        most_per_run: DEFAULT_PER_RUN,
        min_age_days: None,
        weekdays: None,
        at: at.parse().unwrap(),
        zone: zone.to_owned(),
        until: None,
        budget: None,
        exclude_primary: false,
        exclude_secondary: false,
    }
}

/// The next runs after a time, without their seconds.
fn runs(rules: &PromotionRules, after: &str, count: usize) -> Vec<String> {
    let mut after: Timestamp = after.parse().unwrap();
    let mut runs = Vec::new();
    while let Some(next) = rules.next_run(after).filter(|_| runs.len() < count) {
        runs.push(next.to_string()[..16].to_owned());
        after = next;
    }
    runs
}

#[test]
fn a_time_that_does_not_exist_is_the_first_minute_after_the_gap() {
    for (zone, at, after, expected) in [
        // At 02:00 on 29 March it is 03:00.
        (
            "Europe/Stockholm",
            "02:30",
            "2026-03-28T00:00:00Z",
            ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
        ),
        (
            "Europe/Stockholm",
            "02:00",
            "2026-03-28T00:00:00Z",
            ["2026-03-28T01:00", "2026-03-29T01:00", "2026-03-30T00:00"],
        ),
        (
            "Europe/Stockholm",
            "03:00",
            "2026-03-28T00:00:00Z",
            ["2026-03-28T02:00", "2026-03-29T01:00", "2026-03-30T01:00"],
        ),
        (
            "America/New_York",
            "02:59",
            "2026-03-07T00:00:00Z",
            ["2026-03-07T07:59", "2026-03-08T07:00", "2026-03-09T06:59"],
        ),
        // At 02:00 on 4 October it is 02:30.
        (
            "Australia/Lord_Howe",
            "02:15",
            "2026-10-02T00:00:00Z",
            ["2026-10-02T15:45", "2026-10-03T15:30", "2026-10-04T15:15"],
        ),
        (
            "Australia/Lord_Howe",
            "02:30",
            "2026-10-02T00:00:00Z",
            ["2026-10-02T16:00", "2026-10-03T15:30", "2026-10-04T15:30"],
        ),
    ] {
        assert_eq!(runs(&rules(at, zone), after, 3), expected, "{at} in {zone}");
    }
}

#[test]
fn a_time_that_occurs_twice_is_the_first() {
    for (zone, at, after, expected) in [
        // At 03:00 on 25 October it is 02:00 again.
        (
            "Europe/Stockholm",
            "02:30",
            "2026-10-24T00:00:00Z",
            ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
        ),
        (
            "America/New_York",
            "01:00",
            "2026-10-31T00:00:00Z",
            ["2026-10-31T05:00", "2026-11-01T05:00", "2026-11-02T06:00"],
        ),
        // At 02:00 on 5 April it is 01:30 again.
        (
            "Australia/Lord_Howe",
            "01:45",
            "2026-04-03T00:00:00Z",
            ["2026-04-03T14:45", "2026-04-04T14:45", "2026-04-05T15:15"],
        ),
    ] {
        assert_eq!(runs(&rules(at, zone), after, 3), expected, "{at} in {zone}");
    }
    // Between the two times of that day, the run of the day is over.
    assert_eq!(runs(&rules("02:30", "Europe/Stockholm"), "2026-10-25T01:00:00Z", 1), ["2026-10-26T01:30"]);
}

#[test]
fn a_day_that_a_zone_leaves_out_runs_on_the_next() {
    // Samoa had no 30 December 2011.
    let mut friday = rules("12:00", "Pacific/Apia");
    friday.weekdays = Some(vec![Weekday::Friday]);
    assert_eq!(runs(&friday, "2011-12-29T00:00:00Z", 2), ["2011-12-30T10:00", "2012-01-05T22:00"]);
}

#[test]
fn weekdays_and_the_last_day_are_those_of_the_zone() {
    let mut rules = rules("00:30", "Europe/Stockholm");
    rules.weekdays = Some(vec![Weekday::Monday, Weekday::Thursday]);
    rules.until = Some("2026-06-08".parse().unwrap());
    let expected = ["2026-05-31T22:30", "2026-06-03T22:30", "2026-06-07T22:30"];
    assert_eq!(runs(&rules, "2026-05-31T22:00:00Z", 9), expected);
    let last = rules.until.unwrap();
    let is_over = |time: &str| last.is_over(time.parse().unwrap(), &rules.time_zone());
    assert!(!is_over("2026-06-08T21:59:00Z") && is_over("2026-06-08T22:00:00Z"));
}

#[test]
fn a_schedule_runs_once_for_a_time_that_is_over_or_comes_again() {
    let promotion = Promotion {
        id: Uuid::from_u128(1),
        dealer_code: "north-cars".to_owned(),
        rules: rules("08:00", "UTC"),
        paused: false,
        next_run: None,
        last_run: Some("2026-06-03T08:00:00Z".parse().unwrap()),
        created: Timestamp::default(),
        asked_by: AskedBy::default(),
        revision: 0,
        origin: RequestOrigin::default(),
    };
    let next = |now: &str| promotion.run_after(now.parse().unwrap()).unwrap().to_string();
    // After an outage of days; and when the clock was set back behind the run.
    assert_eq!(next("2026-06-10T09:00:00Z"), "2026-06-11T08:00:00.000Z");
    assert_eq!(next("2026-06-03T07:00:00Z"), "2026-06-04T08:00:00.000Z");
    assert_eq!(Promotion { paused: true, ..promotion }.run_after(Timestamp::default()), None);
}

#[test]
fn times_days_and_orders_are_read_as_they_are_written() {
    for text in ["00:00", "08:05", "23:59"] {
        assert_eq!(text.parse::<TimeOfDay>().unwrap().to_string(), text);
    }
    for text in ["24:00", "8:00", "08:60", "08", "08:00:00", "+8:00", ""] {
        assert_eq!(text.parse::<TimeOfDay>(), Err(NotATimeOfDay), "{text}");
    }
    assert_eq!("2028-02-29".parse::<LastDay>().unwrap().to_string(), "2028-02-29");
    for text in ["2026-02-29", "2026-2-1", "26-02-01", "2026-02", "2026-02-01T00:00:00Z", ""] {
        assert_eq!(text.parse::<LastDay>(), Err(NotADay), "{text}");
    }
    for name in AdsOrder::NAMES {
        assert_eq!(name.parse::<AdsOrder>().unwrap().to_string(), *name);
    }
    assert_eq!("--updated".parse::<AdsOrder>(), Err(NotAnOrder));
}

#[test]
fn the_request_of_an_ad_in_a_run_is_always_the_same() {
    let (promotion, at) = (Uuid::from_u128(1), Timestamp::from_millis(7));
    let id = Promotion::request_of(promotion, at, "car-1");
    assert_eq!((id, id.get_version_num()), (Promotion::request_of(promotion, at, "car-1"), 8));
    let others = [
        Promotion::request_of(Uuid::from_u128(2), at, "car-1"),
        Promotion::request_of(promotion, Timestamp::from_millis(8), "car-1"),
        Promotion::request_of(promotion, at, "car-2"),
    ];
    assert!(!others.contains(&id));
}
