//! Every way in which a token can be wrong, and what is right.

use ad_core::memory::ManualClock;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;
use crate::auth::{IssueRequest, issue};

const NOW: i64 = 1_768_471_200;
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const ED25519: &str = include_str!("../ed25519.test.json");
const JTI: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

struct At(i64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0)
    }
}

fn hs256_set() -> KeySet {
    let key = json!({"kty": "oct", "kid": "hs", "alg": "HS256", "k": BASE64.encode(SECRET)});
    KeySet::from_json(&json!({"keys": [key]}).to_string()).unwrap()
}

/// The HS256 key and an `EdDSA` key.
fn both() -> KeySet {
    let mut set: Value = serde_json::from_str(ED25519).unwrap();
    let key = json!({"kty": "oct", "kid": "hs", "alg": "HS256", "k": BASE64.encode(SECRET)});
    set["keys"].as_array_mut().unwrap().insert(0, key);
    KeySet::from_json(&set.to_string()).unwrap()
}

fn verifier(keys: &KeySet) -> Verifier {
    Verifier::new(keys, Arc::new(At(NOW * 1000)))
}

fn claims() -> Value {
    json!({"dealer_code": "nord-1", "iss": "test", "iat": NOW, "jti": JTI})
}

/// The claims, with these members set, or removed where they are `null`.
fn with(changes: &Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    crate::auth::signatures::install();
    let message = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
    let key = EncodingKey::from_secret(secret);
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
    format!("{message}.{signature}")
}

fn token(claims: &Value) -> String {
    signed(&json!({"alg": "HS256", "kid": "hs", "typ": "JWT"}), claims, SECRET)
}

#[test]
fn wrong_claims_are_refused() {
    let table = [
        (json!({"exp": NOW - 60}), TokenError::Expired),
        (json!({"exp": 0}), TokenError::Expired),
        (json!({"exp": NOW - 61, "nbf": NOW + 61}), TokenError::Expired),
        (json!({"nbf": NOW + 61}), TokenError::NotYetValid),
        (json!({"nbf": f64::MAX}), TokenError::NotYetValid),
        (json!({"aud": "another-service"}), TokenError::Audience),
        (json!({"dealer_code": null}), TokenError::Scope),
        (json!({"dealer_code": ""}), TokenError::Scope),
        (json!({"dealer_group": "nord"}), TokenError::Scope),
        (json!({"operator": true}), TokenError::Scope),
        (json!({"dealer_code": null, "operator": false}), TokenError::Scope),
        (json!({"dealer_code": 5}), TokenError::Malformed),
        (json!({"iss": null}), TokenError::MissingClaim("iss")),
        (json!({"iat": null}), TokenError::MissingClaim("iat")),
        (json!({"jti": null}), TokenError::MissingClaim("jti")),
        (json!({"jti": ""}), TokenError::Malformed),
        (json!({"jti": "å".repeat(256)}), TokenError::Malformed),
        (json!({"jti": 5}), TokenError::Malformed),
        (json!({"exp": "2026-01-15"}), TokenError::Malformed),
        (json!({"permissions": ["read", "admin"]}), TokenError::UnknownPermission),
        (json!({"permissions": "read"}), TokenError::Malformed),
    ];
    let verifier = verifier(&hs256_set());
    for (changes, expected) in table {
        assert_eq!(verifier.verify(&token(&with(&changes))), Err(expected), "{changes}");
    }
    for name in ["exp", "nbf", "permissions", "dealer_group", "operator"] {
        let mut claims = claims();
        claims[name] = Value::Null;
        assert_eq!(verifier.verify(&token(&claims)), Err(TokenError::Malformed), "{name}: null");
    }
}

#[test]
fn right_claims_tell_who_calls() {
    let dealer = Access::Dealer("nord-1".to_owned());
    let group = Access::Group("nord".to_owned());
    let read: Permissions = [Permission::Read].into_iter().collect();
    let table = [
        (json!({}), &dealer, Permissions::ALL),
        (json!({"dealer_code": null, "dealer_group": "nord"}), &group, Permissions::ALL),
        (json!({"exp": NOW + 1, "nbf": NOW - 1}), &dealer, Permissions::ALL),
        (json!({"exp": NOW - 59, "nbf": NOW + 60}), &dealer, Permissions::ALL),
        (json!({"exp": 1_768_471_200.5_f64}), &dealer, Permissions::ALL),
        (json!({"permissions": ["read"]}), &dealer, read),
        (json!({"permissions": ["read", "read"]}), &dealer, read),
        (json!({"permissions": []}), &dealer, Permissions::default()),
        (json!({"permissions": ["webhooks", "promote", "access", "write", "read"]}), &dealer, Permissions::ALL),
        (json!({"sub": "x", "roles": ["y"], "aud_": 1}), &dealer, Permissions::ALL),
        (json!({"dealer_code": null, "operator": true}), &Access::Operator, Permissions::OPERATOR),
        (
            json!({"dealer_code": null, "operator": true, "permissions": ["read", "write"]}),
            &Access::Operator,
            Permissions::OPERATOR,
        ),
    ];
    let verifier = verifier(&hs256_set());
    for (changes, scope, permissions) in table {
        let caller = verifier.verify(&token(&with(&changes))).unwrap();
        assert_eq!((&caller.scope, caller.permissions, &*caller.jti), (scope, permissions, JTI), "{changes}");
    }
}

#[test]
fn what_a_token_says_about_itself_is_shown_where_it_can_be() {
    let verifier = verifier(&hs256_set());
    for (changes, label, issued, expires) in [
        (
            json!({"label": "Stock system", "iat": NOW, "exp": NOW + 60}),
            Some("Stock system"),
            Some(NOW),
            Some(NOW + 60),
        ),
        (json!({"label": {"en": "x"}}), None, Some(NOW), None),
        (json!({"iat": -1e300, "exp": 1e300}), None, None, None),
    ] {
        let caller = verifier.verify(&token(&with(&changes))).unwrap();
        let seconds = |time: Option<Timestamp>| time.map(|time| time.as_millis() / 1000);
        let shown = (caller.label.as_deref(), seconds(caller.issued), seconds(caller.expires));
        assert_eq!(shown, (label, issued, expires), "{changes}");
    }
}

#[test]
fn a_token_id_is_any_text() {
    let verifier = verifier(&hs256_set());
    for jti in ["7", "vendor/2026 #1", "Å", "01890A5D-AC96-774B-BCCE-B302099A8057", &"å".repeat(255)] {
        let caller = verifier.verify(&token(&with(&json!({"jti": jti})))).unwrap();
        assert_eq!(caller.jti, jti, "as it was sent");
    }
}

#[test]
fn garbage_is_malformed() {
    let good = token(&claims());
    let (head, signature) = good.rsplit_once('.').unwrap();
    let header = BASE64.encode(r#"{"alg":"HS256","kid":"hs"}"#);
    let table = [
        String::new(),
        "garbage".to_owned(),
        "a.b.c".to_owned(),
        "å.ä.ö".to_owned(),
        "..".to_owned(),
        head.to_owned(),
        format!("{good}.x"),
        format!("{head}.{signature}="),
        format!(" {good}"),
        signed(&json!({"alg": "HS256", "kid": "hs", "crit": ["exp"]}), &claims(), SECRET),
        signed(&json!({"alg": "HS256", "kid": "hs"}), &json!([1]), SECRET),
        signed(&json!({"alg": "HS999", "kid": "hs"}), &claims(), SECRET),
        format!("{header}.{}.{signature}", BASE64.encode("not json")).replace(signature, "!"),
    ];
    let verifier = verifier(&hs256_set());
    for token in table {
        assert_eq!(verifier.verify(&token), Err(TokenError::Malformed), "{token}");
    }
}

#[test]
fn a_changed_token_has_no_valid_signature() {
    let verifier = verifier(&hs256_set());
    let good = token(&claims());
    let [header, _, signature] = good.split('.').collect::<Vec<_>>()[..] else { unreachable!() };
    let other = BASE64.encode(with(&json!({"dealer_code": "syd-1"})).to_string());
    for token in [
        format!("{header}.{other}.{signature}"),
        signed(&json!({"alg": "HS256", "kid": "hs"}), &claims(), b"another key of thirty-two bytes."),
        format!("{}.", good.rsplit_once('.').unwrap().0),
    ] {
        assert_eq!(verifier.verify(&token), Err(TokenError::Signature), "{token}");
    }
}

#[test]
fn the_algorithm_is_the_keys() {
    let verifier = verifier(&both());
    let public = BASE64.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
    let unsigned = |alg: &str| {
        let header = BASE64.encode(json!({"alg": alg, "kid": "hs"}).to_string());
        format!("{header}.{}.", BASE64.encode(claims().to_string()))
    };
    let table = [
        (unsigned("none"), TokenError::Malformed),
        (unsigned("None"), TokenError::Malformed),
        (unsigned("HS256"), TokenError::Signature),
        // The public key used as an HMAC secret, under either key id.
        (signed(&json!({"alg": "HS256", "kid": "ed"}), &claims(), &public), TokenError::Algorithm),
        (signed(&json!({"alg": "HS256", "kid": "hs"}), &claims(), &public), TokenError::Signature),
        (signed(&json!({"alg": "EdDSA", "kid": "ed"}), &claims(), &public), TokenError::Signature),
        (signed(&json!({"alg": "EdDSA", "kid": "hs"}), &claims(), SECRET), TokenError::Algorithm),
        (signed(&json!({"alg": "HS512", "kid": "hs"}), &claims(), SECRET), TokenError::Algorithm),
        (signed(&json!({"alg": "RS256", "kid": "hs"}), &claims(), SECRET), TokenError::Algorithm),
    ];
    for (token, expected) in table {
        assert_eq!(verifier.verify(&token), Err(expected), "{token}");
    }
}

#[test]
fn a_key_counts_until_it_expires() {
    let secret = BASE64.encode(SECRET);
    let set = |exp: i64| {
        let key = json!({"kty": "oct", "kid": "hs", "alg": "HS256", "k": secret, "exp": exp});
        KeySet::from_json(&json!({"keys": [key]}).to_string()).unwrap()
    };
    let ending = verifier(&set(NOW + 1));
    assert!(ending.verify(&token(&claims())).is_ok());
    assert_eq!(ending.key_expiries(), [("hs".to_owned(), Timestamp::from_millis((NOW + 1) * 1000))]);
    assert_eq!(verifier(&set(NOW)).verify(&token(&claims())), Err(TokenError::ExpiredKey));
    let request = IssueRequest {
        scope: Access::Dealer("d".to_owned()),
        permissions: None,
        expires_in: None,
        label: None,
        now: Timestamp::from_millis(NOW * 1000),
        jti: uuid::Uuid::nil(),
    };
    assert!(issue(&set(NOW + 1), &request).is_ok());
    assert!(issue(&set(NOW), &request).is_err(), "it signs nothing any more");
}

#[test]
fn a_token_that_was_valid_before_depends_on_its_times_and_on_the_keys() {
    let key = |exp: i64| {
        let key = json!({"kty": "oct", "kid": "hs", "alg": "HS256", "k": BASE64.encode(SECRET), "exp": exp});
        KeySet::from_json(&json!({"keys": [key]}).to_string()).unwrap()
    };
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW * 1000)));
    let verifier = Verifier::new(&key(NOW + 1000), Arc::clone(&clock) as Arc<dyn Clock>);
    let token = token(&with(&json!({"nbf": NOW, "exp": NOW + 100})));
    let at = |seconds: i64| {
        clock.set(Timestamp::from_millis((NOW + seconds) * 1000));
        verifier.verify(&token).map(|caller| caller.jti)
    };
    assert_eq!(at(0), Ok(JTI.to_owned()));
    assert_eq!(at(1), Ok(JTI.to_owned()));
    assert_eq!(at(160), Err(TokenError::Expired));
    assert_eq!(at(-61), Err(TokenError::NotYetValid));
    assert_eq!(at(1000), Err(TokenError::ExpiredKey));
    assert_eq!(at(2), Ok(JTI.to_owned()));
    verifier.replace_keys(&KeySet::from_json(ED25519).unwrap());
    assert_eq!(at(2), Err(TokenError::UnknownKey));
}

#[test]
fn a_key_id_is_needed_when_there_are_several_keys() {
    let nameless = signed(&json!({"alg": "HS256"}), &claims(), SECRET);
    assert!(verifier(&hs256_set()).verify(&nameless).is_ok());
    assert_eq!(verifier(&both()).verify(&nameless), Err(TokenError::UnknownKey));
    let foreign = signed(&json!({"alg": "HS256", "kid": "old"}), &claims(), SECRET);
    assert_eq!(verifier(&hs256_set()).verify(&foreign), Err(TokenError::UnknownKey));
}

#[test]
fn what_is_issued_is_valid_until_it_ends() {
    for keys in [hs256_set(), KeySet::from_json(ED25519).unwrap(), both()] {
        let scope = Access::Group("nord".to_owned());
        let permissions = [Permission::Write, Permission::Read].into_iter().collect();
        let (token, record) = issue(
            &keys,
            &IssueRequest {
                scope: scope.clone(),
                permissions: Some(permissions),
                expires_in: Some(Duration::from_hours(1)),
                now: Timestamp::from_millis(NOW * 1000 + 999),
                label: Some("Stock system".to_owned()),
                jti: JTI.parse().unwrap(),
            },
        )
        .unwrap();
        assert_eq!((record.scope_type.as_deref(), record.scope.as_deref()), (Some("dealer_group"), Some("nord")));
        assert_eq!(record.issued, Some(Timestamp::from_millis(NOW * 1000)));
        assert_eq!(record.permissions, Some(vec!["read".to_owned(), "write".to_owned()]));
        assert_eq!(record.expires, Some(Timestamp::from_millis((NOW + 3600) * 1000)));
        let (label, issued, expires) = (Some("Stock system".to_owned()), record.issued, record.expires);
        let caller = Caller { scope, permissions, jti: record.jti, label, issued, expires };
        let at = |millis| Verifier::new(&keys, Arc::new(At(millis))).verify(&token);
        assert_eq!(at(NOW * 1000), Ok(caller.clone()));
        assert_eq!(at((NOW + 3659) * 1000 + 999), Ok(caller));
        assert_eq!(at((NOW + 3660) * 1000), Err(TokenError::Expired));
    }
}

#[test]
fn another_issuer_makes_no_tokens_of_operators() {
    let request = IssueRequest {
        label: None,
        scope: Access::Operator,
        permissions: None,
        expires_in: None,
        now: Timestamp::from_millis(NOW * 1000),
        jti: JTI.parse().unwrap(),
    };
    let own = KeySet::from_json(ED25519).unwrap();
    let (token, record) = issue(&own, &request).unwrap();
    assert_eq!(record.scope_type.as_deref(), Some("operator"));
    assert_eq!(verifier(&own).verify(&token).unwrap().scope, Access::Operator);
    // Of another issuer's key, only the public half is known here.
    let mut set: Value = serde_json::from_str(ED25519).unwrap();
    set["keys"][0].as_object_mut().unwrap().remove("d");
    let foreign = KeySet::from_json(&set.to_string()).unwrap();
    assert_eq!(verifier(&foreign).verify(&token), Err(TokenError::Operator));
}

#[test]
fn public_keys_do_not_sign() {
    let mut set: Value = serde_json::from_str(ED25519).unwrap();
    set["keys"][0].as_object_mut().unwrap().remove("d");
    let keys = KeySet::from_json(&set.to_string()).unwrap();
    let request = IssueRequest {
        label: None,
        scope: Access::Dealer("nord-1".to_owned()),
        permissions: None,
        expires_in: None,
        now: Timestamp::from_millis(0),
        jti: JTI.parse().unwrap(),
    };
    assert!(issue(&keys, &request).unwrap_err().to_string().contains("can sign"));
}

#[test]
fn a_foreign_signer_with_the_private_key_is_understood() {
    let pkcs8 = [
        &b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"[..],
        &BASE64.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap(),
    ]
    .concat();
    let header = Header { kid: Some("ed".to_owned()), ..Header::new(Algorithm::EdDSA) };
    let token = encode(&header, &claims(), &EncodingKey::from_ed_der(&pkcs8)).unwrap();
    assert!(verifier(&both()).verify(&token).is_ok());
}
