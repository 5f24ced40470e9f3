//! Rejected payloads in a file of their own, to be mended and imported.

use std::{
    collections::HashSet,
    io::{self, Write},
    path::Path,
};

use serde_json::Value;

use crate::{
    bulk::{
        AdOutcome,
        import::Imported,
        payloads::{Chunks, parse},
    },
    terminal::{Context, Failure, WholeFile, counted},
};

pub(super) fn write(context: &Context, file: &Path, to: &Path, imported: &mut Imported) -> Result<(), Failure> {
    if file.as_os_str() == "-" {
        return Err(Failure::usage("the rejected payloads of stdin are not kept").hint("import a file"));
    }
    let cannot = |error: io::Error| Failure::usage(format!("cannot write {}: {error}", to.display()));
    let mut rejected = HashSet::new();
    for record in imported.records.read() {
        let record = record.map_err(cannot)?;
        if record.outcome == AdOutcome::Rejected {
            rejected.insert(record.index);
        }
    }
    let mut out = WholeFile::create(to).map_err(cannot)?;
    let (mut index, mut written, mut unreadable) = (0, 0, Vec::new());
    Chunks::new(context.open(file)?).try_each(|piece| {
        if rejected.contains(&index) {
            match parse(piece.text) {
                Ok(payload) => {
                    writeln!(out, "{}", Value::Object(payload)).map_err(cannot)?;
                    written += 1;
                }
                Err(_) => unreadable.push(piece.place.line),
            }
        }
        index += 1;
        Ok::<_, Failure>(())
    })?;
    out.end().map_err(cannot)?;
    let (to, these) = (to.display(), counted(written, "rejected payload"));
    context.out.note(&format!("{these} written to {to}; correct them, then: ad-cli import {to}"));
    if let Some(line) = unreadable.first() {
        let count = unreadable.len() as u64;
        context.out.warning(&format!(
            "{} left out, because they are no JSON; the first is on line {line}",
            counted(count, "payload")
        ));
    }
    Ok(())
}
