//! Shared by the command lines of the workspace: global options, output and exit codes.
//!
//! A command writes its result to stdout, in the format of `--output`, and everything else to stderr. Both go through [`output`]: commands
//! never print themselves. A command that fails returns a [`Failure`], which has an exit code.
#![warn(missing_docs)]

pub mod ad_table;
pub mod causes;
mod confirm;
mod context;
pub mod conversion;
mod errors;
mod failure;
mod findings;
mod hint;
mod import;
mod interrupt;
mod out_file;
pub mod output;
pub mod profiles;
pub mod progress;
pub mod quality;
mod reference;

use std::{io::Write as _, path::PathBuf, process::ExitCode, time::Duration};

use ad_bulk::Surface;
use ad_core::violation::nearest;
use clap::{
    Arg, Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

pub use confirm::{ConfirmArgs, can_ask, confirm, confirm_on_terminal, removals_limit};
pub use context::token_of_environment;
pub use context::{Connection, Context, Global, Rate, STDIN};
pub use failure::{Exit, Failure};
pub use findings::Findings;
pub use hint::Hint;
pub use import::{ImportReport, Summary, import, import_until};
pub use interrupt::{ask_hidden, stop_on_interrupt};
pub use interrupt::{until_interrupted, wait_for_signal};
pub use out_file::{FileKind, Force, OutFile, PAYLOADS_MARK};
use output::Verbosity;
pub use output::columns_of_terminal;
pub use output::{
    Capture, Cell, ColorWhen, Column, Format, Output, Rows, Stream, Streams, Styled, Tone, WholeFile, counted, grouped,
    plain, readable, tally, wrapped,
};
pub use progress::bar;
pub use progress::{BlockingCounter, Counter};
pub use reference::page as reference_page;
pub use tokio_util::sync::CancellationToken;

/// Parses the command line of this process, runs the command and returns its exit code. `global` returns its global options.
pub fn start<L: Parser>(
    global: impl FnOnce(&L) -> &Global,
    run: impl AsyncFnOnce(L, &Context) -> Result<(), Failure>,
) -> ExitCode {
    let mut definition = fitting(L::command());
    let parsed = definition.clone().try_get_matches().and_then(|matches| L::from_arg_matches(&matches));
    let line = match parsed.map_err(|error| error.format(&mut definition)) {
        Ok(line) => line,
        Err(error) => return show_misuse(&error, Streams::Process, &[], definition).into(),
    };
    let context = Context::new(global(&line));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return context.ended(Err(Failure::failed(format!("cannot start threads: {error}")))).into(),
    };
    {
        let _entered = runtime.enter();
        if let Ok(listening) = interrupt::listen() {
            runtime.spawn(listening);
        }
    }
    let result = runtime.block_on(run(line, &context));
    // A blocked read of stdin must not delay the exit.
    runtime.shutdown_background();
    context.ended(result).into()
}

/// The same commands, with texts behind their options that fit the terminal.
pub fn fitting(command: Command) -> Command {
    let Some(width) = columns_of_terminal() else { return command };
    let text = command.get_after_help().map(|text| output::text_of_help(&text.to_string(), width));
    let command = command.mut_subcommands(fitting);
    match text {
        Some(text) => command.after_help(text),
        None => command,
    }
}

/// Runs a command line within this process, and returns its exit code. `words` begin with the name of the program; `folder` may have a file
/// [`stdin`](STDIN), and takes the journal of an import.
pub async fn run_within<L: Parser>(
    words: impl IntoIterator<Item = String>,
    streams: Streams,
    folder: PathBuf,
    global: impl FnOnce(&L) -> &Global,
    run: impl AsyncFnOnce(L, &Context) -> Result<(), Failure>,
) -> u8 {
    let words: Vec<_> = words.into_iter().collect();
    let line = match L::try_parse_from(&words) {
        Ok(line) => line,
        Err(error) => return show_misuse(&error, streams, &words, L::command()),
    };
    let context = Context::within(global(&line), streams, Some(folder));
    let result = run(line, &context).await;
    context.ended(result)
}

/// The name of an argument in tools: that of its option with underscores, or of the value.
pub fn name_in_tools(argument: &Arg) -> String {
    argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| long.replace('-', "_"))
}

/// Prints an error of the command line, and returns its exit code. It quotes arguments, so it is escaped like any text from outside.
fn show_misuse(error: &clap::Error, streams: Streams, words: &[String], definition: Command) -> u8 {
    let text = match error.kind() {
        // A command that needs another one behind it shows them.
        ErrorKind::MissingSubcommand if streams == Streams::Process => {
            let typed: Vec<_> = std::env::args().collect();
            let _ = write!(std::io::stderr().lock(), "{}", command_of(&typed, definition).render_help());
            return u8::try_from(error.exit_code()).unwrap_or(1);
        }
        ErrorKind::InvalidSubcommand if streams == Streams::Process => {
            let typed: Vec<_> = std::env::args().collect();
            let (problem, hint) = no_command(error, &command_of(&typed, definition));
            let out = Output::new(Format::Table, ColorWhen::Auto, Verbosity::Usual, streams);
            out.error(&problem, &[hint]);
            return u8::try_from(error.exit_code()).unwrap_or(1);
        }
        ErrorKind::UnknownArgument if streams == Streams::Process => {
            let typed: Vec<_> = std::env::args().collect();
            let (problem, hints) = no_argument(error, &command_of(&typed, definition));
            let out = Output::new(Format::Table, ColorWhen::Auto, Verbosity::Usual, streams);
            out.error(&problem, &hints);
            return u8::try_from(error.exit_code()).unwrap_or(1);
        }
        _ => error.render().to_string(),
    };
    let out = Output::new(Format::Table, ColorWhen::Auto, Verbosity::Usual, streams);
    let exit_code = u8::try_from(error.exit_code()).unwrap_or(1);
    if out.surface() == Surface::Tools {
        let problem = misuse_of_tool(error, &command_of(words, definition));
        out.error(problem.as_deref().unwrap_or_else(|| without_usage(&text)), &[]);
        return exit_code;
    }
    match text.trim_end().strip_prefix("error: ") {
        Some(problem) => out.error(problem, &[]),
        // Help is no error, and neither is a closed stdout.
        None if streams == Streams::Process => drop(error.print()),
        None => drop(out.text(&text)),
    }
    exit_code
}

/// What people type for a command that has another name in one of the programs; for none, there is no such command.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("undo", &["restore"]),
    ("revert", &["restore", "undo"]),
    ("rollback", &["restore", "undo"]),
    ("resume", &["run"]),
    ("rehearse", &["run"]),
    ("publish", &["show"]),
    ("unpublish", &["hide"]),
    ("pause", &["hide"]),
    ("unhide", &["show"]),
    ("unsold", &[]),
    ("add", &["create"]),
    ("insert", &["create"]),
    ("upload", &["import"]),
    ("remove", &["delete"]),
    ("rm", &["delete"]),
    ("ls", &["list"]),
    ("view", &["get"]),
    ("print", &["get"]),
    ("set", &["update"]),
    ("change", &["update"]),
    ("watch", &["events"]),
    ("follow", &["events"]),
    ("tail", &["events"]),
    ("why", &["status"]),
    ("costs", &["account"]),
    ("validate", &["check"]),
    ("import", &["run"]),
];

/// The command of these that was probably meant by a name.
pub fn meant_command(name: &str, names: &[&str]) -> Option<String> {
    match SYNONYMS.iter().find(|(typed, _)| *typed == name) {
        Some((_, known)) => {
            let meant = known.iter().find(|known| names.contains(known));
            meant.map(|meant| format!("Did you mean \"{meant}\"?"))
        }
        None => nearest::did_you_mean(name, names.iter().copied()).or_else(|| {
            // Of short names, none is near: `rn`.
            let lacks_one =
                |known: &&&str| known.len() == name.len() + 1 && known.starts_with(&name[..1]) && contains(known, name);
            let meant = names.iter().filter(|_| name.is_ascii() && name.len() > 1).find(lacks_one);
            meant.map(|meant| format!("Did you mean \"{meant}\"?"))
        }),
    }
}

/// Whether a text has these letters, in this order.
fn contains(text: &str, letters: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|other| other == letter))
}

/// What to say about an option or a word that a command does not take.
fn no_argument(error: &clap::Error, command: &Command) -> (String, Vec<Hint>) {
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) => typed.as_str(),
        _ => "",
    };
    let program = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let see = Hint::from(format!("to show how it is used: {program} --help"));
    let Some(name) = typed.strip_prefix("--") else {
        return (format!("{program} takes no further \"{typed}\""), vec![see]);
    };
    let options = command.get_arguments().filter(|argument| !argument.is_hide_set()).filter_map(Arg::get_long);
    let meant = nearest::did_you_mean(name, options).map(|meant| meant.replacen('"', "\"--", 1));
    (format!("{program} has no option {typed}"), meant.map(Hint::from).into_iter().chain([see]).collect())
}

/// What to say about a command that does not exist below this one.
fn no_command(error: &clap::Error, above: &Command) -> (String, Hint) {
    let name = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    let names: Vec<_> = above.get_subcommands().map(Command::get_name).collect();
    let meant = meant_command(name, &names).map(|meant| format!(". {meant}")).unwrap_or_default();
    let program = above.get_bin_name().unwrap_or_else(|| above.get_name());
    let hint = match names[..] {
        [only] => format!("did you mean: {program} {only} {name}"),
        _ => format!("to list the commands: {program} --help"),
    };
    (format!("there is no command {name}{meant}"), hint.into())
}

/// The command that these words run.
fn command_of(words: &[String], mut definition: Command) -> Command {
    definition.build();
    words.iter().fold(definition, |command, word| command.find_subcommand(word).cloned().unwrap_or(command))
}

/// An error without how the command is used, which is for people at a terminal.
fn without_usage(text: &str) -> &str {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    text.split("\n\nUsage:").next().unwrap_or(text).trim_end()
}

/// The same error about an argument of a tool; `None` for errors that calls of tools do not have.
fn misuse_of_tool(error: &clap::Error, command: &Command) -> Option<String> {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.as_str()],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    // They are shown as `--dealer-code <CODE>` and `<AMOUNT>`.
    let name = |shown: &str| command.get_arguments().find(|argument| argument.to_string() == shown).map(name_in_tools);
    let argument = name(texts(ContextKind::InvalidArg).first()?)?;
    let value = || texts(ContextKind::InvalidValue).join(" ");
    match error.kind() {
        ErrorKind::InvalidValue => {
            let meant = texts(ContextKind::SuggestedValue).first().map(|it| format!(" Did you mean {it:?}?"));
            let allowed = texts(ContextKind::ValidValue).join(", ");
            let allowed = if allowed.is_empty() { "not allowed".to_owned() } else { format!("not one of: {allowed}") };
            Some(format!("{argument}: {:?} is {allowed}.{}", value(), meant.unwrap_or_default()))
        }
        ErrorKind::ValueValidation => Some(format!("{argument}: {:?}: {}", value(), std::error::Error::source(error)?)),
        ErrorKind::ArgumentConflict => {
            let other = name(texts(ContextKind::PriorArg).first()?)?;
            Some(format!("{argument} cannot be used with {other}"))
        }
        _ => None,
    }
}

/// A time on the command line: `90`, `90s`, `10m`, `1h`.
///
/// # Errors
/// What to give instead.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => 0,
    };
    match digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds)) {
        Some(total) if seconds > 0 && total > 0 => Ok(Duration::from_secs(total)),
        _ => Err("expected a duration such as 90s, 10m or 1h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("10m", 600), ("1h", 3600), ("2d", 172_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "m", "0", "1w", "-1s", "99999999999999999999h", "å"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
