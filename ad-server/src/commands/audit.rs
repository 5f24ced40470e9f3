//! `ad-server audit`: what operators have done by commands and in the console, and backups, which their scripts record.

use clap::Subcommand;

use super::{CommandError, GlobalArgs};
use crate::output;
use ad_server_store::AuditEntry;

/// What to do with the audit log.
#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// List what operators have done by commands and in the console, newest first
    List {
        /// Maximum number of entries to list
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        #[command(flatten)]
        list: super::ListArgs,
    },
    /// Record that a backup was made; an alert tells when the last one is too old
    Backup {
        /// Where it is, such as `s3://backups/2026-01-15`
        location: String,
    },
}

pub(super) async fn run(base: GlobalArgs, command: AuditCommand) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let (limit, list) = match command {
        AuditCommand::List { limit, list } => (limit, list),
        AuditCommand::Backup { location } => return opened.audit(AuditEntry::BACKUP, &location, "").await,
    };
    let entries = opened.answer(opened.database.audit_entries(limit).await)?;
    if list.json {
        return Ok(output::json(&entries)?);
    }
    let row = |it: AuditEntry| [it.at.to_string(), it.operator, it.act, it.subject, it.details];
    Ok(output::table(["TIME", "OPERATOR", "ACT", "SUBJECT", "DETAILS"], entries.into_iter().map(row))?)
}

/// Who runs the command: `AD_SERVER_OPERATOR`, or the user who has logged in.
pub(super) fn operator() -> String {
    let names = ["AD_SERVER_OPERATOR", "SUDO_USER", "USER", "LOGNAME"];
    let name = names.into_iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    name.unwrap_or_else(|| "unknown".to_owned())
}
