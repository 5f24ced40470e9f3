//! Errors of files with one JSON object per line.

use std::{fmt, io};

use ad_core::ports::StoreError;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Every line that is wrong.
    #[error("{}", Lines(.0))]
    Lines(Vec<LineError>),
    /// The lines cannot be read.
    #[error("cannot read the lines: {0}")]
    Read(#[from] io::Error),
    /// The database did not take them.
    #[error(transparent)]
    Store(#[from] StoreError),
}

struct Lines<'a>(&'a [LineError]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(formatter, "{newline}line {}: {}", error.line, error.message)?;
        }
        Ok(())
    }
}
