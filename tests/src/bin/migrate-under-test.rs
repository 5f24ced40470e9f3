//! The migration tool as a process that the tests start and kill.

use std::process::ExitCode;

fn main() -> ExitCode {
    ad_migrate::cli::main()
}
