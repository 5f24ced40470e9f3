//! The subcommands of the binary, one module each.
//!
//! A command prints its result, and nothing else, on stdout, so that it can be piped; notes go to stderr. An error is one line, a
//! `CommandError`.

mod ads;
mod audit;
mod charges;
mod check;
mod dealers;
mod erase;
mod export;
mod images;
mod listings;
mod marketplace;
mod marketplaces;
mod migrate;
mod queue;
mod request;
mod serve;
mod sign_in_link;
mod token;

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use ad_core::{model::Market, ports::Clock};
use clap::{Args, Parser, Subcommand};

use crate::{
    app::AppError,
    config::{self, ConfigError, Layer, Settings},
    output,
};
use ad_server_access::{
    auth::{IssueError, KeySource, KeysError},
    dealers_file::DealersFileError,
};
use ad_server_base::{
    secret::Secret,
    system::SystemClock,
    telemetry::{Telemetry, TelemetryError},
};
use ad_server_outside::{marketplace::token_variable, webhooks::WebhookKeySource};
use ad_server_store::{Database, OpenError, SchemaPolicy};
use ad_server_work::operators::Operator;

/// How long a process that has ended its work waits for threads that are still busy, such as with a disk that does not answer.
const LEAVE: Duration = Duration::from_secs(2);

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("cannot start threads: {error}")),
    };
    let ended = runtime.block_on(cli.run());
    runtime.shutdown_timeout(LEAVE);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => failed(&failure.to_string()),
    }
}

/// Prints an error: one line, or a line for each invalid line of input.
fn failed(message: &str) -> ExitCode {
    output::note(&format!("error: {message}"));
    ExitCode::FAILURE
}

/// Prints an error of the command line. It quotes arguments, so it is escaped like any text from outside.
fn misused(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if text.starts_with("error: ") {
        output::note(text.trim_end());
    } else {
        let _help = error.print();
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The vehicle ad import service
#[derive(Debug, Parser)]
#[command(name = "ad-server", version, arg_required_else_help = true, args_override_self = true)]
struct Cli {
    #[command(flatten)]
    base: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service: the API and, unless with --workers 0, a worker
    Serve(Box<serve::ServeArgs>),
    /// Run a worker without the API, on a PostgreSQL database that other processes share
    Worker(Box<serve::WorkerArgs>),
    /// Show unfinished requests, retry or drop them
    Queue(queue::QueueArgs),
    /// Show what has become of an accepted request, unfinished or finished
    Request(request::RequestArgs),
    /// Issue, list and revoke tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Print a link that signs in to the console once, within 24 hours
    SignInLink(sign_in_link::LinkArgs),
    /// Import, list, show, suspend and resume dealers
    #[command(subcommand)]
    Dealers(dealers::DealersCommand),
    /// Import stored ads of another system; show an ad; list and retry ads by status
    #[command(subcommand)]
    Ads(ads::AdsCommand),
    /// Export what promotions have cost, for invoices
    #[command(subcommand)]
    Charges(charges::ChargesCommand),
    /// Pause and resume calls to marketplaces
    Marketplaces(marketplaces::MarketplacesArgs),
    /// Erase the ads of a dealer, or one of them, for good: content, images, local listings and log messages
    Erase(Box<erase::EraseArgs>),
    /// Export everything that is held of a dealer to a file
    Export(export::ExportArgs),
    /// List what operators have done by commands and in the console; record backups
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Make renditions of stored images
    #[command(subcommand)]
    Images(images::ImagesCommand),
    /// Import and list listings of the local marketplaces
    #[command(subcommand)]
    Listings(listings::ListingsCommand),
    /// Run a demo: sample dealers and vehicles are published on local marketplaces
    Demo(crate::demo::DemoArgs),
    /// Serve both marketplaces over HTTP, as a sandbox and the receiving side of `--primary-marketplace URL`
    Marketplace(marketplace::MarketplaceArgs),
    /// Check the configuration, and try all that a server depends on: database, image store, marketplaces, keys, clock
    Check(Box<check::CheckArgs>),
    /// Create the database, or migrate its schema to the version of this program
    Migrate(migrate::MigrateArgs),
    /// Print all settings with comments and defaults, as a start for your own settings file
    Config,
}

impl Command {
    /// Whether it is a service, with a log as its settings say.
    const fn runs_on(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Worker(_))
    }
}

/// In the help, what every command takes comes after what is its own.
const LAST: usize = 900;

/// What every command takes.
#[derive(Debug, Args)]
struct GlobalArgs {
    #[arg(
        help = config::help("database_url"),
        long,
        env = "AD_SERVER_DATABASE_URL",
        hide_env_values = true,
        value_name = "URL",
        global = true,
        display_order = LAST
    )]
    database_url: Option<String>,
    /// Settings file; `ad-server config` prints a template
    #[arg(long, env = "AD_SERVER_CONFIG", value_name = "FILE.toml", global = true, display_order = LAST)]
    config: Option<PathBuf>,
}

/// What commands take that need the token keys.
#[derive(Debug, Args)]
struct KeyArgs {
    #[arg(help = config::help("token_key"), long, env = "AD_SERVER_TOKEN_KEY", value_name = "FILE")]
    token_key: Option<PathBuf>,
}

/// What every list takes.
#[derive(Debug, Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Why a command failed, for the operator.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot write CSV: {0}")]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error(transparent)]
    Issue(#[from] IssueError),
    #[error(transparent)]
    DealersFile(#[from] DealersFileError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("database {url}: {problem}")]
    Database { url: String, problem: String },
    /// The input of the command is wrong.
    #[error("{0}")]
    Input(String),
    #[error(transparent)]
    App(#[from] AppError),
    #[error(transparent)]
    Marketplace(#[from] crate::receiver::ReceiverError),
    #[error(transparent)]
    Demo(#[from] crate::demo::DemoError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("cannot write to stdout: {0}")]
    Output(#[from] io::Error),
}

/// Fails because of the input.
fn refused<T>(problem: impl Into<String>) -> Result<T, CommandError> {
    Err(CommandError::Input(problem.into()))
}

impl CommandError {
    /// Whether stdout was closed, as by `| head`. That is no error.
    fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl Cli {
    /// Runs the command. Those that run on set up their log themselves, as their settings say.
    async fn run(self) -> Result<(), CommandError> {
        let base = self.base;
        if !self.command.runs_on() {
            let serves = matches!(self.command, Command::Marketplace(_));
            Telemetry::log_only(if serves { tracing::Level::INFO } else { tracing::Level::WARN })?;
        }
        match self.command {
            Command::Serve(args) => serve::run(base, *args).await,
            Command::Worker(args) => serve::work(base, *args).await,
            Command::Queue(args) => queue::run(base, args).await,
            Command::Request(args) => request::run(base, args).await,
            Command::Token(command) => token::run(base, command).await,
            Command::SignInLink(args) => sign_in_link::run(base, args).await,
            Command::Dealers(command) => dealers::run(base, command).await,
            Command::Charges(command) => charges::run(base, command).await,
            Command::Ads(command) => ads::run(base, command).await,
            Command::Marketplaces(args) => marketplaces::run(base, args).await,
            Command::Erase(args) => erase::run(base, *args).await,
            Command::Export(args) => export::run(base, args).await,
            Command::Audit(command) => audit::run(base, command).await,
            Command::Images(command) => images::run(base, command).await,
            Command::Listings(command) => listings::run(base, command).await,
            Command::Demo(args) => Ok(crate::demo::run(args).await?),
            Command::Marketplace(args) => marketplace::run(base, args).await,
            Command::Check(args) => check::run(base, *args).await,
            Command::Migrate(args) => migrate::run(base, &args).await,
            Command::Config => Ok(output::text(&config::default_file())?),
        }
    }
}

impl GlobalArgs {
    /// The settings, with what else the command was given.
    fn settings(self, given: Layer) -> Result<Settings, ConfigError> {
        let (given, file) = self.layer(given);
        Settings::load(given, file.as_deref(), Secret::from_environment(KeySource::VARIABLE))
    }

    /// The same with all mistakes.
    fn settings_with_mistakes(self, given: Layer) -> (Settings, Vec<ConfigError>) {
        let (given, file) = self.layer(given);
        Settings::load_with_mistakes(given, file.as_deref(), Secret::from_environment(KeySource::VARIABLE))
    }

    /// All that was given, and the file of settings.
    fn layer(self, given: Layer) -> (Layer, Option<PathBuf>) {
        let given = Layer {
            database_url: self.database_url,
            primary_marketplace_token: Secret::from_environment(token_variable(Market::Primary)),
            secondary_marketplace_token: Secret::from_environment(token_variable(Market::Secondary)),
            webhook_keys: Secret::from_environment(WebhookKeySource::VARIABLE),
            ..given
        };
        (given, self.config)
    }

    /// The settings of a service, with log and traces set up; the caller drops the latter at the end.
    fn service(self, given: Layer) -> Result<(Settings, Telemetry), CommandError> {
        let settings = self.settings(given)?;
        let endpoint = settings.otlp_endpoint.as_ref();
        let telemetry = Telemetry::start(settings.log_format, tracing::Level::INFO, endpoint)?;
        Ok((settings, telemetry))
    }

    /// The database, for commands that need nothing else.
    async fn database(self) -> Result<CommandDatabase, CommandError> {
        CommandDatabase::new(&self.settings(Layer::default())?).await
    }
}

/// The lines of a file, or of stdin if that is named as `-`, with its name for messages.
fn lines_of(file: &Path) -> Result<(String, Box<dyn BufRead>), CommandError> {
    if file == Path::new("-") {
        return Ok(("stdin".to_owned(), Box::new(io::stdin().lock())));
    }
    let name = file.display().to_string();
    let lines = File::open(file).map_err(|error| CommandError::Input(format!("cannot read {name}: {error}")))?;
    Ok((name, Box::new(BufReader::new(lines))))
}

/// The database of a service, with its address for messages. Commands neither create nor migrate it, except `migrate`.
struct CommandDatabase {
    database: Database,
    url: String,
}

impl CommandDatabase {
    async fn new(settings: &Settings) -> Result<Self, CommandError> {
        let database =
            Database::open_with(&settings.database_url, &settings.database_options(SchemaPolicy::Require)).await?;
        Ok(Self::of(database, settings))
    }

    /// Opens a database and prints its address, because a command in a wrong folder may find another one.
    fn of(database: Database, settings: &Settings) -> Self {
        let url = Database::name_of(&settings.database_url);
        output::note(&format!("database {url}"));
        Self { database, url }
    }

    /// Records in the audit log what an operator is about to do.
    async fn audit(&self, act: &str, subject: &str, details: &str) -> Result<(), CommandError> {
        self.answer(self.operator().record(act, subject, details).await)
    }

    /// The operator who runs the command, for the audit log.
    fn operator(&self) -> Operator<'_> {
        Operator { database: &self.database, name: audit::operator(), now: SystemClock.now() }
    }

    fn answer<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Result<T, CommandError> {
        result.map_err(|error| CommandError::Database { url: self.url.clone(), problem: error.to_string() })
    }
}

#[cfg(test)]
mod tests;
