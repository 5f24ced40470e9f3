//! Text for people with colours in it.

use ad_core::printable;

use super::{Tone, cells::Cell, painted, table};

/// A text with colours. Everything that is added to it is escaped by [`printable`].
#[derive(Debug, Clone)]
pub struct Styled {
    text: String,
    colors: bool,
    width: usize,
}

impl Styled {
    pub(super) fn new(colors: bool, width: usize) -> Self {
        Self { text: String::new(), colors, width }
    }

    /// Adds a text, on one line.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text += &printable::line(text);
        self
    }

    /// Adds a text in its colour, on one line.
    pub fn toned(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.text += &painted(&printable::line(text), Some(tone), self.colors);
        self
    }

    /// Adds what people see of a value, on one line.
    pub fn cell(&mut self, cell: &Cell) -> &mut Self {
        match cell.tone {
            Some(tone) => self.toned(tone, &cell.text),
            None => self.push(&cell.text),
        }
    }

    /// Adds a text, wrapped to the terminal and indented.
    pub fn block(&mut self, indent: usize, text: &str) -> &mut Self {
        for line in table::wrapped(text, self.width.saturating_sub(indent)) {
            self.push(&" ".repeat(indent)).push(&line).end_line();
        }
        self
    }

    /// Adds the words of texts in their colours, with a space between two of them, in lines that fit the terminal. The first word stands
    /// behind what the line has; further lines are indented.
    pub fn flow(&mut self, indent: usize, parts: &[(Option<Tone>, &str)]) -> &mut Self {
        let mut begins = true;
        for (tone, text) in parts {
            for word in printable::line(text).split(' ').filter(|word| !word.is_empty()) {
                let length = textwrap::core::display_width(word);
                if begins {
                    begins = false;
                } else if self.has_room(length + 1) {
                    self.text.push(' ');
                } else {
                    self.end_line();
                    self.text += &" ".repeat(indent);
                }
                self.text += &painted(word, *tone, self.colors);
            }
        }
        self
    }

    /// Whether this number of further characters fits into the line.
    pub fn has_room(&self, length: usize) -> bool {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        textwrap::core::display_width(line).saturating_add(length) <= self.width
    }

    /// Ends the line with a line feed.
    pub fn end_line(&mut self) {
        self.text.push('\n');
    }

    /// The text, with its colours.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
