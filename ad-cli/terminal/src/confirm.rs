//! Confirmation of actions that cost money or cannot be undone.

use std::io::{self, IsTerminal};

use ad_bulk::Surface;

use super::{Context, Exit, Failure, output::ask};

/// Whether to ask, and whether to act at all.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ConfirmArgs {
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would be done without doing it
    #[arg(long)]
    pub dry_run: bool,
}

/// What limits removals: what was allowed, or the default.
pub fn removals_limit(allowed: Option<u64>) -> String {
    match allowed {
        Some(most) => format!("--allow-removals {most}"),
        None => "10 % of a dealer's ads or 20, whichever is less".to_owned(),
    }
}

/// Whether stdin is a terminal, so that a question can be answered.
pub fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks on a terminal whether to go on; elsewhere goes on. For what can be undone.
///
/// # Errors
/// When the answer is not yes.
pub async fn confirm_on_terminal(context: &Context, question: &str) -> Result<(), Failure> {
    let asks = can_ask() && context.out.surface() == Surface::CommandLine;
    confirm(context, question, !asks).await
}

/// Asks on a terminal whether to go on, unless `yes` says so.
///
/// # Errors
/// When the answer is not yes, or there is no terminal.
pub async fn confirm(context: &Context, question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !can_ask() {
        return Err(Failure::usage("nothing was changed: cannot ask for confirmation without a terminal")
            .hint("to go on without a question, add --yes"));
    }
    let question = format!("{question} [y/N] ");
    let answer = tokio::task::spawn_blocking(move || ask(&question)).await.map_err(io::Error::other)??;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    context.out.note("nothing was changed: the answer was not yes");
    Err(Failure::Shown(Exit::Failed))
}
