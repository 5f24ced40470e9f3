//! `ad-cli help`: the commands in groups, the help of one, and what there is to say about all of them.

use std::fmt::Write as _;

use clap::Subcommand;

use crate::{
    cli::{AFTER_HELP, Command, definition},
    terminal::{Context, Failure, columns_of_terminal, fitting, meant_command, wrapped},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli help
  ad-cli help commands
  ad-cli help sync apply")]
pub(crate) struct HelpArgs {
    /// The command, or a topic: `commands`, `options`, `exit-codes`
    #[arg(value_name = "COMMAND|TOPIC")]
    command: Vec<String>,
}

type Topic = (&'static str, fn(usize) -> String);

/// What `help` explains beside the commands: its name, and the text for so many columns.
const TOPICS: &[Topic] = &[("commands", all_commands), ("options", options), ("exit-codes", exit_codes)];

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
/// What stands before the explanation of where to read more.
const BEFORE_MORE: usize = 23;
/// What stands before the meaning of an exit code.
const BEFORE_CODE: usize = 7;

/// The help of `ad-cli`, for clap: what fits on the screen of a terminal.
pub(in crate::cli) fn template() -> String {
    let mut text = "{about-with-newline}\nUsage: ad-cli COMMAND [OPTIONS]\n\n".to_owned();
    let width = columns_of_terminal().unwrap_or(80);
    let title_width = GROUPS.iter().map(|(title, ..)| title.len()).max().unwrap_or(0);
    for (title, _, names) in GROUPS {
        let lines = wrapped(&names.join(", "), width.saturating_sub(title_width + 4));
        for (index, line) in lines.iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "  {title:title_width$}  {line}");
        }
    }
    for (line, what) in [
        ("ad-cli login", "to begin: save the address of the service and your token"),
        ("ad-cli COMMAND --help", "how to use a command, with examples"),
        ("ad-cli help commands", "what each command does; also: options, exit-codes"),
    ] {
        let what = wrapped(what, width.saturating_sub(BEFORE_MORE)).join(&format!("\n{:BEFORE_MORE$}", ""));
        let _ = write!(text, "\n{line:BEFORE_MORE$}{what}");
    }
    text + "\n"
}

/// Each command in a line, by what one wants to do.
fn all_commands(width: usize) -> String {
    let commands = Command::augment_subcommands(clap::Command::new("ad-cli"));
    let about = |name: &str| {
        let command = commands.get_subcommands().find(|command| command.get_name() == name);
        command.and_then(clap::Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let mut text = String::new();
    for (title, example, names) in GROUPS {
        let gap = if text.is_empty() { "" } else { "\n" };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{gap}{}", wrapped(&format!("{title}, such as: {example}"), width).join("\n    "));
        for &name in *names {
            let lines = wrapped(&about(name), width.saturating_sub(BEFORE));
            for (index, line) in lines.iter().enumerate() {
                let name = if index == 0 { name } else { "" };
                let _ = writeln!(text, "  {name:0$}{line}", BEFORE - 2);
            }
        }
    }
    text
}

/// The options of every command.
fn options(_: usize) -> String {
    let mut command = definition().help_template("Options of every command:\n{options}\n");
    command.render_help().to_string()
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
    [title].into_iter().chain(lines.map(line)).collect::<Vec<_>>().join("\n") + "\n"
}

/// The topic of a name, also of its first word: `exit`.
fn topic(name: &str) -> Option<&'static Topic> {
    let is_it = |topic: &&Topic| topic.0 == name || topic.0.split('-').next() == Some(name);
    TOPICS.iter().find(is_it)
}

pub(crate) fn run(context: &Context, args: &HelpArgs) -> Result<(), Failure> {
    if let [name] = args.command.as_slice()
        && let Some((_, text)) = topic(name)
    {
        return Ok(context.out.text(&text(columns_of_terminal().unwrap_or(usize::MAX)))?);
    }
    let mut command = fitting(definition());
    for name in &args.command {
        let Some(next) = command.find_subcommand(name) else {
            let topics = TOPICS.iter().map(|(topic, _)| *topic).filter(|_| args.command.len() == 1);
            let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).chain(topics).collect();
            let meant = meant_command(name, &names);
            return Err(Failure::usage(format!("no command {name}"))
                .hint(meant.unwrap_or_else(|| "to list the commands: ad-cli help commands".to_owned())));
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
    fn the_help_fits_a_screen_and_names_every_command() {
        let help = definition().render_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        for command in definition().get_subcommands() {
            let name = command.get_name();
            let is_there = help.split([' ', ',', '\n']).any(|word| word == name);
            assert!(is_there, "{name}: {help}");
        }
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
