//! `ad-server images`: examine stored images and make their renditions.

use clap::Subcommand;

use super::{CommandDatabase, CommandError, GlobalArgs};
use crate::output;
use crate::{
    app,
    config::{Layer, help},
};
use ad_server_base::values::ByteSize;
use ad_server_outside::media::MediaLocation;
use ad_server_work::photos::{Decode, Examined};

/// Ads that are claimed at once. If the command is stopped, servers examine them.
const BATCH: u32 = 20;

/// What to do with images.
#[derive(Debug, Subcommand)]
pub(super) enum ImagesCommand {
    /// Make renditions of all stored images that lack some, and find out what is wrong with the photos
    ///
    /// Servers do so for images that they store from now on. Run this once after an upgrade from a version without renditions, and when
    /// files are lost. It can run beside servers and be stopped at any time.
    Renditions {
        #[arg(help = help("media"), long, env = "AD_SERVER_MEDIA", value_name = "PLACE")]
        media: Option<MediaLocation>,
        #[arg(help = help("photo_memory"), long, env = "AD_SERVER_PHOTO_MEMORY", value_name = "SIZE")]
        photo_memory: Option<ByteSize>,
    },
}

pub(super) async fn run(base: GlobalArgs, command: ImagesCommand) -> Result<(), CommandError> {
    let ImagesCommand::Renditions { media, photo_memory } = command;
    let settings = base.settings(Layer { media, photo_memory, ..Layer::default() })?;
    let (database, worker) = app::operator_photos(&settings).await?;
    let opened = CommandDatabase::of(database, &settings);
    let (mut behind, mut ads, mut all) = (0, 0, Examined::default());
    loop {
        let (now, until) = worker.claim();
        let batch = opened.answer(opened.database.claim_photos_behind(behind, BATCH, now, until).await)?;
        let Some((last, claimed)) = batch else { break };
        behind = last;
        for claimed in claimed {
            all += opened.answer(worker.examine(claimed, Decode::Incomplete).await)?;
            ads += 1;
        }
        output::note(&format!("{}, {}", output::counted(ads, "ad"), summary_line(all)));
    }
    Ok(output::text(&format!("{}, {}\n", output::counted(ads, "ad"), summary_line(all)))?)
}

fn summary_line(Examined { images, made, undecodable, missing }: Examined) -> String {
    let images = output::counted(images, "image");
    format!("{images}: {made} decoded, {undecodable} cannot be decoded, {missing} missing in the image store")
}
