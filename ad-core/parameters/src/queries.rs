//! Typed queries, from parameters and to them.

use std::time::Duration;

use ad_core::{
    fields::FieldErrors,
    model::{
        Action, ActionState, AdFilter, AdOrder, AdQuery, AdState, AdStatus, Bound, ChangeKind, ChangeOutcome,
        ChangeQuery, ChargeQuery, ChargeState, DeliveryState, EventTypes, Exclusions, Included, LogQuery, MissingAds,
        NotATime, Page, PlanOptions, PromotionKind, Timestamp, plate,
    },
    violation::{Code, Expected, Violation},
};

use super::{
    DEFAULT_EVENTS, DEFAULT_LIMIT, FromParameters, MAX_EVENTS, MAX_WAIT, Parameter, ToParameters,
    table::{LOG_ORDERINGS, MOST_IMAGES, MOST_PRICE, ORDERINGS},
    values::{ParameterValues, lost_plus, not_a_category, not_a_uuid},
};

/// The parameters that bound a time.
const BOUNDS: [(&str, AdOrder, Bound); 8] = [
    ("created__gt", AdOrder::Created, Bound::Gt),
    ("created__gte", AdOrder::Created, Bound::Gte),
    ("created__lt", AdOrder::Created, Bound::Lt),
    ("created__lte", AdOrder::Created, Bound::Lte),
    ("updated__gt", AdOrder::Updated, Bound::Gt),
    ("updated__gte", AdOrder::Updated, Bound::Gte),
    ("updated__lt", AdOrder::Updated, Bound::Lt),
    ("updated__lte", AdOrder::Updated, Bound::Lte),
];

const PRICE_BOUNDS: [(&str, Bound); 2] = [("price__lt", Bound::Lt), ("price__gte", Bound::Gte)];
const IMAGE_BOUNDS: [(&str, Bound); 2] = [("image_count__lt", Bound::Lt), ("image_count__gte", Bound::Gte)];
const SCORE_BOUNDS: [(&str, Bound); 2] = [("quality_score__lt", Bound::Lt), ("quality_score__gte", Bound::Gte)];

fn not_a_time(text: &str) -> Violation {
    Violation::stated(Code::InvalidFormat, NotATime.to_string()).with_note(lost_plus(text))
}

impl FromParameters for AdQuery {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let number = |text: &str| text.parse::<u16>().ok();
        let mut filters = Vec::new();
        filters.extend(values.parsed("id", not_a_uuid, |text| text.parse().ok()).map(AdFilter::Id));
        filters.extend(values.one_of("state", AdState::NAMES, AdState::from_name).map(AdFilter::State));
        let statuses = values.some_of("status", AdStatus::NAMES);
        let statuses = statuses.map(|names| names.into_iter().filter_map(AdStatus::from_name).collect());
        filters.extend(statuses.map(AdFilter::Status));
        filters.extend(values.text("source_id").map(|id| AdFilter::SourceId(vec![id.to_owned()])));
        filters.extend(values.items("source_id__in", Expected::Text, text).map(AdFilter::SourceId));
        filters.extend(values.text("source_id__icontains").map(|part| AdFilter::SourceIdContains(part.to_owned())));
        filters.extend(values.text("dealer_code").map(|code| AdFilter::DealerCode(code.to_owned())));
        filters.extend(values.parsed("category_id", not_a_category, number).map(|id| AdFilter::CategoryId(vec![id])));
        filters.extend(values.items("category_id__in", Expected::Integer, number).map(AdFilter::CategoryId));
        filters.extend(values.text("search").map(|part| AdFilter::Search(part.to_owned())));
        filters.extend(values.words("q").map(AdFilter::Words));
        filters.extend(values.text("marketplace_ad_id").map(|id| AdFilter::MarketplaceAdId(vec![id.to_owned()])));
        filters.extend(values.items("marketplace_ad_id__in", Expected::Text, text).map(AdFilter::MarketplaceAdId));
        filters.extend(values.text("registration_number").map(|text| AdFilter::RegistrationNumber(plate(text))));
        for (name, bound) in SCORE_BOUNDS {
            let score = values.bounded(name, 0, 100).and_then(|score| u8::try_from(score).ok());
            filters.extend(score.map(|score| AdFilter::QualityScore(bound, score)));
        }
        filters.extend(values.text("brand").map(|brand| AdFilter::Brand(brand.to_owned())));
        for (name, bound) in PRICE_BOUNDS {
            filters.extend(values.bounded(name, 0, MOST_PRICE).map(|amount| AdFilter::Price(bound, amount)));
        }
        for (name, bound) in IMAGE_BOUNDS {
            filters.extend(values.bounded(name, 0, MOST_IMAGES).map(|count| AdFilter::ImageCount(bound, count)));
        }
        filters.extend(values.parsed("failed_images", not_a_flag, boolean).map(AdFilter::FailedImages));
        for (name, order, bound) in BOUNDS {
            let time = values.parsed(name, not_a_time, |text| text.parse().ok());
            filters.extend(time.map(|time| AdFilter::Time(order, bound, time)));
        }
        let ordering = values.one_of("ordering", ORDERINGS, |text| {
            let descending = text.strip_prefix('-');
            Some((AdOrder::from_name(descending.unwrap_or(text))?, descending.is_some()))
        });
        let (order, descending) = ordering.unwrap_or((AdOrder::Created, true));
        let page = values.page();
        let (fields, included) = values.shown_fields(parameters);
        values.done(Self { filters, order, descending, page, fields, included })
    }
}

impl ToParameters for AdQuery {
    /// Items of lists are separated by commas, so an id that contains one can only be asked for alone.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut sent: Vec<_> = self.filters.iter().filter_map(of_filter).collect();
        if (self.order, self.descending) != (AdOrder::Created, true) {
            sent.push(("ordering", format!("{}{}", if self.descending { "-" } else { "" }, self.order)));
        }
        sent.extend(of_page(self.page));
        sent.extend(self.fields.as_ref().map(|fields| ("fields", fields.join(","))));
        let Included { log, status, quality, warnings: _ } = self.included;
        let included = [log.then_some("log"), status.then_some("status"), quality.then_some("quality")];
        let included: Vec<_> = included.into_iter().flatten().collect();
        sent.extend((!included.is_empty()).then(|| ("include", included.join(","))));
        sent
    }
}

/// The parameter that a condition is; `None` for a bound that is none.
fn of_filter(filter: &AdFilter) -> Option<(&'static str, String)> {
    fn one_or_many<T: ToString>(items: &[T], one: &'static str, many: &'static str) -> (&'static str, String) {
        let name = if items.len() == 1 { one } else { many };
        (name, items.iter().map(T::to_string).collect::<Vec<_>>().join(","))
    }
    Some(match filter {
        AdFilter::Id(id) => ("id", id.to_string()),
        AdFilter::State(state) => ("state", state.to_string()),
        AdFilter::Status(statuses) => one_or_many(statuses, "status", "status"),
        AdFilter::SourceId(ids) => one_or_many(ids, "source_id", "source_id__in"),
        AdFilter::SourceIdContains(part) => ("source_id__icontains", part.clone()),
        AdFilter::DealerCode(code) => ("dealer_code", code.clone()),
        AdFilter::CategoryId(ids) => one_or_many(ids, "category_id", "category_id__in"),
        AdFilter::Search(part) => ("search", part.clone()),
        AdFilter::Words(text) => ("q", text.clone()),
        AdFilter::MarketplaceAdId(ids) => one_or_many(ids, "marketplace_ad_id", "marketplace_ad_id__in"),
        AdFilter::RegistrationNumber(plate) => ("registration_number", plate.clone()),
        AdFilter::QualityScore(bound, score) => (of_bound(&SCORE_BOUNDS, *bound)?, score.to_string()),
        AdFilter::Brand(brand) => ("brand", brand.clone()),
        AdFilter::Price(bound, amount) => (of_bound(&PRICE_BOUNDS, *bound)?, amount.to_string()),
        AdFilter::ImageCount(bound, count) => (of_bound(&IMAGE_BOUNDS, *bound)?, count.to_string()),
        AdFilter::FailedImages(has_some) => ("failed_images", has_some.to_string()),
        AdFilter::Time(order, bound, time) => {
            let (name, ..) = *BOUNDS.iter().find(|(_, known, side)| (known, side) == (order, bound))?;
            (name, time.to_string())
        }
    })
}

/// The parameter of a bound.
fn of_bound(bounds: &[(&'static str, Bound)], bound: Bound) -> Option<&'static str> {
    bounds.iter().find(|(_, known)| *known == bound).map(|(name, _)| *name)
}

/// The parameters of a page; what is the default is left out.
fn of_page(page: Page) -> impl Iterator<Item = (&'static str, String)> {
    let limit = (page.limit != DEFAULT_LIMIT).then(|| ("limit", page.limit.to_string()));
    let offset = (page.offset > 0).then(|| ("offset", page.offset.to_string()));
    limit.into_iter().chain(offset)
}

/// Parameters of a request about one ad.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdParameters {
    /// The dealer, where a group's token must say which of several.
    pub dealer_code: Option<String>,
    /// Marketplaces that a bump excludes.
    pub exclude: Exclusions,
    /// Only these fields of an ad that is read.
    pub fields: Option<Vec<&'static str>>,
    /// What the answer shows of the ad besides its fields.
    pub included: Included,
    /// The time of which the ad is read.
    pub at: Option<Timestamp>,
}

impl FromParameters for AdParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let mut flag = |name| values.parsed(name, not_a_flag, boolean).unwrap_or(false);
        let exclude = Exclusions { primary: flag("exclude_primary"), secondary: flag("exclude_secondary") };
        let dealer_code = values.text("dealer_code").map(str::to_owned);
        let at = values.parsed("at", not_a_time, |text| text.parse().ok());
        if at.is_some() && values.text("include").is_some() {
            values.refuse("include", Violation::stated(Code::Conflict, "Cannot be combined with `at`."));
        }
        let (fields, mut included) = values.shown_fields(parameters);
        // A read without `fields` shows the whole ad.
        included.log |= fields.is_none() && parameters.iter().any(|parameter| parameter.name == "fields");
        values.done(Self { dealer_code, exclude, fields, included, at })
    }
}

fn not_a_flag(_: &str) -> Violation {
    Violation::stated(Code::InvalidType, "Must be true or false.")
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

impl FromParameters for LogQuery {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let action = values.one_of("action", Action::NAMES, Action::from_name);
        let state = values.one_of("state", ActionState::NAMES, ActionState::from_name);
        let request_id = values.parsed("request_id", not_a_uuid, |text| text.parse().ok());
        let ordering = values.one_of("ordering", LOG_ORDERINGS, |text| LOG_ORDERINGS.iter().find(|it| **it == text));
        let descending = ordering.is_some_and(|ordering| ordering.starts_with('-'));
        let page = values.page();
        let dealer_code = values.text("dealer_code").map(str::to_owned);
        values.done(Self { dealer_code, action, state, request_id, descending, page })
    }
}

impl ToParameters for LogQuery {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let filters = [
            self.dealer_code.clone().map(|code| ("dealer_code", code)),
            self.action.map(|action| ("action", action.to_string())),
            self.state.map(|state| ("state", state.to_string())),
            self.request_id.map(|id| ("request_id", id.to_string())),
            self.descending.then(|| ("ordering", "-created".to_owned())),
        ];
        filters.into_iter().flatten().chain(of_page(self.page)).collect()
    }
}

/// Where a reader of events begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EventsAfter {
    /// With the oldest event that is stored: `after` is absent.
    #[default]
    Nothing,
    /// With the first event after the request: `after=now`.
    Now,
    /// With the event after this one: a cursor from an earlier answer, not decoded.
    Cursor(String),
}

/// Parameters of events, with a cursor that is not decoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventParameters {
    /// The event after which the page begins: `after`.
    pub after: EventsAfter,
    /// Types of which an event must have one; empty: any.
    pub types: Vec<EventTypes>,
    /// Only events of the ads with this source id.
    pub source_id: Option<String>,
    /// Only events of this dealer.
    pub dealer_code: Option<String>,
    /// Maximum number of events, 1 to [`MAX_EVENTS`].
    pub limit: u32,
    /// How long to wait for an event.
    pub wait: Duration,
}

impl FromParameters for EventParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let after = match values.text("after") {
            None => EventsAfter::Nothing,
            Some("now") => EventsAfter::Now,
            Some(cursor) => EventsAfter::Cursor(cursor.to_owned()),
        };
        let types = values.event_types();
        let text = |name| values.text(name).map(str::to_owned);
        let (source_id, dealer_code) = (text("source_id"), text("dealer_code"));
        let limit = values.bounded("limit", 1, MAX_EVENTS).unwrap_or(DEFAULT_EVENTS);
        let wait = Duration::from_secs(values.bounded("wait", 0, MAX_WAIT).unwrap_or_default().into());
        values.done(Self { after, types, source_id, dealer_code, limit, wait })
    }
}

/// A page of a list without filters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageParameters {
    /// Limit and offset; [`DEFAULT_LIMIT`] rows if absent.
    pub page: Page,
}

impl FromParameters for PageParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let page = values.page();
        values.done(Self { page })
    }
}

/// A page of webhooks or of deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookParameters {
    /// Only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Limit and offset; [`DEFAULT_LIMIT`] rows if absent.
    pub page: Page,
}

impl FromParameters for WebhookParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let state = values.one_of("state", DeliveryState::NAMES, DeliveryState::from_name);
        let page = values.page();
        values.done(Self { state, page })
    }
}

impl FromParameters for PlanOptions {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let missing = values.one_of("missing", MissingAds::NAMES, MissingAds::from_name).unwrap_or(MissingAds::Keep);
        let text = |text: &str| Some(text.to_owned());
        let vehicle_types = values.items("vehicle_types", Expected::Text, text);
        let most_removals = values.bounded("most_removals", 0, u32::MAX).map(u64::from);
        let dealer_code = values.text("dealer_code").map(str::to_owned);
        values.done(Self { missing, vehicle_types, most_removals, dealer_code })
    }
}

impl ToParameters for PlanOptions {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let sent = [
            (self.missing != MissingAds::Keep).then(|| ("missing", self.missing.to_string())),
            self.vehicle_types.as_ref().map(|types| ("vehicle_types", types.join(","))),
            self.dealer_code.clone().map(|code| ("dealer_code", code)),
            self.most_removals.map(|most| ("most_removals", most.to_string())),
        ];
        sent.into_iter().flatten().collect()
    }
}

/// Parameters of a request to apply a stock plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyParameters {
    /// The number of removals that the guard is to let through.
    pub allow_removals: Option<u64>,
}

impl FromParameters for ApplyParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let allow_removals = values.bounded("allow_removals", 0, u32::MAX).map(u64::from);
        values.done(Self { allow_removals })
    }
}

impl ToParameters for ApplyParameters {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.allow_removals.map(|removals| ("allow_removals", removals.to_string())).into_iter().collect()
    }
}

impl FromParameters for ChangeQuery {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let kind = values.one_of("kind", ChangeKind::NAMES, ChangeKind::from_name);
        let outcome = values.one_of("outcome", ChangeOutcome::NAMES, ChangeOutcome::from_name);
        let source_id = values.text("source_id").map(str::to_owned);
        let page = values.page();
        values.done(Self { kind, outcome, source_id, page })
    }
}

impl FromParameters for ChargeQuery {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let from = values.parsed("at__gte", not_a_time, |text| text.parse().ok());
        let before = values.parsed("at__lt", not_a_time, |text| text.parse().ok());
        let kind = values.one_of("kind", PromotionKind::NAMES, PromotionKind::from_name);
        let state = values.one_of("state", ChargeState::NAMES, ChargeState::from_name);
        let [source_id, dealer_code] = ["source_id", "dealer_code"].map(|name| values.text(name).map(str::to_owned));
        let page = values.page();
        values.done(Self { dealer_code, from, before, kind, source_id, state, page })
    }
}

impl ToParameters for ChargeQuery {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let filters = [
            self.from.map(|from| ("at__gte", from.to_string())),
            self.before.map(|before| ("at__lt", before.to_string())),
            self.kind.map(|kind| ("kind", kind.to_string())),
            self.source_id.clone().map(|id| ("source_id", id)),
            self.state.map(|state| ("state", state.to_string())),
            self.dealer_code.clone().map(|code| ("dealer_code", code)),
        ];
        filters.into_iter().flatten().chain(of_page(self.page)).collect()
    }
}

impl ToParameters for ChangeQuery {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let filters = [
            self.kind.map(|kind| ("kind", kind.to_string())),
            self.outcome.map(|outcome| ("outcome", outcome.to_string())),
            self.source_id.clone().map(|id| ("source_id", id)),
        ];
        filters.into_iter().flatten().chain(of_page(self.page)).collect()
    }
}
