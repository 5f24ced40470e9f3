//! The `ad-cli` binary; what it does is in [`ad_cli::cli`].

use std::process::ExitCode;

/// Validation allocates many small values, which mimalloc does much faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ad_cli::cli::main()
}
