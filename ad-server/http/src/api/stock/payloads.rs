//! The payloads of a stock, cut out of its text as it comes: lines of NDJSON, or the items of a JSON array.

use ad_core::{
    model::PlanError,
    not_json,
    rulebook::size::{MOST_LEVELS, deeper_than},
    violation::Code,
};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::api::{MAX_BODY, body::BYTE_ORDER_MARK, json_size::parsed_size};

/// A payload, and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct StockPayload {
    /// The line, or the place in the array, from 1.
    pub(super) line: u64,
    /// An estimate of its size in memory.
    pub(super) bytes: usize,
    pub(super) object: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing but whitespace has come.
    Unknown,
    Lines,
    /// The first line ended within an object: the whole body is one.
    Object,
    Array(Place),
}

/// A place in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind the bracket or a comma.
    BeforeItem {
        may_end: bool,
    },
    /// In an item that begins at the start of the buffer.
    InItem {
        depth: usize,
        in_text: bool,
        is_escaped: bool,
    },
    AfterItem,
    /// Behind the closing bracket.
    End,
}

/// Cuts payloads out of a text that comes in pieces. It keeps no more than a payload and a piece.
#[derive(Debug)]
pub(super) struct Payloads {
    form: Form,
    buffer: Vec<u8>,
    /// Where the text begins that was not given out yet.
    start: usize,
    /// Up to where it has been looked at.
    seen: usize,
    line: u64,
}

fn broken(code: Code, line: u64, text: &str) -> PlanError {
    PlanError::of_body(code, Some(line), text)
}

fn not_json(line: u64, text: &str) -> PlanError {
    let cure = "Send one payload on each line, or a JSON array of payloads.";
    PlanError::cured(Code::NotJson, Some(line), text, cure)
}

impl Payloads {
    pub(super) fn new() -> Self {
        Self { form: Form::Unknown, buffer: Vec::new(), start: 0, seen: 0, line: 0 }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.buffer.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// The next payload that has come whole; `None` until more has come. After the last piece, `ended` is set.
    pub(super) fn next(&mut self, ended: bool) -> Result<Option<StockPayload>, PlanError> {
        if self.form == Form::Unknown {
            self.begin(ended);
        }
        let payload = match self.form {
            Form::Unknown => None,
            Form::Lines => self.next_line(ended)?,
            Form::Object => self.whole(ended)?,
            Form::Array(place) => self.next_item(place, ended)?,
        };
        let is_too_long = payload.is_none() && self.buffer.len() - self.start > MAX_BODY;
        if is_too_long { Err(too_long(self.line.saturating_add(1))) } else { Ok(payload) }
    }

    /// Finds out the form from the first characters.
    fn begin(&mut self, ended: bool) {
        if self.buffer.len() < BYTE_ORDER_MARK.len() && !ended {
            return;
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
        }
        let blank = self.buffer[self.start..].iter().take_while(|byte| byte.is_ascii_whitespace());
        let (blank, first) = (blank.count(), self.start);
        match self.buffer.get(first + blank) {
            None => {}
            Some(b'[') => {
                self.start = first + blank + 1;
                self.form = Form::Array(Place::BeforeItem { may_end: true });
            }
            // Blank lines count.
            Some(_) => self.form = Form::Lines,
        }
        self.seen = self.start;
    }

    fn next_line(&mut self, ended: bool) -> Result<Option<StockPayload>, PlanError> {
        loop {
            let end = self.buffer[self.seen..].iter().position(|byte| *byte == b'\n').map(|at| self.seen + at);
            let is_last = end.is_none();
            if is_last && (!ended || self.start == self.buffer.len()) {
                self.seen = self.buffer.len();
                return Ok(None);
            }
            let end = end.unwrap_or(self.buffer.len());
            let (begin, next) = (self.start, (end + 1).min(self.buffer.len()));
            self.line += 1;
            let text = &self.buffer[begin..end];
            if text.iter().all(u8::is_ascii_whitespace) {
                (self.start, self.seen) = (next, next);
                continue;
            }
            if self.line == 1 && !is_last && is_cut(text) {
                self.form = Form::Object;
                return self.whole(ended);
            }
            let payload = parsed(text, self.line, is_last);
            (self.start, self.seen) = (next, next);
            return payload.map(Some);
        }
    }

    /// The body as one object, once it has come.
    fn whole(&mut self, ended: bool) -> Result<Option<StockPayload>, PlanError> {
        let text = &self.buffer[self.start..];
        if !ended || text.is_empty() {
            return Ok(None);
        }
        let payload = parsed(text, 1, true);
        self.start = self.buffer.len();
        payload.map(Some)
    }

    fn next_item(&mut self, mut place: Place, ended: bool) -> Result<Option<StockPayload>, PlanError> {
        while let Some(&byte) = self.buffer.get(self.seen) {
            let next = match place {
                Place::BeforeItem { .. } | Place::AfterItem | Place::End if byte.is_ascii_whitespace() => place,
                Place::BeforeItem { may_end: true } | Place::AfterItem if byte == b']' => Place::End,
                Place::AfterItem if byte == b',' => Place::BeforeItem { may_end: false },
                Place::BeforeItem { .. } if byte == b'{' => {
                    self.start = self.seen;
                    self.line += 1;
                    Place::InItem { depth: 1, in_text: false, is_escaped: false }
                }
                Place::InItem { depth, in_text: true, is_escaped } => Place::InItem {
                    depth,
                    in_text: is_escaped || byte != b'"',
                    is_escaped: !is_escaped && byte == b'\\',
                },
                Place::InItem { depth, .. } => match byte {
                    b'"' => Place::InItem { depth, in_text: true, is_escaped: false },
                    b'{' | b'[' => Place::InItem { depth: depth + 1, in_text: false, is_escaped: false },
                    b'}' | b']' if depth == 1 => {
                        self.seen += 1;
                        let payload = parsed(&self.buffer[self.start..self.seen], self.line, false);
                        self.start = self.seen;
                        self.form = Form::Array(Place::AfterItem);
                        return payload.map(Some);
                    }
                    b'}' | b']' => Place::InItem { depth: depth - 1, in_text: false, is_escaped: false },
                    _ => place,
                },
                Place::BeforeItem { .. } => {
                    return Err(not_json(self.line + 1, "An item of the array is not a JSON object."));
                }
                Place::AfterItem => {
                    let text = "A comma, or the bracket ] at the end, is missing behind this item of the array.";
                    return Err(not_json(self.line, text));
                }
                Place::End => {
                    return Err(not_json(self.line.max(1), "Something stands behind the array."));
                }
            };
            self.seen += 1;
            place = next;
            if !matches!(place, Place::InItem { .. }) {
                self.start = self.seen;
            }
        }
        self.form = Form::Array(place);
        if ended && place != Place::End {
            return Err(broken(Code::IncompleteBody, self.line.max(1), "The array does not end with ]."));
        }
        Ok(None)
    }
}

fn too_long(line: u64) -> PlanError {
    broken(Code::TooLarge, line, &format!("The payload is too large: at most {MAX_BODY} bytes."))
}

/// Whether a text is the beginning of JSON.
fn is_cut(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

/// The object that a text is.
fn parsed(text: &[u8], line: u64, is_last: bool) -> Result<StockPayload, PlanError> {
    if text.len() > MAX_BODY {
        return Err(too_long(line));
    }
    let bytes = parsed_size(text);
    let value: Value = serde_json::from_slice(text).map_err(|error| {
        if error.is_eof() && is_last {
            return broken(Code::IncompleteBody, line, "The body ends within this payload.");
        }
        let rest = &text[error.column().saturating_sub(1).min(text.len())..];
        if error.is_syntax() && rest.first() == Some(&b'{') && is_whole(text, rest) {
            return not_json(
                line,
                "Several payloads stand on this line. curl removes the ends of lines with -d: use --data-binary.",
            );
        }
        if error.is_eof() {
            return not_json(line, "The payload is not whole: it was cut off, or a bracket or quote is missing.");
        }
        not_json(line, &format!("JSON parse error: {}", not_json::explanation(text, &error)))
    })?;
    if deeper_than(&value, MOST_LEVELS) {
        let text = format!("The payload is nested too deeply: at most {MOST_LEVELS} levels.");
        return Err(not_json(line, &text));
    }
    match value {
        Value::Object(object) => Ok(StockPayload { line, bytes, object }),
        _ => Err(not_json(line, "The payload is not a JSON object.")),
    }
}

/// Whether what stands before the rest of a text is JSON.
fn is_whole(text: &[u8], rest: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(&text[..text.len() - rest.len()]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and source ids of the payloads of a text that comes in pieces of a size, or the error.
    fn cut(text: &[u8], size: usize) -> Result<Vec<(u64, String)>, PlanError> {
        let (mut payloads, mut found) = (Payloads::new(), Vec::new());
        let mut take = |payloads: &mut Payloads, ended| {
            while let Some(StockPayload { line, object, .. }) = payloads.next(ended)? {
                found.push((line, object.get("source_id").and_then(Value::as_str).unwrap_or_default().to_owned()));
            }
            Ok::<_, PlanError>(())
        };
        for piece in text.chunks(size) {
            payloads.push(piece);
            take(&mut payloads, false)?;
        }
        take(&mut payloads, true)?;
        Ok(found)
    }

    /// The same for every size of the pieces, which changes nothing.
    fn cut_anyhow(text: &str) -> Result<Vec<(u64, String)>, PlanError> {
        let whole = cut(text.as_bytes(), text.len().max(1));
        for size in 1..text.len().min(40) {
            assert_eq!(cut(text.as_bytes(), size), whole, "{text} in pieces of {size}");
        }
        whole
    }

    fn ids(ids: &[(u64, &str)]) -> Vec<(u64, String)> {
        ids.iter().map(|(line, id)| (*line, (*id).to_owned())).collect()
    }

    #[test]
    fn payloads_are_cut_out_of_lines_and_of_arrays() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n\n", &[]),
            ("{\"source_id\":\"a\"}\n{\"source_id\":\"b\"}\n", &[(1, "a"), (2, "b")]),
            ("{\"source_id\":\"a\"}\r\n\r\n  {\"source_id\":\"b\"}", &[(1, "a"), (3, "b")]),
            ("\u{feff}\n{\"source_id\":\"a\"}", &[(2, "a")]),
            ("\n[]\n", &[]),
            ("[{\"source_id\":\"a\"},{\"source_id\":\"b\"}]", &[(1, "a"), (2, "b")]),
            (
                "\u{feff} [ {\"source_id\": \"}]\\\"{[\\\\\"} \n , {\"x\": [{}, [1]], \"source_id\": \"b\"} ] ",
                &[(1, "}]\"{[\\"), (2, "b")],
            ),
            ("{\n  \"source_id\": \"a\"\n}\n", &[(1, "a")]),
        ] {
            assert_eq!(cut_anyhow(text), Ok(ids(expected)), "{text}");
        }
    }

    #[test]
    fn what_is_no_stock_is_refused_with_its_line() {
        for (text, code, line, told) in [
            ("{\"a\":1}\n{\"a\":", Code::IncompleteBody, 2, "The body ends within this payload"),
            ("{\"a\":1}\n{\"a\":}\n{\"a\":1}\n", Code::NotJson, 2, "JSON parse error"),
            ("{\"a\":1}{\"a\":2}", Code::NotJson, 1, "--data-binary"),
            ("{\"a\":1}\n7\n", Code::NotJson, 2, ""),
            ("source_id;title\na;b\n", Code::NotJson, 1, ""),
            ("[{\"a\":1}", Code::IncompleteBody, 1, "does not end with ]"),
            ("[{\"a\":1},", Code::IncompleteBody, 1, "does not end with ]"),
            ("[{\"a\":1},{\"a\": \"]", Code::IncompleteBody, 2, "does not end with ]"),
            ("[", Code::IncompleteBody, 1, "does not end with ]"),
            ("[{\"a\":1} {\"a\":2}]", Code::NotJson, 1, "comma"),
            ("[{\"a\":1},]", Code::NotJson, 2, "not a JSON object"),
            ("[{\"a\":1}, 7]", Code::NotJson, 2, "not a JSON object"),
            ("[{\"a\":1}] {\"a\":2}", Code::NotJson, 1, "behind the array"),
            ("[{\"a\":1], {\"a\":2}]", Code::NotJson, 1, "JSON parse error"),
            ("{\n \"source_id\": \"a\",\n", Code::IncompleteBody, 1, "The body ends within this payload"),
        ] {
            let refused = cut_anyhow(text).unwrap_err();
            assert_eq!((refused.code, refused.line), (code, Some(line)), "{text}: {}", refused.detail);
            assert!(refused.detail.contains(told), "{text}: {}", refused.detail);
        }
    }

    #[test]
    fn a_payload_beyond_the_largest_is_refused_before_it_has_come() {
        let piece = vec![b' '; 64 * 1024];
        for begin in ["{\"a\":1}\n{\"body\":\"", "[{\"a\":1},{\"body\":\"", "{\"body\":\n\""] {
            let mut payloads = Payloads::new();
            payloads.push(begin.as_bytes());
            while payloads.next(false).unwrap().is_some() {}
            let mut pushed = 0;
            let refused = loop {
                payloads.push(&piece);
                pushed += piece.len();
                match payloads.next(false) {
                    Ok(payload) => assert!(payload.is_none() && pushed <= MAX_BODY, "{pushed}"),
                    Err(refused) => break refused,
                }
            };
            assert_eq!(refused.code, Code::TooLarge);
            assert!(payloads.buffer.len() < MAX_BODY + 2 * piece.len());
        }
    }
}
