//! `ad-server dealers`: import, list.

use std::path::PathBuf;

use ad_core::model::Dealer;
use clap::Subcommand;

use super::{CommandError, GlobalArgs, ListArgs, output};
use crate::dealers_file;

/// What to do with dealers.
#[derive(Debug, Subcommand)]
pub(super) enum DealersCommand {
    /// Add or replace the dealers of a file; running servers apply the change within a second
    Import {
        /// File of `[[dealer]]` tables
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
    },
    /// List dealers
    List(ListArgs),
}

pub(super) async fn run(base: GlobalArgs, command: DealersCommand) -> Result<(), CommandError> {
    match command {
        DealersCommand::Import { file } => {
            let dealers = dealers_file::read(&file)?;
            let opened = base.database().await?;
            opened.answer(opened.database.import_dealers(&dealers).await)?;
            output::note(&format!("imported {} from {}", output::counted(dealers.len(), "dealer"), file.display()));
            Ok(())
        }
        DealersCommand::List(args) => list(base, &args).await,
    }
}

async fn list(base: GlobalArgs, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let dealers = opened.answer(opened.database.dealers().await)?;
    if args.json {
        return Ok(output::json(&dealers)?);
    }
    let header = ["CODE", "NAME", "GROUP", "CURRENCY", "CITY", "SALESPERSONS", "PRODUCTS", "BUMP"];
    Ok(output::table(header, dealers.into_iter().map(row))?)
}

fn row(dealer: Dealer) -> [String; 8] {
    [
        dealer.code,
        dealer.name,
        dealer.group.unwrap_or_default(),
        dealer.currency,
        dealer.address.map(|address| address.city).unwrap_or_default(),
        dealer.salespersons.join(" "),
        dealer.products.join(" "),
        dealer.bump.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    ]
}
