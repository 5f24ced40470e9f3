//! Examples of request bodies and responses. Payloads come from the categories; responses are computed by the rulebook and the
//! use cases, so that the document shows what the service returns.

use std::{num::NonZeroU32, time::Duration};

use ad_core::{
    categories::{self, Category},
    fields::FieldErrors,
    model::{
        Action, ActionState, Ad, AdState, AdStatus, AdTag, ApiVersion, AskedBy, CallAction, ChannelFailure,
        ChannelStatus, Content, Dealer, EarlierPrices, Event, EventPosition, ImageRef, Leftover, LogEntry,
        MOST_UNFINISHED, Market, MarketplaceCall, Photo, PhotoFacts, Price, Publication, PublishedChannel,
        RevisionEntry, StatusCount, StatusWords, StoredRequest, Timestamp, ValueChange, Via,
    },
    ports::{AnswerKey, IdempotencyKey, KeptAnswer, PageOf, StatusFacts, StoreError, StoredAd},
    prices,
    quality::Measured,
    rulebook::{
        self, Rulebook, SourceId, WriteContext,
        versions::{AdRef, VersionError},
    },
    service::{Access, AdRecord, ServiceError, UsedBy},
    status,
    violation::Code,
};
use ad_parameters::{AdParameters, FromParameters};
use poem::http::{StatusCode, header};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    account,
    bodies::{BodyKind, Group},
    first, name_of, promotions, stock,
};
use crate::api::{
    ApiError, Limits, MAX_BODY,
    answers::Me,
    body, errors, lookups,
    problem::{self, ProblemRequest},
    requests, versions,
};
use ad_server_access::auth::{Caller, Permission, Permissions, TokenError};
use ad_server_base::limits::table::{BODY_BEHIND, BODY_RATE, REQUESTS};
use ad_server_base::values::Rate;
use ad_server_outside::events::{CursorScope, EventView};

/// The dealer whose ads the examples are.
pub(super) const DEALER: &str = "north-cars";

/// Ids that look like ids.
const AD: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0001);
pub(super) const REQUEST: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0002);
const WEBHOOK: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0004);
const IMAGE: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0003);

const PHOTO: PhotoFacts =
    PhotoFacts { width: 4032, height: 3024, hash: 0, color: [120, 120, 120], contrast: 60, sharpness: 500 };

/// Category fields of a short example.
const BRIEF: &[&str] = &["brand", "model", "model_year", "registration_number"];

/// The state of the ad in an example.
#[derive(Debug, Clone, Copy)]
pub(super) enum AnswerExample {
    /// The ad, published, with its log.
    Ad,
    Page,
    /// The result of a validation.
    Validated,
}

impl AnswerExample {
    /// The name of the example of a category.
    pub(super) fn name(self, of: &str) -> String {
        format!("{of}{self:?}")
    }
}

/// The prefix of the names of the examples of a category in a version.
pub(super) fn of(version: ApiVersion, category: &Category) -> String {
    match (version, category.is_open()) {
        (ApiVersion::V4, _) => name_of(category),
        (ApiVersion::V3, false) => format!("V3{}", name_of(category)),
        (ApiVersion::V3, true) => format!("V3Only{}", category.id),
    }
}

/// Every example, by its name.
pub(super) fn all(rulebook: &Rulebook) -> Map<String, Value> {
    let mut examples = errors();
    let mut put = |name: String, of: &str, value: Value| examples.insert(name, json!({"summary": of, "value": value}));
    for version in [ApiVersion::V4, ApiVersion::V3] {
        for category in categories::all().filter(|category| category.is_in(version)) {
            let (of, shown) = (of(version, category), Example { rulebook, version, category });
            let create = shown.create();
            put(format!("{of}Update"), category.name, category.example_update(version, rulebook).into());
            if version == ApiVersion::V4 && Group::typed(category).is_target() {
                let mut migrate = create.clone();
                migrate.remove("source_id");
                put(format!("{of}MigrateTo"), category.name, migrate.clone().into());
                migrate.remove("category_id");
                put(format!("{of}Migrate"), category.name, migrate.into());
            }
            for (answer, value) in shown.answers() {
                put(answer.name(&of), category.name, value);
            }
            put(format!("{of}Create"), category.name, create.into());
        }
    }
    put("LogPage".to_owned(), "A create", page(&json!(log())));
    put("RequestStatus".to_owned(), "A create", request_status());
    let errors = payload_errors(rulebook);
    put("PayloadErrors".to_owned(), "A payload with errors", json!(errors));
    put("PayloadProblem".to_owned(), "A payload with errors", problem(&ServiceError::Invalid(errors).into()));
    put("ParameterProblem".to_owned(), "An unknown parameter", problem(&unknown_parameter()));
    put("AdStatus".to_owned(), "An ad that the secondary marketplace has refused", ad_status(rulebook));
    put("PriceHistory".to_owned(), "A reduced price", price_history(rulebook));
    put("RevisionPage".to_owned(), "A changed text", page(&json!(revisions())));
    put("CallPage".to_owned(), "A published ad", page(&json!(calls())));
    put("SignedRecord".to_owned(), "A published ad", signed_record(rulebook));
    put("Summary".to_owned(), "Two ads", summary());
    put("EventPage".to_owned(), "A published ad", events());
    for (name, summary, value) in promotions::examples() {
        put(name.to_owned(), summary, value);
    }
    for (name, summary, value) in stock::examples(rulebook).into_iter().chain(account::examples()) {
        put(name.to_owned(), summary, value);
    }
    put("Me".to_owned(), "A token of one dealer", me());
    for (name, values) in lookup_values(rulebook) {
        put(name.to_owned(), "The first three values", values);
    }
    examples
}

/// The example of a category in a version.
#[derive(Clone, Copy)]
struct Example<'a> {
    rulebook: &'a Rulebook,
    version: ApiVersion,
    category: &'static Category,
}

impl Example<'_> {
    /// The car of V4 of which answers about one ad are shown.
    fn car(rulebook: &Rulebook) -> Example<'_> {
        Example { rulebook, version: ApiVersion::V4, category: first() }
    }

    fn create(self) -> Map<String, Value> {
        self.category.example(self.version, self.rulebook)
    }

    /// Answers about it; none if the catalogue of this process refuses the payload.
    fn answers(self) -> Vec<(AnswerExample, Value)> {
        let mut answers = Vec::new();
        // Of V3 one category is shown for all.
        if self.version == ApiVersion::V3 && self.category.id != first().id {
            return answers;
        }
        let mut brief = self.create();
        brief.retain(|name, _| {
            !matches!(name.as_str(), "price" | "url" | "video_url" | "product_declaration" | "location")
        });
        shorten(&mut brief);
        if let Some(ad) = self.stored(brief.clone()) {
            let published = published(ad, self.category);
            answers.push((AnswerExample::Ad, json!(published.view(Some(&log())))));
            answers.push((AnswerExample::Page, page(&json!([published.view(None)]))));
        }
        brief.remove("image_urls");
        answers.extend(self.validated(brief).map(|validated| (AnswerExample::Validated, validated)));
        answers
    }

    fn stored(self, payload: Map<String, Value>) -> Option<Ad> {
        let checked = self.checked(payload, SourceId::Required)?;
        Some(ad(checked.source_id, self.version, self.category, checked.content))
    }

    fn checked(self, payload: Map<String, Value>, source_id: SourceId) -> Option<rulebook::CheckedPayload> {
        let Self { rulebook, version, category } = self;
        let dealer = Dealer::named(DEALER);
        rulebook.create(WriteContext { category, version, dealer: Some(&dealer) }, payload, source_id).ok()
    }

    fn validated(self, payload: Map<String, Value>) -> Option<Value> {
        let checked = self.checked(payload, SourceId::Optional)?;
        let quality = Measured::new(self.category, checked.content.fields(), now()).quality();
        Some(crate::api::respond::validation(&ad_core::service::Validated {
            source_id: Some(checked.source_id),
            dealer_code: DEALER.to_owned(),
            category_id: self.category.id,
            content: checked.content,
            warnings: checked.warnings,
            quality,
        }))
    }
}

/// Removes all but a few of the category fields.
fn shorten(payload: &mut Map<String, Value>) {
    if let Some(Value::Object(fields)) = payload.get_mut("category_fields") {
        fields.retain(|name, _| BRIEF.contains(&name.as_str()));
    }
}

/// A payload of few fields, for code samples: neither booleans nor `null`, which programming languages write differently.
pub(super) fn brief(
    rulebook: &Rulebook,
    version: ApiVersion,
    category: &Category,
    shape: BodyKind,
) -> Map<String, Value> {
    let names: &[&str] = match shape {
        BodyKind::Create | BodyKind::Validate => {
            &["source_id", "category_id", "title", "contact", "price", "image_urls", "category_fields"]
        }
        BodyKind::Update => &["body", "price"],
        BodyKind::Migrate => &["title", "contact", "price", "category_fields"],
        BodyKind::MigrateTo => &["category_id", "title", "contact", "price", "category_fields"],
    };
    let mut payload = match shape {
        BodyKind::Update => category.example_update(version, rulebook),
        _ => category.example(version, rulebook),
    };
    payload.retain(|name, _| names.contains(&name.as_str()));
    shorten(&mut payload);
    payload
}

fn ad(source_id: String, api_version: ApiVersion, category: &Category, content: Content) -> Ad {
    Ad {
        id: AD,
        source_id,
        dealer_code: DEALER.to_owned(),
        category_id: category.id,
        state: AdState::Created,
        api_version,
        content,
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: now(),
        updated: now(),
    }
}

fn published(ad: Ad, category: &Category) -> Ad {
    let checksum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned();
    let images = ad.content.image_urls().take(1).map(|url| ImageRef {
        url: url.to_owned(),
        cdn_url: format!("https://ads.example/media/{checksum}.jpg"),
        id: IMAGE,
        checksum: checksum.clone(),
        photo: Some(Photo::Decoded(PHOTO)),
    });
    Ad {
        image_refs: images.collect(),
        marketplace_ad_id: Some("P1001".to_owned()),
        offer_id: category.registered.then(|| "S1001".to_owned()),
        ..ad
    }
}

pub(super) fn page(rows: &Value) -> Value {
    json!({"count": rows.as_array().map(Vec::len), "next": null, "previous": null, "results": rows})
}

pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(1_768_471_200_000)
}

/// The log of a create without images.
fn log() -> Vec<LogEntry> {
    [
        (Action::Create, ActionState::Processing, "Processing"),
        (Action::Create, ActionState::Done, "Ad created"),
        (Action::Publish, ActionState::Processing, "Publishing"),
        (Action::Publish, ActionState::Done, "Ad published"),
    ]
    .map(|(action, state, message)| LogEntry::new(REQUEST, now(), action, state, message.into()))
    .to_vec()
}

/// The create of that log, finished.
fn revisions() -> Vec<RevisionEntry> {
    let at = |text: &str| text.parse().ok();
    let asked_by = || AskedBy { token: Some("5f0c6b3e".to_owned()), label: Some("Stock system".to_owned()) };
    let of_plan =
        |action| (action == Action::Update).then(|| Uuid::from_u128(0x019b_c2ef_72c0_7d51_8a6e_3f0c_92d4_1b77));
    let revision = |revision, created, request, action, changes| RevisionEntry {
        revision,
        created,
        request_id: Some(Uuid::from_u128(request)),
        action: Some(action),
        asked_by: asked_by(),
        plan_id: of_plan(action),
        via: Some(Via::Api),
        changes: Some(changes),
    };
    let body = ValueChange { pointer: "/body".to_owned(), from: json!("Fine car."), to: json!("Fine car, two keys.") };
    vec![
        revision(1, at("2026-01-16T08:30:00Z"), 0x019b_c2f0_1d6a_7c3e_9a51_0f5b_6f2d_8e02, Action::Update, vec![body]),
        revision(0, at("2026-01-15T10:00:00Z"), 0x019b_c1a0_1d6a_7c3e_9a51_0f5b_6f2d_8e01, Action::Create, vec![]),
    ]
}

/// The calls of that create.
fn calls() -> Vec<MarketplaceCall> {
    let content = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    let call = |marketplace, action, listing: Option<&str>, latency_ms| MarketplaceCall {
        at: now(),
        marketplace,
        action,
        request_id: REQUEST,
        idempotency_key: IdempotencyKey::of(REQUEST, action, marketplace).map(|key| key.to_string()),
        status: Some(200),
        code: None,
        latency_ms,
        listing_id: listing.map(str::to_owned),
        content_sha256: listing.map(|_| content.to_owned()),
        revision: 0,
    };
    vec![
        call(Market::Primary, CallAction::Publish, Some("P1001"), 84),
        call(Market::Primary, CallAction::FindByPlate, None, 12),
    ]
}

/// The record of that ad. The signature is none.
fn signed_record(rulebook: &Rulebook) -> Value {
    let example = Example::car(rulebook);
    let Some(ad) = example.stored(example.create()) else { return Value::Null };
    let ad = published(ad, example.category);
    let (mut log, calls, mut revisions) = (log(), calls(), revisions());
    log.reverse();
    let record = AdRecord {
        made: now(),
        ad,
        revision: 0,
        revisions: PageOf { count: 1, rows: revisions.split_off(1) },
        log: PageOf { count: log.len() as u64, rows: log },
        calls: PageOf { count: calls.len() as u64, rows: calls },
        charges: PageOf { count: 1, rows: vec![account::charge()] },
    };
    let mut record = json!(record);
    record["service"] = json!("https://ads.example");
    json!({"signature": "eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19..c2lnbmF0dXJl", "record": record})
}

fn request_status() -> Value {
    let (dealer_code, source_id) = (DEALER.to_owned(), "car-1001".to_owned());
    let request = StoredRequest {
        id: REQUEST,
        dealer_code,
        source_id,
        accepted: now(),
        asked_by: None,
        plan_id: None,
        queued: None,
        entries: log(),
    };
    json!(request.status(now()))
}

/// The last event of that log.
fn events() -> Value {
    let event = Event {
        position: EventPosition { transaction: 81_204, ad: 1001, sequence: 4 },
        ad_id: AD,
        source_id: "car-1001".to_owned(),
        dealer_code: DEALER.to_owned(),
        category_id: first().id,
        marketplace_ad_id: Some("P1001".to_owned()),
        offer_id: Some("S1001".to_owned()),
        plan_id: None,
        cost: None,
        entry: log().remove(3),
    };
    let scope = CursorScope::of(&Access::Dealer(DEALER.to_owned()));
    let view = EventView::new(&event, &scope);
    json!({"cursor": view.cursor, "events": [view], "has_more": false})
}

fn kept_answer() -> KeptAnswer {
    KeptAnswer {
        key: AnswerKey { holder: DEALER.to_owned(), digest: String::new() },
        fingerprint: String::new(),
        request_id: REQUEST,
        accepted: now(),
        answer: String::new(),
    }
}

/// The error of a typical first attempt.
fn payload_errors(rulebook: &Rulebook) -> FieldErrors {
    let guess = json!({"source_id": "1", "title": "2019 Volvo V60",
        "category_fields": {"brand": "wolvo", "year": 2019, "mileage": 1200, "powertrain": {"transmission": "?"}}});
    let guess = guess.as_object().cloned().unwrap_or_default();
    let write = WriteContext { category: first(), version: ApiVersion::V4, dealer: None };
    rulebook.create(write, guess, SourceId::Required).err().unwrap_or_default()
}

fn unknown_parameter() -> ApiError {
    AdParameters::parse(&[], &[("dry_run".to_owned(), "true".to_owned())]).err().unwrap_or_default().into()
}

fn problem(error: &ApiError) -> Value {
    let asked = ProblemRequest { pages: "https://ads.example/docs/errors/".to_owned(), request_id: REQUEST };
    json!(problem::details(error, StatusCode::BAD_REQUEST, &asked))
}

fn lookup_values(rulebook: &Rulebook) -> Vec<(&'static str, Value)> {
    let some = |entries: &[ad_core::catalogue::Entry]| json!(entries.iter().take(3).collect::<Vec<_>>());
    let brand = brand(rulebook);
    vec![
        ("Attributes", some(&first().attributes())),
        ("Values", some(&first().values(&rulebook.catalogue, "brand").unwrap_or_default())),
        (
            "RatingValues",
            some(&first().values(&rulebook.catalogue, "condition.vehicle_ratings.value").unwrap_or_default()),
        ),
        ("Models", some(rulebook.catalogue.models("car-models", &brand).entries())),
    ]
}

/// The status of an ad that one marketplace has refused.
fn ad_status(rulebook: &Rulebook) -> Value {
    let example = Example::car(rulebook);
    let Some(ad) = example.stored(example.create()) else { return Value::Null };
    let ad = Ad { offer_id: None, ..published(ad, example.category) };
    let refused = "Refused: price too low".to_owned();
    let failure = ChannelFailure { code: Code::MarketplaceRefused, reason: refused, attempts: 1, paused: false };
    let channel = |listed, failure| PublishedChannel { listed, since: now(), failure };
    let channels = [(Market::Primary, channel(true, None)), (Market::Secondary, channel(false, Some(failure)))];
    let publication = Publication { channels: channels.into(), ..Publication::default() };
    let stored = StoredAd {
        revision: 0,
        tag: AdTag { revision: 0, n: 5 },
        intent: ad.state,
        pole_position_until: None,
        leftover: Leftover::publishing(vec![Market::Secondary]),
        words: status::words(&ad, &publication, None),
        publication,
        status_since: now(),
        ad,
    };
    json!(status::report(StatusFacts { stored, unfinished: Vec::new() }, now()))
}

/// The prices of an ad that was reduced a week after it was created.
fn price_history(rulebook: &Rulebook) -> Value {
    let example = Example::car(rulebook);
    let Some(ad) = example.stored(example.create()) else { return Value::Null };
    let price =
        |kind: &str, amount: u32| Price { kind: kind.to_owned(), amount: amount.into(), currency: "SEK".to_owned() };
    let (list, reduced) = (price("list", 189_900), price("reduced", 179_900));
    let mut fields = ad.content.into_fields();
    fields.insert("price".to_owned(), json!([list, reduced]));
    let ad = Ad { created: now() - Duration::from_hours(7 * 24), content: fields.into(), ..ad };
    json!(prices::history(&ad, vec![EarlierPrices { until: now(), prices: Some(vec![list]) }], now()))
}

fn summary() -> Value {
    let words =
        |status, primary, secondary, failure| StatusWords { status, primary: Some(primary), secondary, failure };
    let live = words(AdStatus::Live, ChannelStatus::Live, Some(ChannelStatus::Live), None);
    let failed = words(AdStatus::Failed, ChannelStatus::Failed, None, Some(Code::MarketplaceRefused));
    let counts = [(live, 1020), (failed, 1060)];
    json!(status::summary(counts.map(|(words, category_id)| StatusCount { words, category_id, ads: 1 })))
}

/// The answer of `GET /v4/me`.
fn me() -> Value {
    let dealer = Dealer {
        name: "North Cars".to_owned(),
        currency: "SEK".to_owned(),
        products: vec!["online_purchase".to_owned()],
        bump: vec![Market::Primary],
        salespersons: vec![String::new(); 2],
        ..Dealer::named(DEALER)
    };
    let caller = Caller::new(Access::Dealer(DEALER.to_owned()), Permissions::ALL, REQUEST.to_string());
    let caller = Caller { label: Some("Stock system".to_owned()), issued: Some(now()), ..caller };
    let documentation = "https://ads.example.com/docs/swagger-ui/".to_owned();
    json!(Me::new(&caller, &[(dealer.into(), 117)], Some(RATE), documentation, false))
}

/// Webhooks, their deliveries, and bodies of requests about them.
#[rustfmt::skip]
fn of_webhooks() -> [(&'static str, Value); 11] {
    let webhook = json!({"id": WEBHOOK, "url": "https://stock.example/hook", "types": ["ad.publish.*", "ad.*.error"], "dealer_code": null,
        "description": "Stock system", "enabled": true, "disabled_reason": null, "created": now(), "updated": now(), "pending": 0,
        "last_success": now(), "last_failure": now()});
    let mut new = webhook.clone();
    new["secret"] = json!("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let delivery = json!({"created": now(), "event_id": super::webhooks::EVENT, "type": "ad.publish.done", "state": "delivered", "next_attempt": null,
        "attempts": [
            {"at": now(), "status": 500, "latency_ms": 12, "error": "answered 500", "response": "out of memory"},
            {"at": now(), "status": 204, "latency_ms": 38, "error": null, "response": ""},
        ]});
    let missing = format!("No webhook in the token's scope has the id \"{WEBHOOK}\". GET /v4/webhooks lists them.");
    [
        ("WebhookInput", json!({"url": webhook["url"], "types": webhook["types"], "description": webhook["description"]})),
        ("WebhookPage", page(&json!([webhook]))),
        ("Webhook", webhook),
        ("NewWebhook", new),
        ("DeliveryPage", page(&json!([delivery]))),
        ("Delivery", delivery),
        ("WebhookPatch", json!({"types": ["ad.*.error"], "resume": "now"})),
        ("WebhookReplay", json!({"after": "2026-01-15T09:00:00Z"})),
        ("NoSuchWebhook", json!({"detail": missing})),
        ("WebhookDisabled", json!(["This webhook is disabled, so nothing is sent to it. Enable it first: PATCH with \"enabled\": true."])),
        ("TooManyWebhooks", json!(["The token's scope has 10 webhooks already, which is the maximum. Delete one first."])),
    ]
}

/// A brand that has models.
pub(super) fn brand(rulebook: &Rulebook) -> String {
    let example = first().example(ApiVersion::V4, rulebook);
    let brand = example.get("category_fields").and_then(|fields| fields.get("brand")?.as_str());
    brand.unwrap_or_default().to_owned()
}

/// The refusal for a deleted ad.
const DELETED: &[(&str, &str)] = &[
    ("UpdateOfDeleted", "update"),
    ("MigrateOfDeleted", "migrate"),
    ("BumpOfDeleted", "bump"),
    ("PolePositionOfDeleted", "give pole position"),
    ("RetryOfDeleted", "retry"),
];

/// The rate limit that examples of headers show.
const RATE: Rate =
    Rate { requests: NonZeroU32::new(600).unwrap(), per: Duration::from_mins(1), burst: NonZeroU32::new(600).unwrap() };

fn errors() -> Map<String, Value> {
    let detail = |error: ApiError| json!({"detail": error.to_string()});
    let not_json = body::parsed(b"").err().unwrap_or(ApiError::Internal);
    let mut examples = vec![
        ("NoToken", detail(ApiError::NoToken { in_authorization: false })),
        ("InvalidToken", detail(ApiError::InvalidToken(TokenError::Signature))),
        ("Forbidden", detail(ApiError::Forbidden(Permission::Write))),
        ("NotFound", detail(ServiceError::NotFound.into())),
        ("NoSuchRequest", detail(requests::unknown(REQUEST))),
        ("PreconditionFailed", detail(ServiceError::PreconditionFailed(AdTag { revision: 3, n: 12 }).into())),
        ("BadTags", detail(ApiError::BadTags(header::IF_MATCH))),
        ("BadIdempotencyKey", detail(ApiError::BadIdempotencyKey)),
        ("KeyReused", detail(ServiceError::KeyUsed(Box::new(kept_answer())).into())),
        ("TooManyWaiting", detail(ApiError::TooManyWaiting(450))),
        ("NoSuchVehicleType", detail(lookups::unknown_vehicle_type("spaceship"))),
        ("NotJson", detail(not_json)),
        ("Slow", detail(ApiError::Slow(Limits::default().body_within))),
        ("TooLarge", detail(ApiError::TooLarge(MAX_BODY))),
        ("UnsupportedCoding", detail(ApiError::UnsupportedCoding("br".to_owned()))),
        ("Trickle", detail(ApiError::Trickle { bytes: 2048, rate: BODY_RATE, grace: BODY_BEHIND })),
        ("TooMany", detail(ApiError::TooMany { rate: RATE, seconds: 2 })),
        ("NoMemory", detail(ApiError::NoMemory(64 << 20))),
        ("Crowded", detail(ApiError::Crowded(REQUESTS))),
        ("TooManyUnfinished", detail(ServiceError::from(StoreError::QueueFull(MOST_UNFINISHED)).into())),
        (
            "AdTooLarge",
            json!([rulebook::size::too_large(1_234_567, &[("category_fields.equipments".to_owned(), 1_001_000)])]),
        ),
        ("Internal", detail(ApiError::Internal)),
        ("Unavailable", json!({"detail": errors::UNAVAILABLE})),
        ("Duplicate", errors::duplicate(&UsedBy::Ad)),
        ("ParameterErrors", json!(unknown_parameter().fields().map(|(errors, _)| errors))),
        ("TrailerCreateDisabled", json!(versions::refusal(&VersionError::TrailerCreateDisabled).ok())),
    ];
    examples.extend(of_webhooks());
    for (name, what) in DELETED {
        examples.push((name, json!([format!("Ad has been deleted, cannot {what}")])));
    }
    // Of V3, because its category must migrate, and of V4.
    if let (Some(moped), Some(car), Some(boat)) = (named("moped"), named("car"), categories::by_vehicle_type("boat")) {
        let elsewhere = versions::found_elsewhere(&car, boat);
        let refusal = |error| json!(versions::refusal(&error).ok());
        examples.push(("IncompatibleApiVersion", refusal(VersionError::IncompatibleApiVersion(moped))));
        examples.push(("AdAlreadyV4", refusal(VersionError::AlreadyV4(car))));
        examples.push(("FoundElsewhere", json!({"detail": elsewhere})));
    }
    examples.into_iter().map(|(name, value)| (name.to_owned(), json!({"value": value}))).collect()
}

fn named(vehicle_type: &str) -> Option<AdRef> {
    let category = categories::by_vehicle_type(vehicle_type)?;
    Some(AdRef { source_id: format!("{vehicle_type}-1001"), category })
}
