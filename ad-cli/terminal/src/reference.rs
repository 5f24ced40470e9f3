//! The help of every command on one page after an introduction, such as docs/cli.md.

use std::fmt::Write as _;

/// Width of the reference's lines, in characters.
const WIDTH: usize = 110;

/// The page of a command line, behind its introduction.
pub fn page(introduction: &str, mut definition: clap::Command) -> String {
    definition.build();
    // A fixed width, so that the page does not depend on the terminal.
    let mut root = definition.term_width(WIDTH);
    let globals: Vec<_> = root
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(|argument| argument.get_id().clone())
        .collect();
    let mut page = format!("{introduction}\n## Commands\n\n| Command | What it does |\n|---|---|\n");
    let commands: Vec<_> = root.get_subcommands().cloned().collect();
    for command in &commands {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        // Writing to a text cannot fail.
        let _ = writeln!(page, "| [`{name}`](#{name}) | {about} |");
    }
    for command in commands {
        let name = command.get_name().to_owned();
        section(&mut page, "###", &name, command, &globals);
    }
    let mut own = root.clone();
    for command in root.get_subcommands() {
        own = own.mut_subcommand(command.get_name(), |command| command.hide(true));
    }
    // Commands are in the table above.
    root = own.help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}{after-help}");
    let _ = write!(page, "\n## Options of every command, and exit codes\n\n```text\n{}```\n", plain(&mut root));
    page
}

/// The help of a command, and of those below it.
fn section(page: &mut String, heading: &str, name: &str, command: clap::Command, globals: &[clap::Id]) {
    let below: Vec<_> = command.get_subcommands().cloned().collect();
    let command = globals.iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)));
    // Writing to a text cannot fail.
    let _ = write!(page, "\n{heading} {name}\n\n```text\n{}```\n", plain(&mut command.term_width(WIDTH)));
    for command in below {
        let name = format!("{name} {}", command.get_name());
        section(page, &format!("{heading}#"), &name, command, globals);
    }
}

/// The help of a command, as a terminal without colours shows it, without the reminder of its own options.
fn plain(command: &mut clap::Command) -> String {
    let help = command.render_help().to_string();
    help.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}
