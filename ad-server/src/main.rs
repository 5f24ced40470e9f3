//! The `ad-server` binary; what it does is in [`ad_server::commands`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ad_server::commands::main()
}
