//! `ad-server dealers`: import, list, show, suspend, resume.

use std::{collections::BTreeMap, path::PathBuf};

use ad_core::{
    model::{Dealer, Tariff},
    ports::Clock,
};
use clap::{Subcommand, builder::NonEmptyStringValueParser};
use serde_json::json;

use super::{CommandDatabase, CommandError, GlobalArgs, ListArgs, refused};
use crate::config::Layer;
use crate::output;
use ad_server_access::dealers_file;
use ad_server_base::system::SystemClock;
use ad_server_store::{DatabaseStore, Hold};
use ad_server_work::operators::{DealerFacts, DealerUsage};

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
    /// Show a dealer: its ads, what it uses of its limits, its tokens, and whether it is suspended
    Show {
        /// Code of the dealer, imported or not
        #[arg(value_name = "CODE")]
        code: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Refuse writes of a dealer except DELETE; its ads stay and accepted requests continue. Servers obey within a second
    Suspend {
        /// Code of the dealer, imported or not
        #[arg(value_name = "CODE")]
        code: String,
        /// Why; the dealer sees it in the answers
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
    },
    /// End the suspension of a dealer
    Resume {
        /// Code of the dealer
        #[arg(value_name = "CODE")]
        code: String,
    },
}

pub(super) async fn run(base: GlobalArgs, command: DealersCommand) -> Result<(), CommandError> {
    match command {
        DealersCommand::Import { file } => {
            let dealers = dealers_file::read(&file)?;
            let opened = base.database().await?;
            opened
                .audit("dealers import", &file.display().to_string(), &output::counted(dealers.len(), "dealer"))
                .await?;
            opened.answer(opened.database.import_dealers(&dealers).await)?;
            output::note(&format!("imported {} from {}", output::counted(dealers.len(), "dealer"), file.display()));
            Ok(())
        }
        DealersCommand::List(args) => list(base, &args).await,
        DealersCommand::Show { code, list } => show(base, &code, &list).await,
        DealersCommand::Suspend { code, reason } => {
            let opened = base.database().await?;
            opened.answer(opened.operator().suspend(&code, reason).await)?;
            output::note(&format!("suspended {code}; `ad-server dealers resume {code}` ends it"));
            Ok(())
        }
        DealersCommand::Resume { code } => {
            let opened = base.database().await?;
            if !opened.answer(opened.operator().end_suspension(&code).await)? {
                return refused(format!("dealer {code:?} is not suspended"));
            }
            output::note(&format!("resumed {code}"));
            Ok(())
        }
    }
}

async fn show(base: GlobalArgs, code: &str, args: &ListArgs) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let opened = CommandDatabase::new(&settings).await?;
    let (database, store) = (&opened.database, DatabaseStore::new(opened.database.clone()));
    let facts = DealerFacts::read(database, &store, settings.dealer_quotas(), code, SystemClock.now()).await;
    let facts = opened.answer(facts)?;
    if !facts.is_known() {
        return refused(format!(
            "there is no dealer {code:?}: it was not imported and has no ads and no valid tokens; `ad-server dealers list` lists the codes"
        ));
    }
    let DealerFacts { dealer, suspended, ads, tokens, limits } = facts;
    if args.json {
        let ads: BTreeMap<_, _> = ads.iter().map(|(status, ads)| (status.name(), ads)).collect();
        let all = json!({"code": code, "dealer": dealer, "suspended": suspended, "ads": ads, "tokens": tokens, "limits": limits});
        return Ok(output::json_value(&all)?);
    }
    let tariff = dealer.as_ref().and_then(|dealer| dealer.tariff.clone());
    let state = suspended.map_or_else(
        || "active".to_owned(),
        |Hold { since, reason }| format!("suspended since {}: {reason}", output::minute(since)),
    );
    output::table(
        ["DEALER", "NAME", "GROUP", "TOKENS", "STATE"],
        [[
            code.to_owned(),
            output::or_dash(dealer.as_ref().map(|dealer| &dealer.name)),
            output::or_dash(dealer.and_then(|dealer| dealer.group)),
            tokens.to_string(),
            state,
        ]],
    )?;
    if let Some(Tariff { bump, pole_position, slots, budget }) = tariff {
        output::text("\n")?;
        let amounts = [bump, pole_position, budget].map(output::or_dash);
        let [bump, pole_position, budget] = amounts;
        output::table(
            ["BUMP", "POLE POSITION", "BUDGET PER MONTH", "SLOTS"],
            [[bump, pole_position, budget, output::or_dash(slots)]],
        )?;
    }
    output::text("\n")?;
    output::table(["STATUS", "ADS"], ads.into_iter().map(|(status, ads)| [status.to_string(), ads.to_string()]))?;
    output::text("\n")?;
    let row =
        |it: DealerUsage| [it.what.to_owned(), it.number.to_string(), output::or_dash(it.limit), it.setting.to_owned()];
    Ok(output::table(["USES", "NUMBER", "LIMIT", "SETTING"], limits.into_iter().map(row))?)
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
