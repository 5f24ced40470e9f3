//! New ads from JSON or NDJSON that is pasted or dropped: each is checked, and then created.

use ad_core::{
    categories::Category,
    fields::FieldErrors,
    model::ApiVersion,
    rulebook::payload,
    service::{Incoming, ServiceError},
    violation::Violation,
};
use maud::{Markup, html};
use serde_json::{Map, Value, value::RawValue};

use super::{
    act::AdKey,
    editor,
    page::{self, NoticeKind, Section},
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, body::Payload};

/// Most bytes of the form. Its encoding makes JSON up to three times as long.
pub(super) const MOST_FORM_BYTES: usize = 3 * 1024 * 1024;

/// Most ads of one form. More are a task for the command line, which resumes after interruptions.
const MOST_ADS: usize = 100;

/// Name of the input with the JSON.
const TEXT: &str = "json";

struct PastedAd {
    /// Line of the text on which it begins.
    line: usize,
    /// What it is called, as far as it can be read.
    source_id: String,
    outcome: PastedOutcome,
}

/// What became of an ad.
enum PastedOutcome {
    /// It could be created, and what it warns of.
    Valid(Vec<String>),
    Created {
        dealer_code: String,
    },
    Refused(Vec<String>),
}

/// `GET /console/paste`
pub(super) async fn form(visit: Visit) -> PageResult {
    Ok(shown(&visit, "", Ok(&[])))
}

/// `POST /console/paste`: checks the ads or, if the button says so, creates those that are valid.
pub(super) async fn submit(visit: Visit) -> PageResult {
    let text = visit.field(TEXT).unwrap_or_default();
    let creates = visit.field("do") == Some("create");
    let payloads = match split(text) {
        Ok(payloads) => payloads,
        Err(problem) => return Ok(shown(&visit, text, Err(&problem))),
    };
    if payloads.len() > MOST_ADS {
        let problem = format!("{} {MOST_ADS}. {}", visit.visitor.texts.paste_too_many, payloads.len());
        return Ok(shown(&visit, text, Err(&problem)));
    }
    let mut rows = Vec::with_capacity(payloads.len());
    for (line, json) in payloads {
        rows.push(row(&visit, line, json, creates).await);
    }
    Ok(shown(&visit, text, Ok(&rows)))
}

/// The JSON texts of the ads, each with its line: the items of an array, one object, or a line each.
fn split(text: &str) -> Result<Vec<(usize, &str)>, String> {
    let line_of = |part: &str| text[..part.as_ptr() as usize - text.as_ptr() as usize].matches('\n').count() + 1;
    let whole = text.trim_start_matches('\u{feff}').trim();
    if whole.is_empty() {
        return Ok(Vec::new());
    }
    if whole.starts_with('[') {
        let items: Result<Vec<&RawValue>, _> = serde_json::from_str(whole);
        let items = items.map_err(|error| error.to_string())?;
        return Ok(items.into_iter().map(|item| (line_of(item.get()), item.get())).collect());
    }
    if serde_json::from_str::<&RawValue>(whole).is_ok() {
        return Ok(vec![(line_of(whole), whole)]);
    }
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_start_matches('\u{feff}').trim()));
    Ok(lines.filter(|(_, line)| !line.is_empty()).collect())
}

async fn row(visit: &Visit, line: usize, json: &str, creates: bool) -> PastedAd {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let (mut source_id, outcome) = match Payload::of_json(json, &context.limits, access, !creates).await {
        Err(error) => (String::new(), Err(error)),
        Ok(payload) => (payload.source_id().unwrap_or_default().to_owned(), handle(visit, payload, creates).await),
    };
    source_id.truncate(source_id.floor_char_boundary(MOST_SHOWN));
    PastedAd { line, source_id, outcome: outcome.unwrap_or_else(|error| PastedOutcome::Refused(page::reasons(&error))) }
}

/// Longest source id that is shown, in bytes.
const MOST_SHOWN: usize = 4 * 255;

async fn handle(visit: &Visit, payload: Payload, creates: bool) -> Result<PastedOutcome, ApiError> {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let (category, is_large) = (category_of(&payload.object)?, payload.is_large());
    if creates {
        let origin = visit.origin();
        let incoming = Incoming { id: context.ids.next(), keep: None, origin: Some(&origin) };
        let create = context.service.create(access, incoming, category, payload.object);
        let accepted = context.in_turn(access, None, is_large, create).await?;
        return Ok(PastedOutcome::Created { dealer_code: accepted.ad.dealer_code });
    }
    let check = editor::validate(visit, category, payload.object);
    let validated = context.in_turn(access, None, is_large, check).await?;
    let warnings = validated.warnings.into_iter().chain(payload.repeated);
    Ok(PastedOutcome::Valid(warnings.map(|warning| format!("{}: {}", warning.field, warning.message)).collect()))
}

fn category_of(payload: &Map<String, Value>) -> Result<&'static Category, ApiError> {
    payload::category(ApiVersion::V4, payload.get("category_id")).map_err(|wrong| {
        let mut errors = FieldErrors::default();
        if wrong.is_empty() {
            errors.push("category_id", Violation::Required);
        } else {
            *errors.at("category_id") = wrong;
        }
        ServiceError::Invalid(errors).into()
    })
}

fn shown(visit: &Visit, text: &str, rows: Result<&[PastedAd], &str>) -> poem::Response {
    let texts = visit.visitor.texts;
    let known = rows.unwrap_or_default();
    let valid = known.iter().filter(|row| matches!(row.outcome, PastedOutcome::Valid(_))).count();
    let content = html! {
        h1 { (texts.paste) }
        p.lead { (texts.paste_lead) }
        p { (texts.paste_tables) " " a href=(visit.visitor.address("/import")) { (texts.import) } ". " (texts.paste_many) " " code { "ad-cli import FILE" } "." }
        @if let Err(problem) = rows { (page::notice(NoticeKind::Error, &html! { p { (problem) } })) }
        form.panel method="post" action=(visit.visitor.address("/paste")) data-drop data-progress=(texts.created_so_far) {
            div.field {
                label for="json" { (texts.json_of_ads) }
                textarea.full #json name=(TEXT) rows="12" spellcheck="false" { "\n" (text) }
            }
            div.field hidden data-needs-script {
                label for="file" { (texts.file) }
                input #file type="file" accept=".json,.ndjson,.jsonl,application/json";
            }
            div.actions {
                button name="do" value="check" { (texts.check) }
                @if valid > 0 { button.primary name="do" value="create" { (texts.create_valid) " (" (valid) ")" } }
            }
            progress hidden data-needs-progress aria-label=(texts.created_so_far) {}
        }
        @if !known.is_empty() { (report(visit, known)) }
    };
    page::page(visit, Section::NewAd, texts.paste, &content)
}

fn report(visit: &Visit, rows: &[PastedAd]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        section.panel #report aria-label=(texts.report) {
            (page::table(texts.report, [texts.line, texts.ad, texts.status, texts.details], rows.iter().map(|row| cells(visit, row))))
        }
    }
}

fn cells(visit: &Visit, row: &PastedAd) -> Markup {
    let texts = visit.visitor.texts;
    let details = |details: &[String]| html! { td { ul.plain { @for text in details { li { (text) } } } } };
    html! {
        td.number { (row.line) }
        @match &row.outcome {
            PastedOutcome::Valid(warnings) => {
                td { (row.source_id) } td { span.badge.well { (texts.valid) } } (details(warnings))
            }
            PastedOutcome::Created { dealer_code } => {
                td { a href=(visit.visitor.address(&format!("/ad?{}", AdKey::query(&row.source_id, dealer_code)))) { (row.source_id) } }
                td { span.badge.well { (texts.created) } } td {}
            }
            PastedOutcome::Refused(errors) => { td { (row.source_id) } td { span.badge.failure { (texts.refused) } } (details(errors)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ads_are_an_array_an_object_or_lines() {
        let split = |text| split(text).unwrap();
        assert_eq!(split("\n[{\"a\": 1},\n {\"b\": 2}]"), [(2, "{\"a\": 1}"), (3, "{\"b\": 2}")]);
        assert_eq!(split("{\n\"a\": 1\n}"), [(1, "{\n\"a\": 1\n}")]);
        assert_eq!(split("\u{feff}{\"a\": 1}\r\n\r\n{\"b\"\n"), [(1, "{\"a\": 1}"), (3, "{\"b\"")]);
        assert_eq!(split(" \n"), []);
        assert!(super::split("[{\"a\": 1}, {]").is_err());
    }
}
