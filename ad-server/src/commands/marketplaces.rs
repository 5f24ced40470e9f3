//! `ad-server marketplaces`: pause and resume calls to the marketplaces, and see how many requests wait.

use ad_core::{model::Market, violation::Code};
use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};
use serde_json::json;

use super::{CommandError, GlobalArgs, ListArgs, refused};
use crate::output;
use ad_server_store::{Hold, HoldTarget};

/// Without a subcommand: the state of both marketplaces.
#[derive(Debug, Args)]
pub(super) struct MarketplacesArgs {
    #[command(subcommand)]
    command: Option<MarketplacesCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum MarketplacesCommand {
    /// Show which marketplaces are paused and how many requests wait for that
    Status(ListArgs),
    /// Stop calling a marketplace; all servers obey within a second. Requests for it wait, and none is given up meanwhile
    Pause {
        /// primary or secondary
        #[arg(value_parser = market)]
        marketplace: Market,
        /// Why; dealers see it in the status of their ads
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
    },
    /// Call a paused marketplace again; requests that have waited continue at once
    Resume {
        /// primary or secondary
        #[arg(value_parser = market)]
        marketplace: Market,
    },
}

pub(super) fn market(text: &str) -> Result<Market, &'static str> {
    Market::from_name(text).ok_or("use primary or secondary")
}

pub(super) async fn run(base: GlobalArgs, args: MarketplacesArgs) -> Result<(), CommandError> {
    match args.command {
        None => status(base, &args.list).await,
        Some(MarketplacesCommand::Status(list)) => status(base, &list).await,
        Some(MarketplacesCommand::Pause { marketplace, reason }) => {
            let opened = base.database().await?;
            opened.answer(opened.operator().pause(marketplace, reason).await)?;
            output::note(&format!(
                "paused {marketplace}; requests for it wait until `ad-server marketplaces resume {marketplace}`"
            ));
            Ok(())
        }
        Some(MarketplacesCommand::Resume { marketplace }) => {
            let opened = base.database().await?;
            if !opened.answer(opened.operator().resume(marketplace).await)? {
                return refused(format!("{marketplace} is not paused"));
            }
            output::note(&format!("resumed {marketplace}; requests that have waited continue within a second"));
            Ok(())
        }
    }
}

async fn status(base: GlobalArgs, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let holds = opened.answer(opened.database.holds().await)?;
    let hold = |market| holds.iter().find(|(held, _)| *held == HoldTarget::Marketplace(market)).map(|(_, hold)| hold);
    let waiting = opened.answer(opened.database.unfinished_with(Code::MarketplacePaused).await)?;
    let markets = [Market::Primary, Market::Secondary];
    if args.json {
        let markets = markets.map(|market| json!({"marketplace": market, "paused": hold(market)}));
        return Ok(output::json_value(&json!({"marketplaces": markets, "waiting": waiting}))?);
    }
    let row = |market: Market| match hold(market) {
        Some(Hold { since, reason }) => {
            [market.to_string(), "paused".to_owned(), output::minute(*since), reason.clone()]
        }
        None => [market.to_string(), "active".to_owned(), String::new(), String::new()],
    };
    output::table(["MARKETPLACE", "STATE", "SINCE", "REASON"], markets.map(row))?;
    Ok(output::text(&format!("\nrequests that wait for the end of a pause: {waiting}\n"))?)
}
