//! `ad-cli migrate-v4`: ads of V3 become ads of V4.

use std::{collections::HashMap, path::PathBuf};

use ad_core::{
    categories,
    model::{AdState, ApiVersion},
    rulebook::Rulebook,
};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::{Map, Value, json};

use crate::{
    Ad, Client, ListQuery, Target,
    cli::{
        Context, Exit, Failure,
        migration::{Assessment, Way, assess},
        output::{Cell, Column, Tone, plain},
        payloads::{Chunks, Place, Source, parse},
        shown,
    },
};

/// Arguments of `migrate-v4`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The status of a V3 ad depends on its category: 'converts' means that any V4 update converts it, 'ready' that it can migrate with its own
data, 'needs data' that required data is missing, 'needs type' that --type must select one of several vehicle types, and 'stays' that V4 has
no category for it.

Without --dry-run, ads with status 'converts' or 'ready' are migrated; id, source id, log and images stay. The others need complete V4
payloads: write them to a file, each with the source_id of its ad, and pass it with --payloads. They replace the data of the ad.

Examples:
  ad-cli migrate-v4 --all --dry-run
  ad-cli migrate-v4 rib-1 --dry-run
  ad-cli migrate-v4 --all
  ad-cli migrate-v4 --payloads boats.ndjson rib-1 rib-2")]
pub(crate) struct Args {
    /// Source ids of the ads
    #[arg(value_name = "SOURCE_ID", required_unless_present = "all")]
    source_ids: Vec<String>,
    /// All V3 ads that are not deleted
    #[arg(long, conflicts_with = "source_ids")]
    all: bool,
    /// Show the status of the ads without changing them
    #[arg(long)]
    dry_run: bool,
    /// File with complete V4 payloads, in any format of `import`, or - for stdin
    #[arg(long, value_name = "FILE|-")]
    payloads: Option<PathBuf>,
    /// Vehicle type of the migrated ads, if several are possible
    #[arg(long = "type", value_name = "TYPE", value_parser = PossibleValuesParser::new(categories::typed().map(|(name, _)| name)))]
    of_type: Option<String>,
    /// The dealer, if several dealers of the token's group have this source id
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("CATEGORY", "category_id").shown(shown::vehicle_type),
    Column::new("WAY", "way").shown(way),
    Column::new("TO", "vehicle_types"),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("MISSING", "needs").wrapped().shown(|needs| {
        let messages = |need: &Value| need["messages"].as_array().into_iter().flatten().map(plain).collect::<Vec<_>>();
        let told = |need: &Value| match plain(&need["field"]).as_str() {
            "" => messages(need).join(" "),
            field => format!("{field}: {}", messages(need).join(" ")),
        };
        needs.as_array().map(|needs| needs.iter().map(told).collect::<Vec<_>>().join("; ")).unwrap_or_default().into()
    }),
];

fn way(way: &Value) -> Cell {
    let text = plain(way).replace('_', " ");
    match text.as_str() {
        "converts" | "ready" | "accepted" => Cell::toned(text, Tone::Good),
        "stays" => Cell::toned(text, Tone::Faint),
        "refused" => Cell::toned(text, Tone::Bad),
        _ => Cell::toned(text, Tone::Warning),
    }
}

/// How many ads go which way.
#[derive(Debug, Default)]
struct Totals {
    converts: u64,
    ready: u64,
    needs_data: u64,
    needs_type: u64,
    stays: u64,
    refused: u64,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let prepared = args.payloads.as_deref().map(prepared).transpose()?.unwrap_or_default();
    let client = context.client()?;
    let rulebook = Rulebook::default();
    let mut rows = context.out.rows(COLUMNS);
    let mut totals = Totals::default();
    let mut show = async |ad: Ad| -> Result<(), Failure> {
        let assessment = assess(&rulebook, &ad, prepared.get(&ad.source_id), args.of_type.as_deref());
        let mut row = json!(assessment);
        totals.count(assessment.way);
        if !args.dry_run && matches!(assessment.way, Way::Converts | Way::Ready) {
            totals.refused += u64::from(!migrate(&client, &assessment, &mut row).await?);
        }
        Ok(rows.push(&row)?)
    };
    if args.all {
        let query = ListQuery::new().with("state", AdState::Created).with("ordering", "created").with("limit", 500);
        let mut all = client.v4().all(&query);
        while let Some(ad) = all.try_next().await? {
            if ad.api_version == ApiVersion::V3 {
                show(ad).await?;
            }
        }
    }
    for source_id in &args.source_ids {
        let target = Target::from(source_id).of_dealer(args.dealer_code.as_deref());
        let ad = client.v4().read(target).await?.body;
        match ad.api_version {
            ApiVersion::V3 => show(ad).await?,
            ApiVersion::V4 => context.out.note(&format!("{source_id} is already a V4 ad")),
        }
    }
    rows.end()?;
    context.out.note(&totals.told(args.dry_run));
    let is_done = args.dry_run || totals.needs_data + totals.needs_type + totals.refused == 0;
    if is_done { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

/// Has an ad become one of V4; whether the service took it.
async fn migrate(client: &Client, assessment: &Assessment, row: &mut Value) -> Result<bool, Failure> {
    let Some(vehicle_type) = assessment.vehicle_types.first() else { return Ok(false) };
    let ads = client.typed(vehicle_type);
    let target = Target::from(&assessment.source_id).of_dealer(Some(&assessment.dealer_code));
    let answer = match assessment.way {
        // An update that changes nothing else.
        Way::Converts => ads.update(target, &json!({})).await,
        _ => ads.migrate(target, &assessment.payload).await,
    };
    match answer {
        Ok(answer) => {
            row["way"] = json!("accepted");
            row["request_id"] = json!(answer.request_id);
            Ok(true)
        }
        Err(error) => {
            let message = error.to_string();
            let failure = Failure::from(error);
            if matches!(failure.exit(), Exit::Unauthorised | Exit::Unreachable) {
                return Err(failure);
            }
            row["way"] = json!("refused");
            row["needs"] = json!([{"field": "", "messages": [message]}]);
            Ok(false)
        }
    }
}

/// The payloads of a file, by the source id of their ads.
fn prepared(path: &std::path::Path) -> Result<HashMap<String, Map<String, Value>>, Failure> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let mut chunks = Chunks::new(source);
    let mut payloads = HashMap::new();
    let mut wrong = None;
    while let Some(chunk) = chunks.next(Vec::new())? {
        chunk.each(|piece| {
            let mut fail = |at: Place, what: &str| {
                wrong.get_or_insert_with(|| format!("{name}:{}:{}: {what}", at.line, at.column));
            };
            match (piece.problem, parse(piece.text)) {
                (Some(problem), _) => fail(piece.place, problem),
                (None, Err(broken)) => fail(piece.place.after(&piece.text[..broken.at]), &broken.message),
                (None, Ok(object)) => match object.get("source_id").and_then(Value::as_str).map(str::to_owned) {
                    None => fail(piece.place, "the payload has no source_id; add the source_id of its ad"),
                    Some(id) if payloads.contains_key(&id) => {
                        fail(piece.place, "duplicate source_id");
                    }
                    Some(id) => {
                        payloads.insert(id, object);
                    }
                },
            }
        });
    }
    match wrong {
        Some(wrong) => Err(Failure::refused(wrong)),
        None => Ok(payloads),
    }
}

impl Totals {
    fn count(&mut self, way: Way) {
        *match way {
            Way::Converts => &mut self.converts,
            Way::Ready => &mut self.ready,
            Way::NeedsData => &mut self.needs_data,
            Way::NeedsType => &mut self.needs_type,
            Way::Stays => &mut self.stays,
        } += 1;
    }

    fn told(&self, dry_run: bool) -> String {
        let some = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let done = if dry_run {
            [some(self.converts, "converted by the next update"), some(self.ready, "ready to migrate")]
        } else {
            [some((self.converts + self.ready).saturating_sub(self.refused), "accepted"), some(self.refused, "refused")]
        };
        let rest = [
            some(self.needs_data, "need data (--payloads)"),
            some(self.needs_type, "need a vehicle type (--type)"),
            some(self.stays, "stay V3"),
        ];
        let parts: Vec<_> = done.into_iter().chain(rest).flatten().collect();
        if parts.is_empty() { "no V3 ads".to_owned() } else { format!("V3 ads: {}", parts.join(", ")) }
    }
}
