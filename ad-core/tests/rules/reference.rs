//! `docs/categories.md` is what the tables say.

use std::{fs, path::Path};

use ad_core::{catalogue::Catalogue, categories, reference};

#[test]
fn the_reference_of_all_types_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/categories.md");
    let now = reference::markdown(&Catalogue::embedded());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differing = kept.lines().zip(now.lines()).find(|(kept, now)| kept != now);
    assert!(
        kept == now,
        "docs/categories.md is stale; first difference: {differing:?}. Write it anew with:\n\
         UPDATE_SNAPSHOTS=1 cargo test -p ad-core reference"
    );
}

#[test]
fn every_field_of_every_type_stands_in_its_section_or_in_one_that_it_refers_to() {
    let page = reference::markdown(&Catalogue::embedded());
    let section = |heading: &str| {
        let text = page.split("\n## ").find(|text| text.starts_with(heading));
        text.unwrap_or_else(|| panic!("{heading} has no section"))
    };
    for (vehicle_type, category) in categories::typed() {
        let mut places =
            vec![page.split("\n## ").find(|text| text.contains(&format!("`/v4/{vehicle_type}`"))).unwrap()];
        while let Some((_, like)) = places.last().and_then(|text| text.split_once("ields as [")) {
            places.push(section(like.split(']').next().unwrap()));
        }
        if category.registered {
            places.push(section("Common fields"));
        }
        for row in reference::rows(category.fields()) {
            let cell = format!("\n| `{}` | ", row.place);
            assert!(places.iter().any(|text| text.contains(&cell)), "{vehicle_type} {}", row.place);
        }
    }
}
