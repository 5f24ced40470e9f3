//! Checking payloads before they are sent, by the rules of [`ad_core`], and saying what is wrong in a way that people can act on:
//! where in the file, what was sent, why it is refused, what was probably meant, and the command that shows what is allowed.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Checker`] | one payload in, a [`Verdict`] out |
//! | [`explain`] | field errors, from here or from the service, as [`Finding`]s |
//! | [`run`] | a whole file, by all processors |
//! | [`show`] | findings for people and for programs |
//!
//! No rule stands here. What only the service knows, it says itself.

mod explain;
mod run;
mod show;

use ad_core::{
    categories::Category,
    fields::FieldErrors,
    model::ApiVersion,
    rulebook::{
        Rulebook,
        payload::{self, PayloadError},
    },
};
use serde_json::{Map, Value};

use super::payloads::{Broken, Piece, Seen, parse};
pub(crate) use explain::{Explainer, Finding, Severity, known};
pub(crate) use run::{Totals, check_file};
pub(crate) use show::Report;
pub use show::{counted, grouped};

/// Checks payloads of creates without asking the service.
#[derive(Debug)]
pub(crate) struct Checker {
    rulebook: Rulebook,
    /// The version through which they are to be sent.
    pub(crate) version: ApiVersion,
    /// The category of all of them; otherwise each says its own.
    pub(crate) of_type: Option<&'static Category>,
}

/// What is to be said about one payload.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Which one of the file it is, from 0.
    pub(crate) index: u64,
    /// The client's reference, where it could be read.
    pub(crate) source_id: Option<String>,
    /// Its category, where it has one.
    pub(crate) category: Option<&'static Category>,
    /// What is wrong or odd.
    pub(crate) findings: Vec<Finding>,
}

impl Verdict {
    /// Whether it can be sent.
    pub(crate) fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Warning)
    }
}

impl Checker {
    /// A checker by the rules and the catalogue that come with this program.
    pub(crate) fn new(version: ApiVersion, of_type: Option<&'static Category>) -> Self {
        Self { rulebook: Rulebook::default(), version, of_type }
    }

    /// Checks one payload of a file; what identifies its ad comes along.
    pub(crate) fn check(&self, piece: Piece<'_>, index: u64) -> (Verdict, Option<Seen>) {
        let mut verdict = Verdict { index, ..Verdict::default() };
        let object = match (piece.problem, parse(piece.text)) {
            (None, Ok(object)) => object,
            // What the text says itself is nearer to the mistake.
            (_, Err(broken)) if !piece.text.is_empty() => {
                verdict.findings.push(broken_finding(piece, &broken));
                return (verdict, None);
            }
            (problem, _) => {
                let message = problem.unwrap_or("The payload is missing.").to_owned();
                verdict.findings.push(Finding::whole(piece.place, vec![message]));
                return (verdict, None);
            }
        };
        let seen = object.get("source_id").and_then(Value::as_str).map(|source_id| {
            let dealer_code = object.get("dealer_code").and_then(Value::as_str);
            Seen::new(source_id, dealer_code, index, piece.place)
        });
        match self.rulebook.create_unsent(self.version, self.of_type, object) {
            Ok(checked) if checked.warnings.is_empty() => {}
            Ok(checked) => {
                let explainer = self.identified(&mut verdict, piece);
                let findings = checked.warnings.iter().map(|it| explainer.warning(&it.field, &it.message));
                verdict.findings = findings.collect();
            }
            Err(refused) => {
                let explainer = self.identified(&mut verdict, piece);
                verdict.findings = explainer.refused(&refused);
            }
        }
        (verdict, seen)
    }

    /// The category of a payload.
    pub(crate) fn category(&self, object: &Map<String, Value>) -> Option<&'static Category> {
        self.of_type.or_else(|| payload::category(self.version, object.get("category_id")).ok())
    }

    /// What a payload comes to when the service stores it; `None` when it is not valid.
    pub(crate) fn content(&self, piece: Piece<'_>) -> Option<Map<String, Value>> {
        let object = parse(piece.text).ok()?;
        let checked = self.rulebook.create_unsent(self.version, self.of_type, object).ok()?;
        Some(checked.content.into_fields())
    }

    /// What was wrong with a payload that the service refused.
    pub(crate) fn explain(&self, errors: &FieldErrors, piece: Piece<'_>) -> Vec<Finding> {
        self.identified(&mut Verdict::default(), piece).errors(errors)
    }

    /// Reads a payload again, of which something is to be said, for what it is.
    fn identified<'a>(&'a self, verdict: &mut Verdict, piece: Piece<'a>) -> Explainer<'a> {
        let object = parse(piece.text).unwrap_or_default();
        verdict.source_id = object.get("source_id").and_then(Value::as_str).map(str::to_owned);
        verdict.category = self.category(&object);
        Explainer {
            catalogue: &self.rulebook.catalogue,
            category: verdict.category,
            text: piece.text,
            place: piece.place,
        }
    }
}

impl Explainer<'_> {
    fn refused(&self, refused: &PayloadError) -> Vec<Finding> {
        match refused {
            PayloadError::Fields(errors) => self.errors(errors),
            PayloadError::TrailerCreateDisabled => {
                let message = "Trailers cannot be created, only updated and deleted. (trailer_create_disabled)";
                vec![self.error("category_id", vec![message.to_owned()])]
            }
        }
    }
}

fn broken_finding(piece: Piece<'_>, broken: &Broken) -> Finding {
    let place = piece.place.after(&piece.text[..broken.at]);
    let messages = [Some(broken.message.clone()), piece.problem.map(str::to_owned)];
    Finding::whole(place, messages.into_iter().flatten().collect())
}
