//! Commands as hints suggest them: a command line for people, a tool with its arguments for assistants.

use std::borrow::Cow;

use serde_json::Value;

use super::{desired::quoted, plain};

/// The reader of hints and findings, which decides how these name commands and arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Surface {
    /// A person at a command line.
    #[default]
    CommandLine,
    /// An assistant, which calls tools.
    Tools,
}

impl Surface {
    /// The name of an argument that has an option: `--dry-run`, or `dry_run` of a tool.
    pub fn argument(self, name: &str) -> String {
        match self {
            Self::CommandLine => option(name),
            Self::Tools => format!("`{name}`"),
        }
    }

    /// The name of payloads that do not come from a file.
    pub const fn payloads(self) -> &'static str {
        match self {
            Self::CommandLine => "stdin",
            Self::Tools => "payload",
        }
    }

    /// An option of every command. Tools have those of the program that serves them.
    pub fn setting(self, name: &str) -> String {
        match self {
            Self::CommandLine => option(name),
            Self::Tools => format!("{} of `ad-cli mcp`, which the user starts", option(name)),
        }
    }
}

fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// A command with arguments, under their names as a tool has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    command: &'static str,
    has_tool: bool,
    /// The name of its tool, if that is not the command's.
    tool: Option<&'static str>,
    arguments: Vec<Argument>,
}

#[derive(Debug, Clone, PartialEq)]
struct Argument {
    name: &'static str,
    place: Place,
    value: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// With what stands on a command line for a value that the reader knows; otherwise empty.
    Positional(&'static str),
    /// With what stands for its value, likewise.
    Option(&'static str),
    Flag,
}

impl Invocation {
    /// A command that is also a tool.
    pub fn new(command: &'static str) -> Self {
        Self { command, has_tool: true, tool: None, arguments: Vec::new() }
    }

    /// The same, whose tool has a name of its own.
    #[must_use]
    pub fn as_tool(self, tool: &'static str) -> Self {
        Self { tool: Some(tool), ..self }
    }

    /// A command that is no tool: an assistant asks its user to run it.
    pub fn of_user(command: &'static str) -> Self {
        Self { has_tool: false, ..Self::new(command) }
    }

    /// With a positional argument. On a command line, its value is quoted for a shell, and each item of an array is a word of
    /// its own.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.and(name, Place::Positional(""), Some(value.into()))
    }

    /// With a positional argument whose value the reader knows; `value` stands for it on a command line.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: &'static str) -> Self {
        self.and(name, Place::Positional(value), None)
    }

    /// With an option: on a command line, the name `dealer_code` becomes `--dealer-code`.
    #[must_use]
    pub fn option(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.and(name, Place::Option(""), Some(value.into()))
    }

    /// With an option whose value the reader knows; `value` stands for it on a command line.
    #[must_use]
    pub fn some_option(self, name: &'static str, value: &'static str) -> Self {
        self.and(name, Place::Option(value), None)
    }

    /// With an option that has no value.
    #[must_use]
    pub fn flag(self, name: &'static str) -> Self {
        self.and(name, Place::Flag, Some(Value::Bool(true)))
    }

    fn and(mut self, name: &'static str, place: Place, value: Option<Value>) -> Self {
        self.arguments.push(Argument { name, place, value });
        self
    }

    /// The command as a command line, or as a call of a tool in words: ``tool `retry` with dealer_code``.
    pub fn on(&self, surface: Surface) -> String {
        match surface {
            Surface::CommandLine => self.command_line(),
            Surface::Tools if self.has_tool => self.tool(),
            Surface::Tools => format!("`{}`, which the user runs in a terminal", self.command_line()),
        }
    }

    fn command_line(&self) -> String {
        let mut line = format!("ad-cli {}", self.command);
        for Argument { name, place, value } in &self.arguments {
            let words = match (value, place) {
                (None, Place::Positional(value) | Place::Option(value)) => (*value).to_owned(),
                (None, Place::Flag) => String::new(),
                (Some(Value::Array(values)), _) => {
                    values.iter().map(|value| quoted(&plain(value))).collect::<Vec<_>>().join(" ")
                }
                (Some(value), _) => quoted(&plain(value)),
            };
            match place {
                Place::Positional(_) => line.extend([" ", &words]),
                Place::Option(_) => line.extend([" ", &option(name), " ", &words]),
                Place::Flag => line.extend([" ", &option(name)]),
            }
        }
        line
    }

    fn tool(&self) -> String {
        let name = self.tool.map_or_else(|| self.command.replace([' ', '-'], "_"), str::to_owned);
        let tool = format!("tool `{name}`");
        let argument = |Argument { name, value, .. }: &Argument| match value {
            None => Cow::Borrowed(*name),
            Some(value) => Cow::Owned(format!("{name} {value}")),
        };
        let arguments: Vec<_> = self.arguments.iter().map(argument).collect();
        match &arguments[..] {
            [] => tool,
            [only] => format!("{tool} with {only}"),
            [others @ .., last] => format!("{tool} with {} and {last}", others.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_reads_as_a_command_line_or_as_a_call_of_a_tool() {
        let price = Invocation::new("price").with("source_id", "car 1").with_some("amount", "AMOUNT").flag("reduced");
        assert_eq!(price.on(Surface::CommandLine), "ad-cli price 'car 1' AMOUNT --reduced");
        assert_eq!(price.on(Surface::Tools), "tool `price` with source_id \"car 1\", amount and reduced true");
        let retry = Invocation::new("retry").with("source_ids", json!(["car-1"])).some_option("dealer_code", "CODE");
        assert_eq!(retry.on(Surface::CommandLine), "ad-cli retry car-1 --dealer-code CODE");
        assert_eq!(retry.on(Surface::Tools), "tool `retry` with source_ids [\"car-1\"] and dealer_code");
        assert_eq!(Invocation::new("pole-position").on(Surface::Tools), "tool `pole_position`");
        let apply = Invocation::new("stock apply").as_tool("apply_stock_plan").with("id", "7");
        assert_eq!(apply.on(Surface::CommandLine), "ad-cli stock apply 7");
        assert_eq!(apply.on(Surface::Tools), "tool `apply_stock_plan` with id \"7\"");
        let login = Invocation::of_user("login");
        assert_eq!(login.on(Surface::CommandLine), "ad-cli login");
        assert_eq!(login.on(Surface::Tools), "`ad-cli login`, which the user runs in a terminal");
    }

    #[test]
    fn arguments_and_settings_are_named_as_the_reader_gives_them() {
        assert_eq!(Surface::CommandLine.argument("dry_run"), "--dry-run");
        assert_eq!(Surface::Tools.argument("dry_run"), "`dry_run`");
        assert_eq!(Surface::CommandLine.setting("timeout"), "--timeout");
        assert_eq!(Surface::Tools.setting("timeout"), "--timeout of `ad-cli mcp`, which the user starts");
    }
}
