//! `ad-cli help`: the commands in groups, or the help of one.

use std::fmt::Write as _;

use ad_core::violation::nearest;
use clap::Subcommand;

use crate::{
    cli::{AFTER_HELP, Command, definition},
    terminal::{Context, Failure, columns_of_terminal, wrapped},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli help
  ad-cli help sync apply")]
pub(crate) struct HelpArgs {
    /// The command
    command: Vec<String>,
}

/// The commands by what one wants to do, each group with an example.
const GROUPS: &[(&str, &str, &[&str])] = &[
    (
        "Look at ads",
        "ad-cli status",
        &["status", "list", "get", "log", "quality", "prices", "history", "calls", "record", "summary", "open"],
    ),
    (
        "Change ads",
        "ad-cli price ABC123 329900",
        &["price", "update", "edit", "restore", "hide", "show", "sold", "delete", "retry", "wait"],
    ),
    ("Promote ads", "ad-cli bump ABC123 --dry-run", &["bump", "pole-position", "promotions", "account", "budget"]),
    ("Create ads", "ad-cli new car > car.json", &["new", "template", "validate", "photos", "create", "import"]),
    ("Keep a whole stock", "ad-cli sync plan stock.ndjson", &["sync", "stock", "export", "migrate-v4"]),
    ("Look up fields and values", "ad-cli values car body_type", &["fields", "values", "models"]),
    ("Integrate", "ad-cli events --follow", &["events", "webhooks", "request", "mcp"]),
    (
        "Set up",
        "ad-cli login --url https://ads.example.com",
        &["login", "logout", "profiles", "whoami", "config", "doctor", "completions", "man", "help"],
    ),
];

/// What stands before the description of a command.
const BEFORE: usize = 17;
/// What stands before the meaning of an exit code.
const BEFORE_CODE: usize = 7;

/// The help of all commands, for clap.
pub(in crate::cli) fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("ad-cli"));
    let about = |name: &str| {
        let command = commands.get_subcommands().find(|command| command.get_name() == name);
        command.and_then(clap::Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let width = columns_of_terminal().unwrap_or(usize::MAX);
    for (title, example, names) in GROUPS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "\n{}", wrapped(&format!("{title}, such as: {example}"), width).join("\n"));
        for &name in *names {
            let lines = wrapped(&about(name), width.saturating_sub(BEFORE));
            for (index, line) in lines.iter().enumerate() {
                let name = if index == 0 { name } else { "" };
                let _ = writeln!(text, "  {name:0$}{line}", BEFORE - 2);
            }
        }
    }
    text + "\nOptions of every command:\n{options}\n\n" + &exit_codes(width)
}

/// The exit codes, with the lines of each meaning below each other.
fn exit_codes(width: usize) -> String {
    let line = |line: &str| {
        let Some((code, meaning)) = line.trim_start().split_once(' ') else { return line.to_owned() };
        let lines = wrapped(meaning.trim_start(), width.saturating_sub(BEFORE_CODE));
        format!("  {code:0$}{1}", BEFORE_CODE - 2, lines.join(&format!("\n{:BEFORE_CODE$}", "")))
    };
    let mut lines = AFTER_HELP.lines();
    let title = lines.next().unwrap_or_default().to_owned();
    [title].into_iter().chain(lines.map(line)).collect::<Vec<_>>().join("\n")
}

pub(crate) fn run(context: &Context, args: &HelpArgs) -> Result<(), Failure> {
    let mut command = definition();
    for name in &args.command {
        let Some(next) = command.find_subcommand(name) else {
            let meant = nearest::did_you_mean(name, command.get_subcommands().map(clap::Command::get_name));
            return Err(Failure::usage(format!("no command {name}"))
                .hint(meant.unwrap_or_else(|| "to list the commands: ad-cli help".to_owned())));
        };
        command = next.clone();
    }
    // As the command itself prints it, with the width of the terminal.
    let help = command.render_help();
    Ok(context.out.bytes(help.to_string().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(.., names)| *names).copied().collect();
        grouped.sort_unstable();
        let definition = definition();
        let mut names: Vec<_> = definition.get_subcommands().map(clap::Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn every_command_has_an_example() {
        let has_example = |command: &&clap::Command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            help.contains(&format!("  ad-cli {}", command.get_name()))
                || help.contains(&format!("| ad-cli {}", command.get_name()))
        };
        let definition = definition();
        let missing: Vec<_> = definition.get_subcommands().filter(|command| !has_example(command)).collect();
        let missing: Vec<_> = missing.into_iter().map(clap::Command::get_name).collect();
        assert_eq!(missing, [""; 0]);
    }
}
