//! An external merge sort of records of one size, in bounded memory. Sorted parts are written to a temporary file and merged at the end.
//! Records are ordered by their bytes, so numbers in them are big-endian.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
};

/// Number of records of one part, which are in memory until it is sorted.
const IN_MEMORY: usize = 128 * 1024;

/// Records of a part that are read at once while the parts are merged.
const AT_ONCE: u64 = 64;

/// Records that are being collected.
#[derive(Debug)]
pub struct Sorter<const N: usize> {
    recent: Vec<[u8; N]>,
    /// Sorted parts of equal length, one after the other.
    earlier: Option<File>,
    parts: u64,
    most: usize,
}

impl<const N: usize> Default for Sorter<N> {
    fn default() -> Self {
        Self::with_most(IN_MEMORY)
    }
}

impl<const N: usize> Sorter<N> {
    /// A sorter with at most this number of records in memory.
    pub fn with_most(most: usize) -> Self {
        Self { recent: Vec::new(), earlier: None, parts: 0, most }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&mut self, record: [u8; N]) -> io::Result<()> {
        self.recent.push(record);
        if self.recent.len() < self.most {
            return Ok(());
        }
        let file = match &mut self.earlier {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        self.recent.sort_unstable();
        let mut out = BufWriter::with_capacity(64 * 1024, file);
        self.recent.drain(..).try_for_each(|record| out.write_all(&record))?;
        self.parts += 1;
        out.flush()
    }

    /// All records, the smallest first.
    ///
    /// # Errors
    /// When the temporary file cannot be read; so each record, later.
    pub fn sorted(mut self) -> io::Result<Sorted<N>> {
        self.recent.sort_unstable();
        let length = self.most as u64;
        let parts =
            (0..self.parts).map(|part| Part { next: part * length, end: (part + 1) * length, read: Vec::new() });
        let mut sorted = Sorted {
            file: self.earlier,
            parts: parts.collect(),
            recent: self.recent.into_iter(),
            heap: BinaryHeap::new(),
        };
        for source in 0..=sorted.parts.len() {
            sorted.refill(source)?;
        }
        Ok(sorted)
    }
}

/// The unread rest of a sorted part of the file.
#[derive(Debug)]
struct Part<const N: usize> {
    next: u64,
    end: u64,
    /// Records that were read from it, in reverse order.
    read: Vec<[u8; N]>,
}

impl<const N: usize> Part<N> {
    fn next(&mut self, file: &mut File) -> io::Result<Option<[u8; N]>> {
        if self.read.is_empty() && self.next < self.end {
            let count = AT_ONCE.min(self.end - self.next);
            file.seek(SeekFrom::Start(self.next * N as u64))?;
            for _ in 0..count {
                self.read.push([0; N]);
            }
            file.read_exact(self.read.as_flattened_mut())?;
            self.read.reverse();
            self.next += count;
        }
        Ok(self.read.pop())
    }
}

/// Iterates over the records, the smallest first; an error if the temporary file cannot be read.
#[derive(Debug)]
pub struct Sorted<const N: usize> {
    file: Option<File>,
    parts: Vec<Part<N>>,
    recent: std::vec::IntoIter<[u8; N]>,
    /// The smallest record of each part with the index of the part; the part in memory is the last one.
    heap: BinaryHeap<Reverse<([u8; N], usize)>>,
}

impl<const N: usize> Sorted<N> {
    fn refill(&mut self, source: usize) -> io::Result<()> {
        let record = match (self.parts.get_mut(source), &mut self.file) {
            (Some(part), Some(file)) => part.next(file)?,
            _ => self.recent.next(),
        };
        self.heap.extend(record.map(|record| Reverse((record, source))));
        Ok(())
    }
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = io::Result<[u8; N]>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((record, source)) = self.heap.pop()?;
        Some(self.refill(source).map(|()| record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_sorted_in_memory_or_not() {
        let numbers: Vec<u32> = (0..1000).map(|number: u32| number.wrapping_mul(2_654_435_761) % 700).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        for most in [1, 2, 3, 100, 999, 1000, 1001] {
            let mut sorter = Sorter::with_most(most);
            for number in &numbers {
                sorter.push(number.to_be_bytes()).unwrap();
            }
            let found: Vec<_> = sorter.sorted().unwrap().map(|record| u32::from_be_bytes(record.unwrap())).collect();
            assert_eq!(found, expected, "{most}");
        }
        assert!(Sorter::<4>::default().sorted().unwrap().next().is_none());
    }
}
