//! The options of every command, and the context that commands work with.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    str::FromStr,
    time::{Duration, SystemTime},
};

use ad_bulk::{Invocation, payloads::Source};
use ad_client::{BuildError, Client, ClientBuilder, DEFAULT_RATE, Exchange};
use ad_core::model::Timestamp;
use clap::Args;

use super::{
    ColorWhen, Failure, Format, Output,
    output::{Streams, Verbosity},
    profiles::{DEFAULT, Profiles},
};

/// In the help, what every command takes comes after what is its own.
const LAST: usize = 900;

/// The variable with the token. There is no option for it: command lines are stored in the shell's history and visible to all users of the
/// machine.
const TOKEN: &str = "AD_TOKEN";

/// The file that stands for stdin.
pub const STDIN: &str = "stdin";

/// The note about a file in UTF-16.
pub(super) const UTF_16: &str = "is UTF-16; it is converted to UTF-8";

/// The options that every command takes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Profile saved by `ad-cli login` [default: default]
    #[arg(long, env = "AD_PROFILE", hide_env_values = true, value_name = "NAME", global = true, display_order = LAST)]
    pub profile: Option<String>,
    /// Server URL, instead of the profile's; requires the token in `AD_TOKEN`
    #[arg(long, env = "AD_URL", hide_env_values = true, value_name = "URL", global = true, display_order = LAST)]
    pub url: Option<String>,
    /// Maximum number of requests per second, or `unlimited`
    #[arg(long, env = "AD_RATE", hide_env_values = true, value_name = "N", default_value_t, global = true, display_order = LAST)]
    pub rate: Rate,
    /// Time limit of a request, in seconds
    #[arg(long, env = "AD_TIMEOUT", hide_env_values = true, value_name = "SECONDS", default_value_t = 30, global = true, display_order = LAST,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Output format: a table for people, `wide` with all columns; the others for programs. In `csv`, an apostrophe guards texts that begin
    /// like a formula
    #[arg(long, short, value_name = "FORM", value_enum, default_value_t, global = true, display_order = LAST)]
    pub output: Format,
    /// Only these fields of the answer, as dotted paths: `source_id,price.0.amount`
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', global = true, display_order = LAST)]
    pub fields: Vec<String>,
    /// Use colours; `auto` means on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true, display_order = LAST)]
    pub color: ColorWhen,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = LAST)]
    pub quiet: bool,
    /// Also print requests with their ids and durations
    #[arg(short, long, global = true, display_order = LAST)]
    pub verbose: bool,
    // One page of help, the same for -h and --help.
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpShort, display_order = LAST)]
    help: Option<bool>,
}

impl Global {
    /// The options of a completion, which prints nothing but candidates.
    pub fn for_completion(profile: Option<String>, url: Option<String>, timeout: Duration) -> Self {
        let timeout = timeout.as_secs();
        Self { profile, url, timeout, color: ColorWhen::Never, quiet: true, ..Self::default() }
    }
}

/// Requests a second at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Option<NonZeroU32>);

impl Default for Rate {
    fn default() -> Self {
        Self(Some(DEFAULT_RATE))
    }
}

impl FromStr for Rate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rate = (text != "unlimited").then(|| text.parse()).transpose();
        rate.map(Self).map_err(|_| "expected an integer of at least 1, or unlimited")
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(formatter),
            None => formatter.write_str("unlimited"),
        }
    }
}

/// What a command is given.
#[derive(Debug)]
pub struct Context {
    /// Where it answers and talks.
    pub out: Output,
    profile: Option<String>,
    url: Option<String>,
    /// Maximum number of requests per second (`--rate`), or none.
    pub rate: Rate,
    /// Longest wait for the answer to one request.
    pub timeout: Duration,
    /// Of a command that a program runs within itself: the folder with its [stdin](Self::stdin), and for its journal.
    pub(crate) folder: Option<PathBuf>,
}

/// Server URL and token of a command.
#[derive(derive_more::Debug)]
pub struct Connection {
    /// Address of the service, such as `https://ads.example.com`.
    pub url: String,
    /// The API token, which is never shown.
    #[debug(skip)]
    pub token: String,
    /// Where the token comes from: a profile, or the environment.
    pub profile: Option<String>,
}

impl Context {
    /// From the command line and the environment, of a command of its own process.
    pub fn new(global: &Global) -> Self {
        Self::within(global, Streams::Process, None)
    }

    /// The same, with streams and a folder.
    pub(crate) fn within(global: &Global, streams: Streams, folder: Option<PathBuf>) -> Self {
        let talk = match (global.quiet, global.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Usual,
        };
        // An empty variable counts as unset.
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        Self {
            out: Output::new(global.output, global.color, talk, streams)
                .selecting(global.fields.iter().map(|field| field.trim().to_owned()).collect()),
            profile: given(&global.profile),
            url: given(&global.url),
            rate: global.rate,
            timeout: Duration::from_secs(global.timeout),
            folder,
        }
    }

    /// Opens a file of payloads; `-` is stdin.
    pub fn open(&self, path: &Path) -> Result<Source, Failure> {
        let source = match self.stdin().filter(|_| path.as_os_str() == "-") {
            Some(stdin) => Source::named(self.out.surface().payloads(), &stdin)?,
            None => Source::open(path)?,
        };
        if source.is_utf_16 {
            self.out.note(&format!("{} {UTF_16}", source.name));
        }
        Ok(source)
    }

    /// Now, by the clock of the machine.
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    pub fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::default() + since_1970
    }

    /// What stands for stdin, of a command that a program runs within itself.
    pub(crate) fn stdin(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(STDIN))
    }

    /// The name of the profile in use.
    pub fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT)
    }

    /// The options of every command that select service, token, limits and messages, for another command of the same program.
    pub fn as_options(&self) -> Vec<String> {
        let given = [("profile", &self.profile), ("url", &self.url)];
        let given = given.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        let limits = [format!("--rate={}", self.rate), format!("--timeout={}", self.timeout.as_secs())];
        let verbose = self.out.is_verbose().then(|| "--verbose".to_owned());
        given.chain(limits).chain(verbose).collect()
    }

    /// The address that was given with this command.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Server URL and token: the environment and the command line override the profile.
    pub fn connection(&self) -> Result<Connection, Failure> {
        let token = token_of_environment()?;
        if let (Some(url), Some(token), None) = (&self.url, &token, &self.profile) {
            return Ok(Connection { url: url.clone(), token: token.clone(), profile: None });
        }
        let profiles = Profiles::of_user()?;
        let stored = profiles.get(self.profile());
        if stored.is_none() && self.profile.is_some() {
            return Err(profiles.missing(self.profile()));
        }
        if stored.is_some() && profiles.is_open_to_others() {
            let path = profiles.path().display();
            self.out.warning(&format!("{path} contains tokens and is readable by others; run: chmod 600 {path}"));
        }
        let url = self
            .url
            .clone()
            .or_else(|| stored.map(|profile| profile.url.clone()))
            .ok_or_else(|| profiles.no_address(self.profile()))?;
        let profile = token.is_none().then(|| self.profile().to_owned());
        let token = match (token, stored) {
            (Some(token), _) => token,
            (None, Some(stored)) if is_same_service(&stored.url, &url) => stored.token.clone(),
            (None, Some(stored)) => {
                return Err(Failure::unauthorised(format!(
                    "the token of profile {:?} is for {}; it is not sent to {url}",
                    self.profile(),
                    stored.url
                ))
                .hint((
                    "set AD_TOKEN, or run",
                    Invocation::of_user("login").some_option("profile", "NAME").option("url", url),
                )));
            }
            (None, None) => {
                return Err(Failure::unauthorised("no token")
                    .hint(("run", Invocation::of_user("login")))
                    .hint("or set AD_TOKEN"));
            }
        };
        Ok(Connection { url, token, profile })
    }

    /// The server URL, for requests that need no token.
    pub fn address(&self) -> Result<String, Failure> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        let profiles = Profiles::of_user()?;
        match profiles.get(self.profile()) {
            Some(profile) => Ok(profile.url.clone()),
            None if self.profile.is_some() => Err(profiles.missing(self.profile())),
            None => Err(profiles.no_address(self.profile())),
        }
    }

    /// A client of the [`connection`](Self::connection).
    pub fn client(&self) -> Result<Client, Failure> {
        let connection = self.connection()?;
        self.client_for(&connection.url, &connection.token)
    }

    /// A client for requests that need no token.
    pub fn client_without_token(&self) -> Result<Client, Failure> {
        self.client_of(Client::builder(&self.address()?))
    }

    /// A client for this service and token.
    pub fn client_for(&self, url: &str, token: &str) -> Result<Client, Failure> {
        self.client_of(Client::builder(url).token(token))
    }

    fn client_of(&self, builder: ClientBuilder) -> Result<Client, Failure> {
        let mut builder = builder.rate(self.rate.0).timeout(self.timeout);
        if self.out.is_verbose() {
            let out = self.out;
            builder = builder.observe(move |exchange| out.detail(&line_of(exchange)));
        }
        builder.build().map_err(|error| match error {
            BuildError::Token(_) => {
                Failure::unauthorised(error.to_string()).hint(("run", Invocation::of_user("login")))
            }
            BuildError::Url { ref url, .. } if !url.contains("://") => {
                let scheme =
                    if url.starts_with("127.0.0.1") || url.starts_with("localhost") { "http" } else { "https" };
                Failure::usage(error.to_string()).hint(format!("did you mean {scheme}://{url}?"))
            }
            error => Failure::usage(error.to_string()),
        })
    }

    /// Prints an error, unless it has been printed.
    pub fn show_failure(&self, failure: &Failure) {
        match failure {
            Failure::Explained { hints, .. } => self.out.error(&failure.to_string(), hints),
            Failure::Shown(_) => {}
            Failure::Output(_) => self.out.error(&failure.to_string(), &[]),
        }
    }

    /// Prints the error, if there is one, and returns the exit code.
    pub fn ended(&self, result: Result<(), Failure>) -> u8 {
        match result {
            Ok(()) => 0,
            Err(failure) if failure.is_broken_pipe() => 0,
            Err(failure) => {
                self.show_failure(&failure);
                failure.exit() as u8
            }
        }
    }
}

/// The token of `AD_TOKEN`, if it is set.
pub fn token_of_environment() -> Result<Option<String>, Failure> {
    match std::env::var(TOKEN) {
        Ok(token) => Ok(Some(token.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(Failure::unauthorised("AD_TOKEN is not valid Unicode")),
    }
}

/// Whether two addresses are of one service; a token goes to no other.
fn is_same_service(one: &str, other: &str) -> bool {
    let address =
        |text: &str| url::Url::parse(text).ok().map(|url| (url.origin(), url.path().trim_end_matches('/').to_owned()));
    address(one).is_some_and(|one| address(other) == Some(one))
}

/// A request as `--verbose` shows it.
fn line_of(exchange: &Exchange<'_>) -> String {
    let end = match (exchange.status, exchange.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.to_string(),
        (None, None) => String::new(),
    };
    let id = exchange.request_id.map(|id| format!(", request {id}")).unwrap_or_default();
    let number = if exchange.number > 1 { format!(", attempt {}", exchange.number) } else { String::new() };
    format!("{} {}: {end} in {} ms{id}{number}", exchange.method, exchange.path, exchange.took.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_or_unlimited() {
        assert_eq!("20".parse(), Ok(Rate(NonZeroU32::new(20))));
        assert_eq!("unlimited".parse(), Ok(Rate(None)));
        assert_eq!(Rate::default().to_string(), "10");
        for text in ["0", "-1", "fast", ""] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_token_goes_to_its_own_service() {
        assert!(is_same_service("https://a.example/ads", "https://a.example:443/ads/"));
        for other in ["https://b.example/ads", "http://a.example/ads", "https://a.example", "a.example"] {
            assert!(!is_same_service("https://a.example/ads", other), "{other}");
        }
    }
}
