//! Metrics of the process from the operating system (Linux), by the names of Prometheus client libraries.

use std::fs;

use super::readings::{Reading, number};

/// Units in which Linux counts processor time for programs, per second: the same on every architecture (`USER_HZ`).
const TICKS: f64 = 100.0;

/// The readings that are available; none on other systems.
pub(super) fn readings() -> Vec<Reading> {
    let memory = |field| status(field).map(|kibibytes| kibibytes * 1024.0);
    [
        memory("VmRSS:").map(|it| Reading::gauge("process_resident_memory_bytes", "Memory that the process has", it)),
        memory("VmSize:")
            .map(|it| Reading::gauge("process_virtual_memory_bytes", "Addresses that the process uses", it)),
        status("Threads:").map(|it| Reading::gauge("process_threads", "Threads of the process", it)),
        processor_seconds()
            .map(|it| Reading::counter("process_cpu_seconds", "Processor time that the process has used", it)),
        open_files().map(|it| Reading::gauge("process_open_fds", "Open files and connections of the process", it)),
        most_files().map(|it| Reading::gauge("process_max_fds", "Most open files and connections", it)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first number in a line of `/proc/self/status`.
fn status(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(field))?.split_whitespace().next()?.parse().ok()
}

/// The 14th and 15th field of `/proc/self/stat`: time in the process and in the kernel. The name of the program, which may
/// contain spaces, is the second one, in parentheses.
fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    let ticks: Option<f64> = times.map(|ticks| ticks.parse::<f64>().ok()).sum();
    Some(ticks? / TICKS)
}

fn open_files() -> Option<f64> {
    Some(number(fs::read_dir("/proc/self/fd").ok()?.count()))
}

fn most_files() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_measured() {
        assert!((1e3..1e9).contains(&status("VmRSS:").unwrap()));
        assert!(status("Threads:").unwrap() >= 1.0);
        assert!(processor_seconds().unwrap() < 1e6);
        assert!((3.0..most_files().unwrap()).contains(&open_files().unwrap()));
        assert_eq!(readings().len(), 6);
    }
}
