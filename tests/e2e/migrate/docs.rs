//! What the migration tool says about itself.

use std::path::Path;

#[test]
fn the_page_is_as_the_commands_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ad-migrate.md");
    let page = ad_migrate::cli::markdown();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let told = "docs/ad-migrate.md is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e migrate::docs";
    assert!(stored == page, "{told}");
}
