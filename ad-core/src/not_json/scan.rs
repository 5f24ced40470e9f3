//! Finds where a text stops being JSON, with what was expected there. Nothing is kept of the text, and nesting takes no stack of the
//! machine.

/// Where a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    /// The place, in bytes: the beginning of the value or sign that cannot stand there.
    pub(super) at: usize,
    pub(super) expected: Awaited,
    /// Where the last name or value before it begins.
    pub(super) last: usize,
    /// The bracket that is open there.
    pub(super) within: Option<u8>,
}

/// What may stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// A value: behind a colon, in a list, or at the beginning.
    Value,
    /// A name in quotes.
    Name,
    /// The colon behind a name.
    Colon,
    /// A comma, or the end of the list or object.
    Comma,
    /// Nothing more: the value is complete.
    End,
    /// A character of a text other than a control character.
    Character,
    /// What follows a backslash in a text; the place is that of the backslash.
    Escape,
    /// The other half of a surrogate pair; the place is that of the backslash of the half.
    OtherHalf,
}

/// The place where a text stops being JSON; `None` if it does not, or only ends too early.
pub(super) fn stop(text: &str) -> Option<Stop> {
    let mut scan = JsonScan { bytes: text.as_bytes(), at: 0, last: 0, open: Vec::new() };
    let mut expected = Awaited::Value;
    loop {
        scan.at = scan.behind_space(scan.at);
        let byte = *scan.bytes.get(scan.at)?;
        match scan.step(expected, byte) {
            Ok(next) => expected = next,
            Err(Halt::Early) => return None,
            Err(Halt::At(at, expected)) => {
                return Some(Stop { at, expected, last: scan.last, within: scan.open.last().copied() });
            }
        }
    }
}

struct JsonScan<'a> {
    bytes: &'a [u8],
    at: usize,
    last: usize,
    /// The brackets that are open.
    open: Vec<u8>,
}

/// Why a scan ends before the value does.
enum Halt {
    /// The text ends within the value.
    Early,
    /// At this byte, something else stands than what is expected there.
    At(usize, Awaited),
}

impl JsonScan<'_> {
    fn behind_space(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count()
    }

    /// Reads one sign, name or value, and says what may follow.
    fn step(&mut self, expected: Awaited, byte: u8) -> Result<Awaited, Halt> {
        let wrong = Halt::At(self.at, expected);
        match (expected, byte) {
            (Awaited::Value, b'{' | b'[') => {
                let end = self.behind_space(self.at + 1);
                let is_empty = self.bytes.get(end) == Some(&(byte + 2));
                (self.last, self.at) = (self.at, if is_empty { end + 1 } else { self.at + 1 });
                if is_empty {
                    return Ok(self.behind_a_value());
                }
                self.open.push(byte);
                Ok(if byte == b'{' { Awaited::Name } else { Awaited::Value })
            }
            (Awaited::Value | Awaited::Name, b'"') => {
                let end = self.text(self.at)?;
                (self.last, self.at) = (self.at, end);
                Ok(if expected == Awaited::Name { Awaited::Colon } else { self.behind_a_value() })
            }
            (Awaited::Value, b'-' | b'0'..=b'9') => {
                let length = number(&self.bytes[self.at..]).ok_or(wrong)?;
                (self.last, self.at) = (self.at, self.at + length);
                Ok(self.behind_a_value())
            }
            (Awaited::Value, b't' | b'f' | b'n') => {
                let rest = &self.bytes[self.at..];
                let words: [&[u8]; 3] = [b"true", b"false", b"null"];
                let word = words.iter().find(|word| rest.starts_with(word)).ok_or(wrong)?;
                if rest.get(word.len()).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_') {
                    return Err(Halt::At(self.at, expected));
                }
                (self.last, self.at) = (self.at, self.at + word.len());
                Ok(self.behind_a_value())
            }
            (Awaited::Colon, b':') => {
                self.at += 1;
                Ok(Awaited::Value)
            }
            (Awaited::Comma, b',') => {
                self.at += 1;
                Ok(if self.open.last() == Some(&b'{') { Awaited::Name } else { Awaited::Value })
            }
            (Awaited::Comma, b'}' | b']') if self.open.last().is_some_and(|open| open + 2 == byte) => {
                self.open.pop();
                self.last = self.at;
                self.at += 1;
                Ok(self.behind_a_value())
            }
            _ => Err(wrong),
        }
    }

    fn behind_a_value(&self) -> Awaited {
        if self.open.is_empty() { Awaited::End } else { Awaited::Comma }
    }

    /// The end of the text whose quote is there.
    fn text(&self, quote: usize) -> Result<usize, Halt> {
        let mut at = quote + 1;
        loop {
            match self.bytes.get(at) {
                None => return Err(Halt::Early),
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at = self.escape(at)?,
                Some(0..0x20) => return Err(Halt::At(at, Awaited::Character)),
                Some(_) => at += 1,
            }
        }
    }

    /// The end of the escape whose backslash is there.
    fn escape(&self, at: usize) -> Result<usize, Halt> {
        match self.bytes.get(at + 1) {
            None => Err(Halt::Early),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.unit(at).ok_or(Halt::At(at, Awaited::Escape))? {
                0xD800..0xDC00 if self.unit(at + 6).is_some_and(|unit| (0xDC00..0xE000).contains(&unit)) => Ok(at + 12),
                0xD800..0xE000 => Err(Halt::At(at, Awaited::OtherHalf)),
                _ => Ok(at + 6),
            },
            Some(_) => Err(Halt::At(at, Awaited::Escape)),
        }
    }

    /// The number of the escape `\uXXXX` that begins there.
    fn unit(&self, at: usize) -> Option<u16> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// The length of the number of JSON that the bytes begin with; `None` if it is none, such as `007`, `5.` and `-`.
fn number(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    match digits(at) {
        0 => return None,
        2.. if bytes[at] == b'0' => return None,
        whole => at += whole,
    }
    if bytes.get(at) == Some(&b'.') {
        let decimals = digits(at + 1);
        if decimals == 0 {
            return None;
        }
        at += 1 + decimals;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        if power == 0 {
            return None;
        }
        at += 1 + sign + power;
    }
    Some(at)
}
