//! A file of payloads as the body of a plan: NDJSON, each payload on the line that it has in the file, so that the lines of errors are those
//! of the file. It is read while it is sent.

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use ad_core::model::ApiVersion;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::{
    BodyStream, StockBody, StockFormat,
    bulk::{
        check::{Checker, Finding, RejectedRow},
        payloads::{Chunks, NotPayloads, Piece, Source},
    },
    cli::input::Input,
    terminal::{Context, Failure, Findings, grouped},
};

/// Bytes that are sent at a time, but for the last payload among them.
const PART: usize = 64 * 1024;

/// Parts that wait to be sent.
const WAITING: usize = 4;

/// The payloads of a file. Rows of a table that cannot be converted are shown, and their ads stay as they are.
pub(super) fn body(context: &Context, input: Input, http_images: bool) -> Result<StockBody, Failure> {
    let source = input.source(context)?;
    let checker = input.checker(Checker::new(ApiVersion::V4, None));
    let checker = Arc::new(if http_images { checker.with_http_images() } else { checker });
    if input.rows().is_some() {
        show_rejected_rows(context, input.source(context)?, &checker)?;
    }
    if !input.is_repeatable() {
        return Ok(StockBody::once(StockFormat::Ndjson, lines_of(Ok(source), checker)));
    }
    Ok(StockBody::new(StockFormat::Ndjson, move || lines_of(input.again(), Arc::clone(&checker))))
}

fn show_rejected_rows(context: &Context, source: Source, checker: &Checker) -> Result<(), Failure> {
    let mut findings = Findings::for_people(&source.name, context.out);
    let (mut index, mut rejected) = (0, 0);
    Chunks::new(source).try_each(|piece| {
        if let Some(verdict) = checker.rejected_row(piece, index) {
            findings.show(&verdict)?;
            rejected += 1;
        }
        index += 1;
        Ok::<_, Failure>(())
    })?;
    findings.end()?;
    if rejected > 0 {
        let rejected = grouped(rejected);
        context.out.warning(&format!("rows that cannot be converted: {rejected}; their ads stay as they are"));
    }
    Ok(())
}

/// The lines of a file, which a thread reads as they are sent.
fn lines_of(source: Result<Source, NotPayloads>, checker: Arc<Checker>) -> BodyStream {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let mut lines = Lines { sender, checker, part: Vec::new(), line: 1, index: 0 };
        if let Err(Stop::Unreadable(reason)) = lines.read(source) {
            // Nobody waits for the reason if the request has ended.
            let _ = lines.sender.blocking_send(Err(io::Error::other(reason)));
        }
    });
    stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) }).boxed()
}

struct Lines {
    sender: mpsc::Sender<io::Result<Bytes>>,
    checker: Arc<Checker>,
    part: Vec<u8>,
    /// The line that is written.
    line: u64,
    index: u64,
}

/// Why a file is not read on.
enum Stop {
    /// The request has ended.
    Ended,
    Unreadable(String),
}

impl From<NotPayloads> for Stop {
    fn from(error: NotPayloads) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl Lines {
    fn read(&mut self, source: Result<Source, NotPayloads>) -> Result<(), Stop> {
        let source = source?;
        let name = source.name.clone();
        Chunks::new(source).try_each(|piece| {
            if let Some(problem) = piece.problem {
                let place = piece.place;
                return Err(Stop::Unreadable(format!("{name}:{}:{}: {problem}", place.line, place.column)));
            }
            if let Some(verdict) = self.checker.shown_ad(piece, self.index) {
                let why: Vec<_> = verdict.findings.iter().map(Finding::text).collect();
                return Err(Stop::Unreadable(format!("{name}:{}: {}", piece.place.line, why.join(" "))));
            }
            self.push(piece);
            if self.part.len() >= PART { self.send() } else { Ok(()) }
        })?;
        self.send()
    }

    fn send(&mut self) -> Result<(), Stop> {
        let part = std::mem::take(&mut self.part).into();
        self.sender.blocking_send(Ok(part)).map_err(|_| Stop::Ended)
    }

    /// Adds a payload. Line breaks in JSON are white space; those in texts are escaped. The last line has no end, so that the service notices
    /// if it is cut.
    fn push(&mut self, piece: Piece<'_>) {
        let next = self.line + u64::from(self.index > 0);
        let line = next.max(piece.place.line);
        self.part.extend((self.line..line).map(|_| b'\n'));
        self.line = line;
        match self.checker.rejected_row(piece, self.index) {
            // Writing to memory cannot fail.
            Some(row) => drop(write!(self.part, "{}", self.refused(piece, row.source_id.as_deref()))),
            None => self.part.extend(piece.text.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte })),
        }
        self.index += 1;
    }
}

impl Lines {
    /// An invalid row as a payload that the service refuses for the same reasons: with the values that could not be converted as they are. One
    /// that it might take, such as a duplicate, has its name only, so that its ad does not count as missing.
    fn refused(&self, piece: Piece<'_>, source_id: Option<&str>) -> Value {
        let row: Option<RejectedRow> = serde_json::from_slice(piece.text).ok();
        let with_values = row.and_then(|RejectedRow { payload, rejected_row, .. }| {
            let mut payload = payload?;
            for finding in rejected_row {
                if let (Some(field), Some(value)) = (finding.field, finding.value) {
                    put_missing(&mut payload, &field, value);
                }
            }
            Some(Value::Object(payload))
        });
        let is_refused = |payload: &Value| {
            let text = payload.to_string();
            self.checker.content(Piece { text: text.as_bytes(), ..piece }).is_none()
        };
        with_values.filter(is_refused).unwrap_or_else(|| json!({"source_id": source_id}))
    }
}

/// Puts a value at a path of names, where there is none.
fn put_missing(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(object.entry(path).or_insert(value)),
        Some((name, rest)) => {
            if let Value::Object(members) = object.entry(name).or_insert_with(|| json!({})) {
                put_missing(members, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;

    use super::*;

    async fn sent(text: &'static str, checker: Checker) -> io::Result<String> {
        let parts: Vec<_> =
            lines_of(Source::of("stock.json", text.as_bytes()), Arc::new(checker)).try_collect().await?;
        Ok(parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect())
    }

    fn checker() -> Checker {
        Checker::new(ApiVersion::V4, None)
    }

    #[tokio::test]
    async fn each_payload_is_sent_on_its_line() {
        for (text, lines) in [
            ("{\"a\":1}\r\n\r\n{\"a\":2}", "{\"a\":1}\n\n{\"a\":2}"),
            ("[\n  {\n    \"a\": 1\n  },\n  {\"a\": 2}\n]", "\n{     \"a\": 1   }\n\n\n{\"a\": 2}"),
            ("[{\"a\":1},{\"a\":2}]", "{\"a\":1}\n{\"a\":2}"),
            ("{\"a\":\n1}", "{\"a\": 1}"),
            // The service says what is wrong with it.
            ("{\"a\":1}\n{\"a\":", "{\"a\":1}\n{\"a\":"),
        ] {
            assert_eq!(sent(text, checker()).await.unwrap(), lines, "{text}");
        }
    }

    #[tokio::test]
    async fn ads_as_the_service_shows_them_are_not_sent_without_their_photos() {
        let shown = "{\"source_id\":\"a\",\"image_refs\":[{\"url\":\"https://a.se/1.jpg\"}]}";
        let refused = sent(shown, checker()).await.unwrap_err().to_string();
        assert!(refused.starts_with("stock.json:1: ") && refused.contains("ad-cli export --payloads"), "{refused}");
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_read_to_its_end_is_not_sent_to_its_end() {
        let error = sent("[{\"a\":1},\n{\"a\":", checker()).await.unwrap_err();
        assert_eq!(error.to_string(), "stock.json:2:1: Truncated JSON: the file ends within this payload.");
    }

    #[tokio::test]
    async fn a_rejected_row_names_its_ad() {
        let row = r#"{"source_id":"car-1","rejected_row":[]}"#;
        assert_eq!(sent(row, checker().of_rows()).await.unwrap(), "{\"source_id\":\"car-1\"}");
        assert_eq!(sent(row, checker()).await.unwrap(), row, "it is no table");
    }

    #[tokio::test]
    async fn a_rejected_row_is_refused_for_its_own_reasons() {
        let finding = Finding {
            field: Some("category_fields.brand".to_owned()),
            value: Some("Wolvo".into()),
            ..Finding::default()
        };
        let payload = json!({"source_id": "car-1", "category_id": 1020}).as_object().cloned();
        let row = RejectedRow { source_id: Some("car-1".to_owned()), rejected_row: vec![finding], payload };
        let row: &'static str = serde_json::to_string(&row).unwrap().leak();
        let sent: Value = serde_json::from_str(&sent(row, checker().of_rows()).await.unwrap()).unwrap();
        let fields = json!({"brand": "Wolvo"});
        assert_eq!(sent, json!({"source_id": "car-1", "category_id": 1020, "category_fields": fields}));
    }

    #[tokio::test]
    async fn large_files_are_sent_in_parts() {
        let text: &'static str = "{\"source_id\":\"car\"}\n".repeat(20_000).leak();
        let parts: Vec<_> =
            lines_of(Source::of("stock.json", text.as_bytes()), Arc::new(checker())).try_collect().await.unwrap();
        assert!(parts.len() > 4 && parts.iter().all(|part| part.len() < 2 * PART), "{}", parts.len());
        assert_eq!(parts.concat(), text.trim_end().as_bytes());
    }
}
