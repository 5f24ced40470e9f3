//! Errors of files with one JSON object per line.

use std::io;

use ad_core::ports::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with the line, in a sentence.
    pub message: String,
}

/// Why no line was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{}", listed(.0))]
    Lines(Vec<LineError>),
    #[error("cannot read the lines: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn listed(errors: &[LineError]) -> String {
    errors.iter().map(|error| format!("line {}: {}", error.line, error.message)).collect::<Vec<_>>().join("\n")
}
