//! The `ad-server` binary.

fn main() {}
