//! The command line: what it takes, and how it ends. What a command does stands in its file.

mod check;
mod inspect;
mod mappings;

use std::process::ExitCode;

use ad_cli::cli::{Context, Failure, Global};
use clap::{Parser, Subcommand};

/// From the nightly bulk file to the API: looks at a legacy stock file, maps it to ads, checks them and submits them
#[derive(Debug, Parser)]
#[command(
    name = "ad-migrate",
    version,
    arg_required_else_help = true,
    args_override_self = true,
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
}

impl Command {
    #[allow(clippy::unused_async, reason = "commands that ask the service wait for it")]
    async fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Inspect(args) => inspect::run(context, &args),
            Self::Mappings(args) => mappings::run(context, &args),
            Self::Check(args) => check::run(context, &args),
        }
    }
}

/// Reads the command line, runs what it says, and returns how that went.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help is no mistake, and nobody reading it to its end is none either.
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let context = Context::new(&cli.global);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return context.ended(Err(Failure::failed(format!("cannot start threads: {error}")))),
    };
    let result = runtime.block_on(cli.command.run(&context));
    runtime.shutdown_background();
    context.ended(result)
}
