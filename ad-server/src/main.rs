//! The `ad-server` binary: reads the command line, and leaves the work to [`ad_server::commands`].

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

use ad_server::commands::Cli;
use clap::Parser;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = EnvFilter::builder().with_default_directive(cli.log_level().into()).from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("cannot start threads: {error}")),
    };
    match runtime.block_on(cli.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => failed(&failure.to_string()),
    }
}

/// One line, whatever a library put into its message.
fn failed(message: &str) -> ExitCode {
    let words: Vec<_> = message.split_whitespace().collect();
    eprintln!("error: {}", words.join(" "));
    ExitCode::FAILURE
}
