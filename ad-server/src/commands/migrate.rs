//! `ad-server migrate`: the only command that creates or changes the schema of a database.

use clap::Args;

use super::{CommandError, GlobalArgs};
use crate::config::Layer;
use crate::output;
use ad_server_store::{Database, SchemaPolicy, SchemaState};

/// Flags of `migrate`.
#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// Only report whether migrations are missing; exit code 1 if the database cannot be used as it is
    #[arg(long)]
    check: bool,
}

pub(super) async fn run(base: GlobalArgs, args: &MigrateArgs) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let url = Database::name_of(&settings.database_url);
    output::note(&format!("database {url}"));
    if !args.check {
        let before = Database::schema(&settings.database_url).await?;
        let options = settings.database_options(SchemaPolicy::Migrate);
        Database::open_with(&settings.database_url, &options).await?.close().await;
        if let SchemaState::Old { missing, .. } = before {
            for migration in missing {
                output::note(&format!("applied {migration}"));
            }
        }
    }
    match Database::schema(&settings.database_url).await? {
        SchemaState::Usable { version } => Ok(output::text(&format!("schema version {version}, up to date\n"))?),
        state => {
            if let SchemaState::Old { missing, .. } = &state {
                for migration in missing {
                    output::note(&format!("missing {migration}"));
                }
            }
            let problem = state.problem(&settings.database_url).unwrap_or_default();
            Err(CommandError::Database { url, problem })
        }
    }
}
