//! How many rows a file may have. Each row takes work, however few bytes it has, so a packed file or a spreadsheet that repeats its rows must
//! not have more of them than a file of plain text could have, of which no row takes fewer than two bytes.

use super::{Detected, ReadError};
use ad_files::text::grouped;

/// Rows that any file may have, whatever its size.
pub(super) const ANY_ROWS: u64 = 200_000;

/// Bytes of the file on the disk for each row beyond that. Rows of real stock files take 8 to 200, packed.
pub(super) const LEAST_BYTES: u64 = 2;

/// Counts the rows of a file.
#[derive(Debug, Default)]
pub(super) struct RowLimit {
    rows: u64,
}

impl RowLimit {
    /// Counts further rows, of a file of which so many bytes have been read from the disk.
    ///
    /// # Errors
    /// When it has more rows than that permits.
    pub(super) fn add(&mut self, rows: usize, read: u64, detected: &Detected) -> Result<(), ReadError> {
        self.rows += rows as u64;
        let most = ANY_ROWS.saturating_add(read / LEAST_BYTES);
        if self.rows <= most {
            return Ok(());
        }
        let message = format!(
            "The file has more than {} rows, of fewer than {LEAST_BYTES} bytes each on the disk, as files do that are meant to occupy a machine.",
            grouped(most)
        );
        Err(ReadError::new(message).hint(match detected.packing {
            Some(_) => "If it really has so many rows, unpack it first.",
            None => "If it really has so many rows, save it as CSV (UTF-8) in the program that made it.",
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;
    use crate::readers::{Reader, Settings, testing};

    /// Rows that are read of a file in gzip, and the error that ends it.
    fn read(text: &[u8]) -> (u64, u64, Option<ReadError>) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(text).unwrap();
        let packed = packed.finish().unwrap();
        let file = testing::file(&packed);
        let mut reader = Reader::open(file.path(), &Settings::default()).unwrap();
        let (mut rows, mut batch) = (0, None);
        loop {
            match reader.next(batch.take()) {
                Ok(Some(next)) => {
                    rows += next.rows().len() as u64;
                    batch = Some(next);
                }
                Ok(None) => return (rows, packed.len() as u64, None),
                Err(error) => return (rows, packed.len() as u64, Some(error)),
            }
        }
    }

    #[test]
    fn a_packed_file_has_no_more_rows_than_its_size_permits() {
        for (head, row) in [("id\n", "a\n"), ("", "{}\n"), ("{\"id\":1}\n", "{\"id\":1}\n")] {
            let (rows, size, error) = read((head.to_owned() + &row.repeat(500_000)).as_bytes());
            let error = error.unwrap();
            assert!(error.message.contains("rows, of fewer than 2 bytes each on the disk"), "{error}");
            assert_eq!(error.hints, ["If it really has so many rows, unpack it first."]);
            // The rows of the batch in which that shows are still returned.
            assert!((ANY_ROWS..ANY_ROWS + size / LEAST_BYTES + 1000).contains(&rows), "{rows} rows of {size} bytes");
        }
        let document = "<s>".to_owned() + &"<a><id>1</id></a>".repeat(400_000) + "</s>";
        assert!(read(document.as_bytes()).2.is_some());
    }

    #[test]
    fn stock_that_packs_very_well_is_read_whole() {
        let row = |number: u64| {
            format!(
                "{{\"id\":\"{number}\",\"brand\":\"volvo\",\"price\":{},\"text\":\"{}\"}}\n",
                100_000 + number * 7919 % 400_000,
                "Bilen är i mycket gott skick och kan ses i vår bilhall. ".repeat(12)
            )
        };
        let text: String = (0..30_000).map(row).collect();
        let (rows, size, error) = read(text.as_bytes());
        assert_eq!((rows, error), (30_000, None));
        let times = text.len() as u64 / size;
        assert!((30..90).contains(&times), "{times} times its size");
    }

    #[test]
    fn plain_text_is_never_too_much() {
        let text = "id\n".to_owned() + &"a\n".repeat(1_000_000);
        let file = testing::file(text.as_bytes());
        let mut reader = Reader::open(file.path(), &Settings::default()).unwrap();
        let (mut rows, mut batch) = (0, None);
        while let Some(next) = reader.next(batch.take()).unwrap() {
            rows += next.rows().len();
            batch = Some(next);
        }
        assert_eq!(rows, 1_000_000);
    }
}
