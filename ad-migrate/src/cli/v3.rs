//! `ad-migrate v3`: ads of V3 that have to migrate become ads of V4.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    v3::{
        fill::{Filled, fill},
        sheet::{self, Answers, Open, VEHICLE_TYPE, Which},
    },
    whole::Whole,
};
use ad_cli::{
    Ad, Client, ListQuery, Outcome, Target,
    cli::{
        Context, Exit, Failure,
        migration::{Assessment, Way, assess},
        output::{Cell, Column, Tone, plain},
        shown,
        waiting::{self, Waited},
    },
};
use ad_core::{
    categories::{self, Category, ad_fields},
    fields::Kind,
    model::{AdState, ApiVersion},
    parameters::MAX_LIMIT,
    reference::rows,
    rulebook::Rulebook,
    violation::nearest,
};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::{Value, json};

/// Allowed values that are named one by one.
const MOST_VALUES: usize = 40;

/// Arguments of `v3`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --submit nothing is changed: the command reads the dealer's V3 ads, fills V4 payloads with their data, and writes missing fields to \
FILE, one row per field, with the allowed values. Complete the column `value` in a spreadsheet, and run the command again to validate your \
values. With --submit, complete ads are migrated, and the others stay in FILE.

Id, source id, log and images of an ad stay. Data under 'left out' has no field in V4 and is lost. Ads of categories that V4 converts \
(cars, motorcycles, …) are not listed: any V4 update converts them.

Exit code 0: all V3 ads are migrated, or without --submit: can be migrated. 1: some ads lack data or were rejected.

Examples:
  ad-migrate v3 v3.csv
  ad-migrate v3 v3.csv --submit")]
pub(crate) struct Args {
    /// File to complete; it is created, and read if it exists
    #[arg(value_name = "FILE.csv")]
    file: PathBuf,
    /// Migrate the complete ads
    #[arg(long)]
    submit: bool,
    /// Vehicle type of ads that could become several types, unless FILE sets one
    #[arg(long = "type", value_name = "TYPE", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(categories::typed().map(|(name, _)| name)))]
    of_type: Option<String>,
    /// Write the payloads, also incomplete ones, to this file, one per line
    #[arg(long, value_name = "FILE.ndjson")]
    payloads: Option<PathBuf>,
    /// How long to wait for the outcome of a migration, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = waiting::duration, requires = "submit")]
    within: Duration,
}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("CATEGORY", "category_id").shown(shown::vehicle_type),
    Column::new("BECOMES", "vehicle_type"),
    Column::new("WAY", "way").shown(way),
    Column::new("MISSING", "needs").wrapped(),
    Column::new("LEFT OUT", "left_out").wrapped(),
];

fn way(way: &Value) -> Cell {
    let text = plain(way).replace('_', " ");
    let tone = match text.as_str() {
        "ready" | "migrated" => Tone::Good,
        "refused" | "failed" => Tone::Bad,
        "stays" => Tone::Faint,
        _ => Tone::Warning,
    };
    Cell::toned(text, tone)
}

/// How many ads went which way.
#[derive(Debug, Default)]
struct Totals {
    converts: u64,
    stays: u64,
    ready: u64,
    migrated: u64,
    lacking: u64,
    refused: u64,
}

/// What came of asking the service.
enum Asked {
    /// It took the ad; the request that its log calls it by.
    Accepted(Option<uuid::Uuid>),
    Refused(String),
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let answers =
        if args.file.exists() { sheet::read(&args.file).map_err(super::file::not_read)? } else { Answers::new() };
    let mut migration = Migration {
        context,
        client: &client,
        args,
        rulebook: Rulebook::default(),
        open: Vec::new(),
        totals: Totals::default(),
        migrated: Vec::new(),
        payloads: args
            .payloads
            .as_deref()
            .map(|path| Whole::create(path).map_err(|error| unwritable(path, &error)))
            .transpose()?,
    };
    let mut table = context.out.rows(COLUMNS);
    // All of them first: those that are migrated meanwhile would shift the pages.
    let query = ListQuery::new().with("state", AdState::Created).with("ordering", "created").with("limit", MAX_LIMIT);
    let mut all = client.v4().all(&query);
    let mut ads = Vec::new();
    while let Some(ad) = all.try_next().await? {
        if ad.api_version == ApiVersion::V3 {
            ads.push(ad);
        }
    }
    for ad in &ads {
        let which = Which { source_id: ad.source_id.clone(), dealer_code: ad.dealer_code.clone() };
        if let Some(row) = migration.ad(ad, answers.get(&which).map_or(&[], Vec::as_slice)).await? {
            table.push(&row)?;
        }
    }
    for row in migration.outcomes().await? {
        table.push(&row)?;
    }
    table.end()?;
    migration.end(&args.file)
}

/// Ads of V3 on their way.
struct Migration<'a> {
    context: &'a Context,
    client: &'a Client,
    args: &'a Args,
    rulebook: Rulebook,
    open: Vec<Open>,
    totals: Totals,
    /// Those whose outcome is not known yet.
    migrated: Vec<(Value, uuid::Uuid)>,
    /// Where payloads are written.
    payloads: Option<Whole>,
}

impl Migration<'_> {
    /// Looks at an ad, and migrates it where that is wanted and can be; the row that is shown, unless there is more to come.
    async fn ad(&mut self, ad: &Ad, answers: &[(String, String)]) -> Result<Option<Value>, Failure> {
        let (about, answers): (Vec<_>, Vec<_>) = answers.iter().cloned().partition(|(field, _)| field == VEHICLE_TYPE);
        let wanted = about.first().map(|(_, name)| name.as_str()).or(self.args.of_type.as_deref());
        let first = assess(&self.rulebook, ad, None, wanted);
        match first.way {
            Way::Converts => {
                self.totals.converts += 1;
                return Ok(None);
            }
            Way::Stays => {
                self.totals.stays += 1;
                return Ok(Some(shown_row(ad, &first, "stays", &["V4 has no category for it".to_owned()], &[])));
            }
            Way::NeedsType => {
                self.totals.lacking += 1;
                let allowed = first.vehicle_types.join("; ");
                let question = match about.first() {
                    Some((_, answer)) => {
                        let hint = nearest::did_you_mean(answer, first.vehicle_types.iter().copied());
                        let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
                        format!("The ad cannot become \"{answer}\".{hint}")
                    }
                    None => "Vehicle type of the migrated ad.".to_owned(),
                };
                let needs = format!("{VEHICLE_TYPE}: {question} {allowed}");
                self.open.push(Open { allowed, ..open(ad, "", VEHICLE_TYPE, &question, wanted.unwrap_or_default()) });
                return Ok(Some(shown_row(ad, &first, "needs_type", &[needs], &[])));
            }
            Way::Ready | Way::NeedsData => {}
        }
        let vehicle_type = first.vehicle_types.first().copied().unwrap_or_default();
        let Some(target) = categories::by_vehicle_type(vehicle_type) else { return Ok(None) };
        let filled = fill(&self.rulebook, ad, target, &answers);
        self.write(ad, target, &filled)?;
        let assessment = assess(&self.rulebook, ad, Some(&filled.payload), Some(vehicle_type));
        if assessment.way != Way::Ready || !filled.wrong.is_empty() {
            self.totals.lacking += 1;
            let needs = self.lacks(ad, target, &assessment, &filled, &answers);
            return Ok(Some(shown_row(ad, &assessment, "needs_data", &needs, &filled.left_out)));
        }
        if !self.args.submit {
            self.totals.ready += 1;
            // What people have answered stays in the file until it is used.
            self.open.extend(answers.iter().map(|(field, value)| open(ad, vehicle_type, field, "", value)));
            self.open.extend(about.iter().map(|(field, value)| open(ad, vehicle_type, field, "", value)));
            return Ok(Some(shown_row(ad, &assessment, "ready", &[], &filled.left_out)));
        }
        match self.migrate(ad, vehicle_type, &filled).await? {
            Asked::Accepted(request) => {
                self.totals.migrated += 1;
                let row = shown_row(ad, &assessment, "migrated", &[], &filled.left_out);
                match request {
                    Some(request) => self.migrated.push((row, request)),
                    None => return Ok(Some(row)),
                }
                Ok(None)
            }
            Asked::Refused(message) => {
                self.totals.refused += 1;
                self.open.extend(answers.iter().map(|(field, value)| open(ad, vehicle_type, field, &message, value)));
                Ok(Some(shown_row(ad, &assessment, "refused", &[message], &filled.left_out)))
            }
        }
    }

    /// Writes a payload down, as `ad-cli migrate-v4 --payloads` takes it too.
    fn write(&mut self, ad: &Ad, target: &Category, filled: &Filled) -> Result<(), Failure> {
        let (Some(out), Some(path)) = (&mut self.payloads, &self.args.payloads) else { return Ok(()) };
        let mut payload = filled.payload.clone();
        payload.insert("source_id".to_owned(), json!(ad.source_id));
        payload.insert("category_id".to_owned(), json!(target.id));
        writeln!(out, "{}", Value::Object(payload)).map_err(|error| unwritable(path, &error))
    }

    /// What an ad lacks, for people and for the file.
    fn lacks(
        &mut self,
        ad: &Ad,
        target: &'static Category,
        assessment: &Assessment,
        filled: &Filled,
        answers: &[(String, String)],
    ) -> Vec<String> {
        let vehicle_type = target.vehicle_type.unwrap_or_default();
        let mut needs: Vec<(String, String)> =
            filled.wrong.iter().map(|it| (it.field.clone().unwrap_or_default(), it.message.clone())).collect();
        for need in &assessment.needs {
            // What was wrong with an answer says more.
            if !needs.iter().any(|(field, _)| *field == need.field) {
                needs.push((need.field.clone(), need.messages.join(" ")));
            }
        }
        let answered = |field: &str| answers.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_str());
        for (field, message) in &needs {
            let allowed = allowed(&self.rulebook, target, field);
            let value = answered(field).unwrap_or_default();
            self.open.push(Open { allowed, ..open(ad, vehicle_type, field, message, value) });
        }
        // Answers that are right stay in the file until all are there.
        for (field, value) in answers.iter().filter(|(field, _)| !needs.iter().any(|(need, _)| need == field)) {
            self.open.push(open(ad, vehicle_type, field, "", value));
        }
        needs.into_iter().map(|(field, message)| format!("{field}: {message}")).collect()
    }

    async fn migrate(&self, ad: &Ad, vehicle_type: &str, filled: &Filled) -> Result<Asked, Failure> {
        let target = Target::from(&ad.source_id).of_dealer(Some(&ad.dealer_code));
        let mut payload = filled.payload.clone();
        // The path fixes it.
        payload.remove("category_id");
        let error = match self.client.typed(vehicle_type).migrate(target, &payload).await {
            Ok(answer) => return Ok(Asked::Accepted(answer.request_uuid())),
            Err(error) => error,
        };
        if error.is_unclear() && self.client.v4().read(target).await?.body.api_version == ApiVersion::V4 {
            return Ok(Asked::Accepted(None));
        }
        let message = error.to_string();
        let failure = Failure::from(error);
        if matches!(failure.exit(), Exit::Unauthorised | Exit::Unreachable) {
            Err(failure)
        } else {
            Ok(Asked::Refused(message))
        }
    }

    /// What became of the migrated ones.
    async fn outcomes(&mut self) -> Result<Vec<Value>, Failure> {
        let mut rows = Vec::new();
        for (mut row, request) in std::mem::take(&mut self.migrated) {
            let source_id = row["source_id"].as_str().unwrap_or_default().to_owned();
            let dealer_code = row["dealer_code"].as_str().map(str::to_owned);
            let target = (source_id.as_str(), dealer_code.as_deref());
            let waited = waiting::for_request(self.client, target, request, self.args.within).await?;
            let trouble = match &waited {
                Waited::Came(Outcome::Failed { action, message }) => Some(format!("{action}: {message}")),
                Waited::Came(_) => None,
                Waited::NotYet(_) => Some("unfinished".to_owned()),
            };
            if let Some(message) = trouble {
                self.totals.migrated -= 1;
                self.totals.refused += 1;
                row["way"] = json!("failed");
                row["needs"] = json!(message);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// Writes the file, and says how things stand.
    fn end(self, file: &Path) -> Result<(), Failure> {
        let Totals { converts, stays, ready, migrated, lacking, refused } = self.totals;
        if let (Some(payloads), Some(path)) = (self.payloads, &self.args.payloads) {
            payloads.end().map_err(|error| unwritable(path, &error))?;
        }
        if !self.open.is_empty() || file.exists() {
            sheet::write(file, &self.open)?;
        }
        let parts = [
            (migrated, "migrated"),
            (ready, "ready to migrate (--submit)"),
            (lacking, "incomplete"),
            (refused, "rejected or failed"),
            (stays, "stay V3"),
            (converts, "converted by their next update"),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let told = if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
        self.context.out.note(&format!("V3 ads: {told}"));
        if lacking > 0 {
            self.context
                .out
                .note(&format!("complete the column `value` of {} and run the command again", file.display()));
        }
        if lacking + refused == 0 { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
}

fn open(ad: &Ad, vehicle_type: &str, field: &str, missing: &str, value: &str) -> Open {
    Open {
        source_id: ad.source_id.clone(),
        dealer_code: ad.dealer_code.clone(),
        title: ad.title.clone().unwrap_or_default(),
        vehicle_type: vehicle_type.to_owned(),
        field: field.to_owned(),
        missing: missing.to_owned(),
        allowed: String::new(),
        value: value.to_owned(),
    }
}

fn shown_row(ad: &Ad, assessment: &Assessment, way: &str, needs: &[String], left_out: &[(String, String)]) -> Value {
    let left_out: Vec<_> = left_out.iter().map(|(path, value)| format!("{path}: {value}")).collect();
    json!({
        "source_id": ad.source_id,
        "dealer_code": ad.dealer_code,
        "category_id": ad.category_id,
        "vehicle_type": if assessment.vehicle_types.len() == 1 || way != "needs_type" { assessment.vehicle_types.first() } else { None },
        "way": way,
        "needs": needs.join("; "),
        "left_out": left_out.join("; "),
    })
}

/// What a field allows, in words.
fn allowed(rulebook: &Rulebook, target: &Category, path: &str) -> String {
    let around = rows(ad_fields::WRITTEN).into_iter();
    let inside = rows(target.fields()).into_iter().map(|mut row| {
        row.place = format!("category_fields.{}", row.place);
        row
    });
    let Some(row) = around.chain(inside).find(|row| row.place == path) else { return String::new() };
    let item = match row.field.kind {
        Kind::List { item, .. } => *item,
        kind => kind,
    };
    match item.allowed(&rulebook.catalogue) {
        Some(values) => {
            let ids = values.iter().take(MOST_VALUES).map(|entry| entry.id.as_str()).collect::<Vec<_>>().join("; ");
            if values.len() > MOST_VALUES { format!("{ids}; …") } else { ids }
        }
        None => row.field.kind.to_string().replace('`', ""),
    }
}
