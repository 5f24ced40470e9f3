//! What some tests use and cargo does not bring: programs, and modules of Python and Node.
//!
//! A test asks [`find`] for each before it does anything else. Where one is missing or does not work, the test says that it did not
//! run; with `CI=true` that is a failure. `.ci/run` installs them.
//!
//! `TEST_TOOLS` names another folder than `target/tools`; then nothing is found elsewhere than there and on the path.
//! `TESTS_WITH_TOOLS` names a file to which the names of the tests that asked are added. With both, `.ci/run` repeats these tests without tools.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, LazyLock, Mutex, OnceLock},
};

/// What a test needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// A program of the table `PROGRAMS`.
    Program(&'static str),
    /// A Python that can run these imports.
    Python(&'static str),
    /// A Node that can run these imports, from [`node_modules`].
    Node(&'static str),
    /// The library that moves the clock of a process into which it is loaded.
    FakeTime,
}

/// What installs the programs of `tests/clients`.
const CI_RUN: &str = "run .ci/run, which installs it in target/tools";

/// Programs, the arguments with which each shows that it works, and how it is installed.
const PROGRAMS: [(&str, &str, &str); 26] = [
    ("WebKitWebDriver", "--help", "apt-get install webkit2gtk-driver"),
    ("Xvfb", "-help", "apt-get install xvfb"),
    ("bash", "--version", "apt-get install bash"),
    ("check-jsonschema", "--version", CI_RUN),
    ("chromedriver", "--version", "apt-get install chromium-driver"),
    ("chromium", "--version", "apt-get install chromium"),
    ("curl", "--version", "apt-get install curl"),
    ("docker-compose", "version", CI_RUN),
    ("firefox-esr", "--version", "apt-get install firefox-esr"),
    ("initdb", "--version", "apt-get install postgresql"),
    ("kubernetes-validate", "--version", CI_RUN),
    ("moto_server", "--help", CI_RUN),
    ("openapi-generator-cli", "version", CI_RUN),
    ("openapi-python-client", "--version", CI_RUN),
    ("openapi-spec-validator", "--version", CI_RUN),
    ("openapi-ts", "--version", CI_RUN),
    ("openapi-typescript", "--version", CI_RUN),
    ("openssl", "version", "apt-get install openssl"),
    // It runs nothing, with the modules that Debian keeps apart from it.
    ("perl", "-MHTTP::Tiny", "apt-get install perl"),
    ("pgbouncer", "--version", "apt-get install pgbouncer"),
    ("php", "--version", "apt-get install php-cli"),
    ("promtool", "--version", "apt-get install prometheus"),
    ("redocly", "--version", CI_RUN),
    ("schemathesis", "--version", CI_RUN),
    ("script", "--version", "apt-get install bsdutils"),
    ("spectral", "--version", CI_RUN),
];

/// Runs with the library in place of its own clock.
const IN_2001: &str = r#"[ "$(LD_PRELOAD=$0 FAKETIME='2001-02-03 04:05:06' date +%Y)" = 2001 ]"#;

/// The file of a tool, or why it cannot be used, once that was looked for.
type Lookup = Arc<OnceLock<Result<PathBuf, String>>>;

/// What was found so far.
static KNOWN: Mutex<BTreeMap<Tool, Lookup>> = Mutex::new(BTreeMap::new());

/// `TEST_TOOLS`.
static ELSEWHERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| env::var_os("TEST_TOOLS").map(PathBuf::from));

/// Where `.ci/run` installs what no package of the system brings.
fn own() -> PathBuf {
    ELSEWHERE.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools"))
}

/// The modules of Node.
pub fn node_modules() -> PathBuf {
    own().join("npm/node_modules")
}

/// The path of processes that start tools by their names.
///
/// # Panics
/// When a folder has a colon in its name.
pub fn path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [own().join("bin"), node_modules().join(".bin")].into_iter().chain(env::split_paths(&path));
    env::join_paths(folders).expect("no folder has a colon in its name")
}

/// Finds what a test needs, and tries it: a file with the right name may be an older version, or lack modules. `None` means that tests
/// which need it do not run, and has been said on stderr.
///
/// # Panics
/// With `CI=true`, when it cannot be used: then everything has to run.
pub fn find(tool: Tool) -> Option<PathBuf> {
    // A Python without modules is on the machine without tools too.
    let list = env::var_os("TESTS_WITH_TOOLS").filter(|_| tool != Tool::Python(""));
    if let Some(list) = list {
        let list = fs::OpenOptions::new().append(true).create(true).open(list);
        list.and_then(|mut list| list.write_all(format!("{}\n", test()).as_bytes())).expect("the list can be written");
    }
    let known = Arc::clone(KNOWN.lock().expect("nobody panics with it").entry(tool).or_default());
    let found = known.get_or_init(|| tool.look()).clone().inspect_err(|why| not_run(why)).ok();
    assert!(found.is_some() || env::var_os("CI").is_none_or(|it| it != "true"), "CI has every tool");
    found
}

/// Says that this test does not run.
pub fn not_run(why: &str) {
    // Not by the macro: the test runner would keep what a test prints to itself when the test passes. In one piece, since other tests print too.
    let line = format!("NOT RUN: {}: {why}\n", test());
    let _unsaid = std::io::stderr().write_all(line.as_bytes());
}

/// The name of the test of this thread.
fn test() -> String {
    std::thread::current().name().unwrap_or("a test").to_owned()
}

impl Tool {
    fn look(self) -> Result<PathBuf, String> {
        let (names, install): (&[&str], _) = match &self {
            Self::Program(name) => {
                let (_, _, install) = PROGRAMS.iter().find(|(of, ..)| of == name).expect("the table has the program");
                (std::slice::from_ref(name), *install)
            }
            Self::Python(_) => (&["python", "python3"], CI_RUN),
            Self::Node(_) => (&["node"], CI_RUN),
            Self::FakeTime => (&["libfaketime.so.1"], "apt-get install faketime"),
        };
        let folders: Vec<_> = env::split_paths(&path()).chain(self.of_system()).collect();
        let files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let mut why = "it is not installed".to_owned();
        for file in files.filter(|file| file.is_file()) {
            match self.works(&file) {
                Ok(()) => return Ok(file),
                Err(error) => why = format!("{} does not work: {error}", file.display()),
            }
        }
        Err(format!("this test needs {self:?}, and {why}; {install}"))
    }

    /// Folders off the path where Debian puts it.
    fn of_system(self) -> Vec<PathBuf> {
        let (parent, below) = match self {
            Self::Program("initdb") => ("/usr/lib/postgresql", "bin"),
            Self::FakeTime => ("/usr/lib", "faketime"),
            _ => return Vec::new(),
        };
        if ELSEWHERE.is_some() {
            return Vec::new();
        }
        let folders = fs::read_dir(parent).into_iter().flatten().flatten();
        let mut folders: Vec<_> = folders.map(|folder| folder.path().join(below)).collect();
        // The newest first.
        folders.sort();
        folders.reverse();
        folders
    }

    /// Fails with what the program printed.
    fn works(self, file: &Path) -> Result<(), String> {
        let mut command = Command::new(if self == Self::FakeTime { Path::new("sh") } else { file });
        match self {
            Self::Program(name) => {
                command.args(PROGRAMS.iter().filter(|(of, ..)| *of == name).map(|(_, argument, _)| argument))
            }
            Self::Python(imports) => command.args(["-c", imports]),
            Self::Node(imports) => command.args(["--input-type=module", "-e", imports]),
            Self::FakeTime => command.args(["-c", IN_2001]).arg(file),
        };
        // Node looks for modules in the folder in which it runs.
        let folder = if matches!(self, Self::Node(_)) { own().join("npm") } else { env::temp_dir() };
        command.current_dir(if folder.is_dir() { folder } else { env::temp_dir() }).env("PATH", path());
        let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stderr);
        let mut lines = printed.lines().map(str::trim).filter(|line| line.contains("Error"));
        if output.status.success() { Ok(()) } else { Err(lines.next_back().unwrap_or("its check failed").to_owned()) }
    }
}
