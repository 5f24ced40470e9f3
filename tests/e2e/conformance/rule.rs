//! A rule of the documents with its cases.

use std::{future::Future, pin::Pin};

use serde_json::Value;

use super::{request::Request, trial::Trial};

/// The document of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Document {
    /// `interface.md`.
    Interface,
    /// `category-fields.md`.
    CategoryFields,
    /// `decisions.md`.
    Decisions,
    /// `extensions.md`.
    Extensions,
}

impl Document {
    pub(super) const ALL: [Self; 4] = [Self::Interface, Self::CategoryFields, Self::Decisions, Self::Extensions];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Interface => "interface.md",
            Self::CategoryFields => "category-fields.md",
            Self::Decisions => "decisions.md",
            Self::Extensions => "extensions.md",
        }
    }
}

/// What happens when the work of a scenario is awaited.
pub(super) type Run<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A case that takes more than one request.
pub(super) type Scenario = Box<dyn for<'a> Fn(&'a Trial) -> Run<'a> + Send + Sync>;

/// A case of one request.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) request: Request,
    pub(super) status: u16,
    pub(super) expected: Value,
}

pub(super) struct Rule {
    pub(super) document: Document,
    /// Section, table or number, such as `Price object`.
    pub(super) section: String,
    /// Field, row or sentence of the section.
    pub(super) name: String,
    /// The rule in one sentence.
    pub(super) says: String,
    /// Numbers of the decisions that it holds too.
    pub(super) decisions: Vec<u8>,
    pub(super) accepting: Vec<Case>,
    pub(super) refusing: Vec<Case>,
    /// Cases in which the headers of the answer are compared and not its body.
    pub(super) headers: Vec<Case>,
    pub(super) scenarios: Vec<Scenario>,
    /// Other tests that hold it, such as `e2e::life::…`: those that need a server or a clock of their own.
    pub(super) tests: Vec<&'static str>,
    /// Why there is nothing to refuse, or nothing to accept.
    pub(super) one_sided: Option<&'static str>,
}

fn rule(document: Document, section: &str, name: &str, says: &str) -> Rule {
    Rule {
        document,
        section: section.to_owned(),
        name: name.to_owned(),
        says: says.to_owned(),
        decisions: Vec::new(),
        accepting: Vec::new(),
        refusing: Vec::new(),
        headers: Vec::new(),
        scenarios: Vec::new(),
        tests: Vec::new(),
        one_sided: None,
    }
}

/// A rule of `interface.md`.
pub(super) fn interface(section: &str, name: &str, says: &str) -> Rule {
    rule(Document::Interface, section, name, says)
}

/// A rule of `category-fields.md`.
pub(super) fn category_fields(section: &str, name: &str, says: &str) -> Rule {
    rule(Document::CategoryFields, section, name, says)
}

/// A sentence of a decision.
pub(super) fn decision(number: u8, name: &str, says: &str) -> Rule {
    Rule { decisions: vec![number], ..rule(Document::Decisions, &format!("Decision {number}"), name, says) }
}

/// A sentence of an extension, such as `E3.8`.
pub(super) fn extension(number: &str, name: &str, says: &str) -> Rule {
    rule(Document::Extensions, number, name, says)
}

impl Rule {
    /// Its full name: what to look for in these files, and what to give as `CONFORMANCE` to run it alone.
    pub(super) fn title(&self) -> String {
        format!("{}, {}: {}", self.document.name(), self.section, self.name)
    }

    /// These decisions are held by it too.
    pub(super) fn decided(mut self, numbers: &[u8]) -> Self {
        self.decisions.extend(numbers);
        self
    }

    /// Accepted with 200; of the answer (for validate: of its `ad`) what is named here is compared.
    pub(super) fn accepts(self, request: Request, shows: Value) -> Self {
        self.accepts_with(200, request, shows)
    }

    /// Accepted with this status.
    pub(super) fn accepts_with(mut self, status: u16, request: Request, expected: Value) -> Self {
        self.accepting.push(Case { request, status, expected });
        self
    }

    /// Refused with 400 and exactly this body.
    pub(super) fn refuses(self, request: Request, body: Value) -> Self {
        self.refuses_with(400, request, body)
    }

    /// Refused with this status and exactly this body.
    pub(super) fn refuses_with(mut self, status: u16, request: Request, expected: Value) -> Self {
        self.refusing.push(Case { request, status, expected });
        self
    }

    /// Answered with this status and these headers; several of one name are one text, separated by commas.
    pub(super) fn answers(mut self, status: u16, request: Request, headers: Value) -> Self {
        self.headers.push(Case { request, status, expected: headers });
        self
    }

    /// Held by several requests, one after the other.
    pub(super) fn by(mut self, scenario: impl for<'a> Fn(&'a Trial) -> Run<'a> + Send + Sync + 'static) -> Self {
        self.scenarios.push(Box::new(scenario));
        self
    }

    /// Held by another test too, as `e2e::<file>::<function>`, `rules::<file>::<function>` or `<path>::<function>`; it
    /// counts for both sides.
    pub(super) fn see(mut self, test: &'static str) -> Self {
        self.tests.push(test);
        self
    }

    /// Has one side only, for this reason.
    pub(super) fn one_sided(mut self, reason: &'static str) -> Self {
        self.one_sided = Some(reason);
        self
    }
}
