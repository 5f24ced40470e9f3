//! Text for people with colours in it.

use std::fmt;

use ad_core::printable;

use super::Tone;

/// A text in which nothing but its own colours commands the terminal: whatever is added to it passes [`printable`].
#[derive(Debug, Clone)]
pub struct Styled {
    text: String,
    colors: bool,
}

impl Styled {
    pub(super) fn new(colors: bool) -> Self {
        Self { text: String::new(), colors }
    }

    /// Adds a text, on one line.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text += &printable::line(text);
        self
    }

    /// Adds a text in its colour, on one line.
    pub fn toned(&mut self, tone: Tone, text: &str) -> &mut Self {
        let text = printable::line(text);
        if self.colors {
            self.text += &tone.paint(&text);
        } else {
            self.text += &text;
        }
        self
    }

    /// Adds a long text as lines of at most this width: the first with one indent, which may have a name behind it, and the others with
    /// another. A word that is too long, such as an address, has a line of its own and stays whole.
    pub fn wrapped(&mut self, first: &str, indent: &str, long: &str, width: usize) {
        let mut line = first.to_owned();
        let mut is_empty = true;
        for word in long.split_whitespace() {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
                self.push(&line).end_line();
                indent.clone_into(&mut line);
            } else if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.push(&line).end_line();
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        self.text.push('\n');
    }

    /// The text, with its colours.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Styled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
