//! `ad-server ads`: import stored ads of another system; list ads by their status, and retry them.

use std::{io::BufRead, path::PathBuf, sync::Arc};

use ad_core::{
    model::{
        Action, AdStatus, AskedBy, ChannelReport, ImageReport, Market, MarketplaceCall, Page, RequestStatus,
        StatusReport,
    },
    ports::Clock,
    service::{Access, Service, ServiceError},
    violation::Code,
};
use clap::{Args, Subcommand};
use serde_json::json;

use super::{CommandDatabase, CommandError, GlobalArgs, ListArgs, refused};
use crate::output;
use crate::{
    app::AppError,
    config::{Layer, Settings},
    rules,
};
use ad_server_access::directory::Directory;
use ad_server_base::{
    system::{RandomIds, SystemClock},
    values::Period,
};
use ad_server_store::{AdByStatus, DatabaseStore, ImportAdsError, Importer, Promotion, StatusFilter};
use ad_server_work::operators::{RetryResult, retry_all};

/// Ads that are read, and retried, together.
const BATCH: u32 = 500;

/// Bumps and pole positions that are shown of an ad, and calls of marketplaces: the latest ones.
const LATEST: u32 = 10;

/// What to do with ads.
#[derive(Debug, Subcommand)]
pub(super) enum AdsCommand {
    /// Load stored ads of another system, including V3 ads and trailers, from a file with one JSON object per line in the
    /// shape of a GET answer. If a line is invalid, no ad is loaded. Nothing is published; a retry or update of an ad does that
    Import {
        /// The file, or - for stdin
        #[arg(value_name = "FILE.ndjson|-")]
        file: PathBuf,
    },
    /// Show the status of an ad on each marketplace: why it is not live, who can change that, its unfinished requests, the latest calls of
    /// marketplaces, and who asked for the latest bumps and pole positions
    Show {
        /// Source id of the ad
        #[arg(value_name = "SOURCE_ID")]
        source_id: String,
        /// Dealer of the ad
        #[arg(long, value_name = "CODE")]
        dealer_code: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// List ads by status, dealer by dealer
    List {
        #[command(flatten)]
        filter: AdFilterArgs,
        /// Maximum number of ads to list
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Retry the failed steps of ads by status, as a retry through the API does
    Retry {
        #[command(flatten)]
        filter: AdFilterArgs,
        /// All ads
        #[arg(long, conflicts_with_all = ["status", "dealer_code", "code", "marketplace", "older_than"])]
        all: bool,
        /// Retry the ads without asking for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Which ads.
#[derive(Debug, Args)]
pub(super) struct AdFilterArgs {
    /// Only ads with one of these statuses, separated by commas
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status)]
    status: Vec<AdStatus>,
    /// Only ads of this dealer
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
    /// Only ads with this code of failure; docs/status.md lists the codes
    #[arg(long, value_name = "CODE", value_parser = code)]
    code: Option<Code>,
    /// Only ads that this marketplace (primary or secondary) does not show as they are
    #[arg(long, value_name = "NAME", value_parser = super::marketplaces::market)]
    marketplace: Option<Market>,
    /// Only ads that have had their status for this time or longer, such as 1h
    #[arg(long, value_name = "TIME")]
    older_than: Option<Period>,
}

impl AdFilterArgs {
    fn is_empty(&self) -> bool {
        let Self { status, dealer_code, code, marketplace, older_than } = self;
        status.is_empty() && dealer_code.is_none() && code.is_none() && marketplace.is_none() && older_than.is_none()
    }
}

impl From<AdFilterArgs> for StatusFilter {
    fn from(AdFilterArgs { status, dealer_code, code, marketplace, older_than }: AdFilterArgs) -> Self {
        let since_before = older_than.map(|age| SystemClock.now() - age.duration());
        Self { statuses: status, dealer_code, code, not_live_on: marketplace, since_before }
    }
}

fn status(name: &str) -> Result<AdStatus, String> {
    AdStatus::from_name(name).ok_or_else(|| format!("use one of {}", AdStatus::NAMES.join(", ")))
}

pub(super) fn code(name: &str) -> Result<Code, String> {
    match Code::from_name(name) {
        Code::Unknown => Err("docs/status.md lists the codes".to_owned()),
        code => Ok(code),
    }
}

pub(super) async fn run(base: GlobalArgs, command: AdsCommand) -> Result<(), CommandError> {
    match command {
        AdsCommand::Import { file } => {
            let (name, lines) = super::lines_of(&file)?;
            import(base, &name, lines).await
        }
        AdsCommand::Show { source_id, dealer_code, list } => show(base, &source_id, dealer_code, &list).await,
        AdsCommand::List { filter, limit, list: args } => list(base, &filter.into(), limit, &args).await,
        AdsCommand::Retry { filter, all, yes } => {
            if filter.is_empty() && !all {
                return refused(
                    "no ads selected: use --status, --dealer-code, --code, --marketplace, --older-than or --all",
                );
            }
            retry(base, &filter.into(), yes).await
        }
    }
}

/// The use cases, over a database.
pub(super) async fn service(
    settings: &Settings,
    opened: &CommandDatabase,
    ids: Arc<RandomIds>,
) -> Result<Service, CommandError> {
    let rulebook = rules::of(settings).map_err(AppError::from)?;
    let directory = opened.answer(Directory::load(opened.database.clone()).await)?;
    let store = Arc::new(DatabaseStore::new(opened.database.clone()));
    Ok(Service::new(store, Arc::new(directory), Arc::new(rulebook), Arc::new(SystemClock), ids))
}

async fn show(base: GlobalArgs, source_id: &str, dealer_code: String, args: &ListArgs) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let opened = CommandDatabase::new(&settings).await?;
    let service = service(&settings, &opened, Arc::new(RandomIds::new(Arc::new(SystemClock)))).await?;
    let report = match service.status(&Access::Dealer(dealer_code.clone()), source_id.into()).await {
        Err(ServiceError::NotFound) => {
            return refused(format!("dealer {dealer_code:?} has no ad with the source id {source_id:?}"));
        }
        report => opened.answer(report)?,
    };
    let promotions = opened.answer(opened.database.promotions(&dealer_code, source_id, LATEST).await)?;
    let latest = Page { limit: LATEST, offset: 0 };
    let calls = opened.answer(service.calls(&Access::Dealer(dealer_code), source_id.into(), latest).await)?.rows;
    if args.json {
        let mut value = json!(report);
        value["promotions"] = json!(promotions);
        value["calls"] = json!(calls);
        return Ok(output::json_value(&value)?);
    }
    let StatusReport { source_id, status, since, text, channels, images, unfinished, .. } = report;
    output::table(
        ["SOURCE ID", "STATUS", "SINCE", "MEANING"],
        [[source_id, status.to_string(), output::minute(since), text]],
    )?;
    let row = |it: ChannelReport| {
        let code = output::or_dash(it.code);
        let (attempts, next) = (it.attempts.to_string(), output::or_dash(it.next_attempt));
        [
            it.marketplace.to_string(),
            it.status.to_string(),
            output::or_dash(it.listing_id),
            code,
            attempts,
            next,
            it.text,
        ]
    };
    let header = ["MARKETPLACE", "STATUS", "LISTING", "CODE", "ATTEMPTS", "NEXT ATTEMPT", "MEANING"];
    output::further(header, channels, row)?;
    let row = |it: ImageReport| [it.url, it.status.to_string(), it.text];
    output::further(["IMAGE", "STATUS", "MEANING"], images, row)?;
    let row = |it: RequestStatus| [it.request_id.to_string(), it.state.to_string(), it.accepted.to_string()];
    output::further(["UNFINISHED REQUEST", "STATE", "ACCEPTED"], unfinished, row)?;
    let row = |it: MarketplaceCall| {
        [
            it.at.to_string(),
            it.marketplace.to_string(),
            it.action.to_string(),
            output::or_dash(it.status),
            output::or_dash(it.code),
            format!("{} ms", it.latency_ms),
            it.request_id.to_string(),
        ]
    };
    output::further(["CALL", "MARKETPLACE", "ACTION", "STATUS", "CODE", "TOOK", "REQUEST"], calls, row)?;
    let row = |it: Promotion| {
        let AskedBy { token, label } = it.asked_by;
        let action = if it.action == Action::Boost { "pole_position" } else { it.action.name() };
        [
            action.to_owned(),
            it.state.to_string(),
            it.accepted.to_string(),
            output::or_dash(token),
            output::or_dash(label),
        ]
    };
    let header = ["PROMOTION", "STATE", "REQUESTED", "SENT WITH TOKEN", "LABEL"];
    Ok(output::further(header, promotions, row)?)
}

/// Rows are printed as they are read: there may be many.
async fn list(base: GlobalArgs, filter: &StatusFilter, limit: u32, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let mut ads: Vec<AdByStatus> = Vec::new();
    let mut json = args.json.then(output::JsonArray::new);
    let (mut left, mut last) = (limit, None);
    while left > 0 {
        let batch = opened.answer(opened.database.ads_by_status(filter, last.as_ref(), left.min(BATCH)).await)?;
        left -= u32::try_from(batch.len()).unwrap_or(left);
        match batch.last() {
            Some(ad) => last = Some(ad.clone()),
            None => break,
        }
        match &mut json {
            Some(array) => batch.iter().try_for_each(|ad| array.push(ad))?,
            None => ads.extend(batch),
        }
    }
    if let Some(array) = json {
        return Ok(array.end()?);
    }
    let row = |it: AdByStatus| {
        let code = it.code.map_or_else(String::new, |code| code.name().to_owned());
        [it.source_id, it.dealer_code, it.status.to_string(), output::minute(it.since), code]
    };
    Ok(output::table(["SOURCE ID", "DEALER", "STATUS", "SINCE", "CODE"], ads.into_iter().map(row))?)
}

async fn retry(base: GlobalArgs, filter: &StatusFilter, yes: bool) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let opened = CommandDatabase::new(&settings).await?;
    let ids = Arc::new(RandomIds::new(Arc::new(SystemClock)));
    let service = service(&settings, &opened, Arc::clone(&ids)).await?;
    if yes {
        opened.audit("ads retry", filter.dealer_code.as_deref().unwrap_or_default(), &filter.to_string()).await?;
    }
    let (mut found, mut retried, mut last) = (0, RetryResult::default(), None);
    loop {
        let batch = opened.answer(opened.database.ads_by_status(filter, last.as_ref(), BATCH).await)?;
        let Some(ad) = batch.last() else { break };
        last = Some(ad.clone());
        found += batch.len();
        if yes {
            opened.answer(retry_all(&service, &*ids, &batch, &mut retried).await)?;
        }
    }
    if !yes {
        let what = output::counted(found, "ad");
        return refused(format!("{what} would be retried; repeat the command with --yes to retry them"));
    }
    let RetryResult { accepted, under_way, refused } = retried;
    output::note(&format!("{} will be retried", output::counted(accepted, "ad")));
    if under_way > 0 {
        output::note(&format!("{} with an unfinished retry already", output::counted(under_way, "ad")));
    }
    if refused > 0 {
        output::note(&format!(
            "{} not retried: deleted, or with too many unfinished requests",
            output::counted(refused, "ad")
        ));
    }
    Ok(())
}

/// Each wrong line is printed when it is found: there may be many.
async fn import(base: GlobalArgs, name: &str, lines: impl BufRead) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let rulebook = rules::of(&settings).map_err(AppError::from)?;
    let opened = CommandDatabase::new(&settings).await?;
    opened.audit("ads import", name, "").await?;
    let directory = opened.answer(Directory::load(opened.database.clone()).await)?;
    let clock = std::sync::Arc::new(SystemClock);
    let ids = RandomIds::new(clock.clone());
    let importer =
        Importer { database: &opened.database, rulebook: &rulebook, directory: &directory, clock: &*clock, ids: &ids };
    let mut wrong = 0;
    let outcome = importer.import(lines, |error| {
        wrong += 1;
        output::note(&format!("{name}:{}: {}", error.line, error.message));
    });
    match outcome.await {
        Ok(Some(ads)) => {
            output::note(&format!("imported {} from {name}", output::counted(ads, "ad")));
            Ok(())
        }
        Ok(None) => refused(format!("{name} has {}; nothing was imported", output::counted(wrong, "error"))),
        Err(ImportAdsError::Read(error)) => refused(format!("cannot read {name}: {error}")),
        Err(ImportAdsError::Store(error)) => opened.answer(Err(error)),
    }
}
