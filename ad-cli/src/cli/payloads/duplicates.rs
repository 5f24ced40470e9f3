//! Which ads stand in a file twice. What is remembered of an ad is a hash of its identity and where it stands; and of
//! these no more than [`IN_MEMORY`] at a time: the rest is sorted in a temporary file, 40 MB for a million ads.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
};

use super::Place;

/// How many ads are remembered in memory: 6 MiB of them.
const IN_MEMORY: usize = 128 * 1024;

/// Bytes of one of them in a file.
const SIZE: usize = 41;

/// An ad that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    identity: u128,
    /// Which payload of the file it is, from 0.
    pub(crate) index: u64,
    /// Where it stands.
    pub(crate) place: Place,
    /// Whether something else is wrong with it already.
    pub(crate) is_refused: bool,
}

impl Seen {
    /// The ad with this source id, of this dealer where the payload says one: a group's dealers may use the same.
    pub(crate) fn new(source_id: &str, dealer_code: Option<&str>, index: u64, place: Place) -> Self {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, source_id, dealer_code).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        Self { identity: half(0) << 64 | half(1), index, place, is_refused: false }
    }

    /// The same ad, with whether something else is wrong with it.
    #[must_use]
    pub(crate) fn with_refused(self, is_refused: bool) -> Self {
        Self { is_refused, ..self }
    }

    /// Whether it is the same ad.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.identity.to_be_bytes())?;
        let numbers = [self.index, self.place.line, self.place.column];
        numbers.iter().try_for_each(|number| out.write_all(&number.to_be_bytes()))?;
        out.write_all(&[u8::from(self.is_refused)])
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut identity = [0; 16];
        from.read_exact(&mut identity)?;
        let mut number = || {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes).map(|()| u64::from_be_bytes(bytes))
        };
        let (index, line, column) = (number()?, number()?, number()?);
        let mut is_refused = [0];
        from.read_exact(&mut is_refused)?;
        Ok(Self {
            identity: u128::from_be_bytes(identity),
            index,
            place: Place { line, column },
            is_refused: is_refused != [0],
        })
    }
}

/// All ads of a file that were seen so far.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    recent: Vec<Seen>,
    /// Sorted runs, each of [`IN_MEMORY`], one after the other.
    earlier: Option<File>,
    runs: u64,
    in_memory: Option<usize>,
}

impl Duplicates {
    /// Remembers an ad.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub(crate) fn add(&mut self, seen: Seen) -> io::Result<()> {
        self.recent.push(seen);
        if self.recent.len() < self.most() {
            return Ok(());
        }
        let file = match &mut self.earlier {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        self.recent.sort_unstable();
        let mut out = BufWriter::new(file);
        self.recent.drain(..).try_for_each(|seen| seen.write(&mut out))?;
        self.runs += 1;
        out.flush()
    }

    /// The ads that stand in the file more than once: each with all the places at which it stands, in order.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn found(mut self) -> io::Result<Vec<Vec<Seen>>> {
        let most = self.most();
        self.recent.sort_unstable();
        let mut runs: Vec<Box<dyn Iterator<Item = io::Result<Seen>>>> = Vec::new();
        for run in 0..self.runs {
            let mut file = match &self.earlier {
                Some(file) => tempfile_part(file, run, most)?,
                None => break,
            };
            runs.push(Box::new((0..most).map(move |_| Seen::read(&mut file))));
        }
        runs.push(Box::new(self.recent.into_iter().map(Ok)));
        let mut groups = merged(runs)?;
        for group in &mut groups {
            group.sort_unstable_by_key(|seen| seen.index);
        }
        groups.sort_unstable_by_key(|group| group.first().map(|seen| seen.index));
        Ok(groups)
    }

    fn most(&self) -> usize {
        self.in_memory.unwrap_or(IN_MEMORY)
    }
}

/// One run of the file, read by itself: handles of one file share their position.
fn tempfile_part(file: &File, run: u64, most: usize) -> io::Result<BufReader<Part>> {
    let start = run * (most * SIZE) as u64;
    Ok(BufReader::with_capacity(16 * SIZE, Part { file: file.try_clone()?, at: start }))
}

/// A file read from a position of its own.
#[derive(Debug)]
struct Part {
    file: File,
    at: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let read = self.file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// What several sorted runs have more than once.
fn merged(mut runs: Vec<Box<dyn Iterator<Item = io::Result<Seen>>>>) -> io::Result<Vec<Vec<Seen>>> {
    let mut next = BinaryHeap::new();
    for (run, ads) in runs.iter_mut().enumerate() {
        next.extend(ads.next().transpose()?.map(|seen| Reverse((seen, run))));
    }
    let (mut groups, mut group) = (Vec::new(), Vec::<Seen>::new());
    while let Some(Reverse((seen, run))) = next.pop() {
        if group.last().is_some_and(|last| !last.is(&seen)) {
            let ended = std::mem::take(&mut group);
            groups.extend((ended.len() > 1).then_some(ended));
        }
        group.push(seen);
        next.extend(runs[run].next().transpose()?.map(|seen| Reverse((seen, run))));
    }
    groups.extend((group.len() > 1).then_some(group));
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(in_memory: Option<usize>, ids: &[&str]) -> Vec<Vec<u64>> {
        let mut duplicates = Duplicates { in_memory, ..Duplicates::default() };
        for (index, id) in (0..).zip(ids) {
            let (id, dealer) = id.split_once('@').map_or((*id, None), |(id, dealer)| (id, Some(dealer)));
            let seen = Seen::new(id, dealer, index, Place { line: index + 1, column: 1 });
            duplicates.add(Seen { is_refused: index % 2 == 1, ..seen }).unwrap();
        }
        let groups = duplicates.found().unwrap();
        assert!(
            groups
                .iter()
                .flatten()
                .all(|seen| { seen.place.line == seen.index + 1 && seen.is_refused == (seen.index % 2 == 1) })
        );
        groups.iter().map(|group| group.iter().map(|seen| seen.index).collect()).collect()
    }

    #[test]
    fn ads_that_stand_in_a_file_twice_are_found_in_memory_or_not() {
        let ids = ["b", "a", "c", "a", "d@n", "a", "d", "b", "d@n", "e", "d@s"];
        for in_memory in [None, Some(1), Some(2), Some(3), Some(11)] {
            assert_eq!(found(in_memory, &ids), [vec![0, 7], vec![1, 3, 5], vec![4, 8]], "{in_memory:?}");
        }
        assert!(found(Some(2), &["a", "b", "c"]).is_empty());
    }
}
