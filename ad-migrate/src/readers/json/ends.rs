//! Where a JSON value ends, however much of it is there, without reading what is in it.

use memchr::memchr2;

/// The end of one value, looked for in one text after the other.
#[derive(Debug, Default)]
pub(super) struct End {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    is_scalar: bool,
}

impl End {
    /// The end of so many brackets that have been opened before.
    pub(super) fn of_open(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Bytes of the value in the text, which goes on where the last one ended; `None` when all belong to it, and more may.
    pub(super) fn find(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < text.len() {
            if self.is_escaped {
                (self.is_escaped, at) = (false, at + 1);
            } else if self.is_string {
                at += memchr2(b'"', b'\\', &text[at..])? + 1;
                if text[at - 1] == b'\\' {
                    self.is_escaped = true;
                } else {
                    self.is_string = false;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            } else {
                match text[at] {
                    b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.is_scalar => return Some(at),
                    b'"' => self.is_string = true,
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
        }
        None
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
            ("true]", Some(4)),
            ("12", None),
            ("", None),
            (r#"{"a": 1"#, None),
            (r#"{"a": "\"#, None),
            (r#""abc"#, None),
        ] {
            for cut in 0..=text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut end = End::default();
                let found = end.find(first).or_else(|| Some(end.find(second)? + cut));
                assert_eq!(found, length, "{text} cut at {cut}");
            }
        }
    }
}
