//! `ad-cli man`: the manual, from the same definition as the help.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap_mangen::Man;

use crate::{
    cli::definition,
    terminal::{Context, Failure, FileKind, Force, OutFile},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli man | man -l -
  ad-cli man --folder ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a manual page for each command to this folder, which is created if missing; earlier pages are replaced
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        Man::new(definition()).render(&mut page)?;
        return Ok(context.out.bytes(&page)?);
    };
    let cannot = |error| Failure::usage(format!("cannot write the manual to {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    // All places are looked at before the first page is written.
    let mut pages = Vec::new();
    collect(whole_definition(), folder, args.force, &mut pages)?;
    for (place, page) in pages {
        place.write(&page)?;
    }
    context.out.note(&format!(
        "manual pages written to {}; to read one: man {}",
        folder.display(),
        folder.join("ad-cli.1").display()
    ));
    Ok(())
}

/// The definition as the manual has it: `help` is no command of its own.
fn whole_definition() -> clap::Command {
    let mut whole = definition().disable_help_subcommand(true);
    whole.build();
    whole
}

/// Adds the pages of a command and of those below it.
fn collect(
    command: clap::Command,
    folder: &Path,
    force: Force,
    pages: &mut Vec<(OutFile, Vec<u8>)>,
) -> Result<(), Failure> {
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        collect(below.clone(), folder, force, pages)?;
    }
    let (man, mut page) = (Man::new(command), Vec::new());
    man.render(&mut page)?;
    pages.push((OutFile::new(&folder.join(man.get_filename()), FileKind::ManualPage, force)?, page));
    Ok(())
}
