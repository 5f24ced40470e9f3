//! What holds for files of every form: how they are packed, and what is refused.

use std::{
    fmt::Write as _,
    io::{Cursor, Write},
};

use flate2::{Compression, write::GzEncoder};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{
    Reader, Settings,
    testing::{file, read, read_with, refused},
};

const CSV: &str = "Regnr;Pris\nABC123;100\nDEF456;200\n";
const ROWS: [&str; 2] = ["1@2 Regnr=ABC123; Pris=100", "2@3 Regnr=DEF456; Pris=200"];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        if name.ends_with('/') {
            archive.add_directory(*name, options).unwrap();
        } else {
            archive.start_file(*name, options).unwrap();
            archive.write_all(text).unwrap();
        }
    }
    archive.finish().unwrap().into_inner()
}

/// What an error of opening says, without the name of the file.
fn why(bytes: &[u8]) -> String {
    let message = refused(bytes);
    let path =
        message.split(' ').find(|word| word.starts_with('/')).unwrap_or_default().trim_end_matches(':').to_owned();
    message.replace(&path, "FILE")
}

#[test]
fn gzip_of_any_number_of_parts_is_unpacked() {
    let (first, second) = CSV.as_bytes().split_at(20);
    let seen = read([gzip(first), gzip(second)].concat());
    assert_eq!(seen.rows, ROWS);
    assert_eq!(seen.reader.detected().packing.as_deref(), Some("gzip"));
    let (read, size) = seen.reader.progress();
    assert_eq!(read, size);
}

#[test]
fn gzip_that_was_cut_off_ends_with_an_error_behind_its_rows() {
    let mut text = "a;b\n".to_owned();
    for row in 0_u32..5000 {
        writeln!(text, "x{row};{}", row.wrapping_mul(2_654_435_761)).unwrap();
    }
    let mut packed = gzip(text.as_bytes());
    packed.truncate(packed.len() / 2);
    let seen = read(packed);
    assert!(seen.rows.len() > 1000, "{}", seen.rows.len());
    assert!(seen.messages.is_empty(), "half a row is none: {:?}", seen.messages);
    let error = seen.error.unwrap().to_string();
    assert!(error.ends_with("its gzip data ends too early: the file has been cut off."), "{error}");
}

#[test]
fn the_one_file_of_an_archive_is_taken() {
    let seen = read(zip(&[
        ("export/", b""),
        ("__MACOSX/._stock.csv", b"x"),
        (".DS_Store", b"x"),
        ("export/stock.csv", CSV.as_bytes()),
    ]));
    assert_eq!(seen.rows, ROWS);
    assert_eq!(seen.reader.detected().packing.as_deref(), Some("zip"));
    assert_eq!(seen.reader.detected().member.as_deref(), Some("export/stock.csv"));
    let (read, size) = seen.reader.progress();
    assert_eq!(read, size);
}

#[test]
fn of_several_files_one_must_be_named() {
    let archive = zip(&[("cars.csv", CSV.as_bytes()), ("readme.txt", b"Hello")]);
    assert_eq!(why(&archive), "The zip archive FILE has 2 files: \"cars.csv\", \"readme.txt\".");
    let settings = Settings { member: Some("cars.csv".to_owned()), ..Settings::default() };
    assert_eq!(read_with(&archive, &settings).rows, ROWS);
    let settings = Settings { member: Some("bikes.csv".to_owned()), ..Settings::default() };
    let error = Reader::open(file(&archive).path(), &settings).unwrap_err();
    assert_eq!(error.hints, ["It has \"cars.csv\", \"readme.txt\"."]);
    assert!(Reader::open(file(CSV.as_bytes()).path(), &settings).is_err(), "no archive, no members");
}

#[test]
fn names_that_lead_out_of_an_archive_are_refused() {
    for name in ["../../etc/cron.d/x", "/etc/passwd", "a/../../b.csv", "C:\\x.csv", "..\\x.csv"] {
        let error = why(&zip(&[(name, CSV.as_bytes())]));
        assert!(error.contains("leads out of the archive"), "{name}: {error}");
    }
}

#[test]
fn damaged_archives_are_told() {
    let mut archive = zip(&[("stock.csv", CSV.as_bytes())]);
    let at = memchr::memmem::find(&archive, b"stock.csv").unwrap() + 12;
    archive[at] ^= 0x55;
    assert!(Reader::open(file(&archive).path(), &Settings::default()).is_err() || read(&archive).error.is_some());
    archive.truncate(40);
    assert!(why(&archive).starts_with("The zip archive FILE cannot be read: "));
}

#[test]
fn an_archive_within_an_archive_is_refused() {
    let inner = gzip(CSV.as_bytes());
    assert_eq!(why(&gzip(&inner)), "FILE is an archive within an archive, which is not supported.");
    assert_eq!(why(&zip(&[("a.gz", &inner)])), "FILE is an archive within an archive, which is not supported.");
}

#[test]
fn what_is_no_stock_is_told_for_what_it_is() {
    let workbook = zip(&[("[Content_Types].xml", b"<x/>"), ("xl/workbook.bin", b"<x/>")]);
    let numbers = zip(&[("Index/Document.iwa", b"x"), ("Metadata/Properties.plist", b"x")]);
    let mut tar = vec![b'x'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, what) in [
        (&b""[..], "FILE is empty."),
        (b" \r\n ", "FILE contains only white space."),
        (&[0; 5000], "FILE is nothing but zero bytes, and neither CSV, XML, JSON nor a spreadsheet."),
        (b"%PDF-1.7", "FILE is a PDF document, and neither CSV, XML, JSON nor a spreadsheet."),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1",
            "FILE is an Office document of the old format (such as .xls) or with a password, and neither CSV, XML, JSON nor a spreadsheet.",
        ),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "FILE is a JPEG image, and neither CSV, XML, JSON nor a spreadsheet."),
        (b"<!DOCTYPE html><html>", "FILE is an HTML page without a table of data."),
        (
            b"ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K\"Nr\"\r\nE\r\n",
            "FILE is a SYLK spreadsheet (.slk), which is not read.",
        ),
        (b"TABLE\r\n0,1\r\n\"EXCEL\"\r\n", "FILE is a DIF spreadsheet (.dif), which is not read."),
        (b"MIME-Version: 1.0\r\nX-Document-Type: Workbook\r\n", "FILE is a web archive (.mht), which is not read."),
        (
            b"\x09\x04\x06\x00\x00\x00\x10\x00",
            "FILE is an Excel sheet of before 1995, and neither CSV, XML, JSON nor a spreadsheet.",
        ),
        (&numbers, "FILE is a document of Apple's Numbers, Pages or Keynote."),
        (b"a\0b\0\0c;1\n\x01\x02", "FILE is a binary file, and neither CSV, XML, JSON nor a spreadsheet."),
        (&tar, "FILE is a tar archive, and neither CSV, XML, JSON nor a spreadsheet."),
        (&workbook, "FILE is an Excel workbook (.xlsb)."),
        (&zip(&[]), "The zip archive FILE has no file in it."),
    ] {
        assert_eq!(why(bytes), what);
    }
}

#[test]
fn folders_and_files_that_are_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = Reader::open(folder.path(), &Settings::default()).unwrap_err();
    assert!(error.to_string().ends_with(": it is a folder."), "{error}");
    let error = Reader::open(&folder.path().join("x.csv"), &Settings::default()).unwrap_err();
    assert!(error.to_string().ends_with("x.csv: there is no such file."), "{error}");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_noticed() {
    let file = file(CSV.as_bytes());
    let mut reader = Reader::open(file.path(), &Settings::default()).unwrap();
    let mut appended = std::fs::OpenOptions::new().append(true).open(file.path()).unwrap();
    appended.write_all(b"GHI789;300\n").unwrap();
    assert_eq!(reader.next(None).unwrap().map(|batch| batch.rows().len()), Some(2), "the rows come first");
    let error = reader.next(None).unwrap_err();
    assert!(error.message.ends_with("changed while it was read: it may still be being written."), "{error}");
    assert!(reader.next(None).unwrap().is_none());
}

#[test]
fn a_reader_can_go_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Reader>();
}

#[test]
fn names_with_backslashes_are_paths() {
    let archive = zip(&[("export\\", b""), ("export\\.hidden", b"x"), ("export\\stock.csv", CSV.as_bytes())]);
    assert_eq!(read(&archive).rows, ROWS);
    let settings = Settings { member: Some("export/stock.csv".to_owned()), ..Settings::default() };
    assert_eq!(read_with(&archive, &settings).rows, ROWS);
}
