//! Saved plans, for review and later application: a header, and a step per line. A plan applies to one state of the file and of the
//! service; if either has changed, it is rejected.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use ad_core::stock::ChangeKind;
use ad_files::spool::Spool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    plan::{Plan, PlanHeader, Step},
    stock::{self, no_room},
};
use crate::{
    Client,
    bulk::follow::{Include, Statuses},
    cli::input::{Input, MappingArg},
    terminal::{Context, Failure, OutFile, counted},
};

/// The form of the file.
const VERSION: u32 = 1;

const LONGEST_HEADER: u64 = 1024 * 1024;

const MOST_NAMED: usize = 5;

#[derive(Debug, Serialize, Deserialize)]
struct Header<T> {
    ad_cli_plan: u32,
    #[serde(flatten)]
    about: T,
    /// Number of the lines that follow.
    steps: usize,
}

#[derive(Serialize)]
struct PlanLine<'a> {
    #[serde(flatten)]
    step: &'a Step,
    body: Option<&'a Map<String, Value>>,
}

#[derive(Deserialize)]
struct Body {
    body: Option<Map<String, Value>>,
}

/// Writes a plan to a file: all of it, or nothing.
pub(super) fn save(plan: &mut Plan, to: &OutFile) -> Result<(), Failure> {
    let mut file = to.create()?;
    let lines = lines(plan)?;
    file.write_all(&lines).and_then(|()| file.end()).map_err(|error| to.unwritable(&error))
}

fn lines(plan: &mut Plan) -> Result<Vec<u8>, Failure> {
    let header = Header { ad_cli_plan: VERSION, about: &plan.about, steps: plan.steps.len() };
    let mut lines = serde_json::to_vec(&header).map_err(io::Error::other)?;
    lines.push(b'\n');
    for step in &plan.steps {
        let body = step.body.map(|span| plan.spool.object(span)).transpose().map_err(no_room())?;
        serde_json::to_writer(&mut lines, &PlanLine { step, body: body.as_ref() }).map_err(io::Error::other)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The plan in a file, if it is one; any other file is one of payloads.
pub(super) fn load(path: &Path) -> Result<Option<Plan>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    // The reader of payloads reports what cannot be read.
    let Ok(file) = File::open(path) else { return Ok(None) };
    let mut lines = BufReader::new(file);
    let mut first = Vec::new();
    let read = lines.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut first);
    let header = read.ok().and_then(|_| serde_json::from_slice::<Map<String, Value>>(&first).ok());
    if !header.is_some_and(|header| header.contains_key("ad_cli_plan")) {
        return Ok(None);
    }
    let name = path.display();
    let broken = |line: usize, error: &dyn std::fmt::Display| {
        Failure::usage(format!("{name}:{line}: invalid plan: {error}")).hint("make a new plan: ad-cli sync plan")
    };
    let header: Header<PlanHeader> = serde_json::from_slice(&first).map_err(|error| broken(1, &error))?;
    if header.ad_cli_plan != VERSION {
        return Err(broken(1, &format!("version {} instead of {VERSION}", header.ad_cli_plan)));
    }
    let (mut steps, mut spool) = (Vec::new(), Spool::default());
    for (index, line) in lines.lines().enumerate() {
        let line = line.map_err(|error| broken(index + 2, &error))?;
        let mut step: Step = serde_json::from_str(&line).map_err(|error| broken(index + 2, &error))?;
        let Body { body } = serde_json::from_str(&line).map_err(|error| broken(index + 2, &error))?;
        let has_body = matches!(step.act, ChangeKind::Update | ChangeKind::Revive | ChangeKind::Create);
        if body.is_some() != has_body || (!has_body && step.act != ChangeKind::Delete) {
            return Err(broken(index + 2, &"step and body do not match"));
        }
        step.body = body.map(|body| spool.add_line(&body)).transpose().map_err(no_room())?;
        steps.push(step);
    }
    if steps.len() != header.steps {
        return Err(broken(steps.len() + 1, &format!("truncated after {} of {} steps", steps.len(), header.steps)));
    }
    Ok(Some(Plan { about: header.about, steps, spool, ..Plan::default() }))
}

/// Checks that file and service are those of the plan.
pub(super) async fn check_unchanged(context: &Context, plan: &Plan, client: &Client) -> Result<(), Failure> {
    let anew = |message: String| {
        Failure::rejected(message).hint("nothing was changed; make a new plan: ad-cli sync plan FILE --save PLAN")
    };
    let PlanHeader { url, path, digest, mapping, http_images, .. } = &plan.about;
    if url != client.url() {
        return Err(anew(format!("the plan is for {url}, not for {}", client.url())));
    }
    let Some(path) = path else { return Ok(()) };
    let mapping = MappingArg { mapping: mapping.clone() };
    let input = Input::open(context, path, &mapping, *http_images).await;
    let source =
        input.as_ref().map_err(Failure::to_string).and_then(|input| input.source(context).map_err(|it| it.to_string()));
    let source = source.map_err(|error| anew(format!("the file of the plan cannot be read: {error}")))?;
    if stock::digest(source)? != *digest {
        return Err(anew(format!("{} has changed since the plan was made", path.display())));
    }
    Ok(())
}

/// Checks that the ads have not changed since the plan was made.
pub(super) async fn is_current(plan: &Plan, client: &Client) -> Result<(), Failure> {
    let statuses = Statuses::of(client, plan.steps.iter().map(|step| &step.ad), Include::Ad).await?;
    let changed: Vec<_> = plan
        .steps
        .iter()
        .filter(|step| statuses.get(&step.ad).map(|status| status.updated) != step.updated)
        .map(|step| step.ad.source_id.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = changed.iter().take(MOST_NAMED).copied().collect();
    let more = if changed.len() > MOST_NAMED { ", …" } else { "" };
    Err(Failure::rejected(format!(
        "{} changed at the service since the plan was made: {}{more}",
        counted(changed.len() as u64, "ad"),
        named.join(", ")
    ))
    .hint("nothing was changed; make a new plan"))
}
