//! Checks payloads by the rules of [`ad_core`] before they are sent. A finding has the position in the file, the value, the reason,
//! suggestions, and the command that shows what is allowed.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Checker`] | one payload in, a [`Verdict`] out |
//! | [`Explainer`] | field errors, from here or from the service, as [`Finding`]s |
//! | [`check_file`] | a whole file, by all processors |
//!
//! The rules are in [`ad_core`]. What only the service knows, it reports itself.

mod explain;
mod file;

use ad_core::{
    categories::Category,
    fields::FieldErrors,
    model::{ApiVersion, Timestamp},
    quality::{Level, Measured, Quality},
    rulebook::{
        Rulebook,
        payload::{self, PayloadError},
    },
};
pub use ad_files::Severity;
use ad_files::identities::{Occurrence, hash};
pub use explain::{Explainer, Finding, known};
pub(crate) use file::repeated_finding;
pub use file::{Totals, check_file, show_repetitions};
use serde_json::{Map, Value};

use super::{
    Invocation, Surface,
    payloads::{Broken, Piece, parse},
};

/// Checks payloads of creates without asking the service.
#[derive(Debug)]
pub struct Checker {
    rulebook: Rulebook,
    /// The version through which they are to be sent.
    pub version: ApiVersion,
    /// The category of all of them; otherwise each says its own.
    pub of_type: Option<&'static Category>,
    /// What is measured of valid payloads, and the time by which it is.
    measures: Option<(Measures, Timestamp)>,
    /// Whether the payloads come from rows of a table.
    is_of_rows: bool,
    surface: Surface,
}

/// Of which valid payloads a checker measures the quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measures {
    All,
    /// Of the one with index 0; of the others the score alone.
    First,
}

/// How good an ad would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rating {
    /// The score alone, 0 to 100.
    Score(u8),
    /// The score with goals and findings.
    Quality(Box<Quality>),
}

impl Rating {
    /// The level to which the score belongs.
    pub fn level(&self) -> Level {
        match self {
            Self::Score(score) => Level::from(*score),
            Self::Quality(quality) => quality.level,
        }
    }

    /// The whole quality, if it was measured.
    pub fn quality(&self) -> Option<&Quality> {
        match self {
            Self::Score(_) => None,
            Self::Quality(quality) => Some(quality),
        }
    }
}

/// A row of a table that cannot become an ad, on its line of the file of payloads.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct RejectedRow {
    /// The client's reference, where it is known.
    pub source_id: Option<String>,
    /// The reasons; at least one is an error.
    pub rejected_row: Vec<Finding>,
    /// What the mapping makes of the row.
    pub payload: Option<Map<String, Value>>,
}

/// The result for one payload.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Its index in the file, from 0.
    pub index: u64,
    /// The client's reference, where it could be read.
    pub source_id: Option<String>,
    /// Its category, where it has one.
    pub category: Option<&'static Category>,
    /// Errors, which reject it, and warnings, which do not.
    pub findings: Vec<Finding>,
    /// How good the ad would be, if the checker [measures](Checker::measuring) it and the payload is valid.
    pub rating: Option<Rating>,
}

impl Verdict {
    /// Whether it can be sent.
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Warning)
    }
}

impl Checker {
    /// A checker by the rules and the catalogue that come with this program.
    pub fn new(version: ApiVersion, of_type: Option<&'static Category>) -> Self {
        Self {
            rulebook: Rulebook::default(),
            version,
            of_type,
            measures: None,
            is_of_rows: false,
            surface: Surface::default(),
        }
    }

    /// For findings that name commands, or tools.
    #[must_use]
    pub fn on(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }

    /// For payloads from rows of a table, with a [`RejectedRow`] for each invalid row. Findings are about rows.
    #[must_use]
    pub fn of_rows(self) -> Self {
        Self { is_of_rows: true, ..self }
    }

    /// The findings of a row that was rejected before.
    pub fn rejected_row(&self, piece: Piece<'_>, index: u64) -> Option<Verdict> {
        if !self.is_of_rows || memchr::memmem::find(piece.text, b"\"rejected_row\"").is_none() {
            return None;
        }
        let RejectedRow { source_id, rejected_row: findings, .. } = serde_json::from_slice(piece.text).ok()?;
        Some(Verdict { index, source_id, findings, ..Verdict::default() })
    }

    /// The finding of an ad as the service shows it, such as a line of `ad-cli export`: as a payload, it would remove the photos.
    pub fn shown_ad(&self, piece: Piece<'_>, index: u64) -> Option<Verdict> {
        memchr::memmem::find(piece.text, b"\"image_refs\"")?;
        let object = parse(piece.text).ok()?;
        let has_images = object.get("image_refs").and_then(Value::as_array).is_some_and(|images| !images.is_empty());
        if !has_images || object.contains_key("image_urls") {
            return None;
        }
        let mut verdict = Verdict { index, ..Verdict::default() };
        self.identified(&mut verdict, piece);
        let export = Invocation::of_user("export").flag("payloads").on(self.surface);
        let message = format!("An ad as the service shows it, without image_urls. For payloads with photos: {export}");
        verdict.findings.push(Finding::whole(piece.place, vec![message]));
        Some(verdict)
    }

    /// Leaves http addresses of images to the service, which accepts them in a sandbox.
    #[must_use]
    pub fn with_http_images(mut self) -> Self {
        self.rulebook.settings.http_images = true;
        self
    }

    /// The same, measuring the quality of valid payloads too.
    #[must_use]
    pub fn measuring(self, now: Timestamp) -> Self {
        Self { measures: Some((Measures::All, now)), ..self }
    }

    /// The same, measuring the score of valid payloads, and the quality only of the one with index 0: the texts of goals and findings take
    /// longer than the check, and of many payloads nobody reads them.
    #[must_use]
    pub fn scoring(self, now: Timestamp) -> Self {
        Self { measures: Some((Measures::First, now)), ..self }
    }

    /// Checks one payload of a file, and returns its findings with what identifies its ad.
    pub fn check(&self, piece: Piece<'_>, index: u64) -> (Verdict, Option<Occurrence>) {
        if let Some(verdict) = self.rejected_row(piece, index) {
            return (verdict, None);
        }
        let (mut verdict, occurrence) = self.check_payload(piece, index);
        if self.is_of_rows {
            verdict.findings.iter_mut().for_each(|finding| finding.place.column = 0);
        }
        (verdict, occurrence)
    }

    fn check_payload(&self, piece: Piece<'_>, index: u64) -> (Verdict, Option<Occurrence>) {
        let mut verdict = Verdict { index, ..Verdict::default() };
        let object = match (piece.problem, parse(piece.text)) {
            (None, Ok(object)) => object,
            // The position in the text is closer to the mistake.
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
        let occurrence = object.get("source_id").and_then(Value::as_str).map(|source_id| {
            let hash = hash(source_id, object.get("dealer_code").and_then(Value::as_str));
            Occurrence { kind: 0, hash, index, place: piece.place, is_rejected: false }
        });
        if let Some(verdict) = self.shown_ad(piece, index) {
            return (verdict, occurrence.map(|it| Occurrence { is_rejected: true, ..it }));
        }
        let measured = self.measures.and_then(|(measures, now)| Some((measures, self.category(&object)?, now)));
        match self.rulebook.create_unsent(self.version, self.of_type, object) {
            Ok(checked) => {
                verdict.rating = measured.map(|(measures, category, now)| {
                    let measured = Measured::new(category, checked.content.fields(), now);
                    match measures {
                        Measures::First if index > 0 => Rating::Score(measured.score()),
                        _ => Rating::Quality(measured.quality().into()),
                    }
                });
                if !checked.warnings.is_empty() {
                    let explainer = self.identified(&mut verdict, piece);
                    let findings = checked.warnings.iter().map(|it| explainer.warning(&it.field, &it.message));
                    verdict.findings = findings.collect();
                }
            }
            Err(rejected) => {
                let explainer = self.identified(&mut verdict, piece);
                verdict.findings = explainer.rejected(&rejected);
            }
        }
        let is_rejected = !verdict.is_valid();
        (verdict, occurrence.map(|it| Occurrence { is_rejected, ..it }))
    }

    /// The category of a payload.
    pub fn category(&self, object: &Map<String, Value>) -> Option<&'static Category> {
        self.of_type.or_else(|| payload::category(self.version, object.get("category_id")).ok())
    }

    /// The content that the service would store; `None` when the payload is not valid.
    pub fn content(&self, piece: Piece<'_>) -> Option<Map<String, Value>> {
        let object = parse(piece.text).ok()?;
        let checked = self.rulebook.create_unsent(self.version, self.of_type, object).ok()?;
        Some(checked.content.into_fields())
    }

    /// Explains why the service rejected a payload.
    pub fn explain(&self, errors: &FieldErrors, piece: Piece<'_>) -> Vec<Finding> {
        self.rejected(errors, piece, 0).findings
    }

    /// The verdict about a payload that the service or other rules have rejected.
    pub fn rejected(&self, errors: &FieldErrors, piece: Piece<'_>, index: u64) -> Verdict {
        let mut verdict = Verdict { index, ..Verdict::default() };
        let explainer = self.identified(&mut verdict, piece);
        verdict.findings = explainer.errors(errors);
        verdict
    }

    /// Parses a payload with findings again, to show it.
    fn identified<'a>(&'a self, verdict: &mut Verdict, piece: Piece<'a>) -> Explainer<'a> {
        let object = parse(piece.text).unwrap_or_default();
        verdict.source_id = object.get("source_id").and_then(Value::as_str).map(str::to_owned);
        verdict.category = self.category(&object);
        Explainer {
            surface: self.surface,
            catalogue: &self.rulebook.catalogue,
            category: verdict.category,
            text: piece.text,
            place: piece.place,
        }
    }
}

impl Explainer<'_> {
    fn rejected(&self, rejected: &PayloadError) -> Vec<Finding> {
        match rejected {
            PayloadError::Fields(errors) => self.errors(errors),
            PayloadError::TrailerCreateDisabled => {
                let message = "Trailers cannot be created, only updated and deleted. (trailer_create_disabled)";
                vec![self.error("category_id", vec![message.to_owned()], Vec::new())]
            }
        }
    }
}

fn broken_finding(piece: Piece<'_>, broken: &Broken) -> Finding {
    let place = piece.place.after(&piece.text[..broken.at]);
    let messages = [Some(broken.message.clone()), piece.problem.map(str::to_owned)];
    Finding::whole(place, messages.into_iter().flatten().collect())
}
