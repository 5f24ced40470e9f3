//! `ad-server erase`: removes the data of a dealer's ads for good.

use std::{sync::Arc, time::Duration};

use ad_core::ports::Clock;
use clap::{Args, builder::NonEmptyStringValueParser};
use serde_json::json;

use super::{CommandDatabase, CommandError, GlobalArgs, ListArgs, ads, refused};
use crate::output;
use crate::{
    app,
    config::{Layer, Settings, help},
};
use ad_server_base::system::{RandomIds, SystemClock};
use ad_server_outside::media::{Media, MediaLocation};
use ad_server_store::{Database, Erased};
use ad_server_work::operators::{Erasure, ErasureError, remove_erased_images};

/// Pause between two checks whether the ads are deleted.
const LOOK: Duration = Duration::from_millis(500);

/// Flags of `erase`.
#[derive(Debug, Args)]
pub(super) struct EraseArgs {
    /// Erase the ads of this dealer
    #[arg(long, value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    dealer_code: String,
    /// Only the ad with this source id
    #[arg(long, value_name = "ID")]
    source_id: Option<String>,
    /// Only report what would be erased
    #[arg(long)]
    dry_run: bool,
    /// Erase without asking for confirmation; ads that are not deleted are deleted first
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// How long to wait until workers have deleted the ads, such as 10m
    #[arg(long, value_name = "TIME", default_value = "60s")]
    wait: ad_server_base::values::Period,
    #[arg(help = help("media"), long, env = "AD_SERVER_MEDIA", value_name = "PLACE")]
    media: Option<MediaLocation>,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) async fn run(base: GlobalArgs, args: EraseArgs) -> Result<(), CommandError> {
    let settings = base.settings(Layer { media: args.media, ..Layer::default() })?;
    let (dealer_code, source_id) = (args.dealer_code.as_str(), args.source_id.as_deref());
    let opened = CommandDatabase::new(&settings).await?;
    let database = &opened.database;
    let counts = opened.answer(database.count_erasure(dealer_code, source_id).await)?;
    if args.dry_run || !args.yes {
        if args.list.json {
            output::json_value(&json!(counts))?;
        } else {
            let numbers = [counts.ads, counts.not_deleted, counts.erased, counts.log_entries, counts.listings];
            output::table(
                ["ADS", "NOT DELETED YET", "ERASED BEFORE", "LOG ENTRIES", "LOCAL LISTINGS"],
                [numbers.map(|number| number.to_string())],
            )?;
        }
        if args.dry_run {
            return Ok(());
        }
        return refused("repeat the command with --yes to erase them; this cannot be undone");
    }
    opened.audit("erase", dealer_code, source_id.unwrap_or_default()).await?;
    let ids = Arc::new(RandomIds::new(Arc::new(SystemClock)));
    let service = ads::service(&settings, &opened, Arc::clone(&ids)).await?;
    let erasure = Erasure { database, dealer_code, source_id };
    let mut behind = 0;
    while let Some(last) = opened.answer(erasure.delete_some(&service, &*ids, behind).await)? {
        behind = last;
    }
    let deadline = tokio::time::Instant::now() + args.wait.duration();
    let mut erased = Erased::default();
    let left = loop {
        // Counted first, so that ads that are deleted meanwhile are erased before the end.
        let left = opened.answer(database.count_erasure(dealer_code, source_id).await)?.not_deleted;
        while opened.answer(erasure.erase_some(&mut erased, SystemClock.now()).await)? {}
        if left == 0 || tokio::time::Instant::now() >= deadline {
            break left;
        }
        tokio::time::sleep(LOOK).await;
    };
    let images = remove_erased_images(database, &SystemClock, || media(&settings)).await?;
    let compacted = compact(&opened, &settings.database_url).await;
    let Erased { ads, log_entries, listings } = erased;
    if args.list.json {
        let all = json!({"ads": ads, "log_entries": log_entries, "listings": listings, "images": images, "not_deleted": left});
        output::json_value(&all)?;
    } else {
        output::table(
            ["ADS ERASED", "LOG ENTRIES", "LOCAL LISTINGS", "IMAGES", "NOT DELETED YET"],
            [[ads, log_entries, listings, images, left].map(|number| number.to_string())],
        )?;
    }
    compacted?;
    match left {
        0 => Ok(()),
        _ => refused("some ads are not deleted yet: see `ad-server queue`, and repeat the command when they are"),
    }
}

/// The image store of the settings. A missing folder is an error, because it is not the one of the server.
async fn media(settings: &Settings) -> Result<Media, CommandError> {
    if let MediaLocation::Folder(path) = &settings.media
        && !path.exists()
    {
        let problem = format!(
            "there is no folder of images {}; repeat the command with the --media of the server",
            path.display()
        );
        return refused(problem);
    }
    Ok(app::operator_media(settings).await?)
}

impl From<ErasureError> for CommandError {
    fn from(error: ErasureError) -> Self {
        Self::Input(error.to_string())
    }
}

/// Rewrites a SQLite file, so that it does not contain erased data.
async fn compact(opened: &CommandDatabase, url: &str) -> Result<(), CommandError> {
    if Database::is_postgres(url) {
        output::note(
            "note: PostgreSQL reuses the space of erased rows by and by; docs/data-protection.md says how to overwrite it at once",
        );
        return Ok(());
    }
    while opened.answer(opened.database.unindexed().await)? > 0 {
        opened.database.index_texts();
        tokio::time::sleep(LOOK).await;
    }
    opened.database.close().await;
    Database::compact(url).await.map_err(|error| {
        CommandError::Input(format!("erased, but the database file was not rewritten: {error}; repeat the command"))
    })
}
