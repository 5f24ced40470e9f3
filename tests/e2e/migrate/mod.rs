//! `ad-migrate`, against real servers.

mod docs;
mod revise;
mod run;
mod samples;
mod sync;
mod v3;

use std::path::PathBuf;

use ad_core::model::plate;
use ad_migrate::mapping::Mapping;
use ad_tests::Cli;
use serde_json::Value;

/// A row of the sample stock that can go, and its plate.
struct Good {
    source_id: String,
    plate: String,
}

fn sample(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ad-migrate/tests/data/legacy").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Gives somebody the sample stock as `stock.csv` with its mapping as `stock.toml`, and returns its rows that can go. Their images are at
/// addresses that are nobody's, so they are left out.
fn stock(cli: &Cli) -> Vec<Good> {
    let mapping = Mapping::builtin("csv-semicolon-sv").unwrap();
    let without_images: Vec<_> = mapping.lines().filter(|line| !line.starts_with("image_urls")).collect();
    cli.file("stock.toml", without_images.join("\n"));
    cli.file("stock.csv", sample("stock-semicolon-cp1252.csv"));
    let expected = String::from_utf8(sample("expected.ndjson")).unwrap();
    let rows = expected.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // What was wrong with pictures is no problem without them.
    let is_good = |row: &Value| row["problem"].as_str().is_none_or(|problem| problem.contains("image"));
    let ids: Vec<_> = rows.filter(is_good).map(|row| row["stock_no"].as_str().unwrap().to_owned()).collect();
    let text = String::from_utf8_lossy(&sample("stock-semicolon-cp1252.csv")).into_owned();
    let plates = text.lines().filter_map(|line| {
        let mut cells = line.split(';');
        Some((cells.next()?.to_owned(), plate(cells.next()?)))
    });
    let plates: std::collections::HashMap<_, _> = plates.collect();
    ids.into_iter().map(|source_id| Good { plate: plates[&source_id].clone(), source_id }).collect()
}
