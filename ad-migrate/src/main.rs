//! The `ad-migrate` binary; see [`ad_migrate::cli`].

use std::process::ExitCode;

/// A check allocates many small values, for which mimalloc is much faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ad_migrate::cli::main()
}
