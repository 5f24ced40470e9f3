//! What to do about a failure, for people at a terminal and for assistants.

use ad_bulk::{Invocation, Surface};

/// A hint for the next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Hint {
    /// A sentence without a command, the same on every surface.
    Text(String),
    /// What for, and the command.
    Run(String, Invocation),
    /// What for, and an argument of the command that failed, with its value.
    Argument(String, &'static str, String),
    /// What for, and an option of every command, with its value.
    Setting(String, &'static str, String),
}

impl Hint {
    /// The hint as text for this reader: the sentence, or `purpose: command`.
    pub fn on(&self, surface: Surface) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Run(purpose, command) => format!("{purpose}: {}", command.on(surface)),
            Self::Argument(purpose, name, value) => format!("{purpose}: {} {value}", surface.argument(name)),
            Self::Setting(purpose, name, value) => match surface {
                Surface::CommandLine => format!("{purpose}: {} {value}", surface.setting(name)),
                Surface::Tools => format!("{purpose}: {}", surface.setting(name)),
            },
        }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<P: Into<String>> From<(P, Invocation)> for Hint {
    fn from((purpose, command): (P, Invocation)) -> Self {
        Self::Run(purpose.into(), command)
    }
}
