//! Modules of a crate import each other in one direction, in the order that the table in its `lib.rs` has, where it claims one.
//! Between crates, Cargo sees to that.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A crate says so of its table of modules.
const IS_ORDERED: &str = "Each module uses only modules above it in this table";

/// Below the folders of these crates are nested ones.
const CRATES: [&str; 4] = ["ad-core", "ad-server", "ad-cli", "ad-migrate"];

type Imports = BTreeMap<String, BTreeSet<String>>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The folders `src` of a crate and of those nested in its folder.
fn sources(of: &str) -> Vec<PathBuf> {
    let folder = repository().join(of);
    let nested = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let all = [folder.clone()].into_iter().chain(nested);
    all.map(|folder| folder.join("src")).filter(|source| source.join("lib.rs").is_file()).collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The first names of what stands behind `crate::`, also in braces.
fn imported(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let first =
        |path: &str| path.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned();
    for (at, prefix) in code.match_indices("crate::") {
        let path = &code[at + prefix.len()..];
        let Some(list) = path.strip_prefix('{') else {
            found.insert(first(path));
            continue;
        };
        let (mut depth, mut begins) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                _ if begins && !c.is_whitespace() => {
                    found.insert(first(&list[at..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// Which modules of a crate import which others, unit tests aside.
fn imports(source: &Path) -> Imports {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    let module = |file: &Path| {
        let first = file.strip_prefix(source).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> = files.iter().map(|file| module(file)).collect();
    let mut all = Imports::new();
    for file in &files {
        let (name, path) = (module(file), file.to_str().unwrap());
        if ["lib", "main"].contains(&&*name) || path.contains("/tests") || path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code: String =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let others = imported(&code).into_iter().filter(|other| *other != name && modules.contains(other));
        all.entry(name.clone()).or_default().extend(others);
    }
    all
}

/// The modules that are left when those that import none of the others are removed again and again: a cycle, or none.
fn in_cycles(mut imports: Imports) -> Imports {
    loop {
        let free: BTreeSet<_> =
            imports.iter().filter(|(_, others)| others.is_empty()).map(|(name, _)| name.clone()).collect();
        if free.is_empty() {
            return imports;
        }
        imports.retain(|name, _| !free.contains(name));
        for others in imports.values_mut() {
            others.retain(|other| !free.contains(other));
        }
    }
}

/// The names of modules in the first column of the table in `lib.rs`, in its order.
fn table(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | "));
    let cells = rows.filter_map(|row| row.split('|').next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| name.trim_start_matches("mod@").to_owned()).collect()
}

#[test]
fn modules_import_each_other_in_one_direction() {
    for source in CRATES.into_iter().flat_map(sources) {
        let cycles = in_cycles(imports(&source));
        assert!(cycles.is_empty(), "{}: {cycles:#?}", source.display());
    }
}

#[test]
fn modules_are_in_the_order_of_the_tables_that_claim_one() {
    let mut ordered = 0;
    for source in CRATES.into_iter().flat_map(sources) {
        let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
        if !lib.contains(IS_ORDERED) {
            continue;
        }
        ordered += 1;
        let table = table(&lib);
        let place = |name: &String| table.iter().position(|it| it == name);
        for (name, others) in imports(&source) {
            let own = place(&name).unwrap_or_else(|| panic!("{name} is not in the table of {}", source.display()));
            let below: Vec<_> = others.iter().filter(|other| place(other).is_none_or(|place| place > own)).collect();
            assert!(below.is_empty(), "{}: {name} imports {below:?}", source.display());
        }
    }
    assert!(ordered > 0, "no crate says that its modules are in an order");
}

#[test]
fn imports_are_found_in_all_forms() {
    let code = "use crate::{a::{x, crate_y}, b, c as d};\nfn f() { crate::e::g() }\npub(crate) use crate::h::*;";
    assert_eq!(imported(code), ["a", "b", "c", "e", "h"].map(str::to_owned).into());
}
