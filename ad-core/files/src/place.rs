//! A position in a file.

/// A position in a file: lines and columns from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// The character in the line; 0 when a row of a table is meant as a whole.
    pub column: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl Place {
    /// The position after this text.
    #[must_use]
    pub fn after(self, text: &[u8]) -> Self {
        let characters =
            |text: &[u8]| text.iter().map(|byte| u64::from(*byte & 0b1100_0000 != 0b1000_0000)).sum::<u64>();
        match memchr::memrchr(b'\n', text) {
            None => Self { column: self.column + characters(text), ..self },
            Some(last) => {
                let lines = memchr::memchr_iter(b'\n', text).count();
                Self { line: self.line + lines as u64, column: 1 + characters(&text[last + 1..]) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        assert_eq!(Place::default().after(b""), Place { line: 1, column: 1 });
        assert_eq!(Place::default().after("åäö".as_bytes()), Place { line: 1, column: 4 });
        assert_eq!(Place { line: 3, column: 9 }.after("x\r\n\nå ".as_bytes()), Place { line: 5, column: 3 });
    }
}
