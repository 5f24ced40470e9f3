//! The claims of a token ('Authentication', decision 29). Only the service can verify it.

use ad_core::model::Timestamp;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Claims {
    pub(crate) dealer_code: Option<String>,
    pub(crate) dealer_group: Option<String>,
    pub(crate) permissions: Option<Vec<String>>,
    pub(crate) iss: Option<String>,
    pub(crate) jti: Option<String>,
    iat: Option<f64>,
    nbf: Option<f64>,
    exp: Option<f64>,
}

/// Whether a token is valid, as far as its times go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Validity {
    Valid,
    Expired,
    NotYet,
}

impl Claims {
    pub(crate) fn of(token: &str) -> Option<Self> {
        let mut parts = token.split('.');
        let (_, claims, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    /// Whose ads: `dealer north-cars`, `group north`.
    pub(crate) fn scope(&self) -> String {
        match (&self.dealer_code, &self.dealer_group) {
            (Some(code), _) => format!("dealer {code}"),
            (None, Some(group)) => format!("all dealers of group {group}"),
            (None, None) => "nobody".to_owned(),
        }
    }

    pub(crate) fn issued(&self) -> Option<Timestamp> {
        self.iat.map(time)
    }

    pub(crate) fn expires(&self) -> Option<Timestamp> {
        self.exp.map(time)
    }

    pub(crate) fn validity(&self, now: Timestamp) -> Validity {
        if self.exp.is_some_and(|exp| now >= time(exp)) {
            Validity::Expired
        } else if self.nbf.is_some_and(|nbf| now < time(nbf)) {
            Validity::NotYet
        } else {
            Validity::Valid
        }
    }
}

fn time(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a time that is too far away is as far as there is")]
    Timestamp::from_millis((seconds * 1000.0) as i64)
}

/// The approximate distance of a time: `in 3 days`, `2 hours ago`.
pub(crate) fn approximate_distance(time: Timestamp, now: Timestamp) -> String {
    let is_past = time <= now;
    let seconds = if is_past { now - time } else { time - now }.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    if is_past { format!("{count} {unit}{plural} ago") } else { format!("in {count} {unit}{plural}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn a_token_tells_its_scope_and_its_end() {
        let claims = Claims::of(&token(r#"{"dealer_code": "north-cars", "exp": 1768471200}"#)).unwrap();
        assert_eq!(claims.scope(), "dealer north-cars");
        let end: Timestamp = "2026-01-15T10:00:00Z".parse().unwrap();
        assert_eq!(claims.expires(), Some(end));
        let before = Timestamp::from_millis(end.as_millis() - 1);
        assert_eq!((claims.validity(before), claims.validity(end)), (Validity::Valid, Validity::Expired));
        let later = Claims::of(&token(r#"{"dealer_group": "north", "nbf": 1768471200}"#)).unwrap();
        assert_eq!((later.validity(before), later.scope().as_str()), (Validity::NotYet, "all dealers of group north"));
    }

    #[test]
    fn what_is_no_token_has_no_claims() {
        for text in ["", "abc", "a.b.c", "e30.e30", "e30.e30.e30.e30", "e30.bm90IGpzb24.e30"] {
            assert_eq!(Claims::of(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let now = Timestamp::from_millis(1_768_471_200_000);
        let at = |seconds: i64| Timestamp::from_millis(now.as_millis() + seconds * 1000);
        for (seconds, told) in [
            (1, "in 1 second"),
            (-90, "1 minute ago"),
            (7200, "in 2 hours"),
            (864_000, "in 10 days"),
            (0, "0 seconds ago"),
        ] {
            assert_eq!(approximate_distance(at(seconds), now), told);
        }
    }
}
