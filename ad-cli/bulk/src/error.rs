//! Why bulk work ends early.

use std::io;

use super::{import::JournalError, payloads::NotPayloads};

/// Why work on a file of payloads cannot be done, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// The file cannot be read, or is no file of payloads.
    #[error(transparent)]
    Input(#[from] NotPayloads),
    /// The journal cannot be used for this import.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A temporary file cannot be used.
    #[error("cannot create a temporary file {purpose}: {source}")]
    Temporary {
        /// What the file is for, such as `for the stock`.
        purpose: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// The caller could not show the findings.
    #[error("cannot write what was found: {0}")]
    Output(#[from] io::Error),
    /// The service refuses every request, or cannot be reached.
    #[error(transparent)]
    Service(#[from] ad_client::Error),
    /// The caller asked for an early end.
    #[error("interrupted")]
    Interrupted,
    /// A task panicked, which is a bug.
    #[error("internal error: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

impl BulkError {
    /// For `map_err` on a temporary file.
    pub fn temporary(purpose: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Temporary { purpose, source }
    }
}
