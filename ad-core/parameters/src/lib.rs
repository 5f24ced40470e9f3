//! The query parameters of the contract ('List parameters', 'Log parameters', decisions 1 and 2), for the service and its clients.
//! Their decoded names and values are parsed into a typed query, or into the errors of all parameters.

use std::{collections::BTreeSet, time::Duration};

use ad_core::{
    fields::{FieldErrors, not_a_choice, shown},
    model::{
        Action, ActionState, AdFilter, AdOrder, AdQuery, AdState, AdStatus, Bound, DeliveryState, EventTypes,
        Exclusions, Included, LogQuery, NotATime, Page, VIEW_FIELDS, plate,
    },
    synonyms::names::Names,
    violation::{Code, Expected, TextFormat, Violation, nearest},
};

pub use ad_core::model::{DEFAULT_LIMIT, MAX_LIMIT};

/// Maximum length of a search text, in characters; searching for longer texts is slow.
pub const MAX_TERM: usize = 200;
/// Maximum length of any other text, in characters, as of a `source_id`.
pub const MAX_TEXT: usize = 255;
/// Maximum number of items of a list, as many as a page has rows.
pub const MAX_ITEMS: usize = MAX_LIMIT as usize;
/// Most bytes of a query string: enough for [`MAX_ITEMS`] UUIDs, percent-encoded.
pub const MAX_QUERY: usize = 32 * 1024;
/// Maximum number of messages about one parameter, and of unknown parameters that are named. So an answer is never much larger
/// than its request.
const MAX_MESSAGES: usize = 5;

/// A query that is read from parameters.
pub trait FromParameters: Sized {
    /// Parses decoded names and values, of which these parameters are known.
    ///
    /// # Errors
    /// An error for each wrong, repeated or unknown parameter.
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors>;
}

/// A query that is sent as parameters.
pub trait ToParameters {
    /// The names and values of which [`parse`](FromParameters::parse) makes this query; what is the default is left out.
    fn parameters(&self) -> Vec<(&'static str, String)>;
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
}

/// A query parameter, for parsing and for documentation.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name in the query string, such as `source_id__in`.
    pub name: &'static str,
    /// The values that it takes.
    pub takes: Takes,
    /// Text for the OpenAPI document and errors.
    pub doc: &'static str,
}

/// The values that a query parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Text of at most this many characters.
    Text(usize),
    /// Texts separated by commas, at most [`MAX_ITEMS`] of at most [`MAX_TEXT`] characters.
    Texts,
    /// A UUID, such as the id of an ad.
    Uuid,
    /// A whole number within inclusive bounds.
    Number(u64, u64),
    /// Whole numbers within inclusive bounds, separated by commas, at most [`MAX_ITEMS`].
    Numbers(u64, u64),
    /// A time in UTC (decision 8).
    Time,
    /// Exactly one of these values.
    OneOf(&'static [&'static str]),
    /// Some of these, separated by commas.
    SomeOf(&'static [&'static str]),
    /// `true` or `false`, or 1 or 0.
    Boolean,
}

impl Takes {
    /// Whether the parameter may be repeated, which adds items.
    const fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Numbers(..) | Self::SomeOf(_))
    }
}

const fn takes(name: &'static str, takes: Takes, doc: &'static str) -> Parameter {
    Parameter { name, takes, doc }
}

const LIMIT: Parameter = takes("limit", Takes::Number(1, MAX_LIMIT as u64), "Page size, 1 to 500; 50 if absent");
const OFFSET: Parameter = takes("offset", Takes::Number(0, i64::MAX as u64), "Rows to skip; 0 if absent");

const FIELDS: Parameter = takes("fields", Takes::SomeOf(VIEW_FIELDS), "Only these fields, separated by commas");
/// Orders of ads: by the name of an [`AdOrder`], descending with a hyphen before it.
const ORDERINGS: &[&str] = &["-created", "created", "-updated", "updated", "-source_id", "source_id"];
const LOG_ORDERINGS: &[&str] = &["-created", "created"];
/// What `include` adds to an ad that is read.
const INCLUDED: &[&str] = &["log", "status", "quality"];
/// What it adds to the answer of a write.
const INCLUDE_QUALITY: Parameter = takes("include", Takes::SomeOf(&["quality"]), "`quality`: the ad with its quality");

/// Parameters of a list of ads.
#[rustfmt::skip]
pub const AD_PARAMETERS: &[Parameter] = &[
    takes("id", Takes::Uuid, "Internal ad id"),
    takes("state", Takes::OneOf(AdState::NAMES), "State of the ad"),
    takes("status", Takes::SomeOf(AdStatus::NAMES), "One of these statuses, separated by commas: whether the ad is live"),
    takes("source_id", Takes::Text(MAX_TEXT), "Exactly this source id"),
    takes("source_id__in", Takes::Texts, "One of these source ids"),
    takes("source_id__icontains", Takes::Text(MAX_TERM), "Part of the source id, in any case"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "Ads of this dealer"),
    takes("category_id", Takes::Number(0, u16::MAX as u64), "Exactly this category"),
    takes("category_id__in", Takes::Numbers(0, u16::MAX as u64), "One of these categories"),
    takes("search", Takes::Text(MAX_TERM), "Text in title or body, in any case"),
    takes("marketplace_ad_id", Takes::Text(MAX_TEXT), "Primary marketplace ad id"),
    takes("marketplace_ad_id__in", Takes::Texts, "One of these primary marketplace ad ids"),
    takes("registration_number", Takes::Text(MAX_TEXT), "Licence plate, in any case; registered vehicles only"),
    takes("quality_score__lt", Takes::Number(0, 100), "Quality score below this"),
    takes("quality_score__gte", Takes::Number(0, 100), "Quality score at or above this"),
    takes("created__gt", Takes::Time, "Created after this time"),
    takes("created__gte", Takes::Time, "Created at or after this time"),
    takes("created__lt", Takes::Time, "Created before this time"),
    takes("created__lte", Takes::Time, "Created at or before this time"),
    takes("updated__gt", Takes::Time, "Updated after this time"),
    takes("updated__gte", Takes::Time, "Updated at or after this time"),
    takes("updated__lt", Takes::Time, "Updated before this time"),
    takes("updated__lte", Takes::Time, "Updated at or before this time"),
    LIMIT,
    OFFSET,
    takes("ordering", Takes::OneOf(ORDERINGS), "Order; `-created` if absent"),
    FIELDS,
    takes("include", Takes::SomeOf(INCLUDED), "Extra fields, separated by commas: `log`, the 100 latest entries; `status`, whether the ad is live; `quality`, its score and number of findings"),
];

const DEALER_CODE: Parameter = takes(
    "dealer_code",
    Takes::Text(MAX_TEXT),
    "The dealer, if several dealers of a token's group have this source id",
);

/// Parameters of the counts of ads by status.
pub const SUMMARY_PARAMETERS: &[Parameter] = &[takes("dealer_code", Takes::Text(MAX_TEXT), "Only ads of this dealer")];

/// Parameters of a request about one ad.
pub const TARGET_PARAMETERS: &[Parameter] = &[DEALER_CODE];

/// Parameters of a read of one ad.
#[rustfmt::skip]
pub const READ_PARAMETERS: &[Parameter] = &[
    DEALER_CODE,
    FIELDS,
    takes("include", Takes::SomeOf(INCLUDED), "Extra fields beside `fields`, separated by commas: `log`, the 100 latest entries; `status`, whether the ad is live; `quality`, how good it is. Without `fields`, an ad comes with its log anyway"),
];

/// Parameters of a new ad.
pub const CREATE_PARAMETERS: &[Parameter] = &[INCLUDE_QUALITY];

/// Parameters of a write on one ad.
pub const WRITE_PARAMETERS: &[Parameter] = &[DEALER_CODE, INCLUDE_QUALITY];

/// Parameters of `POST …/bump` ('Endpoints').
#[rustfmt::skip]
pub const BUMP_PARAMETERS: &[Parameter] = &[
    takes("exclude_primary", Takes::Boolean, "Leave out the primary marketplace; registered vehicles only"),
    takes("exclude_secondary", Takes::Boolean, "Leave out the secondary marketplace; registered vehicles only"),
    DEALER_CODE,
    INCLUDE_QUALITY,
];

/// Parameters of `GET …/log` ('Log parameters').
#[rustfmt::skip]
pub const LOG_PARAMETERS: &[Parameter] = &[
    DEALER_CODE,
    takes("action", Takes::OneOf(Action::NAMES), "Only this action"),
    takes("state", Takes::OneOf(ActionState::NAMES), "Only this state"),
    takes("request_id", Takes::Uuid, "Only entries of one API call"),
    LIMIT,
    OFFSET,
    takes("ordering", Takes::OneOf(LOG_ORDERINGS), "Order; `created` if absent: oldest first"),
];

/// Parameters of a list without filters.
pub const PAGE_PARAMETERS: &[Parameter] = &[LIMIT, OFFSET];

/// Parameters of a list of deliveries to a webhook.
pub const DELIVERY_PARAMETERS: &[Parameter] =
    &[takes("state", Takes::OneOf(DeliveryState::NAMES), "State of the delivery"), LIMIT, OFFSET];

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

/// Maximum number of events of a page.
pub const MAX_EVENTS: u32 = 1000;
/// Number of events of a page if `limit` is absent.
pub const DEFAULT_EVENTS: u32 = 100;
/// Maximum time of a long poll, in seconds.
pub const MAX_WAIT: u32 = 30;

/// Parameters of `GET /v4/events` (extensions E4).
#[rustfmt::skip]
pub const EVENT_PARAMETERS: &[Parameter] = &[
    takes("after", Takes::Text(MAX_TEXT), "A cursor: events after it; `now`: from now on. From the oldest if absent"),
    takes("types", Takes::Texts, "Only these types, such as `ad.publish.done`, `ad.publish.*` or `ad.*.error`"),
    takes("source_id", Takes::Text(MAX_TEXT), "Only events of the ads with this source id"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "Only events of this dealer"),
    takes("limit", Takes::Number(1, MAX_EVENTS as u64), "Page size, 1 to 1,000; 100 if absent"),
    takes("wait", Takes::Number(0, MAX_WAIT as u64), "Seconds to wait for an event if there is none (long poll), 0 to 30; 0 if absent"),
];

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

/// Adds to the errors of a query the parameters that an operator's names have for unknown ones.
pub fn suggest(names: &Names, parameters: &[Parameter], errors: &mut FieldErrors) {
    errors.each_mut(&mut |path, violation| {
        if let (Violation::UnknownParameter { meant }, [name]) = (violation, path) {
            let also = also_called(name, names, parameters);
            meant.extend(also);
        }
    });
}

/// The parameters that have another name, as far as an operation has them.
fn also_called(name: &str, names: &Names, parameters: &[Parameter]) -> Vec<String> {
    let meant = names.parameters(name).iter();
    meant.filter(|meant| parameters.iter().any(|known| known.name == **meant)).cloned().collect()
}

/// The values of parameters, parsed by their types.
struct ParameterValues<'a> {
    sent: Vec<(&'static str, &'a str)>,
    errors: FieldErrors,
}

impl<'a> ParameterValues<'a> {
    fn new(parameters: &'static [Parameter], query: &'a [(String, String)]) -> Self {
        let mut values = Self { sent: Vec::new(), errors: FieldErrors::default() };
        let mut unknown = BTreeSet::new();
        for (name, value) in query {
            match parameters.iter().find(|parameter| parameter.name == name) {
                Some(parameter) if !parameter.takes.is_list() && values.sent.iter().any(|(sent, _)| sent == name) => {
                    let text = "Given more than once.";
                    values.errors.replace(parameter.name, Violation::stated(Code::DuplicateItem, text));
                }
                Some(parameter) => {
                    values.sent.push((parameter.name, value));
                    values.check_length(parameter);
                }
                None => {
                    unknown.insert(name.as_str());
                }
            }
        }
        for name in unknown.iter().take(MAX_MESSAGES) {
            let mut meant = also_called(name, Names::builtin(), parameters);
            if meant.is_empty() {
                let near = nearest::similar(name, parameters.iter().map(|known| known.name));
                meant = near.into_iter().map(str::to_owned).collect();
            }
            values.errors.push(name, Violation::UnknownParameter { meant });
        }
        if let (Some(last), Some(more @ 1..)) =
            (unknown.iter().nth(MAX_MESSAGES - 1), unknown.len().checked_sub(MAX_MESSAGES))
        {
            values.errors.push(last, Violation::MoreUnknownParameters(more));
        }
        values
    }

    /// Reports a text that is too long, and removes its value.
    fn check_length(&mut self, parameter: &Parameter) {
        if let (Takes::Text(most), Some((name, value))) = (parameter.takes, self.sent.last().copied())
            && value.chars().nth(most).is_some()
        {
            self.sent.pop();
            let length = value.chars().count();
            let advice = if most == MAX_TERM { "search for a shorter text" } else { "no stored value is longer" };
            let text = format!("Has {length} characters, at most {most} are allowed; {advice}.");
            self.errors.push(name, Violation::stated(Code::TooLong, text));
        }
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.sent.iter().find(|(sent, _)| *sent == name).map(|(_, value)| *value)
    }

    fn parsed<T>(
        &mut self,
        name: &'static str,
        wrong: impl FnOnce(&str) -> Violation,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.text(name)?;
        let parsed = parse(value);
        if parsed.is_none() {
            self.errors.push(name, wrong(value));
        }
        parsed
    }

    /// The items of a list, at most [`MAX_ITEMS`]: separated by commas, or each in a parameter of its own as generated
    /// clients send them.
    fn split(&mut self, name: &'static str) -> Option<Vec<&'a str>> {
        let sent = self.sent.iter().filter(|(sent, _)| *sent == name);
        let items: Vec<&str> = sent.flat_map(|(_, value)| value.split(',')).map(str::trim).collect();
        if items.is_empty() {
            return None;
        }
        if items.len() > MAX_ITEMS {
            let (number, advice) = (items.len(), "split them over several requests");
            let text = format!("Has {number} items, at most {MAX_ITEMS} are allowed; {advice}.");
            self.errors.push(name, Violation::stated(Code::TooMany, text));
            return None;
        }
        Some(items)
    }

    /// The items of a list that `parse` accepts. The first few of the others get messages.
    fn list<T>(
        &mut self,
        name: &'static str,
        wrong: impl Fn(&str) -> Violation,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (mut items, mut wrong_items) = (Vec::new(), 0);
        for item in self.split(name)? {
            if let Some(item) = parse(item) {
                items.push(item);
                continue;
            }
            wrong_items += 1;
            if wrong_items <= MAX_MESSAGES {
                self.errors.push(name, wrong(item));
            }
        }
        if let Some(more @ 1..) = wrong_items.checked_sub(MAX_MESSAGES) {
            self.errors.push(name, Violation::stated(Code::InvalidFormat, format!("{more} more items are wrong.")));
        }
        Some(items)
    }

    fn items<T>(
        &mut self,
        name: &'static str,
        expected: Expected,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let is_too_long = |item: &str| item.chars().nth(MAX_TEXT).is_some();
        let wrong = |item: &str| {
            let (code, text) = match item {
                "" => (Code::Blank, "Empty items are not allowed.".to_owned()),
                _ if is_too_long(item) => {
                    (Code::TooLong, format!("{}: at most {MAX_TEXT} characters are allowed.", shown(&item.into())))
                }
                _ => (Code::InvalidType, format!("{}: {}", shown(&item.into()), expected.text())),
            };
            Violation::stated(code, text)
        };
        self.list(name, wrong, |item| parse(item).filter(|_| !item.is_empty() && !is_too_long(item)))
    }

    fn one_of<T>(&mut self, name: &'static str, names: &[&str], from: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        self.parsed(name, |value| not_a_choice(&value.into(), names.iter().copied()), from)
    }

    /// Some of these names, each once.
    fn some_of(&mut self, name: &'static str, names: &'static [&'static str]) -> Option<Vec<&'static str>> {
        let wrong = |item: &str| not_a_choice(&item.into(), names.iter().copied());
        self.list(name, wrong, |item| names.iter().copied().find(|known| *known == item)).map(each_once)
    }

    fn event_types(&mut self) -> Vec<EventTypes> {
        let of_action =
            |action: &'static &str| ActionState::NAMES.iter().map(move |state| format!("ad.{action}.{state}"));
        let known: Vec<String> = Action::NAMES.iter().flat_map(of_action).collect();
        let wrong = |item: &str| not_a_choice(&item.into(), known.iter().map(String::as_str));
        self.list("types", wrong, |item| item.parse().ok()).map(each_once).unwrap_or_default()
    }

    /// A whole number within inclusive bounds.
    fn bounded(&mut self, name: &'static str, min: u32, max: u32) -> Option<u32> {
        let number = self.parsed(name, not_an_integer, |text| text.parse::<i64>().ok())?;
        let bounded = u32::try_from(number).ok().filter(|number| (min..=max).contains(number));
        if bounded.is_none() {
            self.errors.push(name, Violation::stated(Code::OutOfRange, format!("Must be {min} to {max}.")));
        }
        bounded
    }

    /// The fields of ads to return, and what to add to them; `parameters` says what may be added.
    fn shown_fields(&mut self, parameters: &[Parameter]) -> (Option<Vec<&'static str>>, Included) {
        let fields = self.some_of("fields", VIEW_FIELDS);
        let names = parameters.iter().find_map(|parameter| match parameter.takes {
            Takes::SomeOf(names) if parameter.name == "include" => Some(names),
            _ => None,
        });
        let names = self.some_of("include", names.unwrap_or_default()).unwrap_or_default();
        let included = Included {
            log: names.contains(&"log") || fields.as_ref().is_some_and(|fields| fields.contains(&"log")),
            status: names.contains(&"status"),
            quality: names.contains(&"quality"),
        };
        (fields, included)
    }

    fn page(&mut self) -> Page {
        let limit = self.bounded("limit", 1, MAX_LIMIT).unwrap_or(DEFAULT_LIMIT);
        let offset = self.parsed("offset", not_an_integer, |text| text.parse::<i64>().ok()).map_or(0, |offset| {
            u64::try_from(offset).unwrap_or_else(|_| {
                self.errors.push("offset", Violation::stated(Code::OutOfRange, "Must be 0 or more."));
                0
            })
        });
        Page { limit, offset }
    }

    fn done<T>(self, query: T) -> Result<T, FieldErrors> {
        if self.errors.is_empty() { Ok(query) } else { Err(self.errors) }
    }
}

/// The items without those that occur before.
fn each_once<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

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

const SCORE_BOUNDS: [(&str, Bound); 2] = [("quality_score__lt", Bound::Lt), ("quality_score__gte", Bound::Gte)];

fn not_a_uuid(_: &str) -> Violation {
    Violation::WrongFormat(TextFormat::Uuid)
}

fn not_an_integer(_: &str) -> Violation {
    Violation::WrongType(Expected::Integer)
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
        filters.extend(values.parsed("category_id", not_an_integer, number).map(|id| AdFilter::CategoryId(vec![id])));
        filters.extend(values.items("category_id__in", Expected::Integer, number).map(AdFilter::CategoryId));
        filters.extend(values.text("search").map(|part| AdFilter::Search(part.to_owned())));
        filters.extend(values.text("marketplace_ad_id").map(|id| AdFilter::MarketplaceAdId(vec![id.to_owned()])));
        filters.extend(values.items("marketplace_ad_id__in", Expected::Text, text).map(AdFilter::MarketplaceAdId));
        filters.extend(values.text("registration_number").map(|text| AdFilter::RegistrationNumber(plate(text))));
        for (name, bound) in SCORE_BOUNDS {
            let score = values.bounded(name, 0, 100).and_then(|score| u8::try_from(score).ok());
            filters.extend(score.map(|score| AdFilter::QualityScore(bound, score)));
        }
        for (name, order, bound) in BOUNDS {
            let not_a_time = |_: &str| Violation::stated(Code::InvalidFormat, NotATime.to_string());
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
        let Included { log, status, quality } = self.included;
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
        AdFilter::MarketplaceAdId(ids) => one_or_many(ids, "marketplace_ad_id", "marketplace_ad_id__in"),
        AdFilter::RegistrationNumber(plate) => ("registration_number", plate.clone()),
        AdFilter::QualityScore(bound, score) => {
            let (name, _) = *SCORE_BOUNDS.iter().find(|(_, known)| known == bound)?;
            (name, score.to_string())
        }
        AdFilter::Time(order, bound, time) => {
            let (name, ..) = *BOUNDS.iter().find(|(_, known, side)| (known, side) == (order, bound))?;
            (name, time.to_string())
        }
    })
}

/// The parameters of a page; what is the default is left out.
fn of_page(page: Page) -> impl Iterator<Item = (&'static str, String)> {
    let limit = (page.limit != DEFAULT_LIMIT).then(|| ("limit", page.limit.to_string()));
    let offset = (page.offset > 0).then(|| ("offset", page.offset.to_string()));
    limit.into_iter().chain(offset)
}

impl FromParameters for AdParameters {
    fn parse(parameters: &'static [Parameter], query: &[(String, String)]) -> Result<Self, FieldErrors> {
        let mut values = ParameterValues::new(parameters, query);
        let mut flag = |name| {
            let wrong = |_: &str| Violation::stated(Code::InvalidType, "Must be true or false.");
            values.parsed(name, wrong, boolean).unwrap_or(false)
        };
        let exclude = Exclusions { primary: flag("exclude_primary"), secondary: flag("exclude_secondary") };
        let dealer_code = values.text("dealer_code").map(str::to_owned);
        let (fields, mut included) = values.shown_fields(parameters);
        included.log |= fields.is_none();
        values.done(Self { dealer_code, exclude, fields, included })
    }
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
