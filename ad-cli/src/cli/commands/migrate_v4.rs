//! `ad-cli migrate-v4`: ads of V3 become ads of V4.

use std::{collections::HashMap, path::PathBuf, pin::pin};

use ad_core::{categories::Category, model::ApiVersion, rulebook::Rulebook};
use ad_files::Place;
use futures_util::TryStreamExt;
use serde_json::{Map, Value};

use crate::{
    Ad, Target,
    bulk::{
        conversion::{ConversionState, ads_of_v3, assess, convert},
        payloads::{Chunks, Source, parse},
    },
    cli::through::VehicleType,
    terminal::{Context, Counter, Exit, Failure, conversion, conversion::ConversionCounts},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The status of a V3 ad depends on its category: 'converts' means that any V4 update converts it, 'ready' that it can migrate with its own \
data, 'needs data' that required data is missing, 'needs type' that --type must select one of several vehicle types, and 'stays' that V4 has \
no category for it.

Without --dry-run, ads with status 'converts' or 'ready' are migrated; id, source id, log and images stay. The others need complete V4 \
payloads: write them to a file, each with the source_id of its ad, and pass it with --payloads. They replace the data of the ad.

Examples:
  ad-cli migrate-v4 --all --dry-run
  ad-cli migrate-v4 rib-1 --dry-run
  ad-cli migrate-v4 --all
  ad-cli migrate-v4 --payloads boats.ndjson rib-1 rib-2")]
pub(crate) struct MigrateV4Args {
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
    #[arg(long = "type", value_name = "TYPE", value_parser = VehicleType)]
    of_type: Option<&'static Category>,
    /// The dealer, if several dealers of the token's group have this source id
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
}

pub(crate) async fn run(context: &Context, args: &MigrateV4Args) -> Result<(), Failure> {
    use ConversionState::{Accepted, Converts, NeedsData, NeedsType, Ready, Rejected, Stays};
    context.out.check_names(conversion::FIELDS.iter().copied())?;
    let prepared = args.payloads.as_deref().map(read_payloads).transpose()?.unwrap_or_default();
    let client = context.client()?;
    let rulebook = Rulebook::default();
    let mut rows = context.out.rows(conversion::COLUMNS);
    let mut counts = ConversionCounts::default();
    let progress = Counter::new(context.out, "ad");
    let mut show = async |ad: Ad| -> Result<(), Failure> {
        let mut assessment =
            assess(&rulebook, &ad, prepared.get(&ad.source_id), args.of_type.and_then(|it| it.vehicle_type));
        if !args.dry_run {
            convert(&client, &mut assessment).await?;
        }
        counts.add(assessment.state);
        progress.add();
        Ok(rows.push(&assessment)?)
    };
    let work = async {
        if args.all {
            let mut all = pin!(ads_of_v3(&client));
            while let Some(ad) = all.try_next().await? {
                show(ad).await?;
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
        Ok::<_, Failure>(())
    };
    progress.run(work).await.map_err(|failure| failure.hint("run the command again for the remaining ads"))??;
    rows.end()?;
    let text = counts.text(&[
        (&[Converts], "converted by the next update"),
        (&[Ready], "ready to migrate"),
        (&[Accepted], "accepted"),
        (&[Rejected], "rejected"),
        (&[NeedsData], "need data (--payloads)"),
        (&[NeedsType], "need a vehicle type (--type)"),
        (&[Stays], "stay V3"),
    ]);
    context.out.note(&text.map_or_else(|| "no V3 ads".to_owned(), |text| format!("V3 ads: {text}")));
    let is_done = args.dry_run || counts.of(&[NeedsData, NeedsType, Rejected]) == 0;
    if is_done { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}

/// The payloads of a file, by the source id of their ads.
fn read_payloads(path: &std::path::Path) -> Result<HashMap<String, Map<String, Value>>, Failure> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let mut payloads = HashMap::new();
    Chunks::new(source).try_each(|piece| {
        let wrong = |at: Place, what: &str| Failure::rejected(format!("{name}:{}:{}: {what}", at.line, at.column));
        if let Some(problem) = piece.problem {
            return Err(wrong(piece.place, problem));
        }
        let object =
            parse(piece.text).map_err(|broken| wrong(piece.place.after(&piece.text[..broken.at]), &broken.message))?;
        let Some(id) = object.get("source_id").and_then(Value::as_str).map(str::to_owned) else {
            return Err(wrong(piece.place, "the payload has no source_id; add the source_id of its ad"));
        };
        match payloads.insert(id, object) {
            Some(_) => Err(wrong(piece.place, "duplicate source_id")),
            None => Ok(()),
        }
    })?;
    Ok(payloads)
}
