//! `ad-server ads`: import stored ads of another system.

use std::{io::BufRead, path::PathBuf};

use clap::Subcommand;

use super::{CommandError, GlobalArgs, Opened, output};
use crate::{
    app::AppError,
    config::Layer,
    directory::Directory,
    rules,
    store::{ImportAdsError, Importer},
    system::{RandomIds, SystemClock},
};

/// What to do with ads.
#[derive(Debug, Subcommand)]
pub(super) enum AdsCommand {
    /// Load stored ads of another system, including V3 ads and trailers, from a file with one JSON object per line in the
    /// shape of a GET answer. If a line is invalid, no ad is loaded. Nothing is published; a retry or update of an ad does that
    Import {
        /// The file, or - for stdin
        #[arg(value_name = "FILE.ndjson|-")]
        file: PathBuf,
    },
}

pub(super) async fn run(base: GlobalArgs, command: AdsCommand) -> Result<(), CommandError> {
    match command {
        AdsCommand::Import { file } => {
            let (name, lines) = super::lines_of(&file)?;
            import(base, &name, lines).await
        }
    }
}

/// Each wrong line is printed when it is found: there may be many.
async fn import(base: GlobalArgs, name: &str, lines: impl BufRead) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    let rulebook = rules::of(&settings).map_err(AppError::from)?;
    let opened = Opened::new(&settings).await?;
    let directory = opened.answer(Directory::load(opened.database.clone()).await)?;
    let clock = std::sync::Arc::new(SystemClock);
    let ids = RandomIds::new(clock.clone());
    let importer =
        Importer { database: &opened.database, rulebook: &rulebook, directory: &directory, clock: &*clock, ids: &ids };
    let mut wrong = 0;
    let outcome = importer.import(lines, |error| {
        wrong += 1;
        output::note(&format!("{name}:{}: {}", error.line, error.message));
    });
    match outcome.await {
        Ok(Some(ads)) => {
            output::note(&format!("imported {} from {name}", output::counted(ads, "ad")));
            Ok(())
        }
        Ok(None) => {
            Err(CommandError::Input(format!("{name} has {}; nothing was imported", output::counted(wrong, "error"))))
        }
        Err(ImportAdsError::Read(error)) => Err(CommandError::Input(format!("cannot read {name}: {error}"))),
        Err(ImportAdsError::Store(error)) => opened.answer(Err(error)),
    }
}
