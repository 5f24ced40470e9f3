//! `ad-server listings`: what the local marketplaces show, and bringing in what they showed before the API.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use clap::Subcommand;

use super::{Base, Failure, ListArgs, output};
use crate::marketplace::{self, ListingRow, NewListing};

/// What to do with listings.
#[derive(Debug, Subcommand)]
pub(super) enum ListingsCommand {
    /// Bring in listings from a file with one JSON object a line: `marketplace` (primary or secondary), `dealer_code`,
    /// `registration_number`, `title`
    Import {
        /// The file; - is stdin
        #[arg(value_name = "FILE.ndjson|-")]
        file: PathBuf,
    },
    /// List what the marketplaces show and showed
    List(ListArgs),
}

pub(super) async fn run(base: Base, command: ListingsCommand) -> Result<(), Failure> {
    match command {
        ListingsCommand::Import { file } => import(base, &file).await,
        ListingsCommand::List(args) => list(base, &args).await,
    }
}

async fn import(base: Base, file: &Path) -> Result<(), Failure> {
    let (name, listings) = if file == Path::new("-") {
        ("stdin".to_owned(), read("stdin", io::stdin().lock())?)
    } else {
        let name = file.display().to_string();
        let content = fs::File::open(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
        let listings = read(&name, BufReader::new(content))?;
        (name, listings)
    };
    let opened = base.database().await?;
    let imported = opened.answer(marketplace::import_listings(&opened.database, &listings).await)?;
    eprintln!("imported {} from {name}", output::counted(imported, "listing"));
    Ok(())
}

/// All listings of a file; one that is wrong keeps all out. Empty lines do not count.
fn read(name: &str, content: impl BufRead) -> Result<Vec<NewListing>, Failure> {
    let mut listings = Vec::new();
    for (index, line) in content.lines().enumerate() {
        let wrong = |problem: &dyn std::fmt::Display| Failure::Input(format!("{name}:{}: {problem}", index + 1));
        let line = line.map_err(|error| wrong(&error))?;
        if !line.trim().is_empty() {
            listings.push(parse(&line).map_err(|problem| wrong(&problem))?);
        }
    }
    Ok(listings)
}

fn parse(line: &str) -> Result<NewListing, String> {
    // The parser counts lines within this one; only its column says anything.
    let listing: NewListing =
        serde_json::from_str(line).map_err(|error| error.to_string().replace(" at line 1 column ", ", at column "))?;
    Ok(listing)
}

async fn list(base: Base, args: &ListArgs) -> Result<(), Failure> {
    let opened = base.database().await?;
    let listings = opened.answer(marketplace::list_listings(&opened.database).await)?;
    if args.json {
        return Ok(output::json(&listings)?);
    }
    let header =
        ["ID", "MARKETPLACE", "DEALER", "PLATE", "SOURCE ID", "TITLE", "POSITION", "POLE POSITION", "STATE", "CHANGED"];
    Ok(output::table(header, listings.into_iter().map(row))?)
}

fn row(listing: ListingRow) -> [String; 10] {
    [
        listing.id,
        listing.marketplace.to_string(),
        listing.dealer_code,
        listing.registration_number.unwrap_or_default(),
        listing.source_id.unwrap_or_default(),
        listing.title,
        listing.position.map(|position| position.to_string()).unwrap_or_default(),
        listing.pole_position_until.map(|until| until.to_string()).unwrap_or_default(),
        listing.state.to_string(),
        listing.updated.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"marketplace": "primary", "dealer_code": "nord-1", "registration_number": "ABC123", "title": "Volvo"}"#;

    #[test]
    fn every_line_is_a_listing() {
        let text = format!("{GOOD}\n\n{}\n", GOOD.replace("primary", "secondary"));
        assert_eq!(read("x", text.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let table = [
            ("{".to_owned(), "EOF while parsing an object, at column 1"),
            (GOOD.replace("primary", "third"), "unknown variant `third`, expected `primary` or `secondary`"),
            (GOOD.replace("\"title\"", "\"titel\""), "unknown field `titel`"),
            (GOOD.replace(", \"title\": \"Volvo\"", ""), "missing field `title`"),
        ];
        for (line, problem) in table {
            let message = read("l.ndjson", format!("{GOOD}\n{line}\n").as_bytes()).unwrap_err().to_string();
            assert!(message.starts_with("l.ndjson:2: ") && message.contains(problem), "{message}");
        }
        let message = read("l.ndjson", &b"\xff\n"[..]).unwrap_err().to_string();
        assert!(message.starts_with("l.ndjson:1: "), "{message}");
    }
}
