//! `ad-cli completions`: a script for the shell.

use clap_complete::Shell;

use crate::{
    cli::complete,
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Completes commands, options, source ids, dealer codes, ids of webhooks, profiles, fields, values, brands, and PATH=VALUE of `update --set`. For \
ids, dealer codes, values and --set, the script asks the service, which has 1 second to answer. Add one of these lines to the file that your shell reads when it starts:

bash, in ~/.bashrc:
  source <(ad-cli completions bash)
zsh, in ~/.zshrc behind compinit:
  source <(ad-cli completions zsh)
fish, in ~/.config/fish/config.fish:
  ad-cli completions fish | source
PowerShell, in $PROFILE:
  ad-cli completions powershell | Out-String | Invoke-Expression

Example:
  ad-cli completions bash")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: &CompletionsArgs) -> Result<(), Failure> {
    let script = complete::script(&args.shell.to_string())
        .ok_or_else(|| Failure::failed(format!("there is no script for {}", args.shell)))?;
    Ok(context.out.bytes(&script)?)
}
