//! Where a JSON value ends, without reading what is in it.

use memchr::memchr2;

/// The end of the value that begins with the first byte: behind its closing bracket or quote. What is no object, array or string
/// ends before the next bracket, comma or white space. `None` when the text ends first.
pub(super) fn end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'{' | b'[' | b'"' => bracketed(text),
        _ => text.iter().skip(1).position(|byte| b" \t\r\n,[]{}\"".contains(byte)).map(|length| length + 1),
    }
}

fn bracketed(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                at = string_end(text, at)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Behind the quote that closes the string whose content begins here.
pub(super) fn string_end(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = memchr2(b'"', b'\\', text.get(at..)?)?;
        at += found + 1;
        if text[at - 1] == b'"' {
            return Some(at);
        }
        // What follows a backslash ends nothing.
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_their_brackets_and_quotes_do() {
        for (text, length) in [
            (r#"{"a":"}"} {"#, Some(9)),
            (r#"{"a":[{"b":"\"}\\"}]},"#, Some(21)),
            (r#""a\"b", 1"#, Some(6)),
            ("12, 3", Some(2)),
            ("true]", Some(4)),
            ("}, 1", Some(1)),
            ("12", None),
            ("", None),
            (r#"{"a": 1"#, None),
            (r#"{"a": "\"#, None),
            (r#""abc"#, None),
        ] {
            assert_eq!(end(text.as_bytes()), length, "{text}");
        }
    }
}
