//! The values of parameters, parsed by their types.

use std::collections::BTreeSet;

use ad_core::{
    categories::category_id,
    fields::{FieldErrors, not_a_choice, shown},
    model::{Action, ActionState, DEFAULT_LIMIT, EventTypes, Included, MAX_LIMIT, Page, Timestamp, VIEW_FIELDS},
    synonyms::names::Names,
    violation::{Code, Cure, Expected, Slip, TextFormat, Violation, nearest},
    words::{self, MOST_WORDS},
};

use super::{MAX_ITEMS, MAX_MESSAGES, MAX_TERM, MAX_TEXT, Parameter, Takes, also_called};

/// The values of parameters, parsed by their types.
pub(super) struct ParameterValues<'a> {
    sent: Vec<(&'static str, &'a str)>,
    errors: FieldErrors,
}

impl<'a> ParameterValues<'a> {
    pub(super) fn new(parameters: &'static [Parameter], query: &'a [(String, String)]) -> Self {
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

    pub(super) fn refuse(&mut self, name: &'static str, violation: Violation) {
        self.errors.push(name, violation);
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.sent.iter().find(|(sent, _)| *sent == name).map(|(_, value)| *value)
    }

    /// The words of a search, if there are some.
    pub(super) fn words(&mut self, name: &'static str) -> Option<String> {
        let text = self.text(name)?;
        let number = words::count(text);
        if number > MOST_WORDS {
            let text = format!("Has {number} words, at most {MOST_WORDS} are allowed; leave some out.");
            self.errors.push(name, Violation::stated(Code::TooMany, text));
        }
        (1..=MOST_WORDS).contains(&number).then(|| text.to_owned())
    }

    pub(super) fn parsed<T>(
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

    pub(super) fn items<T>(
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

    pub(super) fn one_of<T>(
        &mut self,
        name: &'static str,
        names: &[&str],
        from: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.parsed(name, |value| not_a_choice(&value.into(), names.iter().copied()), from)
    }

    /// Some of these names, each once.
    pub(super) fn some_of(&mut self, name: &'static str, names: &'static [&'static str]) -> Option<Vec<&'static str>> {
        let wrong = |item: &str| not_a_choice(&item.into(), names.iter().copied());
        self.list(name, wrong, |item| names.iter().copied().find(|known| *known == item)).map(each_once)
    }

    pub(super) fn event_types(&mut self) -> Vec<EventTypes> {
        let of_action =
            |action: &'static &str| ActionState::NAMES.iter().map(move |state| format!("ad.{action}.{state}"));
        let known: Vec<String> = Action::NAMES.iter().flat_map(of_action).collect();
        let wrong = |item: &str| not_a_choice(&item.into(), known.iter().map(String::as_str));
        self.list("types", wrong, |item| item.parse().ok()).map(each_once).unwrap_or_default()
    }

    /// A whole number within inclusive bounds.
    pub(super) fn bounded(&mut self, name: &'static str, min: u32, max: u32) -> Option<u32> {
        let number = self.parsed(name, not_an_integer, |text| text.parse::<i64>().ok())?;
        let bounded = u32::try_from(number).ok().filter(|number| (min..=max).contains(number));
        if bounded.is_none() {
            self.errors.push(name, Violation::stated(Code::OutOfRange, format!("Must be {min} to {max}.")));
        }
        bounded
    }

    /// The fields of ads to return, and what to add to them; `parameters` says what may be added.
    pub(super) fn shown_fields(&mut self, parameters: &[Parameter]) -> (Option<Vec<&'static str>>, Included) {
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
            warnings: names.contains(&"warnings"),
        };
        (fields, included)
    }

    pub(super) fn page(&mut self) -> Page {
        let limit = self.bounded("limit", 1, MAX_LIMIT).unwrap_or(DEFAULT_LIMIT);
        let offset = self.parsed("offset", not_an_integer, |text| text.parse::<i64>().ok()).map_or(0, |offset| {
            u64::try_from(offset).unwrap_or_else(|_| {
                self.errors.push("offset", Violation::stated(Code::OutOfRange, "Must be 0 or more."));
                0
            })
        });
        Page { limit, offset }
    }

    pub(super) fn done<T>(self, query: T) -> Result<T, FieldErrors> {
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

pub(super) fn not_a_uuid(_: &str) -> Violation {
    Violation::WrongFormat(TextFormat::Uuid)
}

/// The advice for a time whose `+` was not encoded, so that it arrived as a space.
pub(super) fn lost_plus(text: &str) -> Option<String> {
    let (time, offset) = text.rsplit_once(' ')?;
    let meant = format!("{time}+{offset}");
    meant.parse::<Timestamp>().is_ok().then(|| format!("A + in a query stands for a space: send {time}%2B{offset}."))
}

/// A category that is no number, such as `car`.
pub(super) fn not_a_category(sent: &str) -> Violation {
    let wrong = Violation::WrongType(Expected::Integer);
    match category_id(sent) {
        Some(id) => wrong.cured(Cure::Send { value: id.to_string(), sent: shown(&sent.into()), slip: Slip::Spelling }),
        None => wrong,
    }
}

pub(super) fn not_an_integer(_: &str) -> Violation {
    Violation::WrongType(Expected::Integer)
}
