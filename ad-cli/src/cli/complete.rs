//! Completion of arguments in a shell: source ids, dealer codes, webhooks, profiles, fields, values and brands.
//!
//! The script of `ad-cli completions` runs this program for each completion, with the words of the command line. A completion must neither
//! block the shell nor print errors: without an answer of the service in time, what is built into this program is completed.

use std::{
    env,
    ffi::OsStr,
    path::{MAIN_SEPARATOR, Path},
    process,
    time::Duration,
};

use ad_core::{
    catalogue::{Catalogue, Entry},
    categories::{self, Category},
    model::{AdState, Page, PromotionRules},
};
use ad_parameters::{AD_PARAMETERS, FromParameters, Takes};
use clap::Arg;
use clap_complete::{
    ArgValueCompleter, CompleteEnv, PathCompleter,
    engine::{CompletionCandidate, ValueCompleter},
    env::Shells,
};
use serde::Deserialize;

use super::{commands::values::allowed, definition};
use crate::{
    AdQuery, Client, Error,
    bulk::check::known,
    terminal::{Context, Global, profiles::Profiles},
};

/// The variable by which a shell asks for completions.
const VARIABLE: &str = "COMPLETE";

const PROGRAM: &str = "ad-cli";

/// Time for the answer of the service.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most ads of which source ids are completed.
const MOST_ADS: &str = "100";

const CATEGORY_FIELDS: &str = "category_fields.";

/// Completes the command line if a shell asks for it, and ends the process then.
pub(super) fn complete_if_asked() {
    let completed = CompleteEnv::with_factory(|| completing(definition()))
        .var(VARIABLE)
        .try_complete(env::args_os(), env::current_dir().ok().as_deref());
    if !matches!(completed, Ok(false)) {
        process::exit(0);
    }
}

/// The script by which a shell asks this program for completions; `None` for an unknown shell.
pub(super) fn script(shell: &str) -> Option<Vec<u8>> {
    let (shells, mut script) = (Shells::builtins(), Vec::new());
    shells.completer(shell)?.write_registration(VARIABLE, PROGRAM, PROGRAM, &program(), &mut script).ok()?;
    Some(script)
}

/// The program as it was called: by its name, or by its absolute path.
fn program() -> String {
    let called = env::args().next().unwrap_or_else(|| PROGRAM.to_owned());
    if called.contains(MAIN_SEPARATOR) {
        std::path::absolute(Path::new(&called)).map_or(called, |path| path.display().to_string())
    } else {
        called
    }
}

/// The same commands with completed arguments.
fn completing(command: clap::Command) -> clap::Command {
    command.mut_args(completed).mut_subcommands(completing)
}

/// Values, each with its description.
type Candidates = Vec<(String, String)>;

/// Adds completion to an argument whose values are known.
fn completed(argument: Arg) -> Arg {
    let values = argument.get_value_names().and_then(<[_]>::first).map(clap::builder::Str::as_str).unwrap_or_default();
    let has_files = values == "FILE|SOURCE_ID";
    if argument.get_id() == "source_id" || has_files || ["SOURCE_ID", "SOURCE_ID|PAGE"].contains(&values) {
        return argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
            let mut found = if has_files { PathCompleter::file().complete(typed) } else { Vec::new() };
            let ads = typed.to_str().and_then(ads).unwrap_or_default();
            found.extend(ads.into_iter().filter(is_safe).map(candidate));
            found
        }));
    }
    if let Some(names) = names_of(argument.get_id().as_str()) {
        return argument.add(ArgValueCompleter::new(move |typed: &OsStr| next_names(typed, names)));
    }
    let candidates: fn(&str) -> Option<Candidates> = match (argument.get_id().as_str(), values) {
        ("profile", _) => profile_names,
        ("dealer_code", _) => dealer_codes,
        ("set", _) => settings,
        ("webhook_id", _) => webhook_ids,
        ("attribute", _) => fields,
        ("search", "VALUE") => values_of_field,
        ("brand", _) => brands,
        ("command", _) => commands,
        (_, "SCHEDULE_ID") => schedules,
        _ => return argument,
    };
    argument.add(ArgValueCompleter::new(move |typed: &OsStr| beginning_with(typed, candidates).unwrap_or_default()))
}

/// The names of which a parameter of lists takes some.
fn names_of(parameter: &str) -> Option<&'static [&'static str]> {
    AD_PARAMETERS.iter().find(|known| known.name == parameter && parameter != "fields").and_then(|it| match it.takes {
        Takes::SomeOf(names) => Some(names),
        _ => None,
    })
}

/// The names that may follow those before the last comma.
fn next_names(typed: &OsStr, names: &[&str]) -> Vec<CompletionCandidate> {
    let typed = typed.to_str().unwrap_or_default();
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let is_new = |name: &&&str| !before.split(',').any(|known| known == **name);
    let whole = names.iter().filter(is_new).map(|name| format!("{before}{name}"));
    whole.filter(|name| name.starts_with(typed)).map(CompletionCandidate::new).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "other candidates come from the service, which may not answer")]
fn commands(_: &str) -> Option<Candidates> {
    let of = |command: &clap::Command| {
        (command.get_name().to_owned(), command.get_about().map(ToString::to_string).unwrap_or_default())
    };
    Some(definition().get_subcommands().map(of).collect())
}

fn profile_names(_: &str) -> Option<Candidates> {
    let profiles = Profiles::of_user().ok()?;
    Some(profiles.all().map(|(name, profile)| (name.to_owned(), profile.url.clone())).collect())
}

/// Source ids that begin with what has been typed, or else those of ads that are found by it as a word: a plate, or a word of the title.
fn ads(typed: &str) -> Option<Candidates> {
    let begins = |(source_id, _): &(String, String)| source_id.starts_with(typed);
    if typed.is_empty() {
        return source_ids(None);
    }
    let beginning: Vec<_> = source_ids(Some(("source_id__icontains", typed)))?.into_iter().filter(begins).collect();
    if !beginning.is_empty() {
        return Some(beginning);
    }
    let mut found = source_ids(Some(("q", typed)))?;
    if found.len() > 1 {
        // Shells replace what has been typed by what all candidates begin with: the word stays until one is chosen.
        found.push((typed.to_owned(), String::new()));
    }
    Some(found)
}

/// Source ids of ads that are not deleted and pass a filter, from the service.
fn source_ids(filter: Option<(&'static str, &str)>) -> Option<Candidates> {
    #[derive(Deserialize)]
    struct NamedAd {
        source_id: String,
        title: Option<String>,
    }
    let mut pairs = vec![
        ("fields", "source_id,title"),
        ("limit", MOST_ADS),
        ("ordering", "source_id"),
        ("state", AdState::Created.name()),
    ];
    pairs.extend(filter);
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let query = AdQuery::parse(AD_PARAMETERS, &pairs).ok()?;
    let ads = answer(async |client| Ok(client.v4().list_as::<NamedAd>(&query).await?.body.results))?;
    Some(ads.into_iter().map(|ad| (ad.source_id, ad.title.unwrap_or_default())).collect())
}

fn dealer_codes(_: &str) -> Option<Candidates> {
    let dealers = answer(async |client| Ok(client.me().await?.body.dealers))?;
    Some(dealers.into_iter().map(|dealer| (dealer.code, dealer.name)).collect())
}

fn webhook_ids(_: &str) -> Option<Candidates> {
    let webhooks = answer(async |client| Ok(client.webhooks().list(Page::default()).await?.body.results))?;
    Some(webhooks.into_iter().map(|webhook| (webhook.id, webhook.url)).collect())
}

fn schedules(_: &str) -> Option<Candidates> {
    let schedules = answer(async |client| Ok(client.promotions().list(Page::default()).await?.body.results))?;
    let about = |rules: &PromotionRules| format!("{} at {}", rules.kind.name(), rules.at);
    Some(schedules.into_iter().map(|schedule| (schedule.id.to_string(), about(&schedule.rules))).collect())
}

/// `FIELD=` of the ad on the command line, and behind it the allowed values. Without an answer, the fields that every ad has.
fn settings(typed: &str) -> Option<Candidates> {
    let of_ad = positional("update", 0).and_then(|source_id| {
        let ad = answer(async |client| Ok(client.v4().read(&source_id).await?.body))?;
        categories::by_id(ad.category_id)
    });
    if let Some((field, _)) = typed.split_once('=') {
        let values = values(of_ad?, of_ad?.vehicle_type?, field).into_iter();
        return Some(values.map(|value| (format!("{field}={}", value.id), value.name)).collect());
    }
    let category = of_ad.or_else(|| categories::by_vehicle_type("car"))?;
    let places: Vec<_> = known(category).into_iter().map(|row| row.place).collect();
    let is_wanted = |place: &&String| of_ad.is_some() || !place.starts_with(CATEGORY_FIELDS);
    let name = |place: &String| {
        // The short name of a field, where `--set` takes it.
        let short = place.strip_prefix(CATEGORY_FIELDS).filter(|short| {
            let ending = format!(".{short}");
            !short.contains("[]") && places.iter().filter(|place| place.ends_with(&ending)).count() == 1
        });
        short.map_or_else(|| place.replace("[]", ".0"), str::to_owned)
    };
    Some(places.iter().filter(is_wanted).map(|place| (format!("{}=", name(place)), String::new())).collect())
}

/// The fields with allowed values of the vehicle type on the command line.
fn fields(_: &str) -> Option<Candidates> {
    Some(named(categories::by_vehicle_type(&positional("values", 0)?)?.attributes()))
}

/// The allowed values of the field on the command line.
fn values_of_field(_: &str) -> Option<Candidates> {
    let (name, field) = (positional("values", 0)?, positional("values", 1)?);
    Some(named(values(categories::by_vehicle_type(&name)?, &name, &field)))
}

fn brands(_: &str) -> Option<Candidates> {
    Some(named(values(categories::by_vehicle_type("car")?, "car", "brand")))
}

/// The allowed values of a field: those of the service, or else those built into this program.
fn values(category: &Category, vehicle_type: &str, field: &str) -> Vec<Entry> {
    let of_service = answer(async |client| Ok(client.lookups().values(vehicle_type, field).await?.body));
    let built_in = || allowed(category, vehicle_type, field, &Catalogue::embedded()).unwrap_or_default();
    of_service.unwrap_or_else(built_in)
}

/// The answer of the service that the command line names, if it comes in time.
fn answer<T>(ask: impl AsyncFnOnce(Client) -> Result<T, Error>) -> Option<T> {
    let option = |name: &str, variable: &str| option(name).or_else(|| env::var(variable).ok());
    let global = Global::for_completion(option("--profile", "AD_PROFILE"), option("--url", "AD_URL"), PATIENCE);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let answer = runtime.block_on(async {
        let client = Context::new(&global).client().ok()?;
        tokio::time::timeout(PATIENCE, ask(client)).await.ok()?.ok()
    });
    // A lookup of the server's name must not delay the exit.
    runtime.shutdown_background();
    answer
}

/// The words of the command line that is completed: the shell gives them behind `--`.
fn words() -> impl Iterator<Item = String> {
    env::args_os().skip_while(|word| word != "--").skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// The value of an option on the command line that is completed.
fn option(name: &str) -> Option<String> {
    let words: Vec<_> = words().collect();
    let value = |at: usize| match words[at].strip_prefix(name)?.strip_prefix('=') {
        Some(value) => Some(value.to_owned()),
        None if words[at] == name => words.get(at + 1).cloned(),
        None => None,
    };
    (0..words.len()).rev().find_map(value)
}

/// The argument at a position behind a command.
fn positional(command: &str, position: usize) -> Option<String> {
    words().skip_while(|word| word != command).skip(1).filter(|word| !word.starts_with('-')).nth(position)
}

fn named(entries: Vec<Entry>) -> Candidates {
    entries.into_iter().map(|entry| (entry.id, entry.name)).collect()
}

/// Candidates that begin with what has been typed, with their descriptions.
fn beginning_with(typed: &OsStr, candidates: fn(&str) -> Option<Candidates>) -> Option<Vec<CompletionCandidate>> {
    let typed = typed.to_str()?;
    let found = candidates(typed)?.into_iter().filter(|(value, _)| value.starts_with(typed));
    Some(found.filter(is_safe).map(candidate).collect())
}

fn candidate((value, help): (String, String)) -> CompletionCandidate {
    let help = ad_core::printable::line(&help).into_owned();
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
}

/// A value with control characters would be typed into the shell.
fn is_safe((value, _): &(String, String)) -> bool {
    !value.chars().any(char::is_control)
}
