//! Rules for injected faults: which calls fail, and how.
//!
//! Rules are given at start and can be replaced while the process runs; the first that matches a call applies. In a sandbox the
//! source id of an ad can be a rule, so that clients of the API can provoke every failure. Random choices come from a seed: the
//! same calls in the same order have the same result.

use std::sync::Mutex;

use ad_core::{lock::locked, model::Market};
use ad_server_http::sandbox::{FaultCounts, PREFIX, times};
use serde::{Deserialize, Serialize, de::value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fault {
    /// There is no answer, and nothing is done.
    #[serde(rename = "timeout")]
    Timeout,
    /// 429 with `Retry-After`; nothing is done.
    #[serde(rename = "429")]
    TooMany,
    /// 500; nothing is done.
    #[serde(rename = "500")]
    Error,
    /// 401, as if the service had a wrong token; nothing is done.
    #[serde(rename = "401")]
    Unauthorized,
    /// 422 with a reason; nothing is done.
    #[serde(rename = "refused")]
    Refused,
    /// The call is executed, and the connection is closed before the answer.
    #[serde(rename = "lost")]
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallAction {
    /// Publishes a listing, or updates it.
    Publish,
    /// Removes a listing from view.
    Unpublish,
    /// Moves it to the first place.
    Bump,
    /// Gives a listing pole position.
    Boost,
    /// Finds it by its plate.
    Find,
}

/// A fault or an action by its name in rules.
fn named<'n, T: Deserialize<'n>>(name: &'n str) -> Option<T> {
    T::deserialize(value::BorrowedStrDeserializer::<value::Error>::new(name)).ok()
}

/// A rule: which calls fail, and how. Absent conditions match any call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub fault: Fault,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<Market>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// Those of ads whose source id begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id_prefix: Option<String>,
    /// Those of the ad with this plate, in upper case without spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_number: Option<String>,
    /// Those that do one of these; if empty, any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<CallAction>,
    /// Probability in thousandths, 0 to 1000; 1000 if left out.
    #[serde(default = "all")]
    pub per_mille: u16,
    /// Of each ad only the first so many calls that it meets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Seconds in `Retry-After`, for `429` and `500`; 2 for `429` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Why it is refused, for `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const fn all() -> u16 {
    1000
}

impl Rule {
    /// A rule by which every call fails in this way.
    fn any(fault: Fault) -> Self {
        Self {
            fault,
            marketplace: None,
            source_id: None,
            source_id_prefix: None,
            registration_number: None,
            actions: Vec::new(),
            per_mille: all(),
            times: None,
            retry_after: None,
            reason: None,
        }
    }

    fn matches(&self, call: &MarketplaceCall) -> bool {
        let is = |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
        let begins = |prefix: &String| call.source_id.as_ref().is_some_and(|id| id.starts_with(prefix));
        self.marketplace.is_none_or(|market| market == call.market)
            && is(&self.source_id, &call.source_id)
            && is(&self.registration_number, &call.registration_number)
            && self.source_id_prefix.as_ref().is_none_or(begins)
            && (self.actions.is_empty() || self.actions.contains(&call.action))
    }

    fn problem(&self) -> Option<String> {
        let wrong = |name: &str, what: &str| Some(format!("{name}: {what}"));
        match self {
            Self { per_mille: 0 | 1001.., .. } => wrong("per_mille", "expected a number from 1 to 1000"),
            Self { times: Some(0), .. } => wrong("times", "expected at least 1; omit it for every call"),
            Self {
                retry_after: Some(_),
                fault: Fault::Timeout | Fault::Unauthorized | Fault::Refused | Fault::Lost,
                ..
            } => wrong("retry_after", "allowed for fault = \"429\" and \"500\" only"),
            Self { reason: Some(_), fault, .. } if *fault != Fault::Refused => {
                wrong("reason", "allowed for fault = \"refused\" only")
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// In the order in which they are tried.
    pub rules: Vec<Rule>,
}

impl Rules {
    /// The rules, if they make sense.
    ///
    /// # Errors
    /// The first rule that does not, by its number.
    pub fn check(self) -> Result<Self, String> {
        let mut problems = self.rules.iter().zip(1..).filter_map(|(rule, number)| Some((number, rule.problem()?)));
        match problems.next() {
            Some((number, problem)) => Err(format!("rule {number}: {problem}")),
            None => Ok(self),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarketplaceCall {
    pub(super) market: Market,
    pub(super) action: CallAction,
    pub(super) dealer_code: Option<String>,
    pub(super) source_id: Option<String>,
    pub(super) registration_number: Option<String>,
}

/// The rules, with how often each has matched.
#[derive(Debug)]
pub(super) struct Faults {
    sandbox: bool,
    seed: u64,
    state: Mutex<FaultState>,
}

#[derive(Debug)]
struct FaultState {
    rules: Rules,
    chance: fastrand::Rng,
    counts: FaultCounts<RuleMatch>,
}

/// Which rule met which ad.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RuleMatch {
    /// `None` for the source id itself.
    rule: Option<usize>,
    market: Market,
    dealer_code: Option<String>,
    /// Its source id; where that is not known, its plate.
    ad: Option<String>,
}

impl Faults {
    pub(super) fn new(rules: Rules, sandbox: bool, seed: u64) -> Self {
        Self { sandbox, seed, state: Mutex::new(FaultState::new(rules, seed)) }
    }

    pub(super) fn rules(&self) -> Rules {
        locked(&self.state).rules.clone()
    }

    /// Replaces the rules and clears all counts.
    pub(super) fn replace(&self, rules: Rules) {
        *locked(&self.state) = FaultState::new(rules, self.seed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.sandbox || !locked(&self.state).rules.rules.is_empty()
    }

    pub(super) fn find_rule(&self, call: &MarketplaceCall) -> Option<Rule> {
        let mut state = locked(&self.state);
        for index in 0..state.rules.rules.len() {
            let rule = &state.rules.rules[index];
            if !rule.matches(call) {
                continue;
            }
            let (per_mille, times) = (rule.per_mille, rule.times);
            if state.happens(per_mille) && state.counts(Some(index), times, call) {
                return Some(state.rules.rules[index].clone());
            }
        }
        let rule = by_source_id(call.source_id.as_deref().filter(|_| self.sandbox)?)?;
        (rule.matches(call) && state.counts(None, rule.times, call)).then_some(rule)
    }
}

impl FaultState {
    fn new(rules: Rules, seed: u64) -> Self {
        Self { rules, chance: fastrand::Rng::with_seed(seed), counts: FaultCounts::default() }
    }

    fn happens(&mut self, per_mille: u16) -> bool {
        per_mille >= all() || self.chance.u16(0..all()) < per_mille
    }

    /// Whether this call is within the limit of calls of its ad. Then it is counted.
    fn counts(&mut self, rule: Option<usize>, times: Option<u32>, call: &MarketplaceCall) -> bool {
        let Some(times) = times else { return true };
        let ad = call.source_id.clone().or_else(|| call.registration_number.clone());
        let met = RuleMatch { rule, market: call.market, dealer_code: call.dealer_code.clone(), ad };
        self.counts.is_among_first(times, met)
    }
}

/// What a source id asks for: `fault-<fault>`, then any of `-<n>x`, `-<action>` and `-<marketplace>`, then anything.
fn by_source_id(source_id: &str) -> Option<Rule> {
    let mut words = source_id.strip_prefix(PREFIX)?.split('-');
    let mut rule = Rule::any(named(words.next()?)?);
    for word in words {
        if let Some(times) = times(word) {
            rule.times = Some(times);
        } else if let Some(action) = named(word) {
            rule.actions.push(action);
        } else if let Some(market) = Market::from_name(word) {
            rule.marketplace = Some(market);
        } else {
            break;
        }
    }
    Some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(source_id: &str) -> MarketplaceCall {
        MarketplaceCall {
            market: Market::Primary,
            action: CallAction::Publish,
            dealer_code: Some("d1".to_owned()),
            source_id: Some(source_id.to_owned()),
            registration_number: Some("ABC123".to_owned()),
        }
    }

    fn rules(text: &str) -> Faults {
        Faults::new(toml::from_str::<Rules>(text).unwrap().check().unwrap(), false, 1)
    }

    fn met(faults: &Faults, call: &MarketplaceCall) -> Option<Fault> {
        faults.find_rule(call).map(|rule| rule.fault)
    }

    #[test]
    fn the_first_rule_that_meets_a_call_counts() {
        let faults = rules(
            r#"
            [[rules]]
            fault = "500"
            source_id = "a"
            times = 2
            [[rules]]
            fault = "refused"
            source_id_prefix = "a"
            actions = ["publish", "bump"]
            marketplace = "primary"
            [[rules]]
            fault = "timeout"
            registration_number = "DEF456"
            "#,
        );
        let fates: Vec<_> = (0..3).map(|_| met(&faults, &call("a"))).collect();
        assert_eq!(fates, [Some(Fault::Error), Some(Fault::Error), Some(Fault::Refused)]);
        assert_eq!(
            met(&faults, &MarketplaceCall { dealer_code: Some("d2".to_owned()), ..call("a") }),
            Some(Fault::Error)
        );
        assert_eq!(met(&faults, &call("b")), None);
        assert_eq!(met(&faults, &MarketplaceCall { action: CallAction::Boost, ..call("ab") }), None);
        assert_eq!(met(&faults, &MarketplaceCall { market: Market::Secondary, ..call("ab") }), None);
        let find = MarketplaceCall {
            action: CallAction::Find,
            source_id: None,
            registration_number: Some("DEF456".to_owned()),
            ..call("")
        };
        assert_eq!(met(&faults, &find), Some(Fault::Timeout));
        faults.replace(Rules::default());
        assert_eq!(met(&faults, &find), None);
        assert!(!faults.is_on());
    }

    #[test]
    fn chance_comes_from_the_seed() {
        let text = "rules = [{fault = \"500\", per_mille = 100}]";
        let fates = |faults: &Faults| (0..1000).map(|_| faults.find_rule(&call("a")).is_some()).collect::<Vec<_>>();
        let (one, same) = (fates(&rules(text)), fates(&rules(text)));
        assert_eq!(one, same);
        let hits = one.iter().filter(|hit| **hit).count();
        assert!((60..140).contains(&hits), "{hits}");
    }

    #[test]
    fn in_a_sandbox_the_source_id_is_a_rule() {
        let faults = Faults::new(Rules::default(), true, 1);
        let bump = |source_id| MarketplaceCall { action: CallAction::Bump, ..call(source_id) };
        for (source_id, fault) in [
            ("fault-timeout-1", Some(Fault::Timeout)),
            ("fault-429-1", Some(Fault::TooMany)),
            ("fault-500", Some(Fault::Error)),
            ("fault-401-1", Some(Fault::Unauthorized)),
            ("fault-api-401-1", None),
            ("fault-refused-publish-car", Some(Fault::Refused)),
            ("fault-lost-primary-unpublish-publish-car", Some(Fault::Lost)),
            ("fault-500-bump-car", None),
            ("fault-500-secondary-car", None),
            ("fault-418-car", None),
            ("fault-", None),
            ("default-500-1", None),
        ] {
            assert_eq!(met(&faults, &call(source_id)), fault, "{source_id}");
        }
        assert_eq!(met(&faults, &bump("fault-500-bump-car")), Some(Fault::Error));
        let fates: Vec<_> = (0..3).map(|_| met(&faults, &call("fault-429-2x-publish-1"))).collect();
        assert_eq!(fates, [Some(Fault::TooMany), Some(Fault::TooMany), None]);
        assert_eq!(met(&faults, &call("fault-429-2x-publish-2")), Some(Fault::TooMany), "each ad by itself");
        assert_eq!(met(&Faults::new(Rules::default(), false, 1), &call("fault-500-1")), None);
    }

    #[test]
    fn rules_that_make_no_sense_are_named() {
        for (rule, problem) in [
            ("fault = \"500\", per_mille = 0", "rule 1: per_mille: "),
            ("fault = \"500\", per_mille = 1001", "rule 1: per_mille: "),
            ("fault = \"500\", times = 0", "rule 1: times: "),
            ("fault = \"lost\", retry_after = 3", "rule 1: retry_after: "),
            ("fault = \"500\", reason = \"no\"", "rule 1: reason: "),
        ] {
            let error = toml::from_str::<Rules>(&format!("rules = [{{{rule}}}]")).unwrap().check().unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
        for rule in ["fault = \"418\"", "fault = \"500\", sourceid = \"a\"", "per_mille = 1"] {
            assert!(toml::from_str::<Rules>(&format!("rules = [{{{rule}}}]")).is_err(), "{rule}");
        }
    }
}
