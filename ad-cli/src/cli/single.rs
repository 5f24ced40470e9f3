//! A file that holds one payload.

use std::path::Path;

use ad_files::Place;
use serde_json::{Map, Value};

use crate::{
    bulk::{
        Surface,
        check::{Checker, Verdict},
        payloads::{Chunks, Piece, parse},
    },
    terminal::{Context, Exit, Failure, Findings},
};

#[derive(Debug)]
pub(crate) struct SinglePayload {
    pub(crate) name: String,
    pub(crate) object: Map<String, Value>,
    text: Vec<u8>,
    place: Place,
}

impl SinglePayload {
    /// Reads the payload of a file, or of stdin if that is named as `-`.
    pub(crate) fn read(context: &Context, path: &Path) -> Result<Self, Failure> {
        let source = context.open(path)?;
        let name = source.name.clone();
        let mut found = None;
        Chunks::new(source).try_each(|piece| {
            if found.is_some() {
                return Err(Failure::usage(format!("{name} contains several payloads; expected one"))
                    .hint(format!("to create them all: ad-cli import {name}")));
            }
            found = Some((piece.text.to_owned(), piece.place, piece.problem));
            Ok(())
        })?;
        let Some((text, place, problem)) = found else {
            return Err(Failure::usage(format!("{name} contains no payload")));
        };
        let broken =
            |place: Place, what: &str| Failure::rejected(format!("{name}:{}:{}: {what}", place.line, place.column));
        let object = parse(&text).map_err(|error| broken(place.after(&text[..error.at]), &error.message))?;
        if let Some(problem) = problem {
            return Err(broken(place, problem));
        }
        Ok(Self { name, object, text, place })
    }

    /// The client's reference, if it has one.
    pub(crate) fn source_id(&self) -> &str {
        self.object.get("source_id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Checks it as a payload of a create, before anything is sent; shows what is wrong.
    pub(crate) fn check(&self, context: &Context, checker: &Checker) -> Result<(), Failure> {
        let (verdict, _) = checker.check(self.piece(), 0);
        if verdict.is_valid() {
            for finding in &verdict.findings {
                let field = finding.field.as_deref().unwrap_or("payload");
                context.out.warning(&format!("{field}: {}", finding.messages.join(" ")));
            }
            return Ok(());
        }
        self.show(context, &verdict)?;
        context.out.note(match context.out.surface() {
            Surface::CommandLine => "nothing was sent; use --no-check to skip local validation",
            Surface::Tools => "nothing was sent",
        });
        Err(Failure::Shown(Exit::Rejected))
    }

    /// What the service said of it: fields that are wrong are shown where they stand in the file.
    pub(crate) fn rejected(&self, context: &Context, checker: &Checker, error: crate::Error) -> Failure {
        let crate::ErrorKind::Invalid(errors) = error.kind() else { return error.into() };
        let verdict = checker.rejected(errors, self.piece(), 0);
        let id = error.request_id().map(|id| format!(" (request {id})")).unwrap_or_default();
        match self.show(context, &verdict) {
            Ok(()) => Failure::rejected(format!("the service rejected {}{id}", self.name)),
            Err(failure) => failure,
        }
    }

    fn show(&self, context: &Context, verdict: &Verdict) -> Result<(), Failure> {
        let mut report = Findings::new(&self.name, context.out);
        report.show(verdict)?;
        Ok(report.end()?)
    }

    fn piece(&self) -> Piece<'_> {
        Piece { text: &self.text, place: self.place, problem: None }
    }
}
