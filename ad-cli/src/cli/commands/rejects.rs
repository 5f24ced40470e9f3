//! Rejected payloads in a file of their own, to be mended and imported.

use std::{
    io::{self, Write},
    path::Path,
};

use serde_json::Value;

use crate::{
    bulk::{AdOutcome, import::Imported, payloads::parse},
    terminal::{Context, Failure, OutFile, PAYLOADS_MARK, counted},
};

pub(super) fn write(context: &Context, file: &Path, to: &OutFile, imported: &Imported) -> Result<(), Failure> {
    if file.as_os_str() == "-" {
        return Err(Failure::usage("the rejected payloads of stdin are not kept").hint("import a file"));
    }
    let cannot = |error: io::Error| to.unwritable(&error);
    let mut out = to.create()?;
    let (mut written, mut unreadable) = (0, Vec::new());
    imported.records.each(|record, text| {
        if record.outcome == AdOutcome::Rejected {
            match parse(text) {
                Ok(payload) => {
                    let mark = if written == 0 { PAYLOADS_MARK } else { "" };
                    writeln!(out, "{mark}{}", Value::Object(payload)).map_err(cannot)?;
                    written += 1;
                }
                Err(_) => unreadable.push(record.place.line),
            }
        }
        Ok::<_, Failure>(())
    })?;
    out.end().map_err(cannot)?;
    let (to, these) = (to.path().display(), counted(written, "rejected payload"));
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
