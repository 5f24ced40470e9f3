//! Answers that are kept for repeated requests, as the API writes them and as their columns hold them.

use ad_core::ports::StoreError;

/// The parts of a kept answer. Its text has the status on the first line, the headers on the second and the body behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display("{status}\n{headers}\n{body}")]
pub struct AnswerColumns<'a> {
    pub status: u16,
    /// Names and values as JSON.
    pub headers: &'a str,
    /// The JSON text.
    pub body: &'a str,
}

impl<'a> AnswerColumns<'a> {
    /// The parts of an answer's text.
    ///
    /// # Errors
    /// [`StoreError::Faulty`] if it is no such text.
    pub fn of(text: &'a str) -> Result<Self, StoreError> {
        let mut lines = text.splitn(3, '\n');
        let parts = (lines.next().and_then(|status| status.parse().ok()), lines.next(), lines.next());
        match parts {
            (Some(status), Some(headers), Some(body)) => Ok(Self { status, headers, body }),
            _ => Err(StoreError::Faulty("not an answer to keep".into())),
        }
    }
}
