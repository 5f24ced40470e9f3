//! The command line: what it takes, and how it ends. What a command does stands in its file.

mod check;
mod file;
mod inspect;
mod mappings;
mod publish;
mod run;
mod v3;

use std::process::ExitCode;

use ad_cli::cli::{Context, Failure, Global};
use clap::{Parser, Subcommand};

/// What follows the list of commands in the help.
const AFTER_HELP: &str = "\
Exit codes:
  0  done: every row can go, or has gone
  1  some rows cannot go or have failed, or the file cannot be read to its end
  2  the command line, or a file named on it, is wrong
  3  refused by validation: `check` found rows that cannot go, or none can
  4  not authorised: no token, a wrong or expired one, or one that may not do this
  5  the service was not reached, did not answer in time, or did not answer as it should";

/// From the nightly bulk file to the API: looks at a legacy stock file, maps it to ads, checks them and submits them
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
    /// Look at an unknown file, and write a first mapping for it
    Inspect(inspect::Args),
    /// Show the mappings and value maps that come with the program
    Mappings(mappings::Args),
    /// Check a legacy file against the rules, without sending anything
    Check(check::Args),
    /// Submit the rows that can go: each becomes an ad, once
    Run(run::Args),
    /// Show the ads that were submitted hidden
    Publish(publish::Args),
    /// Migrate the ads of V3 that V4 does not take as they are
    V3(v3::Args),
}

impl Command {
    async fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Inspect(args) => inspect::run(context, &args),
            Self::Mappings(args) => mappings::run(context, &args),
            Self::Check(args) => check::run(context, &args),
            Self::Run(args) => run::run(context, &args).await,
            Self::Publish(args) => publish::run(context, &args).await,
            Self::V3(args) => v3::run(context, &args).await,
        }
    }
}

/// The whole command line, for documentation.
fn definition() -> clap::Command {
    let mut command = <Cli as clap::CommandFactory>::command();
    command.build();
    command
}

/// docs/ad-migrate.md: the help of every command on one page.
pub fn markdown() -> String {
    ad_cli::cli::reference_page(include_str!("introduction.md"), definition())
}

/// Reads the command line, runs what it says, and returns how that went.
pub fn main() -> ExitCode {
    ad_cli::cli::start(|line: &Cli| &line.global, async |line, context| line.command.run(context).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }
}
