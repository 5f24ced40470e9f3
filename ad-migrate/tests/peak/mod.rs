//! Runs the program, and looks how much memory it takes.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Most memory that reading a file may take, in KiB.
pub(crate) const MEMORY: u64 = 100 * 1024;

pub(crate) const MAPPING: &str = "[vehicle]\ntype = \"car\"\n[fields]\nsource_id = \"id\"\n";

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The peak of its memory in KiB.
    pub(crate) peak: u64,
}

/// Runs a command in a folder.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let [printed, told] = ["printed", "told"].map(|name| folder.join(name));
    let mut process = Command::new(env!("CARGO_BIN_EXE_ad-migrate"))
        .args(arguments)
        .current_dir(folder)
        // By default, the allocator returns freed memory to the system after a delay, so that the peak would depend on timing.
        .env("MIMALLOC_PURGE_DELAY", "0")
        .stdin(Stdio::null())
        .stdout(File::create(&printed).unwrap())
        .stderr(File::create(&told).unwrap())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    let code = loop {
        // The kernel keeps the peak; the last look before the end counts.
        let now = fs::read_to_string(&status).unwrap_or_default();
        let now = now.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(now.unwrap_or_default());
        if let Some(status) = process.try_wait().unwrap() {
            break status.code();
        }
        thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = [printed, told].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    Ran { code, stdout, stderr, peak }
}
