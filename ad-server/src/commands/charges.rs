//! `ad-server charges`: what promotions have cost, for invoices.

use ad_core::{
    csv_guard::guarded,
    model::{Charge, Month},
};
use clap::Subcommand;

use super::{CommandError, GlobalArgs};
use crate::output;

/// What to do with charges.
#[derive(Debug, Subcommand)]
pub(super) enum ChargesCommand {
    /// Print the charges of a month as CSV or JSON: a line for each promotion and marketplace, by dealers
    Export {
        /// Month in which the promotions were ordered, in the time zones of the dealers, such as 2026-11
        #[arg(long, value_name = "MONTH")]
        month: Month,
        #[command(flatten)]
        list: super::ListArgs,
    },
}

/// The columns of the CSV.
const HEADER: [&str; 11] = [
    "dealer_code",
    "at",
    "source_id",
    "kind",
    "marketplace",
    "amount",
    "currency",
    "state",
    "request_id",
    "asked_by",
    "id",
];

pub(super) async fn run(base: GlobalArgs, command: ChargesCommand) -> Result<(), CommandError> {
    let ChargesCommand::Export { month, list } = command;
    let opened = base.database().await?;
    let charges = opened.answer(opened.database.charges_of_month(month).await)?;
    if list.json {
        return Ok(output::json(&charges)?);
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(HEADER)?;
    for charge in charges {
        csv.write_record(record(charge))?;
    }
    let bytes = csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(output::text(&String::from_utf8_lossy(&bytes))?)
}

fn record(charge: Charge) -> [String; 11] {
    [
        guarded(charge.dealer_code),
        charge.at.to_string(),
        guarded(charge.source_id.unwrap_or_default()),
        charge.kind.to_string(),
        charge.marketplace.to_string(),
        charge.amount.to_string(),
        charge.currency,
        charge.state.to_string(),
        charge.request_id.to_string(),
        guarded(charge.asked_by.unwrap_or_default()),
        charge.id,
    ]
}
