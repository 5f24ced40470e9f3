//! How a command fails: exit codes, messages and hints.

use std::io;

use super::{
    Hint,
    output::{Output, UnknownField},
};

/// The exit codes, as `--help` and docs/cli.md have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Some ads failed, or did not reach the expected state.
    Failed = 1,
    /// The command line, or a file named on it, is wrong.
    Usage = 2,
    /// The service or the local check rejected a payload.
    Rejected = 3,
    /// The token is missing, wrong or expired, or may not do this.
    Unauthorised = 4,
    /// The service was not reached.
    Unreachable = 5,
    /// Ctrl-C: 128 and the number of SIGINT, as shells have it.
    Interrupted = 130,
}

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A message for people, with hints.
    #[error("{message}")]
    Explained {
        /// The exit code of the process.
        exit: Exit,
        /// The error: its first line is a summary.
        message: String,
        /// Hints for the next step, one per line.
        hints: Vec<Hint>,
    },
    /// All has been shown already.
    #[error("see above")]
    Shown(Exit),
    /// Stdout cannot be written, for example to a closed pipe.
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
}

impl From<io::Error> for Failure {
    /// The error of an answer: stdout cannot be written, or a selected field is unknown.
    fn from(error: io::Error) -> Self {
        error.downcast::<UnknownField>().map_or_else(Self::Output, Self::from)
    }
}

impl From<UnknownField> for Failure {
    fn from(error: UnknownField) -> Self {
        Self::usage(format!("fields: {error}")).hint(error.hint)
    }
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self::Explained { exit, message: message.into(), hints: Vec::new() }
    }

    /// A failure that ends with exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// The command line or a file named on it is wrong (2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A rejected payload: exit code 3.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::new(Exit::Rejected, message)
    }

    /// A refused or missing token: exit code 4.
    pub fn unauthorised(message: impl Into<String>) -> Self {
        Self::new(Exit::Unauthorised, message)
    }

    /// The service was not reached (5).
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(Exit::Unreachable, message)
    }

    /// A run that Ctrl-C has ended: exit code 130.
    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// Ended by Ctrl-C, with what was done before (130).
    pub fn interrupted_after(done: &str) -> Self {
        Self::new(Exit::Interrupted, format!("interrupted after {done}"))
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        if let Self::Explained { hints, .. } = &mut self {
            hints.push(hint.into());
        }
        self
    }

    /// The same with another message.
    #[must_use]
    pub fn with_message(mut self, text: impl Into<String>) -> Self {
        if let Self::Explained { message, .. } = &mut self {
            *message = text.into();
        }
        self
    }

    /// The same without the message, which the answer has; the hints are shown now.
    #[must_use]
    pub fn shown(self, out: Output) -> Self {
        if let Self::Explained { hints, .. } = &self {
            for hint in hints {
                out.headed_note("help:", &hint.on(out.surface()));
            }
        }
        Self::Shown(self.exit())
    }

    /// The exit code of the process.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Explained { exit, .. } | Self::Shown(exit) => *exit,
            Self::Output(_) => Exit::Failed,
        }
    }

    /// Whether stdout was closed early, as `| head` does; this is no error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
