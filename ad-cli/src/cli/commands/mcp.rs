//! `ad-cli mcp`: the commands as tools of an assistant.

use std::time::Duration;

use crate::{
    cli::mcp::{self, Access},
    terminal::{Context, Failure, duration},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
An MCP client, such as a desktop assistant or an editor, starts this command and talks to it on stdin and stdout. Each tool runs the command of \
the same name. Without options, tools only read. The assistant's program asks its user before it calls a tool; the commands do not ask for \
confirmation again. Each call is logged to stderr.

Examples:
  ad-cli mcp
  ad-cli mcp --allow-write
  ad-cli mcp --allow-write --allow-promote 5 --profile north")]
pub(crate) struct Args {
    #[command(flatten)]
    access: Access,
    /// Time limit of a call, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    time_limit: Duration,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    mcp::serve(context, args.access, args.time_limit).await
}
