//! The conformance suite: every rule of `interface.md`, `category-fields.md`, `decisions.md` and `extensions.md`, held
//! against a running server with what it accepts and what it refuses.
//!
//! A rule stands in the module of its section, named as the documents name it; tables of fields are rows of data in
//! [`categories`], read from the document and not from the service's own tables, for otherwise they could not differ.
//!
//! `cargo test -p ad-tests --test e2e conformance` runs all of them and prints how many there are.
//! `CONFORMANCE="Price object"` before it runs only the rules whose title has this text, and lists them.

mod access;
mod ads;
mod categories;
mod decisions;
mod endpoints;
mod errors;
mod extensions;
mod lists;
mod log;
mod pattern;
mod purpose;
mod request;
mod rule;
mod says;
mod states;
mod trial;
mod world;

use std::{collections::BTreeSet, io::Write as _, path::Path, sync::Arc};

use rule::{Document, Rule};
use tokio::{sync::Semaphore, task::JoinSet};
use trial::{Findings, Trial};
use world::World;

/// Rules on trial at a time.
const AT_A_TIME: usize = 12;

/// All rules, in the order of the documents.
fn rules() -> Vec<Rule> {
    [
        purpose::rules(),
        ads::rules(),
        log::rules(),
        states::rules(),
        endpoints::rules(),
        lists::rules(),
        access::rules(),
        errors::rules(),
        categories::rules(),
        decisions::rules(),
        extensions::rules(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rule_of_the_documents_holds() {
    let wanted = std::env::var("CONFORMANCE").ok();
    let rules =
        rules().into_iter().filter(|rule| wanted.as_ref().is_none_or(|text| rule.title().contains(text.as_str())));
    let world = Arc::new(World::start().await);
    let turns = Arc::new(Semaphore::new(AT_A_TIME));
    let mut trials = JoinSet::new();
    for (place, rule) in rules.enumerate() {
        let (world, turns) = (Arc::clone(&world), Arc::clone(&turns));
        trials.spawn(async move {
            let _turn = turns.acquire_owned().await;
            let verdict = Verdict::on(&rule);
            Verdict { findings: Trial::run(world, rule).await, place, ..verdict }
        });
    }
    let mut verdicts = Vec::new();
    while let Some(verdict) = trials.join_next().await {
        verdicts.push(verdict.expect("a trial collects failures instead of panicking"));
    }
    verdicts.sort_by_key(|verdict| verdict.place);
    report(&verdicts, wanted.is_some());
    let failures: Vec<_> = verdicts.iter().flat_map(Verdict::failures).collect();
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n\n"));
}

/// What became of one rule.
#[derive(Debug, Default)]
struct Verdict {
    place: usize,
    document: Option<Document>,
    section: String,
    title: String,
    says: String,
    tests: usize,
    one_sided: bool,
    findings: Findings,
}

impl Verdict {
    fn on(rule: &Rule) -> Self {
        Self {
            document: Some(rule.document),
            section: rule.section.clone(),
            title: rule.title(),
            says: rule.says.clone(),
            tests: rule.tests.len(),
            one_sided: rule.one_sided.is_some(),
            ..Self::default()
        }
    }

    /// What is wrong, a missing side included.
    fn failures(&self) -> Vec<String> {
        let Findings { accepting, refusing, failures } = &self.findings;
        let mut failures = failures.clone();
        let sides = usize::from(*accepting > 0) + usize::from(*refusing > 0);
        let needed = match (self.tests, self.one_sided) {
            (0, false) => 2,
            (0, true) => 1,
            _ => 0,
        };
        if sides < needed {
            failures.push(format!("has {accepting} accepting and {refusing} refusing cases"));
        }
        failures.into_iter().map(|failure| format!("{}\n  \"{}\"\n  {failure}", self.title, self.says)).collect()
    }
}

/// Prints what was covered, past the capture of test output.
fn report(verdicts: &[Verdict], each: bool) {
    let mut lines = Vec::new();
    for Verdict { title, says, findings: Findings { accepting, refusing, failures }, .. } in
        verdicts.iter().filter(|_| each)
    {
        let how = if failures.is_empty() { "holds" } else { "FAILS" };
        lines.push(format!("{how} {title}: {says}  [{accepting} accepting, {refusing} refusing]"));
    }
    let mut documents = Vec::new();
    for document in Document::ALL {
        let own = verdicts.iter().filter(|verdict| verdict.document == Some(document));
        // In the order of the document.
        let mut sections: Vec<(&str, usize)> = Vec::new();
        for Verdict { section, .. } in own {
            match sections.iter_mut().find(|(known, _)| known == section) {
                Some((_, rules)) => *rules += 1,
                None => sections.push((section, 1)),
            }
        }
        let told: Vec<_> = sections.iter().map(|(section, rules)| format!("{section} ({rules})")).collect();
        lines.push(format!("{}: {}", document.name(), told.join(", ")));
        documents.push(format!(
            "{}: {} rules",
            document.name(),
            sections.iter().map(|(_, rules)| rules).sum::<usize>()
        ));
    }
    let sum = |count: fn(&Verdict) -> usize| verdicts.iter().map(count).sum::<usize>();
    lines.push(format!(
        "{}; {} rules, {} accepting, {} refusing cases, {} other tests",
        documents.join(", "),
        verdicts.len(),
        sum(|verdict| verdict.findings.accepting),
        sum(|verdict| verdict.findings.refusing),
        sum(|verdict| verdict.tests),
    ));
    let _printed = writeln!(std::io::stdout(), "\n{}", lines.join("\n"));
}

#[test]
fn every_decision_has_its_rules_and_no_two_rules_have_the_same_title() {
    let rules = rules();
    let decisions: BTreeSet<u8> = rules.iter().flat_map(|rule| rule.decisions.iter().copied()).collect();
    assert_eq!(decisions, (1..=32).collect());
    let mut titles = BTreeSet::new();
    let doubled: Vec<_> = rules.iter().map(Rule::title).filter(|title| !titles.insert(title.clone())).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn every_test_that_a_rule_points_to_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is around this package");
    let missing: Vec<_> = rules()
        .iter()
        .flat_map(|rule| rule.tests.iter().map(|test| (rule.title(), *test)))
        .filter(|(_, test)| !exists(root, test))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether the sources have a test of this name.
fn exists(root: &Path, test: &str) -> bool {
    let Some((file, function)) = test.rsplit_once("::") else { return false };
    let module = match file.split_once("::") {
        Some(("e2e", module)) => format!("tests/e2e/{}", module.replace("::", "/")),
        Some(("rules", module)) => format!("ad-core/tests/rules/{module}"),
        _ => file.trim_end_matches(".rs").to_owned(),
    };
    let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
    let source = files.iter().find_map(|file| std::fs::read_to_string(root.join(file)).ok()).unwrap_or_default();
    source.lines().any(|line| line.trim().trim_start_matches("async ").starts_with(&format!("fn {function}(")))
}
