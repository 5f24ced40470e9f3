//! Ports for what is started again on the port that it had.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicU16, Ordering},
};

/// Below the range from which systems take the ports of outgoing connections, and of whoever asks for any: there, while
/// what listened is away, somebody else would be given its port.
const RANGE: std::ops::Range<u16> = 12_000..32_000;

/// A port on which nobody listens, and which no other test of this process is given soon.
///
/// # Panics
/// When there is none.
pub fn lasting() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let size = RANGE.end - RANGE.start;
    // Test processes that run side by side begin at different places.
    let start = u16::try_from(std::process::id() * 97 % u32::from(size)).expect("below the size");
    (0..size)
        .map(|_| RANGE.start + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % size)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port is free")
}
