//! `ad-cli completions`: a script for the shell.

use clap_complete::Shell;

use crate::{
    cli::definition,
    terminal::{Context, Failure},
};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli completions bash > ~/.local/share/bash-completion/completions/ad-cli
  ad-cli completions zsh > ~/.zfunc/_ad-cli
  ad-cli completions fish > ~/.config/fish/completions/ad-cli.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "ad-cli", &mut script);
    Ok(context.out.bytes(&script)?)
}
