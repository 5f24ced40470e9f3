//! Finds the end of a JSON value without parsing it, also if only a part of it has been read.

use memchr::memchr2;

/// A search for the end of one value in consecutive texts.
#[derive(Debug, Default)]
pub struct JsonEnd {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    is_scalar: bool,
}

impl JsonEnd {
    /// The end of the value with which a text begins.
    pub fn of(text: &[u8]) -> Option<usize> {
        Self::default().find(text)
    }

    /// A search with this number of open brackets.
    pub fn of_open(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Length of the value in the text, in bytes, its closing bracket or quote included; a number or word ends before the next JSON
    /// punctuation or white space. `None` if the value may continue behind the text: pass the next text to the next call.
    pub fn find(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        if text.is_empty() {
            return None;
        }
        if self.is_string {
            at = self.string_end(text, 0)?;
            if self.depth == 0 {
                return Some(at);
            }
        }
        while let Some(byte) = text.get(at) {
            match byte {
                b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"' | b' ' | b'\t' | b'\r' | b'\n' if self.is_scalar => {
                    return Some(at);
                }
                b'"' => {
                    self.is_string = true;
                    at = self.string_end(text, at + 1)?;
                    if self.depth == 0 {
                        return Some(at);
                    }
                    continue;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => self.is_scalar = self.depth == 0,
            }
            at += 1;
        }
        None
    }

    /// The position after the closing quote of a string.
    fn string_end(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        if std::mem::take(&mut self.is_escaped) {
            at += 1;
        }
        loop {
            at += memchr2(b'"', b'\\', text.get(at..)?)? + 1;
            if text[at - 1] == b'"' {
                self.is_string = false;
                return Some(at);
            }
            // An escaped character does not end the string.
            self.is_escaped = at == text.len();
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_their_brackets_and_quotes_do_wherever_the_text_is_cut() {
        for (text, length) in [
            (r#"{"a":"}"} {"#, Some(9)),
            (r#"{"a":[{"b":"\"}\\"}]},"#, Some(21)),
            (r#""a\"b", 1"#, Some(6)),
            ("12, 3", Some(2)),
            ("12: 3", Some(2)),
            ("true]", Some(4)),
            ("}, 1", Some(1)),
            ("12", None),
            ("", None),
            (r#"{"a": 1"#, None),
            (r#"{"a": "\"#, None),
            (r#""abc"#, None),
        ] {
            for cut in 0..=text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut end = JsonEnd::default();
                let found = end.find(first).or_else(|| Some(end.find(second)? + cut));
                assert_eq!(found, length, "{text} cut at {cut}");
            }
        }
    }
}
