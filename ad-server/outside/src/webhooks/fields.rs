//! The bodies that create and change endpoints, validated like those of ads: all errors at once, by field.

use std::borrow::Cow;

use ad_core::{
    fields::{FieldErrors, Kind, not_a_choice, shown},
    model::{Action, ActionState, EventTypes, Timestamp},
    rulebook::cured,
    violation::{Code, Cure, Expected, TextFormat, Violation, nearest},
};
use serde_json::{Map, Value};
use url::{Host, Url};

use crate::media::{Guard, Refused};

/// Longest `url`, in characters.
const MAX_URL: usize = 2000;

/// Longest `description`, in characters.
const MAX_DESCRIPTION: usize = 500;

/// Most types in the field `types`.
const MAX_TYPES: usize = 50;

/// Maximum number of unknown fields that are named.
const MAX_UNKNOWN: usize = 5;

/// What a new endpoint is given.
#[derive(Debug, PartialEq, Eq)]
pub struct NewFields {
    pub url: String,
    pub types: Vec<EventTypes>,
    pub dealer_code: Option<String>,
    pub description: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedFields {
    pub url: Option<String>,
    pub types: Option<Vec<EventTypes>>,
    /// Removed if it is empty.
    pub description: Option<String>,
    pub enabled: Option<bool>,
    /// Whether it resumes with new events only.
    pub resume: bool,
}

/// Position at which a replay begins.
#[derive(Debug, PartialEq)]
pub enum ReplayAfter {
    Time(Timestamp),
    /// Not a time, so it is to be a cursor.
    Cursor(String),
}

/// The types of an endpoint that names none: every `done` and `error`.
pub fn default_types() -> Vec<EventTypes> {
    [ActionState::Done, ActionState::Error].map(|state| EventTypes { action: None, state: Some(state) }).into()
}

/// The types that there are, and the patterns.
fn all_types() -> impl Iterator<Item = String> {
    let actions = Action::NAMES.iter().copied().chain(["*"]);
    actions.flat_map(|action| {
        ActionState::NAMES.iter().copied().chain(["*"]).map(move |state| format!("ad.{action}.{state}"))
    })
}

/// The members of a body, and the errors in them.
struct Fields<'a> {
    sent: &'a Map<String, Value>,
    errors: FieldErrors,
}

/// Reads the body of a new endpoint. `permits` says whether a dealer is in the token's scope.
pub fn new(sent: &Map<String, Value>, guard: Guard, permits: impl Fn(&str) -> bool) -> Result<NewFields, FieldErrors> {
    let mut fields = Fields::new(sent, &["url", "types", "dealer_code", "description"]);
    if !sent.contains_key("url") {
        fields.errors.push("url", Violation::Required);
    }
    let url = fields.url(guard);
    let types = fields.types();
    let dealer_code = fields.text("dealer_code").map(Cow::into_owned);
    if let Some(code) = dealer_code.as_deref().filter(|code| !permits(code)) {
        let text = format!(
            "{} is outside the token's scope; leave dealer_code out, or send a dealer of the scope.",
            shown(&code.into())
        );
        fields.errors.push("dealer_code", Violation::stated(Code::InvalidChoice, text));
    }
    let description = fields.description();
    fields.done(NewFields {
        url: url.unwrap_or_default(),
        types: types.unwrap_or_else(default_types),
        dealer_code,
        description: description.filter(|text| !text.is_empty()),
    })
}

/// Reads the body of a change. `dealer_code` is that of the endpoint, which stays.
pub fn changed(
    sent: &Map<String, Value>,
    guard: Guard,
    dealer_code: Option<&str>,
) -> Result<ChangedFields, FieldErrors> {
    let mut fields = Fields::new(sent, &["url", "types", "dealer_code", "description", "enabled", "resume"]);
    if sent.get("dealer_code").is_some_and(|sent| sent.as_str() != dealer_code) {
        let text = "The dealer of an endpoint cannot change. Create another endpoint.";
        fields.errors.push("dealer_code", Violation::stated(Code::Immutable, text));
    }
    let changed = ChangedFields {
        url: fields.url(guard),
        types: fields.types(),
        description: fields.description(),
        enabled: fields.enabled(),
        resume: fields.resume(),
    };
    if changed.resume && changed.enabled == Some(false) {
        let text = "Send resume with \"enabled\": true, or for an endpoint that is enabled.";
        fields.errors.push("resume", Violation::of_rule("resume_enabled", Code::Conflict, text));
    }
    fields.done(changed)
}

/// Reads the body of a replay.
pub fn replay(sent: &Map<String, Value>) -> Result<ReplayAfter, FieldErrors> {
    let mut fields = Fields::new(sent, &["after"]);
    if !sent.contains_key("after") {
        fields.errors.push("after", Violation::Required);
    } else if sent["after"].is_null() {
        fields.errors.push("after", Violation::Null);
    }
    let after = fields.text("after").unwrap_or_default().into_owned();
    let after = after.parse().map_or(ReplayAfter::Cursor(after), ReplayAfter::Time);
    fields.done(after)
}

/// What other services call the fields of an endpoint.
const CALLED: [(&str, &[&str]); 4] = [
    (
        "url",
        &[
            "callback_url",
            "callback",
            "callbackurl",
            "endpoint",
            "target",
            "target_url",
            "webhook_url",
            "uri",
            "address",
            "hook",
        ],
    ),
    ("types", &["events", "event", "event_types", "eventtypes", "topics", "triggers", "subscriptions"]),
    ("enabled", &["active", "is_active", "is_enabled", "disabled", "status"]),
    ("description", &["name", "title", "label", "comment"]),
];

/// A text of any length.
const TEXT: Kind = Kind::Text { min: 0, max: usize::MAX, without: None };

impl<'a> Fields<'a> {
    fn new(sent: &'a Map<String, Value>, known: &[&str]) -> Self {
        let mut errors = FieldErrors::default();
        let mut unknown = sent.keys().filter(|name| !known.contains(&name.as_str()));
        let mut last = None;
        for name in unknown.by_ref().take(MAX_UNKNOWN) {
            let called = CALLED.iter().find(|(_, names)| names.contains(&name.to_ascii_lowercase().as_str()));
            let called = called.map(|(field, _)| *field).filter(|field| known.contains(field));
            let meant = match called {
                Some(field) => vec![field.to_owned()],
                None => nearest::similar(name, known.iter().copied()).into_iter().map(str::to_owned).collect(),
            };
            errors.push(name, Violation::UnknownField { meant, of_ad: false });
            last = Some(name);
        }
        if let (Some(last), more @ 1..) = (last, unknown.count()) {
            errors.push(last, Violation::MoreUnknownFields(more));
        }
        Self { sent, errors }
    }

    fn done<T>(self, fields: T) -> Result<T, FieldErrors> {
        if self.errors.is_empty() { Ok(fields) } else { Err(self.errors) }
    }

    /// A text; `null` and none are the same.
    fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.sent.get(name)? {
            Value::Null => {}
            Value::String(text) if text.is_empty() => self.errors.push(name, Violation::Blank),
            Value::String(text) => return Some(Cow::Borrowed(text)),
            sent => self.errors.push(name, cured(Violation::WrongType(Expected::Text), &TEXT, sent)),
        }
        None
    }

    fn url(&mut self, guard: Guard) -> Option<String> {
        if self.sent.get("url").is_some_and(Value::is_null) {
            self.errors.push("url", Violation::Null);
        }
        let text = self.text("url")?;
        match checked_url(&text, guard) {
            Ok(url) => Some(url),
            Err(violation) => {
                self.errors.push("url", violation);
                None
            }
        }
    }

    /// The types; the default ones for `null`.
    fn types(&mut self) -> Option<Vec<EventTypes>> {
        let items = match self.sent.get("types")? {
            Value::Null => return Some(default_types()),
            Value::Array(items) => items,
            _ => {
                let example = r#"["ad.publish.*", "ad.*.error"]"#.to_owned();
                let cure = Cure::Example { expected: Expected::List, value: example };
                self.errors.push("types", Violation::WrongType(Expected::List).cured(cure));
                return None;
            }
        };
        if items.is_empty() {
            let text = "Send at least one type, or null for every done and error.";
            self.errors.push("types", Violation::stated(Code::TooShort, text));
        } else if items.len() > MAX_TYPES {
            self.errors.push("types", Violation::TooMany(MAX_TYPES));
            return None;
        }
        let mut types = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match parsed_type(item, &types) {
                Ok(parsed) => types.push(parsed),
                Err(violation) => self.errors.at("types").push(&index.to_string(), violation),
            }
        }
        Some(types)
    }

    /// The description; `null` is an empty one.
    fn description(&mut self) -> Option<String> {
        match self.sent.get("description")? {
            Value::Null => Some(String::new()),
            Value::String(text) if text.chars().nth(MAX_DESCRIPTION).is_some() => {
                self.errors.push("description", Violation::TooLong(MAX_DESCRIPTION));
                None
            }
            Value::String(text) => Some(text.clone()),
            _ => {
                self.errors.push("description", Violation::WrongType(Expected::Text));
                None
            }
        }
    }

    fn enabled(&mut self) -> Option<bool> {
        match self.sent.get("enabled")? {
            Value::Bool(enabled) => return Some(*enabled),
            Value::Null => self.errors.push("enabled", Violation::Null),
            sent => {
                self.errors.push("enabled", cured(Violation::WrongType(Expected::Boolean), &Kind::Boolean, sent));
            }
        }
        None
    }

    fn resume(&mut self) -> bool {
        match self.text("resume") {
            None => false,
            Some(text) if text == "now" => true,
            Some(text) => {
                self.errors.push("resume", not_a_choice(&text.as_ref().into(), ["now"].into_iter()));
                false
            }
        }
    }
}

fn parsed_type(item: &Value, before: &[EventTypes]) -> Result<EventTypes, Violation> {
    let text = item.as_str().ok_or(Violation::WrongType(Expected::Text))?;
    let parsed: EventTypes = text.parse().map_err(|_| {
        let all: Vec<_> = all_types().collect();
        not_a_choice(item, all.iter().map(String::as_str))
    })?;
    if before.contains(&parsed) { Err(Violation::Duplicate { sent: shown(item) }) } else { Ok(parsed) }
}

fn checked_url(text: &str, guard: Guard) -> Result<String, Violation> {
    if text.chars().nth(MAX_URL).is_some() {
        return Err(Violation::TooLong(MAX_URL));
    }
    let schemes: &[&str] = if guard.allow_private { &["https", "http"] } else { &["https"] };
    let not_allowed = |text: &'static str| Violation::stated(Code::NotAllowed, text);
    let private = || not_allowed("The host is not public. Webhooks are sent to public addresses only.");
    let url = guard.parse(text).map_err(|refused| match refused {
        Refused::NotHttps => Violation::WrongFormat(TextFormat::Scheme(schemes)),
        Refused::Credentials => not_allowed(
            "The URL contains a user name or password. Leave them out; verify the signature of requests instead.",
        ),
        Refused::Private => private(),
        _ => Violation::WrongFormat(TextFormat::Address),
    })?;
    if url.fragment().is_some() {
        return Err(not_allowed("The URL contains a fragment (#…), which is never sent. Leave it out."));
    }
    if !guard.allow_private && is_local_name(&url) {
        return Err(private());
    }
    Ok(url.into())
}

/// Whether the host has a name that only means this machine (RFC 6761). What other names mean is found out when they are resolved.
fn is_local_name(url: &Url) -> bool {
    let Some(Host::Domain(name)) = url.host() else { return false };
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use serde_json::json;

    use super::*;

    const STRICT: Guard = Guard { allow_private: false, redirects: 0 };
    const DEVELOPMENT: Guard = Guard { allow_private: true, redirects: 0 };
    const URL: &str = "https://example.com/hook";

    fn object(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn codes<T: fmt::Debug>(result: Result<T, FieldErrors>) -> Vec<(String, &'static str)> {
        let errors = result.unwrap_err();
        errors.violations().into_iter().map(|(path, violation)| (path, violation.code().unwrap().name())).collect()
    }

    fn created(value: Value) -> Result<NewFields, FieldErrors> {
        new(&object(value), STRICT, |code| code == "north")
    }

    #[test]
    fn a_new_endpoint_needs_its_url_only() {
        let fields = created(json!({"url": URL})).unwrap();
        let types: Vec<_> = fields.types.iter().map(EventTypes::to_string).collect();
        assert_eq!((fields.url.as_str(), types), (URL, vec!["ad.*.done".to_owned(), "ad.*.error".to_owned()]));
        assert_eq!((fields.dealer_code, fields.description), (None, None));
        let fields =
            created(json!({"url": URL, "types": ["ad.publish.*"], "dealer_code": "north", "description": "å"}));
        let fields = fields.unwrap();
        assert_eq!((fields.dealer_code.as_deref(), fields.description.as_deref()), (Some("north"), Some("å")));
        assert_eq!(fields.types[0].to_string(), "ad.publish.*");
    }

    #[test]
    fn every_error_is_told_at_its_field() {
        let wrong = json!({"ulr": URL, "types": ["ad.publish.finished", 1, "ad.*.*", "ad.*.*"], "dealer_code": "south",
            "description": "x".repeat(501)});
        let expected = [
            ("dealer_code", "invalid_choice"),
            ("description", "too_long"),
            ("types.0", "invalid_choice"),
            ("types.1", "invalid_type"),
            ("types.3", "duplicate_item"),
            ("ulr", "unknown_field"),
            ("url", "required"),
        ];
        assert_eq!(codes(created(wrong.clone())), expected.map(|(path, code)| (path.to_owned(), code)));
        let errors = created(wrong).unwrap_err();
        let hint = |path: &str| {
            let found = errors.flatten().into_iter().filter(|(at, _)| at == path).map(|(_, text)| text.into_owned());
            found.collect::<Vec<_>>().join(" ")
        };
        assert!(hint("ulr").contains("\"url\""), "{}", hint("ulr"));
        for (body, code) in [
            (json!({"url": null}), "null"),
            (json!({"url": 1}), "invalid_type"),
            (json!({"url": ""}), "blank"),
            (json!({"url": URL, "types": "ad.*.done"}), "invalid_type"),
            (json!({"url": URL, "types": []}), "too_short"),
            (json!({"url": URL, "types": vec!["ad.*.done"; 51]}), "too_many"),
            (json!({"url": URL, "dealer_code": 1}), "invalid_type"),
            (json!({"url": URL, "enabled": true}), "unknown_field"),
        ] {
            assert_eq!(
                codes(created(body.clone())).into_iter().map(|(_, code)| code).collect::<Vec<_>>(),
                [code],
                "{body}"
            );
        }
    }

    #[test]
    fn only_public_https_addresses_are_sent_to() {
        for (url, strict, development) in [
            ("https://example.com:8443/hook?a=b", None, None),
            ("http://example.com/", Some("invalid_format"), None),
            ("ftp://example.com/", Some("invalid_format"), Some("invalid_format")),
            ("example.com/hook", Some("invalid_format"), Some("invalid_format")),
            ("https://anna:secret@example.com/", Some("not_allowed"), Some("not_allowed")),
            ("https://example.com/#part", Some("not_allowed"), Some("not_allowed")),
            ("https://127.0.0.1/", Some("not_allowed"), None),
            ("https://[::1]/", Some("not_allowed"), None),
            ("https://10.0.0.1/", Some("not_allowed"), None),
            ("https://localhost/", Some("not_allowed"), None),
            ("https://api.localhost./", Some("not_allowed"), None),
            ("https://169.254.169.254/", Some("not_allowed"), Some("not_allowed")),
            (&format!("https://example.com/{}", "x".repeat(1980)), None, None),
            (&format!("https://example.com/{}", "x".repeat(1981)), Some("too_long"), Some("too_long")),
        ] {
            let code = |guard| checked_url(url, guard).err().map(|violation| violation.code().unwrap().name());
            assert_eq!((code(STRICT), code(DEVELOPMENT)), (strict, development), "{url}");
        }
    }

    #[test]
    fn a_change_changes_what_it_names() {
        let change = |value: Value| changed(&object(value), STRICT, Some("north"));
        assert_eq!(change(json!({})).unwrap(), ChangedFields::default());
        let all = change(
            json!({"description": null, "types": null, "enabled": true, "resume": "now", "dealer_code": "north"}),
        );
        let expected = ChangedFields {
            url: None,
            types: Some(default_types()),
            description: Some(String::new()),
            enabled: Some(true),
            resume: true,
        };
        assert_eq!(all.unwrap(), expected);
        for (body, path, code) in [
            (json!({"url": null}), "url", "null"),
            (json!({"enabled": "no"}), "enabled", "invalid_type"),
            (json!({"enabled": null}), "enabled", "null"),
            (json!({"resume": "later"}), "resume", "invalid_choice"),
            (json!({"enabled": false, "resume": "now"}), "resume", "conflict"),
            (json!({"dealer_code": "south"}), "dealer_code", "immutable"),
            (json!({"dealer_code": null}), "dealer_code", "immutable"),
        ] {
            assert_eq!(codes(change(body.clone())), [(path.to_owned(), code)], "{body}");
        }
    }

    #[test]
    fn a_replay_begins_at_a_time_or_cursor() {
        let after = |value: Value| replay(&object(value));
        let time = "2026-01-15T10:00:00Z";
        assert_eq!(after(json!({"after": time})).unwrap(), ReplayAfter::Time(time.parse().unwrap()));
        assert_eq!(after(json!({"after": "abc"})).unwrap(), ReplayAfter::Cursor("abc".to_owned()));
        for (body, code) in [
            (json!({}), "required"),
            (json!({"after": null}), "null"),
            (json!({"after": 5}), "invalid_type"),
            (json!({"after": ""}), "blank"),
        ] {
            assert_eq!(codes(after(body.clone())), [("after".to_owned(), code)], "{body}");
        }
    }
}
