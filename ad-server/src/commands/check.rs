//! `ad-server check`: reports all mistakes of the configuration at once, and tries all that a server depends on.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{Market, Timestamp},
    ports::{Clock, MarketplaceError},
};
use clap::Args;
use serde::Serialize;

use super::{CommandError, GlobalArgs, KeyArgs, ListArgs, refused};
use crate::output;
use crate::{
    config::{Layer, Settings},
    rules,
};
use ad_server_access::{auth::KeySource, dealers_file};
use ad_server_base::{system::SystemClock, toml_file};
use ad_server_outside::{
    marketplace,
    media::{Media, MediaBase, MediaLocation},
    webhooks::WebhookKeySource,
};
use ad_server_store::{Database, SchemaPolicy, SchemaState, UnreadEvents, webhooks::EndpointSecrets};

/// Clocks that differ by more disagree about leases (docs/operations.md, Clocks).
const CLOCKS: Duration = Duration::from_secs(2);

/// Webhooks whose secrets are tried.
const SECRETS: u32 = 1000;

/// Plate that marketplaces are searched for; no listing has it.
const NOBODY: &str = "ad-server-check";

/// Flags of `check`: those of `serve`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    settings: Layer,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Serialize)]
struct Checked {
    check: &'static str,
    ok: bool,
    detail: String,
}

/// The results of the checks so far.
#[derive(Default)]
struct Report(Vec<Checked>);

impl Report {
    fn add<T: Into<String>, E: std::fmt::Display>(&mut self, check: &'static str, result: Result<T, E>) {
        let ok = result.is_ok();
        let detail = result.map_or_else(|error| error.to_string(), Into::into);
        self.0.push(Checked { check, ok, detail });
    }
}

pub(super) async fn run(base: GlobalArgs, args: CheckArgs) -> Result<(), CommandError> {
    let file = base.config.clone();
    let mut report = Report::default();
    let mistakes = file.as_deref().map(toml_file::mistakes::<Layer>).unwrap_or_default();
    let broken = !mistakes.is_empty();
    for mistake in mistakes {
        report.add("settings", Err::<String, _>(mistake));
    }
    // The settings of the file are unknown then, so nothing is tried with them.
    let base = if broken { GlobalArgs { config: None, ..base } } else { base };
    let (settings, mistakes) = base.settings_with_mistakes(Layer { token_key: args.keys.token_key, ..args.settings });
    if mistakes.is_empty() && !broken {
        report.add("settings", Ok::<_, String>("valid"));
    }
    for mistake in mistakes {
        report.add("settings", Err::<String, _>(mistake));
    }
    if !broken {
        all(&settings, &mut report).await;
    }
    let failed = report.0.iter().filter(|it| !it.ok).count();
    if args.list.json {
        output::json(&report.0)?;
    } else {
        let row = |it: Checked| [it.check.to_owned(), if it.ok { "ok" } else { "FAILED" }.to_owned(), it.detail];
        output::table(["CHECK", "RESULT", "DETAIL"], report.0.into_iter().map(row))?;
    }
    if failed == 0 { Ok(()) } else { refused(format!("{} failed", output::counted(failed, "check"))) }
}

/// Everything that a server with these settings needs.
async fn all(settings: &Settings, report: &mut Report) {
    report.add("catalogue", rules::of(settings).map(|_| "valid"));
    if let Some(path) = &settings.dealers {
        report.add("dealers file", dealers_file::read(path).map(|dealers| output::counted(dealers.len(), "dealer")));
    }
    report.add(
        "token keys",
        match settings.key_source() {
            KeySource::File(path) if !path.exists() => Ok(format!("{} will be created", path.display())),
            source => {
                source.load().map(|keys| format!("{}: {}", source.name(), output::counted(keys.ids().len(), "key")))
            }
        },
    );
    report.add(
        "webhook keys",
        match settings.webhook_keys() {
            WebhookKeySource::File(path) if !path.exists() => Ok(format!("{} will be created", path.display())),
            source => source.load().map(|_| "valid".to_owned()),
        },
    );
    report.add("vehicle registry", settings.registry().map(|found| found.map_or("none", |_| "valid")));
    if let Some(tls) = settings.tls() {
        report.add("tls", tls.check().map(|()| "valid"));
    }
    let media = match &settings.media {
        MediaLocation::Folder(path) if !path.exists() => Ok(format!("{} will be created", path.display())),
        place => Media::open(place.clone(), MediaBase::Elsewhere(String::new())).await.map(|_| place.to_string()),
    };
    report.add("image store", media);
    database(settings, report).await;
}

/// Whether the keys of webhooks are those that encrypted their secrets.
async fn webhook_secrets(settings: &Settings, database: &Database, now: Timestamp) -> Result<String, String> {
    let newest = database.newest_secrets(SECRETS).await.map_err(|error| error.to_string())?;
    if newest.is_empty() {
        return Ok("no webhook is enabled".to_owned());
    }
    let source = settings.webhook_keys();
    // Reading a file that is not there would create it.
    let vault = match &source {
        WebhookKeySource::File(path) if !path.exists() => None,
        source => Some(source.load().map_err(|error| error.to_string())?),
    };
    let is_readable = |webhook: &&EndpointSecrets| {
        vault.as_ref().is_some_and(|vault| vault.open_all(webhook.id, &webhook.secrets, now).is_ok())
    };
    let readable = newest.iter().filter(is_readable).count();
    if readable == newest.len() {
        return Ok(format!("can be read for {}", output::counted(readable, "webhook")));
    }
    Err(format!(
        "cannot be read for {} of {}: nothing is sent to them; copy webhook_key from the processes that created them to {}",
        newest.len() - readable,
        output::counted(newest.len(), "webhook"),
        source.name()
    ))
}

/// The database, and what is called with it: the marketplaces.
async fn database(settings: &Settings, report: &mut Report) {
    let (url, name) = (&settings.database_url, Database::name_of(&settings.database_url));
    match Database::schema(url).await {
        Err(error) => return report.add("database", Err::<String, _>(error)),
        Ok(SchemaState::Usable { version }) => {
            report.add("database", Ok::<_, String>(format!("{name}, schema version {version}")));
        }
        Ok(state @ (SchemaState::Empty | SchemaState::Old { .. })) if settings.schema() == SchemaPolicy::Migrate => {
            let what = if state == SchemaState::Empty { "created" } else { "migrated" };
            return report.add("database", Ok::<_, String>(format!("{name} will be {what}")));
        }
        Ok(state) => return report.add("database", Err::<String, _>(state.problem(url).unwrap_or_default())),
    }
    let database = match Database::open_with(url, &settings.database_options(SchemaPolicy::Require)).await {
        Ok(database) => database,
        Err(error) => return report.add("database", Err::<String, _>(error)),
    };
    if Database::is_postgres(url) {
        let wanted = settings.database_connections.get();
        report.add(
            "connections",
            match Database::try_connections(url, wanted).await {
                Ok(()) => Ok(format!("{wanted} can be open at the same time")),
                Err((count, reason)) => Err(format!(
                    "{count} of {wanted} can be open at the same time: {reason}; raise max_connections of the server, or the pool \
                     size of its pooler, or lower database_connections"
                )),
            },
        );
    }
    let now = SystemClock.now();
    report.add(
        "clock",
        match database.time().await {
            Ok(time) if (time - now).max(now - time) > CLOCKS => {
                Err(format!("this machine says {now} and the database {time}; synchronize both clocks"))
            }
            Ok(_) => Ok("agrees with the database"),
            Err(error) => Err(error.to_string()),
        },
    );
    report.add(
        "events",
        match database.unread_events().await {
            Ok(Some(unread)) if now - unread.since > UnreadEvents::LONG => Err(format!(
                "events since {} cannot be read: {}",
                unread.since,
                unread.open.map_or_else(|| "try again".to_owned(), |open| open.advice())
            )),
            Ok(_) => Ok("can be read"),
            Err(error) => Err(error.to_string()),
        },
    );
    report.add("webhook secrets", webhook_secrets(settings, &database, now).await);
    if let (Some(standby), Some(lag)) = (&settings.read_database_url, database.standby_lag().await) {
        let name = Database::name_of(standby);
        report.add(
            "standby",
            match lag {
                Ok(0) => Ok(format!("{name} has replayed all that the database has committed")),
                Ok(bytes) => Ok(format!("{name} is {bytes} bytes of the write-ahead log behind")),
                Err(error) => Err(format!(
                    "cannot use {name} for lists: {error}; correct read_database_url, or remove it to read lists from the database"
                )),
            },
        );
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    match marketplace::connect(&settings.marketplaces(), &database, &clock) {
        Err(error) => report.add("marketplaces", Err::<String, _>(error)),
        Ok(markets) => {
            for (check, market, port) in [
                ("primary marketplace", Market::Primary, markets.primary),
                ("secondary marketplace", Market::Secondary, markets.secondary),
            ] {
                let found: Result<_, MarketplaceError> = port.find_by_plate(NOBODY, "CHECK1").await;
                report.add(check, found.map(|_| format!("{market} answers")));
            }
        }
    }
    database.close().await;
}
