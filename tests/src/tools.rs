//! Programs that some tests use and cargo does not bring: a real PostgreSQL, a real S3-compatible server, generators of clients.
//!
//! They are used where they are found. Where one is missing, its tests say that they did not run; with `CI=true` that is a
//! failure. `.ci/run` installs them.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Where `.ci/run` installs what no package of the system brings.
pub fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools")
}

/// Finds a program: among what `.ci/run` installed, on the path, and in further folders. `None` means that tests which
/// need it do not run, and has been said on stderr.
///
/// # Panics
/// With `CI=true`, when it is not there: then everything has to run.
pub fn find(program: &str, further: &[&Path], install: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [own().join("bin"), own().join("npm/node_modules/.bin")]
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain(further.iter().map(|it| (*it).into()));
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    if found.is_none() {
        let missing = format!("{program} is not installed, and this test needs it: {install}");
        assert!(std::env::var_os("CI").is_none_or(|it| it != "true"), "{missing}");
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        // Not by the macro: the test runner would keep what a test prints to itself when the test passes.
        let _unsaid = writeln!(std::io::stderr(), "NOT RUN {test}: {missing}");
    }
    found
}
