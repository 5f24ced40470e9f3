//! The `ad-migrate` binary; what it does is in [`ad_migrate::cli`].

use std::process::ExitCode;

/// Checking makes and drops many small values, which this one is much quicker at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ad_migrate::cli::main()
}
