//! `ad-migrate v3`: migrates V3 ads to V4.

use std::{io::Write, path::PathBuf, time::Duration};

use ad_bulk::{
    Identity,
    check::known,
    conversion::{Assessment, ConversionState, Need, ads_of_v3, assess, convert},
    follow::{Waited, wait_for_request},
};
use ad_client::{Ad, Client, Target};
use ad_core::{
    categories::{self, Category},
    fields::Kind,
    rulebook::Rulebook,
    violation::nearest,
};
use ad_files::WholeFile;
use ad_terminal::{
    Context, Exit, Failure, FileKind, Force, OutFile, PAYLOADS_MARK,
    conversion::{COLUMNS, ConversionCounts, FIELDS, LEFT_OUT},
    duration,
};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::{Value, json};

use crate::v3::{
    fill::{Filled, fill},
    sheet::{self, Answers, SheetRow, VEHICLE_TYPE},
};

/// Allowed values that are listed.
const MOST_VALUES: usize = 40;

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
pub(crate) struct V3Args {
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
    /// Write the payloads, also incomplete ones, to this file, one per line; an earlier such file is replaced
    #[arg(long, value_name = "FILE.ndjson")]
    payloads: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// How long to wait for the outcome of a migration, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, requires = "submit")]
    within: Duration,
}

pub(crate) async fn run(context: &Context, args: &V3Args) -> Result<(), Failure> {
    use ConversionState::{Accepted, Converts, Failed, NeedsData, NeedsType, Ready, Rejected, Stays};
    context.out.check_names(FIELDS.iter().copied())?;
    let client = context.client()?;
    let answers =
        if args.file.exists() { sheet::read(&args.file).map_err(super::file::not_read)? } else { Answers::new() };
    let payloads = match OutFile::wanted(args.payloads.as_deref(), FileKind::Payloads, args.force)? {
        Some(to) => Some(PayloadsFile { file: to.create()?, to, is_begun: false }),
        None => None,
    };
    let rulebook = Rulebook::default();
    let mut run = Run { client: &client, args, rulebook, rows: Vec::new(), payloads };
    let mut counts = ConversionCounts::default();
    let mut table = context.out.rows([COLUMNS, &[LEFT_OUT]].concat());
    let mut accepted = Vec::new();
    // All ads first: those that are migrated meanwhile would shift the pages.
    let ads: Vec<Ad> = ads_of_v3(&client).try_collect().await?;
    for ad in &ads {
        let assessment = run.ad(ad, answers.get(&Identity::from(ad)).map_or(&[], Vec::as_slice)).await?;
        match assessment.state {
            Accepted => accepted.push(assessment),
            state => {
                counts.add(state);
                if state != Converts {
                    table.push(&assessment)?;
                }
            }
        }
    }
    for mut assessment in accepted {
        run.wait_for(&mut assessment).await?;
        counts.add(assessment.state);
        table.push(&assessment)?;
    }
    table.end()?;
    run.end()?;
    let text = counts.text(&[
        (&[Accepted], "migrated"),
        (&[Ready], "ready to migrate (--submit)"),
        (&[NeedsData, NeedsType], "incomplete"),
        (&[Rejected, Failed], "rejected or failed"),
        (&[Stays], "stay V3"),
        (&[Converts], "converted by their next update"),
    ]);
    context.out.note(&format!("V3 ads: {}", text.as_deref().unwrap_or("none")));
    let lacking = counts.of(&[NeedsData, NeedsType]);
    if lacking > 0 {
        context.out.note(&format!("complete the column `value` of {} and run the command again", args.file.display()));
    }
    if lacking + counts.of(&[Rejected, Failed]) == 0 { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}

struct Run<'a> {
    client: &'a Client,
    args: &'a V3Args,
    rulebook: Rulebook,
    /// The rows of the new sheet.
    rows: Vec<SheetRow>,
    payloads: Option<PayloadsFile>,
}

/// The payloads while they are written.
struct PayloadsFile {
    to: OutFile,
    file: WholeFile,
    is_begun: bool,
}

impl Run<'_> {
    /// Assesses an ad, and migrates it with --submit if it is complete.
    async fn ad(&mut self, ad: &Ad, answers: &[(String, String)]) -> Result<Assessment, Failure> {
        let (types, answers): (Vec<_>, Vec<_>) = answers.iter().cloned().partition(|(field, _)| field == VEHICLE_TYPE);
        let wanted = types.first().map(|(_, name)| name.as_str()).or(self.args.of_type.as_deref());
        let first = assess(&self.rulebook, ad, None, wanted);
        let vehicle_type = match first.state {
            ConversionState::NeedsType => return Ok(self.needs_type(ad, first, wanted)),
            ConversionState::Ready | ConversionState::NeedsData => first.vehicle_types.first().copied(),
            _ => None,
        };
        let Some(target) = vehicle_type.and_then(categories::by_vehicle_type) else { return Ok(first) };
        let filled = fill(&self.rulebook, ad, target, &answers);
        self.write(ad, target, &filled)?;
        let mut assessment = assess(&self.rulebook, ad, Some(&filled.payload), vehicle_type);
        assessment.vehicle_types.truncate(1);
        assessment.left_out = filled.left_out;
        let mut needs: Vec<Need> = Vec::new();
        for wrong in filled.wrong {
            assessment.state = ConversionState::NeedsData;
            needs.push(Need { field: wrong.field.unwrap_or_default(), messages: vec![wrong.message] });
        }
        // The error of an answer says more than that of the payload.
        assessment.needs.retain(|need| needs.iter().all(|wrong| wrong.field != need.field));
        assessment.needs.splice(0..0, needs);
        if self.args.submit {
            convert(self.client, &mut assessment).await?;
        }
        let row = |field: &str, missing: &str, value: &str| SheetRow {
            vehicle_type: target.vehicle_type.unwrap_or_default().to_owned(),
            missing: missing.to_owned(),
            value: value.to_owned(),
            ..sheet_row(ad, field)
        };
        for need in assessment.needs.iter().filter(|need| !need.field.is_empty()) {
            let answer = answers.iter().find(|(field, _)| *field == need.field).map_or("", |(_, value)| value);
            let allowed = allowed(&self.rulebook, target, &need.field);
            self.rows.push(SheetRow { allowed, ..row(&need.field, &need.messages.join(" "), answer) });
        }
        // Valid answers stay in the sheet until they are used.
        if assessment.state != ConversionState::Accepted {
            let rejected = assessment.needs.iter().find(|need| need.field.is_empty());
            let missing = rejected.map_or(String::new(), |need| need.messages.join(" "));
            let others = answers.iter().filter(|(field, _)| assessment.needs.iter().all(|need| need.field != *field));
            self.rows.extend(others.chain(&types).map(|(field, value)| row(field, &missing, value)));
        }
        Ok(assessment)
    }

    /// An ad that may become one of several vehicle types.
    fn needs_type(&mut self, ad: &Ad, first: Assessment, wanted: Option<&str>) -> Assessment {
        let allowed = first.vehicle_types.join("; ");
        let question = match wanted {
            Some(answer) => {
                let hint = nearest::did_you_mean(answer, first.vehicle_types.iter().copied());
                let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
                format!("The ad cannot become \"{answer}\".{hint}")
            }
            None => "Vehicle type of the migrated ad.".to_owned(),
        };
        let needs = vec![Need { field: VEHICLE_TYPE.to_owned(), messages: vec![format!("{question} {allowed}")] }];
        let value = wanted.unwrap_or_default().to_owned();
        self.rows.push(SheetRow { missing: question, allowed, value, ..sheet_row(ad, VEHICLE_TYPE) });
        Assessment { needs, vehicle_types: Vec::new(), ..first }
    }

    /// Writes a payload, as `ad-cli migrate-v4 --payloads` takes it, too.
    fn write(&mut self, ad: &Ad, target: &Category, filled: &Filled) -> Result<(), Failure> {
        let Some(PayloadsFile { to, file, is_begun }) = &mut self.payloads else { return Ok(()) };
        let mut payload = filled.payload.clone();
        payload.insert("source_id".to_owned(), json!(ad.source_id));
        payload.insert("category_id".to_owned(), json!(target.id));
        let mark = if std::mem::replace(is_begun, true) { "" } else { PAYLOADS_MARK };
        writeln!(file, "{mark}{}", Value::Object(payload)).map_err(|error| to.unwritable(&error))
    }

    async fn wait_for(&self, assessment: &mut Assessment) -> Result<(), Failure> {
        let Some(request) = assessment.request_id.as_deref().and_then(|id| id.parse().ok()) else { return Ok(()) };
        let target = Target::from(&assessment.source_id).of_dealer(Some(&assessment.dealer_code));
        let waited = wait_for_request(self.client, target, request, self.args.within, |_| {}).await?;
        if !waited.outcome().is_good() {
            let message = match waited {
                Waited::Finished(outcome) => outcome.message().unwrap_or_default(),
                Waited::UnderWay(_) => "unfinished".to_owned(),
            };
            assessment.state = ConversionState::Failed;
            assessment.needs = vec![Need { field: String::new(), messages: vec![message] }];
        }
        Ok(())
    }

    /// Flushes the files that are written.
    fn end(self) -> Result<(), Failure> {
        if let Some(PayloadsFile { to, file, .. }) = self.payloads {
            file.end().map_err(|error| to.unwritable(&error))?;
        }
        if !self.rows.is_empty() || self.args.file.exists() {
            sheet::write(&self.args.file, &self.rows)?;
        }
        Ok(())
    }
}

/// A row of the sheet that identifies ad and field.
fn sheet_row(ad: &Ad, field: &str) -> SheetRow {
    SheetRow {
        source_id: ad.source_id.clone(),
        dealer_code: ad.dealer_code.clone(),
        title: ad.title.clone().unwrap_or_default(),
        field: field.to_owned(),
        ..SheetRow::default()
    }
}

/// What a field allows, in words.
fn allowed(rulebook: &Rulebook, target: &Category, path: &str) -> String {
    let Some(row) = known(target).into_iter().find(|row| row.place == path) else { return String::new() };
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
