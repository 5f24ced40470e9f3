//! What is refused, and what the file is like.

use std::{
    fs,
    sync::{Arc, Barrier},
};

use super::*;

const SECRET: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";
const ED25519: &str = include_str!("../ed25519.test.json");

fn problem(text: &str) -> String {
    KeySet::from_json(text).unwrap_err().to_string()
}

fn one(key: &str) -> String {
    format!("{{\"keys\": [{key}]}}")
}

#[test]
fn unusable_sets_are_refused_and_never_quoted() {
    let table = [
        ("", "line 1, column 0"),
        ("{\"keys\": \"MDEyMzQ1Njc4OWFi\"}", "expected a JWK Set"),
        ("{\"keys\": []}", "the set contains no key"),
        (&one(r#"{"kty": "oct", "kid": "a", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFi"}"#), "key 1 is too short"),
        (&one(r#"{"kty": "oct", "kid": "a", "alg": "HS256", "k": "MDEyMzQ1 Njc4OWFi"}"#), "has no `k` in base64url"),
        (&one(&format!(r#"{{"kty": "oct", "kid": "a", "alg": "HS512", "k": "{SECRET}"}}"#)), "key 1 is neither"),
        (&one(&format!(r#"{{"kty": "oct", "kid": "a", "alg": "none", "k": "{SECRET}"}}"#)), "key 1 is neither"),
        (&one(&format!(r#"{{"kty": "oct", "alg": "HS256", "k": "{SECRET}"}}"#)), "key 1 has no `kid`"),
        (&one(r#"{"kty": "RSA", "kid": "a", "alg": "RS256", "n": "MDEy", "e": "AQAB"}"#), "key 1 is neither"),
        (&one(r#"{"kty": "OKP", "crv": "X25519", "kid": "a", "alg": "EdDSA", "x": "MDEy"}"#), "a `crv` other than"),
        (&one(r#"{"kty": "OKP", "crv": "Ed25519", "kid": "a", "alg": "EdDSA", "x": "MDEy"}"#), "not 32 bytes"),
        (
            &one(&format!(r#"{{"kty": "oct", "kid": "a", "alg": "HS256", "k": "{SECRET}", "exp": -1}}"#)),
            "key 1 has an `exp` that is no time",
        ),
        (
            &one(&vec![format!(r#"{{"kty": "oct", "kid": "a", "alg": "HS256", "k": "{SECRET}"}}"#); 2].join(",")),
            "key 2 has the same `kid` as an earlier key",
        ),
    ];
    for (text, expected) in table {
        let message = problem(text);
        assert!(message.contains(expected), "{text} gave {message}");
        assert!(!message.contains("MDEy") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn a_private_ed25519_key_must_belong_to_its_public_one() {
    let set = KeySet::from_json(ED25519).unwrap();
    assert!(set.keys()[0].encoding.is_some());
    let foreign = ED25519.replace("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", SECRET);
    assert!(problem(&foreign).contains("does not belong"));
}

#[test]
fn nothing_shows_a_key() {
    let set = KeySet::from_json(ED25519).unwrap();
    let shown = format!("{set:?} {:?}", KeySource::Text(ED25519.to_owned().into()));
    assert!(!shown.contains("nWGxne"), "{shown}");
    let bytes = format!("{:?}", BASE64.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap());
    assert!(!shown.contains(&bytes[1..20]), "{shown}");
}

#[test]
fn the_file_is_made_once_and_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/token-keys.json");
    let made = KeySet::load_or_create(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(KeySet::load_or_create(&path).unwrap().keys()[0].kid, made.keys()[0].kid);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn all_that_start_at_once_have_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token-keys.json");
    let start = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (path, start) = (path.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                KeySet::load_or_create(&path).unwrap().keys()[0].kid.clone()
            })
        })
        .collect();
    let mut ids: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token-keys.json");
    fs::write(&path, "{}").unwrap();
    let unusable = KeySet::load_or_create(&path).unwrap_err().to_string();
    let unreadable = KeySet::load_or_create(folder.path()).unwrap_err().to_string();
    let impossible = KeySet::load_or_create(&path.join("below-a-file")).unwrap_err().to_string();
    for message in [unusable, unreadable, impossible] {
        assert!(message.contains(folder.path().to_str().unwrap()), "{message}");
    }
}
