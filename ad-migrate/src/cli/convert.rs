//! `ad-migrate convert`: the payloads of a file on stdout, for other programs.

use std::io::{self, Seek, Write};

use ad_terminal::{Context, Failure, output::Output};

use super::{
    check::{checked, ended},
    file::FileArgs,
    terminal,
};
use crate::check::{OpenedFile, Payloads, Sink, Verdict};

const IN_MEMORY: usize = 4 * 1024 * 1024;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints the payload of each valid row as a line of JSON, as `ad-cli import`, `sync` and `validate` take them. Findings and counts go to stderr. Nothing is sent.

Payloads are printed when the whole file has been validated; if it cannot be read to its end, none are. Rows that [rows] of the mapping skips \
are left out, and so are invalid rows: before a `sync`, which removes what its file lacks, see that the exit code is 0.

Exit codes:
  0  all rows are valid
  2  invalid command line or mapping, or the file cannot be read to its end
  3  some rows are invalid; the others were printed

Examples:
  ad-migrate convert stock.xlsx --mapping stock.toml > stock.ndjson && ad-cli sync plan stock.ndjson
  ad-migrate convert stock.csv --mapping stock.toml | ad-cli import -")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Accept images over http, of a service whose operator allows them for tests
    #[arg(long, help_heading = "Converting")]
    http_images: bool,
    /// Number of invalid rows to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=10_000), help_heading = "Converting")]
    limit_shown: u64,
}

pub(crate) fn run(context: &Context, args: &ConvertArgs) -> Result<(), Failure> {
    let OpenedFile { rulebook, mapping, reader } = args.file.open(args.http_images)?;
    let mut converted = Converted {
        out: context.out,
        file: args.file.name(),
        payloads: tempfile::SpooledTempFile::new(IN_MEMORY),
        most: args.limit_shown,
        shown: 0,
    };
    let totals = checked(context.out, reader, &mapping, &rulebook, Payloads::All, context.now(), &mut converted)?;
    let Converted { file, mut payloads, shown, .. } = converted;
    terminal::notes(context.out, &file, &totals, shown);
    if totals.unread.is_none() {
        payloads.rewind()?;
        io::copy(&mut payloads, &mut io::stdout().lock())?;
    }
    ended(&file, &totals).map_err(|failure| match totals.unread {
        Some(_) => failure.hint("nothing was printed"),
        None => failure,
    })
}

/// The payloads, until the whole file is known to be readable.
struct Converted {
    out: Output,
    file: String,
    payloads: tempfile::SpooledTempFile,
    most: u64,
    shown: u64,
}

impl Sink for Converted {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        if let Some(payload) = &verdict.payload {
            let mut line = serde_json::to_vec(payload)?;
            line.push(b'\n');
            return self.payloads.write_all(&line);
        }
        if !verdict.is_valid() && self.shown < self.most {
            self.shown += 1;
            terminal::problems(self.out, &self.file, &verdict);
        }
        Ok(())
    }
}
