//! The `ad-server` binary; see [`ad_server::commands`].

use std::process::ExitCode;

/// Images of megabytes come and go on many threads; glibc keeps a part of the freed memory for each of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ad_server::commands::main()
}
