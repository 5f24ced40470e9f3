//! The `ad-server` binary; see [`ad_server::commands`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ad_server::commands::main()
}
