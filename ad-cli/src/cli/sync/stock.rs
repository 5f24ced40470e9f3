//! The desired stock of a file, by dealer. Each payload is checked before the first request.
//! A file that cannot be read to its end, has no valid payload, or contains an ad twice is rejected, and nothing is changed.

use std::{
    collections::{BTreeSet, HashMap},
    io,
};

use ad_core::{
    categories::{Category, Heading},
    fields::FieldErrors,
    model::ApiVersion,
    ports::Checksum,
    rulebook::{Rulebook, WriteContext, payload},
    stock::{ChangeKind, NamedAds, RepeatedAd, StockChange, StockComparison},
    violation::{Code, Violation},
};
use ad_files::{
    Place,
    spool::{Span, Spool},
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    bulk::{
        self, Identity,
        check::{Checker, Verdict},
        payloads::{Chunks, Piece, Source, parse},
    },
    cli::claims::Claims,
    terminal::{Failure, grouped},
};

/// Maximum number of duplicates that are listed individually.
const MOST_TOLD: usize = 10;

/// Whose ads the token may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StockScope {
    Dealer(String),
    /// Those of the dealers of a group; each payload says whose it is.
    Group,
}

impl StockScope {
    /// By what the token says of itself.
    pub(super) fn of(token: &str) -> Result<Self, Failure> {
        match Claims::of(token) {
            Some(Claims { dealer_code: Some(code), .. }) => Ok(Self::Dealer(code)),
            Some(Claims { dealer_group: Some(_), .. }) => Ok(Self::Group),
            _ => Err(Failure::unauthorised("the token contains neither a dealer nor a dealer group")
                .hint("to show the token's scope: ad-cli whoami")
                .hint("run: ad-cli login")),
        }
    }

    /// The dealer whose ad a payload is.
    fn dealer(&self, payload: &Map<String, Value>) -> Result<String, FieldErrors> {
        let sent = payload.get("dealer_code").filter(|code| !code.is_null());
        let mut errors = FieldErrors::default();
        match (self, sent.map(|code| code.as_str().unwrap_or_default())) {
            (Self::Dealer(code), None) => return Ok(code.clone()),
            (Self::Dealer(code), Some(sent)) if sent == code => return Ok(code.clone()),
            (Self::Group, Some(sent)) if !sent.is_empty() => return Ok(sent.to_owned()),
            (Self::Dealer(code), Some(_)) => {
                let text = format!("The token is for \"{code}\"; omit dealer_code, or send \"{code}\".");
                errors.push("dealer_code", Violation::stated(Code::NotAllowed, text));
            }
            (Self::Group, _) => {
                let text = "The token is for a dealer group; send the dealer_code.";
                errors.push("dealer_code", Violation::stated(Code::Required, text));
            }
        }
        Err(errors)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DesiredAd {
    pub(super) index: u64,
    pub(super) place: Place,
    pub(super) payload: Span,
    pub(super) category: &'static Category,
}

/// An ad that is not changed, with the reason.
#[derive(Debug)]
pub(super) struct SkippedAd {
    pub(super) source_id: Option<String>,
    pub(super) dealer_code: Option<String>,
    pub(super) category: Option<&'static Category>,
    pub(super) line: Option<u64>,
    pub(super) why: SkipReason,
}

impl SkippedAd {
    /// An ad whose payload has mistakes.
    pub(super) fn rejected(source_id: Option<String>, dealer_code: Option<String>, verdict: Verdict) -> Self {
        let line = verdict.findings.first().map(|finding| finding.place.line);
        Self { source_id, dealer_code, category: verdict.category, line, why: SkipReason::Rejected(verdict) }
    }
}

/// Why an ad is left as it is.
#[derive(Debug)]
pub(super) enum SkipReason {
    Rejected(Verdict),
    /// What is wanted cannot be.
    Blocked {
        reason: String,
        hints: Vec<String>,
    },
}

/// The desired state of a stock, read from a file.
#[derive(Debug, Default)]
pub(super) struct Stock {
    pub(super) name: String,
    pub(super) digest: String,
    pub(super) wanted: HashMap<Identity, DesiredAd>,
    /// Ads whose payloads have mistakes.
    pub(super) left: Vec<SkippedAd>,
    pub(super) spool: Spool,
    /// The ads that payloads name, valid or not.
    pub(super) named: NamedAds,
}

impl Stock {
    /// The dealers in the file. Ads of other dealers are not touched.
    pub(super) fn dealers(&self) -> BTreeSet<String> {
        self.wanted.keys().filter_map(|ad| ad.dealer_code.clone()).collect()
    }

    pub(super) fn text(&mut self, wanted: &DesiredAd) -> Result<Vec<u8>, Failure> {
        Ok(self.spool.text(wanted.payload).map_err(no_room())?)
    }

    /// Keeps the body of a request.
    pub(super) fn keep(&mut self, body: &Map<String, Value>) -> Result<Span, Failure> {
        Ok(self.spool.add_line(body).map_err(no_room())?)
    }

    pub(super) fn payload(&mut self, wanted: &DesiredAd) -> Result<Map<String, Value>, Failure> {
        let text = self.text(wanted)?;
        parse(&text).map_err(|error| Failure::failed(error.message))
    }
}

/// The error of the temporary file of the stock.
pub(super) fn no_room() -> impl Fn(io::Error) -> bulk::BulkError {
    bulk::BulkError::temporary("for the stock")
}

pub(super) struct Reader {
    pub(super) scope: StockScope,
    pub(super) checker: Checker,
    pub(super) rulebook: Rulebook,
}

impl Reader {
    /// Reads a file to its end.
    pub(super) fn read(&self, source: Source, mut progress: impl FnMut(u64)) -> Result<Stock, Failure> {
        let mut stock = Stock { name: source.name.clone(), ..Stock::default() };
        let mut twice = Vec::new();
        let mut cut = None;
        let (count, digest) = each(source, |index, piece| {
            cut =
                parse(piece.text).err().filter(|error| error.at == piece.text.len()).map(|error| (piece.place, error));
            twice.extend(self.add(&mut stock, index, piece)?);
            progress(index + 1);
            Ok(())
        })?;
        if let Some((place, error)) = cut {
            return Err(unreadable(&stock.name, place, &error.message));
        }
        stock.digest = digest;
        if !twice.is_empty() {
            let more = twice.len().saturating_sub(MOST_TOLD);
            twice.truncate(MOST_TOLD);
            if more > 0 {
                twice.push(format!("and {} more", grouped(more as u64)));
            }
            let name = &stock.name;
            let message = format!("{name} contains duplicate source_ids:\n  {}", twice.join("\n  "));
            return Err(Failure::rejected(message).hint("nothing was changed; remove the duplicates from the file"));
        }
        if count == 0 {
            return Err(Failure::usage(format!("{} contains no payloads; nothing was changed", stock.name))
                .hint("an empty file does not mean an empty stock; to delete ads: ad-cli delete SOURCE_ID"));
        }
        Ok(stock)
    }

    /// Adds a payload; returns an error if the file contains its ad already.
    fn add(&self, stock: &mut Stock, index: u64, piece: Piece<'_>) -> Result<Option<String>, Failure> {
        let Ok(payload) = parse(piece.text) else {
            let (verdict, _) = self.checker.check(piece, index);
            stock.named.add_unidentified(piece.place.line);
            stock.left.push(SkippedAd::rejected(None, None, verdict));
            return Ok(None);
        };
        let source_id = payload.get("source_id").and_then(Value::as_str).map(str::to_owned);
        let dealer = self.scope.dealer(&payload);
        let dealer_code = dealer.as_ref().ok().map(String::as_str);
        match &source_id {
            None => stock.named.add_unidentified(piece.place.line),
            Some(source_id) => {
                if let Err(again) = stock.named.add(piece.place.line, dealer_code, source_id) {
                    let RepeatedAd { source_id, line, first_line } = again;
                    let (name, column) = (&stock.name, piece.place.column);
                    return Ok(Some(format!(
                        "{name}:{line}:{column}: duplicate source_id \"{source_id}\" (first on line {first_line})"
                    )));
                }
            }
        }
        let checked = self.check(&payload, dealer.as_ref().err(), index, piece);
        let (source_id, dealer_code, verdict) = match (checked, source_id, dealer.ok()) {
            (Ok(category), Some(source_id), Some(dealer_code)) => {
                let payload = stock.spool.add(piece.text).map_err(no_room())?;
                let wanted = DesiredAd { index, place: piece.place, payload, category };
                stock.wanted.insert(Identity { source_id, dealer_code: Some(dealer_code) }, wanted);
                return Ok(None);
            }
            // A valid payload has both.
            (Ok(_), source_id, dealer_code) => (source_id, dealer_code, self.checker.check(piece, index).0),
            (Err(verdict), source_id, dealer_code) => (source_id, dealer_code, verdict),
        };
        stock.left.push(SkippedAd::rejected(source_id, dealer_code, verdict));
        Ok(None)
    }

    /// Checks a payload by the rules for existing ads. The rules that apply only to new ads are checked when the ad is known to be new.
    fn check(
        &self,
        payload: &Map<String, Value>,
        dealer: Option<&FieldErrors>,
        index: u64,
        piece: Piece<'_>,
    ) -> Result<&'static Category, Verdict> {
        let rejected = self.checker.rejected_row(piece, index).or_else(|| self.checker.shown_ad(piece, index));
        if let Some(rejected) = rejected {
            return Err(rejected);
        }
        let Ok(category) = payload::category(ApiVersion::V4, payload.get("category_id")) else {
            return Err(self.checker.check(piece, index).0);
        };
        let write = WriteContext { category, version: ApiVersion::V4, dealer: None };
        let mut sent = payload.clone();
        if category.heading == Heading::Forbidden {
            // An existing ad may have its generated title: the comparison with the ad tells.
            sent.remove("title");
        }
        let checked = self.rulebook.import(write, sent);
        let errors = checked.as_ref().err().into_iter().chain(dealer);
        let verdicts = errors.map(|errors| self.checker.rejected(errors, piece, index));
        let verdict = verdicts.reduce(|mut all, more| {
            all.findings.extend(more.findings);
            all
        });
        verdict.map_or(Ok(category), Err)
    }

    /// Checks a payload as that of a new ad; returns the title that it will have.
    pub(super) fn new_ad(
        &self,
        payload: Map<String, Value>,
        wanted: &DesiredAd,
        text: &[u8],
    ) -> Result<Option<String>, Verdict> {
        let stock = StockComparison { rulebook: &self.rulebook, dealer: None };
        match stock.change(payload, None) {
            StockChange { kind: ChangeKind::Create, title, .. } => Ok(title),
            _ => Err(self.checker.check(Piece { text, place: wanted.place, problem: None }, wanted.index).0),
        }
    }
}

pub(super) fn digest(source: Source) -> Result<String, Failure> {
    each(source, |_, _| Ok(())).map(|(_, digest)| digest)
}

/// Shows each payload of a file that can be read to its end; returns their number and a digest of them.
fn each(source: Source, mut show: impl FnMut(u64, Piece<'_>) -> Result<(), Failure>) -> Result<(u64, String), Failure> {
    let name = source.name.clone();
    let (mut count, mut hasher) = (0, Sha256::new());
    Chunks::new(source).try_each(|piece| {
        match piece.problem {
            None => show(count, piece)?,
            Some(problem) => return Err(unreadable(&name, piece.place, problem)),
        }
        hasher.update(piece.text);
        hasher.update([0]);
        count += 1;
        Ok(())
    })?;
    Ok((count, Checksum::from(<[u8; 32]>::from(hasher.finalize())).to_string()))
}

fn unreadable(name: &str, place: Place, problem: &str) -> Failure {
    Failure::rejected(format!("{name}:{}:{}: {problem}", place.line, place.column))
        .hint("nothing was changed, because the file cannot be read to its end")
}
