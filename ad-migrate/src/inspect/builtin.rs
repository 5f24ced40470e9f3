//! Built-in mappings that read a file as it is, so that no draft is needed.

use std::path::Path;

use ad_core::{model::ApiVersion, rulebook::Rulebook};

use super::Draft;
use crate::{
    finding::Severity,
    mapping::{Bound, Mapped, Mapping},
    readers::{Columns, Reader, Row, Settings},
};

/// Rows that are tried.
const ROWS: usize = 100;

/// The built-in mapping that reads a file whose columns are those of the draft: all its columns are there, and at least half of the first
/// rows become valid ads. Of several, the one that uses most columns. `over` changes the settings by which the file is read.
pub fn fitting(file: &Path, draft: &Draft, over: impl Fn(&Settings) -> Settings) -> Option<&'static str> {
    let rulebook = Rulebook::default();
    let mut columns = Columns::default();
    for guess in &draft.columns {
        columns.add(&guess.column);
    }
    let used = |name: &&'static str| {
        let mapping = Mapping::parse(Mapping::builtin(name)?, &rulebook.catalogue).ok()?;
        // The file is read again only where the columns are there.
        if !mapping.bind(&columns).missing().is_empty() {
            return None;
        }
        let batch = Reader::open(file, &over(mapping.reading())).ok()?.next(None).ok()??;
        let bound = mapping.bind(batch.columns());
        let rows: Vec<_> = batch.rows().take(ROWS).collect();
        let valid = rows.iter().filter(|row| is_valid(&rulebook, &bound, **row)).count();
        (valid > 0 && valid * 2 >= rows.len() && bound.missing().is_empty()).then(|| bound.used())
    };
    let fitting = Mapping::builtin_names().filter_map(|name| Some((used(&name)?, name)));
    // Of equal ones the first.
    fitting.min_by_key(|(used, _)| std::cmp::Reverse(*used)).map(|(_, name)| name)
}

fn is_valid(rulebook: &Rulebook, bound: &Bound<'_>, row: Row<'_>) -> bool {
    let Mapped { category, payload, findings } = bound.apply(row);
    findings.iter().all(|finding| finding.severity == Severity::Warning)
        && rulebook.create_unsent(ApiVersion::V4, category, payload).is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ad_core::catalogue::Catalogue;

    use super::*;
    use crate::inspect::inspect;

    #[test]
    fn the_mapping_of_each_sample_is_found_and_none_of_another_file() {
        let catalogue = Catalogue::embedded();
        let found = |file: &Path| {
            let draft = inspect(&mut Reader::open(file, &Settings::default()).unwrap(), &catalogue).unwrap();
            fitting(file, &draft, Settings::clone)
        };
        let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        for (file, mapping) in [
            ("legacy/stock-semicolon-cp1252.csv", Some("csv-semicolon-sv")),
            ("legacy/stock-positional.txt", Some("positional-pipe")),
            ("legacy/stock.xml", Some("xml-fordon")),
            ("legacy/stock.json", Some("json-nested")),
            ("feeds/autoscout24.json", Some("autoscout24")),
            ("feeds/google.csv", Some("google-vehicles")),
            ("feeds/meta-listings.xml", Some("meta-listings")),
            ("feeds/meta-vehicles.csv", Some("meta-vehicles")),
            ("feeds/mobile.zip", Some("mobile-de")),
            ("feeds/woocommerce.csv", Some("woocommerce")),
            ("feeds/vo.xml", None),
            ("feeds/export.tsv", None),
        ] {
            assert_eq!(found(&data.join(file)), mapping, "{file}");
        }
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own.csv");
        std::fs::write(&own, "Nr;Plate;Make\n1;ABC123;Volvo\n2;ABC124;Kia\n").unwrap();
        assert_eq!(found(&own), None);
    }
}
