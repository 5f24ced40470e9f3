//! The server as a process that the tests start and kill.

use std::process::ExitCode;

fn main() -> ExitCode {
    ad_server::commands::main()
}
