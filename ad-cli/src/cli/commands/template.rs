//! `ad-cli template`: a sheet to fill in, with the mapping for its import.

use std::path::PathBuf;

use ad_core::{
    categories::{Category, TRAILER},
    model::ApiVersion,
    rulebook::Rulebook,
};

use crate::{
    cli::{
        sheet::{SheetColumn, columns, csv, mapping, xlsx},
        through::VehicleType,
    },
    terminal::{Context, Failure, FileKind, Force, OutFile},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes a sheet with one column per field, the required ones first, and an example row to replace. In an .xlsx sheet, cells offer the allowed \
values, and a note on each header explains its field. The mapping is written beside the sheet, so that `ad-cli import` takes it as it is. \
Existing files are overwritten only with --force.

The example ad is hidden: `Visible` is `no`.

Examples:
  ad-cli template car --xlsx
  ad-cli template van --csv --out vans.csv
  ad-cli import car.xlsx --dry-run")]
pub(crate) struct TemplateArgs {
    /// The vehicle type, such as car
    #[arg(value_parser = VehicleType)]
    r#type: &'static Category,
    #[command(flatten)]
    form: Form,
    /// The sheet [default: TYPE.xlsx or TYPE.csv]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// The form of a sheet.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Form {
    /// A workbook for Excel and other spreadsheet programs
    #[arg(long)]
    xlsx: bool,
    /// Separated values
    #[arg(long)]
    csv: bool,
}

pub(crate) fn run(context: &Context, args: &TemplateArgs) -> Result<(), Failure> {
    let (category, name) = (args.r#type, args.r#type.vehicle_type.unwrap_or_default());
    if category.id == TRAILER {
        return Err(Failure::usage("trailers cannot be created").hint("choose another type: ad-cli fields"));
    }
    let ending = if args.form.xlsx { "xlsx" } else { "csv" };
    let sheet = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.{ending}")));
    if sheet.extension().is_none_or(|own| !own.eq_ignore_ascii_case(ending)) {
        return Err(Failure::usage(format!("the name of the sheet must end with .{ending}: {}", sheet.display())));
    }
    let rulebook = Rulebook::default();
    let example = category.example(ApiVersion::V4, &rulebook);
    let columns: Vec<SheetColumn> = columns(category, &rulebook, example);
    let bytes = if args.form.xlsx {
        xlsx::bytes(name, &columns, &rulebook.catalogue)
            .map_err(|error| Failure::failed(format!("cannot make {}: {error}", sheet.display())))?
    } else {
        csv::bytes(&columns).map_err(|error| Failure::failed(format!("cannot make {}: {error}", sheet.display())))?
    };
    let sheet = OutFile::new(&sheet, FileKind::Draft, args.force)?;
    let beside = OutFile::new(&sheet.path().with_extension("toml"), FileKind::Draft, args.force)?;
    sheet.write(&bytes)?;
    beside.write(mapping(name, &columns).as_bytes())?;
    let (sheet, beside) = (sheet.path().display(), beside.path().display());
    context.out.note(&format!("{sheet} written, with its mapping {beside}"));
    context.out.note(&format!("replace the example row, then: ad-cli import {sheet} --dry-run"));
    Ok(())
}
