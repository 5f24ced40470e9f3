//! `ad-migrate mappings`: shows the built-in mappings and value maps.

use ad_core::violation::nearest;
use ad_terminal::{Context, Failure, output::Column};
use serde::Serialize;

use crate::mapping::{Mapping, values};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-migrate mappings                                 list all
  ad-migrate mappings csv-semicolon-sv > stock.toml   start from a built-in mapping
  ad-migrate mappings fuel                            print a value map
  ad-migrate mappings --schema > mapping.schema.json  write the JSON Schema of mappings, for editors")]
pub(crate) struct MappingsArgs {
    /// Mapping or value map to print
    name: Option<String>,
    /// Print the JSON Schema of mappings
    #[arg(long, conflicts_with = "name")]
    schema: bool,
}

/// Bytes of a description that needs another sentence.
const SHORT: usize = 20;

const COLUMNS: &[Column] =
    &[Column::new("NAME", "name"), Column::new("KIND", "kind"), Column::new("ABOUT", "about").wrapped()];

#[derive(Debug, Serialize)]
struct BuiltinRow {
    name: &'static str,
    kind: &'static str,
    about: String,
    #[serde(skip)]
    text: &'static str,
}

/// All that can be printed.
fn all() -> impl Iterator<Item = BuiltinRow> {
    // The first sentences of a file are its description.
    let about = |text: &'static str| {
        let lines =
            text.lines().take_while(|line| line.starts_with("# ")).map(|line| line.trim_start_matches(['#', ' ']));
        let text = lines.collect::<Vec<_>>().join(" ");
        let ends = text.match_indices(". ").map(|(end, _)| end);
        let end = ends.into_iter().find(|end| *end > SHORT).unwrap_or(text.len());
        text[..end].trim_end_matches('.').to_owned()
    };
    let mappings = Mapping::builtin_names().filter_map(|name| Some((name, "mapping", Mapping::builtin(name)?)));
    let maps = values::builtin().iter().map(|map| (map.name, "value map", map.text));
    mappings.chain(maps).map(move |(name, kind, text)| BuiltinRow { name, kind, about: about(text), text })
}

pub(crate) fn run(context: &Context, args: &MappingsArgs) -> Result<(), Failure> {
    if args.schema {
        return Ok(context.out.text(&format!("{:#}\n", Mapping::schema()))?);
    }
    let Some(name) = &args.name else { return Ok(context.out.table(COLUMNS, all())?) };
    if let Some(row) = all().find(|row| row.name == name) {
        return Ok(context.out.text(row.text)?);
    }
    let hint = nearest::did_you_mean(name, all().map(|row| row.name));
    let hint = hint.unwrap_or_else(|| "to list them: ad-migrate mappings".to_owned());
    Err(Failure::usage(format!("no mapping or value map \"{name}\"")).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_it_is_for_and_no_two_have_one_name() {
        let all: Vec<BuiltinRow> = all().collect();
        for row in &all {
            assert!(row.about.len() > 10 && row.text.starts_with("# "), "{}", row.name);
            assert_eq!(all.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
