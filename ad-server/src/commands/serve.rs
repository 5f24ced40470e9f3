//! `ad-server serve`.

use clap::Args;

use super::{Base, Failure, KeyArgs};
use crate::{app, config::Layer};

/// Flags of `serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    settings: Layer,
    #[command(flatten)]
    keys: KeyArgs,
}

pub(super) async fn run(base: Base, args: ServeArgs) -> Result<(), Failure> {
    let settings = base.settings(Layer { token_key: args.keys.token_key, ..args.settings })?;
    Ok(app::serve(settings).await?)
}
