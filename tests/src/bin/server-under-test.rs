//! The server as a process that the tests start and kill.

use std::process::ExitCode;

/// As in ad-server's own binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ad_server::commands::main()
}
