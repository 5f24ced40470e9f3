//! `ad-cli man`: the manual, from the same definition as the help.

use std::{fs, path::PathBuf};

use clap_mangen::Man;

use crate::{
    cli::definition,
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli man | man -l -
  ad-cli man --folder ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a manual page for each command to this folder, which is created if missing
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        Man::new(definition()).render(&mut page)?;
        return Ok(context.out.bytes(&page)?);
    };
    let cannot = |error| Failure::usage(format!("cannot write the manual to {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(definition(), folder).map_err(cannot)?;
    context.out.note(&format!(
        "manual pages written to {}; to read one: man {}",
        folder.display(),
        folder.join("ad-cli.1").display()
    ));
    Ok(())
}
