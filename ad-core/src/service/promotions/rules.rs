//! What a client sends as a schedule, checked.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::SelectAds;
use crate::{
    fields::FieldErrors,
    model::{
        AdsOrder, Amount, DEFAULT_PER_RUN, LastDay, MOST_AGE_DAYS, MOST_PER_RUN, PromotionKind, PromotionRules,
        TimeOfDay, Timestamp, Weekday,
    },
    violation::{Choices, Code, Cure, Expected, Violation, nearest},
};

/// The members of a schedule.
pub(super) const MEMBERS: [&str; 13] = [
    "kind",
    "select",
    "order",
    "most_per_run",
    "min_age_days",
    "weekdays",
    "at",
    "zone",
    "until",
    "budget",
    "exclude_primary",
    "exclude_secondary",
    "paused",
];

/// Unknown members that are listed.
const MOST_UNKNOWN: usize = 20;
/// Maximum size of `select`, in bytes.
const MOST_SELECT_BYTES: usize = 16 * 1024;

/// Reads the members of a schedule, and collects what is wrong with them.
pub(super) struct Members<'a> {
    object: &'a Map<String, Value>,
    pub(super) errors: FieldErrors,
    /// Maximum number of ads of a run.
    pub(super) most_per_run: u32,
}

impl<'a> Members<'a> {
    /// The members of an object, which may have these.
    pub(super) fn new(object: &'a Map<String, Value>, known: &[&'static str]) -> Self {
        let mut errors = FieldErrors::default();
        for name in object.keys().filter(|name| !known.contains(&name.as_str())).take(MOST_UNKNOWN) {
            let meant = nearest::similar(name, known.iter().copied()).into_iter().map(str::to_owned).collect();
            errors.push(name, Violation::UnknownField { meant, of_ad: false });
        }
        Self { object, errors, most_per_run: MOST_PER_RUN }
    }

    /// A member that is not `null`.
    fn sent(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn wrong_type(&mut self, name: &str, expected: Expected, example: &str) {
        let cure = Cure::Example { expected, value: example.to_owned() };
        self.errors.push(name, Violation::WrongType(expected).cured(cure));
    }

    pub(super) fn text(&mut self, name: &str, example: &str) -> Option<&'a str> {
        let value = self.sent(name)?;
        if value.as_str().is_none() {
            self.wrong_type(name, Expected::Text, example);
        }
        value.as_str()
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        let Some(value) = self.sent(name) else { return false };
        if value.as_bool().is_none() {
            self.wrong_type(name, Expected::Boolean, "true");
        }
        value.as_bool().unwrap_or_default()
    }

    fn refuse(&mut self, name: &str, code: Code, text: impl Into<std::borrow::Cow<'static, str>>) {
        self.errors.push(name, Violation::stated(code, text));
    }

    /// A text that is one of these names.
    fn choice<T>(&mut self, name: &str, names: &'static [&'static str], find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(name, names[0])?;
        let found = find(text);
        if found.is_none() {
            self.errors.push(name, not_one_of(text, names));
        }
        found
    }

    fn order(&mut self) -> AdsOrder {
        self.choice("order", AdsOrder::NAMES, |text| text.parse().ok()).unwrap_or_default()
    }

    /// A whole number from 1 to a maximum.
    fn number(&mut self, name: &'static str, most: u32) -> Option<u32> {
        let value = self.sent(name)?;
        match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) if (1..=most).contains(&number) => return Some(number),
            _ if value.is_number() => {
                self.refuse(name, Code::OutOfRange, format!("Enter a whole number from 1 to {most}."));
            }
            _ => self.wrong_type(name, Expected::Integer, "10"),
        }
        None
    }

    fn weekdays(&mut self) -> Option<Vec<Weekday>> {
        let value = self.sent("weekdays")?;
        let Some(items) = value.as_array() else {
            self.wrong_type("weekdays", Expected::List, r#"["mon", "thu"]"#);
            return None;
        };
        if items.is_empty() {
            self.refuse(
                "weekdays",
                Code::Required,
                "The schedule never runs. Send days, or leave weekdays out for every day.",
            );
        }
        let most = Weekday::NAMES.len();
        if items.len() > most {
            // Of a long list, each item would have an error.
            self.errors.push("weekdays", Violation::TooMany(most));
            return None;
        }
        let mut days = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let text = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            let violation = match Weekday::from_name(&text) {
                Some(day) if !days.contains(&day) => {
                    days.push(day);
                    continue;
                }
                Some(_) => Violation::Duplicate { sent: quoted(&text) },
                None => not_one_of(&text, Weekday::NAMES),
            };
            self.errors.at("weekdays").push(&place.to_string(), violation);
        }
        days.sort_unstable();
        Some(days)
    }

    fn at(&mut self) -> Option<TimeOfDay> {
        if self.sent("at").is_none() {
            self.errors.push("at", Violation::Required);
        }
        let parsed = self.text("at", "08:00")?.parse::<TimeOfDay>();
        parsed.map_err(|error| self.refuse("at", Code::InvalidFormat, error.to_string())).ok()
    }

    /// The time zone by its name in the zone database.
    fn zone(&mut self, default: &str) -> Option<(String, TimeZone)> {
        let text = self.text("zone", "Europe/Stockholm").unwrap_or(default);
        // A name that the zone database does not have is an offset or a rule to some programs.
        let found = TimeZone::get(text).ok().filter(|_| text.len() <= 64);
        let found = found.and_then(|zone| Some((zone.iana_name()?.to_owned(), zone)));
        if found.is_none() {
            let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
            let hint = nearest::did_you_mean(text, known.iter().map(String::as_str));
            let text = format!(
                "{} is not a time zone. Enter a name of the IANA time zone database, such as \"Europe/Stockholm\".",
                quoted(text)
            );
            self.errors.push("zone", Violation::stated(Code::InvalidChoice, text).with_note(hint));
        }
        found
    }

    fn until(&mut self, zone: Option<&TimeZone>, now: Timestamp, is_new: bool) -> Option<LastDay> {
        let parsed = self.text("until", "2026-12-31")?.parse::<LastDay>();
        let last = parsed.map_err(|error| self.refuse("until", Code::InvalidFormat, error.to_string())).ok()?;
        if is_new && zone.is_some_and(|zone| last.is_over(now, zone)) {
            self.refuse(
                "until",
                Code::OutOfRange,
                format!("{last} is over in this time zone. Enter today or a later day."),
            );
        }
        Some(last)
    }

    fn budget(&mut self) -> Option<Amount> {
        let value = self.sent("budget")?;
        let Value::Number(number) = value else {
            self.wrong_type("budget", Expected::Number, "1500");
            return None;
        };
        let amount = Amount::of_number(number);
        amount
            .map_err(|_| {
                let text = "Enter an amount from 0 to 1000000000 with at most two decimals, such as 29.5.";
                self.refuse("budget", Code::OutOfRange, text);
            })
            .ok()
    }

    fn select(&mut self, ads: SelectAds) -> Map<String, Value> {
        let Some(value) = self.sent("select") else {
            self.errors.push("select", Violation::Required);
            return Map::new();
        };
        let Some(select) = value.as_object() else {
            self.wrong_type("select", Expected::Object, r#"{"source_id": "car-1"}"#);
            return Map::new();
        };
        if crate::model::json_bytes(value) > MOST_SELECT_BYTES {
            let text = format!("At most {MOST_SELECT_BYTES} bytes are allowed.");
            self.refuse("select", Code::TooLarge, text);
            return Map::new();
        }
        match ads(select) {
            Err(errors) => self.errors.put("select", errors),
            Ok(filters) if filters.is_empty() => {
                let text = "Selects no ads. Send a source_id, or filters as a list of ads takes them, such as {\"status\": \"live\"}.";
                self.refuse("select", Code::Required, text);
            }
            Ok(_) => {}
        }
        select.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What the schedule says. `changed` are the members that a change has sent; `None`: the schedule is new.
    pub(super) fn rules(
        mut self,
        ads: SelectAds,
        default_zone: &str,
        now: Timestamp,
        changed: Option<&Map<String, Value>>,
    ) -> Result<PromotionRules, FieldErrors> {
        if self.sent("kind").is_none() {
            self.errors.push("kind", Violation::Required);
        }
        let kind = self.choice("kind", PromotionKind::NAMES, PromotionKind::from_name);
        let select = self.select(ads);
        let order = self.order();
        let most_per_run = self.number("most_per_run", self.most_per_run).unwrap_or(DEFAULT_PER_RUN);
        let min_age_days = self.number("min_age_days", MOST_AGE_DAYS);
        let (weekdays, at, zone) = (self.weekdays(), self.at(), self.zone(default_zone));
        let is_new = changed.is_none_or(|changed| changed.contains_key("until") || changed.contains_key("zone"));
        let until = self.until(zone.as_ref().map(|(_, zone)| zone), now, is_new);
        let budget = self.budget();
        let (exclude_primary, exclude_secondary) = (self.flag("exclude_primary"), self.flag("exclude_secondary"));
        let excluded = [("exclude_primary", exclude_primary), ("exclude_secondary", exclude_secondary)];
        if kind == Some(PromotionKind::PolePosition) {
            for (name, _) in excluded.into_iter().filter(|(_, is_excluded)| *is_excluded) {
                self.refuse(name, Code::NotAllowed, "Pole position is on the primary marketplace only. Leave it out.");
            }
        } else if exclude_primary && exclude_secondary {
            self.refuse("exclude_secondary", Code::NotAllowed, "At most one marketplace can be excluded.");
        }
        match (kind, at, zone) {
            (Some(kind), Some(at), Some((zone, _))) if self.errors.is_empty() => Ok(PromotionRules {
                kind,
                select,
                order,
                most_per_run,
                min_age_days,
                weekdays,
                at,
                zone,
                until,
                budget,
                exclude_primary,
                exclude_secondary,
            }),
            _ => Err(self.errors),
        }
    }
}

fn quoted(text: &str) -> String {
    nearest::quoted(std::iter::once(text))
}

fn not_one_of(text: &str, names: &'static [&'static str]) -> Violation {
    let choices = Choices::All(names.iter().map(|name| (*name).to_owned()).collect());
    Violation::NotAChoice { sent: quoted(text), choices, note: None, request: None }
}
