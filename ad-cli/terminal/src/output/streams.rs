//! The streams of a command: those of the process or, of a command that a program runs within itself, buffers.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use ad_core::lock::locked;
use tokio_util::sync::CancellationToken;

/// The buffers in use. An [`Output`](super::Output) is copied to wherever something is printed, so it only has their number.
static BUFFERS: Mutex<BTreeMap<u64, Buffers>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Buffers {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Most bytes of each of the two; a write that exceeds it fails.
    most: usize,
    is_full: CancellationToken,
}

/// Where a command writes: to the process, or to a buffer of the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Streams {
    /// To stdout and stderr of the process.
    #[default]
    Process,
    /// To the buffers of a [`Capture`].
    Captured(u64),
}

/// Buffers for what a command writes, until they are dropped; what it writes later is lost.
#[derive(Debug)]
pub struct Capture {
    number: u64,
    is_full: CancellationToken,
}

impl Capture {
    /// Buffers of at most so many bytes each.
    pub fn new(most: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (number, is_full) = (NEXT.fetch_add(1, Ordering::Relaxed), CancellationToken::new());
        let buffers = Buffers { stdout: Vec::new(), stderr: Vec::new(), most, is_full: is_full.clone() };
        locked(&BUFFERS).insert(number, buffers);
        Self { number, is_full }
    }

    /// The streams to write to.
    pub fn streams(&self) -> Streams {
        Streams::Captured(self.number)
    }

    /// Waits until the command writes more than the buffers hold.
    pub async fn filled(&self) {
        self.is_full.cancelled().await;
    }

    /// What the command has written to stdout and stderr.
    pub fn end(self) -> (Vec<u8>, Vec<u8>) {
        let buffers = locked(&BUFFERS).remove(&self.number);
        buffers.map(|buffers| (buffers.stdout, buffers.stderr)).unwrap_or_default()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        locked(&BUFFERS).remove(&self.number);
    }
}

impl Streams {
    /// The answer of the command.
    pub fn stdout(self) -> Stream {
        Stream { streams: self, is_stderr: false }
    }

    /// Everything else that it says.
    pub fn stderr(self) -> Stream {
        Stream { streams: self, is_stderr: true }
    }
}

/// Stdout or stderr of a command.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    streams: Streams,
    is_stderr: bool,
}

impl Stream {
    /// Whether it is a terminal.
    pub fn is_terminal(self) -> bool {
        match (self.streams, self.is_stderr) {
            (Streams::Process, false) => io::stdout().is_terminal(),
            (Streams::Process, true) => io::stderr().is_terminal(),
            (Streams::Captured(_), _) => false,
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = match (self.streams, self.is_stderr) {
            (Streams::Process, false) => return io::stdout().write(bytes),
            (Streams::Process, true) => return io::stderr().write(bytes),
            (Streams::Captured(number), _) => number,
        };
        let mut all = locked(&BUFFERS);
        let buffers = all.get_mut(&number).ok_or(io::ErrorKind::BrokenPipe)?;
        let buffer = if self.is_stderr { &mut buffers.stderr } else { &mut buffers.stdout };
        if buffer.len() + bytes.len() > buffers.most {
            buffers.is_full.cancel();
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match (self.streams, self.is_stderr) {
            (Streams::Process, false) => io::stdout().flush(),
            (Streams::Process, true) => io::stderr().flush(),
            (Streams::Captured(_), _) => Ok(()),
        }
    }
}
