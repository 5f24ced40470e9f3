//! Whether the service ever answers what its OpenAPI document does not describe. Requests are made from the document: its
//! paths, methods, parameters and examples, sent as they are and then spoiled in every way that a client may think of. Every
//! answer is held against the response that the document has for its status.
//!
//! `CONTRACT_FUZZ_ROUNDS` makes the run longer, `CONTRACT_FUZZ_SEED` another one (see CONTRIBUTING.md).

mod judge;
mod mutate;
mod requests;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use self::{judge::judge, requests::Mood, world::World};
use crate::openapi::{Contract, Described};

/// Requests of each operation in a short run.
const ROUNDS: usize = 12;

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[tokio::test]
async fn no_answer_is_one_that_the_document_does_not_describe() {
    let rounds = setting("CONTRACT_FUZZ_ROUNDS", ROUNDS);
    let seed = setting("CONTRACT_FUZZ_SEED", 1);
    let mut world = World::start(u64::try_from(seed).unwrap()).await;
    let operations = world.contract.operations();
    let (mut report, mut findings) = (Report::default(), BTreeSet::new());
    let moods = [Mood::Friendly].into_iter().chain(std::iter::repeat_n(Mood::Any, rounds));
    for mood in moods {
        for operation in &operations {
            let request = world.request(operation, mood).await;
            let answer = world.send(&request).await;
            report.saw(operation, answer.status.as_u16());
            if let Err(problem) = judge(world.contract_of(&request), operation, &request, &answer) {
                findings.insert(format!("{}: {problem}\n  {request}", operation.id));
            }
            world.learn(&request, &answer);
        }
    }
    println!("{report}");
    let shown = findings.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(findings.is_empty(), "{} answers are not described; seed {seed}:\n{shown}", findings.len());
    let missed = report.never_succeeded(&world, &operations);
    assert!(missed.is_empty(), "never reached, though documented: {missed:?}");
}

/// How often each operation answered what.
#[derive(Default)]
struct Report(BTreeMap<String, BTreeMap<u16, usize>>);

impl Report {
    fn saw(&mut self, operation: &Described, status: u16) {
        *self.0.entry(operation.id.clone()).or_default().entry(status).or_default() += 1;
    }

    /// The successes of the document that no request had.
    fn never_succeeded(&self, world: &World, operations: &[Described]) -> Vec<String> {
        let mut missed = Vec::new();
        for operation in operations {
            let responses = world.contract.document.pointer(&format!("{}/responses", operation.pointer)).unwrap();
            let successes = responses.as_object().unwrap().keys().filter(|status| status.starts_with('2'));
            for status in successes {
                if !self.0[&operation.id].contains_key(&status.parse().unwrap()) {
                    missed.push(format!("{} {status}", operation.id));
                }
            }
        }
        missed
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (operation, statuses) in &self.0 {
            let statuses: Vec<_> = statuses.iter().map(|(status, count)| format!("{status} × {count}")).collect();
            writeln!(formatter, "{operation:40} {}", statuses.join(", "))?;
        }
        let requests: usize = self.0.values().flat_map(BTreeMap::values).sum();
        write!(formatter, "{requests} requests to {} operations", self.0.len())
    }
}

#[tokio::test]
async fn a_lie_in_the_document_is_found() {
    let mut world = World::start(1).await;
    let operation = |world: &World, id: &str| world.contract.operations().into_iter().find(|it| it.id == id).unwrap();
    let (create, read) = (operation(&world, "create_boat"), operation(&world, "read_boat"));
    let request = world.request(&create, Mood::Friendly).await;
    let [created, again] = [world.send(&request).await, world.send(&request).await];
    let reading = world.request(&read, Mood::Friendly).await;
    let ad = world.send(&reading).await;
    for (operation, request, answer) in
        [(&create, &request, &created), (&create, &request, &again), (&read, &reading, &ad)]
    {
        assert_eq!(judge(&world.contract, operation, request, answer), Ok(()));
    }
    // What is said once for several operations is said of those that can answer it.
    let list = operation(&world, "list_boat");
    let validate = operation(&world, "validate_boat");
    for (operation, bodies_and_keys) in
        [(&read, [false, false]), (&list, [false, false]), (&validate, [true, false]), (&create, [true, true])]
    {
        let described = [413, 422].map(|status| world.contract.response(operation, status).is_some());
        assert_eq!(described, bodies_and_keys, "{}", operation.id);
    }
    let mut document = world.contract.document.clone();
    document["paths"]["/v4/boat"]["post"]["responses"].as_object_mut().unwrap().remove("409");
    document["components"]["schemas"]["AdBase"]["properties"].as_object_mut().unwrap().remove("offer_id");
    document["components"]["schemas"]["AdCreated"]["format"] = "date".into();
    let lying = Contract::new(document);
    let problem = judge(&lying, &create, &request, &again).unwrap_err();
    assert!(problem.contains("409 Conflict is not described"), "{problem}");
    let problem = judge(&lying, &create, &request, &created).unwrap_err();
    assert!(problem.contains("offer_id") || problem.contains("date"), "{problem}");
    assert!(judge(&lying, &read, &reading, &ad).is_err());
}
