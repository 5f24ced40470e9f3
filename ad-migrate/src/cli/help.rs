//! `ad-migrate help`: the help of a command, and the language of mappings.

use ad_terminal::{Context, Failure, fitting, meant_command};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-migrate help run
  ad-migrate help mapping          all keys of a mapping")]
pub(crate) struct HelpArgs {
    /// The command, or `mapping`: the keys of a mapping
    #[arg(value_name = "COMMAND|mapping")]
    command: Option<String>,
}

pub(crate) fn run(context: &Context, args: &HelpArgs, mut definition: clap::Command) -> Result<(), Failure> {
    definition.build();
    let mut command = fitting(definition);
    let help = match args.command.as_deref() {
        None => command.render_help().to_string(),
        Some("mapping") => include_str!("../../mappings/README.md").to_owned(),
        Some(name) => {
            let Some(found) = command.find_subcommand_mut(name) else {
                let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
                let meant = meant_command(name, &names);
                return Err(Failure::usage(format!("there is no command {name}"))
                    .hint(meant.unwrap_or_else(|| "to list the commands: ad-migrate help".to_owned())));
            };
            found.render_help().to_string()
        }
    };
    Ok(context.out.bytes(help.as_bytes())?)
}
