//! The command line. Each command has its file.

mod check;
mod convert;
mod file;
mod help;
mod inspect;
mod mappings;
mod publish;
mod run;
mod terminal;
mod undo;
mod v3;

use std::process::ExitCode;

use ad_terminal::{Context, Failure, Global};
use clap::{CommandFactory, Parser, Subcommand};

const AFTER_HELP: &str = "\
The steps of a migration:
  ad-migrate inspect stock.csv --out stock.toml
  ad-migrate check stock.csv --mapping stock.toml --report report.html
  ad-migrate run stock.csv --mapping stock.toml --rehearse
  ad-migrate run stock.csv --mapping stock.toml --limit 10
  ad-migrate run stock.csv --mapping stock.toml

Exit codes:
  0  success: all rows are valid, or have become ads
  1  some rows are invalid or have failed
  2  invalid command line, or a file that cannot be used or read to its end
  3  rejected by validation: `check` found invalid rows, or no row is valid
  4  not authorised: missing, invalid or expired token, or missing permission
  5  the service cannot be reached, did not answer in time, or gave an unexpected answer";

/// Migrate a legacy stock file to the API: inspect it, map it to ads, validate and submit them
#[derive(Debug, Parser)]
#[command(
    name = "ad-migrate",
    version,
    arg_required_else_help = true,
    args_override_self = true,
    after_help = AFTER_HELP,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The commands; each has its file.
#[derive(Debug, Subcommand)]
enum Command {
    /// Detect the columns of an unknown file and draft a mapping
    Inspect(inspect::InspectArgs),
    /// Show the built-in mappings and value maps
    Mappings(mappings::MappingsArgs),
    /// Map and validate the rows of a file, without sending anything
    Check(check::CheckArgs),
    /// Print the payloads of a file, for `ad-cli` and other programs
    Convert(convert::ConvertArgs),
    /// Create one ad per valid row of a file
    Run(run::RunArgs),
    /// Publish ads that were submitted hidden, or hidden by `undo`
    Publish(publish::PublishArgs),
    /// Hide or delete the ads that were created from a file
    Undo(undo::UndoArgs),
    /// Migrate V3 ads of categories that V4 does not convert
    V3(v3::V3Args),
    /// Print this help, the help of a command, or the keys of a mapping
    Help(help::HelpArgs),
}

impl Command {
    async fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Inspect(args) => inspect::run(context, &args),
            Self::Mappings(args) => mappings::run(context, &args),
            Self::Check(args) => check::run(context, &args),
            Self::Convert(args) => convert::run(context, &args),
            Self::Run(args) => run::run(context, &args).await,
            Self::Publish(args) => publish::run(context, &args).await,
            Self::Undo(args) => undo::run(context, &args).await,
            Self::V3(args) => v3::run(context, &args).await,
            Self::Help(args) => help::run(context, &args, Cli::command()),
        }
    }
}

/// docs/ad-migrate.md: the help of every command on one page.
pub fn markdown() -> String {
    ad_terminal::reference_page(include_str!("introduction.md"), Cli::command()) + include_str!("feeds.md")
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    ad_terminal::start(|line: &Cli| &line.global, async |line, context| line.command.run(context).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
