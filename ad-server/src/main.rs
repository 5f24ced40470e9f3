//! The `ad-server` binary. All that it does is in the library, so that tests can build it, too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ad_server::commands::main()
}
