//! `ad-server serve` and `ad-server worker`.

use clap::Args;

use super::{CommandError, GlobalArgs, KeyArgs};
use crate::{app, config::Layer};

/// Flags of `serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: Layer,
    #[command(flatten)]
    keys: KeyArgs,
}

pub(super) async fn run(base: GlobalArgs, args: ServeArgs) -> Result<(), CommandError> {
    let (settings, _telemetry) = base.service(Layer { token_key: args.keys.token_key, ..args.settings })?;
    Ok(app::serve(settings).await?)
}

/// Flags of `worker`: those of `serve`, of which the ones for the API do nothing.
#[derive(Debug, Args)]
pub(super) struct WorkerArgs {
    #[command(flatten)]
    settings: Layer,
}

pub(super) async fn work(base: GlobalArgs, args: WorkerArgs) -> Result<(), CommandError> {
    let (settings, _telemetry) = base.service(args.settings)?;
    Ok(app::work(settings).await?)
}
