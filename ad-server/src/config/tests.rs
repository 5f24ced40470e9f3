//! Precedence, the file, and the defaults.

use std::{fs, num::NonZero, time::Duration};

use ad_core::pipeline::PipelineSettings;

use super::*;
use ad_server_base::telemetry::LogFormat;
use ad_server_outside::{media::MediaLocation, webhooks::schedule::Schedule};

fn file(text: &str) -> tempfile::TempPath {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(&file, text).unwrap();
    file.into_temp_path()
}

#[test]
fn the_defaults_are_those_of_the_documents() {
    let settings = Settings::default();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.database_url, "sqlite://data/ads.db");
    assert_eq!(settings.media, MediaLocation::Folder("./data/media".into()));
    assert_eq!(settings.key_source(), KeySource::File("./data/token-keys.json".into()));
    assert_eq!(settings.video_hosts, ad_core::categories::RuleSettings::default().video_hosts);
    assert_eq!(settings.image_retry(), PipelineSettings::default().images);
    assert_eq!(settings.marketplace_retry(), PipelineSettings::default().marketplaces);
    assert!(!settings.allow_private_images);
    assert_eq!(settings.retention_times().photos(), Some(Duration::from_hours(2 * 365 * 24)));
    assert_eq!(settings.dealer_quotas().answer_bytes, Some(256 << 20));
    assert_eq!((settings.max_connections.get(), settings.connections_per_address()), (900, 225));
    assert!(settings.proxies().is_empty());
    assert_eq!(settings.request_timeout.duration(), ad_server_http::api::Limits::default().body_within);
    assert_eq!(settings.tls(), None);
    assert_eq!((settings.public_url, settings.dealers, settings.catalogue), (None, None, None));
    assert_eq!((settings.metrics_listen, settings.otlp_endpoint, settings.rate_limit), (None, None, None));
    assert_eq!(settings.log_format, LogFormat::Text);
    assert_eq!(settings.media_url, None);
}

#[test]
fn the_pauses_between_deliveries_to_webhooks_are_those_of_the_specification() {
    let schedule = Schedule::new(&Settings::default().webhook_retries);
    let pauses: Vec<_> = (1..).map_while(|attempts| schedule.pause(attempts, None, 0.5)).collect();
    let (minute, hour) = (60, 3600);
    let expected = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    assert_eq!(pauses, expected.map(Duration::from_secs));
    assert_eq!(schedule.pause(0, None, 0.5), None);
}

#[test]
fn a_sandbox_has_defaults_of_its_own_that_what_is_given_replaces() {
    let path = file("sandbox = true\nimage_within = \"2m\"");
    let given = Layer { marketplace_tries: NonZero::new(7), ..Layer::default() };
    let settings = Settings::load(given, Some(&path), None).unwrap();
    assert_eq!((settings.image_tries.get(), settings.image_within.duration()), (2, Duration::from_mins(2)));
    let (marketplaces, breaker) = (settings.marketplace_retry(), settings.marketplaces().breaker);
    assert_eq!((marketplaces.tries, marketplaces.within, breaker.failures), (7, Duration::from_secs(10), u32::MAX));
    for (settings, http_images) in [
        (Settings::default(), false),
        (Settings::of_sandbox(), true),
        (Settings { public_url: "http://sandbox.example".parse().ok(), ..Settings::of_sandbox() }, true),
        (Settings { public_url: "https://sandbox.example".parse().ok(), ..Settings::of_sandbox() }, false),
        (Settings { tls_cert: Some("cert.pem".into()), ..Settings::of_sandbox() }, false),
        (Settings { allow_private_images: true, ..Settings::default() }, true),
    ] {
        assert_eq!(settings.http_images(), http_images, "{settings:?}");
    }
}

#[test]
fn the_default_file_shows_every_setting() {
    let every = default_file();
    let every = every.lines().map(|line| match line.strip_prefix("# ") {
        Some(example) if example.contains(" = ") => example,
        _ => line,
    });
    let layer: Layer = toml_file::parse(&every.collect::<Vec<_>>().join("\n")).unwrap();
    let shown = format!("{layer:?}");
    assert!(!shown.contains("None"), "{shown}");
}

#[test]
fn what_is_given_counts_more_than_the_file_and_that_more_than_the_defaults() {
    let path = file("workers = 3\nmedia = \"m\"\nallow_private_images = true\nimage_within = \"2m\"");
    let given = Layer { workers: Some(0), allow_private_images: Some(false), ..Layer::default() };
    let settings = Settings::load(given, Some(&path), None).unwrap();
    assert_eq!((settings.workers, settings.allow_private_images), (0, false));
    assert_eq!(settings.media, MediaLocation::Folder("m".into()));
    assert_eq!(settings.image_retry().within, Duration::from_mins(2));
    assert_eq!(settings.listen, Settings::default().listen);
}

#[test]
fn keys_in_the_environment_count_more_than_the_file_and_exclude_a_given_one() {
    let path = file("token_key = \"keys.json\"");
    let keys = || Some(Secret::from("{}".to_owned()));
    assert_eq!(
        Settings::load(Layer::default(), Some(&path), keys()).unwrap().key_source(),
        KeySource::Text(keys().unwrap())
    );
    assert_eq!(
        Settings::load(Layer::default(), Some(&path), None).unwrap().key_source(),
        KeySource::File("keys.json".into())
    );
    let given = Layer { token_key: Some("flag.json".into()), ..Layer::default() };
    assert!(matches!(Settings::load(given, None, keys()), Err(ConfigError::TwoKeySources)));
}

#[test]
fn a_standby_needs_its_primary() {
    let load = |database: &str, standby: &str| {
        let set = |url: &str| Some(url.to_owned());
        let given = Layer { database_url: set(database), read_database_url: set(standby), ..Layer::default() };
        Settings::load(given, None, None).map(|settings| settings.database_options(SchemaPolicy::Require).replica)
    };
    let (primary, standby) = ("postgres://ads@db-1/ads", "postgres://ads@db-2/ads");
    assert_eq!(load(primary, standby).unwrap().as_deref(), Some(standby));
    for (database, standby) in [("sqlite://data/ads.db", standby), (primary, "sqlite://data/ads.db")] {
        assert!(matches!(load(database, standby), Err(ConfigError::NoPrimary)), "{database} {standby}");
    }
}

#[test]
fn a_certificate_needs_its_key() {
    let only_one = file("tls_key = \"key.pem\"");
    assert!(matches!(Settings::load(Layer::default(), Some(&only_one), None), Err(ConfigError::HalfTls)));
    let given = Layer { tls_cert: Some("cert.pem".into()), ..Layer::default() };
    let settings = Settings::load(given, Some(&only_one), None).unwrap();
    assert_eq!(settings.tls(), Some(TlsFiles { cert: "cert.pem".into(), key: "key.pem".into() }));
}

#[test]
fn a_wrong_file_is_told_by_path_line_and_key() {
    let table = [
        ("workers = 1\nlisen = \"127.0.0.1:1\"", ":2: ", "unknown field `lisen`"),
        ("listen = \"here\"", ":1: listen: ", "socket address"),
        ("\nworkers = -1", ":2: workers: ", "-1"),
        ("image_tries = 0", ":1: image_tries: ", "nonzero"),
        ("image_within = \"soon\"", ":1: image_within: ", "90d, 12h"),
        ("public_url = \"example.com\"", ":1: public_url: ", "http(s) address"),
        ("log_format = \"xml\"", ":1: log_format: ", "expected `text` or `json`"),
        ("rate_limit = \"many\"", ":1: rate_limit: ", "600/m"),
        ("otlp_endpoint = \"collector\"", ":1: otlp_endpoint: ", "http://127.0.0.1:4318"),
        ("max_connections = 0", ":1: max_connections: ", "nonzero"),
        ("trusted_proxies = [\"proxy\"]", ":1: trusted_proxies", "10.0.0.0/8"),
        ("body_memory = \"64\"", ":1: body_memory: ", "64MiB"),
        ("media = \"gs://ads/media\"", ":1: media: ", "s3://bucket/prefix"),
        ("media_url = \"cdn.example\"", ":1: media_url: ", "http(s) address"),
        ("workers = ", ":1: ", ""),
    ];
    for (text, place, problem) in table {
        let path = file(text);
        let message = Settings::load(Layer::default(), Some(&path), None).unwrap_err().to_string();
        assert!(message.contains(&format!("{}{place}", path.display())), "{message}");
        assert!(message.contains(problem) && !message.contains('\n'), "{message}");
    }
    let missing = Settings::load(Layer::default(), Some(Path::new("no/such.toml")), None).unwrap_err().to_string();
    assert!(missing.contains("cannot read no/such.toml"), "{missing}");
}
