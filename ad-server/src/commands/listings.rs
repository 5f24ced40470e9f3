//! `ad-server listings`: list what the local marketplaces show, and import listings.

use std::{io::BufRead, path::PathBuf};

use ad_core::ports::Clock;
use clap::Subcommand;
use futures_util::{StreamExt, TryStreamExt};

use super::{CommandDatabase, CommandError, GlobalArgs, ListArgs, refused};
use crate::output;
use ad_server_base::{
    lines::{ImportError, LineError},
    system::SystemClock,
};
use ad_server_outside::marketplace::{ListingFilter, ListingRow, import_listings, list_listings};

/// Wrong lines that are printed; more would hide the first.
const LINES_SHOWN: usize = 5;

/// What to do with listings.
#[derive(Debug, Subcommand)]
pub(super) enum ListingsCommand {
    /// Import listings from a file with one JSON object per line: `marketplace` (primary or secondary), `dealer_code`,
    /// `registration_number`, `title`. If a line is invalid, nothing is imported
    Import {
        /// The file, or - for stdin
        #[arg(value_name = "FILE.ndjson|-")]
        file: PathBuf,
    },
    /// List current and removed listings
    List {
        #[command(flatten)]
        filter: ListingFilter,
        #[command(flatten)]
        list: ListArgs,
    },
}

pub(super) async fn run(base: GlobalArgs, command: ListingsCommand) -> Result<(), CommandError> {
    match command {
        ListingsCommand::Import { file } => {
            let (name, lines) = super::lines_of(&file)?;
            import(base, &name, lines).await
        }
        ListingsCommand::List { filter, list: args } => list(base, filter, &args).await,
    }
}

async fn import(base: GlobalArgs, name: &str, lines: impl BufRead) -> Result<(), CommandError> {
    let opened = base.database().await?;
    opened.audit("listings import", name, "").await?;
    let imported = match import_listings(&opened.database, lines, SystemClock.now()).await {
        Err(ImportError::Lines(errors)) => return refused(summary(name, &errors)),
        Err(ImportError::Read(error)) => return refused(format!("cannot read {name}: {error}")),
        Err(ImportError::Store(error)) => return opened.answer(Err(error)),
        Ok(imported) => imported,
    };
    output::note(&format!("imported {} from {name}", output::counted(imported, "listing")));
    Ok(())
}

/// The first wrong lines, and how many more there are.
fn summary(name: &str, errors: &[LineError]) -> String {
    let first = errors.iter().take(LINES_SHOWN).map(|error| format!("{name}:{}: {}", error.line, error.message));
    let more = errors.len().saturating_sub(LINES_SHOWN);
    let more = (more > 0).then(|| format!("and {}", output::counted(more, "more line")));
    first.chain(more).collect::<Vec<_>>().join("; ")
}

async fn list(base: GlobalArgs, filter: ListingFilter, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let listings = list_listings(&opened.database, &filter);
    if args.json {
        return print_json(&opened, listings).await;
    }
    let listings: Vec<_> = opened.answer(listings.try_collect().await)?;
    let header =
        ["ID", "MARKETPLACE", "DEALER", "PLATE", "SOURCE ID", "TITLE", "POSITION", "POLE POSITION", "STATE", "CHANGED"];
    Ok(output::table(header, listings.into_iter().map(row))?)
}

/// There may be many: each is printed when it is read.
async fn print_json<E: std::fmt::Display>(
    opened: &CommandDatabase,
    listings: impl futures_util::Stream<Item = Result<ListingRow, E>>,
) -> Result<(), CommandError> {
    let mut listings = std::pin::pin!(listings);
    let mut array = output::JsonArray::new();
    while let Some(listing) = listings.next().await {
        array.push(&opened.answer(listing)?)?;
    }
    Ok(array.end()?)
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
        listing.pole_position_until.map(output::minute).unwrap_or_default(),
        listing.state.name().to_owned(),
        output::minute(listing.changed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_lines_are_named() {
        let errors = |count| (1..=count).map(|line| LineError { line, message: "x".to_owned() }).collect::<Vec<_>>();
        assert_eq!(summary("f", &errors(2)), "f:1: x; f:2: x");
        assert_eq!(summary("f", &errors(7)), "f:1: x; f:2: x; f:3: x; f:4: x; f:5: x; and 2 more lines");
    }
}
