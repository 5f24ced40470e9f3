//! What is understood of query parameters, and what is refused ('List parameters', decisions 1 and 2).

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

use ad_core::{
    model::{Action, ActionState, AdFilter, AdOrder, AdQuery, AdState, Bound, Exclusions, Included, LogQuery, Page},
    synonyms::names::Names,
};
use ad_parameters::{
    AD_PARAMETERS, AdParameters, BUMP_PARAMETERS, CREATE_PARAMETERS, FromParameters, LOG_PARAMETERS, READ_PARAMETERS,
    SELECT_PARAMETERS, TARGET_PARAMETERS, ToParameters, WRITE_PARAMETERS,
};
use serde_json::{Value, json};

fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap();
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn owned(pairs: Vec<(&str, String)>) -> Vec<(String, String)> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn ads(query: &str) -> AdQuery {
    AdQuery::parse(AD_PARAMETERS, &pairs(query)).unwrap()
}

fn ads_refused(query: &str) -> Value {
    json!(AdQuery::parse(AD_PARAMETERS, &pairs(query)).unwrap_err())
}

#[test]
fn without_parameters_the_newest_fifty_come_first_and_a_log_starts_with_its_oldest() {
    assert_eq!(
        ads(""),
        AdQuery {
            filters: Vec::new(),
            order: AdOrder::Created,
            descending: true,
            page: Page { limit: 50, offset: 0 },
            fields: None,
            included: Included::default(),
        }
    );
    assert_eq!(
        LogQuery::parse(LOG_PARAMETERS, &[]).unwrap(),
        LogQuery {
            dealer_code: None,
            action: None,
            state: None,
            request_id: None,
            descending: false,
            page: Page { limit: 50, offset: 0 },
        }
    );
}

#[test]
fn a_selection_has_the_filters_of_a_list_and_nothing_else() {
    let names = AD_PARAMETERS.iter().map(|parameter| parameter.name);
    let filters = names.filter(|name| !["limit", "offset", "ordering", "fields", "include"].contains(name));
    assert!(filters.eq(SELECT_PARAMETERS.iter().map(|parameter| parameter.name)));
}

#[test]
fn every_filter_is_understood() {
    let id = "5b1c6a52-0000-4000-8000-000000000001";
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let time = "2026-01-15T10:00:00Z".parse().unwrap();
    for (query, filter) in [
        (format!("id={id}"), AdFilter::Id(id.parse().unwrap())),
        ("state=deleted".to_owned(), AdFilter::State(AdState::Deleted)),
        ("source_id=a,b".to_owned(), AdFilter::SourceId(texts(&["a,b"]))),
        ("source_id__in=a, b".to_owned(), AdFilter::SourceId(texts(&["a", "b"]))),
        ("source_id__icontains=A%".to_owned(), AdFilter::SourceIdContains("A%".to_owned())),
        ("dealer_code=d".to_owned(), AdFilter::DealerCode("d".to_owned())),
        ("category_id=1020".to_owned(), AdFilter::CategoryId(vec![1020])),
        ("category_id__in=1020,1060".to_owned(), AdFilter::CategoryId(vec![1020, 1060])),
        ("search=Volvo".to_owned(), AdFilter::Search("Volvo".to_owned())),
        ("q=volvo v60".to_owned(), AdFilter::Words("volvo v60".to_owned())),
        ("marketplace_ad_id=p-1".to_owned(), AdFilter::MarketplaceAdId(texts(&["p-1"]))),
        ("marketplace_ad_id__in=p-1,p-2".to_owned(), AdFilter::MarketplaceAdId(texts(&["p-1", "p-2"]))),
        ("registration_number=abc 12d".to_owned(), AdFilter::RegistrationNumber("ABC12D".to_owned())),
        ("quality_score__lt=50".to_owned(), AdFilter::QualityScore(Bound::Lt, 50)),
        ("quality_score__gte=0".to_owned(), AdFilter::QualityScore(Bound::Gte, 0)),
        ("brand=volvo".to_owned(), AdFilter::Brand("volvo".to_owned())),
        ("price__lt=200000".to_owned(), AdFilter::Price(Bound::Lt, 200_000)),
        ("price__gte=0".to_owned(), AdFilter::Price(Bound::Gte, 0)),
        ("image_count__lt=1".to_owned(), AdFilter::ImageCount(Bound::Lt, 1)),
        ("image_count__gte=20".to_owned(), AdFilter::ImageCount(Bound::Gte, 20)),
        ("failed_images=true".to_owned(), AdFilter::FailedImages(true)),
        ("failed_images=0".to_owned(), AdFilter::FailedImages(false)),
        ("created__gt=2026-01-15 10:00:00".to_owned(), AdFilter::Time(AdOrder::Created, Bound::Gt, time)),
        ("created__lte=2026-01-15T11:00:00+01:00".to_owned(), AdFilter::Time(AdOrder::Created, Bound::Lte, time)),
        ("updated__gte=2026-01-15T10:00:00.000Z".to_owned(), AdFilter::Time(AdOrder::Updated, Bound::Gte, time)),
        ("updated__lt=2026-01-15 10:00:00".to_owned(), AdFilter::Time(AdOrder::Updated, Bound::Lt, time)),
    ] {
        let parsed = ads(&query);
        assert_eq!(parsed.filters, [filter], "{query}");
        assert_eq!(AdQuery::parse(AD_PARAMETERS, &owned(parsed.parameters())).unwrap(), parsed, "{query}");
    }
}

#[test]
fn orders_pages_and_fields_are_understood() {
    let query = ads("ordering=-source_id&limit=500&offset=7&fields=id, title,log");
    assert_eq!((query.order, query.descending), (AdOrder::SourceId, true));
    assert_eq!(query.page, Page { limit: 500, offset: 7 });
    assert_eq!(query.fields, Some(vec!["id", "title", "log"]));
    assert!(query.included.log);
    assert_eq!(AdQuery::parse(AD_PARAMETERS, &owned(query.parameters())).unwrap(), query);
    assert!(AdQuery::default().parameters().is_empty() && ads("") == AdQuery::default());
    assert_eq!((ads("ordering=updated").order, ads("ordering=updated").descending), (AdOrder::Updated, false));
    assert!(ads("include=log").included.log);
    let query = ads("include=quality,log,status");
    assert!(query.included.log && query.included.status && query.included.quality);
    assert_eq!(AdQuery::parse(AD_PARAMETERS, &owned(query.parameters())).unwrap(), query);
    assert!(ads("fields=id&include=quality").asks_for_content() && !ads("fields=id").asks_for_content());

    let query = "action=handle_media&state=error&request_id=5b1c6a52-0000-4000-8000-000000000001&ordering=-created";
    let query = LogQuery::parse(LOG_PARAMETERS, &pairs(query)).unwrap();
    assert_eq!((query.action, query.state), (Some(Action::HandleMedia), Some(ActionState::Error)));
    assert!(query.request_id.is_some() && query.descending);
    assert_eq!(LogQuery::parse(LOG_PARAMETERS, &owned(query.parameters())).unwrap(), query);
}

#[test]
fn what_is_wrong_is_refused_at_its_parameter() {
    let integer = "A valid integer is required.";
    let time = "Enter a valid date and time, in UTC: YYYY-MM-DD HH:MM:SS.";
    for (query, name, messages) in [
        ("id=1", "id", json!(["Must be a valid UUID."])),
        ("state=creatd", "state", json!(["\"creatd\" is not a valid choice.", "Did you mean \"created\"?"])),
        ("state=", "state", json!(["\"\" is not a valid choice.", "Valid choices: \"created\", \"deleted\"."])),
        ("source_id__in=a,,b", "source_id__in", json!(["Empty items are not allowed."])),
        ("category_id=car", "category_id", json!([integer, "Send 1020, not \"car\"."])),
        (
            "updated__gt=2026-01-15T10:00:00 02:00",
            "updated__gt",
            json!([
                "Enter a valid date and time, in UTC: YYYY-MM-DD HH:MM:SS.",
                "A + in a query stands for a space: send 2026-01-15T10:00:00%2B02:00."
            ]),
        ),
        (
            "category_id__in=1020,x,",
            "category_id__in",
            json!(["\"x\": A valid integer is required.", "Empty items are not allowed."]),
        ),
        ("created__gt=yesterday", "created__gt", json!([time])),
        ("updated__lt=2026-02-30 10:00:00", "updated__lt", json!([time])),
        ("quality_score__lt=101", "quality_score__lt", json!(["Must be 0 to 100."])),
        ("quality_score__gte=-1", "quality_score__gte", json!(["Must be 0 to 100."])),
        ("quality_score__gte=high", "quality_score__gte", json!([integer])),
        ("price__lt=199900.50", "price__lt", json!([integer])),
        ("price__gte=-1", "price__gte", json!(["Must be 0 to 1000000000."])),
        ("image_count__lt=1001", "image_count__lt", json!(["Must be 0 to 1000."])),
        ("failed_images=some", "failed_images", json!(["Must be true or false."])),
        ("limit=501", "limit", json!(["Must be 1 to 500."])),
        ("limit=0", "limit", json!(["Must be 1 to 500."])),
        ("limit=-1", "limit", json!(["Must be 1 to 500."])),
        ("limit=ten", "limit", json!([integer])),
        ("offset=-1", "offset", json!(["Must be 0 or more."])),
        ("offset=1.5", "offset", json!([integer])),
        (
            "ordering=title",
            "ordering",
            json!([
                "\"title\" is not a valid choice.",
                "Valid choices: \"-created\", \"created\", \"-updated\", \"updated\", \"-source_id\", \"source_id\", \"-quality_score\", \"quality_score\", \"-amount\", \"amount\"."
            ]),
        ),
        (
            "ordering=--created",
            "ordering",
            json!(["\"--created\" is not a valid choice.", "Did you mean \"-created\"?"]),
        ),
        ("fields=id,tittle", "fields", json!(["\"tittle\" is not a valid choice.", "Did you mean \"title\"?"])),
        ("include=logs", "include", json!(["\"logs\" is not a valid choice.", "Did you mean \"log\"?"])),
        ("sourceid=a", "sourceid", json!(["Unknown parameter.", "Did you mean \"source_id\"?"])),
        ("limit=1&limit=2", "limit", json!(["Given more than once."])),
    ] {
        assert_eq!(ads_refused(query), json!({name: messages}), "{query}");
    }
    assert_eq!(
        ads_refused("limit=x&state=y&foo=z"),
        json!({"limit": [integer], "foo": ["Unknown parameter."],
            "state": ["\"y\" is not a valid choice.", "Valid choices: \"created\", \"deleted\"."]})
    );
    let log = LogQuery::parse(LOG_PARAMETERS, &pairs("action=publsh&source_id=1")).unwrap_err();
    assert_eq!(
        json!(log),
        json!({"action": ["\"publsh\" is not a valid choice.", "Did you mean \"publish\"?"], "source_id": ["Unknown parameter."]})
    );
}

#[test]
fn every_documented_parameter_is_read() {
    for parameter in AD_PARAMETERS {
        // No parameter takes it, but for words: a text without letters and digits asks for nothing.
        let value = if parameter.name == "q" { "volvo" } else { "\u{1}" };
        let query = [(parameter.name.to_owned(), value.to_owned())];
        let changed = AdQuery::parse(AD_PARAMETERS, &query).map_or(true, |query| query != ads(""));
        assert!(changed, "{} is not read", parameter.name);
    }
}

#[test]
fn a_request_about_one_ad_names_the_dealer_and_a_bump_the_exclusions() {
    let parse = |parameters, query| AdParameters::parse(parameters, &pairs(query)).map_err(|errors| json!(errors));
    assert_eq!(
        parse(BUMP_PARAMETERS, "exclude_primary=true&exclude_secondary=false&dealer_code=d"),
        Ok(AdParameters {
            dealer_code: Some("d".to_owned()),
            exclude: Exclusions { primary: true, secondary: false },
            fields: None,
            included: Included { log: false, status: false, quality: false, warnings: false },
            at: None,
        })
    );
    assert_eq!(
        parse(BUMP_PARAMETERS, "exclude_primary=yes"),
        Err(json!({"exclude_primary": ["Must be true or false."]}))
    );
    let with_quality = AdParameters {
        included: Included { log: false, status: false, quality: true, warnings: false },
        ..AdParameters::default()
    };
    for parameters in [CREATE_PARAMETERS, WRITE_PARAMETERS, BUMP_PARAMETERS] {
        assert_eq!(parse(parameters, "include=quality"), Ok(with_quality.clone()));
        assert!(parse(parameters, "include=log").is_ok_and(|parsed| parsed.included.log));
    }
    // A read shows the log unless it names fields.
    let read = |query| parse(READ_PARAMETERS, query).map(|parsed| parsed.included.log);
    assert_eq!(
        [read("include=quality"), read("fields=id"), read("fields=id&include=log")],
        [Ok(true), Ok(false), Ok(true)]
    );
    // An ad as it was has nothing beside its fields.
    let at = |query| parse(READ_PARAMETERS, query).map(|parsed| parsed.at.map(|at| at.to_string()));
    assert_eq!(at("at=2026-05-03T14:00:00Z&fields=body"), Ok(Some("2026-05-03T14:00:00.000Z".to_owned())));
    assert_eq!(at("at=2026-05-03T14:00:00Z&include=log"), Err(json!({"include": ["Cannot be combined with `at`."]})));
    assert!(at("at=yesterday").is_err_and(|errors| errors["at"].is_array()));
    assert_eq!(
        parse(WRITE_PARAMETERS, "include=status"),
        Err(
            json!({"include": ["\"status\" is not a valid choice.", "Valid choices: \"log\", \"quality\", \"warnings\"."]})
        )
    );
    assert_eq!(parse(TARGET_PARAMETERS, "include=quality"), Err(json!({"include": ["Unknown parameter."]})));
    assert_eq!(
        parse(TARGET_PARAMETERS, "exclude_primary=true"),
        Err(json!({"exclude_primary": ["Unknown parameter."]}))
    );
}

#[test]
fn terms_and_lists_have_bounds_that_the_refusal_names() {
    let (text, term, items) = ("x".repeat(256), "å".repeat(201), "a,".repeat(500));
    for (query, name, message) in [
        (format!("search={term}"), "search", "Has 201 characters, at most 200 are allowed; search for a shorter text."),
        (
            format!("source_id__icontains={term}"),
            "source_id__icontains",
            "Has 201 characters, at most 200 are allowed; search for a shorter text.",
        ),
        (
            format!("source_id={text}"),
            "source_id",
            "Has 256 characters, at most 255 are allowed; no stored value is longer.",
        ),
        (
            format!("marketplace_ad_id__in={items}"),
            "marketplace_ad_id__in",
            "Has 501 items, at most 500 are allowed; split them over several requests.",
        ),
        (format!("q={}", "a ".repeat(11)), "q", "Has 11 words, at most 10 are allowed; leave some out."),
    ] {
        assert_eq!(ads_refused(&query), json!({name: [message]}));
    }
    assert_eq!(ads("q= - ").filters.len(), 0, "it asks for nothing");
    assert_eq!(ads(&format!("search={}", "å".repeat(200))).filters.len(), 1);
}

#[test]
fn of_many_wrong_items_the_first_five_are_told() {
    let integer = "\"x\": A valid integer is required.";
    let refused = ads_refused(&format!("category_id__in={}1020", "x,".repeat(40)));
    assert_eq!(
        refused,
        json!({"category_id__in": [integer, integer, integer, integer, integer, "35 more items are wrong."]})
    );
    let unknown: Vec<_> = (10..30).map(|number| format!("zz{number}=1")).collect();
    let refused = ads_refused(&unknown.join("&"));
    assert_eq!(refused.as_object().unwrap().len(), 5);
    assert_eq!(refused["zz14"], json!(["Unknown parameter.", "15 more parameters are unknown."]));
}

#[test]
fn other_names_stand_for_parameters_that_exist() {
    let known: Vec<_> = [AD_PARAMETERS, BUMP_PARAMETERS, LOG_PARAMETERS].concat();
    assert!(Names::builtin().parameters_meant().all(|name| known.iter().any(|parameter| parameter.name == name)));
}
