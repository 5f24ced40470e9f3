//! `ad-server listings`: what the local marketplaces show, and bringing in what they showed before the API.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use ad_core::ports::Clock;
use clap::Subcommand;
use futures_util::{StreamExt, TryStreamExt};

use super::{Base, Failure, ListArgs, output};
use crate::{
    marketplace::{self, ImportError, ListingFilter, ListingRow},
    system::SystemClock,
};

/// What to do with listings.
#[derive(Debug, Subcommand)]
pub(super) enum ListingsCommand {
    /// Bring in listings from a file with one JSON object a line: `marketplace` (primary or secondary), `dealer_code`,
    /// `registration_number`, `title`; all of them, or none when a line is wrong
    Import {
        /// The file; - is stdin
        #[arg(value_name = "FILE.ndjson|-")]
        file: PathBuf,
    },
    /// List what the marketplaces show and showed
    List(ListArgs),
}

pub(super) async fn run(base: Base, command: ListingsCommand) -> Result<(), Failure> {
    match command {
        ListingsCommand::Import { file } => import(base, &file).await,
        ListingsCommand::List(args) => list(base, &args).await,
    }
}

async fn import(base: Base, file: &Path) -> Result<(), Failure> {
    let (name, lines): (_, Box<dyn BufRead + Send>) = if file == Path::new("-") {
        ("stdin".to_owned(), Box::new(BufReader::new(io::stdin())))
    } else {
        let name = file.display().to_string();
        let content = fs::File::open(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
        (name, Box::new(BufReader::new(content)))
    };
    let opened = base.database().await?;
    let imported = marketplace::import_listings(&opened.database, lines, SystemClock.now()).await;
    let imported = imported.map_err(|error| match error {
        ImportError::Store(_) => Failure::Database { url: opened.url.clone(), problem: error.to_string() },
        ImportError::Lines(_) | ImportError::Read(_) => Failure::Input(format!("{name}: nothing imported\n{error}")),
    })?;
    eprintln!("imported {} from {name}", output::counted(imported, "listing"));
    Ok(())
}

async fn list(base: Base, args: &ListArgs) -> Result<(), Failure> {
    let opened = base.database().await?;
    let mut listings = marketplace::list_listings(&opened.database, &ListingFilter::default()).boxed();
    if args.json {
        let mut array = output::JsonArray::begin()?;
        while let Some(listing) = opened.answer(listings.try_next().await)? {
            array.push(&listing)?;
        }
        return Ok(array.end()?);
    }
    let listings: Vec<ListingRow> = opened.answer(listings.try_collect().await)?;
    let header =
        ["ID", "MARKETPLACE", "DEALER", "PLATE", "SOURCE ID", "TITLE", "POSITION", "POLE POSITION", "STATE", "CHANGED"];
    Ok(output::table(header, listings.into_iter().map(row))?)
}

fn row(listing: ListingRow) -> [String; 10] {
    [
        listing.id,
        listing.marketplace.to_string(),
        listing.dealer_code,
        listing.registration_number.unwrap_or_default(),
        listing.source_id.unwrap_or_default(),
        listing.title.unwrap_or_default(),
        listing.position.map(|position| position.to_string()).unwrap_or_default(),
        listing.pole_position_until.map(|until| until.to_string()).unwrap_or_default(),
        listing.state.name().to_owned(),
        listing.changed.to_string(),
    ]
}
