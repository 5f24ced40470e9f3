//! Writes payloads to begin with into the folders that fuzzing grows: full ones of every kind, and each with patches.

#[path = "../tests/properties/full.rs"]
mod full;
#[path = "../tests/properties/kinds.rs"]
mod kinds;

use std::{fs, io, path::Path};

use kinds::{Kind, RULEBOOK, ad, stays};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    fs::create_dir_all(corpus.join("validate"))?;
    fs::create_dir_all(corpus.join("merge"))?;
    for kind in Kind::all() {
        let payload = full::payload(kind.category, kind.version, &RULEBOOK.catalogue);
        let checked = RULEBOOK.import(kind.write(), payload.clone()).expect("a full payload is valid");
        stays(kind, &ad(kind, &checked));
        let name = format!("{}-{}", kind.category.id, kind.version);
        fs::write(corpus.join("validate").join(&name), Value::Object(payload.clone()).to_string())?;
        let patches = json!([payload, {"visible": false}, {"category_fields": payload["category_fields"]},
            {"price": null, "location": null, "image_urls": null, "category_fields": {"brand": null, "condition": null}}]);
        fs::write(corpus.join("merge").join(name), patches.to_string())?;
    }
    Ok(())
}
